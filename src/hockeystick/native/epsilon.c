/* epsilon of one sampled Gaussian mechanism, repeated, in one go: what `by_contour` of loss/engine.py does for the contour through
   the saddle, or left of it, where that has few nodes and proves close ends.  Everything else is left to Python. */
#include "native.h"

enum { NODES = 1000, TRIES = 12 };
enum { CONTOURS = 4, SOONER = 3 }; /* through the saddle, or left of it, where there are fewer nodes; one where all else fails */
static const double SHARES[CONTOURS] = {1.0, 0.75, 1.0, 0.55}, MANY[CONTOURS] = {250.0, 400.0, NODES, NODES};
#define ALLOWED 4096.0 /* nodes of a contour */
#define WORK 4e5 /* nodes of the noise times those of the contour */
#define FINE 33.0 /* -log of the error of the rule for values, times the count */

/* Bounds of K ahead of the saddle, the step, and where the nodes may end, for every pair or for those that seem to matter; 0 if
   there would be many or they prove too little */
static int plan(Contour *contour, const Run *run, const Grid *grid, int every, double *top) {
    double c = contour->c, points[ROWS], decay[ROWS * CELLS], above[ROWS][FORWARD];
    contour->pairs = run->many;
    for (int i = 0; i < FORWARD; i++) {
        double s = contour->forward[i] = c + AHEAD[i] * contour->width;
        for (int row = 0; row < run->many; row++) {
            double bound = bound_above(grid, exponent(run, row, s));
            if (!run->removal[row])
                bound = smaller(bound, s * (-log1p(-run->rate) * (1.0 + 16.0 * UNIT)));
            above[row][i] = run->count * bound + 3.0 * UNIT * fabs(run->count * bound);
        }
    }
    if (!look_ahead(contour, above))
        return 0;
    *top = 0.0;
    contour->many = 0;
    for (int row = 0; row < run->many; row++) {
        double end = markov_epsilon(contour, row, run->below);
        if (!(fabs(end) < INFINITY))
            return 0;
        *top = larger(*top, end);
        if (row == 0 || every || markov_epsilon(contour, row, run->log_delta) >= contour->epsilon - 0.5 / c) {
            points[contour->many] = exponent(run, row, c);
            contour->live[contour->many++] = row;
        }
    }
    choose_step(contour, run->log_delta);
    if (!decay_of(grid, points, contour->many, contour->width, decay))
        return 0;
    for (int cell = 0; cell < CELLS; cell++) {
        double least = decay[cell];
        if (contour->many > 1)
            least = smaller(least, decay[CELLS + cell]);
        decay[cell] = run->count * least * (1.0 - 4.0 * UNIT);
    }
    return cut_nodes(contour, decay, ALLOWED);
}

/* The terms of the sum; 0 if they prove nothing */
static int lay(Contour *contour, const Run *run, const double *levels) {
    double c = contour->c, reach = contour->step * (double)(contour->nodes - 1), k[ROWS], least = INFINITY;
    double *value = contour->weights + 2 * ROWS * NODES, *error = value + 2 * ROWS * NODES, *errors = error + ROWS * NODES;
    for (int row = 0; row < run->many; row++)
        least = smaller(least, fabs(levels[row]));
    for (int row = 0; row < contour->many; row++)
        k[row] = exponent(run, contour->live[row], c);
    double faint = larger(0.0, -log(run->count) - log(larger(least, 1e-300)));
    double lead = log(run->count) + FINE + log(2.0 + fabs(k[0]) + reach) + faint;
    Grid grid;
    double *rows = make_grid(&grid, run, k[0], lead, reach, 0.0, 0.0);
    if (!rows || (double)(grid.size * contour->nodes) > WORK) {
        free(rows);
        return 0;
    }
    int found = 1, gentle = hypot(c, reach) * larger(-log1p(-run->rate), grid.ratio[grid.size - 1]) < 0.25;
    if (gentle) /* |w L| is small throughout: K is wanted relative to w */
        for (int row = 0; found && row < contour->many; row++)
            found = gentle_along(&grid, c, run->removal[contour->live[row]], k, contour->many, contour->step, contour->nodes,
                                 value + 2 * row * contour->nodes, error + row * contour->nodes);
    else
        found = excess_along(&grid, k, contour->many, contour->step, contour->nodes, value, error);
    free(rows);
    if (!found)
        return 0;
    for (int row = 0; row < contour->many; row++)
        for (Size node = 0; node < contour->nodes; node++) {
            Size at = row * contour->nodes + node;
            double re = run->count * value[2 * at], im = run->count * value[2 * at + 1];
            double size = sqrt(re * re + im * im);
            error[at] = run->count * error[at] + 4.0 * UNIT * size;
            value[2 * at] = re;
            value[2 * at + 1] = run->removal[contour->live[row]] ? im : -im;
        }
    return weigh(contour, value, error, errors);
}

