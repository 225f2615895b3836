/* Twins of loss/bigjump/cells.py and loss/bigjump/transform.py: what is large in a step, and bounds of the rest on the real axis.
   Lemmas 19a and 19e of docs/mathematics.md. */
#include "bigjump_step.h"
#include "elementary.h"
#include "gaussian_grid.h"

enum { MOST = 1 << 16 }; /* nodes */
#define LOW (-11.5)      /* where the noise begins: bigjump_cells.c */
#define REAL 14.0        /* -log of the error of the rule on the real axis, times the count */

/* A bound of the error of t, at a node, whose place is exact: slip times 1/noise (|z| + 1/(2 noise)) */
static double slip_of(const Run *run) { return (3.0 * UNIT + 2.0 * run->noise_error) * (1.0 / run->noise); }

/* Bounds of the errors of L */
WIDE void hs_bigjump_ratio_errors(const Run *run, const double *restrict z, const double *restrict ratio,
                                  const double *restrict share, Size n, double *restrict moved) {
    double slip = slip_of(run), half = 0.5 / run->noise;
    for (Size j = 0; j < n; j++)
        moved[j] = share[j] * (slip * (fabs(z[j]) + half)) + (FUNCTION + 16.0 * UNIT) * fabs(ratio[j]);
}

/* Section 7a, "Errors of the thresholds": bounds of the shares by which g(y) and g(-y) err, y = (x - threshold)/width: x + q errs
   by a share, NORMAL and y^2 come from g, and its logarithm has a slope of at most 1 + |y|, or where g > 1/2 of twice that times 1
   - g */
WIDE static void threshold_errors(const Run *run, double threshold, double width, const double *restrict z,
                                  const double *restrict ratio, const double *restrict x, const double *restrict y,
                                  const double *restrict below, const double *restrict above, Size n, double *restrict below_error,
                                  double *restrict above_error) {
    double slip = slip_of(run), half = 0.5 / run->noise, far = threshold + run->rate, inverse = 1.0 / width;
    for (Size j = 0; j < n; j++) { /* |L| >= log(1 + |x|) */
        double off = (fabs(x[j]) + far) * inverse * (slip * (fabs(z[j]) + half) + (33.0 * UNIT) * (1.0 + fabs(ratio[j])));
        double moved_log = off * (1.0 + fabs(y[j])) + 4.0 * UNIT * y[j] * y[j];
        below_error[j] = NORMAL + smaller(moved_log, 2.0 * moved_log * above[j]);
        above_error[j] = NORMAL + smaller(moved_log, 2.0 * moved_log * below[j]);
    }
}

void hs_bigjump_thresholds_at(const Run *run, double threshold, double width, const double *z, const double *ratio, const double *x,
                              Size n, ThresholdValues *at) {
    double inverse = 1.0 / width;
    for (Size j = 0; j < n; j++)
        at->y[j] = (x[j] - threshold) * inverse;
    hs_normals(at->y, n, at->below, at->above);
    threshold_errors(run, threshold, width, z, ratio, x, at->y, at->below, at->above, n, at->below_error, at->above_error);
}

/* Nodes for bounds of phi on the real axis: those of (1 - nu)(e^{kL} - 1 - k x), k <= fast; 0 if they are too many */
static int real_nodes(ThresholdedStep *step, double *found_spacing) {
    const Run *run = step->run;
    double size = larger(1.0, step->fast), end = step->edges[step->kept_cells];
    double spacing = hs_bigjump_longest_step(step, NOT_LARGE, step->fast, 0.0, size, step->rule = -REAL - log(run->count)),
           low = larger(LOW, -sqrt(2.0 * (2.0 + log(1.0 + step->fast * run->rate) - step->rule)));
    if (!(spacing > 0.0 && spacing < 1e3))
        return 0;
    hs_grid_exact_places(&low, &spacing);
    *found_spacing = spacing;
    step->before = exp(log_tail_bound(-low));
    double count = (end - low) / spacing + 2.0; /* one node is beyond the end; those left out add up to less than the integral */
    if (!(count < MOST))
        return 0;
    Size n = step->reals = (Size)count;
    if (!(step->real = malloc((size_t)(8 * n) * sizeof(double))))
        return 0;
    double *z = step->real, *ratio = z + n, *share = z + 2 * n, *base = z + 3 * n, *x = z + 4 * n, *moved = z + 5 * n,
           *below = z + 6 * n, *above = z + 7 * n;
    hs_grid_fill(z, x, n, low, spacing, run->noise, run->rate);
    hs_bigjump_ratio_errors(run, z, ratio, share, n, moved);
    memcpy(share, base, (size_t)n * sizeof(double));
    hs_exps(base, n);
    for (Size j = 0; j < n; j++)
        z[j] = (x[j] - step->high) / step->width;
    hs_normals(z, n, below, above);
    for (Size j = 0; j < n; j++)
        base[j] *= (above[j] + NEVER) * (1.0 + 1e-9);
    return 1;
}

