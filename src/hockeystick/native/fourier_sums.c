/* Sums of e^{iuL} at equal steps of u: e^{iuL} is a product of one factor for a coarse step and one for a fine one. */
#include "fourier_sums.h"
#include "elementary.h"

enum { BLOCK = 32 }; /* terms that are added up first, for the rounding */

/* Adds, for two rows of weights, those of two places times their e^{iuL}, products of what is coarse and what is fine */
WIDE static void turn_two(const double *restrict fine, const double *restrict coarse, Size inner, Size outer, Size table,
                          const double *weights, double *restrict sums) {
    const double *fr = fine, *fi = fr + inner, *gr = fi + inner, *gi = gr + inner;
    Size wide = inner * outer, fours = inner / 4;
    for (Size p = 0; p < outer; p++) {
        double cr = coarse[p], ci = coarse[table + p], dr = coarse[2 * table + p], di = coarse[3 * table + p];
        double *one = sums + p * inner, *two = one + wide, *three = two + wide, *four = three + wide;
        double a = weights[0], b = weights[1], c = weights[2], d = weights[3];
        for (Size r = 0; r < 4 * fours; r++) {
            double er = cr * fr[r] - ci * fi[r], ei = cr * fi[r] + ci * fr[r], hr = dr * gr[r] - di * gi[r],
                   hi = dr * gi[r] + di * gr[r];
            one[r] = (one[r] + a * er) + b * hr;
            two[r] = (two[r] + a * ei) + b * hi;
            three[r] = (three[r] + c * er) + d * hr;
            four[r] = (four[r] + c * ei) + d * hi;
        }
    }
}

/* The same of one row and four places, whose coarse turns are multiplied by their weights */
WIDE static void turn_four(const double *restrict fine, const double *restrict coarse, Size inner, Size outer, Size table,
                           double *restrict sums) {
    const double *a = fine, *b = a + 2 * inner, *c = b + 2 * inner, *d = c + 2 * inner;
    Size wide = inner * outer, fours = inner / 4;
    for (Size p = 0; p < outer; p++) {
        const double *at = coarse + p;
        double ar = at[0], ai = at[table], br = at[2 * table], bi = at[3 * table], cr = at[4 * table], ci = at[5 * table],
               dr = at[6 * table], di = at[7 * table], *one = sums + p * inner, *two = one + wide;
        for (Size r = 0; r < 4 * fours; r++) {
            double first = (one[r] + (ar * a[r] - ai * a[inner + r])) + (br * b[r] - bi * b[inner + r]);
            double second = (two[r] + (ar * a[inner + r] + ai * a[r])) + (br * b[inner + r] + bi * b[r]);
            one[r] = (first + (cr * c[r] - ci * c[inner + r])) + (dr * d[r] - di * d[inner + r]);
            two[r] = (second + (cr * c[inner + r] + ci * c[r])) + (dr * d[inner + r] + di * d[r]);
        }
    }
}

int hs_fourier_sums(const double *ratio, const double *weights, Size many, Size far, double step, Size nodes, double *re,
                    double *im) {
    Size inner = 4 * (Size)ceil(0.25 * sqrt((double)nodes)), outer = (nodes + inner - 1) / inner, wide = inner * outer;
    Size table = (outer + 3) / 4 * 4, places = many > 1 ? 2 : 4;
    double *space = calloc((size_t)((2 * places + 1) * (inner + table) + 2 * many * wide), sizeof(double));
    if (!space)
        return 0;
    double *fine = space, *coarse = fine + 2 * places * inner, *near = coarse + 2 * places * table, *far_off = near + inner,
           *sums = far_off + table;
    for (Size r = 0; r < inner; r++)
        near[r] = (double)r;
    for (Size p = 0; p < table; p++)
        far_off[p] = (double)(p * inner);
    for (Size start = 0; start < far; start += BLOCK) {
        for (Size j = start; j < far && j < start + BLOCK; j += places) {
            double both[4] = {0.0, 0.0, 0.0, 0.0};
            for (Size other = 0; other < places; other++) {
                double *one = coarse + 2 * other * table;
                if (j + other < far) {
                    double angle = step * ratio[j + other];
                    hs_turns(angle, near, inner, fine + 2 * other * inner, fine + (2 * other + 1) * inner);
                    hs_turns(angle, far_off, table, one, one + table);
                }
                for (Size row = 0; row < many; row++)
                    both[2 * row + other] = j + other < far ? weights[row * far + j + other] : 0.0;
                for (Size p = 0; many == 1 && p < 2 * table; p++)
                    one[p] *= both[other];
            }
            if (many > 1)
                turn_two(fine, coarse, inner, outer, table, both, sums);
            else
                turn_four(fine, coarse, inner, outer, table, sums);
        }
        for (Size row = 0; row < many; row++) {
            double *pr = sums + 2 * row * wide, *pi = pr + wide;
            for (Size u = 0; u < nodes; u++) {
                re[row * nodes + u] += pr[u];
                im[row * nodes + u] += pi[u];
            }
            for (Size u = 0; u < 2 * wide; u++)
                pr[u] = 0.0;
        }
    }
    free(space);
    return 1;
}
