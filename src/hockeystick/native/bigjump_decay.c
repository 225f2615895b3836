/* Twin of loss/bigjump/cells.py: how the transform phi = E (1 - nu) e^{kL} of what is not large, and mid, fall off the real axis.
 */
#include "bigjump_step.h"
#include "elementary.h"

enum { JOINED = 2, NARROWED = 3 };
static const double LINES[TURNED] = {4.2, 5.0}; /* their angles, over the lower threshold's steepness */
#define STEEPEST 0.6                            /* the largest angle */
#define NARROWER 0.95                           /* log of how much closer than half a turn */
#define LOG_NEGLIGIBLE 30.0                     /* -log of a relative size below which terms are counted, not summed */

/* Lower bounds of -log |phi(k + iu)/phi(k)| on cells of u from `start` on, by the spread of the tilted law: `spread_gap` of
   numerics/decay.py; phi is at least phi(k) */
void hs_bigjump_spread_decay(const ThresholdedStep *step, double k, double phi, double start, int cells, double growth,
                             double *out) {
    Size joined = step->kept_cells / JOINED, live = 0;
    double moments[CLOSER] = {0.0}, mass[2048], low[2048], high[2048], right[CLOSER], left = start;
    for (int cell = 0; cell < cells; cell++)
        right[cell] = (cell ? right[cell - 1] : start) * growth;
    for (Size i = 0; i < joined && live < 2048; i++) {
        Size from = i * JOINED, to = from + JOINED;
        double far = larger(fabs(step->edges[from]), fabs(step->edges[to])), y = (step->x[to] - step->high) / step->width;
        double log_mass = -0.5 * far * far + (log(JOINED * step->cell) - LOG_ROOT_TWO_PI - 2.0 * SLACK);
        double not_large = y > 37.0 ? 0.0 : 0.5 * erfc(M_SQRT1_2 * y);
        mass[live] = exp(smaller(log_mass + k * step->ratio[from], 600.0)) * not_large / phi;
        low[live] = step->ratio[from];
        high[live] = step->ratio[to];
        live += mass[live] > 1e-20;
    }
    for (Size i = 0; i < live; i++) {
        int cell = cells - 2;
        for (Size j = i + 1; j < live; j++) {
            double inner = low[j] - high[i], outer = high[j] - low[i];
            while (cell >= 0 && !(right[cell] * outer <= PI * (1.0 - 1e-9)))
                cell--;
            if (cell < 0)
                break;
            moments[cell] += inner > 0.0 ? mass[i] * mass[j] * inner * inner : 0.0;
        }
    }
    for (int cell = cells - 2; cell >= 0; cell--)
        moments[cell] += moments[cell + 1];
    for (int cell = 0; cell < cells; cell++, left *= growth) {
        double best = 0.0;
        for (int way = 0; way < NARROWED; way++) {
            int shift = (int)(way * (NARROWER / log(growth)));
            double t = PI / pow(growth, shift), factor = 2.0 * (1.0 - cos(t)) / (t * t) * (1.0 - 1e-9);
            if (cell + shift < cells)
                best = larger(best, moments[cell + shift] * factor);
        }
        double gap = smaller(left * left * best, 1.0) * (1.0 - SLACK);
        out[cell] = -0.5 * log1p(-smaller(gap, 1.0 - 1e-15));
    }
}

enum { PLAIN, ARG, SHARE, LEFT, RIGHT, TURN, COLUMNS }; /* of a line: two for edges, four for cells */

typedef struct {
    double cosine, sine, twice; /* twice: cos of twice the angle */
} Angle;

/* At edges: log of the integrand but for the thresholds, and a lower bound of arg: the series of the inverse tangent, broken off
   after a negative term */
WIDE static void edge_terms(const ThresholdedStep *step, Size n, const Angle *angle, double k, double front, double *restrict plain,
                            double *restrict arg) {
    const double *restrict share = step->share, *restrict ratio = step->ratio, *restrict z = step->edges;
    for (Size j = 0; j < n; j++) {
        double t = share[j] * angle->sine / (1.0 - share[j] * (1.0 - angle->cosine)) * (1.0 - 1e-12), w = t * t;
        double more = 1.0 / 9 - w * (1.0 / 11 - w * (1.0 / 13 - w * (1.0 / 15)));
        plain[j] = k * ratio[j] - 0.5 * z[j] * z[j] + front;
        arg[j] = t * (1.0 - w * (1.0 / 3 - w * (1.0 / 5 - w * (1.0 / 7 - w * more)))) * (1.0 - 1e-12);
    }
}

