/* Twin of loss/bigjump/transform.py: log phi and log(1 - mid/phi) of a step along a contour, phi = E (1 - nu) e^{kL} and
   mid = E (kappa - nu) e^{kL}. */
#include "bigjump_along.h"
#include "elementary.h"

/* Where no square is too small a number */
static inline double modulus(double re, double im) { return sqrt(re * re + im * im); }

/* log(1 + z), to relative accuracy: `log1p_complex` */
static void log_one_more(double re, double im, double *log_re, double *log_im) {
    double whole = 2.0 * re + (re * re + im * im);
    *log_re = whole < -0.75 ? log(larger(hypot(1.0 + re, im), 1e-290)) : 0.5 * log1p(whole);
    *log_im = atan2(im, 1.0 + re);
}

/* mid = E (kappa - nu) e^{kL} likewise; docs/mathematics.md, section 7a, "Each on nodes of its own" */
static int middle_along(const ThresholdedStep *step, double k, double spacing, Size nodes, double log_goal, LineValues *found) {
    const Run *run = step->run;
    double reach = spacing * (double)(nodes - 1), from = step->low - sqrt(2.0 * (6.0 - log_goal)) * step->low_width, *rows = NULL;
    double start = from > 0.0 ? larger(step->edges[0], hs_bigjump_place(run, from)) : step->edges[0];
    Size n = hs_bigjump_place_nodes(step, MIDDLE, k, reach, 0.0, log_goal, start, nodes, &rows), place = 0;
    if (!n)
        return 0;
    double *ratio = rows + n, *share = rows + 2 * n, *tilted_weight = rows + 3 * n, *far_ratio = rows + 4 * n,
           *tilted = rows + 5 * n, *excess = rows + 6 * n, *moved = rows + 7 * n;
    double negligible = exp(log_goal - 3.0) / (double)n, fixed = 0.0, slope = 0.0;
    ThresholdValues high = {rows + 8 * n, rows + 9 * n, rows + 10 * n, rows + 11 * n, rows + 12 * n},
                    low = {rows + 13 * n, rows + 14 * n, rows + 15 * n, rows + 16 * n, rows + 17 * n};
    int fits = 1;
    hs_bigjump_ratio_errors(run, rows, ratio, share, n, moved);
    hs_bigjump_thresholds_at(run, step->high, step->width, rows, ratio, excess, n, &high);
    hs_bigjump_thresholds_at(run, step->low, step->low_width, rows, ratio, excess, n, &low);
    for (Size j = 0; j < n; j++)
        tilted_weight[j] += k * ratio[j];
    hs_exps(tilted_weight, n);
    for (Size j = 0; j < n && fits; j++) {
        double l = ratio[j], x = excess[j], z = rows[j], one, two, off;
        fits = k * l <= 600.0;
        if (x <
            0.5 * (step->low + step->high)) { /* kappa - nu, as the difference of the complements where that is the better one */
            one = low.below[j];
            two = high.below[j];
            off = one * low.below_error[j] + two * high.below_error[j] + 2.0 * NEVER;
        } else {
            one = high.above[j];
            two = low.above[j];
            off = one * high.above_error[j] + two * low.above_error[j] + 2.0 * NEVER;
        }
        double middle = larger(one - two, 0.0), most = tilted_weight[j] * (middle + off) * (1.0 + 1e-9);
        if (most < negligible) {
            fixed += most;
            if (falls_from(step, k, z, x)) {
                fixed += tilted_weight[j] * (one + off) * (1.0 + 1e-9) * (double)(n - j); /* there `one` is 1 - nu */
                break;
            }
            continue;
        }
        far_ratio[place] = l;
        tilted[place++] = tilted_weight[j] * middle;
        fixed += tilted_weight[j] * (middle * (relative_error(n, z) + 2.0 * UNIT) + off);
        slope += tilted_weight[j] * middle * (moved[j] + 6.0 * UNIT * fabs(l));
    }
    fits = fits && (double)place * (double)nodes <= WORK &&
           (!place || hs_fourier_sums(far_ratio, tilted, 1, place, spacing, nodes, found->re, found->im));
    /* left of the first node kappa e^{kL} is less than there, where L > 0, or less than kappa */
    double before =
        hs_bigjump_g_above((expm1(ratio[0]) - step->low) / step->low_width) * (1.0 + 1e-6) * exp(larger(0.0, k * ratio[0]));
    found->fixed = fixed + 3.0 * before + hs_bigjump_tail_above(step, k) + exp(log_goal) + 1e-307 * (double)n;
    found->slope = slope;
    found->curve = 0.0;
    free(rows);
    return fits;
}

/* phi, and mid if some are small, at k + iu, u = 0, spacing, ..., of one step; the rules err by about e^log_goal.  `small` is the
   step of which what is not small is large, NULL if none is: phi = E (1 - kappa) e^{kL} + mid, each on nodes of its own.  0 if that
   takes too long. */
int hs_bigjump_values(const ThresholdedStep *step, const ThresholdedStep *small, double k, double spacing, Size nodes,
                      double log_goal, double middle_goal, NodeValue *nodes_of) {
    double *space = calloc((size_t)(11 * (nodes + 3)), sizeof(double));
    if (!space)
        return 0;
    LineValues rest = {.re = space, .im = space + nodes}, middle = {.re = space + 2 * nodes, .im = space + 3 * nodes};
    int found = hs_bigjump_excess(small ? small : step, k, spacing, nodes, log_goal, &rest, space + 4 * nodes) &&
                (!small || middle_along(step, k, spacing, nodes, middle_goal, &middle));
    for (Size node = 0; found && node < nodes; node++) {
        double u = spacing * (double)node, reaches = sqrt(k * k + u * u), missing = middle.fixed + reaches * middle.slope;
        double mr = middle.re[node], mi = middle.im[node], er = rest.re[node] + mr, ei = rest.im[node] + mi;
        double off = reaches * reaches * rest.curve + rest.fixed + reaches * rest.slope;
        off += missing + 8.0 * UNIT * (fabs(er) + fabs(ei) + fabs(mr) + fabs(mi));
        double magnitude = modulus(1.0 + er, ei);
        found = magnitude > 1e-140 && magnitude < 1e100;
        NodeValue *at = nodes_of + node;
        log_one_more(er, ei, &at->re, &at->im);
        at->phi_error = off / magnitude;
        if (small) {
            double square = magnitude * magnitude;
            double sr = -(mr * (1.0 + er) + mi * ei) / square, si = -(mi * (1.0 + er) - mr * ei) / square; /* -mid/phi */
            missing /= magnitude;
            at->ratio = larger(modulus(1.0 + sr, si), 1e-290);
            log_one_more(sr, si, &at->log_ratio_re, &at->log_ratio_im);
            at->ratio_error = (missing + modulus(sr, si) * (at->phi_error + 8.0 * UNIT)) / (1.0 - smaller(at->phi_error, 0.5));
            at->ratio_error += 8.0 * FUNCTION * modulus(at->log_ratio_re, at->log_ratio_im) * at->ratio;
            at->separate_error = (at->phi_error + missing + 16.0 * UNIT) / at->ratio;
        }
    }
    free(space);
    return found;
}
