/* Twins of loss/bigjump/cells.py: the moduli of thresholded steps off the real line, and what follows from them. */
#include "bigjump_loops.h"
#include "bigjump_step.h"

enum { LEVELS = 32, SCANNED = 8, PIECES = 16, TURNS = 8 };
static const double ANGLES[TURNS] = {0.08, 0.15, 0.25, 0.35, 0.45, 0.55, 0.65, 0.74};
#define LOG_NEGLIGIBLE 30.0 /* -log of a relative size below which terms are counted, not summed */

/* An upper bound of log of the normal distribution function (Mills' ratio on the left) */
static double log_g(double y) {
    if (y > 8.0)
        return 0.0;
    return y > -5.0 ? log(0.5 * erfc(-M_SQRT1_2 * y)) : -0.5 * y * y - log(-y) - LOG_ROOT_TWO_PI;
}

static double log_sum(double a, double b) {
    double most = larger(a, b), least = smaller(a, b);
    return least < most - 50.0 || most == -INFINITY ? most + 1e-15 : most + log1p(exp(least - most));
}

/* log of bounds of |1 - g| and |g| on a cell (Lemma 19c: |g(a + ib)| <= g(a) + b e^{b^2/2} g'(a)), at every angle between two: the
   cosine and sine of the larger, the cosine of the smaller */
static void threshold_moduli(const BroadStep *step, Size cell, double cosine, double sine, double lower, double threshold,
                             double width, double *below, double *above) {
    double left = (step->x_plus_rate[cell] * cosine - (step->rate + threshold)) / width,
           b = step->x_plus_rate[cell + 1] * sine / width;
    double right = (step->x_plus_rate[cell + 1] * lower - (step->rate + threshold)) / width;
    double near = left > 0.0 ? left : smaller(right, 0.0);
    double bulge = log(larger(b, 1e-300)) + 0.5 * (b - near) * (b + near) - LOG_ROOT_TWO_PI;
    *below = *above = bulge + 1e-15;
    if (bulge < 40.0) { /* or it is all there is */
        *below = log_sum(log_g(-left), bulge);
        *above = log_sum(log_g(right), bulge);
    }
}

/* log of a bound of the thresholds' factor in the integrand on a cell */
static double modulus_of(const BroadStep *step, Size cell, double cosine, double sine, double lower) {
    double rest, large, small, not_small;
    threshold_moduli(step, cell, cosine, sine, lower, step->high, step->high_width, &rest, &large);
    if (step->kind == LARGE)
        return large;
    double middle = rest;
    if (step->low > 0.0) {
        threshold_moduli(step, cell, cosine, sine, lower, step->low, step->low_width, &small, &not_small);
        middle = smaller(log_sum(not_small, large), log_sum(small, rest));
    }
    return step->kind == MIDDLE ? middle : log_sum(rest, middle);
}

/* log of a bound of the integrand with the normal density, at every angle between two */
static double integrand(const BroadStep *step, Size cell, double angle, double lower) {
    double cosine = cos(angle), sine = sin(angle), r = step->share[cell + 1], height = step->noise * angle;
    double left = step->edges[cell], near = left > 0.0 ? left : smaller(step->edges[cell + 1], 0.0);
    double turned = step->reach > 0.0 ? step->reach * atan2(r * sine, 1.0 - r * (1.0 - cosine)) : 0.0;
    double modulus = modulus_of(step, cell, cosine, sine, cos(lower)) + log_sum(step->tilt[cell] + turned, step->plain[cell]);
    return modulus + 0.5 * (height - near) * (height + near) - LOG_ROOT_TWO_PI;
}

typedef struct {
    double *along, heights[LEVELS], angles[LEVELS]; /* along: log of the integrand, a row of LEVELS for each cell; NaN: not known */
    int *best;
} Rule;

static double known(Rule *rule, const BroadStep *step, Size cell, int level) {
    double *at = &rule->along[cell * LEVELS + level];
    if (isnan(*at))
        *at = integrand(step, cell, rule->angles[level], rule->angles[level]);
    return *at;
}

