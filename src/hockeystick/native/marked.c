/* Twins of loss/parted_cells.py and loss/parted_step.py: the large outcomes of a step are counted apart, and what is not large is
   bounded on the real axis.  Lemmas 19a, 19b, 19c and 19e of docs/mathematics.md. */
#include "native.h"

enum { BROAD = 4000, MOST = 1 << 16, ANGLES = 12 };
#define LOW (-11.5) /* where the noise begins */
#define WIDEST 0.5 /* angle of a line */

/* An upper bound of the normal distribution function */
double g_above(double y) { return y > 8.5 ? 1.0 : y < -37.0 ? NEVER : 0.5 * erfc(-M_SQRT1_2 * y) * (1.0 + 1e-12); }

/* Room for the cells; 0 if there would be too many, or no memory */
int mark_cells(Marked *step, const Run *run, const Sketch *sketch, double most, double fast) {
    double noise = run->noise, narrow = smaller(noise, 1.0), high = sketch->high, width = sketch->width;
    /* (1 - nu) e^{kL} falls from `end` on, since the hazard of g is at least its argument; beyond `far` P has e^-50 of what is
     * large */
    double end = place_of(run, high + 60.0 * width + 1.5 * most * width * width / (1.0 + high));
    double far = 1.0 / noise + hypot(larger(place_of(run, high) - 1.0 / noise, 0.0), 10.0), last = larger(end, far);
    *step = (Marked){.run = run, .high = high, .width = width, .left = exp(log_tail_bound(-LOW)), .fast = fast};
    step->low = sketch->low;
    step->low_width = sketch->low_width;
    if (!(last / noise < 300.0 && last - LOW < 300.0 * narrow))
        return 0;
    if (step->low > 0.0 && !(0.0 < step->low_width && step->low_width <= width && step->low < high &&
                             (run->rate + step->low) * width <= (run->rate + high) * step->low_width))
        return 0; /* or what is large may be small: Lemma 19b */
    Size cells = (Size)((last - LOW) / (0.1 * narrow)) + 2, n = cells + 1;
    if (cells > BROAD || !(step->edges = malloc((size_t)(6 * n) * sizeof(double))))
        return 0;
    step->cells = cells;
    step->cell = (last - LOW) / (double)cells;
    step->ratio = step->edges + n, step->share = step->edges + 2 * n, step->x = step->edges + 4 * n,
    step->log_mass = step->edges + 5 * n;
    fill_rows(step->edges, step->x, n, LOW, step->cell, noise, run->rate);
    step->kept = cells;
    for (Size j = 0; j < n; j++) {
        if (j && step->kept == cells && step->edges[j] >= end)
            step->kept = j;
        if (j < cells) {
            double near = step->edges[j] > 0.0 ? step->edges[j] : smaller(step->edges[j + 1], 0.0);
            step->log_mass[j] = -0.5 * near * near + (log(step->cell) - LOG_ROOT_TWO_PI + SLACK);
        }
    }
    step->last_x = step->x[step->kept];
    return 1;
}

void forget(Marked *step) {
    free(step->edges);
    free(step->rows);
}

/* Bounds of |1 - g| and of |g| on a cell, on the line z + i noise angle, for one mark (Lemma 19c) */
static void both_sides(const Marked *step, Size cell, double cosine, double sine, double mark, double width, double *below,
                       double *above) {
    double far = step->run->rate + mark, inverse = 1.0 / width;
    double low = step->share[cell] * (1.0 + step->x[cell]) * inverse,
           b = step->share[cell + 1] * (1.0 + step->x[cell + 1]) * inverse;
    double left = low * cosine - far * inverse, right = b * cosine - far * inverse, near = left > 0.0 ? left : smaller(right, 0.0);
    b *= sine;
    double exponent = 0.5 * (b - near) * (b + near), bulge = 0.0;
    if (exponent > -700.0) /* or it is less than NEVER */
        bulge = exponent < 700.0 ? bulge_at(low * sine) * exp(exponent) : INFINITY;
    *below = (left > 0.0 ? 0.0 : 1.0) + bulge + NEVER;
    *above = (right < 0.0 ? 0.0 : 1.0) + bulge + NEVER;
}

/* A bound of |nu|, |1 - nu| or |kappa - nu| */
double off_line(const Marked *step, Size cell, double cosine, double sine, int kind) {
    double rest, heavy, small, not_small;
    both_sides(step, cell, cosine, sine, step->high, step->width, &rest, &heavy);
    if (kind == LARGE || kind == KEPT || !(step->low > 0.0))
        return kind == LARGE ? heavy : rest;
    both_sides(step, cell, cosine, sine, step->low, step->low_width, &small, &not_small);
    return smaller(not_small + heavy, small + rest);
}

