/* The marks of a sparse run, what is large in one step, and the contour for the rest, for all counts of a block: what
   loss/bigjump/split.py makes ready. */
#include "bigjump.h"
#include "count_block.h"

enum { SPARSE = 4096, BEFORE = 1, BEHIND = 3 }; /* SPARSE: the most nodes */
#define FINE 30.0                               /* -log of the error of the rule for values, times the count */
#define DIGITS 34.0 /* -log of the relative error wanted of what is large, unless there is less of it than matters */
#define REACH 9.0   /* about log of the farthest k */

/* About the epsilon of a count of the block */
double hs_bigjump_epsilon_of(const Parted *parted, double count) {
    const Sketch *sketch = &parted->sketch;
    double share =
        parted->run.least < parted->run.most ? log(parted->run.most / count) / log(parted->run.most / parted->run.least) : 0.0;
    return sketch->epsilon + share * (sketch->least_epsilon - sketch->epsilon);
}

/* About log of the transform at c, for so many steps */
static double level_of(const Sketch *sketch, double count) {
    return count * sketch->phi + (sketch->low > 0.0 ? log(larger(-expm1(-count * sketch->gain), 1e-300)) : 0.0);
}

/* How the transform falls on cells of u: phi by the spread of its law, n |mid| max(phi, 1)^n (Lemma 19b) by lines of integration
   moved up, only where that decides which is the last node */
static int decays(Parted *parted, double k, double excess) {
    Contour *contour = &parted->contour;
    const Sketch *sketch = &parted->sketch;
    Far far;
    double near[CLOSER] = {0.0}, known[CLOSER], decay[CLOSER], count = parted->run.least, held = INFINITY;
    double level = level_of(sketch, count), high = sketch->low > 0.0 ? count * log1p(larger(excess, 0.0)) + log(count) : 0.0;
    double times = sketch->low > 0.0 ? 1.0 : count, enough = TOLERANCE + log(contour->c * (contour->c + 1.0) / contour->width);
    if (!(sketch->low > 0.0))
        hs_bigjump_spread_decay(&parted->step, k, 1.0 + excess, contour->width, CLOSER, SLOWER, near);
    if (!hs_bigjump_look_far(&far, &parted->step, k))
        return 0;
    for (int i = 0; i < CLOSER; i++)
        known[i] = INFINITY;
    /* about where the mark has smoothed the transform away, and from there on by longer and longer strides */
    double smooth = sketch->low > 0.0 ? (1.0 + sketch->low) / sketch->low_width : (1.0 + sketch->high) / sketch->width;
    int low = -1, last = CLOSER - 1, stride = 2, cell = (int)(log(larger(6.5 * smooth / contour->width, 1.0)) / log(SLOWER));
    while (last - low > 1) {
        cell = cell <= low ? low + 1 : cell >= last ? last - 1 : cell;
        double u = contour->width * pow(SLOWER, cell);
        known[cell] = hs_bigjump_far_at(&far, u);
        if (level - high - times * known[cell] > enough - log(u))
            last = cell;
        else
            low = cell;
        cell = low < 0 ? last - stride : last == CLOSER - 1 ? low + stride : (low + last) / 2;
        stride *= 2;
    }
    for (cell = last - BEFORE; cell < last + BEHIND; cell++)
        if (cell >= 0 && cell < CLOSER && known[cell] == INFINITY)
            known[cell] = hs_bigjump_far_at(&far, contour->width * pow(SLOWER, cell));
    for (cell = 0; cell < CLOSER; cell++) { /* what holds for one u holds beyond */
        held = known[cell] < INFINITY ? known[cell] : held;
        decay[cell] = larger(count * near[cell] * (1.0 - 1e-12), level - high - times * held - 2e-9);
    }
    free(far.room);
    return hs_contour_cut_nodes(contour, decay, CLOSER, SLOWER, SPARSE);
}

