/* Twins of loss/bigjump/cells.py and loss/bigjump/transform.py: the large outcomes of a step are counted apart, and what is not
   large is bounded on the real axis.  Lemmas 19a, 19b, 19c and 19e of docs/mathematics.md. */
#include "elementary.h"

enum { BROAD = 4000, MOST = 1 << 16, ANGLES = 12 };
#define LOW (-11.5) /* where the noise begins */
#define WIDEST 0.34 /* angle of a line */
#define REAL 14.0   /* -log of the error of the rule on the real axis, times the count */

/* An upper bound of the normal distribution function */
double hs_bigjump_g_above(double y) { return y > 8.5 ? 1.0 : y < -37.0 ? NEVER : 0.5 * erfc(-M_SQRT1_2 * y) * (1.0 + 1e-12); }

/* Room for the cells; 0 if there would be too many, or no memory */
int hs_bigjump_cells(Marked *step, const Run *run, const Sketch *sketch, double most, double fast) {
    double noise = run->noise, narrow = smaller(noise, 1.0), high = sketch->high, width = sketch->width;
    /* (1 - nu) e^{kL} falls from `end` on, since the hazard of g is at least its argument; beyond `far` P has e^-50 of what is
     * large */
    double end = hs_bigjump_place(run, high + 60.0 * width + 1.5 * most * width * width / (1.0 + high));
    double far = 1.0 / noise + hypot(larger(hs_bigjump_place(run, high) - 1.0 / noise, 0.0), 10.0), last = larger(end, far);
    *step = (Marked){.run = run, .high = high, .width = width, .left = exp(log_tail_bound(-LOW)), .fast = fast};
    step->low = sketch->low;
    step->low_width = sketch->low_width;
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
    step->log_mass = step->edges + 5 * n, step->lifted = step->edges + 6 * n, step->shifted = step->edges + 7 * n;
    step->space = step->edges + 8 * n;
    hs_grid_fill(step->edges, step->x, n, LOW, step->cell, noise, run->rate);
    double front = log(step->cell) - LOG_ROOT_TWO_PI + SLACK;
    for (Size j = 0; j < cells; j++) {
        double near = larger(step->edges[j], smaller(step->edges[j + 1], 0.0));
        step->mass[j] = step->log_mass[j] = front - 0.5 * near * near;
    }
    hs_exps(step->mass, cells);
    for (Size j = 0; j < n; j++)
        step->shifted[j] = step->share[j] * (1.0 + step->x[j]);
    for (Size j = 0; j < cells; j++) /* where the mass is no double, four times more than enough */
        step->lifted[j] = step->log_mass[j] > -700.0 ? step->mass[j] * larger(step->x[j + 1], 0.0)
                                                     : 4.0 * exp(step->log_mass[j] + larger(step->ratio[j + 1], 0.0));
    for (step->kept = 1; step->kept < cells && step->edges[step->kept] < end;)
        step->kept++;
    step->last_x = step->x[step->kept];
    return 1;
}

void hs_bigjump_free(Marked *step) {
    free(step->edges);
    free(step->real);
    free(step->rows);
}

/* Bounds of |1 - g| and of |g| on cells, on the line z + i noise angle, for one mark (Lemma 19c) */
WIDE static void exponents_of(const double *restrict shifted, Size cells, double cosine, double sine, double mean, double inverse,
                              double *restrict below) {
    for (Size j = 0; j < cells; j++) {
        double left = shifted[j] * inverse * cosine - mean, b = shifted[j + 1] * inverse, right = b * cosine - mean;
        double near = larger(left, smaller(right, 0.0)); /* of a cell the place next to 0 */
        below[j] = 0.5 * (b * sine - near) * (b * sine + near);
    }
}

