/* Single-big-jump splitting for sparse subsampling: epsilon of a run of one sampled Gaussian mechanism in the order "remove", as
   loss/bigjump/split.py does it.  With "some" the event that some step is large,

       delta = P(some) - e^eps Q(some) + e^eps E_Q[(1 - e^{S-eps})+; some] + E[(1 - e^{eps-S})+; none],

   of which the third term is bounded (Lemma 19a of docs/mathematics.md) and the last is an integral along a contour; or, if its
   transform decays sooner, of what is left without the case that all steps are small, which is bounded (Lemma 19b). */
#include "bigjump.h"
#include "count_block.h"
#include "log_deltas.h"

enum { TRIES = 12, AGAIN = 2 };
#define MAX_RECORDS 1e6           /* steps with the record, on average: of denser runs nothing is split off */
#define MAX_MINUS_LOG_DELTA 500.0 /* -log of delta beyond which nothing is split off here */
#define NEAR 0.01
#define LEAST_EPSILON 1e-7 /* epsilons at which thresholds are chosen */
#define MOST_EPSILON 300.0
#define WIDE_ENDS 1e-10 /* relative width that is not narrow enough, if epsilon is not near what was guessed */

/* Upper bounds of e^x - 1 and log(1 + x), x >= 0 */
static double expm1_up(double x) { return x < 0.5 ? x * (1.0 + x) : x < 700.0 ? expm1(x) * (1.0 + 1e-9) : INFINITY; }
static double log1p_up(double x) { return x < 1e-3 ? x : log1p(x) * (1.0 + 1e-9); }

/* The transform of so many steps at a node, and a bound of log(1 + its relative error): `_Slice.values` of loss/bigjump/split.py.
   docs/mathematics.md, section 7a, "Errors of the thresholds": (1 + d)^n - 1 <= x (1 + x), x = n log(1 + d) */
static double transform_at(const NodeValue *at, double count, int some_small, double *re, double *im) {
    double error = count * (log1p_up(at->phi_error) + 4.0 * FUNCTION * (fabs(at->re) + fabs(at->im)));
    *re = count * at->re;
    *im = count * at->im;
    if (some_small) {
        double logs = 4.0 * FUNCTION * (fabs(at->re) + fabs(at->im) + fabs(at->log_ratio_re) + fabs(at->log_ratio_im));
        double gain_re = -count * at->log_ratio_re, gain_im = -count * at->log_ratio_im, behind = gain_re > 0.0 ? -1.0 : 1.0;
        double slip = count * log1p_up(at->ratio_error / at->ratio), separate = count * (log1p_up(at->separate_error) + logs);
        /* log(1 - e^-gain), whatever the sign of its real part: e^z - 1 for a z left of the imaginary axis, by half its angle */
        double sine = sin(0.5 * gain_im), cosine = cos(0.5 * gain_im), less = expm1(behind * gain_re), left = 1.0 + less;
        double inner_re = less * (1.0 - 2.0 * sine * sine) - 2.0 * sine * sine, inner_im = behind * left * (2.0 * sine * cosine);
        double size = fabs(inner_re) + fabs(inner_im) > 1e-140 ? sqrt(inner_re * inner_re + inner_im * inner_im)
                                                               : larger(hypot(inner_re, inner_im), 1e-290);
        *re += log(size) - (behind < 0.0 ? 0.0 : gain_re);
        *im += atan2(behind * inner_im, behind * inner_re) - (behind < 0.0 ? 0.0 : gain_im);
        /* the power of (phi - mid)/phi lies within e^slip times its own size; or both powers err each by itself.  Relative to what
         * is returned, phi^n and that power are `whole` and `rest` over the size */
        double rest = behind < 0.0 ? left : 1.0, whole = behind < 0.0 ? 1.0 : left;
        double together = at->phi_error < 0.5 ? error + log1p_up(expm1_up(slip) * rest / size + 8.0 * FUNCTION) : INFINITY;
        double alone = (expm1_up(error) * whole + expm1_up(separate) * rest) / size * (1.0 + 1e-9) + 8.0 * FUNCTION;
        error = smaller(together * (1.0 + 1e-9), alone < INFINITY ? log1p_up(alone) : INFINITY);
    }
    return error + 4.0 * UNIT * (fabs(*re) + fabs(*im));
}