/* E nu and E nu x, the latter not negative since nu grows with x and E x = 0; `log_q` is about log of the former, `digits` -log of
   the relative error that matters.  0 if the errors are too large. */
int hs_bigjump_sum_large(ThresholdedStep *step, double log_q, double digits) {
    const Run *run = step->run;
    double found_spacing; /* no farther apart: `large_above` is closer so */
    if (!real_nodes(step, &found_spacing))
        return 0;
    double last = step->edges[step->cells], spacing = hs_bigjump_longest_step(step, LARGE, 0.0, 0.0, 1.0, log_q - digits);
    spacing = smaller(smaller(spacing, found_spacing), 1.0);
    /* the first node: left of it nu is nothing */
    double deep = sqrt(2.0 * larger(1.0, digits - log_q + 4.0 + log1p(step->high))), from = step->high - deep * step->width;
    double low = from > 0.0 ? larger(LOW, hs_bigjump_place(run, from)) : LOW;
    if (!(spacing > 0.0))
        return 0;
    hs_grid_exact_places(&low, &spacing);
    double count = (last - low) / spacing + 2.0;
    if (!(1.0 <= count && count < MOST))
        return 0;
    Size n = step->nodes = (Size)count;
    if (!(step->rows = malloc((size_t)(11 * n) * sizeof(double))))
        return 0;
    double *z = step->rows, *ratio = z + n, *share = ratio + n, *base = share + n, *x = z + 4 * n, *moved = z + 5 * n;
    ThresholdValues at = {z + 6 * n, z + 7 * n, z + 8 * n, z + 9 * n, z + 10 * n};
    hs_grid_fill(z, x, n, low, spacing, run->noise, run->rate);
    double front = base[0] + 0.5 * z[0] * z[0];
    hs_bigjump_ratio_errors(run, z, ratio, share, n, moved);
    hs_exps(base, n);
    hs_bigjump_thresholds_at(run, step->high, step->width, z, ratio, x, n, &at);
    step->large = at.below, step->spare = at.above, step->front = front; /* the room is that of two rows */
    Exact q = {0.0, 0.0}, drift = {0.0, 0.0};
    double off_q = 0.0, off_drift = 0.0;
    for (Size j = 0; j < n; j++) {
        double large = base[j] * at.below[j],
               off = large * (at.below_error[j] + 3.0 * UNIT * z[j] * z[j] + (5.0 * FUNCTION + 8.0 * UNIT));
        add(&q, large);
        add(&drift, large * x[j]);
        off_q += off;
        off_drift += fabs(x[j]) * off + large * (1.0 + x[j]) * moved[j];
    }
    step->q = q.sum + q.rest;
    step->drift = drift.sum + drift.rest;
    /* section 7a, "Each on nodes of its own": right of the nodes; of the rule; left of the nodes, where |x| <= 1 + high: the
     * integral and the sum */
    step->before_large = exp(log_tail_bound(-z[0])) * hs_bigjump_g_above(at.y[0]);
    double beyond = exp(hs_grid_right_tail(run->noise, run->rate, 1.0, last) + M_LN2 * 2.0) + exp(log_q - digits);
    beyond += (3.0 * step->before_large + 2.0 * NEVER) * (1.0 + step->high);
    if (!(at.y[0] < 0.0 && step->drift > 0.0 && off_drift + beyond < 0.5 * step->drift && off_q + beyond < 0.5 * step->q))
        return 0;
    double together = (off_q + off_drift + 2.0 * beyond) / (step->q + step->drift);
    step->error = larger((off_q + beyond) / step->q, together) * (1.0 + 1e-6) + 8.0 * UNIT;
    step->drift_error = (off_drift + beyond) / step->drift * (1.0 + 1e-6) + 8.0 * UNIT;
    return 1;
}

