/* Twin of loss/bigjump/thresholds.py, for one mechanism: the threshold from which on a step counts as large for an epsilon.
   Nothing here is part of a proof. */
#include "bigjump_noise.h"

#define RELATIVE_WIDTHS 0.03, 0.1 /* widths of a threshold, relative to x */
#define DIGITS 23.0               /* about -log of the errors of the contour's terms */
static const double FARTHER[STARTS] = {1.0, 1.1, 1.25, 1.5, 2.0, 3.0};

double hs_bigjump_place(const Run *run, double x) { return run->noise * log1p(x / run->rate) + 0.5 / run->noise; }

/* power := its square, a row := lift, lift := its square; the sum of weight (power - 1 + rate x) before that */
WIDE static double squared(double *restrict power, const double *restrict weight, const double *restrict x, double rate, Size size,
                           double *restrict lift, double *restrict row, Size lifts) {
    double parts[4] = {0.0}, rest = 0.0;
    Size j = 0;
    for (; j + 4 <= size; j += 4)
        for (int lane = 0; lane < 4; lane++) {
            double one = power[j + lane];
            parts[lane] += weight[j + lane] * (one - 1.0 + rate * x[j + lane]);
            power[j + lane] = one * one;
        }
    for (; j < size; j++) {
        rest += weight[j] * (power[j] - 1.0 + rate * x[j]);
        power[j] *= power[j];
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
static void set_reverse_moments(Noise *noise) {
    double sum, rate, count = noise->run->count, *power = noise->one, *lift = noise->two;
    Size first = noise->first = first_at_least(noise->ratio, noise->size, noise->epsilon);
    for (int parity = 0; parity < 2; parity++) {
        rate = 0.25 / noise->epsilon * (parity ? M_SQRT2 : 1.0);
        for (Size j = 0; j < noise->size; j++)
            power[j] = -rate * noise->ratio[j];
        for (Size j = first; j < noise->size; j++)
            lift[j] = -rate * (noise->ratio[j] - noise->epsilon);
        hs_exps(power, noise->size);
        hs_exps(lift + first, noise->size - first);
        for (int r = parity; r < RATES; r += 2, rate *= 2.0) {
            sum = squared(power, noise->weight, noise->x, rate, noise->size, lift + first,
                          noise->reverse_power + r * noise->size + first, noise->size - first);
            double log_fixed = noise->epsilon + count * log1p(larger(sum, -0.999));
            noise->reverse_moment[r] = log_fixed < 600.0 ? exp(log_fixed) : NAN; /* of no use, as comparisons have it */
        }
    }
    for (int i = 0; i < STARTS; i++)
        noise->from[i] = first_at_least(noise->ratio, noise->size, FARTHER[i] * noise->epsilon);
}

/* The first node whose share of what is large from a threshold on is not far below the target */
static Size first_relevant(const Noise *noise, double threshold, double width) {
    double depth = sqrt(2.0 * (10.0 + log(noise->run->count) + noise->epsilon - noise->target));
    return first_at_least(noise->x, noise->size, threshold - smaller(depth, 37.0) * width);
}

/* log of a bound of the compensation by the others of what is large from e^x on, less the target: to be negative */
static double log_compensation(void *of, double log_x) {
    Noise *noise = of;
    double threshold = exp(log_x), width = noise->relative_width * threshold, near[STARTS], total = 0.0, least = INFINITY,
           count = noise->run->count;
    int rate = 0;
    Size start = first_relevant(noise, threshold, width), sure = first_at_least(noise->x, noise->size, threshold + 8.5 * width);
    threshold_values(noise, start, sure, threshold, width, noise->large_weight, noise->one);
    for (Size j = start; j < noise->size; j++)
        noise->large_weight[j] = count * noise->weight[j] * (j < sure ? noise->large_weight[j] : 1.0);
    Size j = start;
    for (int i = 0; i < STARTS; i++) {
        for (; j < noise->from[i]; j++)
            total += noise->large_weight[j];
        near[i] = total * noise->exp_epsilon;
    }
    for (int r = 0; r < RATES; r++) {
        const double *powers = noise->reverse_power + r * noise->size;
        double beyond = 0.0, best = INFINITY;
        Size end = noise->size;
        for (int i = STARTS - 1; i >= 0; i--) {
            Size from = noise->from[i] > start ? noise->from[i] : start;
            if (end > from) {
                beyond += hs_dot(noise->large_weight + from, powers + from, end - from);
                end = from;
            }
            best = smaller(best, noise->reverse_moment[r] * beyond + near[i]);
        }
        if (best < least) {
            least = best;
            rate = r;
        }
    }
    double left = noise->target - log(larger(least, 1e-300));
    if (left > 0.0) /* where the threshold may be */
        noise->best = rate;
    return left;
}

/* log of all the mass of large steps, less the target */
static double log_all_large(void *of, double log_x) {
    Noise *noise = of;
    double threshold = exp(log_x), width = noise->relative_width * threshold;
    Size start = first_relevant(noise, threshold, width);
    threshold_values(noise, start, noise->size, threshold, width, noise->large_weight, noise->one);
    double total = hs_dot(noise->suffix + start, noise->large_weight + start, noise->size - start);
    return noise->target - log(larger(total * noise->run->count, 1e-300));
}

/* The weights of what is not large; of what is small and middle */
static void set_weights(Noise *noise) {
    double *large = noise->one, *rest = noise->large_weight, *not_small = noise->two, *small = noise->small_weight;
    Size size = noise->size;
    threshold_values(noise, 0, size, noise->high, noise->width, large, rest);
    if (noise->low > 0.0) {
        threshold_values(noise, 0, size, noise->low, noise->low_width, not_small, small);
    } else {
        memcpy(not_small, large, (size_t)size * sizeof(double));
        memcpy(small, rest, (size_t)size * sizeof(double));
    }
    noise->q_large = hs_dot(noise->weight, large, size);
    noise->end = 0;
    for (Size j = 0; j < size; j++) {
        double weight = noise->weight[j];
        noise->middle_weight[j] = weight * larger(noise->x[j] < noise->high ? not_small[j] - large[j] : rest[j] - small[j], 0.0);
        noise->small_weight[j] = weight * small[j];
        not_small[j] *= weight;
        noise->one[j] = 1.0;
        if (noise->small_weight[j] > 0.0 || noise->middle_weight[j] > 0.0)
            noise->end = j + 1;
    }
    noise->q = hs_dot(not_small, noise->one, size);
    noise->drift = hs_dot(not_small, noise->x, size);
}

/* The least x from which a step may be called large, and the weights */
static void choose_upper(Noise *noise, double most, double relative_width) {
    double low = log(1.05 * expm1(noise->epsilon)), high = log(most);
    noise->relative_width = relative_width;
    if (log_all_large(noise, low) > 0.0) { /* there are none: less is large, as long as that is so */
        high = low;
        low = log(noise->run->rate);
        hs_bracket(log_all_large, noise, &low, &high, 0.02);
    } else {
        hs_bracket(log_compensation, noise, &low, &high, 0.02);
    }
    noise->high = exp(high);
    noise->width = relative_width * noise->high;
    hs_bigjump_choose_small(noise);
    set_weights(noise);
}

static int choose(ThresholdGuide *guide, Noise *noise) {
    const Run *run = noise->run;
    double epsilon = noise->epsilon = guide->epsilon, log_count = log(run->count), best = INFINITY;
    double variance = run->count * run->rate * run->rate * expm1(smaller(1.0 / (run->noise * run->noise), 30.0));
    double most = expm1(2.0 * epsilon + smaller(14.0 * sqrt(variance), 30.0));
    double last = smaller(hs_bigjump_place(run, 3.0 * most), 1.0 / run->noise + 60.0);
    if (!hs_bigjump_noise_nodes(noise, last, 0.05 * smaller(run->noise, 6.0), epsilon))
        return 0;
    noise->exp_epsilon = exp(epsilon);
    for (Size j = 0; j < noise->size; j++)
        noise->suffix[j] = noise->weight[j] * (noise->x[j] + noise->exp_epsilon + 1.0);
    set_reverse_moments(noise);
    noise->orders[0] = 0.0; /* not known yet */
    double widths[] = {RELATIVE_WIDTHS}, widest = 1.0 / sqrt(2.0 * (log_count + 33.0 + epsilon - run->log_delta));
    noise->relative_low_width = smaller(widths[1], widest);
    double relative_width = smaller(widths[1], smaller(widest, widths[0] * epsilon / -expm1(-epsilon)));
    double peak = 0.0;
    for (double sure = 29.0; sure > 7.0; sure -= 3.0) { /* -log of the relative size allowed to what is only bounded */
        double jet[3], c;
        noise->target = run->log_delta - sure;
        choose_upper(noise, most, relative_width);
        if (!((c = hs_bigjump_saddle(noise, jet)) > 0.0))
            continue;
        double spread, size = hs_bigjump_log_cancellation(noise, c, jet, &spread),
                       cost = exp(smaller(size - DIGITS, 300.0)) + exp(2.0 - sure);
        if (!(cost < best))
            break;
        best = cost;
        peak = size;
        guide->high = noise->high;
        guide->width = noise->width;
        guide->low = noise->low;
        guide->low_width = noise->low_width;
        guide->order = noise->order;
        guide->log_not_small = log(larger(noise->q, 1e-300));
        guide->log_q = log(larger(noise->q_large, 1e-300));
        hs_bigjump_set_contour(guide, noise, c, spread);
        for (int i = 0; i < BACK; i++) {
            int r = noise->best + i - BACK / 2;
            guide->rates[i] = 0.25 / epsilon * pow(2.0, 0.5 * (r < 0 ? 0 : r >= RATES ? RATES - 1 : r));
        }
        if (size < CLOSE_BY)
            break;
    }
    if (!(best < INFINITY))
        return 0;
    if (noise->high != guide->high || noise->low != guide->low) {
        noise->high = guide->high, noise->width = guide->width, noise->low = guide->low, noise->low_width = guide->low_width;
        set_weights(noise);
    }
    hs_bigjump_choose_contour(guide, noise, peak);
    return 1;
}

/* With room for its nodes; 0 where there is no memory */
static int allocate(Noise *noise) {
    double *at = noise->space = malloc((size_t)((RATES + ORDERS + 10) * GUIDE_NODES) * sizeof(double));
    if (!at)
        return 0;
    noise->ratio = at, noise->x = at + GUIDE_NODES, noise->weight = at + 2 * GUIDE_NODES, noise->suffix = at + 3 * GUIDE_NODES;
    noise->small_weight = at + 4 * GUIDE_NODES, noise->large_weight = at + 5 * GUIDE_NODES,
    noise->middle_weight = at + 6 * GUIDE_NODES;
    noise->y = at + 7 * GUIDE_NODES, noise->one = at + 8 * GUIDE_NODES, noise->two = at + 9 * GUIDE_NODES;
    noise->reverse_power = at + 10 * GUIDE_NODES, noise->remainder = noise->reverse_power + RATES * GUIDE_NODES;
    return 1;
}

/* The thresholds of a run with the largest count of its block, for this epsilon, or if it is 0 for one that is guessed,
   and whether some steps may count as small; 0 if that is not known */
int hs_bigjump_choose_thresholds(ThresholdGuide *guide, const Run *run, double epsilon, int allows_small) {
    Noise noise = {.run = run, .allows_small = allows_small, .best = RATES / 2};
    if (!allocate(&noise))
        return 0;
    guide->epsilon = guide->least_epsilon = epsilon > 0.0 ? epsilon : hs_bigjump_one_jump_epsilon(&noise, run->most, 0.0);
    if (run->least < run->most && guide->epsilon > 0.0)
        guide->least_epsilon = hs_bigjump_one_jump_epsilon(&noise, run->least, guide->epsilon);
    int found = guide->least_epsilon > 0.0 && 1e-7 < guide->epsilon && guide->epsilon < 300.0 && choose(guide, &noise);
    free(noise.space);
    return found;
}

/* About log delta at an epsilon, by the principle of one big jump; NaN if it is not known */
double hs_bigjump_guess_log_delta(const Run *run, double epsilon) {
    Run far = *run;
    Noise noise = {.run = &far};
    double found = -1.0;
    if (!allocate(&noise))
        return NAN;
    for (far.log_delta = -60.0; far.log_delta > -700.0; far.log_delta *= 3.0)
        if (!((found = hs_bigjump_one_jump_log_delta(&noise, run->count, epsilon)) < far.log_delta)) /* the nodes reach so far */
            break;
    free(noise.space);
    return found;
}