WIDE static void sides_of(const double *restrict shifted, Size cells, double cosine, double sine, double mean, double inverse,
                          double *restrict below, double *restrict above) {
    for (Size j = 0; j < cells; j++) { /* what is less than NEVER may be 0 */
        below[j] = smaller(0.5, 0.54 / (shifted[j] * inverse * sine)) * below[j] + NEVER;
        above[j] = below[j];
    }
    for (Size j = 0; j < cells; j++) {
        below[j] += shifted[j] * inverse * cosine - mean > 0.0 ? 0.0 : 1.0;
        above[j] += shifted[j + 1] * inverse * cosine - mean < 0.0 ? 0.0 : 1.0;
    }
}

static void both_sides(const Marked *step, Size from, Size cells, double cosine, double sine, double mark, double width,
                       double *below, double *above) {
    double inverse = 1.0 / width, mean = (step->run->rate + mark) * inverse;
    exponents_of(step->shifted + from, cells, cosine, sine, mean, inverse, below);
    hs_exps(below, cells);
    sides_of(step->shifted + from, cells, cosine, sine, mean, inverse, below, above);
}

/* Bounds of |nu|, |1 - nu| or |kappa - nu| on cells from one on; there is room for as many thrice */
void hs_bigjump_off_line(const Marked *step, Size from, Size cells, double cosine, double sine, int kind, double *found,
                         double *room) {
    double *heavy = room, *small = room + cells, *not_small = room + 2 * cells;
    both_sides(step, from, cells, cosine, sine, step->high, step->width, found, heavy);
    if (kind == LARGE)
        memcpy(found, heavy, (size_t)cells * sizeof(double));
    if (kind == LARGE || kind == KEPT || !(step->low > 0.0))
        return;
    both_sides(step, from, cells, cosine, sine, step->low, step->low_width, small, not_small);
    for (Size j = 0; j < cells; j++)
        found[j] = smaller(not_small[j] + heavy[j], small[j] + found[j]);
}

