/* Twins of loss/contour/contour.py: the terms of the sum along a contour, the sum at other epsilons, and where it may end. */
#include "elementary.h"

enum { MOST = 64 }; /* rows */

static PyObject *list_of(const double *values, Size size) {
    PyObject *list = PyList_New(size);
    for (Size i = 0; list && i < size; i++) {
        PyObject *one = PyFloat_FromDouble(values[i]);
        if (!one) {
            Py_DECREF(list);
            return NULL;
        }
        PyList_SET_ITEM(list, i, one);
    }
    return list;
}

enum { BLOCK = 32 };

/* e^{-i angle u} is a product of one for each block and one within it */
void hs_contour_sums(const double *weights, Size many, Size nodes, double step, double angle, double *totals, double *swings) {
    double re[BLOCK], im[BLOCK], places[BLOCK];
    for (int r = 0; r < BLOCK; r++)
        places[r] = r;
    hs_turns(-angle * step, places, BLOCK, re, im);
    for (Size row = 0; row < many; row++)
        totals[row] = swings[row] = 0.0;
    for (Size start = 0; start < nodes; start += BLOCK) {
        double u = step * (double)start, cr = cos(-angle * u), ci = sin(-angle * u);
        for (Size row = 0; row < many; row++) {
            const double *w = weights + 2 * (row * nodes + start);
            double total = 0.0, other = 0.0, first = 0.0, second = 0.0;
            for (Size r = 0; r < BLOCK && start + r < nodes; r++) {
                double one = w[2 * r] * re[r] - w[2 * r + 1] * im[r], two = w[2 * r] * im[r] + w[2 * r + 1] * re[r];
                total += one;
                other += two;
                first += one * (double)r;
                second += two * (double)r;
            }
            totals[row] += cr * total - ci * other;
            swings[row] += (ci * total + cr * other) * u + (ci * first + cr * second) * step;
        }
    }
}

/* sums(weights, rows, step, angle): for each row the real part of the sum of weights e^{-i angle u}, and the imaginary ones' times
 * u */
FUNCTION_OF_PYTHON(native_sums) {
    Held held;
    Array weights;
    Size many;
    double step, angle, totals[MOST], swings[MOST];
    (void)self;
    if (!hs_parse(&held, args, count, "andd", &weights, &many, &step, &angle))
        return NULL;
    if (many < 1 || many > MOST || weights.size % (2 * many)) {
        hs_release(&held);
        return PyErr_Format(PyExc_ValueError, "between 1 and %d rows", MOST);
    }
    hs_contour_sums(weights.at, many, weights.size / (2 * many), step, angle, totals, swings);
    hs_release(&held);
    PyObject *one = list_of(totals, many), *two = list_of(swings, many);
    if (one && two)
        return Py_BuildValue("(NN)", one, two);
    Py_XDECREF(one);
    Py_XDECREF(two);
    return NULL;
}

