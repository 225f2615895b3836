/* Twin of loss/bigjump/thresholds.py: the threshold below which a step counts as small: small ones alone hardly ever reach epsilon.
 */
#include "bigjump_noise.h"
#include "contour_bounds.h"

/* A row := weight (grown - 1 - k x), with e^{kL} of the order `order` as (1 + x) times `grown`, which is squared then */
WIDE static void remainder_row(double *restrict row, double *restrict power, const double *restrict weight,
                               const double *restrict x, double order, Size size) {
    for (Size j = 0; j < size; j++) {
        double one = (1.0 + x[j]) * power[j], two = power[j] * power[j];
        row[j] = one < 1e250 ? one : 1e250;
        power[j] = two < 1e250 ? two : 1e250;
    }
    for (Size j = 0; j < size; j++)
        row[j] = weight[j] * (row[j] - 1.0 - (1.0 + order) * x[j]);
}

/* The weights of e^{kL} - 1 - k x for several orders k - 1; every second one is twice another */
static void set_small_bounds(Noise *noise) {
    double *power = noise->one;
    for (int parity = 0; parity < 2; parity++) {
        double order = 2.0 / noise->epsilon * (parity ? M_SQRT2 : 1.0);
        for (Size j = 0; j < noise->size; j++)
            power[j] = smaller(order * noise->ratio[j], 300.0);
        hs_exps(power, noise->size);
        for (int i = parity; i < ORDERS; i += 2, order *= 2.0) {
            noise->orders[i] = order;
            remainder_row(noise->remainder + i * noise->size, power, noise->weight, noise->x, order, noise->size);
        }
    }
}

/* A width such that what is large is never small */
static double low_width(const Noise *noise, double low) {
    double rate = noise->run->rate, narrowest = noise->width * (rate + low) / (rate + noise->high) * (1.0 + 1e-12);
    return larger(smaller(noise->relative_low_width * low, noise->width), narrowest);
}

/* log of a bound of delta from steps below e^x alone, by the best order, less the target: to be negative */
static double log_all_small(void *of, double log_x) {
    Noise *noise = of;
    double threshold = exp(log_x), width = low_width(noise, threshold), not_small_mass = 0.0, not_small_drift = 0.0,
           least = INFINITY, count = noise->run->count;
    Size from = first_at_least(noise->x, noise->size, threshold - 9.0 * width),
         end = first_at_least(noise->x, noise->size, threshold + 38.0 * width);
    threshold_values(noise, from, end, threshold, width, noise->one, noise->large_weight);
    for (Size j = 0; j < from; j++)
        noise->large_weight[j] = 1.0;
    for (Size j = from; j < noise->size; j++) {
        double not_small = j < end ? noise->weight[j] * noise->one[j] : noise->weight[j];
        not_small_mass += not_small;
        not_small_drift += not_small * noise->x[j];
    }
    for (int i = 0; i < ORDERS; i++) {
        double inner = hs_dot(noise->remainder + i * noise->size, noise->large_weight, end) - not_small_mass -
                       (1.0 + noise->orders[i]) * not_small_drift;
        noise->bounds[i] =
            hs_log_markov(noise->orders[i]) - noise->orders[i] * noise->epsilon + count * log1p(larger(inner, -0.999));
        least = smaller(least, noise->bounds[i]);
    }
    return least - noise->target;
}

/* Whether |phi|^n has not decayed, for a tilt near that of the saddle, half way to where the transform does with a threshold there
 */
static int decays_sooner(const Noise *noise, double threshold) {
    double u = 3.5 / noise->relative_low_width * (1.0 + threshold) / threshold,
           k = 1.0 - 0.5 * noise->run->log_delta / noise->epsilon, all = 0.0, re = 0.0, im = 0.0;
    Size size = first_at_least(noise->x, noise->size, noise->high);
    double *weights = noise->y, *cosines = noise->one, *sines = noise->two;
    for (Size j = 0; j < size; j++)
        weights[j] = smaller(k * noise->ratio[j], 40.0);
    hs_exps(weights, size);
    hs_turns(u, noise->ratio, (size + 3) / 4 * 4, cosines, sines);
    for (Size j = 0; j < size; j++) {
        double tilted = noise->weight[j] * weights[j];
        all += tilted;
        re += tilted * cosines[j];
        im += tilted * sines[j];
    }
    return noise->run->count * log(all / larger(hypot(re, im), 1e-300)) < 25.0;
}

/* The largest x below which a step may be called small, if that is of use */
void hs_bigjump_choose_small(Noise *noise) {
    double low = log(expm1(1e-3 * noise->epsilon)), high = log(smaller(0.7 * expm1(noise->epsilon), 0.5 * noise->high));
    noise->low = noise->low_width = noise->order = 0.0;
    if (!noise->allows_small || !(low < high) || !decays_sooner(noise, exp(high)))
        return;
    if (!noise->orders[0])
        set_small_bounds(noise);
    if (log_all_small(noise, low) > 0.0)
        return;
    hs_bracket(log_all_small, noise, &low, &high, 0.04);
    log_all_small(noise, low);
    double threshold = exp(low);
    if (!decays_sooner(noise, threshold))
        return;
    for (int i = ORDERS - 1; i >= 0; i--) /* the least: e^{kL} may be no double */
        if (noise->bounds[i] <= noise->target)
            noise->order = noise->orders[i];
    if (noise->order > 0.0) {
        noise->low = threshold;
        noise->low_width = low_width(noise, threshold);
    }
}
