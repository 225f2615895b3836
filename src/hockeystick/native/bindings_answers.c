/* Whole answers, for loss/engines/compiled.py and loss/answers/batch.py.  Other threads of Python
   run meanwhile, and long calls look for signals now and then. */
#include "answer.h"
#include "bindings.h"
#include "closed.h"
#include "log_deltas.h"

enum { CHUNK = 32 }; /* runs between two looks for signals */

static PyObject *both_ends(int found, double low, double high) {
    if (!found)
        Py_RETURN_NONE;
    return Py_BuildValue("(dd)", low, high);
}

/* Whether a signal, such as that of Ctrl-C, raised an exception: asked by a thread that has let go of the interpreter */
static int interrupted(void *of) {
    PyThreadState **state = of;
    PyEval_RestoreThread(*state);
    int raised = PyErr_Occurred() || PyErr_CheckSignals() != 0; /* the former if it was asked before */
    *state = PyEval_SaveThread();
    return raised;
}

/* epsilon(noise, rate, noise_error, count, removals, log_delta, below, above, floor): both ends and which proof they are of (1: the
   contour, 2: the big jump), or None */
FUNCTION_OF_PYTHON(py_epsilon) {
    Held held;
    Run run = {.law = NULL};
    Block *block = NULL;
    Size removals;
    double low = NAN, high = NAN;
    (void)self;
    if (!hs_parse(&held, args, count, "ddddndddd", &run.noise, &run.rate, &run.noise_error, &run.count, &removals, &run.log_delta,
                  &run.below, &run.above, &run.floor))
        return NULL;
    int found;
    Py_BEGIN_ALLOW_THREADS;
    found = hs_answer_ordered(&run, removals) ? hs_answer_epsilon(&block, &run, &low, &high) : 0;
    if (block)
        hs_block_close(block);
    Py_END_ALLOW_THREADS;
    if (!found)
        Py_RETURN_NONE;
    return Py_BuildValue("(ddi)", low, high, found);
}

/* epsilons(noise, rate, noise_error, count, removals, log_delta, low, high): of many runs; NaN for those not answered.  Those of
   one mechanism that follow each other share what they can. */
FUNCTION_OF_PYTHON(py_epsilons) {
    Held held;
    Array noise, rate, noise_error, counts, log_delta, low, high;
    Size removals;
    (void)self;
    if (!hs_parse(&held, args, count, "aaaanaaa", &noise, &rate, &noise_error, &counts, &removals, &log_delta, &low, &high))
        return NULL;
    const Array *all[] = {&rate, &noise_error, &counts, &log_delta, &low, &high};
    for (int i = 0; i < 6; i++)
        if (all[i]->size != noise.size) {
            hs_release(&held);
            return PyErr_Format(PyExc_ValueError, "arrays of one length");
        }
    Batch batch = {noise.at, rate.at, noise_error.at, counts.at, log_delta.at, low.at, high.at, removals, NULL};
    PyThreadState *state = PyEval_SaveThread();
    int stopped = 0;
    for (Size from = 0; from < noise.size && !stopped; from += CHUNK) {
        hs_answer_batch(&batch, from, noise.size - from < CHUNK ? noise.size : from + CHUNK);
        stopped = interrupted(&state);
    }
    if (batch.block)
        hs_block_close(batch.block);
    PyEval_RestoreThread(state);
    hs_release(&held);
    if (stopped)
        return NULL;
    Py_RETURN_NONE;
}

/* Both ends of log delta of a run at epsilons that grow: False if it is not known; NULL: interrupted */
static PyObject *log_deltas(int known, Run *run, Array epsilons, Array low, Array high) {
    if (known && low.size == epsilons.size && high.size == epsilons.size) {
        PyThreadState *state = PyEval_SaveThread();
        run->stop = interrupted;
        run->of = &state;
        int whole = hs_log_deltas(run, epsilons.at, epsilons.size, low.at, high.at);
        PyEval_RestoreThread(state);
        return whole ? PyBool_FromLong(1) : NULL;
    }
    return PyBool_FromLong(0);
}

/* sampled_deltas(noise, rate, noise_error, count, removals, epsilons, low, high): both ends of log delta at epsilons that grow; NaN
   for those not answered */
FUNCTION_OF_PYTHON(py_sampled_deltas) {
    Held held;
    Run run = {.log_delta = -1.0};
    Array epsilons, low, high;
    Size removals;
    (void)self;
    if (!hs_parse(&held, args, count, "ddddnaaa", &run.noise, &run.rate, &run.noise_error, &run.count, &removals, &epsilons, &low,
                  &high))
        return NULL;
    run.least = run.most = run.count;
    PyObject *known = log_deltas(hs_answer_ordered(&run, removals), &run, epsilons, low, high);
    hs_release(&held);
    return known;
}

/* What a run of `revealed...` is made of: noise, rate and weight of the first part, and of the second; the errors of noise and of
   weights, relative; how often */
#define REVEALED "dddddddddn"
#define REVEALED_INTO(run, both, removals)                                                                                         \
    &both.noise[0], &both.rate[0], &both.weight[0], &both.noise[1], &both.rate[1], &both.weight[1], &run.noise_error,              \
        &both.weight_error, &run.count, &removals