/* Where log delta is about log_delta, and about how far the proofs will end from there; 0 if that is not found */
static int search(const Contour *contour, const Run *run, double *guess, double *ahead) {
    double epsilon = contour->epsilon, c = contour->c, below = -INFINITY, beyond = INFINITY, first, slope;
    for (int turn = 0; turn < 40; turn++) {
        double best = estimated(contour, epsilon, &slope, &first);
        if (best > run->log_delta)
            below = epsilon;
        else
            beyond = epsilon;
        double newton = (run->log_delta - best) / slope;
        int found = slope < 0.0 && fabs(newton) * c < 1e-8;
        if (!found && !(slope < 0.0 && below < epsilon + newton && epsilon + newton < beyond)) { /* far out the terms cancel */
            newton = below > -INFINITY && beyond < INFINITY ? 0.5 * (below + beyond) - epsilon
                     : beyond < INFINITY                    ? -0.5 * (fabs(epsilon) + 1.0 / c)
                                                            : 1.0 / c;
            epsilon += newton;
            continue;
        }
        if (found) {
            double size = 8.0 * UNIT * (2.0 * fabs(c * epsilon) + fabs(run->log_delta));
            double lost = contour->sum_error[0] + contour->dropped + 2.0 * exp(-TOLERANCE);
            *ahead = ((contour->height_error[0] + lost / larger(first, 1e-300)) * 1.001 + size + run->above - run->below) / c;
            *guess = epsilon + newton;
            return 1;
        }
        epsilon += newton;
    }
    return 0;
}

/* What one contour proves; 0 if its ends are not close */
static int proved(Contour *contour, Guide *guide, const Run *run, int every, double *low, double *high) {
    Grid grid;
    double jet[3], levels[ROWS], top, guess, ahead, lower, upper, c = contour->c;
    for (int row = 0; row < run->many; row++) {
        if (!guided(guide, run, exponent(run, row, c), jet) || !(jet[0] <= 1.0))
            return 0;
        levels[row] = jet[0];
    }
    double k = exponent(run, 0, c), lead = log(run->count) + 14.0 + log(2.0 + fabs(k));
    double wide = 0.5 * smaller(run->noise, 4.0), least = smaller(smaller(k, -k), smaller(1.0 - k, 0.0));
    double step = PI / sqrt(lead * (0.5 + 1.0 / (wide * wide) - 0.125 * least / (run->noise * run->noise)));
    double *rows = make_grid(&grid, run, k, lead, 0.0, c + AHEAD[FORWARD - 1] * contour->width + 1.0, step);
    if (!rows)
        return 0;
    int planned = plan(contour, run, &grid, every, &top);
    free(rows);
    if (planned && top <= run->floor) {
        *low = 0.0;
        *high = top;
        return 1;
    }
    if (!planned || !lay(contour, run, levels) || !search(contour, run, &guess, &ahead))
        return 0;
    bounds(contour, guess, &lower, &upper);
    for (int pair = 0, row = 0; pair < contour->pairs; pair++) {
        if (row < contour->many && contour->live[row] == pair)
            row++;
        else if (!(markov(contour, pair, guess) <= lower))
            return proved(contour, guide, run, 1, low, high); /* a pair that was left out may matter after all */
    }
    double down = guess - ahead, up = guess + ahead, gap = -1.0, other = -1.0;
    for (int turn = 0; turn < TRIES && gap < 0.0 && fabs(down) < INFINITY; turn++) {
        bounds(contour, down, &lower, &upper);
        gap = lower - run->above;
        if (!(gap >= 0.0))
            down = nextafter(down + gap / c * (1.0 + 1e-6 + 0.1 * turn), -INFINITY);
    }
    for (int turn = 0; turn < TRIES && other < 0.0 && fabs(up) < INFINITY; turn++) {
        bounds(contour, up, &lower, &upper);
        other = run->below - upper;
        if (!(other >= 0.0))
            up = nextafter(up - other / c * (1.0 + 1e-6 + 0.1 * turn), INFINITY);
    }
    *low = larger(down, 0.0);
    *high = smaller(up, top);
    if (other >= 0.0 && *high <= run->floor) { /* that is all that is asked */
        *low = 0.0;
        return 1;
    }
    return gap >= 0.0 && other >= 0.0 && *low <= *high && *high < INFINITY && *high - *low < CLOSE * *high;
}

