/* The loops inside the NumPy engines, as native/loops.py calls them.  They are short: the interpreter is not released. */
#include "bigjump_loops.h"
#include "bigjump_step.h"
#include "bindings.h"
#include "contour_sum.h"
#include "gaussian_decay.h"
#include "gaussian_grid.h"
#include "gaussian_values.h"

enum { MOST = 64 }; /* rows */

static PyObject *nothing(Held *held) {
    hs_release(held);
    if (PyErr_Occurred())
        return NULL;
    Py_RETURN_NONE;
}

/* A grid from its rows and numbers; 0 if they do not fit */
static int read_grid(Grid *grid, Array rows, Array numbers) {
    if (numbers.size != 9 || rows.size < 8 || rows.size % 4) {
        PyErr_SetString(PyExc_ValueError, "a grid has four rows and nine numbers");
        return 0;
    }
    Size n = rows.size / 4;
    const double *at = rows.at, *of = numbers.at;
    for (int i = 0; i < 7; i++)
        if (!(fabs(of[i]) < INFINITY)) {
            PyErr_SetString(PyExc_ValueError, "noise, rate, error, ends, step and angle are finite");
            return 0;
        }
    *grid = (Grid){at, at + n, at + 2 * n, at + 3 * n, n, of[0], of[1], of[2], of[3], of[4], of[5], of[6], of[7], of[8]};
    return 1;
}

/* place_nodes(rows, low, step, noise, rate): fills z, ratio, share and base */
FUNCTION_OF_PYTHON(py_place_nodes) {
    Held held;
    Array rows;
    double low, step, noise, rate;
    (void)self;
    if (!hs_parse(&held, args, count, "adddd", &rows, &low, &step, &noise, &rate))
        return NULL;
    hs_grid_fill(rows.at, NULL, rows.size / 4, low, step, noise, rate);
    hs_release(&held);
    Py_RETURN_NONE;
}

/* right_edge(noise, rate, k, target): inf where there is none */
FUNCTION_OF_PYTHON(py_right_edge) {
    Held held;
    double noise, rate, k, target;
    (void)self;
    if (!hs_parse(&held, args, count, "dddd", &noise, &rate, &k, &target))
        return NULL;
    return PyFloat_FromDouble(hs_grid_right_edge(noise, rate, k, target));
}

/* choose_step(noise, rate, low, least, most, lead, reach, level): the step and log of its error, or (0, 0) */
FUNCTION_OF_PYTHON(py_choose_step) {
    Held held;
    double noise, rate, low, least, most, lead, reach, level, error;
    (void)self;
    if (!hs_parse(&held, args, count, "dddddddd", &noise, &rate, &low, &least, &most, &lead, &reach, &level))
        return NULL;
    double step = hs_grid_longest_step(noise, rate, low, least, most, lead, reach, level, &error);
    return Py_BuildValue("(dd)", step, error);
}

/* tilted_sums(rows, k, shift): sums of e^{k L + base - shift} times 1, L, L^2 and the share; the rows are those of a grid */
FUNCTION_OF_PYTHON(py_tilted_sums) {
    Held held;
    Array rows;
    double k, shift, sums[4];
    (void)self;
    if (!hs_parse(&held, args, count, "add", &rows, &k, &shift))
        return NULL;
    hs_grid_tilted_sums(rows.at, rows.size / 4, k, shift, sums);
    hs_release(&held);
    return Py_BuildValue("(dddd)", sums[0], sums[1], sums[2], sums[3]);
}

/* cumulant_above(rows, numbers, k, out): upper bounds of log M at real k */
FUNCTION_OF_PYTHON(py_cumulant_above) {
    Held held;
    Array rows, numbers, k, out;
    Grid grid;
    (void)self;
    if (!hs_parse(&held, args, count, "aaaa", &rows, &numbers, &k, &out))
        return NULL;
    if (k.size != out.size)
        PyErr_SetString(PyExc_ValueError, "as many bounds as exponents");
    else if (read_grid(&grid, rows, numbers))
        for (Size place = 0; place < k.size; place++)
            out.at[place] = hs_gaussian_above(&grid, k.at[place]);
    return nothing(&held);
}

/* excess(rows, numbers, k, step, nodes, value, error): log M along k + iu by E[e^{kL} - 1 - k x], as `_excess` */
FUNCTION_OF_PYTHON(py_excess) {
    Held held;
    Array rows, numbers, k, value, error;
    Grid grid;
    double step;
    Size nodes;
    (void)self;
    if (!hs_parse(&held, args, count, "aaadnaa", &rows, &numbers, &k, &step, &nodes, &value, &error))
        return NULL;
    if (k.size < 1 || k.size > ROWS || nodes < 1 || error.size != k.size * nodes || value.size != 2 * error.size)
        PyErr_SetString(PyExc_ValueError, "as many values and errors as there are nodes for each exponent");
    else if (read_grid(&grid, rows, numbers) && !hs_gaussian_excess(&grid, k.at, k.size, step, nodes, value.at, error.at))
        PyErr_NoMemory();
    return nothing(&held);
}

