/* epsilon of a sparse run of one sampled Gaussian mechanism in the order "remove", in one go: what loss/parted.py does where no
   outcome counts as small.  With "some" the event that some step is large,

       delta = P(some) - e^eps Q(some) + e^eps E_Q[(1 - e^{S-eps})+; some] + E[(1 - e^{eps-S})+; none],

   of which the third term is bounded (Lemma 19a of docs/mathematics.md) and the last is an integral along a contour. */
#include "native.h"

enum { SPARSE = 4096, TRIES = 12, EVERY = 4 }; /* SPARSE: the most nodes */
#define FINE 30.0  /* -log of the error of the rule for values, times the count */
#define DENSE 1e6  /* steps with the record, on average, beyond which nothing is parted */
#define FAINT 500.0 /* -log of delta beyond which nothing is parted here */
#define DIGITS 38.0 /* -log of the relative error wanted of what is large, unless there is less of it than matters */
#define NEAR 0.01

/* For all counts of a block; what is said of one of them is `count`, p, q and so on */
struct Parted {
    Run run; /* with the largest count */
    Sketch sketch;
    Marked step;
    Contour contour;
    double reverse[BACK], light[BACK], heavy[BACK]; /* of one step: log E_Q e^{-rL}, and Lemma 19a */
    int made;
    double count, p, q, count_error, taken[BACK], close[BACK]; /* bounds of what is taken back, and of what is not large enough for it */
};

/* About the epsilon of a count of the block */
static double epsilon_of(const Parted *parted, double count) {
    const Sketch *sketch = &parted->sketch;
    double share = parted->run.least < parted->run.most ? log(parted->run.most / count) / log(parted->run.most / parted->run.least) : 0.0;
    return sketch->epsilon + share * (sketch->least_epsilon - sketch->epsilon);
}

/* How the transform falls on cells of u; where its line is moved up only on some of them, and those around the last node */
static int decays(Parted *parted, double k, double phi) {
    Contour *contour = &parted->contour;
    Far far;
    double near[CELLS], known[CELLS], decay[CELLS], u = contour->width, count = parted->run.least, left[CELLS];
    int found = 0;
    fall_of(&parted->step, k, phi, contour->width, near);
    if (!look_far(&far, &parted->step, k))
        return 0;
    for (int cell = 0; cell < CELLS; cell++, u *= 1.25) {
        left[cell] = u;
        known[cell] = cell % EVERY == 0 || cell == CELLS - 1 ? far_at(&far, u) : INFINITY;
    }
    for (int turn = 0; turn < 2; turn++) {
        double held = INFINITY; /* what holds for one u holds beyond */
        for (int cell = 0; cell < CELLS; cell++) {
            held = known[cell] < INFINITY ? known[cell] : held;
            decay[cell] = larger(count * near[cell] * (1.0 - 1e-12), count * (contour->level - held) - 1e-9);
        }
        found = cut_nodes(contour, decay, SPARSE);
        int cut = (int)(log(larger(1.0, smaller(contour->wanted * contour->step / contour->width, 1e9))) / log(1.25) + 0.5);
        for (int cell = cut - 2 * EVERY; turn == 0 && contour->wanted < INFINITY && cell < cut + 2; cell++)
            if (cell >= 0 && cell < CELLS && known[cell] == INFINITY)
                known[cell] = far_at(&far, left[cell]);
    }
    free(far.room);
    return found;
}

/* The marks, what is large, and the contour for the rest; 0 if it would prove too little */
static int made(Parted *parted) {
    const Run *run = &parted->run;
    const Sketch *sketch = &parted->sketch;
    Contour *contour = &parted->contour;
    Marked *step = &parted->step;
    double c = sketch->c, ahead = c + AHEAD[FORWARD - 1] * sketch->spread, k = 1.0 + c;
    double log_count = log(run->most), needless = run->log_delta - (sketch->log_q + log_count + sketch->epsilon);
    if (!mark_cells(step, run, sketch->high, sketch->width, larger(2.0 + ahead, 10.0 / sketch->epsilon), 1.0 + ahead) ||
        !count_large(step, sketch->log_q, DIGITS - smaller(larger(needless, 0.0), DIGITS - 4.0)))
        return 0;
    for (int i = 0; i < BACK; i++) {
        parted->reverse[i] = log1p(reverse_above(step, sketch->rates[i]));
        large_above(step, sketch->rates[i], sketch->epsilon, run->most * parted->reverse[i], &parted->light[i], &parted->heavy[i]);
    }
    double bend = 1.0 / (sketch->spread * sketch->spread) - 1.0 / (c * c) - 1.0 / ((1.0 + c) * (1.0 + c)), excess = 0.0;
    *contour = (Contour){.c = c, .width = sketch->spread, .most = SPARSE, .many = 1, .pairs = 1, .slack = 1e-9};
    contour->level = sketch->level / run->most;
    contour->second = larger(bend, 0.0) / run->most;
    for (int i = 0; i < FORWARD; i++) {
        double s = contour->forward[i] = c + AHEAD[i] * sketch->spread, found = larger(not_large_above(step, 1.0 + s), -0.5);
        contour->each_above[0][i] = log1p(found) + 4.0 * FUNCTION * fabs(found);
        excess = i ? excess : found;
    }
    if (!step_for(contour, run, sketch->least_epsilon, sketch->epsilon) || !decays(parted, k, 1.0 + excess))
        return 0;
    Size nodes = contour->nodes;
    if (!(contour->values = malloc((size_t)(3 * nodes) * sizeof(double))))
        return 0;
    contour->errors = contour->values + 2 * nodes;
    if (!not_large_along(step, k, contour->step, nodes, -FINE - log_count, contour->values, contour->errors))
        return 0;
    contour->dropped *= exp(larger(0.0, run->least * (contour->level - contour->values[0]))); /* the decay was proved relative to a guess */
    return 1;
}

