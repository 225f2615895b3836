/* Twin of loss/bigjump/thresholds.py, for one mechanism: the threshold from which on a step counts as large for an epsilon.
   Nothing here is part of a proof. */
#include "bigjump_noise.h"

#define HARD 0.03, 0.1 /* widths of a mark, relative to x */
#define DIGITS 23.0    /* about -log of the errors of the contour's terms */
static const double FARTHER[STARTS] = {1.0, 1.1, 1.25, 1.5, 2.0, 3.0};

double hs_bigjump_place(const Run *run, double x) { return run->noise * log1p(x / run->rate) + 0.5 / run->noise; }

/* grown := its square, a row := lift, lift := its square; the sum of weight (grown - 1 + rate x) before that */
WIDE static double squared(double *restrict grown, const double *restrict weight, const double *restrict x, double rate, Size size,
                           double *restrict lift, double *restrict row, Size lifts) {
    double parts[4] = {0.0}, rest = 0.0;
    Size j = 0;
    for (; j + 4 <= size; j += 4)
        for (int lane = 0; lane < 4; lane++) {
            double one = grown[j + lane];
            parts[lane] += weight[j + lane] * (one - 1.0 + rate * x[j + lane]);
            grown[j + lane] = one * one;
        }
    for (; j < size; j++) {
        rest += weight[j] * (grown[j] - 1.0 + rate * x[j]);
        grown[j] *= grown[j];
    }
    for (j = 0; j < lifts; j++) {
        double one = lift[j];
        row[j] = one;
        lift[j] = one * one;
    }
    return ((parts[0] + parts[1]) + (parts[2] + parts[3])) + rest;
}

/* For several r: E_Q e^{-rS} (and e^epsilon), and e^{-r (L - epsilon)} at the nodes beyond epsilon.  Every second r is twice
 * another. */
static void look_back(Noise *noise) {
    double sum, rate, count = noise->run->count, *grown = noise->one, *lift = noise->two;
    Size first = noise->first = from_on(noise->ratio, noise->size, noise->epsilon);
    for (int parity = 0; parity < 2; parity++) {
        rate = 0.25 / noise->epsilon * (parity ? M_SQRT2 : 1.0);
        for (Size j = 0; j < noise->size; j++)
            grown[j] = -rate * noise->ratio[j];
        for (Size j = first; j < noise->size; j++)
            lift[j] = -rate * (noise->ratio[j] - noise->epsilon);
        hs_exps(grown, noise->size);
        hs_exps(lift + first, noise->size - first);
        for (int r = parity; r < RATES; r += 2, rate *= 2.0) {
            sum = squared(grown, noise->weight, noise->x, rate, noise->size, lift + first, noise->lifted + r * noise->size + first,
                          noise->size - first);
            double log_fixed = noise->epsilon + count * log1p(larger(sum, -0.999));
            noise->fixed[r] = log_fixed < 600.0 ? exp(log_fixed) : NAN; /* of no use, as comparisons have it */
        }
    }
    for (int i = 0; i < STARTS; i++)
        noise->from[i] = from_on(noise->ratio, noise->size, FARTHER[i] * noise->epsilon);
}

/* The first node whose share of what is large from a mark on is not far below the target */
static Size matters_from(const Noise *noise, double mark, double width) {
    double depth = sqrt(2.0 * (10.0 + log(noise->run->count) + noise->epsilon - noise->target));
    return from_on(noise->x, noise->size, mark - smaller(depth, 37.0) * width);
}

