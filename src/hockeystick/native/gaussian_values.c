/* Twins of loss/sampled/gaussian_slice.py: the cumulant generating function of a sampled Gaussian step: bounds of log M(k) at real
   k, and log M(k) along a vertical line. */
#include "gaussian_values.h"
#include "elementary.h"
#include "fourier_sums.h"
#include "gaussian_grid.h"

/* log of the sum, what lies outside (Lemma 10) and the error of the rule (Lemma 9) added; `slack` is the rounding of the exponents
 */
double hs_gaussian_above(const Grid *grid, double k) {
    double reach = larger(fabs(grid->low), fabs(grid->high)), top = -INFINITY, inside = 0.0, terms[TOGETHER];
    double scale = reach / grid->noise + 0.5 / (grid->noise * grid->noise) - log1p(-grid->rate);
    for (Size i = 0; i < grid->size; i++)
        top = larger(top, k * grid->ratio[i] + grid->base[i]);
    for (Size start = 0; start < grid->size; start += TOGETHER) {
        Size size = grid->size - start < TOGETHER ? grid->size - start : TOGETHER;
        for (Size i = 0; i < size; i++)
            terms[i] = k * grid->ratio[start + i] + grid->base[start + i] - top;
        hs_exps(terms, size);
        for (Size i = 0; i < size; i++)
            inside += terms[i];
    }
    double slack =
        UNIT * ((12.0 + 2.0 * grid->noise_error / UNIT) * fabs(k) * scale + (4.0 * reach * reach + (double)grid->size + 60.0));
    double rule = smaller(hs_grid_rule_error(grid, k, grid->angle), -1e-9);
    double within = top + log(inside), beyond = hs_grid_outside(grid, k), most = larger(within, beyond);
    if (!(within < INFINITY && beyond < INFINITY && rule < -1.0)) /* or it is no number */
        return INFINITY;
    return most + log1p(exp(smaller(within, beyond) - most)) + (slack - log1p(-exp(rule)));
}

enum { DEGREES = 40, BLOCK = 32 }; /* BLOCK: terms that hs_fourier_sums adds up first */

/* What the sum of e^{kL} - 1 - k x goes by (Lemma 12 of docs/mathematics.md): nodes with |k L| <= 1 by powers of L, the others by
   themselves */
typedef struct {
    const Grid *grid;
    const double *k;        /* real parts of the exponents */
    Size many;              /* how many */
    double size;            /* the largest |k + iu| */
    Size first;             /* nodes with |k L| <= 1: from here on */
    Size last;              /* up to here */
    Size far;               /* how many others */
    int degree;             /* of the polynomial in k */
    double powers[DEGREES]; /* its factors: sums of weight L^m/m!, and what follows from them */
    double remainder;       /* relative, of the powers left out */
    double square;          /* the sum of weight L^2 over those nodes */
    double spread;          /* of weight |L| times the error of L */
    Exact mass;             /* of the others: of weight */
    Exact weight_exp_t;     /* and of weight e^t */
    double far_one;         /* bounds of the errors of those sums: of the first */
    double far_two;         /* and of both */
    double *tilted;         /* weight e^{kL}, a row for each k */
    double *far_ratio;      /* L */
    double *slope_of;       /* errors relative to |k| */
    double *constant_of;    /* and others */
    double *weights;        /* of all nodes */
    double *weights_exp_t;  /* the same times e^t */
    double *re;             /* sums of e^{iuL}, for each k and u */
    double *im;
} Excess;

/* The room as rows, and which nodes go by powers of L, of what degree: terms fall like widest^m/m! */
static void plan_excess(Excess *of, double *space, Size total) {
    const double *ratio = of->grid->ratio;
    Size n = of->grid->size, first = 0, last;
    double bound = 1.0 / larger(1.0, of->size);
    while (first < n && ratio[first] < -bound)
        first++;
    for (last = first; last < n && ratio[last] < bound; last++)
        ;
    of->first = first, of->last = last, of->far = n - (last - first), of->degree = 2;
    if (last > first) {
        double widest = larger(larger(1.0, of->size) * larger(fabs(ratio[first]), fabs(ratio[last - 1])), 1e-300);
        double term = widest / 3.0;
        while (of->degree * term > 0x1p-55 && of->degree < DEGREES)
            of->degree++, term *= widest / (of->degree + 1);
        of->remainder = of->degree * term / (1.0 - 2.0 * widest / (of->degree + 2));
    }
    of->tilted = space, of->far_ratio = of->tilted + of->many * n, of->slope_of = of->far_ratio + n;
    of->constant_of = of->slope_of + n, of->weights = of->constant_of + n, of->weights_exp_t = of->weights + n;
    of->re = of->weights_exp_t + n, of->im = of->re + total;
    memset(of->re, 0, (size_t)(2 * total) * sizeof(double));
}