/* Whether, on that line, the bounds fall right of the cells: |1 - g| in any case, with e^{kL}, |Im k| <= reach, and x beside it */
int falls_beyond(const Marked *step, double x, double angle, double k, double reach) {
    double hazard = (x * cos(2.0 * angle) - step->high - step->run->rate) / (step->width * step->width);
    return 0.9 * hazard > (k + 2.0 * angle * reach) / (1.0 + x) + 2.0 / x;
}

/* log of a bound of the integral of the modulus along the line: of nu (1 + 2 q + x), or of (1 - nu) times e^{kL} and 1 + size (2 q
 * + x) */
static double along_line(const Marked *step, double angle, int kind, double k, double reach, double size) {
    int large = kind == LARGE;
    double cosine = cos(angle), sine = sin(angle), rate = step->run->rate, height = step->run->noise * angle, total = 0.0,
           mark = 0.0, tilt;
    Size stop = large ? step->cells : step->kept;
    double grown = 0.0, plain = 0.0, edge = step->edges[stop];
    if (!falls_beyond(step, step->x[stop], angle, k, reach))
        return INFINITY;
    for (Size cell = 0; cell <= stop; cell++) {
        Size right = cell < stop ? cell + 1 : stop;
        double r = step->share[right], l = step->ratio[right], x = step->x[right];
        double log_mass = cell < stop ? step->log_mass[cell] : log_tail_bound(edge);
        if (cell < stop)
            mark = off_line(step, cell, cosine, sine, kind);
        if (large) {
            tilt = log_mass + l;
            plain = 2.0 * rate * exp(log_mass);
        } else {
            double turned = reach * (r * sine / (1.0 - r * (1.0 - cosine))); /* at least reach arg */
            tilt = log_mass + k * l + turned;
            plain = log_mass > -700.0 ? exp(log_mass) * (1.0 + size * (2.0 * rate + x))
                                      : (1.0 + 3.0 * size) * exp(log_mass + larger(l, 0.0));
        }
        if (!(tilt < 700.0))
            return INFINITY;
        grown = exp(tilt);
        if (cell == stop && large) { /* there |nu| <= 2, as 1 and what falls */
            if (!(mark <= 2.0))
                return INFINITY;
            double beyond = right_tail(step->run->noise, rate, 1.0, edge);
            grown = beyond < 700.0 ? 3.0 * exp(beyond) : INFINITY;
            mark = 2.0;
            plain = 0.0;
        }
        double one = mark * (grown + plain);
        total += one;
        if (cell ==
            0) /* left of the cells the density falls, its integral is below its value at the edge, and nothing else grows */
            total += one / step->cell;
    }
    return log(total) + 0.5 * height * height + SLACK;
}

/* The step at which the rule errs by at most e^log_goal, by this line: the error is at most twice the integral along it over
   e^{2 pi noise angle/step} - 1 */
static double step_by(const Marked *step, double angle, int kind, double k, double reach, double size, double log_goal) {
    double rise = along_line(step, angle, kind, k, reach, size) + M_LN2 - log_goal;
    return rise < 1e6 ? 2.0 * PI * step->run->noise * angle / (larger(rise, 0.0) + log1p(exp(-fabs(rise)))) : 0.0;
}

/* Nearly the longest of those steps, which changes little with the angle; 0 if there is none */
double marked_step(const Marked *step, int kind, double k, double reach, double size, double log_goal) {
    double noise = step->run->noise, sharp = (step->high + step->run->rate) / step->width;
    double angle = smaller(WIDEST, 5.0 / sqrt(sharp * sharp + noise * noise)), best = 0.0;
    for (int turn = 0; turn < ANGLES && !(best > 0.0); turn++, angle *= 0.75)
        best = step_by(step, angle, kind, k, reach, size, log_goal);
    return best * (1.0 - 1e-9);
}

/* A bound of the share by which g(y) errs, y = (x - mark)/width or the same with another sign, where x + q errs by the share `slip`
 */
double mark_error(double rate, double mark, double width, double x, double y, double slip) {
    double off = (fabs(x) + (mark + rate)) / width * (slip + (32.0 * UNIT) * (1.0 + log1p(fabs(x))));
    double lean = y > 0.0 ? exp(-0.49 * smaller(y * y, 1400.0)) : 1.0 - y; /* at least (log g)' nearby */
    return ERFC + off * lean + (y < 0.0 ? 4.0 * UNIT * y * y : 0.0);
}

/* A bound of the error of t, at a node, whose place is exact */
double slip_of(const Run *run, double z) {
    return (3.0 * UNIT + 2.0 * run->noise_error) * (fabs(z) * (1.0 / run->noise) + 0.5 / (run->noise * run->noise));
}

