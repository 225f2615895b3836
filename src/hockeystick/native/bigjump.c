/* Single-big-jump splitting for sparse subsampling: epsilon of a run of one sampled Gaussian mechanism in the order "remove", as
   loss/bigjump/split.py does it.  With "some" the event that some step is large,

       delta = P(some) - e^eps Q(some) + e^eps E_Q[(1 - e^{S-eps})+; some] + E[(1 - e^{eps-S})+; none],

   of which the third term is bounded (Lemma 19a of docs/mathematics.md) and the last is an integral along a contour; less, if that
   falls sooner, what happens where all steps are small, which is bounded (Lemma 19b). */
#include "bigjump.h"
#include "count_block.h"
#include "log_deltas.h"

enum { TRIES = 12, AGAIN = 2 };
#define DENSE 1e6   /* steps with the record, on average, beyond which nothing is split off */
#define FAINT 500.0 /* -log of delta beyond which nothing is split off here */
#define NEAR 0.01
#define FEWEST 1e-7 /* epsilons of which there is a sketch */
#define MOST 300.0
#define WIDE_ENDS 1e-10 /* relative width that is not narrow enough, if epsilon is not near what was guessed */

/* At least e^x - 1 and log(1 + x), x >= 0 */
static double grown_by(double x) { return x < 0.5 ? x * (1.0 + x) : x < 700.0 ? expm1(x) * (1.0 + 1e-9) : INFINITY; }
static double log_by(double x) { return x < 1e-3 ? x : log1p(x) * (1.0 + 1e-9); }

/* The transform of so many steps at a node, and a bound of log(1 + its relative error): `_Slice.values` of loss/bigjump/split.py.
   docs/mathematics.md, section 7a, "Errors of the marks": (1 + d)^n - 1 <= x (1 + x), x = n log(1 + d) */
static double at_node(const Node *at, double count, int some_small, double *re, double *im) {
    double error = count * (log_by(at->off) + 4.0 * FUNCTION * (fabs(at->re) + fabs(at->im)));
    *re = count * at->re;
    *im = count * at->im;
    if (some_small) {
        double logs = 4.0 * FUNCTION * (fabs(at->re) + fabs(at->im) + fabs(at->term_re) + fabs(at->term_im));
        double gain_re = -count * at->term_re, gain_im = -count * at->term_im, behind = gain_re > 0.0 ? -1.0 : 1.0;
        double slip = count * log_by(at->lost / at->rest), apart = count * (log_by(at->apart) + logs);
        /* log(1 - e^-gain), whatever the sign of its real part: e^z - 1 for a z left of the imaginary axis, by half its angle */
        double sine = sin(0.5 * gain_im), cosine = cos(0.5 * gain_im), less = expm1(behind * gain_re), left = 1.0 + less;
        double inner_re = less * (1.0 - 2.0 * sine * sine) - 2.0 * sine * sine, inner_im = behind * left * (2.0 * sine * cosine);
        double size = fabs(inner_re) + fabs(inner_im) > 1e-140 ? sqrt(inner_re * inner_re + inner_im * inner_im)
                                                               : larger(hypot(inner_re, inner_im), 1e-290);
        *re += log(size) - (behind < 0.0 ? 0.0 : gain_re);
        *im += atan2(behind * inner_im, behind * inner_re) - (behind < 0.0 ? 0.0 : gain_im);
        /* the power of (phi - mid)/phi lies within e^slip times its own size; or both powers err each by itself.  Relative to what
           what is returned, phi^n and that power are `whole` and `rest` over the size */
        double rest = behind < 0.0 ? left : 1.0, whole = behind < 0.0 ? 1.0 : left;
        double together = at->off < 0.5 ? error + log_by(grown_by(slip) * rest / size + 8.0 * FUNCTION) : INFINITY;
        double alone = (grown_by(error) * whole + grown_by(apart) * rest) / size * (1.0 + 1e-9) + 8.0 * FUNCTION;
        error = smaller(together * (1.0 + 1e-9), alone < INFINITY ? log_by(alone) : INFINITY);
    }
    return error + 4.0 * UNIT * (fabs(*re) + fabs(*im));
}

