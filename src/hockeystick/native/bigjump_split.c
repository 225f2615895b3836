/* What is large in one step of a sparse run, and the contour for the remainder, for all counts of a block: what
   loss/bigjump/split.py makes ready. */
#include "bigjump.h"
#include "count_block.h"

enum { SPARSE = 4096, BEFORE = 1, BEHIND = 3 }; /* SPARSE: the most nodes */
#define FINE 30.0                               /* -log of the error of the rule for values, times the count */
#define DIGITS 34.0 /* -log of the relative error wanted of what is large, unless there is less of it than matters */
#define REACH 9.0   /* about log of the farthest k */

/* About the epsilon of a count of the block */
double hs_bigjump_epsilon_of(const BigJumpSplit *split, double count) {
    const ThresholdGuide *guide = &split->guide;
    double share =
        split->run.least < split->run.most ? log(split->run.most / count) / log(split->run.most / split->run.least) : 0.0;
    return guide->epsilon + share * (guide->least_epsilon - guide->epsilon);
}

/* About log of the transform at c, for so many steps */
static double level_of(const ThresholdGuide *guide, double count) {
    return count * guide->phi + (guide->low > 0.0 ? log(larger(-expm1(-count * guide->gain), 1e-300)) : 0.0);
}

/* How the transform falls on cells of u: phi by the spread of its law, n |mid| max(phi, 1)^n (Lemma 19b) by lines of integration
   moved up, only where that decides which is the last node */
static int bound_decay(BigJumpSplit *split, double k, double excess) {
    Contour *contour = &split->contour;
    const ThresholdGuide *guide = &split->guide;
    ShiftedLines lines;
    double near[CLOSER] = {0.0}, known[CLOSER], decay[CLOSER], count = split->run.least, held = INFINITY;
    double level = level_of(guide, count), high = guide->low > 0.0 ? count * log1p(larger(excess, 0.0)) + log(count) : 0.0;
    double times = guide->low > 0.0 ? 1.0 : count, enough = TOLERANCE + log(contour->c * (contour->c + 1.0) / contour->width);
    if (!(guide->low > 0.0))
        hs_bigjump_spread_decay(&split->step, k, 1.0 + excess, contour->width, CLOSER, SLOWER, near);
    if (!hs_bigjump_shift_lines(&lines, &split->step, k))
        return 0;
    for (int i = 0; i < CLOSER; i++)
        known[i] = INFINITY;
    /* about where the threshold, which smooths the density, has let the transform decay, and from there on by longer and longer
     * strides */
    double smooth = guide->low > 0.0 ? (1.0 + guide->low) / guide->low_width : (1.0 + guide->high) / guide->width;
    int low = -1, last = CLOSER - 1, stride = 2, cell = (int)(log(larger(6.5 * smooth / contour->width, 1.0)) / log(SLOWER));
    while (last - low > 1) {
        cell = cell <= low ? low + 1 : cell >= last ? last - 1 : cell;
        double u = contour->width * pow(SLOWER, cell);
        known[cell] = hs_bigjump_log_modulus_above(&lines, u);
        if (level - high - times * known[cell] > enough - log(u))
            last = cell;
        else
            low = cell;
        cell = low < 0 ? last - stride : last == CLOSER - 1 ? low + stride : (low + last) / 2;
        stride *= 2;
    }
    for (cell = last - BEFORE; cell < last + BEHIND; cell++)
        if (cell >= 0 && cell < CLOSER && known[cell] == INFINITY)
            known[cell] = hs_bigjump_log_modulus_above(&lines, contour->width * pow(SLOWER, cell));
    for (cell = 0; cell < CLOSER; cell++) { /* what holds for one u holds beyond */
        held = known[cell] < INFINITY ? known[cell] : held;
        decay[cell] = larger(count * near[cell] * (1.0 - 1e-12), level - high - times * held - 2e-9);
    }
    free(lines.room);
    return hs_contour_node_count(contour, decay, CLOSER, SLOWER, SPARSE);
}

