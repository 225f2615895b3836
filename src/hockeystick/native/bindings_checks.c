/* What only tests ask: parts of the proofs by themselves. */
#include "bigjump_step.h"
#include "bindings.h"
#include "contour_bounds.h"
#include "elementary.h"

/* normals(y, below, above): g(y) and g(-y), for tests */
FUNCTION_OF_PYTHON(py_normals) {
    Held held;
    Array y, below, above;
    (void)self;
    if (!hs_parse(&held, args, count, "aaa", &y, &below, &above))
        return NULL;
    if (below.size != y.size || above.size != y.size)
        PyErr_SetString(PyExc_ValueError, "arrays of one length");
    else
        hs_normals(y.at, y.size, below.at, above.at);
    hs_release(&held);
    if (PyErr_Occurred())
        return NULL;
    Py_RETURN_NONE;
}

/* marked(noise, rate, count, low, low_width, high, width, log_q, c, spread, step, value, error, fall, far): what is known of one
   marked step, along k = 1 + c + iu, for tests: log phi and log(1 - mid/phi), and the errors of both together; returns E nu, E nu x
   and a bound of their relative errors, and bounds of phi - 1 at k = 1 + c and of E e^{-L} - 1; None if nothing is known.  `fall`
   and `far` are for the cells of u. */
FUNCTION_OF_PYTHON(py_marked) {
    Held held;
    Run run = {.many = 1, .removal = {1, 0}};
    double log_q, c, spread, step;
    Sketch sketch = {.low = 0.0};
    Array value, error, fall, off;
    Marked marked = {.edges = NULL}, small = {.edges = NULL};
    Far far = {.room = NULL};
    (void)self;
    if (!hs_parse(&held, args, count, "dddddddddddaaaa", &run.noise, &run.rate, &run.count, &sketch.low, &sketch.low_width,
                  &sketch.high, &sketch.width, &log_q, &c, &spread, &step, &value, &error, &fall, &off))
        return NULL;
    run.least = run.most = run.count;
    int found = 0;
    double above = 0.0, back = 0.0, middle = 0.0, u = spread, ahead = c + HS_AHEAD[FORWARD - 1] * spread;
    Node *nodes = NULL;
    if (error.size < 1 || value.size != 4 * error.size || fall.size != CELLS || off.size != CELLS) {
        PyErr_SetString(PyExc_ValueError, "as many values as errors, and the cells");
    } else if (hs_bigjump_cells(&marked, &run, &sketch, 2.0 + ahead, 1.0 + ahead) && hs_bigjump_count_large(&marked, log_q, 38.0) &&
               hs_bigjump_look_far(&far, &marked, 1.0 + c) && (nodes = malloc((size_t)error.size * sizeof *nodes))) {
        above = hs_bigjump_not_large_above(&marked, 1.0 + c);
        back = hs_bigjump_reverse_above(&marked, 1.0);
        hs_bigjump_spread_decay(&marked, 1.0 + c, 1.0 + above, spread, CELLS, GROWTH, fall.at);
        for (int cell = 0; cell < CELLS; cell++, u *= 1.25)
            off.at[cell] = hs_bigjump_far_at(&far, u);
        double k = 1.0 + c;
        if (marked.low > 0.0)
            hs_bigjump_log_middle_above(&marked, &k, 1, &middle);
        double goal = -30.0 - log(run.count);
        int parted = marked.low > 0.0;
        Sketch here = {.high = sketch.low, .width = sketch.low_width};
        found = (!parted || (hs_bigjump_cells(&small, &run, &here, 2.0 + ahead, 1.0 + ahead) &&
                             hs_bigjump_count_large(&small, log_tail_bound(hs_bigjump_place(&run, sketch.low)), 38.0))) &&
                hs_bigjump_values(&marked, parted ? &small : NULL, 1.0 + c, step, error.size, goal, goal, nodes);
        for (Size node = 0; found && node < error.size; node++) {
            const Node *at = nodes + node;
            double *into = value.at + 4 * node;
            into[0] = at->re, into[1] = at->im, into[2] = marked.low > 0.0 ? at->term_re : 0.0,
            into[3] = marked.low > 0.0 ? at->term_im : 0.0;
            error.at[node] = at->off + (marked.low > 0.0 ? at->lost : 0.0);
        }
    }
    free(nodes);
    free(far.room);
    hs_bigjump_free(&marked);
    hs_bigjump_free(&small);
    hs_release(&held);
    if (PyErr_Occurred())
        return NULL;
    if (!found)
        Py_RETURN_NONE;
    return Py_BuildValue("(dddddd)", marked.q, marked.drift, larger(marked.error, marked.drift_error), above, back, middle);
}

PyMethodDef hs_py_checks[] = {METHOD(normals), METHOD(marked), {NULL, NULL, 0, NULL}};
