/* Contours for one mechanism and all counts of a block of them, so that those of a run that grows step by step share the values of
   K: what `by_contour` of loss/engine.py does for the contour through the saddle, or left of it, where that has few nodes and
   proves close ends.  What a contour is depends on the block, not on the count that is asked for. */
#include "native.h"

enum { TRIES = 12 };
static const double SHARES[CONTOURS] = {1.0, 0.75, 1.0, 0.55}, MANY[CONTOURS] = {250.0, 400.0, FEW, FEW};
#define ALLOWED 4096.0 /* nodes of a contour */
#define WORK(run)                                                                                                                  \
    ((run)->removal[0] ? 4e5 : 3e6) /* nodes of the noise times those of the contour: for the order "add" there is no other way */
#define HOPE 6.0                    /* log of how much of what is allowed beyond the last node */
#define FINE 33.0                   /* -log of the error of the rule for values, times the count */

/* About epsilon of so many steps, by the approximation at the saddle point of the block */
static double epsilon_of(const Block *block, double count, double log_delta) {
    const Contour *contour = &block->contours[0][0];
    double c = contour->c, bend = count * contour->second + 1.0 / (c * c) + 1.0 / ((1.0 + c) * (1.0 + c));
    return (count * contour->level - log(c) - log1p(c) - 0.5 * log(2.0 * PI * bend) - log_delta) / c;
}

/* K ahead of the saddle for so many steps; 0 if it is not known */
int ahead_of(Contour *contour, double count, double epsilon) {
    double above[ROWS][FORWARD];
    for (int pair = 0; pair < contour->pairs; pair++)
        for (int i = 0; i < FORWARD; i++) {
            double bound = count * contour->each_above[pair][i];
            above[pair][i] = bound + 3.0 * UNIT * fabs(bound) + contour->slack;
            if (contour->parted)
                above[pair][i] += smaller(0.0, log(count) + contour->each_middle[i]);
        }
    contour->log_mass = contour->parted ? smaller(0.0, log(count) + contour->each_mass) : 0.0;
    contour->epsilon = epsilon;
    return look_ahead(contour, above);
}

/* The step that serves both ends of the block */
int step_for(Contour *contour, const Run *run, double least_epsilon, double most_epsilon) {
    double step = INFINITY;
    for (int end = 0; end < 2; end++) {
        if (!ahead_of(contour, end ? run->most : run->least, end ? most_epsilon : least_epsilon))
            return 0;
        choose_step(contour, run->log_delta);
        step = smaller(step, contour->step);
    }
    contour->step = step;
    return 1;
}

/* The terms of the sum for one count, from those of each step; 0 if they prove nothing */
int at_count(Contour *contour, const Run *run, double epsilon, Room *room) {
    Size total = contour->many * contour->nodes;
    double *value = room_for(room, 6 * total);
    if (!value || !ahead_of(contour, run->count, epsilon))
        return 0;
    double *error = value + 2 * total, *errors = error + total;
    contour->weights = errors + total;
    for (Size at = 0; at < total; at++) {
        double re = value[2 * at] = run->count * contour->values[2 * at],
               im = value[2 * at + 1] = run->count * contour->values[2 * at + 1];
        error[at] = run->count * contour->errors[at] + 4.0 * UNIT * sqrt(re * re + im * im);
    }
    return weigh(contour, value, error, errors);
}

/* Bounds of K ahead of the saddle, for every pair or for those that seem to matter */
static int plan(Contour *contour, const Block *block, int every) {
    const Run *run = &block->run;
    double c = contour->c;
    contour->pairs = run->many;
    for (int i = 0; i < FORWARD; i++) {
        double s = contour->forward[i] = c + AHEAD[i] * contour->width;
        for (int row = 0; row < run->many; row++) {
            double bound = bound_above(&contour->grid, exponent(run, row, s));
            if (!run->removal[row])
                bound = smaller(bound, s * (-log1p(-run->rate) * (1.0 + 16.0 * UNIT)));
            contour->each_above[row][i] = bound;
        }
    }
    if (!ahead_of(contour, run->count, epsilon_of(block, run->count, run->log_delta)))
        return 0;
    contour->many = 0;
    for (int row = 0; row < run->many; row++)
        if (row == 0 || every || markov_epsilon(contour, row, run->log_delta) >= contour->epsilon - 0.5 / c)
            contour->live[contour->many++] = row;
    return 1;
}

