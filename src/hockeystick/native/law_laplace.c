/* The privacy loss distribution of one step of Laplace noise, as contours ask for it: twin of loss/pairs/laplace.py and
   loss/pairs/symmetric_slice.py. Of a run `noise` is by how many of its scales, a, the noise is moved; K(c) = K(-1 - c), so that
   one order stands for both. */
#include "law.h"

enum { TERMS = 9 };
#define SERIES 0.5 /* |v a| below which phi - 1 is summed as a series */

typedef struct {
    double re, im;
} Complex;

static Complex times(Complex x, Complex y) { return (Complex){x.re * y.re - x.im * y.im, x.re * y.im + x.im * y.re}; }

/* The scale and the coefficients of phi - 1 in even powers of v */
static double series_of(double a, double terms[TERMS]) {
    double power = 1.0, square = a * a;
    for (int k = 1; k <= TERMS; k++) {
        power *= square / ((2.0 * k - 1.0) * (2.0 * k));
        terms[k - 1] = power * (1.0 + a / (2.0 * (2.0 * k + 1.0)));
    }
    return exp(-0.5 * a);
}

/* K at w = v - 1/2, Re v >= 1/2, and a bound of its error */
static Complex log_phi(double a, double scale, const double terms[TERMS], Complex v, double *error) {
    double size = hypot(v.re, v.im) * a;
    if (size < SERIES && a < 1.0) { /* terms (v^2k - 4^-k), with v^2 - 1/4 taken out of each */
        Complex square = times(v, v), total = {0.0, 0.0}, partial = {1.0, 0.0};
        double quarter = 1.0;
        for (int k = 0; k < TERMS; k++) {
            total.re += partial.re * terms[k];
            total.im += partial.im * terms[k];
            partial = times(partial, square);
            partial.re += quarter *= 0.25;
        }
        Complex less = {square.re - 0.25, square.im}, excess = times(total, less);
        excess.re *= scale;
        excess.im *= scale;
        double whole = hypot(excess.re, excess.im),
               lost = (hypot(square.re, square.im) + 0.25) / larger(hypot(less.re, less.im), 1e-300);
        *error = whole * (4.0 * FUNCTION +
                          (80.0 + 9.0 * lost) * UNIT); /* |excess| < 0.3, so that an error of it counts at most 1.5 times */
        return (Complex){0.5 * log1p(2.0 * excess.re + (excess.re * excess.re + excess.im * excess.im)),
                         atan2(excess.im, 1.0 + excess.re)};
    }
    /* phi = e^{(v - 1/2) a} ((1 + e)/2 + (1 - e)/(4 v)) with e = e^{-2av} */
    double fade = exp(-2.0 * a * v.re), angle = -2.0 * a * v.im, sine = sin(0.5 * angle), norm = v.re * v.re + v.im * v.im;
    Complex e = {fade * cos(angle), fade * sin(angle)};
    Complex rest = {-(expm1(-2.0 * a * v.re) * cos(angle) - 2.0 * sine * sine), -e.im}; /* 1 - e */
    Complex over = times(rest, (Complex){0.25 * v.re / norm, -0.25 * v.im / norm});
    Complex psi = {0.5 * (1.0 + e.re) + over.re, 0.5 * e.im + over.im};
    double whole = hypot(psi.re, psi.im);
    *error = 4.0 * UNIT * (size + a) + (16.0 * FUNCTION + 8.0 * UNIT * (1.0 + size)) / whole; /* |v| >= 1/2 and |psi| <= 2 */
    return (Complex){(v.re - 0.5) * a + log(whole), v.im * a + atan2(psi.im, psi.re)};
}

static int expand(Guide *guide, const Run *run, double k, double jet[3]) {
    double a = run->noise, v = k - 0.5;
    (void)guide;
    if (fabs(v) * a < SERIES) {
        double curvature = (a * a / 2.0 + a * a * a / 12.0) / (1.0 + 0.5 * a);
        double scale = exp(-0.5 * a) * (a * a / 2.0 + a * a * a / 12.0) * (1.0 + (v * v + 0.25) * a * a / 12.0);
        jet[0] = a > 1.0 ? log1p(0.5 * a) - 0.5 * a + curvature * v * v : log1p((v * v - 0.25) * scale);
        jet[2] = 2.0 * (a > 1.0 ? curvature : scale);
        jet[1] = v * jet[2];
        return 1;
    }
    double x = fabs(v), e = exp(-2.0 * x * a), psi = 0.5 * (1.0 + e) + (1.0 - e) / (4.0 * x);
    double first = (-a * e + a * e / (2.0 * x) - (1.0 - e) / (4.0 * x * x)) / psi;
    double second = (2.0 * a * a * e - a * a * e / x - a * e / (x * x) + (1.0 - e) / (2.0 * x * x * x)) / psi;
    jet[0] = (x - 0.5) * a + log(psi);
    jet[1] = copysign(a + first, v);
    jet[2] = larger(second - first * first, 1e-300);
    return 1;
}