/* What is large among so many steps, and the terms of the sum; 0 if they prove too little */
static int counted(Parted *parted, const Run *run, Room *room) {
    const Marked *step = &parted->step;
    const Sketch *sketch = &parted->sketch;
    Contour *contour = &parted->contour;
    Size nodes = contour->nodes;
    double heavy = step->q + step->drift, *value = room_for(room, 6 * nodes);
    parted->p = -expm1(run->count * log1p(-heavy));
    parted->q = -expm1(run->count * log1p(-step->q));
    parted->count_error = step->error / (1.0 - heavy) * (1.0 + 1e-6) + 4.0 * FUNCTION + 9.0 * UNIT;
    for (int i = 0; i < BACK; i++) {
        parted->taken[i] = run->count * parted->reverse[i] * (1.0 + 4.0 * FUNCTION) + log(run->count * parted->heavy[i]) + 2e-9;
        parted->close[i] = run->count * parted->light[i] * (1.0 + 1e-9);
    }
    if (sketch->low > 0.0)
        parted->all_small = hs_log_markov(sketch->order) * (1.0 - 2.0 * FUNCTION) + 1e-9 +
                            run->count * (parted->small + 8.0 * FUNCTION * fabs(parted->small));
    if (!(heavy < 0.5 && parted->count_error < 1.0) || !value ||
        !hs_block_look_ahead(contour, run->count, hs_bigjump_epsilon_of(parted, run->count)))
        return 0;
    double *error = value + 2 * nodes, *errors = error + nodes, more = run->count - run->least;
    contour->weights = errors + nodes;
    for (Size node = 0; node < nodes; node++)
        error[node] = at_node(parted->nodes + node, run->count, contour->parted, value + 2 * node, value + 2 * node + 1);
    /* relative to the transform at c, n |mid| max(phi, 1)^n grows with n by no more than that */
    contour->dropped = parted->least_dropped;
    if (contour->parted)
        contour->dropped *= run->count / run->least * exp(more * larger(0.0, -parted->nodes->re) * (1.0 + 1e-9)) * (1.0 + 1e-9);
    return hs_contour_weigh(contour, value, error, errors);
}

/* P(some) - e^eps Q(some), a bound of its error, and of what else may add to delta: what is taken back (Lemma 19a), and what
   happens where all steps are small (Lemma 19b: s^s/(1+s)^{1+s} e^{sum log(phi - mid)(s) - s eps}) */
static double sides(const Parted *parted, double epsilon, double *error, double *rest) {
    double pay = exp(smaller(epsilon, 600.0)), away = parted->q * pay, moved = epsilon - parted->sketch.epsilon;
    *rest = parted->q * (1.0 + 2.0 * parted->count_error);
    for (int i = 0; i < BACK; i++)
        *rest = smaller(*rest, exp(smaller(parted->taken[i] + parted->sketch.rates[i] * moved, 1.0)) + parted->close[i]);
    *rest *= pay * (1.0 + 1e-9);
    if (parted->sketch.low > 0.0) {
        double power = parted->sketch.order * epsilon,
               log_of = parted->all_small - power + 8.0 * UNIT * (fabs(parted->all_small) + fabs(power));
        *rest += log_of < 1.0 ? exp(larger(log_of, -700.0)) * (1.0 + 1e-9) : 3.0;
    }
    *error = (parted->p + away) * (parted->count_error + 4.0 * FUNCTION);
    return parted->p - away;
}

static double about(const Parted *parted, double epsilon, double *slope) {
    double error, rest, first, some = sides(parted, epsilon, &error, &rest), away = parted->q * exp(smaller(epsilon, 600.0));
    double inner = exp(smaller(hs_contour_estimate(&parted->contour, epsilon, slope, &first), 1.0));
    if (!(some + inner > 0.0)) /* the steps called large are not large there */
        some = away = 0.0;
    double total = larger(some + inner, 1e-300);
    *slope = smaller((inner * *slope - away) / total, -1e-3 * parted->contour.c);
    return log(total);
}

/* Certified bounds of log delta */
static void ends(const Parted *parted, double epsilon, double *lower, double *upper) {
    double error, rest, low, high, some = sides(parted, epsilon, &error, &rest);
    hs_contour_bounds(&parted->contour, epsilon, &low, &high);
    double least = some - error + exp(smaller(low, 1.0)) * (1.0 - 2.0 * FUNCTION);
    double most = some + error + rest + exp(smaller(high, 1.0)) * (1.0 + 2.0 * FUNCTION);
    double below = log(larger(least, 1e-300)), above = log(larger(most, 1e-300));
    *lower = least > 1e-300 && epsilon < 600.0 ? below - 4.0 * FUNCTION * (1.0 + fabs(below)) : -INFINITY;
    *upper = most < INFINITY ? above + 4.0 * FUNCTION * (1.0 + fabs(above)) : INFINITY; /* so, if it is no number */
}

