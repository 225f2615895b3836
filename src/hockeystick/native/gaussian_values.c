/* Twins of loss/sampled/gaussian_slice.py: bounds of log M(k) at real k, and log M(k) along a vertical line. */
#include "gaussian_values.h"
#include "elementary.h"
#include "fourier_sums.h"
#include "gaussian_grid.h"

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

int hs_gaussian_excess(const Grid *grid, const double *k, Size many, double step, Size nodes, double *value, double *error) {
    Size total = many * nodes;
    double *space = malloc((size_t)((many + 5) * grid->size + 2 * total) * sizeof(double));
    if (!space)
        return 0;
    const double *z = grid->z, *ratio = grid->ratio;
    Size n = grid->size;
    double noise = grid->noise, rate = grid->rate, last_u = step * (double)(nodes - 1), size = 0.0, beyond = -INFINITY;
    for (Size row = 0; row < many; row++) {
        size = larger(size, hypot(k[row], last_u));
        beyond = larger(beyond, hs_grid_outside(grid, k[row]));
    }
    double bound = 1.0 / larger(1.0, size), widest = 0.0;
    Size first = 0, last;
    while (first < n && ratio[first] < -bound)
        first++;
    for (last = first; last < n && ratio[last] < bound; last++)
        ;
    int steep = fabs(z[n - 1]) * (1.0 / noise) + 0.5 / (noise * noise) > CAP;

    /* nodes with |k L| <= 1: powers of L */
    double powers[DEGREES] = {0.0}, square = 0.0, spread = 0.0, remainder = 0.0, small_error = 0.0;
    int degree = 2;
    if (last > first) {
        widest = larger(larger(1.0, size) * larger(fabs(ratio[first]), fabs(ratio[last - 1])), 1e-300);
        double term = widest / 3.0;
        while (degree * term > 0x1p-55 && degree < DEGREES)
            degree++, term *= widest / (degree + 1);
        remainder = degree * term / (1.0 - 2.0 * widest / (degree + 2));
    }
    /* the others: their weights for each k, and the sums of weight and of weight x */
    double *tilted = space, *far_ratio = tilted + many * n, *slope_of = far_ratio + n, *constant_of = slope_of + n;
    double *weights = constant_of + n, *moved = weights + n, *re = moved + n, *im = re + total;
    memset(re, 0, (size_t)(2 * total) * sizeof(double));
    Size far = n - (last - first), place = 0;
    Exact mass = {0.0, 0.0}, grown = {0.0, 0.0};
    double far_one = 0.0, far_two = 0.0, terms = (double)((far < BLOCK ? far : BLOCK) + (far + BLOCK - 1) / BLOCK);
    for (Size i = 0; i < n; i++) {
        weights[i] = grid->base[i];
        moved[i] = grid->base[i] + (z[i] - 0.5 / noise) * (1.0 / noise);
    }
    hs_exps(weights, 2 * n);
    for (Size i = 0; i < n; i++) {
        double weight = weights[i], l = ratio[i], reach = fabs(z[i]) * (1.0 / noise) + 0.5 / (noise * noise);
        double t_error = (3.0 * UNIT + 2.0 * grid->noise_error) * reach;
        double ratio_error = grid->share[i] * t_error + (FUNCTION + 16.0 * UNIT) * fabs(l) + (steep ? 12.0 * UNIT * reach : 0.0);
        if (first <= i && i < last) {
            double power = weight * l * l, pull = weight * fabs(l);
            square += power;
            spread += pull * (ratio_error + UNIT * fabs(l) * z[i] * z[i]);
            for (int m = 0; m < degree - 1; m++) {
                powers[m] += power;
                power *= l;
            }
            continue;
        }
        double larger_one = moved[i], each = UNIT * (20.0 + z[i] * z[i]) + t_error;
        add(&mass, weight);
        add(&grown, larger_one);
        far_one += weight * each;
        far_two += (larger_one + weight) * each;
        far_ratio[place] = l;
        slope_of[place] = ratio_error + (6.0 * UNIT) * fabs(l);
        constant_of[place] = (3.0 * UNIT) * z[i] * z[i] + ((terms + 8.0) * UNIT + FUNCTION + TURNS_ERROR);
        for (Size row = 0; row < many; row++)
            tilted[row * far + place] = k[row] * l + grid->base[i];
        place++;
    }
    hs_exps(tilted, many * far);
    double sure = mass.sum + mass.rest, drift = rate * ((grown.sum + grown.rest) - sure), factorial = 1.0;
    for (int m = 0; m < degree - 1; m++) { /* S_m = sum of weight L^m/m! from m = 2 */
        factorial *= m + 2;
        powers[m] /= factorial;
    }
    for (int m = degree - 3; m >= 0; m--) /* T_i */
        powers[m] += powers[m + 1];
    if (last > first)
        small_error = 1.36 * square * (((double)(last - first) + 4.0 * degree + 30.0) * UNIT + remainder) + 2.72 * spread;
    if (far && !hs_fourier_sums(far_ratio, tilted, many, far, step, nodes, re, im)) {
        free(space);
        return 0;
    }
    double fixed = (2.0 + 2.0 * size) * exp(smaller(600.0, grid->log_rule)) + exp(beyond) + exp(hs_grid_outside_linear(grid, size));
    for (Size row = 0; row < many; row++) {
        double slope = 0.0, constant = 0.0, real = k[row];
        for (Size j = 0; j < far; j++) {
            slope += tilted[row * far + j] * slope_of[j];
            constant += tilted[row * far + j] * constant_of[j];
        }
        for (Size u = 0; u < nodes; u++) {
            Size at = row * nodes + u;
            double imag = step * (double)u, reach = sqrt(real * real + imag * imag), pr = powers[degree - 2], pi = 0.0, swap;
            for (int m = degree - 3; m >= 0; m--) { /* Horner */
                swap = pr * real - pi * imag + powers[m];
                pi = pr * imag + pi * real;
                pr = swap;
            }
            double fr = real * (real - 1.0) - imag * imag, fi = imag * (2.0 * real - 1.0);
            double er = fr * pr - fi * pi, ei = fr * pi + fi * pr, lost = sqrt(fr * fr + fi * fi) * small_error + fixed;
            if (far) {
                er += re[at] - (sure + real * drift);
                ei += im[at] - imag * drift;
                lost += reach * slope + constant + far_one + reach * (rate * far_two);
            }
            double whole = 2.0 * er + (er * er + ei * ei), magnitude = larger(hypot(1.0 + er, ei), 1e-290);
            value[2 * at] = whole < -0.75 ? log(magnitude) : 0.5 * log1p(whole);
            value[2 * at + 1] = atan2(ei, 1.0 + er);
            error[at] = (lost + 8.0 * UNIT * (fabs(er) + fabs(ei))) * (SECOND_ORDER / magnitude);
        }
    }
    free(space);
    return 1;
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

/* One order by sums relative to w = k - 1 or k: `_gentle` */
int hs_gaussian_gentle(const Grid *grid, double c, int removal, const double *k, Size many, double step, Size nodes, double *value,
                       double *error) {
    double mean = 0.0, first_squares = 0.0, moments[TERMS + 1] = {0.0}, pulled = 0.0, bend = 0.0, noise = grid->noise;
    double n = (double)grid->size, beyond = -INFINITY;
    int steep = fabs(grid->z[grid->size - 1]) * (1.0 / noise) + 0.5 / (noise * noise) > CAP;
    for (Size i = 0; i < grid->size; i++) {
        double l = grid->ratio[i], far = fabs(l), z = grid->z[i], weight = exp(grid->base[i]), grown = exp(grid->base[i] + l);
        double near = smaller(l, 1.0), own = removal ? grown : weight, first;
        if (removal)
            first = l < 1.0 ? weight * (near * expm1(near) - exp_remainder(near)) : grown * (l - 1.0) + weight;
        else
            first = -(l < 1.0 ? weight * exp_remainder(near) : grown - weight * (1.0 + l));
        double reach = fabs(z) * (1.0 / noise) + 0.5 / (noise * noise), t_error = (3.0 * UNIT + 2.0 * grid->noise_error) * reach;
        double off = grid->share[i] * t_error + (FUNCTION + 16.0 * UNIT) * far + (steep ? 12.0 * UNIT * reach : 0.0);
        mean += first;
        first_squares += first * (z * z);
        pulled += larger(grown, weight) * (off * far);
        bend +=
            own * far * far * ((n + 80.0) * UNIT + 3.0 * FUNCTION + 3.0 * UNIT * (z * z)) + own * (off * (far * far + 1.5 * far));
        double power = own * l;
        for (int m = 2; m <= TERMS; m++)
            moments[m] += power *= l;
    }
    for (Size row = 0; row < many; row++)
        beyond = larger(beyond, hs_grid_outside(grid, k[row]));
    double drift = 4.0 * pulled + fabs(mean) * (n + 200.0) * UNIT + 8.0 * fabs(first_squares) * UNIT;
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
        double magnitude = hypot(1.0 + er, ei), lost = size * (drift + size * bend) + fixed;
        if (!(whole > -0.75))
            return 0;
        value[2 * node] = 0.5 * log1p(whole);
        value[2 * node + 1] = atan2(ei, 1.0 + er);
        error[node] = (lost + 8.0 * UNIT * (fabs(er) + fabs(ei))) * (SECOND_ORDER / magnitude);
    }
    return 1;
}