/* An upper bound of E[(1 - nu) e^{kL}; z > end], where it falls if k/(1 + x) is at most the hazard of g over its width */
double hs_bigjump_tail_above(const ThresholdedStep *step, double k) {
    double x = step->last_x, y = (x - step->high) / step->width;
    if (!(k * step->width * step->width < (x - step->high) * (1.0 + x) && y > 5.0))
        return INFINITY;
    double log_of =
        -0.5 * y * y - log(y) - LOG_ROOT_TWO_PI + k * step->ratio[step->kept_cells] + log_tail_bound(step->edges[step->kept_cells]);
    return log_of < 700.0 ? exp(larger(log_of, -700.0)) * (1.0 + SLACK) : INFINITY;
}

/* e^y of what is confined, less 1 */
static inline double less_one(double y) {
    double scale, part;
    part_exp(y, &scale, &part);
    return scale * part + (scale - 1.0);
}

/* Upper bounds of e^{kL} - 1 - k x, k >= 1 or k < 0, k L < 700, but for the error of L */
WIDE static void remainders_of(const double *restrict ratio, const double *restrict x, Size n, double k, double *restrict found) {
    for (Size j = 0; j < n; j++)
        found[j] = larger(k * ratio[j], LEAST_EXPONENT);
    for (Size j = 0; j < n; j++) {
        double value = less_one(found[j]) - k * x[j];
        found[j] = value + 4.0 * FUNCTION * (fabs(value) + fabs(k * x[j]));
    }
}

/* Lemma 19e: an upper bound of phi - 1 = E (1 - nu) (e^{kL} - 1 - k x) - E nu - k E nu x, for real 1 <= k <= fast */
double hs_bigjump_excess_above(const ThresholdedStep *step, double k) {
    Size n = step->reals;
    double *z = step->real, *ratio = z + n, *log_weight = z + 2 * n, *weight = z + 3 * n, *x = z + 4 * n, *moved = z + 5 * n,
           *terms = z + 6 * n, *above = z + 7 * n, total;
    if (!(k * ratio[n - 1] < 700.0))
        return INFINITY;
    remainders_of(ratio, x, n, k, terms);
    for (Size j = 0; j < n; j++) /* an error of L moves it by k |e^{kL} - 1 - x| times itself */
        terms[j] += 1.01 * k * fabs(terms[j] + (k - 1.0) * x[j]) * moved[j];
    total = hs_dot(weight, terms, n);
    for (Size j = n; j-- > 0 && !(log_weight[j] > -700.0);) /* where the weight is no double */
        total += 2.0 * (above[j] + NEVER) * exp(smaller(log_weight[j] + k * ratio[j], 700.0));
    double left = step->before * (1.0 + k * step->run->rate),
           out = step->q * (1.0 - step->error - SLACK) + k * step->drift * (1.0 - step->drift_error - SLACK);
    return (total + left + exp(step->rule)) * (1.0 + SLACK) + hs_bigjump_tail_above(step, k) - out;
}

