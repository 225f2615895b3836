/* log delta at many epsilons of one run: the middle one gets a contour, or the single big jump, and what that answers closely
   around it is done; loss/answers/many.py */
#include "log_deltas.h"
#include "bigjump.h"
#include "count_block.h"

enum { LOOKS = 1024 };   /* answers between two questions whether the run is given up */
#define NEAR_ONE -1e-3   /* log delta above which 1 - delta is what counts */
#define CLOSER_YET 1e-11 /* width of log delta that counts as converged, whatever those in the middle are */

int hs_around_middle(const Run *run, Answer *answer, const void *of, const double *epsilons, Size many, double *low, double *high,
                     Size *first, Size *last) {
    Size middle = many / 2;
    *first = *last = middle;
    if (!answer(of, epsilons[middle], low + middle, high + middle))
        return 0;
    double width = high[middle] - low[middle];
    if (!(width <= CLOSE && high[middle] < NEAR_ONE))
        return 0;
    width = smaller(larger(4.0 * width, CLOSER_YET), CLOSE);
    for (*last = middle + 1; *last < many; ++*last)
        if (!answer(of, epsilons[*last], low + *last, high + *last) || !(high[*last] - low[*last] <= width) ||
            (*last % LOOKS == 0 && stopped(run)))
            break;
    for (; *first > 0; --*first) {
        Size at = *first - 1;
        if (!answer(of, epsilons[at], low + at, high + at) || !(high[at] - low[at] <= width && high[at] < NEAR_ONE) ||
            (at % LOOKS == 0 && stopped(run)))
            break;
    }
    return 1;
}

/* About log delta at the epsilon of which c is the saddle point */
static double approximate(Guide *guide, const Run *run, double c, double epsilon) {
    double jet[3];
    if (!(c > 0.0 && run->law->expand(guide, run, exponent(run, 0, c), jet)))
        return NAN;
    double curvature = run->count * jet[2] + 1.0 / (c * c) + 1.0 / ((1.0 + c) * (1.0 + c));
    return run->count * jet[0] - c * epsilon - log(c) - log1p(c) - 0.5 * log(2.0 * PI * curvature);
}

/* A block whose contours are for an epsilon; NULL if there are none */
static Block *block_at(const Run *run, double epsilon) {
    Block *block = hs_block_open(run);
    if (!block)
        return NULL;
    block->guide.reach = -1.0;
    block->saddle = hs_saddle_of_epsilon(&block->guide, run, epsilon);
    block->run.log_delta = approximate(&block->guide, run, block->saddle, epsilon);
    if (block->run.log_delta < 1.0)
        return block;
    hs_block_close(block);
    return NULL;
}

/* The larger of the bounds for a removal and for an addition; NaN where the latter is not known.  Mostly the
   addition is surely the smaller one, by what is known on the real axis. */
static void with_added(const Run *run, const double *epsilons, Size many, double *low, double *high) {
    double largest = run->count * -log1p(-run->rate) * (1.0 + 16.0 * UNIT), least, most; /* the largest sum of its losses */
    Run added = *run;
    Block *block = NULL;
    Contour *contour = NULL;
    added.many = 1;
    added.removal[0] = 0;
    for (Size i = 0; i < many && epsilons[i] < largest; i++) {
        int smaller_one = contour && hs_contour_markov(contour, 0, epsilons[i]) <= low[i];
        if (!smaller_one) {
            if (block)
                hs_block_close(block);
            added.log_delta = low[i]; /* a contour for that delta, as that at this epsilon may be far smaller */
            if ((block = hs_block_open(&added))) {
                block->guide.reach = -1.0;
                block->saddle = hs_saddle_of_delta(&block->guide, &block->run);
            }
            contour = block ? hs_block_contour(block, 0, 0) : NULL;
            smaller_one = contour && hs_contour_markov(contour, 0, epsilons[i]) <= low[i];
        }
        if (!smaller_one) {
            hs_log_deltas(&added, epsilons + i, 1, &least, &most);
            low[i] = least <= most ? larger(low[i], least) : NAN;
            high[i] = least <= most ? larger(high[i], most) : NAN;
        }
    }
    if (block)
        hs_block_close(block);
}

int hs_log_deltas(const Run *run, const double *epsilons, Size many, double *low, double *high) {
    while (many > 0) {
        if (stopped(run))
            return 0;
        Size middle = many / 2, first = middle, last = middle;
        Block *block = block_at(run, epsilons[middle]);
        int found = block && hs_block_log_deltas(block, epsilons, many, low, high, &first, &last);
        if (block)
            hs_block_close(block);
        if (!found && run->law == &HS_LAW_GAUSSIAN && run->removal[0]) {
            hs_bigjump_log_deltas(run, epsilons, many, low, high, &first, &last);
            if ((found = first < last) && run->many > 1)
                with_added(run, epsilons + first, last - first, low + first, high + first);
        }
        if (!found) {
            low[middle] = high[middle] = NAN;
            last = middle + 1;
        }
        if (!hs_log_deltas(run, epsilons, first, low, high)) /* half of them at most, so that this does not go deep */
            return 0;
        epsilons += last;
        low += last;
        high += last;
        many -= last;
    }
    return 1;
}
