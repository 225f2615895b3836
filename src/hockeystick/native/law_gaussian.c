/* The privacy loss distribution of one step of sampled Gaussian noise, as contours ask for it: twins of loss/sampled/gaussian.py
   and loss/sampled/quadrature.py. */
#include "gaussian_decay.h"
#include "gaussian_grid.h"
#include "gaussian_values.h"
#include "law.h"

enum { LONG = 3000, LONGER = 12000 }; /* nodes of the noise; in the order "add", where there is no other way */
#define WORK(run)                                                                                                                  \
    ((run)->removal[0] ? 4e5 : 3e6) /* nodes of the noise times those of the contour: for the order "add" there is no other way */
#define HOPE 6.0                    /* log of how much of what is allowed beyond the last node */
#define FINE 33.0                   /* -log of the error of the rule for values, times the count */

static int place_guide(Guide *guide, const Run *run, double k) {
    double reach = larger(fabs(k), 1.0), step = smaller(0.45, 0.6 * run->noise), span = 7.0, sums[4];
    double low = -sqrt(span * span - 4.0 * reach * log1p(-run->rate));
    double high = span + 1.0 / run->noise;
    if (run->removal[0]) /* or k is negative throughout */
        high = larger(high, hs_grid_right_edge(run->noise, run->rate, 2.0 * reach, -0.5 * span * span));
    double size = ceil((high - low) / step);
    if (!(size <= GUIDED))
        return 0;
    guide->size = (Size)size;
    guide->reach = 2.0 * reach;
    hs_grid_fill(guide->rows, NULL, guide->size, low, step, run->noise, run->rate);
    hs_grid_tilted_sums(guide->rows, guide->size, 0.0, 0.0, sums);
    guide->mass = sums[0];
    guide->variance = sums[2];
    hs_grid_tilted_sums(guide->rows, guide->size, 1.0, 0.0, sums);
    guide->drift = sums[3] - run->rate * guide->mass;
    guide->top = larger(guide->rows[2 * guide->size - 1], -guide->rows[guide->size]);
    return 1;
}