/* log of upper bounds of mid = E (kappa - nu) e^{kL} at some real k >= 1, by cells */
void hs_bigjump_log_middle_above(const ThresholdedStep *step, const double *k, int many, double *found) {
    Size n = step->kept_cells;
    double *share = step->space, *y = share + n, *factor = y, *rest = factor + n, inverse = 1.0 / step->low_width;
    for (Size j = 0; j < n; j++)
        y[j] = (step->x[j + 1] - step->low) * inverse;
    hs_normals(y, n, share, rest);
    inverse = 1.0 / step->width;
    for (Size j = 0; j < n; j++)
        y[j] = (step->x[j] - step->high) * inverse;
    hs_normals(y, n, rest + n, rest);
    for (Size j = 0; j < n; j++)
        share[j] = smaller(share[j], rest[j]) * (1.0 + 1e-9) + NEVER;
    for (int i = 0; i < many; i++) {
        for (Size j = 0; j < n; j++)
            factor[j] = step->log_mass[j] + k[i] * step->ratio[j + 1];
        hs_exps(factor, n);
        double first =
            step->left * hs_bigjump_g_above((step->x[0] - step->low) / step->low_width) + 1e-290; /* and what is no double */
        double total = (first + hs_dot(factor, share, n)) * (1.0 + SLACK) + hs_bigjump_tail_above(step, k[i]);
        found[i] = total < INFINITY ? log(total) + SLACK : INFINITY;
    }
}

/* For Lemma 19a: an upper bound of E e^{-kL} - 1, k > 0, by cells: e^{-kL} - 1 + k x falls to 0 at L = 0 and grows from there on */
double hs_bigjump_reverse_above(const ThresholdedStep *step, double k) {
    double rate = step->run->rate, deep = -k * log1p(-rate), *remainder = step->space;
    if (!(deep < 600.0))
        return INFINITY;
    remainders_of(step->ratio, step->x, step->cells + 1, -k, remainder);
    for (Size j = 0; j < step->cells; j++)
        remainder[j] = larger(larger(remainder[j], remainder[j + 1]), 0.0);
    double inside = hs_dot(remainder, step->mass, step->cells);
    for (Size j = step->cells; j-- > 0 && !(step->log_mass[j] > -700.0);)
        inside += k * step->mass_x[j]; /* where the mass is no double, k x times it */
    double left = step->left * (exp(deep) * (1.0 + 1e-12) + k * rate);
    double right = k * exp(hs_grid_right_tail(step->run->noise, rate, 1.0, step->edges[step->cells]));
    return (inside + left + right) * (1.0 + SLACK) + 1e-290;
}

/* For Lemma 19a: upper bounds of E[nu; z < edge] and E[nu e^{-k(L - pivot)}; z > edge] for a node as an edge, for some k > 0: of
   those the one for which the first and e^height times the second are least */
void hs_bigjump_large_above(const ThresholdedStep *step, const double *k, int many, double pivot, const double *height,
                            double *left_of, double *right_of) {
    const double *z = step->rows, *ratio = z + step->nodes;
    Size last = step->nodes - 1;
    double *mass = step->spare, *raised = mass + step->nodes, *lower = step->rows + 3 * step->nodes;
    for (Size j = 0; j < last; j++) { /* between nodes, and left of them */
        double zero = z[j] > 0.0 ? z[j] : smaller(z[j + 1], 0.0);
        mass[j] = step->front - 0.5 * zero * zero;
    }
    hs_exps(mass, last);
    lower[0] = step->before_large + 2.0 * NEVER;
    for (Size j = 0; j < last; j++) {
        mass[j] = mass[j] * (step->large[j + 1] * (1.0 + 1e-9) + NEVER);
        lower[j + 1] = lower[j] + mass[j];
    }
    for (int i = 0; i < many; i++) {
        double beyond = log_tail_bound(z[last]) + k[i] * (pivot - ratio[last]),
               far = beyond < 700.0 ? exp(beyond) + 1e-290 : INFINITY;
        double factor = exp(smaller(height[i], 600.0)), best = INFINITY;
        left_of[i] = right_of[i] = INFINITY;
        for (Size j = 0; j < last; j++)
            raised[j] = k[i] * (pivot - ratio[j]);
        hs_exps(raised, last);
        for (Size j = last; j > 0; j--) {
            double total = lower[j] + factor * far;
            if (total < best) {
                best = total;
                left_of[i] = lower[j] * (1.0 + 2.0 * SLACK);
                right_of[i] = far * (1.0 + 2.0 * SLACK);
            } else if (factor * far > best) {
                break; /* it grows from here on */
            }
            far += mass[j - 1] * raised[j - 1];
        }
    }
}