/* The sums over the nodes, and their errors: of t, of L, of the weights, whose exponent errs by units of z^2 */
static void sum_nodes(Excess *of) {
    const Grid *grid = of->grid;
    const double *z = grid->z;
    double noise = grid->noise;
    int steep = fabs(z[grid->size - 1]) * (1.0 / noise) + 0.5 / (noise * noise) > CAP;
    double terms = (double)((of->far < BLOCK ? of->far : BLOCK) + (of->far + BLOCK - 1) / BLOCK);
    Size place = 0;
    for (Size i = 0; i < grid->size; i++) {
        of->weights[i] = grid->base[i];
        of->weights_exp_t[i] = grid->base[i] + (z[i] - 0.5 / noise) * (1.0 / noise);
    }
    hs_exps(of->weights, 2 * grid->size);
    for (Size i = 0; i < grid->size; i++) {
        double weight = of->weights[i], l = grid->ratio[i], reach = fabs(z[i]) * (1.0 / noise) + 0.5 / (noise * noise);
        double t_error = (3.0 * UNIT + 2.0 * grid->noise_error) * reach;
        double ratio_error = grid->share[i] * t_error + (FUNCTION + 16.0 * UNIT) * fabs(l) + (steep ? 12.0 * UNIT * reach : 0.0);
        if (of->first <= i && i < of->last) {
            double power = weight * l * l, weight_l = weight * fabs(l);
            of->square += power;
            of->spread += weight_l * (ratio_error + UNIT * fabs(l) * z[i] * z[i]);
            for (int m = 0; m < of->degree - 1; m++) {
                of->powers[m] += power;
                power *= l;
            }
            continue;
        }
        double larger_one = of->weights_exp_t[i], each = UNIT * (20.0 + z[i] * z[i]) + t_error;
        add(&of->mass, weight);
        add(&of->weight_exp_t, larger_one);
        of->far_one += weight * each;
        of->far_two += (larger_one + weight) * each;
        of->far_ratio[place] = l;
        of->slope_of[place] = ratio_error + (6.0 * UNIT) * fabs(l);
        of->constant_of[place] = (3.0 * UNIT) * z[i] * z[i] + ((terms + 8.0) * UNIT + FUNCTION + TURNS_ERROR);
        for (Size row = 0; row < of->many; row++)
            of->tilted[row * of->far + place] = of->k[row] * l + grid->base[i];
        place++;
    }
    hs_exps(of->tilted, of->many * of->far);
    double factorial = 1.0;
    for (int m = 0; m < of->degree - 1; m++) { /* S_m = sum of weight L^m/m! from m = 2 */
        factorial *= m + 2;
        of->powers[m] /= factorial;
    }
    for (int m = of->degree - 3; m >= 0; m--) /* T_i */
        of->powers[m] += of->powers[m + 1];
}

/* log M at the nodes of one row, and bounds of its errors; `fixed` is that of the rule and of what lies outside of the grid */
static void excess_row(const Excess *of, Size row, double step, Size nodes, double fixed, double *value, double *error) {
    double slope = 0.0, constant = 0.0, real = of->k[row], rate = of->grid->rate, small_error = 0.0;
    double sure = of->mass.sum + of->mass.rest, drift = rate * ((of->weight_exp_t.sum + of->weight_exp_t.rest) - sure);
    if (of->last >
        of->first) /* the terms of the series add up to at most e/2 of the square: 1.36, and twice that for errors of L */
        small_error = 1.36 * of->square * (((double)(of->last - of->first) + 4.0 * of->degree + 30.0) * UNIT + of->remainder) +
                      2.72 * of->spread;
    for (Size j = 0; j < of->far; j++) {
        slope += of->tilted[row * of->far + j] * of->slope_of[j];
        constant += of->tilted[row * of->far + j] * of->constant_of[j];
    }
    for (Size u = 0; u < nodes; u++) {
        Size at = row * nodes + u;
        double imag = step * (double)u, reach = sqrt(real * real + imag * imag), pr = of->powers[of->degree - 2], pi = 0.0, swap;
        for (int m = of->degree - 3; m >= 0; m--) { /* Horner */
            swap = pr * real - pi * imag + of->powers[m];
            pi = pr * imag + pi * real;
            pr = swap;
        }
        double fr = real * (real - 1.0) - imag * imag, fi = imag * (2.0 * real - 1.0);
        double er = fr * pr - fi * pi, ei = fr * pi + fi * pr, lost = sqrt(fr * fr + fi * fi) * small_error + fixed;
        if (of->far) {
            er += of->re[at] - (sure + real * drift);
            ei += of->im[at] - imag * drift;
            lost += reach * slope + constant + of->far_one + reach * (rate * of->far_two);
        }
        double whole = 2.0 * er + (er * er + ei * ei), magnitude = larger(hypot(1.0 + er, ei), 1e-290);
        value[2 * at] = whole < -0.75 ? log(magnitude) : 0.5 * log1p(whole);
        value[2 * at + 1] = atan2(ei, 1.0 + er);
        error[at] = (lost + 8.0 * UNIT * (fabs(er) + fabs(ei))) * (SECOND_ORDER / magnitude);
    }
}