/* 0 where rounding has drowned the peak: |phi| is largest at u = 0, where it is told up to e^error */
int hs_contour_terms(const double *value, const double *error, Size many, Size nodes, double step, double c, double epsilon,
                     double *weights, double *errors, double *heights, double *levers, double *sums) {
    for (Size row = 0; row < many; row++) {
        heights[row] = value[2 * row * nodes];
        levers[row] = sums[row] = 0.0;
        if (!(error[row * nodes] < 1.0))
            return 0;
    }
    for (Size node = 0; node < nodes; node++) {
        double u = step * (double)node, re = c * (c + 1.0) - u * u, im = u * (2.0 * c + 1.0), norm = re * re + im * im;
        double kernel_re = node ? c * (c + 1.0) * re / norm : 0.5, kernel_im = node ? -(c * (c + 1.0)) * im / norm : 0.0;
        double kernel = sqrt(kernel_re * kernel_re + kernel_im * kernel_im);
        for (Size row = 0; row < many; row++) {
            Size at = row * nodes + node;
            double real = value[2 * at] - heights[row], imag = value[2 * at + 1], whole = sqrt(real * real + imag * imag);
            if (!(real <= 1.0))
                return 0;
            double off = error[at] + UNIT * (2.0 * whole + (4.0 * fabs(epsilon) * u + (24.0 + 6.0 * FUNCTION / UNIT)));
            double turn = imag - u * epsilon, grown = exp(real), er = grown * cos(turn), ei = grown * sin(turn);
            weights[2 * at] = kernel_re * er - kernel_im * ei;
            weights[2 * at + 1] = kernel_re * ei + kernel_im * er;
            double size = kernel * grown * (1.0 + 16.0 * UNIT);
            if (off <= CAP) /* e^x - 1 <= x + x^2 for x <= 1 */
                errors[at] = size * ((off <= 1e-3 ? off + off * off : expm1(off)) * SECOND_ORDER + 2.0 * (double)nodes * UNIT);
            else
                errors[at] = kernel * exp(smaller(real + off, error[row * nodes])) * SECOND_ORDER + size;
            levers[row] += size * u;
            sums[row] += errors[at];
        }
    }
    return 1;
}

/* terms(value, error, rows, step, c, epsilon, weights, errors): the terms and their errors, as `Contour._weigh` has them;
   returns the heights, the sums of |term| u and of the errors, or None where rounding has drowned the peak */
FUNCTION_OF_PYTHON(native_terms) {
    Held held;
    Array value, error, weights, errors;
    Size many;
    double step, c, epsilon, heights[MOST], levers[MOST], sums[MOST];
    (void)self;
    if (!hs_parse(&held, args, count, "aandddaa", &value, &error, &many, &step, &c, &epsilon, &weights, &errors))
        return NULL;
    if (many < 1 || many > MOST || error.size < 1 || error.size % many || value.size != 2 * error.size ||
        weights.size != value.size || errors.size != error.size) {
        hs_release(&held);
        return PyErr_Format(PyExc_ValueError, "between 1 and %d rows, all of the same length", MOST);
    }
    int found = hs_contour_terms(value.at, error.at, many, error.size / many, step, c, epsilon, weights.at, errors.at, heights,
                                 levers, sums);
    hs_release(&held);
    if (!found)
        Py_RETURN_NONE;
    PyObject *one = list_of(heights, many), *two = list_of(levers, many), *three = list_of(sums, many);
    if (one && two && three)
        return Py_BuildValue("(NNN)", one, two, three);
    Py_XDECREF(one);
    Py_XDECREF(two);
    Py_XDECREF(three);
    return NULL;
}

int hs_contour_cut(const double *decay, int cells, double growth, double start, double step, double wanted, Size most,
                   double *rest) {
    double left[CLOSER + 1], beyond[CLOSER + 1], size[CLOSER];
    int cell = 0;
    for (int i = 0; i < cells; i++) {
        left[i] = i ? growth * left[i - 1] : start;
        size[i] = decay[i] > 0.0 ? -smaller(decay[i], 700.0) : 0.0;
    }
    hs_exps(size, cells);
    left[cells] = INFINITY;
    beyond[cells] = 0.0;
    for (int i = cells - 1; i >= 0; i--)
        beyond[i] = beyond[i + 1] + size[i] * (1.0 / left[i] - 1.0 / left[i + 1] + step / (left[i] * left[i]));
    while (cell < most && cell < cells - 1 && beyond[cell] > wanted)
        cell++;
    *rest = beyond[cell];
    return cell;
}

/* cut(decay, start, step, wanted, most): the first cell beyond which the terms add up to at most `wanted`, no later than `most`,
   and a bound of what lies beyond it (numerics/trapezoid.py) */
FUNCTION_OF_PYTHON(native_cut) {
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
    int cell = hs_contour_cut(decay.at, CELLS, GROWTH, start, step, wanted, most, &rest);
    hs_release(&held);
    return Py_BuildValue("(id)", cell, rest);
}