/* log M(k) and two derivatives in k; 0 if the guide does not reach so far */
static int expand(Guide *guide, const Run *run, double k, double jet[3]) {
    if (!(fabs(k) <= guide->reach) && !place_guide(guide, run, k))
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
    hs_grid_tilted_sums(guide->rows, guide->size, k, shift, sums);
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

/* A grid for exponents near k, where M is not large: `Grid` of loss/sampled/quadrature.py with `step`, or with its own for |Im k|
   <= reach. Returns its rows, NULL if it would be too long or there is no memory. */
static double *make_grid(Grid *grid, const Run *run, double k, double lead, double reach, double ahead, double step) {
    double noise = run->noise, rate = run->rate, least = smaller(-1.15 * larger(k - 1.0, -k), 0.0), most = larger(k, 1.0);
    double low = -sqrt(2.0 * (lead + least * log1p(-rate))), log_rule = INFINITY;
    double high = larger(hs_grid_right_edge(noise, rate, most, -lead), sqrt(2.0 * lead) + 1.0 / noise);
    if (ahead > most)
        high = larger(high, smaller(hs_grid_right_edge(noise, rate, ahead, -lead), 2.0 * high));
    if (step == 0.0)
        step = hs_grid_longest_step(noise, rate, low, least, most, lead, reach, 0.0, &log_rule);
    if (!(step > 0.0))
        return NULL;
    hs_grid_exact_places(&low, &step);
    double size = floor((high - low) / step) + 2.0;
    if (!(size <= (run->removal[0] ? LONG : LONGER)))
        return NULL;
    Size n = (Size)size;
    double *rows = malloc((size_t)(4 * n) * sizeof(double));
    if (!rows)
        return NULL;
    hs_grid_fill(rows, NULL, n, low, step, noise, rate);
    double angle = smaller(2.0 * PI * noise / (step * (noise * noise + 0.25 * larger(-least, 0.0))), 2.5);
    *grid = (Grid){rows, rows + n, rows + 2 * n, rows + 3 * n, n, noise, rate, run->noise_error, low, low + step * (size - 1.0),
                   step, angle,    lead,         log_rule};
    return rows;
}

static void coarse_estimates(const Run *run, double *variance, double *quadratic_limit) {
    double noise = run->noise, rate = run->rate;
    *variance = run->count * rate * rate * expm1(smaller(1.0 / (noise * noise), 30.0));
    *quadratic_limit = run->removal[0] ? 2.0 * noise * noise * (1.0 - log(rate)) + 1.0 : INFINITY;
}

static int prepare(Contour *contour, const Run *run) {
    if (!(contour->largest_cumulant <= 1.0))
        return 0;
    double c = contour->c, k = exponent(run, 0, c), lead = log(run->most) + 14.0 + log(2.0 + fabs(k));
    double wide = 0.5 * smaller(run->noise, 4.0), least = smaller(smaller(k, -k), smaller(1.0 - k, 0.0));
    double step = PI / sqrt(lead * (0.5 + 1.0 / (wide * wide) - 0.125 * least / (run->noise * run->noise)));
    contour->rows = make_grid(&contour->grid, run, k, lead, 0.0, c + HS_AHEAD[AHEAD - 1] * contour->width + 1.0, step);
    return contour->rows != NULL;
}

static double cumulant_above(const Contour *contour, const Run *run, int row, double s) {
    double bound = hs_gaussian_above(&contour->grid, exponent(run, row, s));
    /* in the order "add" Z <= -log(1 - q): docs/mathematics.md, Lemma 13 */
    return run->removal[row] ? bound : smaller(bound, s * (-log1p(-run->rate) * (1.0 + 16.0 * UNIT)));
}

/* Whether the transform seems not to have decayed at u: by the guide's nodes, those too far apart for u counted against it */
static int seems_to_last(const Contour *contour, const Guide *guide, const Run *run, double u) {
    const double *ratio = guide->rows + guide->size, *base = ratio + 2 * guide->size;
    double k = exponent(run, 0, contour->c), all = 0.0, re = 0.0, im = 0.0, rest = 0.0;
    for (Size j = 0; j < guide->size; j++) {
        double weight = exp(smaller(k * ratio[j] + base[j], 600.0)), next = ratio[j + 1 < guide->size ? j + 1 : j];
        all += weight;
        if (u * (next - ratio[j]) < 1.0) {
            re += weight * cos(u * ratio[j]);
            im += weight * sin(u * ratio[j]);
        } else {
            rest += weight;
        }
    }
    double left = (hypot(re, im) - rest) / all;
    return left > 0.0 && -run->count * log(left) + 2.0 * log(u / contour->c) < TOLERANCE - HOPE;
}

static int bound_decay(const Contour *contour, const Guide *guide, const Run *run, double far, double *decay) {
    double points[ROWS];
    for (int row = 0; row < contour->many; row++)
        points[row] = exponent(run, contour->used_rows[row], contour->c);
    return !seems_to_last(contour, guide, run, far) &&
           hs_gaussian_decay(&contour->grid, points, contour->many, contour->width, decay);
}

/* K of one step at the nodes, and its errors; 0 if that takes too long */
static int evaluate(Contour *contour, const Run *run) {
    double c = contour->c, reach = contour->step * (double)(contour->nodes - 1), k[ROWS];
    Size total = contour->many * contour->nodes;
    for (int row = 0; row < contour->many; row++)
        k[row] = exponent(run, contour->used_rows[row], c);
    double log_smallness = larger(0.0, -log(run->most) - log(larger(contour->smallest_cumulant, 1e-300)));
    double lead = log(run->most) + FINE + log(2.0 + fabs(k[0]) + reach) + log_smallness;
    Grid grid;
    double *rows = make_grid(&grid, run, k[0], lead, reach, 0.0, 0.0);
    if (rows && (double)(grid.size * contour->nodes) <= WORK(run) &&
        (contour->values = malloc((size_t)(3 * total) * sizeof(double)))) {
        double *value = contour->values, *error = contour->errors = value + 2 * total;
        int found = 1, gentle = hypot(c, reach) * larger(-log1p(-run->rate), grid.ratio[grid.size - 1]) < 0.25;
        if (gentle) /* |w L| is small throughout: K is wanted relative to w */
            for (int row = 0; found && row < contour->many; row++)
                found = hs_gaussian_gentle(&grid, c, run->removal[contour->used_rows[row]], k, contour->many, contour->step,
                                           contour->nodes, value + 2 * row * contour->nodes, error + row * contour->nodes);
        else
            found = hs_gaussian_excess(&grid, k, contour->many, contour->step, contour->nodes, value, error);
        if (!found) {
            free(contour->values);
            contour->values = NULL;
        }
        for (Size at = 0; found && at < total; at++)
            if (!run->removal[contour->used_rows[at / contour->nodes]])
                value[2 * at + 1] = -value[2 * at + 1];
    }
    free(rows);
    return contour->values != NULL;
}

const Law HS_LAW_GAUSSIAN = {expand, coarse_estimates, prepare, cumulant_above, bound_decay, evaluate};