/* Where log delta is about that of the run, near an epsilon */
static double root(const Parted *parted, double log_delta, double start) {
    double lower = 0.4 * start, upper = 2.5 * start, epsilon = start, slope;
    for (int turn = 0; turn < 40; turn++) {
        double gap = log_delta - about(parted, epsilon, &slope), newton = gap / slope, next = epsilon + newton;
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

/* What the parts prove of a run, and where its epsilon is; 0 if the ends are not close */
static int proved(Parted *parted, const Run *run, Room *room, double *low, double *high, double *middle) {
    if (!parted->made || !counted(parted, run, room))
        return 0;
    double epsilon = *middle = root(parted, run->log_delta, hs_bigjump_epsilon_of(parted, run->count)), slope, lower, upper,
           gap = -1.0, other = -1.0;
    about(parted, epsilon, &slope);
    *low = *high = epsilon;
    for (int turn = 0; turn < TRIES && gap < 0.0 && fabs(*low) < INFINITY; turn++) {
        ends(parted, *low, &lower, &upper);
        gap = lower - run->above;
        if (!(gap >= 0.0))
            *low = nextafter(*low - gap / slope * (1.0 + 1e-6 + 0.1 * turn), -INFINITY);
    }
    for (int turn = 0; turn < TRIES && other < 0.0 && fabs(*high) < INFINITY; turn++) {
        ends(parted, *high, &lower, &upper);
        other = run->below - upper;
        if (!(other >= 0.0))
            *high = nextafter(*high + other / slope * (1.0 + 1e-6 + 0.1 * turn), INFINITY);
    }
    return gap >= 0.0 && other >= 0.0 && *low > 0.0 && *low <= *high && *high - *low < CLOSE * *high;
}

static void emptied(Parted *parted) {
    free(parted->nodes);
    parted->nodes = NULL;
    hs_bigjump_free(&parted->step);
    hs_bigjump_free(&parted->low_step);
    parted->step = parted->low_step = (Marked){.edges = NULL};
}

/* For the counts of a block, about this epsilon of the largest, or if it is 0 one that is guessed; NULL where there is no memory */
static Parted *opened(const Run *run, double epsilon) {
    Parted *parted = calloc(1, sizeof *parted);
    if (!parted)
        return NULL;
    parted->run = *run;
    parted->run.count = run->most;
    int within = run->most * run->rate < DENSE && run->log_delta > -FAINT;
    for (int divides = 1; within && !parted->made && divides >= 0; divides--) {
        int found = hs_bigjump_thresholds(&parted->sketch, &parted->run, epsilon, divides);
        parted->made = found && hs_bigjump_made(parted);
        if (!parted->made)
            emptied(parted);
        within = found && parted->sketch.low > 0.0; /* or it would be the same again */
    }
    return parted;
}

Parted *hs_bigjump_open(const Run *run) { return opened(run, 0.0); }

void hs_bigjump_close(Parted *parted) {
    emptied(parted);
    free(parted);
}

int hs_bigjump_epsilon(Parted *parted, const Run *run, Room *room, double *low, double *high) {
    double middle = 0.0, guess = parted->sketch.epsilon, least, most;
    int found = proved(parted, run, room, low, high, &middle);
    for (int turn = 0; turn < AGAIN && middle > 0.0 && fabs(middle - guess) > NEAR * middle; turn++) {
        if (found && *high - *low <= WIDE_ENDS * *high)
            break;
        Run alone = *run; /* by itself, for that epsilon */
        alone.least = alone.most = run->count;
        Parted *again = opened(&alone, guess = middle);
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
    if (!(FEWEST < epsilon && epsilon < MOST))
        return;
    here.many = 1;
    here.log_delta = hs_bigjump_guess_log_delta(run, epsilon);
    for (int turn = 0; turn < AGAIN && here.log_delta < 0.0; turn++) {
        Parted *parted = opened(&here, epsilon);
        double better = NAN;
        if (parted && parted->made && counted(parted, &here, &room) &&
            !hs_around_middle(run, at_epsilon, parted, epsilons, many, low, high, first, last))
            better = about(parted, epsilon, &slope);
        if (parted)
            hs_bigjump_close(parted);
        if (!(fabs(better - here.log_delta) > NEAR)) /* it is answered, or would not be by another guess */
            break;
        here.log_delta = better;
    }
    free(room.at);
}
