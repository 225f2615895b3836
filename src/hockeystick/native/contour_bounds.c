/* Twins of loss/contour/contour.py: bounds of delta from the cumulant generating function on the real axis (Chernoff), and from the
   trapezoidal sum with its aliasing error (Poisson summation) and truncation error. */
#include "contour_bounds.h"
#include "contour_sum.h"

const double HS_AHEAD[AHEAD] = {0.0, 0.4, 1.2, 3.0, 6.5};

/* docs/mathematics.md, Lemma 4: delta(x) <= s^s/(1+s)^{1+s} e^{K(s) - s x} for every s > 0 */
double hs_log_markov(double s) { return -log1p(s) - s * log1p(1.0 / s); }

/* Lemma 4 at the best of the places ahead */
double hs_contour_markov(const Contour *contour, int row, double epsilon) {
    double slack = 8.0 * UNIT * (contour->size_ahead + fabs(contour->points_ahead[AHEAD - 1] * epsilon)), least = INFINITY;
    for (int i = 0; i < AHEAD; i++)
        least = smaller(least, contour->log_markov_ahead[row][i] - contour->points_ahead[i] * epsilon);
    return least + slack;
}

/* Lemma 4, solved for epsilon */
double hs_contour_markov_epsilon(const Contour *contour, int row, double log_delta) {
    double least = INFINITY;
    for (int i = 0; i < AHEAD; i++)
        least = smaller(least, (contour->log_markov_ahead[row][i] - log_delta) / contour->points_ahead[i]);
    return least + 16.0 * UNIT * (fabs(least) + (contour->size_ahead + fabs(log_delta)) / contour->c);
}

/* Takes bounds of K ahead; 0 if one is no number */
int hs_contour_bound_ahead(Contour *contour, double above[ROWS][AHEAD]) {
    double largest = 0.0, deepest = 0.0;
    for (int i = 0; i < AHEAD; i++) {
        double log_of = hs_log_markov(contour->points_ahead[i]);
        deepest = larger(deepest, fabs(log_of));
        for (int pair = 0; pair < contour->pairs; pair++) {
            contour->log_markov_ahead[pair][i] = log_of * (1.0 - 2.0 * FUNCTION) + above[pair][i];
            if (!(fabs(contour->log_markov_ahead[pair][i]) < INFINITY))
                return 0;
            largest = larger(largest, fabs(contour->log_markov_ahead[pair][i]));
        }
    }
    contour->size_ahead = largest + deepest + 1.0;
    return fabs(contour->c * contour->epsilon) * UNIT <= 0.01; /* or rounding alone would exceed the answer */
}

/* The longest step whose aliasing errors (Lemma 6), left by mass <= 1 and right by Lemma 4, are e^-TOLERANCE of delta each */
void hs_contour_choose_step(Contour *contour, double log_delta) {
    double c = contour->c, left = 2.0 * PI * c / larger(TOLERANCE + contour->log_mass - log_delta, 1.0), right = 0.0;
    for (int i = 1; i < AHEAD; i++) {
        double s = contour->points_ahead[i], height = -INFINITY;
        for (int row = 0; row < contour->many; row++)
            height = larger(height, contour->log_markov_ahead[contour->used_rows[row]][i]);
        double need = height - s * contour->epsilon + (TOLERANCE - log_delta);
        right = larger(right, 2.0 * PI * (s - c) / larger(need, 1e-3));
    }
    contour->step = smaller(left, larger(right, 1e-3 * left));
}

/* How many nodes there are to be, given how the transform falls; 0 if there would be too many or they prove too little */
int hs_contour_node_count(Contour *contour, const double *decay, int cells, double growth, double allowed) {
    /* Lemma 7: relative to the term at u = 0 the others beyond are at most c(c+1)/h times the sum over cells */
    double c = contour->c, factor = c * (c + 1.0) / contour->step * SECOND_ORDER, share = contour->width / contour->step, rest;
    double most = smaller(cells, log(larger(1.0, allowed / share)) / log(growth));
    contour->nodes = 0;
    if (!(most >= 0.0))
        return 0;
    int cell = hs_contour_truncate(decay, cells, growth, contour->width, contour->step, exp(-TOLERANCE) * share / factor,
                                   (Size)most, &rest);
    contour->truncation_error = rest * factor;
    contour->nodes_wanted = contour->truncation_error <= 1e-8 * share ? ceil(share * pow(growth, cell)) : INFINITY;
    contour->nodes = contour->nodes_wanted <= contour->nodes_allowed ? (Size)contour->nodes_wanted : 0;
    return contour->nodes > 0;
}