static void coarse_estimates(const Run *run, double *variance, double *quadratic_limit) {
    *variance = run->count * smaller(run->noise, 1.0) * run->noise;
    *quadratic_limit = INFINITY;
}

static int prepare(Contour *contour, const Run *run) {
    (void)contour;
    (void)run;
    return 1;
}

static double cumulant_above(const Contour *contour, const Run *run, int row, double s) {
    double terms[TERMS], error, scale = series_of(run->noise, terms);
    (void)contour;
    (void)row;
    double value = log_phi(run->noise, scale, terms, (Complex){s + 0.5, 0.0}, &error).re;
    return value + error * SECOND_ORDER;
}

/* docs/mathematics.md, Lemma 18: a lower bound of 1 - |f(u)| where |f(v)| <= 1 - mass + variation/v for every v > 0:
 * `stretched_gap` of numerics/decay.py */
static double stretched_gap(double u, double mass, double variation) {
    double best = 1.5 * variation / larger(mass, 1e-200), n = larger(1.0, ceil(smaller(best / u, 1e15)));
    double fall = larger(mass - variation / (n * u), 0.0), square = fall * (2.0 - fall) / (n * n);
    double direct = larger(mass - variation / u, 0.0), carried = square / (1.0 + sqrt(larger(1.0 - square, 0.0)));
    return larger(direct, carried) * (1.0 - 1e-12);
}

/* The atoms keep |phi| from vanishing, the density makes it fall: `LaplaceSlice`; docs/mathematics.md, section 4, "Laplace noise"
 */
static int bound_decay(const Contour *contour, const Guide *guide, const Run *run, double far, double *decay) {
    double a = run->noise, c = contour->c, terms[TERMS], error, scale = series_of(a, terms), left = contour->width;
    (void)guide;
    (void)far;
    double value = log_phi(a, scale, terms, (Complex){c + 0.5, 0.0}, &error).re,
           slack = 1.0 + 1e-12 + 8.0 * UNIT * (c + 1.0) * a + 2.0 * error;
    double top = 0.5 * exp(c * a - value) * slack,
           bottom = 0.5 * exp(-(c + 1.0) * a - value) * slack; /* the atoms' tilted masses */
    double peak = larger(top, bottom), rest = larger(0.0, 1.0 - top - bottom), atoms = top + bottom;
    double sine = sin(left * a), turns = floor(left * (a / PI));
    for (int cell = 0; cell < CELLS; cell++) {
        double right = GROWTH * left, next = cell + 1 < CELLS ? sin(right * a) : 0.0, passed = floor(right * (a / PI));
        double least = turns == passed && cell + 1 < CELLS ? smaller(sine * sine, next * next) * (1.0 - 1e-9) : 0.0;
        double pair = sqrt(larger(atoms * atoms - 4.0 * top * bottom * least, 0.0));
        double direct = smaller(1.0, atoms < 1.0 ? pair + smaller(1.0 - atoms, peak / left) : pair);
        /* phi/phi(c) = top e^{iua} (1 + 1/(2v)) + bottom e^{-iua} (1 - 1/(2v)); the first factor falls in u, the other is at most 1
         */
        double other = top * sqrt(1.0 + (c + 0.75) / (left * left + (c + 0.5) * (c + 0.5))) + bottom;
        double gap = larger(1.0 - smaller(direct, other), stretched_gap(left, rest, peak));
        decay[cell] = log1p(-smaller(gap, 1.0 - 1e-15)) * (-1.0 + 4e-12);
        left = right;
        sine = next;
        turns = passed;
    }
    return 1;
}

static int evaluate(Contour *contour, const Run *run) {
    double terms[TERMS], scale = series_of(run->noise, terms);
    Size nodes = contour->nodes;
    if (!(contour->values = malloc((size_t)(3 * nodes) * sizeof(double))))
        return 0;
    contour->errors = contour->values + 2 * nodes;
    for (Size node = 0; node < nodes; node++) {
        Complex v = {contour->c + 0.5, contour->step * (double)node};
        Complex value = log_phi(run->noise, scale, terms, v, contour->errors + node);
        contour->values[2 * node] = value.re;
        contour->values[2 * node + 1] = value.im;
    }
    return 1;
}

const Law HS_LAW_LAPLACE = {expand, coarse_estimates, prepare, cumulant_above, bound_decay, evaluate};