/* Along some of the contours; 0 if none proves close ends */
static int along_contours(const Run *run, Guide *guide, double *space, int from, int to, double *low, double *high) {
    Contour contour = {.weights = space};
    double jet[3], saddle, epsilon = 0.0, nodes = 0.0;
    guide->reach = -1.0;
    if (!((saddle = saddle_of_delta(guide, run)) > 0.0))
        return 0;
    for (int turn = 0; turn < to; turn++) {
        double c = (1.0 + SHARES[turn] * saddle) - 1.0; /* both orders see the same contour */
        if (!(c > 0.0 && expanded(guide, run, c, jet)))
            return 0;
        double bend = jet[2] + 1.0 / (c * c) + 1.0 / ((1.0 + c) * (1.0 + c));
        contour.width = 1.0 / sqrt(bend);
        if (turn == 0)
            epsilon = (jet[0] - log(c) - log1p(c) - 0.5 * log(2.0 * PI * bend) - run->log_delta) / c;
        else if (SHARES[turn] < 1.0)
            contour.width = smaller(contour.width, (saddle - c) / AHEAD[2]);
        contour.most = MANY[turn];
        contour.wanted = INFINITY;
        contour.c = c;
        contour.epsilon = epsilon;
        if (turn < from || (turn && SHARES[turn] == 1.0 && !(MANY[0] < nodes && nodes <= MANY[turn])))
            continue; /* it was not that it had too many nodes, or it has far too many */
        if (proved(&contour, guide, run, 0, low, high))
            return 1;
        if (turn == 0)
            nodes = contour.wanted;
    }
    return 0;
}

/* Large steps counted apart in the order "remove"; in the order "add" there are none, and its epsilon is hardly ever the larger one */
static int in_parts(const Run *run, Guide *guide, double *space, double *low, double *high) {
    if (!run->removal[0] || !parted_epsilon(run, low, high))
        return 0;
    if (run->many > 1) {
        Run added = *run;
        double least, most;
        added.many = 1;
        added.removal[0] = 0;
        added.floor = *low;
        if (!along_contours(&added, guide, space, 0, CONTOURS, &least, &most))
            return 0;
        *low = larger(*low, least);
        *high = larger(*high, most);
    }
    return *high - *low < CLOSE * *high;
}

static int answered(const Run *run, double *low, double *high) {
    Guide *guide = malloc(sizeof *guide);
    double *space = malloc(6 * ROWS * NODES * sizeof *space);
    int found = guide && space &&
                (along_contours(run, guide, space, 0, SOONER, low, high) || in_parts(run, guide, space, low, high) ||
                 along_contours(run, guide, space, SOONER, CONTOURS, low, high));
    free(guide);
    free(space);
    return found;
}

/* Fixes the ordered pairs: 1 is (True,), 2 (False,), 3 (True, False); 0 if the numbers are not those of a run */
static int ordered(Run *run, Size removals) {
    run->many = removals == 3 ? 2 : 1;
    run->removal[0] = removals != 2;
    run->removal[1] = 0;
    return 1 <= removals && removals <= 3 && 1e-100 < run->noise && run->noise < 1e100 && 1e-300 < run->rate && run->rate < 1.0 &&
           1.0 <= run->count && run->count < INFINITY && -1e3 < run->log_delta && run->log_delta < 0.0;
}

/* epsilon(noise, rate, noise_error, count, removals, log_delta, below, above, floor): both ends, or None */
FUNCTION_OF_PYTHON(native_epsilon) {
    Held held;
    Run run;
    Size removals;
    double low, high;
    (void)self;
    if (!parse(&held, args, count, "ddddndddd", &run.noise, &run.rate, &run.noise_error, &run.count, &removals, &run.log_delta,
               &run.below, &run.above, &run.floor))
        return NULL;
    if (!ordered(&run, removals) || !answered(&run, &low, &high))
        Py_RETURN_NONE;
    return Py_BuildValue("(dd)", low, high);
}

/* epsilons(noise, rate, noise_error, count, removals, log_delta, low, high): of many runs; NaN for those not answered */
FUNCTION_OF_PYTHON(native_epsilons) {
    Held held;
    Array noise, rate, noise_error, counts, log_delta, low, high;
    Size removals;
    (void)self;
    if (!parse(&held, args, count, "aaaanaaa", &noise, &rate, &noise_error, &counts, &removals, &log_delta, &low, &high))
        return NULL;
    const Array *all[] = {&rate, &noise_error, &counts, &log_delta, &low, &high};
    for (int i = 0; i < 6; i++)
        if (all[i]->size != noise.size) {
            release(&held);
            return PyErr_Format(PyExc_ValueError, "arrays of one length");
        }
    Py_BEGIN_ALLOW_THREADS;
    for (Size i = 0; i < noise.size; i++) {
        double slack = FUNCTION * fabs(log_delta.at[i]), least, most;
        Run run = {.noise = noise.at[i], .rate = rate.at[i], .noise_error = noise_error.at[i], .count = counts.at[i]};
        run.log_delta = log_delta.at[i];
        run.below = run.log_delta - slack;
        run.above = run.log_delta + slack;
        run.floor = 0.0;
        int found = ordered(&run, removals) && answered(&run, &least, &most) && least > 0.0;
        low.at[i] = found ? least : NAN;
        high.at[i] = found ? most : NAN;
    }
    Py_END_ALLOW_THREADS;
    release(&held);
    Py_RETURN_NONE;
}
