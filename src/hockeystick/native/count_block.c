/* Contour integrals for one mechanism and all counts of a block of them, so that those of a run that grows step by step share the
   values of K: what `contour_epsilon` of loss/engines/first.py does for the contour through the saddle, or left of it, where that
   has few nodes and proves close ends.  What a contour is depends on the block, not on the count that is asked for. */
#include "count_block.h"
#include "bigjump.h"
#include "log_deltas.h"

enum { TRIES = 12 };
static const double SHARES[CONTOURS] = {1.0, 0.75, 1.0, 0.55}, MANY[CONTOURS] = {250.0, 400.0, FEW, FEW};
#define ALLOWED 4096.0 /* nodes of a contour */

void hs_block_close(Block *block) {
    for (int turn = 0; turn < CONTOURS; turn++)
        for (int every = 0; every < 2; every++) {
            free(block->contours[turn][every].values);
            free(block->contours[turn][every].rows);
            for (int part = 0; part < KINDS; part++)
                free(block->contours[turn][every].grid_rows[part]);
        }
    free(block->room.at);
    if (block->split)
        hs_bigjump_close(block->split);
    if (block->added)
        hs_block_close(block->added);
    free(block);
}

Block *hs_block_open(const Run *run) {
    Block *block = malloc(sizeof *block);
    if (block) {
        memset(block, 0, offsetof(Block, guide));
        block->run = *run;
        block->run.count = sqrt(run->least * run->most);
        block->saddle = -1.0;
    }
    return block;
}

/* About epsilon of so many steps, by the approximation at the saddle point of the block */
static double epsilon_of(const Block *block, double count, double log_delta) {
    const Contour *contour = &block->contours[0][0];
    double c = contour->c, curvature = count * contour->step_variance + 1.0 / (c * c) + 1.0 / ((1.0 + c) * (1.0 + c));
    return (count * contour->step_cumulant - log(c) - log1p(c) - 0.5 * log(2.0 * PI * curvature) - log_delta) / c;
}

/* K ahead of the saddle for so many steps; 0 if it is not known */
int hs_block_bound_ahead(Contour *contour, double count, double epsilon) {
    double above[ROWS][AHEAD];
    for (int pair = 0; pair < contour->pairs; pair++)
        for (int i = 0; i < AHEAD; i++) {
            double bound = count * contour->step_cumulant_above[pair][i];
            above[pair][i] = bound + 3.0 * UNIT * fabs(bound) + contour->slack;
            if (contour->has_small)
                above[pair][i] += smaller(0.0, log(count) + contour->step_log_middle[i]);
        }
    contour->log_mass = contour->has_small ? smaller(0.0, log(count) + contour->step_log_middle_0) : 0.0;
    contour->epsilon = epsilon;
    return hs_contour_bound_ahead(contour, above);
}

/* The step that serves both ends of the block */
int hs_block_step(Contour *contour, const Run *run, double least_epsilon, double most_epsilon) {
    double step = INFINITY;
    for (int end = 0; end < 2; end++) {
        if (!hs_block_bound_ahead(contour, end ? run->most : run->least, end ? most_epsilon : least_epsilon))
            return 0;
        hs_contour_choose_step(contour, run->log_delta);
        step = smaller(step, contour->step);
    }
    contour->step = step;
    return 1;
}

/* The terms of the sum for one count, from those of each step; 0 if they prove nothing */
static int terms_at_count(Contour *contour, const Run *run, double epsilon, Room *room) {
    Size total = contour->many * contour->nodes;
    double *value = room_for(room, 6 * total);
    if (!value || !hs_block_bound_ahead(contour, run->count, epsilon))
        return 0;
    double *error = value + 2 * total, *errors = error + total;
    contour->weights = errors + total;
    for (Size at = 0; at < total; at++) {
        double re = value[2 * at] = run->count * contour->values[2 * at],
               im = value[2 * at + 1] = run->count * contour->values[2 * at + 1];
        error[at] = run->count * contour->errors[at] + 4.0 * UNIT * sqrt(re * re + im * im);
    }
    return hs_contour_evaluate(contour, value, error, errors);
}