/* A level at which the cell's term is smaller than one level up or down, from another on */
static int nearby(Rule *rule, const BroadStep *step, const double *kernel, Size cell, int level) {
    double value = known(rule, step, cell, level) - kernel[level], other;
    for (int way = 1; way >= -1; way -= 2)
        for (int next = level + way; next >= 0 && next < LEVELS; next += way) {
            if (!((other = known(rule, step, cell, next) - kernel[next]) < value))
                break;
            value = other;
            level = next;
        }
    return level;
}

/* A bound of the integral straight up at the right edge of a cell, from the level below to this one; the bounds of both its cells
   hold there.  In more and more pieces, if that matters. */
static double between(const Rule *rule, const BroadStep *step, Size cell, int level, double kernel, double goal) {
    double high = rule->angles[level], low = rule->angles[level + 1], total = INFINITY;
    for (int pieces = 1; pieces <= PIECES && total > 1e-3 * goal; pieces *= 4) {
        total = 0.0;
        for (int piece = 0; piece < pieces; piece++) {
            double lower = low + (high - low) * piece / pieces, angle = low + (high - low) * (piece + 1) / pieces;
            double here = integrand(step, cell, angle, lower), there = integrand(step, cell + 1, angle, lower);
            total += exp(smaller(smaller(here, there) - kernel, 700.0)) * (step->noise * (high - low) / pieces);
        }
    }
    return total;
}

/* A bound of the error of the trapezoidal rule (docs/mathematics.md, Lemma 19d): along any two paths z + ia and z - ia that the
   cells choose, and upright between cells of different heights */
static double rule_bound(Rule *rule, const BroadStep *step, double spacing, double beyond, double goal) {
    double kernel[LEVELS], total = 0.0, upright = 0.0, width = step->edges[1] - step->edges[0], first = 0.0;
    Size last = step->cells - 1;
    int *best = rule->best;
    for (int level = 0; level < LEVELS; level++) {
        double rise = 2.0 * PI / spacing * rule->heights[level];
        kernel[level] = rise + log(-expm1(-rise));
    }
    for (Size cell = 0; cell <= last; cell++) {
        best[cell] = nearby(rule, step, kernel, cell, cell ? best[cell - 1] : 0);
        for (int level = 0; level < LEVELS && cell % SCANNED == 0; level++)
            if (known(rule, step, cell, level) - kernel[level] < known(rule, step, cell, best[cell]) - kernel[best[cell]])
                best[cell] = level;
    }
    for (Size cell = last; cell-- > 0;) {
        int level = nearby(rule, step, kernel, cell, best[cell + 1]);
        if (known(rule, step, cell, level) - kernel[level] < known(rule, step, cell, best[cell]) - kernel[best[cell]])
            best[cell] = level;
    }
    best[last] = LEVELS - 1;
    for (Size cell = 1; cell <= last; cell++) /* by no more than two heights from cell to cell, the lower the better */
        best[cell] = best[cell] < best[cell - 1] - 2 ? best[cell - 1] - 2 : best[cell];
    for (Size cell = last; cell > 0; cell--)
        best[cell - 1] = best[cell - 1] < best[cell] - 2 ? best[cell] - 2 : best[cell - 1];
    for (Size cell = 0; cell <= last; cell++) {
        double one = exp(smaller(known(rule, step, cell, best[cell]) - kernel[best[cell]], 700.0));
        if (cell == 0)
            first = one;
        total += one;
        if (cell < last && best[cell] != best[cell + 1]) {
            int over = best[cell] < best[cell + 1] ? best[cell] : best[cell + 1], down = best[cell] + best[cell + 1] - over;
            for (; over < down; over++)
                upright += between(rule, step, cell, over, kernel[over + 1], goal);
        }
    }
    double lowest = rule->heights[LEVELS - 1], right = exp(smaller(beyond + 0.5 * lowest * lowest - kernel[LEVELS - 1], 700.0));
    return 2.0 * (total * width + first + upright + right) * (1.0 + SLACK);
}