/* decay(rows, numbers, k, start, out): lower bounds of -log |phi(c+iu)/phi(c)|, CELLS for each k */
FUNCTION_OF_PYTHON(py_decay) {
    Held held;
    Array rows, numbers, k, out;
    Grid grid;
    double start;
    (void)self;
    if (!hs_parse(&held, args, count, "aaada", &rows, &numbers, &k, &start, &out))
        return NULL;
    if (k.size < 1 || k.size > ROWS || out.size != k.size * CELLS)
        PyErr_Format(PyExc_ValueError, "one or two exponents, %d cells for each", CELLS);
    else if (read_grid(&grid, rows, numbers) && !hs_gaussian_decay(&grid, k.at, (int)k.size, start, out.at))
        PyErr_NoMemory();
    return nothing(&held);
}

static PyObject *list_of(const double *values, Size size) {
    PyObject *list = PyList_New(size);
    for (Size i = 0; list && i < size; i++) {
        PyObject *one = PyFloat_FromDouble(values[i]);
        if (!one || PyList_SetItem(list, i, one) < 0) { /* which takes it in any case */
            Py_DECREF(list);
            return NULL;
        }
    }
    return list;
}

/* sums(weights, rows, step, angle): for each row the real part of the sum of weights e^{-i angle u}, and the imaginary ones' times
 * u */
FUNCTION_OF_PYTHON(py_sums) {
    Held held;
    Array weights;
    Size many;
    double step, angle, totals[MOST], slopes[MOST];
    (void)self;
    if (!hs_parse(&held, args, count, "andd", &weights, &many, &step, &angle))
        return NULL;
    if (many < 1 || many > MOST || weights.size % (2 * many)) {
        hs_release(&held);
        return PyErr_Format(PyExc_ValueError, "between 1 and %d rows", MOST);
    }
    hs_contour_sums(weights.at, many, weights.size / (2 * many), step, angle, totals, slopes);
    hs_release(&held);
    PyObject *one = list_of(totals, many), *two = list_of(slopes, many);
    if (one && two)
        return Py_BuildValue("(NN)", one, two);
    Py_XDECREF(one);
    Py_XDECREF(two);
    return NULL;
}

/* terms(value, error, rows, step, c, epsilon, weights, errors): the terms and their errors, as `Contour._weigh` has them;
   returns the heights, the sums of |term| u and of the errors, or None where rounding exceeds the peak */
FUNCTION_OF_PYTHON(py_terms) {
    Held held;
    Array value, error, weights, errors;
    Size many;
    double step, c, epsilon, heights[MOST], abs_moments[MOST], sums[MOST];
    (void)self;
    if (!hs_parse(&held, args, count, "aandddaa", &value, &error, &many, &step, &c, &epsilon, &weights, &errors))
        return NULL;
    if (many < 1 || many > MOST || error.size < 1 || error.size % many || value.size != 2 * error.size ||
        weights.size != value.size || errors.size != error.size) {
        hs_release(&held);
        return PyErr_Format(PyExc_ValueError, "between 1 and %d rows, all of the same length", MOST);
    }
    int found = hs_contour_terms(value.at, error.at, many, error.size / many, step, c, epsilon, weights.at, errors.at, heights,
                                 abs_moments, sums);
    hs_release(&held);
    if (!found)
        Py_RETURN_NONE;
    PyObject *one = list_of(heights, many), *two = list_of(abs_moments, many), *three = list_of(sums, many);
    if (one && two && three)
        return Py_BuildValue("(NNN)", one, two, three);
    Py_XDECREF(one);
    Py_XDECREF(two);
    Py_XDECREF(three);
    return NULL;
}

/* truncate(decay, start, step, wanted, most): the first cell beyond which the terms add up to at most `wanted`, no later than
   `most`, and a bound of what lies beyond it (numerics/trapezoid.py) */
FUNCTION_OF_PYTHON(py_truncate) {
    Held held;
    Array decay;
    Size most;
    double start, step, wanted, rest;
    (void)self;
    if (!hs_parse(&held, args, count, "adddn", &decay, &start, &step, &wanted, &most))
        return NULL;
    if (decay.size != CELLS) {
        hs_release(&held);
        return PyErr_Format(PyExc_ValueError, "there are %d cells", CELLS);
    }
    int cell = hs_contour_truncate(decay.at, CELLS, GROWTH, start, step, wanted, most, &rest);
    hs_release(&held);
    return Py_BuildValue("(id)", cell, rest);
}