/* log of how much the others may take back of what is large from e^x on, less the target: to be negative */
static double taken(void *of, double log_x) {
    Noise *noise = of;
    double mark = exp(log_x), width = noise->hard * mark, near[STARTS], total = 0.0, least = INFINITY, count = noise->run->count;
    int rate = 0;
    Size start = matters_from(noise, mark, width), sure = from_on(noise->x, noise->size, mark + 8.5 * width);
    weigh_nodes(noise, start, sure, mark, width, noise->heavy, noise->one);
    for (Size j = start; j < noise->size; j++)
        noise->heavy[j] = count * noise->weight[j] * (j < sure ? noise->heavy[j] : 1.0);
    Size j = start;
    for (int i = 0; i < STARTS; i++) {
        for (; j < noise->from[i]; j++)
            total += noise->heavy[j];
        near[i] = total * noise->pay;
    }
    for (int r = 0; r < RATES; r++) {
        const double *lifted = noise->lifted + r * noise->size;
        double heavy = 0.0, best = INFINITY;
        Size end = noise->size;
        for (int i = STARTS - 1; i >= 0; i--) {
            Size from = noise->from[i] > start ? noise->from[i] : start;
            if (end > from) {
                heavy += hs_dot(noise->heavy + from, lifted + from, end - from);
                end = from;
            }
            best = smaller(best, noise->fixed[r] * heavy + near[i]);
        }
        if (best < least) {
            least = best;
            rate = r;
        }
    }
    double left = noise->target - log(larger(least, 1e-300));
    if (left > 0.0) /* where the mark may be */
        noise->best = rate;
    return left;
}

/* log of all that there is of large steps, less the target */
static double gone(void *of, double log_x) {
    Noise *noise = of;
    double mark = exp(log_x), width = noise->hard * mark;
    Size start = matters_from(noise, mark, width);
    weigh_nodes(noise, start, noise->size, mark, width, noise->heavy, noise->one);
    double total = hs_dot(noise->suffix + start, noise->heavy + start, noise->size - start);
    return noise->target - log(larger(total * noise->run->count, 1e-300));
}

/* The weights of what is not large; of what is small and middle */
static void weigh_marks(Noise *noise) {
    double *large = noise->one, *rest = noise->heavy, *not_small = noise->two, *small = noise->light;
    Size size = noise->size;
    weigh_nodes(noise, 0, size, noise->high, noise->width, large, rest);
    if (noise->low > 0.0) {
        weigh_nodes(noise, 0, size, noise->low, noise->low_width, not_small, small);
    } else {
        memcpy(not_small, large, (size_t)size * sizeof(double));
        memcpy(small, rest, (size_t)size * sizeof(double));
    }
    noise->large = hs_dot(noise->weight, large, size);
    noise->end = 0;
    for (Size j = 0; j < size; j++) {
        double weight = noise->weight[j];
        noise->middle[j] = weight * larger(noise->x[j] < noise->high ? not_small[j] - large[j] : rest[j] - small[j], 0.0);
        noise->light[j] = weight * small[j];
        not_small[j] *= weight;
        noise->one[j] = 1.0;
        if (noise->light[j] > 0.0 || noise->middle[j] > 0.0)
            noise->end = j + 1;
    }
    noise->q = hs_dot(not_small, noise->one, size);
    noise->drift = hs_dot(not_small, noise->x, size);
}

/* The least x from which a step may be called large, and the weights */
static void mark(Noise *noise, double most, double hard) {
    double low = log(1.05 * expm1(noise->epsilon)), high = log(most);
    noise->hard = hard;
    if (gone(noise, low) > 0.0) { /* there are none: less is large, as long as that is so */
        high = low;
        low = log(noise->run->rate);
        hs_bracket(gone, noise, &low, &high, 0.02);
    } else {
        hs_bracket(taken, noise, &low, &high, 0.02);
    }
    noise->high = exp(high);
    noise->width = hard * noise->high;
    hs_bigjump_mark_small(noise);
    weigh_marks(noise);
}