/* log of the integral right of the cells on the lowest line, where the integrand falls there from the last cell on */
static double falling(const Rule *rule, const BroadStep *step) {
    double end = step->edges[step->cells], left = step->edges[step->cells - 1], lowest = rule->heights[LEVELS - 1];
    double last = integrand(step, step->cells - 1, rule->angles[LEVELS - 1], rule->angles[LEVELS - 1]) + LOG_ROOT_TWO_PI;
    double near = left > 0.0 ? left : smaller(end, 0.0);
    return last + 0.5 * (near * near - lowest * lowest) + log_tail_bound(end);
}

/* About the longest step whose bound is below the goal, and that bound; 0 if there is none */
static double longest_step(Rule *rule, const BroadStep *step, double beyond, double goal, double *found) {
    double low = log(0.01 * step->noise), high = log(step->noise), error = rule_bound(rule, step, exp(low), beyond, goal);
    if (error < goal) { /* longer and longer, then by halves */
        double stride = 0.2, next;
        *found = error;
        while ((next = low + stride) < high && (error = rule_bound(rule, step, exp(next), beyond, goal)) < goal) {
            low = next;
            *found = error;
            stride *= 2.0;
        }
        high = smaller(next, high);
    } else {
        double stride = 0.2, least = log(1e-5 * step->noise);
        do {
            high = low;
            low -= stride;
            stride *= 2.0;
        } while (low > least && !((*found = rule_bound(rule, step, exp(low), beyond, goal)) < goal));
        if (!(*found < goal))
            low = -INFINITY;
    }
    while (high - low > 0.05 && low > -INFINITY) {
        double middle = 0.5 * (low + high);
        error = rule_bound(rule, step, exp(middle), beyond, goal);
        if (error < goal) {
            low = middle;
            *found = error;
        } else {
            high = middle;
        }
    }
    return low > -INFINITY ? exp(low) : 0.0;
}

int hs_bigjump_rule(const BroadStep *step, double log_goal, double beyond, double *longest, double *error) {
    Rule rule = {NULL, {0.0}, {0.0}, NULL};
    rule.along = malloc((size_t)(step->cells * LEVELS) * sizeof(double));
    rule.best = malloc((size_t)step->cells * sizeof(int));
    int room = rule.along && rule.best;
    *longest = *error = 0.0;
    if (room) {
        for (Size i = 0; i < step->cells * LEVELS; i++)
            rule.along[i] = NAN;
        for (int level = 0; level < LEVELS; level++) {
            rule.angles[level] = level ? 0.8 * rule.angles[level - 1] : 0.74;
            rule.heights[level] = step->noise * rule.angles[level];
        }
        *longest = longest_step(&rule, step, beyond == -INFINITY ? falling(&rule, step) : beyond, exp(log_goal), error);
    }
    free(rule.along);
    free(rule.best);
    return room;
}

/* Lemma 19c: by the line at one angle, unless the integrand may grow beyond the cells; room for two rows */
static void far_on_line(const BroadStep *step, double angle, double k, double last_x, double log_left, const double *u, Size many,
                        double *out, double *space) {
    double *log_f = space, *arg = space + step->cells, log_width = log(step->edges[1] - step->edges[0]);
    double cosine = cos(angle), sine = sin(angle), least = log_tail_bound(step->edges[step->cells]);
    double hazard = (last_x * cos(2.0 * angle) - step->high - step->rate) / (step->high_width * step->high_width);
    if (!(0.9 * hazard > k / (1.0 + last_x) + 1.0 / last_x))
        return;
    for (Size cell = 0; cell < step->cells; cell++) {
        double r = step->share[cell];
        log_f[cell] = integrand(step, cell, angle, angle) + log_width;
        arg[cell] = atan2(r * sine, 1.0 - r * (1.0 - cosine));
    }
    /* what the density is not part of, at both ends */
    double height = 0.5 * step->noise * angle * step->noise * angle,
           right = modulus_of(step, step->cells - 1, cosine, sine, cosine);
    right += step->tilt[step->cells - 1] + height + least;
    double before = modulus_of(step, 0, cosine, sine, cosine) + step->tilt[0] + height + log_left;
    double ends = larger(larger(right, before), -700.0) + M_LN2;
    for (Size i = 0; i < many; i++) {
        double top = -INFINITY, inside = 0.0;
        for (Size cell = 0; cell < step->cells; cell++)
            top = larger(top, log_f[cell] - arg[cell] * u[i]);
        for (Size cell = 0; cell < step->cells; cell++) {
            double one = log_f[cell] - arg[cell] * u[i] - top;
            inside += one > -LOG_NEGLIGIBLE ? exp(one) : 0.0;
        }
        inside += (double)step->cells * exp(-LOG_NEGLIGIBLE);
        out[i] = smaller(out[i], log_sum(top + log(inside), ends));
    }
}

