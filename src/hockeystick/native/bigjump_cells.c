/* Twin of loss/bigjump/cells.py: cells of the noise of a thresholded step, and the step of the trapezoidal rule
   for it.  Lemmas 19b, 19c and 19d of docs/mathematics.md. */
#include "bigjump_step.h"
#include "elementary.h"
#include "gaussian_grid.h"

enum { BROAD = 4000, ANGLES = 12 };
#define LOW (-11.5) /* where the noise begins */
#define WIDEST 0.34 /* angle of a line */

/* An upper bound of the normal distribution function */
double hs_bigjump_g_above(double y) { return y > 8.5 ? 1.0 : y < -37.0 ? NEVER : 0.5 * erfc(-M_SQRT1_2 * y) * (1.0 + 1e-12); }

/* Room for the cells; 0 if there would be too many, or no memory */
int hs_bigjump_cells(ThresholdedStep *step, const Run *run, const ThresholdGuide *guide, double most, double fast) {
    double noise = run->noise, narrow = smaller(noise, 1.0), high = guide->high, width = guide->width;
    /* (1 - nu) e^{kL} falls from `end` on, since the hazard of g is at least its argument; beyond `far` P has e^-50 of what is
     * large */
    double end = hs_bigjump_place(run, high + 60.0 * width + 1.5 * most * width * width / (1.0 + high));
    double far = 1.0 / noise + hypot(larger(hs_bigjump_place(run, high) - 1.0 / noise, 0.0), 10.0), last = larger(end, far);
    *step = (ThresholdedStep){.run = run, .high = high, .width = width, .left = exp(log_tail_bound(-LOW)), .fast = fast};
    step->low = guide->low;
    step->low_width = guide->low_width;
    if (!(last / noise < 300.0 && last - LOW < 300.0 * narrow))
        return 0;
    if (step->low > 0.0 && !(0.0 < step->low_width && step->low_width <= width && step->low < high &&
                             (run->rate + step->low) * width <= (run->rate + high) * step->low_width))
        return 0; /* or what is large may be small: Lemma 19b */
    Size cells = (Size)((last - LOW) / (0.1 * narrow)) + 2, n = cells + 1;
    if (cells > BROAD || !(step->edges = malloc((size_t)(12 * n) * sizeof(double))))
        return 0;
    step->cells = cells;
    step->cell = (last - LOW) / (double)cells;
    step->ratio = step->edges + n, step->share = step->edges + 2 * n, step->mass = step->edges + 3 * n,
    step->x = step->edges + 4 * n;
    step->log_mass = step->edges + 5 * n, step->mass_x = step->edges + 6 * n, step->x_plus_rate = step->edges + 7 * n;
    step->space = step->edges + 8 * n;
    hs_grid_fill(step->edges, step->x, n, LOW, step->cell, noise, run->rate);
    double front = log(step->cell) - LOG_ROOT_TWO_PI + SLACK;
    for (Size j = 0; j < cells; j++) {
        double near = larger(step->edges[j], smaller(step->edges[j + 1], 0.0));
        step->mass[j] = step->log_mass[j] = front - 0.5 * near * near;
    }
    hs_exps(step->mass, cells);
    for (Size j = 0; j < n; j++)
        step->x_plus_rate[j] = step->share[j] * (1.0 + step->x[j]);
    for (Size j = 0; j < cells; j++) /* where the mass is no double, four times more than enough */
        step->mass_x[j] = step->log_mass[j] > -700.0 ? step->mass[j] * larger(step->x[j + 1], 0.0)
                                                     : 4.0 * exp(step->log_mass[j] + larger(step->ratio[j + 1], 0.0));
    for (step->kept_cells = 1; step->kept_cells < cells && step->edges[step->kept_cells] < end;)
        step->kept_cells++;
    step->last_x = step->x[step->kept_cells];
    return 1;
}

