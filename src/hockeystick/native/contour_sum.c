/* Twins of loss/contour/contour.py: the trapezoidal rule for the contour integral of delta: its terms, the sum at other epsilons,
   and where it may be truncated. */
#include "contour_sum.h"
#include "elementary.h"

enum { BLOCK = 32 };

/* The sum at another epsilon.  e^{-i angle u} is a product of one for each block and one within it */
void hs_contour_sums(const double *weights, Size many, Size nodes, double step, double angle, double *totals, double *slopes) {
    double re[BLOCK], im[BLOCK], places[BLOCK];
    for (int r = 0; r < BLOCK; r++)
        places[r] = r;
    hs_turns(-angle * step, places, BLOCK, re, im);
    for (Size row = 0; row < many; row++)
        totals[row] = slopes[row] = 0.0;
    for (Size start = 0; start < nodes; start += BLOCK) {
        double u = step * (double)start, cr = cos(-angle * u), ci = sin(-angle * u);
        for (Size row = 0; row < many; row++) {
            const double *w = weights + 2 * (row * nodes + start);
            double total = 0.0, other = 0.0, first = 0.0, second = 0.0;
            for (Size r = 0; r < BLOCK && start + r < nodes; r++) {
                double one = w[2 * r] * re[r] - w[2 * r + 1] * im[r], two = w[2 * r] * im[r] + w[2 * r + 1] * re[r];
                total += one;
                other += two;
                first += one * (double)r;
                second += two * (double)r;
            }
            totals[row] += cr * total - ci * other;
            slopes[row] += (ci * total + cr * other) * u + (ci * first + cr * second) * step;
        }
    }
}

/* 0 where rounding exceeds the peak: |phi| is largest at u = 0, where it is known up to e^error */
int hs_contour_terms(const double *value, const double *error, Size many, Size nodes, double step, double c, double epsilon,
                     double *weights, double *errors, double *heights, double *abs_moments, double *sums) {
    for (Size row = 0; row < many; row++) {
        heights[row] = value[2 * row * nodes];
        abs_moments[row] = sums[row] = 0.0;
        if (!(error[row * nodes] < 1.0))
            return 0;
    }
    for (Size node = 0; node < nodes; node++) {
        double u = step * (double)node, re = c * (c + 1.0) - u * u, im = u * (2.0 * c + 1.0), norm = re * re + im * im;
        double kernel_re = node ? c * (c + 1.0) * re / norm : 0.5, kernel_im = node ? -(c * (c + 1.0)) * im / norm : 0.0;
        double kernel = sqrt(kernel_re * kernel_re + kernel_im * kernel_im);
        for (Size row = 0; row < many; row++) {
            Size at = row * nodes + node;
            double real = value[2 * at] - heights[row], imag = value[2 * at + 1], whole = sqrt(real * real + imag * imag);
            if (!(real <= 1.0))
                return 0;
            /* K's own error; |term| u |eps| times the rounding of u eps; K less the height, the kernel, the exponential and the
             * turn */
            double off = error[at] + UNIT * (2.0 * whole + (4.0 * fabs(epsilon) * u + (24.0 + 6.0 * FUNCTION / UNIT)));
            double turn = imag - u * epsilon, modulus = exp(real), er = modulus * cos(turn), ei = modulus * sin(turn);
            weights[2 * at] = kernel_re * er - kernel_im * ei;
            weights[2 * at + 1] = kernel_re * ei + kernel_im * er;
            double size = kernel * modulus * (1.0 + 16.0 * UNIT);
            if (off <= CAP) /* e^x - 1 <= x + x^2 for x <= 1 */
                errors[at] = size * ((off <= 1e-3 ? off + off * off : expm1(off)) * SECOND_ORDER + 2.0 * (double)nodes * UNIT);
            else
                errors[at] = kernel * exp(smaller(real + off, error[row * nodes])) * SECOND_ORDER + size;
            abs_moments[row] += size * u;
            sums[row] += errors[at];
        }
    }
    return 1;
}

int hs_contour_truncate(const double *decay, int cells, double growth, double start, double step, double wanted, Size most,
                        double *rest) {
    double left[CLOSER + 1], beyond[CLOSER + 1], size[CLOSER];
    int cell = 0;
    for (int i = 0; i < cells; i++) {
        left[i] = i ? growth * left[i - 1] : start;
        size[i] = decay[i] > 0.0 ? -smaller(decay[i], 700.0) : 0.0;
    }
    hs_exps(size, cells);
    left[cells] = INFINITY;
    beyond[cells] = 0.0;
    for (int i = cells - 1; i >= 0;
         i--) /* docs/mathematics.md, Lemma 7: the sum over i >= j of e^{-d_i} (1/a_i - 1/a_{i+1} + h/a_i^2) */
        beyond[i] = beyond[i + 1] + size[i] * (1.0 / left[i] - 1.0 / left[i + 1] + step / (left[i] * left[i]));
    while (cell < most && cell < cells - 1 && beyond[cell] > wanted)
        cell++;
    *rest = beyond[cell];
    return cell;
}