int hs_bigjump_log_moduli(const BroadStep *step, double k, double last_x, double log_left, const double *u, Size many,
                          double *out) {
    double *space = malloc((size_t)(2 * step->cells) * sizeof(double));
    if (!space)
        return 0;
    for (Size i = 0; i < many; i++)
        out[i] = INFINITY;
    for (int turn = 0; turn < TURNS; turn++)
        far_on_line(step, ANGLES[turn], k, last_x, log_left, u, many, out, space);
    for (Size i = 0; i < many; i++)
        out[i] += 2.0 * SLACK;
    free(space);
    return 1;
}

int hs_bigjump_threshold_sums(const double *x, Size n, const double *table, Size rows, const double *cuts, Size many,
                              double threshold, double width, double *out) {
    double *g = malloc((size_t)n * sizeof(double));
    if (!g)
        return 0;
    for (Size j = 0; j < n; j++) {
        double y = (x[j] - threshold) / width;
        g[j] = y > 8.5 ? 1.0 : y < -38.0 ? 0.0 : 0.5 * erfc(-M_SQRT1_2 * y);
    }
    for (Size place = 0; place < many; place++) {
        Size from = (Size)larger(0.0, cuts[place]), end = n;
        if (place + 1 < many && cuts[place + 1] < (double)n)
            end = (Size)larger(0.0, cuts[place + 1]);
        for (Size row = 0; row < rows; row++) {
            const double *at = table + row * n;
            double parts[4] = {0.0, 0.0, 0.0, 0.0}; /* side by side */
            Size j = from;
            for (; j + 4 <= end; j += 4)
                for (int i = 0; i < 4; i++)
                    parts[i] += at[j + i] * g[j + i];
            for (; j < end; j++)
                parts[0] += at[j] * g[j];
            out[row * many + place] = (parts[0] + parts[1]) + (parts[2] + parts[3]);
        }
    }
    free(g);
    return 1;
}

/* A bound of the sum of weight (e^{kL} - 1 - k x) over cells, at whose ends L and x are given; inf where it is no double.
   e^{kL} - 1 - k x falls to 0 at L = 0 and grows from there on. */
double hs_bigjump_remainder_sum(const double *ratio, const double *x, const double *weight, Size cells, double k) {
    double total = 0.0, before = 0.0, log_before = 0.0;
    for (Size i = 0; i <= cells; i++) {
        double y = k * ratio[i], value;
        if (fabs(ratio[i]) * larger(fabs(k), 1.0) < 1e-3) {
            value = 0.5 * k * (k - 1.0) * ratio[i] * ratio[i] * (1.0 + 1e-3);
        } else {
            value = expm1(smaller(y, 10.0)) - k * x[i];
            value += 4.0 * FUNCTION * (fabs(value) + fabs(k) * fabs(x[i]));
        }
        if (i) {
            double most = larger(y, log_before), log_weight = weight[i - 1];
            double near = larger(larger(value, before), 0.0) * exp(log_weight);
            total += most > 9.0 ? exp(most + log_weight) + (ratio[i] > 0.0 && ratio[i - 1] < 0.0 ? near : 0.0) : near;
        }
        before = value;
        log_before = y;
    }
    return total < 1e300 ? total : INFINITY;
}