/* What is not small split off, and log E e^{kL} of a small step from above; 0 if it is not known */
static int bound_small(Parted *parted, double log_count) {
    const Sketch *sketch = &parted->sketch;
    Sketch here = {.high = sketch->low, .width = sketch->low_width};
    Marked *small = &parted->low_step;
    double digits = larger(14.0, FINE + log_count + sketch->log_not_small + REACH);
    if (!hs_bigjump_cells(small, &parted->run, &here, 2.0 + sketch->order, 1.0 + sketch->order) ||
        !hs_bigjump_count_large(small, sketch->log_not_small, digits))
        return 0;
    double excess = hs_bigjump_not_large_above(small, 1.0 + sketch->order);
    parted->small = log1p(excess);
    return excess > -1.0 && excess < INFINITY;
}

/* The marks, what is large, and the contour for the rest; 0 if it would prove too little */
int hs_bigjump_made(Parted *parted) {
    const Run *run = &parted->run;
    const Sketch *sketch = &parted->sketch;
    Contour *contour = &parted->contour;
    Marked *step = &parted->step;
    double c = sketch->c, ahead = sketch->ahead[FORWARD - 1], k = 1.0 + c;
    double log_count = log(run->most), needless = run->log_delta - (sketch->log_q + log_count + sketch->epsilon);
    if (!hs_bigjump_cells(step, run, sketch, larger(2.0 + ahead, 10.0 / sketch->epsilon), 1.0 + ahead) ||
        !hs_bigjump_count_large(step, sketch->log_q,
                                larger(DIGITS - larger(needless - 4.0, 0.0), 6.0 - smaller(log(sketch->high), 0.0))) ||
        (sketch->low > 0.0 && !bound_small(parted, log_count)))
        return 0;
    double height[BACK], points[FORWARD + 1], middle[FORWARD + 1] = {0.0};
    for (int i = 0; i < BACK; i++)
        height[i] = run->most * (parted->reverse[i] = log1p(hs_bigjump_reverse_above(step, sketch->rates[i])));
    hs_bigjump_large_above(step, sketch->rates, BACK, sketch->epsilon, height, parted->light, parted->heavy);
    double excess = 0.0;
    *contour = (Contour){
        .c = c, .width = sketch->spread, .most = SPARSE, .many = 1, .pairs = 1, .slack = 1e-9, .parted = sketch->low > 0.0};
    for (int i = 0; i <= FORWARD; i++)
        points[i] = i < FORWARD ? 1.0 + sketch->ahead[i] : 1.0;
    if (contour->parted)
        hs_bigjump_log_middle_above(step, points, FORWARD + 1, middle);
    contour->each_mass = middle[FORWARD];
    for (int i = 0; i < FORWARD; i++) {
        double s = contour->forward[i] = sketch->ahead[i], found = hs_bigjump_not_large_above(step, 1.0 + s);
        if (!(found < INFINITY))
            return 0;
        found = larger(found, contour->parted ? 0.0 : -0.5);
        contour->each_above[0][i] = log1p(found) + 4.0 * FUNCTION * fabs(found);
        contour->each_middle[i] = middle[i];
        excess = i ? excess : found;
    }
    if (!hs_block_step(contour, run, sketch->least_epsilon, sketch->epsilon) || !decays(parted, k, excess) ||
        !(parted->nodes = malloc((size_t)contour->nodes * sizeof(Node))) ||
        !hs_bigjump_values(step, contour->parted ? &parted->low_step : NULL, k, contour->step, contour->nodes, -FINE - log_count,
                           -FINE - log_count + smaller(0.0, level_of(sketch, run->least)), parted->nodes))
        return 0;
    /* the decay was proved relative to a guess; for the least count, which holds for all (section 7a, "Many counts on one contour")
     */
    const Node *first = parted->nodes;
    double level = run->least * first->re + (contour->parted ? log(larger(-expm1(run->least * first->term_re), 1e-300)) : 0.0);
    parted->least_dropped = contour->dropped * exp(larger(0.0, level_of(sketch, run->least) - level) + 1e-9);
    return 1;
}