/* On cells: log of the factor by which a threshold enlarges the bound, at the left and at the right edge, if that is more than what
   is there; adds 1 where 1 - g, and where g, is not small.  Where it falls throughout a cell, its left edge may count for both. */
WIDE static void threshold_terms(const double *restrict x_plus_rate, Size cells, const Angle *angle, double mean, double inverse,
                                 double curve, double log_many, double *restrict left, double *restrict right,
                                 double *restrict small, double *restrict large, double *restrict left_extra,
                                 double *restrict right_extra) {
    double cosine = angle->cosine, sine = angle->sine, twice = angle->twice;
    for (Size j = 0; j < cells; j++) {
        double size = x_plus_rate[j] * inverse, next = x_plus_rate[j + 1] * inverse, a = size * cosine - mean, b = size * sine;
        double c = next * cosine - mean, d = next * sine, fall = 0.5 * ((b - a) * (b + a) - (d - c) * (d + c));
        left_extra[j] = curve * larger(0.0, next * (2.0 * next * twice - mean * cosine));
        right_extra[j] = fall;
    }
    for (Size j = 0; j < cells; j++) { /* what is added at either edge */
        double throughout = smaller(left_extra[j] - right_extra[j], x_plus_rate[j] * inverse * twice - mean * cosine),
               bound = left_extra[j];
        right_extra[j] = throughout > 0.0 ? right_extra[j] : bound;
        left_extra[j] = throughout > 0.0 ? 0.0 : bound;
    }
    for (Size j = 0; j < cells; j++) {
        double size = x_plus_rate[j] * inverse, next = x_plus_rate[j + 1] * inverse, a = size * cosine - mean, b = size * sine;
        double c = next * cosine - mean, d = next * sine, bulge = log_many - log_of(larger(b, 1.08), 0.0);
        left[j] = larger(left[j], 0.5 * (b - a) * (b + a) + left_extra[j] + bulge);
        right[j] = larger(right[j], 0.5 * (d - c) * (d + c) + right_extra[j] + bulge);
    }
    for (Size j = 0; j < cells; j++) {
        small[j] += x_plus_rate[j] * inverse * cosine - mean > 0.0 ? 0.0 : 1.0;
        large[j] += x_plus_rate[j + 1] * inverse * cosine - mean > 0.0 ? 1.0 : 0.0;
    }
}

/* The integrand of mid(k), or of phi(k) if none is small, on some lines above the real one, where |e^{iuL}| <= e^{-u arg}; between
   the edges of a cell its logarithm is bounded to second order (Lemma 19c).  0 where there is no memory */
