/* epsilon of a sparse run of one sampled Gaussian mechanism in the order "remove", in one go: what loss/parted.py does where no
   outcome counts as small.  With "some" the event that some step is large,

       delta = P(some) - e^eps Q(some) + e^eps E_Q[(1 - e^{S-eps})+; some] + E[(1 - e^{eps-S})+; none],

   of which the third term is bounded (Lemma 19a of docs/mathematics.md) and the last is an integral along a contour. */
#include "native.h"

enum { NODES = 4096, TRIES = 12, EVERY = 4 };
#define FINE 30.0  /* -log of the error of the rule for values, times the count */
#define DENSE 1e6  /* steps with the record, on average, beyond which nothing is parted */
#define FAINT 500.0 /* -log of delta beyond which nothing is parted here */
#define DIGITS 38.0 /* -log of the relative error wanted of what is large, unless there is less of it than matters */
#define NEAR 0.01

typedef struct {
    const Run *run;
    Sketch sketch;
    Marked step;
    Contour contour;
    double p, q, count_error, taken[BACK], close[BACK]; /* bounds of what is taken back, and of what is not large enough for that */
} Apart;

/* Lemma 19a: bounds of Q(S < eps, some) at the epsilon of the sketch */
static void bound_taken(Apart *apart) {
    for (int i = 0; i < BACK; i++) {
        double rate = apart->sketch.rates[i], light, heavy, count = apart->run->count;
        double height = count * log1p(reverse_above(&apart->step, rate)) + 1e-9;
        large_above(&apart->step, rate, apart->sketch.epsilon, height, &light, &heavy);
        apart->taken[i] = height + log(count * heavy) + 1e-9;
        apart->close[i] = count * light * (1.0 + 1e-9);
    }
}

/* How the transform falls on cells of u; where its line is moved up only on some of them, and those around the last node */
static int decays(Apart *apart, double k, double phi) {
    Contour *contour = &apart->contour;
    Far far;
    double near[CELLS], known[CELLS], decay[CELLS], u = contour->width, count = apart->run->count, left[CELLS];
    int found = 0;
    fall_of(&apart->step, k, phi, contour->width, near);
    if (!look_far(&far, &apart->step, k))
        return 0;
    for (int cell = 0; cell < CELLS; cell++, u *= 1.25) {
        left[cell] = u;
        known[cell] = cell % EVERY == 0 || cell == CELLS - 1 ? far_at(&far, u) : INFINITY;
    }
    for (int turn = 0; turn < 2; turn++) {
        for (int cell = 0; cell < CELLS; cell++) {
            double held = known[cell]; /* what holds there holds beyond */
            for (int before = cell; held == INFINITY && before-- > 0;)
                held = known[before];
            decay[cell] = larger(count * near[cell] * (1.0 - 1e-12), apart->sketch.level - count * held - 1e-9);
        }
        found = cut_nodes(contour, decay, NODES);
        int cut = (int)(log(larger(1.0, contour->wanted * contour->step / contour->width)) / log(1.25) + 0.5);
        for (int cell = cut - 2 * EVERY; turn == 0 && contour->wanted < INFINITY && cell < cut + 2; cell++)
            if (cell >= 0 && cell < CELLS && known[cell] == INFINITY)
                known[cell] = far_at(&far, left[cell]);
    }
    free(far.room);
    return found;
}

/* The marks, what is large, and the contour for the rest; 0 if it would prove too little.  `room` is for six times NODES. */
static int made(Apart *apart, double *room) {
    const Run *run = apart->run;
    const Sketch *sketch = &apart->sketch;
    Contour *contour = &apart->contour;
    double c = sketch->c, ahead = c + AHEAD[FORWARD - 1] * sketch->spread, k = 1.0 + c, above[ROWS][FORWARD], excess = 0.0;
    double log_count = log(run->count), needless = run->log_delta - (sketch->log_q + log_count + sketch->epsilon);
    if (!mark_cells(&apart->step, run, sketch->high, sketch->width, larger(2.0 + ahead, 10.0 / sketch->epsilon), 1.0 + ahead) ||
        !count_large(&apart->step, sketch->log_q, DIGITS - smaller(larger(needless, 0.0), DIGITS - 4.0)))
        return 0;
    const Marked *step = &apart->step;
    double heavy = step->q + step->drift;
    apart->p = -expm1(run->count * log1p(-heavy));
    apart->q = -expm1(run->count * log1p(-step->q));
    apart->count_error = step->error / (1.0 - heavy) * (1.0 + 1e-6) + 4.0 * FUNCTION + 9.0 * UNIT;
    if (!(heavy < 0.5 && apart->count_error < 1.0))
        return 0;
    bound_taken(apart);
    *contour = (Contour){.c = c, .width = sketch->spread, .epsilon = sketch->epsilon, .most = NODES, .many = 1, .pairs = 1, .weights = room};
    for (int i = 0; i < FORWARD; i++) {
        double s = contour->forward[i] = c + AHEAD[i] * sketch->spread, found = not_large_above(step, 1.0 + s);
        above[0][i] = run->count * log1p(larger(found, -0.5)) + 1e-9;
        excess = i ? excess : found;
    }
    if (!look_ahead(contour, above))
        return 0;
    choose_step(contour, run->log_delta);
    double *value = room + 2 * NODES, *error = value + 2 * NODES, *errors = error + NODES;
    if (!decays(apart, k, 1.0 + larger(excess, -0.5)) ||
        !not_large_along(step, k, contour->step, contour->nodes, -FINE - log_count, value, error))
        return 0;
    for (Size node = 0; node < contour->nodes; node++) {
        double size = hypot(value[2 * node], value[2 * node + 1]) * run->count;
        value[2 * node] *= run->count;
        value[2 * node + 1] *= run->count;
        error[node] = run->count * error[node] + 4.0 * UNIT * size;
    }
    double level = value[0];
    if (!weigh(contour, value, error, errors))
        return 0;
    contour->dropped *= exp(larger(0.0, sketch->level - level)); /* the decay was proved relative to a guess */
    return 1;
}