/* What is large among so many steps, and the terms of the sum; 0 if they prove too little */
static int counted(Parted *parted, const Run *run, Room *room) {
    const Marked *step = &parted->step;
    double heavy = step->q + step->drift;
    parted->p = -expm1(run->count * log1p(-heavy));
    parted->q = -expm1(run->count * log1p(-step->q));
    parted->count_error = step->error / (1.0 - heavy) * (1.0 + 1e-6) + 4.0 * FUNCTION + 9.0 * UNIT;
    for (int i = 0; i < BACK; i++) {
        parted->taken[i] = run->count * parted->reverse[i] * (1.0 + 4.0 * FUNCTION) + log(run->count * parted->heavy[i]) + 2e-9;
        parted->close[i] = run->count * parted->light[i] * (1.0 + 1e-9);
    }
    return heavy < 0.5 && parted->count_error < 1.0 && at_count(&parted->contour, run, epsilon_of(parted, run->count), room);
}

/* P(some) - e^eps Q(some), a bound of its error, and of what else may add to delta */
static double sides(const Parted *parted, double epsilon, double *error, double *rest) {
    double pay = exp(smaller(epsilon, 600.0)), away = parted->q * pay, moved = epsilon - parted->sketch.epsilon;
    *rest = parted->q * (1.0 + 2.0 * parted->count_error);
    for (int i = 0; i < BACK; i++)
        *rest = smaller(*rest, exp(smaller(parted->taken[i] + parted->sketch.rates[i] * moved, 1.0)) + parted->close[i]);
    *rest *= pay * (1.0 + 1e-9);
    *error = (parted->p + away) * (parted->count_error + 4.0 * FUNCTION);
    return parted->p - away;
}

static double about(const Parted *parted, double epsilon, double *slope) {
    double error, rest, first, some = sides(parted, epsilon, &error, &rest), away = parted->q * exp(smaller(epsilon, 600.0));
    double inner = exp(smaller(estimated(&parted->contour, epsilon, slope, &first), 1.0));
    if (!(some + inner > 0.0)) /* the steps called large are not large there */
        some = away = 0.0;
    double total = larger(some + inner, 1e-300);
    *slope = smaller((inner * *slope - away) / total, -1e-3 * parted->contour.c);
    return log(total);
}

/* Certified bounds of log delta */
static void ends(const Parted *parted, double epsilon, double *lower, double *upper) {
    double error, rest, low, high, some = sides(parted, epsilon, &error, &rest);
    bounds(&parted->contour, epsilon, &low, &high);
    double least = some - error + exp(smaller(low, 1.0)) * (1.0 - 2.0 * FUNCTION);
    double most = some + error + rest + exp(smaller(high, 1.0)) * (1.0 + 2.0 * FUNCTION);
    double below = log(larger(least, 1e-300)), above = log(larger(most, 1e-300));
    *lower = least > 1e-300 && epsilon < 600.0 ? below - 4.0 * FUNCTION * (1.0 + fabs(below)) : -INFINITY;
    *upper = above + 4.0 * FUNCTION * (1.0 + fabs(above));
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
    double epsilon = *middle = root(parted, run->log_delta, epsilon_of(parted, run->count)), slope, lower, upper, gap = -1.0, other = -1.0;
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

/* For the counts of a block, about this epsilon of the largest, or if it is 0 one that is guessed; NULL where there is no memory */
static Parted *opened(const Run *run, double epsilon) {
    Parted *parted = calloc(1, sizeof *parted);
    if (parted) {
        parted->run = *run;
        parted->run.count = run->most;
        parted->made = run->most * run->rate < DENSE && run->log_delta > -FAINT && sketched(&parted->sketch, &parted->run, epsilon) &&
                       made(parted);
    }
    return parted;
}

Parted *open_parted(const Run *run) { return opened(run, 0.0); }

void close_parted(Parted *parted) {
    free(parted->contour.values);
    forget(&parted->step);
    free(parted);
}

int parted_epsilon(Parted *parted, const Run *run, Room *room, double *low, double *high) {
    double middle = 0.0;
    int found = proved(parted, run, room, low, high, &middle);
    if (!found && middle > 0.0 && fabs(middle - parted->sketch.epsilon) > NEAR * middle) { /* by itself, for that epsilon */
        Run alone = *run;
        alone.least = alone.most = run->count;
        Parted *again = opened(&alone, middle);
        found = again && proved(again, run, room, low, high, &middle);
        if (again)
            close_parted(again);
    }
    return found;
}