/* One step on broad cells from its rows and numbers; 0 if they do not fit */
static int read_step(BroadStep *step, Array rows, Array numbers, int kind) {
    if (numbers.size != 7 || rows.size < 15 || rows.size % 5) {
        PyErr_SetString(PyExc_ValueError, "a step has five rows and seven numbers");
        return 0;
    }
    Size n = rows.size / 5;
    const double *at = rows.at, *of = numbers.at;
    *step =
        (BroadStep){at, at + n, at + 2 * n, at + 3 * n, at + 4 * n, n - 1, of[0], of[1], of[2], of[3], of[4], of[5], of[6], kind};
    return 1;
}

/* rule(rows, numbers, large, log_goal, beyond): about the longest step of the rule with an error below e^log_goal, and a bound of
   it; (0, 0) if there is none.  The rows are edges of z, x + q, r, and for each cell two logarithms that are added.  `beyond`
   bounds log of the integral right of the cells on the lowest line; -inf: the integrand falls there from the last cell on. */
FUNCTION_OF_PYTHON(py_rule) {
    Held held;
    Array rows, numbers;
    Size large;
    double log_goal, beyond, longest = 0.0, error = 0.0;
    BroadStep step;
    (void)self;
    if (!hs_parse(&held, args, count, "aandd", &rows, &numbers, &large, &log_goal, &beyond))
        return NULL;
    if (read_step(&step, rows, numbers, large ? LARGE : ALL) && !hs_bigjump_rule(&step, log_goal, beyond, &longest, &error))
        PyErr_NoMemory();
    hs_release(&held);
    return PyErr_Occurred() ? NULL : Py_BuildValue("(dd)", longest, error);
}

/* log_modulus_above(rows, numbers, k, last_x, left, u, out): bounds of log |mid(k + iu)| (of log |phi| if none is small) for each u
   and beyond, u growing; the first logarithm of the rows is k L at the right edge, the second -inf */
FUNCTION_OF_PYTHON(py_log_modulus_above) {
    Held held;
    Array rows, numbers, u, out;
    double k, last_x, log_left;
    BroadStep step;
    (void)self;
    if (!hs_parse(&held, args, count, "aadddaa", &rows, &numbers, &k, &last_x, &log_left, &u, &out))
        return NULL;
    if (u.size != out.size)
        PyErr_SetString(PyExc_ValueError, "as many bounds as places");
    else if (read_step(&step, rows, numbers, MIDDLE) && !hs_bigjump_log_moduli(&step, k, last_x, log_left, u.at, u.size, out.at))
        PyErr_NoMemory();
    return nothing(&held);
}

/* threshold_sums(x, table, cuts, threshold, width, out): for each row of the table the sums of its entries times g((x -
   threshold)/width) from each of the places `cuts`, which grow, to the next; no more than a guide */
FUNCTION_OF_PYTHON(py_threshold_sums) {
    Held held;
    Array x, table, cuts, out;
    double threshold, width;
    (void)self;
    if (!hs_parse(&held, args, count, "aaadda", &x, &table, &cuts, &threshold, &width, &out))
        return NULL;
    Size n = x.size, rows = n ? table.size / n : 0;
    if (!n || table.size != rows * n || out.size != rows * cuts.size)
        PyErr_SetString(PyExc_ValueError, "rows as long as x, and a sum for each row and place");
    else if (!hs_bigjump_threshold_sums(x.at, n, table.at, rows, cuts.at, cuts.size, threshold, width, out.at))
        PyErr_NoMemory();
    return nothing(&held);
}

/* remainder_sum(ratio, x, weight, k): a bound of the sum of weight (e^{kL} - 1 - k x) over cells */
FUNCTION_OF_PYTHON(py_remainder_sum) {
    Held held;
    Array ratio, x, weight;
    double k;
    (void)self;
    if (!hs_parse(&held, args, count, "aaad", &ratio, &x, &weight, &k))
        return NULL;
    double total = 0.0;
    if (ratio.size < weight.size + 1 || x.size < weight.size + 1)
        PyErr_SetString(PyExc_ValueError, "one end more than there are cells");
    else
        total = hs_bigjump_remainder_sum(ratio.at, x.at, weight.at, weight.size, k);
    hs_release(&held);
    return PyErr_Occurred() ? NULL : PyFloat_FromDouble(total);
}

PyMethodDef hs_py_loops[] = {
    METHOD(place_nodes),    METHOD(right_edge),    METHOD(choose_step),   METHOD(tilted_sums),
    METHOD(cumulant_above), METHOD(decay),         METHOD(excess),        METHOD(terms),
    METHOD(sums),           METHOD(truncate),      METHOD(rule),          METHOD(log_modulus_above),
    METHOD(threshold_sums), METHOD(remainder_sum), {NULL, NULL, 0, NULL},
};