/* Whether the transform seems not to have died out at u: what the guide's nodes tell, the others all against it */
static int lasts(const Block *block, const Contour *contour, double u) {
    const Guide *guide = &block->guide;
    const double *ratio = guide->rows + guide->size, *base = ratio + 2 * guide->size;
    double k = exponent(&block->run, 0, contour->c), all = 0.0, re = 0.0, im = 0.0, rest = 0.0;
    for (Size j = 0; j < guide->size; j++) {
        double weight = exp(smaller(k * ratio[j] + base[j], 600.0)), next = ratio[j + 1 < guide->size ? j + 1 : j];
        all += weight;
        if (u * (next - ratio[j]) < 1.0) {
            re += weight * cos(u * ratio[j]);
            im += weight * sin(u * ratio[j]);
        } else {
            rest += weight;
        }
    }
    double left = (hypot(re, im) - rest) / all;
    return left > 0.0 && -block->run.count * log(left) + 2.0 * log(u / contour->c) < TOLERANCE - HOPE;
}

/* The step, and where the nodes may end */
static void cut(Contour *contour, const Block *block, double most) {
    const Run *run = &block->run;
    double points[ROWS], decay[ROWS * CELLS];
    double least = epsilon_of(block, run->least, run->log_delta), last = epsilon_of(block, run->most, run->log_delta);
    for (int row = 0; row < contour->many; row++)
        points[row] = exponent(run, contour->live[row], contour->c);
    contour->stage = 2;
    contour->wanted = INFINITY;
    if (!step_for(contour, run, least, last) || lasts(block, contour, most * contour->step) ||
        !decay_of(&contour->grid, points, contour->many, contour->width, decay))
        return;
    for (int cell = 0; cell < CELLS; cell++) {
        double slowest = decay[cell];
        if (contour->many > 1)
            slowest = smaller(slowest, decay[CELLS + cell]);
        decay[cell] = run->least * slowest * (1.0 - 4.0 * UNIT);
    }
    cut_nodes(contour, decay, CELLS, GROWTH, ALLOWED);
}

/* K of one step at the nodes, and its errors; 0 if that takes too long */
static int lay(Contour *contour, const Run *run) {
    double c = contour->c, reach = contour->step * (double)(contour->nodes - 1), k[ROWS];
    Size total = contour->many * contour->nodes;
    for (int row = 0; row < contour->many; row++)
        k[row] = exponent(run, contour->live[row], c);
    double faint = larger(0.0, -log(run->most) - log(larger(contour->faintest, 1e-300)));
    double lead = log(run->most) + FINE + log(2.0 + fabs(k[0]) + reach) + faint;
    Grid grid;
    double *rows = make_grid(&grid, run, k[0], lead, reach, 0.0, 0.0);
    if (rows && (double)(grid.size * contour->nodes) <= WORK(run) &&
        (contour->values = malloc((size_t)(3 * total) * sizeof(double)))) {
        double *value = contour->values, *error = contour->errors = value + 2 * total;
        int found = 1, gentle = hypot(c, reach) * larger(-log1p(-run->rate), grid.ratio[grid.size - 1]) < 0.25;
        if (gentle) /* |w L| is small throughout: K is wanted relative to w */
            for (int row = 0; found && row < contour->many; row++)
                found = gentle_along(&grid, c, run->removal[contour->live[row]], k, contour->many, contour->step, contour->nodes,
                                     value + 2 * row * contour->nodes, error + row * contour->nodes);
        else
            found = excess_along(&grid, k, contour->many, contour->step, contour->nodes, value, error);
        if (!found) {
            free(contour->values);
            contour->values = NULL;
        }
        for (Size at = 0; found && at < total; at++)
            if (!run->removal[contour->live[at / contour->nodes]])
                value[2 * at + 1] = -value[2 * at + 1];
    }
    free(rows);
    return contour->values != NULL;
}