int hs_gaussian_excess(const Grid *grid, const double *k, Size many, double step, Size nodes, double *value, double *error) {
    Size total = many * nodes;
    double *space = malloc((size_t)((many + 5) * grid->size + 2 * total) * sizeof(double)), beyond = -INFINITY;
    Excess of = {.grid = grid, .k = k, .many = many};
    if (!space)
        return 0;
    for (Size row = 0; row < many; row++) {
        of.size = larger(of.size, hypot(k[row], step * (double)(nodes - 1)));
        beyond = larger(beyond, hs_grid_outside(grid, k[row]));
    }
    plan_excess(&of, space, total);
    sum_nodes(&of);
    int found = !of.far || hs_fourier_sums(of.far_ratio, of.tilted, many, of.far, step, nodes, of.re, of.im);
    /* Lemma 9, times 1 + |k| for the rule of each term; Lemma 10 for e^{kL}, and for 1 + |k x| */
    double fixed =
        (2.0 + 2.0 * of.size) * exp(smaller(600.0, grid->log_rule)) + exp(beyond) + exp(hs_grid_outside_linear(grid, of.size));
    for (Size row = 0; row < many && found; row++)
        excess_row(&of, row, step, nodes, fixed, value, error);
    free(space);
    return found;
}

/* e^y - 1 - y */
static double exp_remainder(double y) {
    if (fabs(y) >= 0.5)
        return expm1(y) - y;
    double sum = 0.0;
    for (int n = 16; n >= 2; n--) /* y^2 (1/2 + y (1/6 + ...)) */
        sum = (1.0 + sum * y) / n;
    return sum * y * y;
}

enum { TERMS = 13 };

/* One order by sums relative to w = k - 1 or k: `_gentle`; docs/mathematics.md, section 3, "Very many steps" */
int hs_gaussian_gentle(const Grid *grid, double c, int removal, const double *k, Size many, double step, Size nodes, double *value,
                       double *error) {
    double mean = 0.0, first_squares = 0.0, moments[TERMS + 1] = {0.0}, weighted_error = 0.0, square_error = 0.0,
           noise = grid->noise;
    double n = (double)grid->size, beyond = -INFINITY;
    int steep = fabs(grid->z[grid->size - 1]) * (1.0 / noise) + 0.5 / (noise * noise) > CAP;
    for (Size i = 0; i < grid->size; i++) {
        double l = grid->ratio[i], far = fabs(l), z = grid->z[i], weight = exp(grid->base[i]),
               weight_exp_t = exp(grid->base[i] + l);
        double near = smaller(l, 1.0), own = removal ? weight_exp_t : weight, first;
        if (removal)
            first = l < 1.0 ? weight * (near * expm1(near) - exp_remainder(near)) : weight_exp_t * (l - 1.0) + weight;
        else
            first = -(l < 1.0 ? weight * exp_remainder(near) : weight_exp_t - weight * (1.0 + l));
        double reach = fabs(z) * (1.0 / noise) + 0.5 / (noise * noise), t_error = (3.0 * UNIT + 2.0 * grid->noise_error) * reach;
        double off = grid->share[i] * t_error + (FUNCTION + 16.0 * UNIT) * far + (steep ? 12.0 * UNIT * reach : 0.0);
        mean += first;
        first_squares += first * (z * z);
        weighted_error += larger(weight_exp_t, weight) * (off * far);
        square_error +=
            own * far * far * ((n + 80.0) * UNIT + 3.0 * FUNCTION + 3.0 * UNIT * (z * z)) + own * (off * (far * far + 1.5 * far));
        double power = own * l;
        for (int m = 2; m <= TERMS; m++)
            moments[m] += power *= l;
    }
    for (Size row = 0; row < many; row++)
        beyond = larger(beyond, hs_grid_outside(grid, k[row]));
    double drift = 4.0 * weighted_error + fabs(mean) * (n + 200.0) * UNIT + 8.0 * fabs(first_squares) * UNIT;
    double last = step * (double)(nodes - 1), most = hypot(c, last) + (removal ? 1.0 : 0.0);
    double fixed = (2.0 + 2.0 * most) * exp(smaller(600.0, grid->log_rule)) + exp(beyond) + exp(hs_grid_outside_linear(grid, most));
    for (Size node = 0; node < nodes; node++) {
        double wr = removal ? c : -c, wi = step * (double)node, size = sqrt(wr * wr + wi * wi), sr = 0.0, si = 0.0, swap;
        for (int m = TERMS; m > 1; m--) {
            swap = ((sr + moments[m]) * wr - si * wi) / m;
            si = ((sr + moments[m]) * wi + si * wr) / m;
            sr = swap;
        }
        double er = wr * (mean + sr) - wi * si, ei = wr * si + wi * (mean + sr), whole = 2.0 * er + (er * er + ei * ei);
        double magnitude = hypot(1.0 + er, ei), lost = size * (drift + size * square_error) + fixed;
        if (!(whole > -0.75))
            return 0;
        value[2 * node] = 0.5 * log1p(whole);
        value[2 * node + 1] = atan2(ei, 1.0 + er);
        error[node] = (lost + 8.0 * UNIT * (fabs(er) + fabs(ei))) * (SECOND_ORDER / magnitude);
    }
    return 1;
}
