/* Epsilon of Gaussian noise, and of one sampled step of it, in one go.  Twin of numerics/normal.py, log_shift_delta, where Mills'
 * ratios differ enough and none of them is that of a far tail; the rest is left to Python. */
#include "closed.h"

#define ERFCX (ERFC + FUNCTION + 6.0 * UNIT)
enum { STEPS = 60, ATTEMPTS = 8 };

typedef struct {
    double value, error, slope;
} LogDelta;

/* e^{x^2} erfc(x) to a relative ERFCX, for -1 <= x <= 26; what rounding takes from the square is put back */
static double erfcx(double x) {
    double square = x * x;
    return erfc(x) * (exp(square) * (1.0 + fma(x, x, -square)));
}

/* docs/mathematics.md, section 5: log of P(N > a) - e^x P(N > a + mu) with a = x/mu - mu/2; 0 where other formulas serve */
static int log_shift_delta(double mu, double mu_error, double x, LogDelta *out) {
    double middle = x / mu, half = 0.5 * mu, a = middle - half, b = middle + half;
    if (!(a >= -1.0 && b <= 36.0))
        return 0;
    double left = 0.5 * erfcx(a * sqrt(0.5)), right = 0.5 * erfcx(b * sqrt(0.5)), gap = left - right;
    if (!(gap >= 0.01 * left))
        return 0;
    double shift = (mu_error + 2.0 * UNIT) * (middle + half), factor = log(gap);
    double moved = shift * (a > 1.0 + 2.0 * shift ? 1.0 / (a - shift) : 1.3 + shift);
    double off = (left + right) / gap * (ERFCX + 4.0 * UNIT + (moved < 1e-6 ? moved * SECOND_ORDER : expm1(moved)));
    if (!(off < 0.5))
        return 0;
    out->value = factor - 0.5 * a * a;
    out->error = (fabs(a) + 0.5 * shift) * shift + 2.0 * UNIT * a * a + FUNCTION * (1.0 + fabs(factor)) +
                 (off < 1e-6 ? off * SECOND_ORDER : -log1p(-off)) + 2.0 * UNIT * fabs(out->value);
    out->slope = -right / gap;
    return 1;
}

/* The same of one sampled step, at the loss x of the step itself: log of q delta(x), the pair of a removal, or of w(x) delta(x),
   w(x) = q/(1 + (1-q) (e^x - 1)), that of an addition (docs/mathematics.md, section 5); a rate of 1: not sampled */
typedef struct {
    double mu, mu_error, rate;
    int removal;
} Once;

static int log_delta_once(const Once *once, double x, LogDelta *out) {
    if (!log_shift_delta(once->mu, once->mu_error, x, out))
        return 0;
    if (once->rate < 1.0) {
        double weight = log(once->rate), error = FUNCTION * fabs(weight);
        if (!once->removal) {
            double excess = (1.0 - once->rate) * expm1(x), fall = log1p(excess);
            weight -= fall;
            error += 2.0 * FUNCTION * fall + 4.0 * UNIT * fall; /* log1p of what errs by a share errs by no more than that share */
            out->slope -= (excess + (1.0 - once->rate)) / (1.0 + excess);
        }
        out->value += weight;
        out->error += error + 2.0 * UNIT * (fabs(weight) + fabs(out->value));
    }
    return 1;
}

/* From near the root, on the side of `sign`, to where the value is surely above (-1) or below (1) the goal */
static int end(const Once *once, double near, double goal, double sign, double *found) {
    LogDelta at;
    double point = near;
    for (int i = 0; i < ATTEMPTS; i++) {
        if (!(point > 0.0 && log_delta_once(once, point, &at)))
            return 0;
        double missing = sign * (nextafter(at.value + sign * at.error, sign * INFINITY) - goal);
        if (missing <= 0.0) {
            *found = point;
            return 1;
        }
        point = nextafter(point - sign * missing / at.slope * (1.0 + 1e-6 + 0.1 * i), sign * INFINITY);
    }
    return 0;
}

/* Both ends of x; 0 where other formulas serve */
static int both_ends(const Once *once, double delta, double *low, double *high) {
    LogDelta at;
    double log_delta = log(delta), slack = FUNCTION + 2.0 * UNIT, below = log_delta * (1.0 + slack),
           above = log_delta * (1.0 - slack), least = log_delta - log(once->rate); /* q delta(x) is at least what is evaluated */
    if (!(1e-3 < once->mu && once->mu < 1e3 && 0.0 <= once->mu_error && once->mu_error < 1e-6 && 0.0 < delta && delta < 1.0 &&
          least < 0.0))
        return 0;
    double far = sqrt(-2.0 * least), near = -2.0 * (least + log(far * (far / once->mu + 1.0) * sqrt(2.0 * PI)));
    double point =
        once->mu * (0.5 * once->mu + (near > 1.0 ? sqrt(near) : far)); /* log delta is concave: from the right, if not at once */
    for (int i = 0; i < STEPS; i++) {
        if (!(point > 0.0 && log_delta_once(once, point, &at)))
            return 0;
        double step = (log_delta - at.value) / at.slope;
        point += step;
        if (fabs(step) <= 1e-9 * point) /* the next one would be a rounding error */
            break;
    }
    double off = (2.0 * at.error + (above - below)) / at.slope; /* about where the proofs will end */
    return end(once, point + off, above, -1.0, low) && end(once, point - off, below, 1.0, high);
}

int hs_closed_gaussian(double mu, double mu_error, double delta, double *low, double *high) {
    Once once = {.mu = mu, .mu_error = mu_error, .rate = 1.0};
    return both_ends(&once, delta, low, high);
}

/* epsilon is log(1 - q + q e^x), or -log(1 - q + q e^-x) for an addition */
int hs_closed_once(double mu, double mu_error, double rate, int removal, double delta, double *low, double *high) {
    Once once = {.mu = mu, .mu_error = mu_error, .rate = rate, .removal = removal};
    double q = rate, sign = removal ? 1.0 : -1.0;
    if (!(1e-300 < q && q < 0.999 && both_ends(&once, delta, low, high) && *high < 600.0))
        return 0;
    double error = 3.0 * FUNCTION / (removal ? 1.0 : 1.0 - q); /* relative */
    *low = sign * log1p(q * expm1(sign * *low)) * (1.0 - error);
    *high = sign * log1p(q * expm1(sign * *high)) * (1.0 + error);
    return 1;
}

/* Both ends of log delta at some epsilons; NaN for those not answered */
int hs_closed_gaussian_deltas(double mu, double mu_error, const double *epsilons, Size many, double *low, double *high) {
    LogDelta at;
    if (!(1e-3 < mu && mu < 1e3 && 0.0 <= mu_error && mu_error < 1e-6))
        return 0;
    for (Size i = 0; i < many; i++) {
        int found = epsilons[i] > 0.0 && log_shift_delta(mu, mu_error, epsilons[i], &at);
        low[i] = found ? nextafter(at.value - at.error, -INFINITY) : NAN;
        high[i] = found ? nextafter(at.value + at.error, INFINITY) : NAN;
    }
    return 1;
}