/* P(some) - e^eps Q(some), a bound of its error, and of what else may add to delta */
static double sides(const Apart *apart, double epsilon, double *error, double *rest) {
    double pay = exp(smaller(epsilon, 600.0)), away = apart->q * pay, moved = epsilon - apart->sketch.epsilon;
    *rest = apart->q * (1.0 + 2.0 * apart->count_error);
    for (int i = 0; i < BACK; i++)
        *rest = smaller(*rest, exp(smaller(apart->taken[i] + apart->sketch.rates[i] * moved, 1.0)) + apart->close[i]);
    *rest *= pay * (1.0 + 1e-9);
    *error = (apart->p + away) * (apart->count_error + 4.0 * FUNCTION);
    return apart->p - away;
}

static double about(const Apart *apart, double epsilon, double *slope) {
    double error, rest, first, some = sides(apart, epsilon, &error, &rest), away = apart->q * exp(smaller(epsilon, 600.0));
    double inner = exp(smaller(estimated(&apart->contour, epsilon, slope, &first), 1.0));
    if (!(some + inner > 0.0)) /* the steps called large are not large there */
        some = away = 0.0;
    double total = larger(some + inner, 1e-300);
    *slope = smaller((inner * *slope - away) / total, -1e-3 * apart->contour.c);
    return log(total);
}

/* Certified bounds of log delta */
static void ends(const Apart *apart, double epsilon, double *lower, double *upper) {
    double error, rest, low, high, some = sides(apart, epsilon, &error, &rest);
    bounds(&apart->contour, epsilon, &low, &high);
    double least = some - error + exp(smaller(low, 1.0)) * (1.0 - 2.0 * FUNCTION);
    double most = some + error + rest + exp(smaller(high, 1.0)) * (1.0 + 2.0 * FUNCTION);
    double below = log(larger(least, 1e-300)), above = log(larger(most, 1e-300));
    *lower = least > 1e-300 && epsilon < 600.0 ? below - 4.0 * FUNCTION * (1.0 + fabs(below)) : -INFINITY;
    *upper = above + 4.0 * FUNCTION * (1.0 + fabs(above));
}

/* Where log delta is about that of the run, near an epsilon */
static double root(const Apart *apart, double start) {
    double lower = 0.4 * start, upper = 2.5 * start, epsilon = start, slope;
    for (int turn = 0; turn < 40; turn++) {
        double gap = apart->run->log_delta - about(apart, epsilon, &slope), newton = gap / slope;
        if (gap > 0.0)
            upper = epsilon;
        else
            lower = epsilon;
        double next = epsilon + newton;
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

/* What steps parted for about this epsilon prove; where the answer is */
static int proved(Apart *apart, double *room, double *low, double *high, double *middle) {
    int found = made(apart, room);
    if (found) {
        double epsilon = *middle = root(apart, apart->sketch.epsilon), slope, lower, upper, gap = -1.0, other = -1.0;
        about(apart, epsilon, &slope);
        *low = *high = epsilon;
        for (int turn = 0; turn < TRIES && gap < 0.0 && fabs(*low) < INFINITY; turn++) {
            ends(apart, *low, &lower, &upper);
            gap = lower - apart->run->above;
            if (!(gap >= 0.0))
                *low = nextafter(*low - gap / slope * (1.0 + 1e-6 + 0.1 * turn), -INFINITY);
        }
        for (int turn = 0; turn < TRIES && other < 0.0 && fabs(*high) < INFINITY; turn++) {
            ends(apart, *high, &lower, &upper);
            other = apart->run->below - upper;
            if (!(other >= 0.0))
                *high = nextafter(*high + other / slope * (1.0 + 1e-6 + 0.1 * turn), INFINITY);
        }
        found = gap >= 0.0 && other >= 0.0 && *low > 0.0 && *low <= *high && *high - *low < CLOSE * *high;
    }
    forget(&apart->step);
    return found;
}

int parted_epsilon(const Run *run, double *low, double *high) {
    Apart apart = {.run = run};
    double middle = 0.0, *room;
    if (!(run->count * run->rate < DENSE && run->log_delta > -FAINT && sketched(&apart.sketch, run, 0.0)))
        return 0;
    if (!(room = malloc(6 * NODES * sizeof *room)))
        return 0;
    int found = proved(&apart, room, low, high, &middle);
    double start = apart.sketch.epsilon;
    if (!found && middle > 0.0 && fabs(middle - start) > NEAR * middle && sketched(&apart.sketch, run, middle))
        found = proved(&apart, room, low, high, &middle);
    free(room);
    return found;
}