/* E nu and E nu x, the latter not negative since nu grows with x and E x = 0; `log_q` is about log of the former, `digits` -log of
   the relative error that matters.  0 if the errors are too large. */
int count_large(Marked *step, double log_q, double digits) {
    const Run *run = step->run;
    double log_count = log(run->count), size = larger(1.0, step->fast), last = step->edges[step->cells];
    double real = marked_step(step, KEPT, step->fast, 0.0, size, step->rule = -16.0 - log_count);
    double spacing = smaller(real, marked_step(step, LARGE, 0.0, 0.0, 1.0, log_q - digits)),
           low = larger(LOW, -sqrt(2.0 * (2.0 + log(1.0 + step->fast * run->rate) - step->rule)));
    if (!(spacing > 0.0 && spacing < 1e3))
        return 0;
    exact_places(&low, &spacing);
    step->before = exp(log_tail_bound(-low));
    double count = (last - low) / spacing + 2.0;
    if (!(count < MOST))
        return 0;
    Size n = step->nodes = (Size)count;
    if (!(step->rows = malloc((size_t)(9 * n) * sizeof(double))))
        return 0;
    step->nodes_x = step->rows + 4 * n, step->large = step->rows + 5 * n, step->kept_weight = step->rows + 6 * n,
    step->room = step->rows + 7 * n;
    fill_rows(step->rows, step->nodes_x, n, low, spacing, run->noise, run->rate);
    const double *z = step->rows, *ratio = z + n, *share = ratio + n, *base = share + n;
    Exact q = {0.0, 0.0}, drift = {0.0, 0.0};
    double off_q = 0.0, off_drift = 0.0;
    for (Size j = 0; j < n; j++) {
        double x = step->nodes_x[j], y = (x - step->high) / step->width, weight = exp(base[j]);
        double nu = y > 8.5 ? 1.0 : y < -37.0 ? 0.0 : 0.5 * erfc(-M_SQRT1_2 * y);
        step->large[j] = nu;
        step->kept_weight[j] = y < -8.5 ? weight : weight * g_above(-y);
        if (nu > 0.0) {
            double mark = weight * nu, slip = slip_of(run, z[j]),
                   moved = share[j] * slip + (FUNCTION + 16.0 * UNIT) * fabs(ratio[j]);
            double off = mark * ((mark_error(run->rate, step->high, step->width, x, y, slip) + 3.0 * UNIT * z[j] * z[j]) +
                                 (5.0 * FUNCTION + 8.0 * UNIT));
            add(&q, mark);
            add(&drift, mark * x);
            off_q += off;
            off_drift += fabs(x) * off + mark * (1.0 + x) * moved;
        }
    }
    step->q = q.sum + q.rest;
    step->drift = drift.sum + drift.rest;
    double beyond = exp(right_tail(run->noise, run->rate, 1.0, last) + M_LN2 * 2.0) + exp(log_q - digits);
    beyond += 2.0 * step->before * g_above((step->nodes_x[0] - step->high) / step->width) + 2.0 * NEVER * (1.0 + step->high);
    if (!(step->drift > 0.0 && off_drift + beyond < 0.5 * step->drift && off_q + beyond < 0.5 * step->q))
        return 0;
    double together = (off_q + off_drift + 2.0 * beyond) / (step->q + step->drift);
    step->error = larger((off_q + beyond) / step->q, together) * (1.0 + 1e-6) + 8.0 * UNIT;
    step->drift_error = (off_drift + beyond) / step->drift * (1.0 + 1e-6) + 8.0 * UNIT;
    return 1;
}

/* An upper bound of E[(1 - nu) e^{kL}; z > end], where it falls if k/(1 + x) is at most the hazard of g over its width */
double beyond_kept(const Marked *step, double k) {
    double x = step->last_x, y = (x - step->high) / step->width;
    if (!(k * step->width * step->width < (x - step->high) * (1.0 + x) && y > 5.0))
        return INFINITY;
    double log_of = -0.5 * y * y - log(y) - LOG_ROOT_TWO_PI + k * step->ratio[step->kept] + log_tail_bound(step->edges[step->kept]);
    return log_of < 700.0 ? exp(larger(log_of, -700.0)) * (1.0 + SLACK) : INFINITY;
}