/* Evaluates: the terms of the sum, from K and its errors at the nodes; 0 if they prove nothing.  `errors` is room for as many. */
int hs_contour_evaluate(Contour *contour, const double *value, const double *error, double *errors) {
    double heights[ROWS], c = contour->c;
    if (!hs_contour_terms(value, error, contour->many, contour->nodes, contour->step, c, contour->epsilon, contour->weights, errors,
                          heights, contour->abs_moment, contour->sum_error))
        return 0;
    double base = fabs(log(c)) + fabs(log1p(c)) + fabs(log(contour->step)) + 6.0;
    double scale = log(contour->step / PI) - log(c) - log1p(c);
    for (int row = 0; row < contour->many; row++) {
        /* the height is a number taken out of every term: its rounding and that of the logarithms added to it (section 14) */
        contour->height_error[row] = 8.0 * UNIT * (fabs(heights[row]) + base);
        contour->sum_error[row] +=
            contour->truncation_error * expm1(error[row * contour->nodes]); /* it is relative to the first term's truth */
        contour->log_scale[row] = heights[row] + scale;
    }
    return 1;
}

/* About log delta and its slope, and the sum of the first pair */
double hs_contour_estimate(const Contour *contour, double epsilon, double *slope, double *first) {
    double totals[ROWS], slopes[ROWS], best = -INFINITY, c = contour->c;
    hs_contour_sums(contour->weights, contour->many, contour->nodes, contour->step, epsilon - contour->epsilon, totals, slopes);
    *slope = -c;
    for (int row = 0; row < contour->many; row++) {
        double value = totals[row] > 0.0 ? contour->log_scale[row] - c * epsilon + log(totals[row]) : -INFINITY;
        if (value > best) {
            best = value;
            *slope = slopes[row] / totals[row] - c;
        }
    }
    *first = totals[0];
    return best;
}

/* Certified bounds of log delta: the larger of those of the pairs */
void hs_contour_bounds(const Contour *contour, double epsilon, double *lower, double *upper) {
    double totals[ROWS], slopes[ROWS], moved = fabs(epsilon - contour->epsilon), span = 2.0 * PI / contour->step, c = contour->c;
    double last = contour->points_ahead[AHEAD - 1], ahead = last - c, near = contour->points_ahead[1] - c;
    double slack = 8.0 * UNIT * (contour->size_ahead + fabs(last * epsilon) + span * ahead);
    double alias_near = (1.0 + 1e-9) / -expm1(-span * near), alias_c = (1.0 + 1e-9) / -expm1(-span * c), proved[ROWS];
    hs_contour_sums(contour->weights, contour->many, contour->nodes, contour->step, epsilon - contour->epsilon, totals, slopes);
    for (int pair = 0; pair < contour->pairs; pair++)
        proved[pair] = hs_contour_markov(contour, pair, epsilon);
    *lower = -INFINITY;
    for (int row = 0; row < contour->many; row++) {
        int pair = contour->used_rows[row];
        double scale = contour->log_scale[row] - c * epsilon, aliasing = INFINITY;
        double error = contour->height_error[row] + 8.0 * UNIT * (fabs(scale) + fabs(c * epsilon));
        double lost = contour->sum_error[row] + contour->abs_moment[row] * (moved * 4.0 * UNIT) + contour->truncation_error;
        /* Lemma 6, m > 0: s^s/(1+s)^{1+s} e^{K(s) - s eps}/(e^{2 pi (s-c)/h} - 1), the least over s; m < 0: mass/(e^{2 pi c/h} - 1)
         */
        for (int i = 1; i < AHEAD; i++) {
            double s = contour->points_ahead[i];
            aliasing = smaller(aliasing, contour->log_markov_ahead[pair][i] - s * epsilon - span * (s - c));
        }
        double beyond = exp(smaller(aliasing + slack - scale, 700.0)) * alias_near,
               before = exp(smaller(contour->log_mass - scale - span * c, 700.0)) * alias_c;
        double low = totals[row] - lost - (beyond + before);
        if (low > 0.0)
            *lower = larger(*lower, scale - error + log(low));
        proved[pair] = smaller(proved[pair], scale + error + log(larger(1e-300, totals[row] + lost)));
    }
    *upper = -INFINITY;
    for (int pair = 0; pair < contour->pairs; pair++)
        *upper = larger(*upper, proved[pair]);
}
