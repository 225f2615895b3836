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

/* thresholded_step(noise, rate, count, low, low_width, high, width, log_q, c, spread, step, value, error, fall, far): what is known
   of one thresholded step, along k = 1 + c + iu, for tests: log phi and log(1 - mid/phi), and the errors of both together; returns
   E nu, E nu x and a bound of their relative errors, and bounds of phi - 1 at k = 1 + c and of E e^{-L} - 1; None if nothing is
   known.  `fall` and `far` are for the cells of u. */
FUNCTION_OF_PYTHON(py_thresholded_step) {
    Held held;
    Run run = {.many = 1, .removal = {1, 0}};
    double log_q, c, spread, step;
    ThresholdGuide guide = {.low = 0.0};
    Array value, error, fall, off;
    ThresholdedStep thresholded = {.edges = NULL}, small = {.edges = NULL};
    ShiftedLines lines = {.room = NULL};
    (void)self;
    if (!hs_parse(&held, args, count, "dddddddddddaaaa", &run.noise, &run.rate, &run.count, &guide.low, &guide.low_width,
                  &guide.high, &guide.width, &log_q, &c, &spread, &step, &value, &error, &fall, &off))
        return NULL;
    run.least = run.most = run.count;
    int found = 0;
    double above = 0.0, back = 0.0, middle = 0.0, u = spread, ahead = c + HS_AHEAD[AHEAD - 1] * spread;
    NodeValue *nodes = NULL;
    if (error.size < 1 || value.size != 4 * error.size || fall.size != CELLS || off.size != CELLS) {
        PyErr_SetString(PyExc_ValueError, "as many values as errors, and the cells");
    } else if (hs_bigjump_cells(&thresholded, &run, &guide, 2.0 + ahead, 1.0 + ahead) &&
               hs_bigjump_sum_large(&thresholded, log_q, 38.0) && hs_bigjump_shift_lines(&lines, &thresholded, 1.0 + c) &&
               (nodes = malloc((size_t)error.size * sizeof *nodes))) {
        above = hs_bigjump_excess_above(&thresholded, 1.0 + c);
        back = hs_bigjump_reverse_above(&thresholded, 1.0);
        hs_bigjump_spread_decay(&thresholded, 1.0 + c, 1.0 + above, spread, CELLS, GROWTH, fall.at);
        for (int cell = 0; cell < CELLS; cell++, u *= 1.25)
            off.at[cell] = hs_bigjump_log_modulus_above(&lines, u);
        double k = 1.0 + c;
        if (thresholded.low > 0.0)
            hs_bigjump_log_middle_above(&thresholded, &k, 1, &middle);
        double goal = -30.0 - log(run.count);
        int has_small = thresholded.low > 0.0;
        ThresholdGuide here = {.high = guide.low, .width = guide.low_width};
        found = (!has_small || (hs_bigjump_cells(&small, &run, &here, 2.0 + ahead, 1.0 + ahead) &&
                                hs_bigjump_sum_large(&small, log_tail_bound(hs_bigjump_place(&run, guide.low)), 38.0))) &&
                hs_bigjump_values(&thresholded, has_small ? &small : NULL, 1.0 + c, step, error.size, goal, goal, nodes);
        for (Size node = 0; found && node < error.size; node++) {
            const NodeValue *at = nodes + node;
            double *into = value.at + 4 * node;
            into[0] = at->re, into[1] = at->im, into[2] = thresholded.low > 0.0 ? at->log_ratio_re : 0.0,
            into[3] = thresholded.low > 0.0 ? at->log_ratio_im : 0.0;
            error.at[node] = at->phi_error + (thresholded.low > 0.0 ? at->ratio_error : 0.0);
        }
    }
    free(nodes);
    free(lines.room);
    hs_bigjump_free(&thresholded);
    hs_bigjump_free(&small);
    hs_release(&held);
    if (PyErr_Occurred())
        return NULL;
    if (!found)
        Py_RETURN_NONE;
    return Py_BuildValue("(dddddd)", thresholded.q, thresholded.drift, larger(thresholded.error, thresholded.drift_error), above,
                         back, middle);
}

PyMethodDef hs_py_checks[] = {METHOD(normals), METHOD(thresholded_step), {NULL, NULL, 0, NULL}};