/* A contour of the block, planned; NULL if it is not to be had */
static Contour *planned(Block *block, int turn, int every) {
    Contour *contour = &block->contours[turn][every];
    const Run *run = &block->run;
    double jet[3] = {0.0}, c = (1.0 + SHARES[turn] * block->saddle) - 1.0; /* both orders see the same contour */
    if (contour->stage)
        return contour->stage > 0 ? contour : NULL;
    contour->stage = -1;
    contour->most = MANY[turn];
    contour->wanted = contour->faintest = INFINITY;
    contour->c = c;
    if (!(block->saddle > 0.0 && c > 0.0))
        return NULL;
    for (int row = run->many - 1; row >= 0; row--) {
        if (!guided(&block->guide, run, exponent(run, row, c), jet) || !(jet[0] <= 1.0))
            return NULL;
        contour->faintest = smaller(contour->faintest, fabs(jet[0]));
    }
    contour->level = jet[0];
    contour->second = jet[2];
    contour->width = 1.0 / sqrt(run->count * jet[2] + 1.0 / (c * c) + 1.0 / ((1.0 + c) * (1.0 + c)));
    if (SHARES[turn] < 1.0)
        contour->width = smaller(contour->width, (block->saddle - c) / AHEAD[2]);
    double k = exponent(run, 0, c), lead = log(run->most) + 14.0 + log(2.0 + fabs(k));
    double wide = 0.5 * smaller(run->noise, 4.0), least = smaller(smaller(k, -k), smaller(1.0 - k, 0.0));
    double step = PI / sqrt(lead * (0.5 + 1.0 / (wide * wide) - 0.125 * least / (run->noise * run->noise)));
    contour->rows = make_grid(&contour->grid, run, k, lead, 0.0, c + AHEAD[FORWARD - 1] * contour->width + 1.0, step);
    if (contour->rows && plan(contour, block, every))
        contour->stage = 1;
    return contour->stage > 0 ? contour : NULL;
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

/* What one contour proves of a run; 0 if its ends are not close */
static int proved(Block *block, int turn, int every, const Run *run, double *low, double *high) {
    Contour *contour = planned(block, turn, every);
    double top = 0.0, guess, ahead, lower, upper;
    if (!contour)
        return 0;
    double start = epsilon_of(block, run->count, run->log_delta);
    if (!ahead_of(contour, run->count, start))
        return 0;
    for (int pair = 0; pair < contour->pairs; pair++)
        top = larger(top, markov_epsilon(contour, pair, run->below));
    if (top <= run->floor) {
        *low = 0.0;
        *high = top;
        return 1;
    }
    if (contour->stage == 1)
        cut(contour, block, turn ? MANY[turn] : FEW); /* the third takes the nodes of the first, if they are not too many */
    if (!(top < INFINITY) || !contour->nodes || (!contour->values && !lay(contour, &block->run))) {
        contour->nodes = 0;
        return 0;
    }
    if (!at_count(contour, run, start, &block->room) || !search(contour, run, &guess, &ahead))
        return 0;
    bounds(contour, guess, &lower, &upper);
    for (int pair = 0, row = 0; pair < contour->pairs; pair++) {
        if (row < contour->many && contour->live[row] == pair)
            row++;
        else if (!(markov(contour, pair, guess) <= lower))
            return proved(block, turn, 1, run, low, high); /* a pair that was left out may matter after all */
    }
    double c = contour->c, down = guess - ahead, up = guess + ahead, gap = -1.0, other = -1.0;
    for (int try = 0; try < TRIES && gap < 0.0 && fabs(down) < INFINITY; try++) {
        bounds(contour, down, &lower, &upper);
        gap = lower - run->above;
        if (!(gap >= 0.0))
            down = nextafter(down + gap / c * (1.0 + 1e-6 + 0.1 * try), -INFINITY);
    }
    for (int try = 0; try < TRIES && other < 0.0 && fabs(up) < INFINITY; try++) {
        bounds(contour, up, &lower, &upper);
        other = run->below - upper;
        if (!(other >= 0.0))
            up = nextafter(up - other / c * (1.0 + 1e-6 + 0.1 * try), INFINITY);
    }
    *low = larger(down, 0.0);
    *high = smaller(up, top);
    if (other >= 0.0 && *high <= run->floor) { /* that is all that is asked */
        *low = 0.0;
        return 1;
    }
    return gap >= 0.0 && other >= 0.0 && *low <= *high && *high < INFINITY && *high - *low < CLOSE * *high;
}

int along_contours(Block *block, const Run *run, int from, int to, double *low, double *high) {
    if (block->saddle < 0.0) {
        block->guide.reach = -1.0;
        block->saddle = saddle_of_delta(&block->guide, &block->run);
    }
    for (int turn = from; turn < to; turn++) {
        double nodes = block->contours[0][0].wanted;
        if (turn && SHARES[turn] == 1.0 && !(MANY[0] < nodes && nodes <= MANY[turn]))
            continue; /* it was not that it had too many nodes, or it has far too many */
        if (proved(block, turn, 0, run, low, high))
            return 1;
    }
    return 0;
}