/* The step with the lower threshold, and log E e^{kL} of a small step from above; 0 if it is not known */
static int bound_small(BigJumpSplit *split, double log_count) {
    const ThresholdGuide *guide = &split->guide;
    ThresholdGuide here = {.high = guide->low, .width = guide->low_width};
    ThresholdedStep *small = &split->low_step;
    double digits = larger(14.0, FINE + log_count + guide->log_not_small + REACH);
    if (!hs_bigjump_cells(small, &split->run, &here, 2.0 + guide->order, 1.0 + guide->order) ||
        !hs_bigjump_sum_large(small, guide->log_not_small, digits))
        return 0;
    double excess = hs_bigjump_excess_above(small, 1.0 + guide->order);
    split->log_small = log1p(excess);
    return excess > -1.0 && excess < INFINITY;
}

/* The steps with their thresholds, and the contour for the remainder; 0 if it would prove too little */
int hs_bigjump_prepare(BigJumpSplit *split) {
    const Run *run = &split->run;
    const ThresholdGuide *guide = &split->guide;
    Contour *contour = &split->contour;
    ThresholdedStep *step = &split->step;
    double c = guide->c, ahead = guide->ahead[AHEAD - 1], k = 1.0 + c;
    double log_count = log(run->most), needless = run->log_delta - (guide->log_q + log_count + guide->epsilon);
    if (!hs_bigjump_cells(step, run, guide, larger(2.0 + ahead, 10.0 / guide->epsilon), 1.0 + ahead) ||
        !hs_bigjump_sum_large(step, guide->log_q,
                              larger(DIGITS - larger(needless - 4.0, 0.0), 6.0 - smaller(log(guide->high), 0.0))) ||
        (guide->low > 0.0 && !bound_small(split, log_count)))
        return 0;
    double height[BACK], points[AHEAD + 1], middle[AHEAD + 1] = {0.0};
    for (int i = 0; i < BACK; i++)
        height[i] = run->most * (split->reverse[i] = log1p(hs_bigjump_reverse_above(step, guide->rates[i])));
    hs_bigjump_large_above(step, guide->rates, BACK, guide->epsilon, height, split->large_left, split->large_right);
    double excess = 0.0;
    *contour = (Contour){.c = c,
                         .width = guide->spread,
                         .nodes_allowed = SPARSE,
                         .many = 1,
                         .pairs = 1,
                         .slack = 1e-9,
                         .has_small = guide->low > 0.0};
    for (int i = 0; i <= AHEAD; i++)
        points[i] = i < AHEAD ? 1.0 + guide->ahead[i] : 1.0;
    if (contour->has_small)
        hs_bigjump_log_middle_above(step, points, AHEAD + 1, middle);
    contour->step_log_middle_0 = middle[AHEAD];
    for (int i = 0; i < AHEAD; i++) {
        double s = contour->points_ahead[i] = guide->ahead[i], found = hs_bigjump_excess_above(step, 1.0 + s);
        if (!(found < INFINITY))
            return 0;
        found = larger(found, contour->has_small ? 0.0 : -0.5);
        contour->step_cumulant_above[0][i] = log1p(found) + 4.0 * FUNCTION * fabs(found);
        contour->step_log_middle[i] = middle[i];
        excess = i ? excess : found;
    }
    if (!hs_block_step(contour, run, guide->least_epsilon, guide->epsilon) || !bound_decay(split, k, excess) ||
        !(split->nodes = malloc((size_t)contour->nodes * sizeof(NodeValue))) ||
        !hs_bigjump_values(step, contour->has_small ? &split->low_step : NULL, k, contour->step, contour->nodes, -FINE - log_count,
                           -FINE - log_count + smaller(0.0, level_of(guide, run->least)), split->nodes))
        return 0;
    /* the decay was proved relative to a guess; for the least count, which holds for all (section 7a, "Many counts on one contour")
     */
    const NodeValue *first = split->nodes;
    double level =
        run->least * first->re + (contour->has_small ? log(larger(-expm1(run->least * first->log_ratio_re), 1e-300)) : 0.0);
    split->least_truncation_error = contour->truncation_error * exp(larger(0.0, level_of(guide, run->least) - level) + 1e-9);
    return 1;
}