/* Bounds of K ahead of the saddle, for every pair or for those that seem to matter */
static int plan(Contour *contour, const Block *block, int every) {
    const Run *run = &block->run;
    double c = contour->c;
    contour->pairs = run->many;
    for (int i = 0; i < AHEAD; i++) {
        double s = contour->points_ahead[i] = c + HS_AHEAD[i] * contour->width;
        for (int row = 0; row < run->many; row++)
            contour->step_cumulant_above[row][i] = run->law->cumulant_above(contour, run, row, s);
    }
    if (!hs_block_bound_ahead(contour, run->count, epsilon_of(block, run->count, run->log_delta)))
        return 0;
    contour->many = 0;
    for (int row = 0; row < run->many; row++)
        if (row == 0 || every || hs_contour_markov_epsilon(contour, row, run->log_delta) >= contour->epsilon - 0.5 / c)
            contour->used_rows[contour->many++] = row;
    return 1;
}

/* The step, and where the nodes may end */
static void plan_nodes(Contour *contour, const Block *block, double most) {
    const Run *run = &block->run;
    double decay[ROWS * CELLS];
    double least = epsilon_of(block, run->least, run->log_delta), last = epsilon_of(block, run->most, run->log_delta);
    contour->stage = 2;
    contour->nodes_wanted = INFINITY;
    if (!hs_block_step(contour, run, least, last) || !run->law->decay(contour, &block->guide, run, most * contour->step, decay))
        return;
    for (int cell = 0; cell < CELLS; cell++) {
        double slowest = decay[cell];
        if (contour->many > 1)
            slowest = smaller(slowest, decay[CELLS + cell]);
        decay[cell] = run->least * slowest * (1.0 - 4.0 * UNIT);
    }
    hs_contour_node_count(contour, decay, CELLS, GROWTH, ALLOWED);
}

/* A contour of the block, planned; NULL if it is not to be had */
Contour *hs_block_contour(Block *block, int turn, int every) {
    Contour *contour = &block->contours[turn][every];
    const Run *run = &block->run;
    double jet[3] = {0.0}, c = (1.0 + SHARES[turn] * block->saddle) - 1.0; /* both orders see the same contour */
    if (contour->stage)
        return contour->stage > 0 ? contour : NULL;
    contour->stage = -1;
    contour->nodes_allowed = MANY[turn];
    contour->nodes_wanted = contour->smallest_cumulant = INFINITY;
    contour->largest_cumulant = -INFINITY;
    contour->c = c;
    if (!(block->saddle > 0.0 && c > 0.0))
        return NULL;
    for (int row = run->many - 1; row >= 0; row--) {
        if (!run->law->expand(&block->guide, run, exponent(run, row, c), jet))
            return NULL;
        contour->smallest_cumulant = smaller(contour->smallest_cumulant, fabs(jet[0]));
        contour->largest_cumulant = larger(contour->largest_cumulant, jet[0]);
    }
    contour->step_cumulant = jet[0];
    contour->step_variance = jet[2];
    contour->width = 1.0 / sqrt(run->count * jet[2] + 1.0 / (c * c) + 1.0 / ((1.0 + c) * (1.0 + c)));
    if (SHARES[turn] < 1.0)
        contour->width = smaller(contour->width, (block->saddle - c) / HS_AHEAD[2]);
    if (run->law->prepare(contour, run) && plan(contour, block, every))
        contour->stage = 1;
    return contour->stage > 0 ? contour : NULL;
}

/* The terms of a contour that is planned, for one count and near an epsilon; 0 if there are too many or they prove nothing */
static int evaluate(Block *block, Contour *contour, const Run *run, double epsilon) {
    if (contour->stage == 1) /* the third takes the nodes of the first, if they are not too many */
        plan_nodes(contour, block, contour->nodes_allowed == MANY[0] ? FEW : contour->nodes_allowed);
    if (!contour->nodes || (!contour->values && !run->law->values(contour, &block->run))) {
        contour->nodes = 0;
        return 0;
    }
    return terms_at_count(contour, run, epsilon, &block->room);
}

