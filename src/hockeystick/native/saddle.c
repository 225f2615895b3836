/* A run of one sampled Gaussian mechanism on the real axis: about where its saddle point lies, and grids for its noise. */
#include "native.h"

enum { LONG = 3000, LONGER = 12000 }; /* nodes of the noise; in the order "add", where there is no other way */
#define LEFT 7.0                      /* log of what the saddle-point approximation may leave out */

static int lay_guide(Guide *guide, const Run *run, double k) {
    double reach = larger(fabs(k), 1.0), step = smaller(0.45, 0.6 * run->noise), span = 7.0, sums[4];
    double low = -sqrt(span * span - 4.0 * reach * log1p(-run->rate));
    double high = span + 1.0 / run->noise;
    if (run->removal[0]) /* or k is negative throughout */
        high = larger(high, right_edge(run->noise, run->rate, 2.0 * reach, -0.5 * span * span));
    double size = ceil((high - low) / step);
    if (!(size <= GUIDED))
        return 0;
    guide->size = (Size)size;
    guide->reach = 2.0 * reach;
    fill_rows(guide->rows, NULL, guide->size, low, step, run->noise, run->rate);
    tilted_sums(guide->rows, guide->size, 0.0, 0.0, sums);
    guide->mass = sums[0];
    guide->variance = sums[2];
    tilted_sums(guide->rows, guide->size, 1.0, 0.0, sums);
    guide->drift = sums[3] - run->rate * guide->mass;
    guide->top = larger(guide->rows[2 * guide->size - 1], -guide->rows[guide->size]);
    return 1;
}

/* log M(k) and two derivatives in k; 0 if the guide does not reach so far */
int guided(Guide *guide, const Run *run, double k, double jet[3]) {
    if (!(fabs(k) <= guide->reach) && !lay_guide(guide, run, k))
        return 0;
    if (fabs(k) * guide->top < 1e-5) {
        jet[0] = 0.5 * k * (k - 1.0) * guide->variance;
        jet[1] = (k - 0.5) * guide->variance;
        jet[2] = guide->variance;
        return 1;
    }
    double sums[4], shift = 0.0;
    if (fabs(k) * guide->top > 300.0) {
        const double *ratio = guide->rows + guide->size, *base = guide->rows + 3 * guide->size;
        shift = -INFINITY;
        for (Size i = 0; i < guide->size; i++)
            shift = larger(shift, k * ratio[i] + base[i]);
    }
    tilted_sums(guide->rows, guide->size, k, shift, sums);
    double total = sums[0];
    if (shift > 0.0 || total * exp(shift) > 2.0) {
        jet[0] = shift + log(total);
        jet[1] = sums[1] / total;
    } else {
        double scale = exp(shift), excess = total * scale - guide->mass - k * guide->drift;
        jet[0] = log1p(larger(excess, -0.999999));
        total = 1.0 + excess;
        sums[1] *= scale, sums[2] *= scale;
        jet[1] = (sums[1] - guide->drift) / total;
    }
    jet[2] = larger(sums[2] / total - jet[1] * jet[1], 1e-300);
    return 1;
}

/* K, K' and K'' of the run in its first order at c */
int expanded(Guide *guide, const Run *run, double c, double jet[3]) {
    if (!guided(guide, run, exponent(run, 0, c), jet))
        return 0;
    jet[0] *= run->count;
    jet[1] *= run->removal[0] ? run->count : -run->count;
    jet[2] *= run->count;
    return 1;
}

/* `saddle_of_delta` of loss/composed.py; 0 if nothing is found */
double saddle_of_delta(Guide *guide, const Run *run) {
    double noise = run->noise, rate = run->rate, jet[3];
    double variance = run->count * rate * rate * expm1(smaller(1.0 / (noise * noise), 30.0));
    double knee = run->removal[0] ? 2.0 * noise * noise * (1.0 - log(rate)) + 1.0 : INFINITY;
    double start = smaller(sqrt(2.0 * larger(-run->log_delta, 1.0) / larger(variance, 1e-300)), knee);
    double lower = log(1e-9), upper = log(1e15), x = smaller(larger(log(start), lower), upper);
    for (int turn = 0; turn < 60; turn++) {
        double c = exp(x), share = c / (1.0 + c);
        if (!expanded(guide, run, c, jet))
            return 0.0;
        double bend = c * c * jet[2] + 1.0 + share * share, slope = bend;
        double value = c * jet[1] - jet[0] + x + log1p(c) - 1.0 - share, large = x - 0.5 * log(2.0 * PI * bend) - LEFT;
        if (large > 0.0) {
            value -= large;
            slope -= (1.0 + share * share * share) / bend;
        }
        if (value > 0.0 && run->log_delta < 0.0) {
            slope /= value;
            value = log(-value / run->log_delta);
        } else {
            value += run->log_delta;
        }
        if (value > 0.0)
            upper = x;
        else
            lower = x;
        double newton = slope > 0.0 && slope < INFINITY ? -value / slope : value > 0.0 ? -INFINITY : INFINITY;
        double next = x + larger(-1.0, smaller(1.0, newton));
        if (newton > -0.5 && newton < 0.02 && c * c * newton * newton * (jet[2] + 1.0 / (c * c)) < 0.1)
            return exp(next);
        if (!(lower < next && next < upper))
            next = 0.5 * (lower + upper);
        if (!(lower < next && next < upper))
            return 0.0;
        x = next;
    }
    return 0.0;
}

/* A grid for exponents near k, where M is not large: `Grid` of loss/noise.py with `step`, or with its own for |Im k| <= reach.
   Returns its rows, NULL if it would be too long or there is no memory. */
double *make_grid(Grid *grid, const Run *run, double k, double lead, double reach, double ahead, double step) {
    double noise = run->noise, rate = run->rate, least = smaller(-1.15 * larger(k - 1.0, -k), 0.0), most = larger(k, 1.0);
    double low = -sqrt(2.0 * (lead + least * log1p(-rate))), log_rule = INFINITY;
    double high = larger(right_edge(noise, rate, most, -lead), sqrt(2.0 * lead) + 1.0 / noise);
    if (ahead > most)
        high = larger(high, smaller(right_edge(noise, rate, ahead, -lead), 2.0 * high));
    if (step == 0.0)
        step = longest_step(noise, rate, low, least, most, lead, reach, 0.0, &log_rule);
    if (!(step > 0.0))
        return NULL;
    exact_places(&low, &step);
    double size = floor((high - low) / step) + 2.0;
    if (!(size <= (run->removal[0] ? LONG : LONGER)))
        return NULL;
    Size n = (Size)size;
    double *rows = malloc((size_t)(4 * n) * sizeof(double));
    if (!rows)
        return NULL;
    fill_rows(rows, NULL, n, low, step, noise, rate);
    double angle = smaller(2.0 * PI * noise / (step * (noise * noise + 0.25 * larger(-least, 0.0))), 2.5);
    *grid = (Grid){rows, rows + n, rows + 2 * n, rows + 3 * n, n, noise, rate, run->noise_error, low, low + step * (size - 1.0),
                   step, angle,    lead,         log_rule};
    return rows;
}