/* Whether, on that line, the bounds fall right of the cells: |1 - g| in any case, with e^{kL}, |Im k| <= reach, and x beside it */
int hs_bigjump_falls_beyond(const Marked *step, double x, double angle, double k, double reach) {
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
static double along_line(const Marked *step, double angle, int kind, double k, double reach, double size) {
    double cosine = cos(angle), sine = sin(angle), rate = step->run->rate, height = step->run->noise * angle;
    double plain = kind == MIDDLE ? 0.0 : kind == LARGE ? 2.0 * rate : 1.0 + 2.0 * size * rate, lifts = kind == KEPT ? size : 0.0;
    Size stop = kind == LARGE ? step->cells : step->kept, last = stop - 1;
    double edge = step->edges[stop], x = step->x[stop], *mark = step->space, *room = mark + stop, *grown = room;
    if (kind == LARGE)
        k = 1.0, reach = 0.0;
    if (!hs_bigjump_falls_beyond(step, x, angle, kind == LARGE ? 0.0 : k, reach))
        return INFINITY;
    hs_bigjump_off_line(step, 0, stop, cosine, sine, kind, mark, room);
    tilts_of(step->log_mass, step->ratio + 1, step->share + 1, stop, cosine, sine, k, reach, grown);
    hs_exps(grown, stop);
    for (Size j = 0; j < stop; j++)
        grown[j] += plain * step->mass[j] + lifts * step->lifted[j];
    /* left of the cells the density falls, its integral is below its value at the edge, and nothing else grows */
    double total = hs_dot(mark, grown, stop) + mark[0] * grown[0] / step->cell + 1e-290; /* the last for what is no double */
    if (kind == LARGE) { /* right of them |nu| <= 2, as 1 and what falls */
        double beyond = hs_grid_right_tail(step->run->noise, rate, 1.0, edge);
        if (!(mark[last] <= 2.0 && beyond < 700.0))
            return INFINITY;
        total += 6.0 * exp(beyond);
    } else {
        double log_mass = log_tail_bound(edge), r = step->share[stop], turned = reach * (r * sine / (1.0 - r * (1.0 - cosine)));
        double one = exp(log_mass + k * step->ratio[stop] + turned), two = exp(log_mass + larger(step->ratio[stop], 0.0));
        total += mark[last] * (one + (plain + 2.0 * lifts) * two);
    }
    return total < 1e300 ? log(total) + 0.5 * height * height + SLACK : INFINITY; /* so, if it is no number */
}

/* The step at which the rule errs by at most e^log_goal, by this line: the error is at most twice the integral along it over
   e^{2 pi noise angle/step} - 1 */
static double step_by(const Marked *step, double angle, int kind, double k, double reach, double size, double log_goal) {
    double rise = along_line(step, angle, kind, k, reach, size) + M_LN2 - log_goal;
    return rise < 1e6 ? 2.0 * PI * step->run->noise * angle / (larger(rise, 0.0) + log1p(exp(-fabs(rise)))) : 0.0;
}

/* Nearly the longest of those steps, which changes little with the angle; 0 if there is none */
double hs_bigjump_longest_step(const Marked *step, int kind, double k, double reach, double size, double log_goal) {
    double noise = step->run->noise, sharp = (step->high + step->run->rate) / step->width;
    double angle = smaller(WIDEST, 5.0 / sqrt(sharp * sharp + noise * noise)), best = 0.0;
    for (int turn = 0; turn < ANGLES && !(best > 0.0); turn++, angle *= 0.75)
        best = step_by(step, angle, kind, k, reach, size, log_goal);
    return best * (1.0 - 1e-9);
}

/* A bound of the error of t, at a node, whose place is exact: slip times 1/noise (|z| + 1/(2 noise)) */
static double slip_of(const Run *run) { return (3.0 * UNIT + 2.0 * run->noise_error) * (1.0 / run->noise); }

/* Bounds of the errors of L */
WIDE void hs_bigjump_ratio_errors(const Run *run, const double *restrict z, const double *restrict ratio,
                                  const double *restrict share, Size n, double *restrict moved) {
    double slip = slip_of(run), half = 0.5 / run->noise;
    for (Size j = 0; j < n; j++)
        moved[j] = share[j] * (slip * (fabs(z[j]) + half)) + (FUNCTION + 16.0 * UNIT) * fabs(ratio[j]);
}

/* Bounds of the shares by which g(y) and g(-y) err, y = (x - mark)/width: x + q errs by a share, NORMAL and y^2 come from g, and
   its logarithm has a slope of at most 1 + |y|, or where g > 1/2 of twice that times 1 - g */
WIDE static void slips_of(const Run *run, double mark, double width, const double *restrict z, const double *restrict ratio,
                          const double *restrict x, const double *restrict y, const double *restrict below,
                          const double *restrict above, Size n, double *restrict below_error, double *restrict above_error) {
    double slip = slip_of(run), half = 0.5 / run->noise, far = mark + run->rate, inverse = 1.0 / width;
    for (Size j = 0; j < n; j++) { /* |L| >= log(1 + |x|) */
        double off = (fabs(x[j]) + far) * inverse * (slip * (fabs(z[j]) + half) + (33.0 * UNIT) * (1.0 + fabs(ratio[j])));
        double lean = off * (1.0 + fabs(y[j])) + 4.0 * UNIT * y[j] * y[j];
        below_error[j] = NORMAL + smaller(lean, 2.0 * lean * above[j]);
        above_error[j] = NORMAL + smaller(lean, 2.0 * lean * below[j]);
    }
}

void hs_bigjump_marks_at(const Run *run, double mark, double width, const double *z, const double *ratio, const double *x, Size n,
                         Marks *at) {
    double inverse = 1.0 / width;
    for (Size j = 0; j < n; j++)
        at->y[j] = (x[j] - mark) * inverse;
    hs_normals(at->y, n, at->below, at->above);
    slips_of(run, mark, width, z, ratio, x, at->y, at->below, at->above, n, at->below_error, at->above_error);
}

/* Nodes for bounds of phi on the real axis: those of (1 - nu)(e^{kL} - 1 - k x), k <= fast; 0 if they are too many */
static int lay_real(Marked *step, double *apart) {
    const Run *run = step->run;
    double size = larger(1.0, step->fast), end = step->edges[step->kept];
    double spacing = hs_bigjump_longest_step(step, KEPT, step->fast, 0.0, size, step->rule = -REAL - log(run->count)),
           low = larger(LOW, -sqrt(2.0 * (2.0 + log(1.0 + step->fast * run->rate) - step->rule)));
    if (!(spacing > 0.0 && spacing < 1e3))
        return 0;
    hs_grid_exact_places(&low, &spacing);
    *apart = spacing;
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
int hs_bigjump_count_large(Marked *step, double log_q, double digits) {
    const Run *run = step->run;
    double apart; /* no farther apart: `large_above` is closer so */
    if (!lay_real(step, &apart))
        return 0;
    double last = step->edges[step->cells], spacing = hs_bigjump_longest_step(step, LARGE, 0.0, 0.0, 1.0, log_q - digits);
    spacing = smaller(smaller(spacing, apart), 1.0);
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
    Marks at = {z + 6 * n, z + 7 * n, z + 8 * n, z + 9 * n, z + 10 * n};
    hs_grid_fill(z, x, n, low, spacing, run->noise, run->rate);
    double front = base[0] + 0.5 * z[0] * z[0];
    hs_bigjump_ratio_errors(run, z, ratio, share, n, moved);
    hs_exps(base, n);
    hs_bigjump_marks_at(run, step->high, step->width, z, ratio, x, n, &at);
    step->large = at.below, step->room = at.above, step->front = front; /* the room is that of two rows */
    Exact q = {0.0, 0.0}, drift = {0.0, 0.0};
    double off_q = 0.0, off_drift = 0.0;
    for (Size j = 0; j < n; j++) {
        double mark = base[j] * at.below[j],
               off = mark * (at.below_error[j] + 3.0 * UNIT * z[j] * z[j] + (5.0 * FUNCTION + 8.0 * UNIT));
        add(&q, mark);
        add(&drift, mark * x[j]);
        off_q += off;
        off_drift += fabs(x[j]) * off + mark * (1.0 + x[j]) * moved[j];
    }
    step->q = q.sum + q.rest;
    step->drift = drift.sum + drift.rest;
    /* right of the nodes; of the rule; left of the nodes, where |x| <= 1 + high: the integral and the sum */
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
double hs_bigjump_beyond_kept(const Marked *step, double k) {
    double x = step->last_x, y = (x - step->high) / step->width;
    if (!(k * step->width * step->width < (x - step->high) * (1.0 + x) && y > 5.0))
        return INFINITY;
    double log_of = -0.5 * y * y - log(y) - LOG_ROOT_TWO_PI + k * step->ratio[step->kept] + log_tail_bound(step->edges[step->kept]);
    return log_of < 700.0 ? exp(larger(log_of, -700.0)) * (1.0 + SLACK) : INFINITY;
}

/* e^y of what is confined, less 1 */
static inline double less_one(double y) {
    double scale, part;
    part_exp(y, &scale, &part);
    return scale * part + (scale - 1.0);
}

/* Upper bounds of e^{kL} - 1 - k x, k >= 1 or k < 0, k L < 700, but for the error of L */
WIDE static void bends_of(const double *restrict ratio, const double *restrict x, Size n, double k, double *restrict found) {
    for (Size j = 0; j < n; j++)
        found[j] = larger(k * ratio[j], LEAST_EXPONENT);
    for (Size j = 0; j < n; j++) {
        double value = less_one(found[j]) - k * x[j];
        found[j] = value + 4.0 * FUNCTION * (fabs(value) + fabs(k * x[j]));
    }
}

/* An upper bound of phi - 1 = E (1 - nu) (e^{kL} - 1 - k x) - E nu - k E nu x, for real 1 <= k <= fast */
double hs_bigjump_not_large_above(const Marked *step, double k) {
    Size n = step->reals;
    double *z = step->real, *ratio = z + n, *log_weight = z + 2 * n, *weight = z + 3 * n, *x = z + 4 * n, *moved = z + 5 * n,
           *terms = z + 6 * n, *above = z + 7 * n, total;
    if (!(k * ratio[n - 1] < 700.0))
        return INFINITY;
    bends_of(ratio, x, n, k, terms);
    for (Size j = 0; j < n; j++) /* an error of L moves it by k |e^{kL} - 1 - x| times itself */
        terms[j] += 1.01 * k * fabs(terms[j] + (k - 1.0) * x[j]) * moved[j];
    total = hs_dot(weight, terms, n);
    for (Size j = n; j-- > 0 && !(log_weight[j] > -700.0);) /* where the weight is no double */
        total += 2.0 * (above[j] + NEVER) * exp(smaller(log_weight[j] + k * ratio[j], 700.0));
    double left = step->before * (1.0 + k * step->run->rate),
           out = step->q * (1.0 - step->error - SLACK) + k * step->drift * (1.0 - step->drift_error - SLACK);
    return (total + left + exp(step->rule)) * (1.0 + SLACK) + hs_bigjump_beyond_kept(step, k) - out;
}

/* log of upper bounds of mid = E (kappa - nu) e^{kL} at some real k >= 1, by cells */
void hs_bigjump_log_middle_above(const Marked *step, const double *k, int many, double *found) {
    Size n = step->kept;
    double *share = step->space, *y = share + n, *grown = y, *rest = grown + n, inverse = 1.0 / step->low_width;
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
            grown[j] = step->log_mass[j] + k[i] * step->ratio[j + 1];
        hs_exps(grown, n);
        double first =
            step->left * hs_bigjump_g_above((step->x[0] - step->low) / step->low_width) + 1e-290; /* and what is no double */
        double total = (first + hs_dot(grown, share, n)) * (1.0 + SLACK) + hs_bigjump_beyond_kept(step, k[i]);
        found[i] = total < INFINITY ? log(total) + SLACK : INFINITY;
    }
}

/* An upper bound of E e^{-kL} - 1, k > 0, by cells: e^{-kL} - 1 + k x falls to 0 at L = 0 and grows from there on */
double hs_bigjump_reverse_above(const Marked *step, double k) {
    double rate = step->run->rate, deep = -k * log1p(-rate), *bend = step->space;
    if (!(deep < 600.0))
        return INFINITY;
    bends_of(step->ratio, step->x, step->cells + 1, -k, bend);
    for (Size j = 0; j < step->cells; j++)
        bend[j] = larger(larger(bend[j], bend[j + 1]), 0.0);
    double inside = hs_dot(bend, step->mass, step->cells);
    for (Size j = step->cells; j-- > 0 && !(step->log_mass[j] > -700.0);)
        inside += k * step->lifted[j]; /* where the mass is no double, k x times it */
    double left = step->left * (exp(deep) * (1.0 + 1e-12) + k * rate);
    double right = k * exp(hs_grid_right_tail(step->run->noise, rate, 1.0, step->edges[step->cells]));
    return (inside + left + right) * (1.0 + SLACK) + 1e-290;
}

/* Upper bounds of E[nu; z < edge] and E[nu e^{-k(L - pivot)}; z > edge] for a node as an edge, for some k > 0: of those the one for
   which the first and e^height times the second are least */
void hs_bigjump_large_above(const Marked *step, const double *k, int many, double pivot, const double *height, double *light,
                            double *heavy) {
    const double *z = step->rows, *ratio = z + step->nodes;
    Size last = step->nodes - 1;
    double *mass = step->room, *raised = mass + step->nodes, *lower = step->rows + 3 * step->nodes;
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
        double grown = exp(smaller(height[i], 600.0)), best = INFINITY;
        light[i] = heavy[i] = INFINITY;
        for (Size j = 0; j < last; j++)
            raised[j] = k[i] * (pivot - ratio[j]);
        hs_exps(raised, last);
        for (Size j = last; j > 0; j--) {
            double total = lower[j] + grown * far;
            if (total < best) {
                best = total;
                light[i] = lower[j] * (1.0 + 2.0 * SLACK);
                heavy[i] = far * (1.0 + 2.0 * SLACK);
            } else if (grown * far > best) {
                break; /* it grows from here on */
            }
            far += mass[j - 1] * raised[j - 1];
        }
    }
}