int hs_bigjump_shift_lines(ShiftedLines *lines, const ThresholdedStep *step, double k) {
    Size cells = lines->cells = step->kept_cells, n = cells + 1;
    int many = step->low > 0.0 ? 2 : 1;
    double thresholds[2] = {step->high, step->low}, widths[2] = {step->width, step->low_width}, noise = step->run->noise,
           rate = step->run->rate, last = 0.0;
    double sharp = (rate + thresholds[many - 1]) / widths[many - 1], eighth = 0.125 * step->cell * step->cell * (1.0 + SLACK);
    double shares[3] = {log(NEVER), 2.0 * NEVER, M_LN2 + 2.0 * NEVER}, *small = step->space, *large = small + cells;
    if (!(lines->room = malloc((size_t)((COLUMNS * TURNED + 2) * n) * sizeof(double))))
        return 0;
    for (int turn = 0; turn < TURNED; turn++) {
        double angle = smaller(LINES[turn] / sharp, STEEPEST), half = noise * cos(0.5 * angle);
        double height = 0.5 * noise * angle * noise * angle, *at = lines->room + turn * COLUMNS * n;
        Angle of = {cos(angle), sin(angle), cos(2.0 * angle)};
        lines->ends[turn] = INFINITY;
        if (angle == last || !hs_bigjump_falls_beyond(step, step->last_x, angle, k, 0.0))
            continue;
        last = angle;
        double *left = at + LEFT * n, *right = at + RIGHT * n, *turned = at + TURN * n, *share = at + SHARE * n;
        edge_terms(step, n, &of, k, log(step->cell) - LOG_ROOT_TWO_PI + SLACK + height + eighth, at + PLAIN * n, at + ARG * n);
        for (Size j = 0; j < cells; j++) {
            left[j] = right[j] = -INFINITY;
            small[j] = large[j] = 0.0;
            turned[j] = eighth / (half * half) * step->share[j + 1] * (1.0 - step->share[j]);
        }
        for (int i = 0; i < many; i++)
            threshold_terms(step->x_plus_rate, cells, &of, (rate + thresholds[i]) / widths[i], 1.0 / widths[i],
                            eighth / (noise * noise), log(0.54 * many), left, right, small, large, large + cells,
                            large + 2 * cells);
        for (Size j = 0; j < cells; j++)
            share[j] = shares[(int)(many > 1 ? smaller(small[j], large[j]) : small[j])];
        double room[3], outer[2];
        hs_bigjump_shifted_moduli(step, cells - 1, 1, of.cosine, of.sine, MIDDLE, outer, room);
        hs_bigjump_shifted_moduli(step, 0, 1, of.cosine, of.sine, MIDDLE, outer + 1, room);
        double end = log(outer[0]) + k * step->ratio[cells] + log_tail_bound(step->edges[cells]),
               start = log(outer[1]) + k * step->ratio[1] + log(step->left);
        lines->ends[turn] = larger(larger(end, start) + height, -700.0) + M_LN2;
    }
    return 1;
}

/* log of the two parts of the cells of a line at u, and the largest */
WIDE static double log_parts(const double *restrict at, Size n, double u, double *restrict one, double *restrict two) {
    const double *plain = at + PLAIN * n, *arg = at + ARG * n, *share = at + SHARE * n, *left = at + LEFT * n,
                 *right = at + RIGHT * n, *turned = at + TURN * n;
    double top[4] = {-INFINITY, -INFINITY, -INFINITY, -INFINITY};
    Size cells = n - 1, cell = 0;
    for (Size j = 0; j < cells; j++) {
        double turn = u * turned[j], here = plain[j] - u * arg[j] + turn, next = plain[j + 1] - u * arg[j + 1] + turn;
        one[j] = larger(here, next) + share[j];
        two[j] = larger(here + left[j], next + right[j]);
    }
    for (; cell + 4 <= cells; cell += 4)
        for (int lane = 0; lane < 4; lane++)
            top[lane] = larger(top[lane], larger(one[cell + lane], two[cell + lane]));
    for (; cell < cells; cell++)
        top[0] = larger(top[0], larger(one[cell], two[cell]));
    return larger(larger(top[0], top[1]), larger(top[2], top[3]));
}

/* A bound of log |phi(k + iu)|, or of log |mid|, for this u and beyond, where e^{-u arg} falls: the least over the lines */
double hs_bigjump_log_modulus_above(const ShiftedLines *lines, double u) {
    double found = INFINITY;
    Size cells = lines->cells, n = cells + 1;
    double *one = lines->room + COLUMNS * TURNED * n, *two = one + n;
    for (int turn = 0; turn < TURNED; turn++) {
        if (!(lines->ends[turn] < INFINITY))
            continue;
        double top = larger(lines->ends[turn], log_parts(lines->room + turn * COLUMNS * n, n, u, one, two));
        double inside = exp(lines->ends[turn] - top) + 2.0 * (double)cells * exp(-LOG_NEGLIGIBLE);
        Size from = 0, to = cells; /* outside of these all is negligible */
        while (from < to && larger(one[from], two[from]) <= top - LOG_NEGLIGIBLE)
            from++;
        while (to > from && larger(one[to - 1], two[to - 1]) <= top - LOG_NEGLIGIBLE)
            to--;
        for (Size j = from; j < to; j++) {
            one[j] -= top;
            two[j] -= top;
        }
        hs_exps(one + from, to - from);
        hs_exps(two + from, to - from);
        for (Size j = from; j < to; j++)
            inside += one[j] + two[j];
        found = smaller(found, top + log(inside));
    }
    return found + 2.0 * SLACK;
}