/* Where log delta is about log_delta, and about how far the proofs will end from there; 0 if that is not found */
static int search(const Contour *contour, const Run *run, double *guess, double *ahead) {
    double epsilon = contour->epsilon, c = contour->c, below = -INFINITY, beyond = INFINITY, first, slope;
    for (int turn = 0; turn < 40; turn++) {
        double best = hs_contour_estimate(contour, epsilon, &slope, &first);
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
            double lost = contour->sum_error[0] + contour->truncation_error + 2.0 * exp(-TOLERANCE);
            *ahead = ((contour->height_error[0] + lost / larger(first, 1e-300)) * 1.001 + size + run->above - run->below) / c;
            *guess = epsilon + newton;
            return 1;
        }
        epsilon += newton;
    }
    return 0;
}

/* Bounds of log delta at an epsilon near that of the contour; 0 if a pair that was left out may matter */
static int bounds_at(const void *of, double epsilon, double *low, double *high) {
    const Contour *contour = of;
    hs_contour_bounds(contour, epsilon, low, high);
    for (int pair = 0, row = 0; pair < contour->pairs; pair++) {
        if (row < contour->many && contour->used_rows[row] == pair)
            row++;
        else if (!(hs_contour_markov(contour, pair, epsilon) <= *low))
            return 0;
    }
    return 1;
}

/* What one contour proves of a run; 0 if its ends are not close */
static int proved(Block *block, int turn, int every, const Run *run, double *low, double *high) {
    Contour *contour = hs_block_contour(block, turn, every);
    double top = 0.0, guess, ahead, lower, upper;
    if (!contour)
        return 0;
    double start = epsilon_of(block, run->count, run->log_delta);
    if (!hs_block_bound_ahead(contour, run->count, start))
        return 0;
    for (int pair = 0; pair < contour->pairs; pair++)
        top = larger(top, hs_contour_markov_epsilon(contour, pair, run->below));
    if (top <= run->floor) {
        *low = 0.0;
        *high = top;
        return 1;
    }
    if (!(top < INFINITY) || !evaluate(block, contour, run, start) || !search(contour, run, &guess, &ahead))
        return 0;
    if (!bounds_at(contour, guess, &lower, &upper))
        return proved(block, turn, 1, run, low, high);
    double c = contour->c, down = guess - ahead, up = guess + ahead, gap = -1.0, other = -1.0;
    for (int try = 0; try < TRIES && gap < 0.0 && fabs(down) < INFINITY; try++) {
        hs_contour_bounds(contour, down, &lower, &upper);
        gap = lower - run->above;
        if (!(gap >= 0.0))
            down = nextafter(down + gap / c * (1.0 + 1e-6 + 0.1 * try), -INFINITY);
    }
    for (int try = 0; try < TRIES && other < 0.0 && fabs(up) < INFINITY; try++) {
        hs_contour_bounds(contour, up, &lower, &upper);
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

/* The third is for what had too many nodes for the first, but not far too many */
static int worth(const Block *block, int turn) {
    double nodes = block->contours[0][0].nodes_wanted;
    return turn == 0 || SHARES[turn] < 1.0 || (MANY[0] < nodes && nodes <= MANY[turn]);
}

int hs_block_epsilon(Block *block, const Run *run, int from, int to, double *low, double *high) {
    if (block->saddle < 0.0) {
        block->guide.reach = -1.0;
        block->saddle = hs_saddle_of_delta(&block->guide, &block->run);
    }
    for (int turn = from; turn < to; turn++)
        if (worth(block, turn) && proved(block, turn, 0, run, low, high))
            return 1;
    return 0;
}

int hs_block_log_deltas(Block *block, const double *epsilons, Size many, double *low, double *high, Size *first, Size *last) {
    const Run *run = &block->run;
    double epsilon = epsilons[many / 2];
    for (int turn = 0; turn < SOONER; turn++)
        for (int every = 0; worth(block, turn) && every < 2; every++) {
            Contour *one = hs_block_contour(block, turn, every);
            if (!one || !hs_block_bound_ahead(one, run->count, epsilon) || !evaluate(block, one, run, epsilon))
                break;
            if (hs_around_middle(run, bounds_at, one, epsilons, many, low, high, first, last))
                return 1;
        }
    return 0;
}
