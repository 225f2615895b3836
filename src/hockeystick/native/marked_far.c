/* Twin of loss/parted_cells.py: how phi = E (1 - nu) e^{kL} falls off the real axis. */
#include "native.h"

enum { JOINED = 2, NARROWED = 3 };
static const double LINES[TURNED] = {3.8, 4.5, 5.3}; /* their angles, over the sharpness of the lower mark */
#define STEEPEST 0.6                                 /* the largest angle */
#define NARROWER 0.95                                /* log of how much closer than half a turn */
#define FAINT 30.0                                   /* log of how much less is counted, not summed */

/* Lower bounds of -log |phi(k + iu)/phi(k)| on cells of u from `start` on, by the spread of the tilted law: `spread_gap` of
   numerics/transform.py; phi is at least phi(k) */
void fall_of(const Marked *step, double k, double phi, double start, int cells, double growth, double *out) {
    Size joined = step->kept / JOINED, live = 0;
    double moments[CLOSER] = {0.0}, mass[2048], low[2048], high[2048], right[CLOSER], left = start;
    for (int cell = 0; cell < cells; cell++)
        right[cell] = (cell ? right[cell - 1] : start) * growth;
    for (Size i = 0; i < joined && live < 2048; i++) {
        Size from = i * JOINED, to = from + JOINED;
        double far = larger(fabs(step->edges[from]), fabs(step->edges[to])), y = (step->x[to] - step->high) / step->width;
        double log_mass = -0.5 * far * far + (log(JOINED * step->cell) - LOG_ROOT_TWO_PI - 2.0 * SLACK);
        double kept = y > 37.0 ? 0.0 : 0.5 * erfc(M_SQRT1_2 * y);
        mass[live] = exp(smaller(log_mass + k * step->ratio[from], 600.0)) * kept / phi;
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

/* The integrand of mid(k), or of phi(k) if none is small, on some lines above the real one, where |e^{iuL}| <= e^{-u arg}; between
   the edges of a cell its logarithm is told to second order (Lemma 19c).  0 where there is no memory */
int look_far(Far *far, const Marked *step, double k) {
    Size cells = far->cells = step->kept, n = cells + 1;
    int many = step->low > 0.0 ? 2 : 1;
    double marks[2] = {step->high, step->low}, widths[2] = {step->width, step->low_width}, noise = step->run->noise,
           rate = step->run->rate;
    double sharp = (rate + marks[many - 1]) / widths[many - 1], eighth = 0.125 * step->cell * step->cell * (1.0 + SLACK);
    if (!(far->room = malloc((size_t)(COLUMNS * TURNED * n) * sizeof(double))))
        return 0;
    for (int turn = 0; turn < TURNED; turn++) {
        double angle = smaller(LINES[turn] / sharp, STEEPEST), cosine = cos(angle), sine = sin(angle), twice = cos(2.0 * angle);
        double height = 0.5 * noise * angle * noise * angle, half = noise * cos(0.5 * angle), *at = far->room + turn * COLUMNS * n;
        double front = log(step->cell) - LOG_ROOT_TWO_PI + SLACK + height + eighth, below = 0.0;
        far->ends[turn] = INFINITY;
        if (!falls_beyond(step, step->last_x, angle, k, 0.0))
            continue;
        double before[2] = {0.0, 0.0}, last[2] = {0.0, 0.0};
        for (Size j = 0; j < n; j++) {
            double r = step->share[j], z = step->edges[j], shifted = r * (1.0 + step->x[j]), small = NEVER, large = NEVER;
            double left = -INFINITY, right = -INFINITY;
            for (int i = 0; i < many; i++) {
                double size = shifted / widths[i], mean = (rate + marks[i]) / widths[i], a = size * cosine - mean, b = size * sine;
                double swell = 0.5 * (b - a) * (b + a), here = swell;
                double bend = eighth * larger(0.0, size * (2.0 * size * twice - mean * cosine)) / (noise * noise);
                if (last[i] * twice > mean * cosine && bend > before[i] - swell) { /* it falls throughout the cell */
                    bend = 0.0;
                    here = before[i];
                }
                bend += log(many * bulge_at(last[i] * sine));
                left = larger(left, before[i] + bend);
                right = larger(right, here + bend);
                before[i] = swell;
                last[i] = size;
                small += a > 0.0 ? 0.0 : 1.0;
                large += a > 0.0 ? 1.0 : 0.0;
            }
            at[PLAIN * n + j] = k * step->ratio[j] - 0.5 * z * z + front;
            at[ARG * n + j] = atan2(r * sine, 1.0 - r * (1.0 - cosine)) * (1.0 - 1e-12);
            if (j) {
                at[SHARE * n + j - 1] = log(many > 1 ? smaller(below, large) : below);
                at[LEFT * n + j - 1] = left;
                at[RIGHT * n + j - 1] = right;
                at[TURN * n + j - 1] = eighth * r * (1.0 - step->share[j - 1]) / (half * half);
            }
            below = small;
        }
        double room[3], outer[2];
        off_line(step, cells - 1, 1, cosine, sine, MIDDLE, outer, room);
        off_line(step, 0, 1, cosine, sine, MIDDLE, outer + 1, room);
        double right = log(outer[0]) + k * step->ratio[cells], left = log(outer[1]) + k * step->ratio[1];
        far->ends[turn] =
            larger(larger(right + log_tail_bound(step->edges[cells]), left + log(step->left)) + height, -700.0) + M_LN2;
    }
    return 1;
}

/* log of the two parts of a cell of a line at u */
static inline void parts_of(const double *at, Size n, Size cell, double u, double *plain, double *swollen) {
    double turn = u * at[TURN * n + cell], here = at[PLAIN * n + cell] - u * at[ARG * n + cell] + turn,
           next = at[PLAIN * n + cell + 1] - u * at[ARG * n + cell + 1] + turn;
    *plain = larger(here, next) + at[SHARE * n + cell];
    *swollen = larger(here + at[LEFT * n + cell], next + at[RIGHT * n + cell]);
}

/* A bound of log |phi(k + iu)|, or of log |mid|, for this u and beyond */
double far_at(const Far *far, double u) {
    double found = INFINITY, one, two;
    Size n = far->cells + 1;
    for (int turn = 0; turn < TURNED; turn++) {
        const double *at = far->room + turn * COLUMNS * n;
        double top = far->ends[turn];
        if (!(top < INFINITY))
            continue;
        for (Size cell = 0; cell < far->cells; cell++) {
            parts_of(at, n, cell, u, &one, &two);
            top = larger(top, larger(one, two));
        }
        double inside = exp(far->ends[turn] - top) + 2.0 * (double)far->cells * exp(-FAINT);
        for (Size cell = 0; cell < far->cells; cell++) {
            parts_of(at, n, cell, u, &one, &two);
            inside += one > top - FAINT ? exp(one - top) : 0.0;
            inside += two > top - FAINT ? exp(two - top) : 0.0;
        }
        found = smaller(found, top + log(inside));
    }
    return found + 2.0 * SLACK;
}