/* P(some) and Q(some) for so many steps, and the terms of the contour's sum; 0 if they prove too little */
static int set_count(BigJumpSplit *split, const Run *run, Room *room) {
    const ThresholdedStep *step = &split->step;
    const ThresholdGuide *guide = &split->guide;
    Contour *contour = &split->contour;
    Size nodes = contour->nodes;
    double p_large = step->q + step->drift, *value = room_for(room, 6 * nodes);
    split->p = -expm1(run->count * log1p(-p_large));
    split->q = -expm1(run->count * log1p(-step->q));
    split->large_error = step->error / (1.0 - p_large) * (1.0 + 1e-6) + 4.0 * FUNCTION + 9.0 * UNIT;
    for (int i = 0; i < BACK; i++) {
        split->log_compensation[i] =
            run->count * split->reverse[i] * (1.0 + 4.0 * FUNCTION) + log(run->count * split->large_right[i]) + 2e-9;
        split->compensation_left[i] = run->count * split->large_left[i] * (1.0 + 1e-9);
    }
    if (guide->low > 0.0)
        split->all_small = hs_log_markov(guide->order) * (1.0 - 2.0 * FUNCTION) + 1e-9 +
                           run->count * (split->log_small + 8.0 * FUNCTION * fabs(split->log_small));
    if (!(p_large < 0.5 && split->large_error < 1.0) || !value ||
        !hs_block_bound_ahead(contour, run->count, hs_bigjump_epsilon_of(split, run->count)))
        return 0;
    double *error = value + 2 * nodes, *errors = error + nodes, more = run->count - run->least;
    contour->weights = errors + nodes;
    for (Size node = 0; node < nodes; node++)
        error[node] = transform_at(split->nodes + node, run->count, contour->has_small, value + 2 * node, value + 2 * node + 1);
    /* relative to the transform at c, n |mid| max(phi, 1)^n grows with n by no more than that */
    contour->truncation_error = split->least_truncation_error;
    if (contour->has_small)
        contour->truncation_error *=
            run->count / run->least * exp(more * larger(0.0, -split->nodes->re) * (1.0 + 1e-9)) * (1.0 + 1e-9);
    return hs_contour_evaluate(contour, value, error, errors);
}

/* P(some) - e^eps Q(some), a bound of its error, and of what else may add to delta: the compensation (Lemma 19a), and what
   happens where all steps are small (Lemma 19b: s^s/(1+s)^{1+s} e^{sum log(phi - mid)(s) - s eps}) */
static double sides(const BigJumpSplit *split, double epsilon, double *error, double *rest) {
    double factor = exp(smaller(epsilon, 600.0)), weighted_q = split->q * factor, moved = epsilon - split->guide.epsilon;
    *rest = split->q * (1.0 + 2.0 * split->large_error);
    for (int i = 0; i < BACK; i++)
        *rest = smaller(*rest, exp(smaller(split->log_compensation[i] + split->guide.rates[i] * moved, 1.0)) +
                                   split->compensation_left[i]);
    *rest *= factor * (1.0 + 1e-9);
    if (split->guide.low > 0.0) {
        double power = split->guide.order * epsilon,
               log_of = split->all_small - power + 8.0 * UNIT * (fabs(split->all_small) + fabs(power));
        *rest += log_of < 1.0 ? exp(larger(log_of, -700.0)) * (1.0 + 1e-9) : 3.0;
    }
    *error = (split->p + weighted_q) * (split->large_error + 4.0 * FUNCTION);
    return split->p - weighted_q;
}

static double estimate(const BigJumpSplit *split, double epsilon, double *slope) {
    double error, rest, first, some = sides(split, epsilon, &error, &rest), weighted_q = split->q * exp(smaller(epsilon, 600.0));
    double inner = exp(smaller(hs_contour_estimate(&split->contour, epsilon, slope, &first), 1.0));
    if (!(some + inner > 0.0)) /* the steps called large are not large there */
        some = weighted_q = 0.0;
    double total = larger(some + inner, 1e-300);
    *slope = smaller((inner * *slope - weighted_q) / total, -1e-3 * split->contour.c);
    return log(total);
}

/* Certified bounds of log delta */
static void ends(const BigJumpSplit *split, double epsilon, double *lower, double *upper) {
    double error, rest, low, high, some = sides(split, epsilon, &error, &rest);
    hs_contour_bounds(&split->contour, epsilon, &low, &high);
    double least = some - error + exp(smaller(low, 1.0)) * (1.0 - 2.0 * FUNCTION);
    double most = some + error + rest + exp(smaller(high, 1.0)) * (1.0 + 2.0 * FUNCTION);
    double below = log(larger(least, 1e-300)), above = log(larger(most, 1e-300));
    *lower = least > 1e-300 && epsilon < 600.0 ? below - 4.0 * FUNCTION * (1.0 + fabs(below)) : -INFINITY;
    *upper = most < INFINITY ? above + 4.0 * FUNCTION * (1.0 + fabs(above)) : INFINITY; /* so, if it is no number */
}

/* Where log delta is about that of the run, near an epsilon */
static double root(const BigJumpSplit *split, double log_delta, double start) {
    double lower = 0.4 * start, upper = 2.5 * start, epsilon = start, slope;
    for (int turn = 0; turn < 40; turn++) {
        double gap = log_delta - estimate(split, epsilon, &slope), newton = gap / slope, next = epsilon + newton;
        if (gap > 0.0)
            upper = epsilon;
        else
            lower = epsilon;
        if (fabs(newton) <= 1e-13 * epsilon)
            return next;
        if (!(lower < next && next < upper))
            next = 0.5 * (lower + upper);
        if (!(lower < next && next < upper))
            return next;
        epsilon = next;
    }
    return epsilon;
}