void hs_bigjump_free(ThresholdedStep *step) {
    free(step->edges);
    free(step->real);
    free(step->rows);
}

/* Bounds of |1 - g| and of |g| on cells, on the line z + i noise angle, for one threshold: (x - X)/W is a + ib there, and Lemma 19c
   has |g| <= min(1/2, 0.54/b) e^{(b^2 - a^2)/2} for a <= 0, the same of 1 - g for a > 0, at the place of the cell next to a = 0 */
WIDE static void exponents_of(const double *restrict x_plus_rate, Size cells, double cosine, double sine, double mean,
                              double inverse, double *restrict below) {
    for (Size j = 0; j < cells; j++) {
        double left = x_plus_rate[j] * inverse * cosine - mean, b = x_plus_rate[j + 1] * inverse, right = b * cosine - mean;
        double near = larger(left, smaller(right, 0.0)); /* of a cell the place next to 0 */
        below[j] = 0.5 * (b * sine - near) * (b * sine + near);
    }
}

WIDE static void sides_of(const double *restrict x_plus_rate, Size cells, double cosine, double sine, double mean, double inverse,
                          double *restrict below, double *restrict above) {
    for (Size j = 0; j < cells; j++) { /* what is less than NEVER may be 0 */
        below[j] = smaller(0.5, 0.54 / (x_plus_rate[j] * inverse * sine)) * below[j] + NEVER;
        above[j] = below[j];
    }
    for (Size j = 0; j < cells; j++) {
        below[j] += x_plus_rate[j] * inverse * cosine - mean > 0.0 ? 0.0 : 1.0;
        above[j] += x_plus_rate[j + 1] * inverse * cosine - mean < 0.0 ? 0.0 : 1.0;
    }
}

static void both_sides(const ThresholdedStep *step, Size from, Size cells, double cosine, double sine, double threshold,
                       double width, double *below, double *above) {
    double inverse = 1.0 / width, mean = (step->run->rate + threshold) * inverse;
    exponents_of(step->x_plus_rate + from, cells, cosine, sine, mean, inverse, below);
    hs_exps(below, cells);
    sides_of(step->x_plus_rate + from, cells, cosine, sine, mean, inverse, below, above);
}

/* Bounds of |nu|, |1 - nu| or |kappa - nu| on cells from one on; there is room for as many thrice */
void hs_bigjump_shifted_moduli(const ThresholdedStep *step, Size from, Size cells, double cosine, double sine, int kind,
                               double *found, double *room) {
    double *large = room, *small = room + cells, *not_small = room + 2 * cells;
    both_sides(step, from, cells, cosine, sine, step->high, step->width, found, large);
    if (kind == LARGE)
        memcpy(found, large, (size_t)cells * sizeof(double));
    if (kind == LARGE || kind == NOT_LARGE || !(step->low > 0.0))
        return;
    both_sides(step, from, cells, cosine, sine, step->low, step->low_width, small, not_small);
    for (Size j = 0; j < cells; j++)
        found[j] = smaller(not_small[j] + large[j], small[j] + found[j]);
}

/* Section 7a, "One straight line": whether, on that line, the bounds fall right of the cells: |1 - g| in any case, with e^{kL}, |Im
 * k| <= reach, and x beside it */
int hs_bigjump_falls_beyond(const ThresholdedStep *step, double x, double angle, double k, double reach) {
    double hazard = (x * cos(2.0 * angle) - step->high - step->run->rate) / (step->width * step->width);
    return 0.9 * hazard > (k + 2.0 * angle * reach) / (1.0 + x) + 2.0 / x;
}

/* log of e^{kL}, |Im k| <= reach, on a line, times the mass of a cell */
WIDE static void tilts_of(const double *restrict log_mass, const double *restrict ratio, const double *restrict share, Size cells,
                          double cosine, double sine, double k, double reach, double *restrict found) {
    for (Size j = 0; j < cells; j++) /* the last is at least reach arg */
        found[j] = log_mass[j] + k * ratio[j] + reach * (share[j] * sine / (1.0 - share[j] * (1.0 - cosine)));
}

