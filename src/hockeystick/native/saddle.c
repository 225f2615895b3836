/* About where the saddle points of a run lie: guides, which prove nothing. */
#include "law.h"

#define LEFT 7.0 /* log of what the saddle-point approximation may leave out */

/* K, K' and K'' of the run in its first order at c */
static int expand_run(Guide *guide, const Run *run, double c, double jet[3]) {
    if (!run->law->expand(guide, run, exponent(run, 0, c), jet))
        return 0;
    jet[0] *= run->count;
    jet[1] *= run->removal[0] ? run->count : -run->count;
    jet[2] *= run->count;
    return 1;
}

/* `saddle_of_delta` of loss/composed.py: what is 0 there, and its slope in log c */
static double at_delta(double log_delta, double x, double c, const double jet[3], double *slope) {
    double share = c / (1.0 + c), curvature = c * c * jet[2] + 1.0 + share * share;
    double value = c * jet[1] - jet[0] + x + log1p(c) - 1.0 - share, large = x - 0.5 * log(2.0 * PI * curvature) - LEFT;
    *slope = curvature;
    if (large > 0.0) {
        value -= large;
        *slope -= (1.0 + share * share * share) / curvature;
    }
    if (value > 0.0 && log_delta < 0.0) {
        *slope /= value;
        return log(-value / log_delta);
    }
    return value + log_delta;
}

/* `saddle_of_epsilon`, likewise */
static double at_epsilon(double epsilon, double c, const double jet[3], double *slope) {
    *slope = c * (jet[2] + 1.0 / (c * c) + 1.0 / ((1.0 + c) * (1.0 + c)));
    return jet[1] - epsilon - 1.0 / c - 1.0 / (1.0 + c);
}

/* The saddle point at whose epsilon delta is as the run says, or that of an epsilon; 0 if nothing is found */
static double saddle(Guide *guide, const Run *run, double start, const double *epsilon) {
    double lower = log(1e-9), upper = log(1e15), x = smaller(larger(log(start), lower), upper), jet[3], slope;
    for (int turn = 0; turn < 60; turn++) {
        double c = exp(x);
        if (!expand_run(guide, run, c, jet))
            return 0.0;
        double value = epsilon ? at_epsilon(*epsilon, c, jet, &slope) : at_delta(run->log_delta, x, c, jet, &slope);
        if (value > 0.0)
            upper = x;
        else
            lower = x;
        double newton = slope > 0.0 && slope < INFINITY ? -value / slope : value > 0.0 ? -INFINITY : INFINITY;
        double next = x + larger(-1.0, smaller(1.0, newton));
        if (newton > -0.5 && newton < 0.02 && c * c * newton * newton * (jet[2] + 1.0 / (c * c)) < 0.1)
            return exp(next);
        if (!(lower < next && next < upper))
            next = 0.5 * (lower + upper);
        if (!(lower < next && next < upper))
            return 0.0;
        x = next;
    }
    return 0.0;
}

double hs_saddle_of_delta(Guide *guide, const Run *run) {
    double variance, quadratic_limit;
    run->law->coarse_estimates(run, &variance, &quadratic_limit);
    return saddle(guide, run, smaller(sqrt(2.0 * larger(-run->log_delta, 1.0) / larger(variance, 1e-300)), quadratic_limit), NULL);
}

double hs_saddle_of_epsilon(Guide *guide, const Run *run, double epsilon) {
    double variance, quadratic_limit;
    run->law->coarse_estimates(run, &variance, &quadratic_limit);
    double start = larger(epsilon - 0.5 * variance, sqrt(variance)) / larger(variance, 1e-300);
    return saddle(guide, run, smaller(start, quadratic_limit), &epsilon);
}
