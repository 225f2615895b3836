/* epsilon of one sampled Gaussian mechanism, repeated, in one go.  What is not answered closely is left to Python. */
#include "native.h"

#define RATIO 1.1 /* of the counts of a block */

/* The block to which a count belongs: those from the first power of RATIO at or above which it lies, to the next */
static void block_of(Run *run) {
    double place = floor(log(run->count) / log(RATIO)), next;
    while ((run->least = ceil(pow(RATIO, place))) > run->count)
        place--;
    while ((next = ceil(pow(RATIO, place + 1.0))) <= run->count) {
        run->least = next;
        place++;
    }
    run->most = larger(run->least, next - 1.0);
}

/* Large steps counted apart in the order "remove"; in the order "add" there are none, and its epsilon is hardly ever the larger one
 */
static int in_parts(Block *block, const Run *run, double *low, double *high) {
    if (!run->removal[0] || !(block->parted || (block->parted = hs_bigjump_open(&block->run))) ||
        !hs_bigjump_epsilon(block->parted, run, &block->room, low, high))
        return 0;
    if (run->many > 1 && !(run->count * -log1p(-run->rate) * (1.0 + 16.0 * UNIT) <= *low)) { /* the largest sum of those losses */
        Run added = *run;
        double least, most;
        added.many = 1;
        added.removal[0] = 0;
        added.floor = *low;
        if (!(block->added || (block->added = hs_block_open(&added))) ||
            !hs_block_epsilon(block->added, &added, 0, CONTOURS, &least, &most))
            return 0;
        *low = larger(*low, least);
        *high = larger(*high, most);
    }
    return *high - *low < CLOSE * *high;
}

/* Of a run of the block; another one is opened where it is of another, none where there is no memory */
static int answered(Block **block, Run *run, double *low, double *high) {
    block_of(run);
    if (*block && ((*block)->run.least != run->least || (*block)->run.most != run->most)) {
        hs_block_close(*block);
        *block = NULL;
    }
    if (!*block && !(*block = hs_block_open(run)))
        return 0;
    return hs_block_epsilon(*block, run, 0, SOONER, low, high) || in_parts(*block, run, low, high) ||
           hs_block_epsilon(*block, run, SOONER, CONTOURS, low, high);
}

/* Fixes the ordered pairs: 1 is (True,), 2 (False,), 3 (True, False); 0 if the numbers are not those of a run */
static int ordered(Run *run, Size removals) {
    run->many = removals == 3 ? 2 : 1;
    run->removal[0] = removals != 2;
    run->removal[1] = 0;
    run->law = &HS_LAW_GAUSSIAN;
    return 1 <= removals && removals <= 3 && 1e-100 < run->noise && run->noise < 1e100 && 1e-300 < run->rate && run->rate < 1.0 &&
           run->noise_error >= 0.0 && run->noise_error < 1e-9 && 1.0 <= run->count && run->count < INFINITY &&
           -1e3 < run->log_delta && run->log_delta < 0.0;
}

/* epsilon(noise, rate, noise_error, count, removals, log_delta, below, above, floor): both ends, or None */
FUNCTION_OF_PYTHON(native_epsilon) {
    Held held;
    Run run;
    Block *block = NULL;
    Size removals;
    double low, high;
    (void)self;
    if (!hs_parse(&held, args, count, "ddddndddd", &run.noise, &run.rate, &run.noise_error, &run.count, &removals, &run.log_delta,
                  &run.below, &run.above, &run.floor))
        return NULL;
    int found = ordered(&run, removals) && answered(&block, &run, &low, &high);
    if (block)
        hs_block_close(block);
    if (!found)
        Py_RETURN_NONE;
    return Py_BuildValue("(dd)", low, high);
}

/* epsilons(noise, rate, noise_error, count, removals, log_delta, low, high): of many runs; NaN for those not answered.  Those of
   one mechanism that follow each other share what they can. */
FUNCTION_OF_PYTHON(native_epsilons) {
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
    Py_BEGIN_ALLOW_THREADS;
    Block *block = NULL;
    for (Size i = 0; i < noise.size; i++) {
        double slack = FUNCTION * fabs(log_delta.at[i]), least, most;
        Run run = {.noise = noise.at[i], .rate = rate.at[i], .noise_error = noise_error.at[i], .count = counts.at[i]};
        run.log_delta = log_delta.at[i];
        run.below = run.log_delta - slack;
        run.above = run.log_delta + slack;
        int same = i && run.noise == noise.at[i - 1] && run.rate == rate.at[i - 1] && run.noise_error == noise_error.at[i - 1] &&
                   run.log_delta == log_delta.at[i - 1];
        if (!same && block) {
            hs_block_close(block);
            block = NULL;
        }
        int found = ordered(&run, removals) && answered(&block, &run, &least, &most) && least > 0.0;
        low.at[i] = found ? least : NAN;
        high.at[i] = found ? most : NAN;
    }
    if (block)
        hs_block_close(block);
    Py_END_ALLOW_THREADS;
    hs_release(&held);
    Py_RETURN_NONE;
}

/* sampled_deltas(noise, rate, noise_error, count, removals, epsilons, low, high): both ends of log delta at epsilons that grow; NaN
   for those not answered */
FUNCTION_OF_PYTHON(native_sampled_deltas) {
    Held held;
    Run run = {.log_delta = -1.0};
    Array epsilons, low, high;
    Size removals;
    (void)self;
    if (!hs_parse(&held, args, count, "ddddnaaa", &run.noise, &run.rate, &run.noise_error, &run.count, &removals, &epsilons, &low,
                  &high))
        return NULL;
    int known = ordered(&run, removals) && low.size == epsilons.size && high.size == epsilons.size;
    run.least = run.most = run.count;
    if (known)
        hs_log_deltas(&run, epsilons.at, epsilons.size, low.at, high.at);
    hs_release(&held);
    return PyBool_FromLong(known);
}