static int chosen(Sketch *sketch, Noise *noise) {
    const Run *run = noise->run;
    double epsilon = noise->epsilon = sketch->epsilon, log_count = log(run->count), best = INFINITY;
    double variance = run->count * run->rate * run->rate * expm1(smaller(1.0 / (run->noise * run->noise), 30.0));
    double most = expm1(2.0 * epsilon + smaller(14.0 * sqrt(variance), 30.0));
    double last = smaller(hs_bigjump_place(run, 3.0 * most), 1.0 / run->noise + 60.0);
    if (!hs_bigjump_lay_noise(noise, last, 0.05 * smaller(run->noise, 6.0), epsilon))
        return 0;
    noise->pay = exp(epsilon);
    for (Size j = 0; j < noise->size; j++)
        noise->suffix[j] = noise->weight[j] * (noise->x[j] + noise->pay + 1.0);
    look_back(noise);
    noise->orders[0] = 0.0; /* not known yet */
    double widths[] = {HARD}, widest = 1.0 / sqrt(2.0 * (log_count + 33.0 + epsilon - run->log_delta));
    noise->soft = smaller(widths[1], widest);
    double hard = smaller(widths[1], smaller(widest, widths[0] * epsilon / -expm1(-epsilon)));
    double peak = 0.0;
    for (double sure = 29.0; sure > 7.0; sure -= 3.0) { /* -log of the relative size allowed to what is only bounded */
        double jet[3], c;
        noise->target = run->log_delta - sure;
        mark(noise, most, hard);
        if (!((c = hs_bigjump_saddle(noise, jet)) > 0.0))
            continue;
        double spread, size = hs_bigjump_size_of(noise, c, jet, &spread),
                       cost = exp(smaller(size - DIGITS, 300.0)) + exp(2.0 - sure);
        if (!(cost < best))
            break;
        best = cost;
        peak = size;
        sketch->high = noise->high;
        sketch->width = noise->width;
        sketch->low = noise->low;
        sketch->low_width = noise->low_width;
        sketch->order = noise->order;
        sketch->log_not_small = log(larger(noise->q, 1e-300));
        sketch->log_q = log(larger(noise->large, 1e-300));
        hs_bigjump_place_at(sketch, noise, c, spread);
        for (int i = 0; i < BACK; i++) {
            int r = noise->best + i - BACK / 2;
            sketch->rates[i] = 0.25 / epsilon * pow(2.0, 0.5 * (r < 0 ? 0 : r >= RATES ? RATES - 1 : r));
        }
        if (size < CLOSE_BY)
            break;
    }
    if (!(best < INFINITY))
        return 0;
    if (noise->high != sketch->high || noise->low != sketch->low) {
        noise->high = sketch->high, noise->width = sketch->width, noise->low = sketch->low, noise->low_width = sketch->low_width;
        weigh_marks(noise);
    }
    hs_bigjump_lean(sketch, noise, peak);
    return 1;
}

/* With room for its nodes; 0 where there is no memory */
static int with_room(Noise *noise) {
    double *at = noise->space = malloc((size_t)((RATES + ORDERS + 10) * SKETCHED) * sizeof(double));
    if (!at)
        return 0;
    noise->ratio = at, noise->x = at + SKETCHED, noise->weight = at + 2 * SKETCHED, noise->suffix = at + 3 * SKETCHED;
    noise->light = at + 4 * SKETCHED, noise->heavy = at + 5 * SKETCHED, noise->middle = at + 6 * SKETCHED;
    noise->y = at + 7 * SKETCHED, noise->one = at + 8 * SKETCHED, noise->two = at + 9 * SKETCHED;
    noise->lifted = at + 10 * SKETCHED, noise->bent = noise->lifted + RATES * SKETCHED;
    return 1;
}

/* Where a run is to be parted with the largest count of its block, for this epsilon, or if it is 0 for one that is guessed,
   and whether some steps may count as small; 0 if that is not known */
int hs_bigjump_thresholds(Sketch *sketch, const Run *run, double epsilon, int divides) {
    Noise noise = {.run = run, .divides = divides, .best = RATES / 2};
    if (!with_room(&noise))
        return 0;
    sketch->epsilon = sketch->least_epsilon = epsilon > 0.0 ? epsilon : hs_bigjump_one_jump_epsilon(&noise, run->most, 0.0);
    if (run->least < run->most && sketch->epsilon > 0.0)
        sketch->least_epsilon = hs_bigjump_one_jump_epsilon(&noise, run->least, sketch->epsilon);
    int found = sketch->least_epsilon > 0.0 && 1e-7 < sketch->epsilon && sketch->epsilon < 300.0 && chosen(sketch, &noise);
    free(noise.space);
    return found;
}

/* About log delta at an epsilon, by the principle of one big jump; NaN if it is not known */
double hs_bigjump_guess_log_delta(const Run *run, double epsilon) {
    Run far = *run;
    Noise noise = {.run = &far};
    double found = -1.0;
    if (!with_room(&noise))
        return NAN;
    for (far.log_delta = -60.0; far.log_delta > -700.0; far.log_delta *= 3.0)
        if (!((found = hs_bigjump_one_jump_log_delta(&noise, run->count, epsilon)) < far.log_delta)) /* the nodes reach so far */
            break;
    free(noise.space);
    return found;
}