/* log of a bound of the integral of the modulus along the line: of nu (1 + 2 q + x), of (kappa - nu) e^{kL}, or of (1 - nu) times
   e^{kL} and 1 + size (2 q + x) */
static double along_line(const ThresholdedStep *step, double angle, int kind, double k, double reach, double size) {
    double cosine = cos(angle), sine = sin(angle), rate = step->run->rate, height = step->run->noise * angle;
    double plain = kind == MIDDLE  ? 0.0
                   : kind == LARGE ? 2.0 * rate
                                   : 1.0 + 2.0 * size * rate,
           x_factor = kind == NOT_LARGE ? size : 0.0;
    Size stop = kind == LARGE ? step->cells : step->kept_cells, last = stop - 1;
    double edge = step->edges[stop], x = step->x[stop], *modulus = step->space, *room = modulus + stop, *tilted = room;
    if (kind == LARGE)
        k = 1.0, reach = 0.0;
    if (!hs_bigjump_falls_beyond(step, x, angle, kind == LARGE ? 0.0 : k, reach))
        return INFINITY;
    hs_bigjump_shifted_moduli(step, 0, stop, cosine, sine, kind, modulus, room);
    tilts_of(step->log_mass, step->ratio + 1, step->share + 1, stop, cosine, sine, k, reach, tilted);
    hs_exps(tilted, stop);
    for (Size j = 0; j < stop; j++)
        tilted[j] += plain * step->mass[j] + x_factor * step->mass_x[j];
    /* left of the cells the density falls, its integral is below its value at the edge, and nothing else grows */
    double total =
        hs_dot(modulus, tilted, stop) + modulus[0] * tilted[0] / step->cell + 1e-290; /* the last for what is no double */
    if (kind == LARGE) { /* right of them |nu| <= 2, as 1 and what falls */
        double beyond = hs_grid_right_tail(step->run->noise, rate, 1.0, edge);
        if (!(modulus[last] <= 2.0 && beyond < 700.0))
            return INFINITY;
        total += 6.0 * exp(beyond);
    } else {
        double log_mass = log_tail_bound(edge), r = step->share[stop], turned = reach * (r * sine / (1.0 - r * (1.0 - cosine)));
        double one = exp(log_mass + k * step->ratio[stop] + turned), two = exp(log_mass + larger(step->ratio[stop], 0.0));
        total += modulus[last] * (one + (plain + 2.0 * x_factor) * two);
    }
    return total < 1e300 ? log(total) + 0.5 * height * height + SLACK : INFINITY; /* so, if it is no number */
}

/* The step at which the rule errs by at most e^log_goal, by this line: the error is at most twice the integral along it over
   e^{2 pi noise angle/step} - 1 */
static double step_by(const ThresholdedStep *step, double angle, int kind, double k, double reach, double size, double log_goal) {
    double rise = along_line(step, angle, kind, k, reach, size) + M_LN2 - log_goal;
    return rise < 1e6 ? 2.0 * PI * step->run->noise * angle / (larger(rise, 0.0) + log1p(exp(-fabs(rise)))) : 0.0;
}

/* Nearly the longest of those steps, which changes little with the angle; 0 if there is none */
double hs_bigjump_longest_step(const ThresholdedStep *step, int kind, double k, double reach, double size, double log_goal) {
    double noise = step->run->noise, sharp = (step->high + step->run->rate) / step->width;
    double angle = smaller(WIDEST, 5.0 / sqrt(sharp * sharp + noise * noise)), best = 0.0;
    for (int turn = 0; turn < ANGLES && !(best > 0.0); turn++, angle *= 0.75)
        best = step_by(step, angle, kind, k, reach, size, log_goal);
    return best * (1.0 - 1e-9);
}