/* revealed_epsilon(..., log_delta, below, above, floor): both ends, or None */
FUNCTION_OF_PYTHON(py_revealed_epsilon) {
    Held held;
    Run run = {.law = NULL};
    Revealed both = {.nothing = 0.0};
    Block *block = NULL;
    Size removals;
    double low = NAN, high = NAN;
    (void)self;
    if (!hs_parse(&held, args, count, REVEALED "dddd", REVEALED_INTO(run, both, removals), &run.log_delta, &run.below, &run.above,
                  &run.floor))
        return NULL;
    int found;
    Py_BEGIN_ALLOW_THREADS;
    both.guide = malloc(sizeof *both.guide);
    found = both.guide && hs_answer_revealed(&run, &both, removals) ? hs_answer_epsilon(&block, &run, &low, &high) : 0;
    if (block)
        hs_block_close(block);
    free(both.guide);
    Py_END_ALLOW_THREADS;
    return both_ends(found, low, high);
}

/* revealed_deltas(..., epsilons, low, high): both ends of log delta at epsilons that grow; NaN for those not answered */
FUNCTION_OF_PYTHON(py_revealed_deltas) {
    Held held;
    Run run = {.law = NULL};
    Revealed both = {.nothing = 0.0};
    Array epsilons, low, high;
    Size removals;
    (void)self;
    if (!hs_parse(&held, args, count, REVEALED "aaa", REVEALED_INTO(run, both, removals), &epsilons, &low, &high))
        return NULL;
    run.log_delta = -1.0;
    run.least = run.most = run.count;
    both.guide = malloc(sizeof *both.guide);
    PyObject *known = log_deltas(both.guide && hs_answer_revealed(&run, &both, removals), &run, epsilons, low, high);
    free(both.guide);
    hs_release(&held);
    return known;
}

/* gaussian(mu, mu_error, delta): both ends of epsilon, or None */
FUNCTION_OF_PYTHON(py_gaussian) {
    Held held;
    double mu, mu_error, delta, low = NAN, high = NAN;
    (void)self;
    if (!hs_parse(&held, args, count, "ddd", &mu, &mu_error, &delta))
        return NULL;
    int found = hs_closed_gaussian(mu, mu_error, delta, &low, &high);
    return both_ends(found, low, high);
}

/* sampled_once(mu, mu_error, rate, removal, delta): the same of one sampled step */
FUNCTION_OF_PYTHON(py_sampled_once) {
    Held held;
    Size removal;
    double mu, mu_error, rate, delta, low = NAN, high = NAN;
    (void)self;
    if (!hs_parse(&held, args, count, "dddnd", &mu, &mu_error, &rate, &removal, &delta))
        return NULL;
    int found = hs_closed_once(mu, mu_error, rate, removal != 0, delta, &low, &high);
    return both_ends(found, low, high);
}

/* gaussian_deltas(mu, mu_error, epsilons, low, high): both ends of log delta at some epsilons; NaN for those not answered */
FUNCTION_OF_PYTHON(py_gaussian_deltas) {
    Held held;
    Array epsilons, low, high;
    double mu, mu_error;
    (void)self;
    if (!hs_parse(&held, args, count, "ddaaa", &mu, &mu_error, &epsilons, &low, &high))
        return NULL;
    int known = low.size == epsilons.size && high.size == epsilons.size &&
                hs_closed_gaussian_deltas(mu, mu_error, epsilons.at, epsilons.size, low.at, high.at);
    hs_release(&held);
    return PyBool_FromLong(known);
}

/* laplace(a, count, delta): both ends of epsilon, or None */
FUNCTION_OF_PYTHON(py_laplace) {
    Held held;
    double a, many, delta, low = NAN, high = NAN;
    (void)self;
    if (!hs_parse(&held, args, count, "ddd", &a, &many, &delta))
        return NULL;
    int found;
    Py_BEGIN_ALLOW_THREADS;
    found = hs_closed_laplace(a, many, delta, &low, &high);
    Py_END_ALLOW_THREADS;
    return both_ends(found, low, high);
}

/* laplace_deltas(a, count, epsilons, low, high): both ends of log delta at epsilons that grow; NaN for those not answered */
FUNCTION_OF_PYTHON(py_laplace_deltas) {
    Held held;
    Run run;
    Array epsilons, low, high;
    double a, many;
    (void)self;
    if (!hs_parse(&held, args, count, "ddaaa", &a, &many, &epsilons, &low, &high))
        return NULL;
    PyObject *known = log_deltas(hs_laplace_run(a, many, &run), &run, epsilons, low, high);
    hs_release(&held);
    return known;
}

/* randomised_response(epsilon, count, delta): both ends, or None */
FUNCTION_OF_PYTHON(py_randomised_response) {
    Held held;
    double epsilon, many, delta, low = NAN, high = NAN;
    (void)self;
    if (!hs_parse(&held, args, count, "ddd", &epsilon, &many, &delta))
        return NULL;
    int found = hs_closed_response(epsilon, many, delta, &low, &high);
    return both_ends(found, low, high);
}

PyMethodDef hs_py_answers[] = {
    METHOD(epsilon),         METHOD(epsilons),       METHOD(sampled_deltas),      METHOD(revealed_epsilon),
    METHOD(revealed_deltas), METHOD(gaussian),       METHOD(sampled_once),        METHOD(gaussian_deltas),
    METHOD(laplace),         METHOD(laplace_deltas), METHOD(randomised_response), {NULL, NULL, 0, NULL},
};