/* The interval that the split proves for a run, and where its epsilon is; 0 if the ends are not close */
static int proved(BigJumpSplit *split, const Run *run, Room *room, double *low, double *high, double *middle) {
    if (!split->ready || !set_count(split, run, room))
        return 0;
    double epsilon = *middle = root(split, run->log_delta, hs_bigjump_epsilon_of(split, run->count)), slope, lower, upper,
           gap = -1.0, other = -1.0;
    estimate(split, epsilon, &slope);
    *low = *high = epsilon;
    for (int turn = 0; turn < TRIES && gap < 0.0 && fabs(*low) < INFINITY; turn++) {
        ends(split, *low, &lower, &upper);
        gap = lower - run->above;
        if (!(gap >= 0.0))
            *low = nextafter(*low - gap / slope * (1.0 + 1e-6 + 0.1 * turn), -INFINITY);
    }
    for (int turn = 0; turn < TRIES && other < 0.0 && fabs(*high) < INFINITY; turn++) {
        ends(split, *high, &lower, &upper);
        other = run->below - upper;
        if (!(other >= 0.0))
            *high = nextafter(*high + other / slope * (1.0 + 1e-6 + 0.1 * turn), INFINITY);
    }
    return gap >= 0.0 && other >= 0.0 && *low > 0.0 && *low <= *high && *high - *low < CLOSE * *high;
}

static void clear(BigJumpSplit *split) {
    free(split->nodes);
    split->nodes = NULL;
    hs_bigjump_free(&split->step);
    hs_bigjump_free(&split->low_step);
    split->step = split->low_step = (ThresholdedStep){.edges = NULL};
}

/* For the counts of a block, about this epsilon of the largest, or if it is 0 one that is guessed; NULL where there is no memory */
static BigJumpSplit *open_at(const Run *run, double epsilon) {
    BigJumpSplit *split = calloc(1, sizeof *split);
    if (!split)
        return NULL;
    split->run = *run;
    split->run.count = run->most;
    int within = run->most * run->rate < MAX_RECORDS && run->log_delta > -MAX_MINUS_LOG_DELTA;
    for (int allows_small = 1; within && !split->ready && allows_small >= 0; allows_small--) {
        int found = hs_bigjump_choose_thresholds(&split->guide, &split->run, epsilon, allows_small);
        split->ready = found && hs_bigjump_prepare(split);
        if (!split->ready)
            clear(split);
        within = found && split->guide.low > 0.0; /* or it would be the same again */
    }
    return split;
}

BigJumpSplit *hs_bigjump_open(const Run *run) { return open_at(run, 0.0); }

void hs_bigjump_close(BigJumpSplit *split) {
    clear(split);
    free(split);
}

int hs_bigjump_epsilon(BigJumpSplit *split, const Run *run, Room *room, double *low, double *high) {
    double middle = 0.0, guess = split->guide.epsilon, least, most;
    int found = proved(split, run, room, low, high, &middle);
    for (int turn = 0; turn < AGAIN && middle > 0.0 && fabs(middle - guess) > NEAR * middle; turn++) {
        if (found && *high - *low <= WIDE_ENDS * *high)
            break;
        Run alone = *run; /* by itself, for that epsilon */
        alone.least = alone.most = run->count;
        BigJumpSplit *again = open_at(&alone, guess = middle);
        if (again && proved(again, run, room, &least, &most, &middle)) {
            *low = found ? larger(*low, least) : least;
            *high = found ? smaller(*high, most) : most;
            found = 1;
        }
        if (again)
            hs_bigjump_close(again);
    }
    return found;
}

static int at_epsilon(const void *of, double epsilon, double *low, double *high) {
    ends(of, epsilon, low, high);
    return 1;
}

void hs_bigjump_log_deltas(const Run *run, const double *epsilons, Size many, double *low, double *high, Size *first, Size *last) {
    double epsilon = epsilons[many / 2], slope;
    Run here = *run;
    Room room = {NULL, 0};
    *first = *last = many / 2;
    if (!(LEAST_EPSILON < epsilon && epsilon < MOST_EPSILON))
        return;
    here.many = 1;
    here.log_delta = hs_bigjump_guess_log_delta(run, epsilon);
    for (int turn = 0; turn < AGAIN && here.log_delta < 0.0; turn++) {
        BigJumpSplit *split = open_at(&here, epsilon);
        double better = NAN;
        if (split && split->ready && set_count(split, &here, &room) &&
            !hs_around_middle(run, at_epsilon, split, epsilons, many, low, high, first, last))
            better = estimate(split, epsilon, &slope);
        if (split)
            hs_bigjump_close(split);
        if (!(fabs(better - here.log_delta) > NEAR)) /* it is answered, or would not be by another guess */
            break;
        here.log_delta = better;
    }
    free(room.at);
}