/* An upper bound of phi - 1 = E (1 - nu) (e^{kL} - 1 - k x) - E nu - k E nu x, for real 1 <= k <= fast */
double not_large_above(const Marked *step, double k) {
    const double *z = step->rows, *ratio = z + step->nodes, *share = ratio + step->nodes;
    double total = 0.0, rate = step->run->rate, end = step->edges[step->kept];
    for (Size j = 0; j < step->nodes; j++) {
        double l = ratio[j], x = step->nodes_x[j], y = k * l, value;
        if (y > 650.0)
            return INFINITY;
        if (fabs(l) * k < 1e-3) {
            value = 0.5 * k * (k - 1.0) * l * l * (1.0 + 1e-3);
        } else {
            value = expm1(y) - k * x;
            value += 4.0 * FUNCTION * (fabs(value) + k * fabs(x));
        }
        double moved = share[j] * slip_of(step->run, z[j]) + (FUNCTION + 16.0 * UNIT) * fabs(l);
        total += step->kept_weight[j] * (value + 1.01 * k * fabs(value + (k - 1.0) * x) * moved);
        if (z[j] >= end) /* one node is beyond it; those left out add up to less than the integral */
            break;
    }
    double left = step->before * (1.0 + k * rate),
           out = step->q * (1.0 - step->error - SLACK) + k * step->drift * (1.0 - step->drift_error - SLACK);
    return (total + left + exp(step->rule)) * (1.0 + SLACK) + beyond_kept(step, k) - out;
}

/* log of upper bounds of mid = E (kappa - nu) e^{kL} at some real k >= 1, by cells */
void log_middle_above(const Marked *step, const double *k, int many, double *found) {
    for (int i = 0; i < many; i++)
        found[i] = step->left * g_above((step->x[0] - step->low) / step->low_width);
    for (Size j = 0; j < step->kept; j++) {
        double share =
            smaller(g_above((step->x[j + 1] - step->low) / step->low_width), g_above((step->high - step->x[j]) / step->width));
        for (int i = 0; i < many; i++) {
            double tilt = step->log_mass[j] + k[i] * step->ratio[j + 1];
            found[i] += tilt < 600.0 ? exp(tilt) * share : INFINITY;
        }
    }
    for (int i = 0; i < many; i++)
        found[i] = log(found[i] * (1.0 + SLACK) + beyond_kept(step, k[i])) + SLACK;
}

/* An upper bound of E e^{-kL} - 1, k > 0 */
double reverse_above(const Marked *step, double k) {
    double inside = bent_over(step->ratio, step->x, step->log_mass, step->cells, -k), rate = step->run->rate;
    double deep = -k * log1p(-rate), left = step->left * ((deep < 700.0 ? exp(deep) : INFINITY) * (1.0 + 1e-12) + k * rate);
    double right = k * exp(right_tail(step->run->noise, rate, 1.0, step->edges[step->cells]));
    return (inside + left + right) * (1.0 + SLACK);
}

/* Upper bounds of E[nu; z < edge] and E[nu e^{-k(L - pivot)}; z > edge] for a node as an edge, for some k > 0: of those the one for
   which the first and e^height times the second are least */
void large_above(const Marked *step, const double *k, int many, double pivot, const double *height, double *light, double *heavy) {
    const double *z = step->rows, *ratio = z + step->nodes, *base = z + 3 * step->nodes;
    Size last = step->nodes - 1, first = last;
    double front = base[0] + 0.5 * z[0] * z[0], *mass = step->room;
    double near = step->before * g_above((step->nodes_x[0] - step->high) / step->width) + 2.0 * NEVER;
    while (first > 0 && step->large[first] > 0.0)
        first--;
    for (Size j = first; j < last; j++) { /* between nodes, and left of them */
        double zero = z[j] > 0.0 ? z[j] : smaller(z[j + 1], 0.0);
        mass[j] = exp(front - 0.5 * zero * zero) * (step->large[j + 1] * (1.0 + 1e-9) + NEVER);
        near += mass[j];
        mass[step->nodes + j + 1] = near;
    }
    for (int i = 0; i < many; i++) {
        double beyond = log_tail_bound(z[last]) + k[i] * (pivot - ratio[last]),
               far = beyond < 700.0 ? exp(beyond) + 1e-300 : INFINITY;
        double grown = exp(smaller(height[i], 600.0)), best = INFINITY;
        light[i] = heavy[i] = INFINITY;
        for (Size j = last; j > first; j--) {
            double total = mass[step->nodes + j] + grown * far, raised = k[i] * (pivot - ratio[j - 1]);
            if (total < best) {
                best = total;
                light[i] = mass[step->nodes + j] * (1.0 + 2.0 * SLACK);
                heavy[i] = far * (1.0 + 2.0 * SLACK);
            } else if (grown * far > best) {
                break; /* it grows from here on */
            }
            far += raised < 600.0 ? mass[j - 1] * exp(raised) : INFINITY;
        }
    }
}
