/* Draws from random words, as native/draws.py calls them: each has a few thousand words at most, so the interpreter is not
   released. What each returns: how many draws were made, how many words these have read, and how the last one that was tried ended.
 */
#include "bindings.h"
#include "draws.h"

#if DRAWS

static Words words_of(Wholes words) { return (Words){words.at, (const uint32_t *)words.at + words.size}; }

static PyObject *ended(Held *held, Wholes words, Words left, Size done, Ending ending) {
    hs_release(held);
    if (PyErr_Occurred())
        return NULL;
    return Py_BuildValue("(nni)", done, (Size)(left.next - (const uint32_t *)words.at), (int)ending);
}

static Scale scale_of(double mantissa, Size exponent, Size inexact, Size words) {
    if (!(mantissa >= 0.0 && mantissa < 0x1p53) || exponent < -100000 || exponent > 100000 || words < 1 || words > 2)
        PyErr_SetString(PyExc_ValueError, "a scale has 53 bits");
    else
        return (Scale){(uint64_t)mantissa, inexact != 0, (int)exponent, (int)words};
    return (Scale){0, 0, 0, 1};
}

/* draw_on_grid(words, values, mantissa, grid, normal, out): values plus Laplace or normal noise on the grid of spacing 2^grid, the
   mantissa in units of 2^(grid - 12) */
FUNCTION_OF_PYTHON(py_draw_on_grid) {
    Held held;
    Wholes words;
    Array values, out;
    double mantissa;
    Size grid, normal, done = 0;
    Ending ending = DRAWN;
    (void)self;
    if (!hs_parse(&held, args, count, "wadnna", &words, &values, &mantissa, &grid, &normal, &out))
        return NULL;
    Words left = words_of(words);
    Scale scale = scale_of(mantissa, 0, 0, 2);
    if (values.size != out.size || grid < -1074 || grid > 1000)
        PyErr_SetString(PyExc_ValueError, "as many values as places, on a grid of doubles");
    else if (!PyErr_Occurred())
        done = (normal ? hs_draw_gaussian : hs_draw_laplace)(&left, values.at, values.size, scale, (int)grid, out.at, &ending);
    return ended(&held, words, left, done, ending);
}

/* draw_discrete_laplace(words, mantissa, exponent, inexact, fraction_words, out): of scale mantissa * 2^exponent */
FUNCTION_OF_PYTHON(py_draw_discrete_laplace) {
    Held held;
    Wholes words, out;
    double mantissa;
    Size exponent, inexact, fraction, done = 0;
    Ending ending = DRAWN;
    (void)self;
    if (!hs_parse(&held, args, count, "wdnnni", &words, &mantissa, &exponent, &inexact, &fraction, &out))
        return NULL;
    Words left = words_of(words);
    Scale scale = scale_of(mantissa, exponent, inexact, fraction);
    if (!PyErr_Occurred())
        done = hs_draw_discrete_laplace(&left, out.size, scale, out.at, &ending);
    return ended(&held, words, left, done, ending);
}

/* draw_discrete_gaussian(words, sigma, out) */
FUNCTION_OF_PYTHON(py_draw_discrete_gaussian) {
    Held held;
    Wholes words, out;
    double sigma;
    Size done = 0;
    Ending ending = DRAWN;
    (void)self;
    if (!hs_parse(&held, args, count, "wdi", &words, &sigma, &out))
        return NULL;
    Words left = words_of(words);
    if (!(sigma >= 0x1p-30 && sigma <= 0x1p50))
        PyErr_SetString(PyExc_ValueError, "sigma from 2^-30 to 2^50");
    else
        done = hs_draw_discrete_gaussian(&left, out.size, sigma, out.at, &ending);
    return ended(&held, words, left, done, ending);
}

/* draw_bernoulli(words, sure, most, out): 1 with a probability between sure and most, in units of 2^-32 */
FUNCTION_OF_PYTHON(py_draw_bernoulli) {
    Held held;
    Wholes words, out;
    Size sure, most;
    Ending ending;
    (void)self;
    if (!hs_parse(&held, args, count, "wnni", &words, &sure, &most, &out))
        return NULL;
    Words left = words_of(words);
    Size done = hs_draw_bernoulli(&left, out.size, (uint64_t)sure, (uint64_t)most, out.at, &ending);
    return ended(&held, words, left, done, ending);
}

/* draw_below(words, bound, falling, out): whole numbers below bound, bound - falling, ... */
FUNCTION_OF_PYTHON(py_draw_below) {
    Held held;
    Wholes words, out;
    Size bound, falling, done = 0;
    Ending ending = DRAWN;
    (void)self;
    if (!hs_parse(&held, args, count, "wnni", &words, &bound, &falling, &out))
        return NULL;
    Words left = words_of(words);
    if (bound < 1 || bound > (Size)1 << 32 || falling < 0 || falling > 1 || bound - falling * (out.size - 1) < 1)
        PyErr_SetString(PyExc_ValueError, "bounds from 1 to 2^32");
    else
        done = hs_draw_below(&left, out.size, (uint64_t)bound, (uint64_t)falling, out.at, &ending);
    return ended(&held, words, left, done, ending);
}

/* draw_response(words, truths, sure, most, others, exponent, out) */
FUNCTION_OF_PYTHON(py_draw_response) {
    Held held;
    Wholes words, truths, out;
    Size sure, most, others, done = 0;
    double exponent;
    Ending ending = DRAWN;
    (void)self;
    if (!hs_parse(&held, args, count, "winnndi", &words, &truths, &sure, &most, &others, &exponent, &out))
        return NULL;
    Words left = words_of(words);
    Response response = {(uint64_t)sure, (uint64_t)most, (uint64_t)others, exponent};
    if (truths.size != out.size || others < 1 || others > (Size)1 << 31 || !(exponent >= 0.0))
        PyErr_SetString(PyExc_ValueError, "as many answers as truths, of at most 2^31 categories");
    else
        done = hs_draw_response(&left, truths.at, out.size, response, out.at, &ending);
    return ended(&held, words, left, done, ending);
}

/* draw_choice(words, exponents, again, order, chosen): one place; `order` has room for all, unless a place may be tried again */
FUNCTION_OF_PYTHON(py_draw_choice) {
    Held held;
    Wholes words, order, chosen;
    Array exponents;
    Size again, done = 0;
    Ending ending = DRAWN;
    (void)self;
    if (!hs_parse(&held, args, count, "wanii", &words, &exponents, &again, &order, &chosen))
        return NULL;
    Words left = words_of(words);
    if (exponents.size < 1 || exponents.size > (Size)1 << 32 || chosen.size != 1 || (!again && order.size != exponents.size))
        PyErr_SetString(PyExc_ValueError, "one choice, and room for the order");
    else
        done = hs_draw_choice(&left, exponents.at, exponents.size, again != 0, order.at, chosen.at, &ending);
    return ended(&held, words, left, done, ending);
}

PyMethodDef hs_py_draws[] = {
    METHOD(draw_on_grid),
    METHOD(draw_discrete_laplace),
    METHOD(draw_discrete_gaussian),
    METHOD(draw_bernoulli),
    METHOD(draw_below),
    METHOD(draw_response),
    METHOD(draw_choice),
    {NULL, NULL, 0, NULL},
};

#else
PyMethodDef hs_py_draws[] = {{NULL, NULL, 0, NULL}};
#endif
