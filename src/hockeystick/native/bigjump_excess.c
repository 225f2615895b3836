/* Twin of loss/bigjump/transform.py: phi - 1 = E (1 - nu) (e^{kL} - 1 - k x) - E nu - k E nu x along a contour (Lemma 19e of
   docs/mathematics.md).  Nodes of the noise with |k L| small go by powers of L, those near log(1 - q) by powers of L - log(1 - q)
   ("Powers of L" in section 7a), the others by sums of e^{iuL}. */
#include "bigjump_along.h"
#include "elementary.h"
#include "gaussian_grid.h"

enum { TERMS = 40, LOWEST = 28, PIECE = 64, ROOM = 18 }; /* ROOM: rows of nodes */
#define TAYLOR 2.0                                       /* |k L| of the nodes that are summed by powers */

Size hs_bigjump_place_nodes(const ThresholdedStep *step, int kind, double k, double reach, double size, double log_goal, double z,
                            Size nodes, double **rows) {
    double length = smaller(hs_bigjump_longest_step(step, kind, k, reach, size, log_goal), 1.0), low = z;
    if (!(length > 0.0))
        return 0;
    hs_grid_exact_places(&low, &length);
    double places = (step->edges[step->kept_cells] - low) / length + 2.0;
    if (!(places >= 1.0 && places * (double)nodes < 2.0 * WORK && places < 1e5) ||
        !(*rows = malloc((size_t)(ROOM * (Size)places) * sizeof(double))))
        return 0;
    hs_grid_fill(*rows, *rows + 6 * (Size)places, (Size)places, low, length, step->run->noise, step->run->rate);
    return (Size)places;
}

/* Adds sums of `power`, `power` y, `power` y^2, ..., so many, of a piece of nodes; four nodes side by side */
WIDE static void add_piece(const double *restrict y, const double *restrict power, Size size, int many, double *restrict into) {
    double part[TERMS][4] = {{0.0}}, by[4], now[4];
    for (Size j = 0; j < size; j += 4) {
        for (int lane = 0; lane < 4; lane++) {
            by[lane] = j + lane < size ? y[j + lane] : 0.0;
            now[lane] = j + lane < size ? power[j + lane] : 0.0;
        }
        for (int m = 0; m < many; m++)
            for (int lane = 0; lane < 4; lane++) {
                part[m][lane] += now[lane];
                now[lane] *= by[lane];
            }
    }
    for (int m = 0; m < many; m++)
        into[m] += (part[m][0] + part[m][1]) + (part[m][2] + part[m][3]);
}

static void add_powers(const double *y, const double *power, Size size, int many, double *into) {
    for (Size start = 0; start < size; start += PIECE)
        add_piece(y + start, power + start, size - start < PIECE ? size - start : PIECE, many, into);
}

/* A polynomial at k + iu, u = 0, spacing, ...: Horner's scheme, four nodes side by side; room for a multiple of four */
WIDE static void horner(const double *restrict factors, int many, double k, double spacing, Size nodes, double *restrict re,
                        double *restrict im) {
    for (Size node = 0; node < nodes; node += 4) {
        double pr[4], pi[4] = {0.0}, u[4], swap[4];
        for (int lane = 0; lane < 4; lane++) {
            u[lane] = spacing * (double)(node + lane);
            pr[lane] = factors[many - 1];
        }
        for (int m = many - 2; m >= 0; m--)
            for (int lane = 0; lane < 4; lane++) {
                swap[lane] = pr[lane] * k - pi[lane] * u[lane] + factors[m];
                pi[lane] = pr[lane] * u[lane] + pi[lane] * k;
                pr[lane] = swap[lane];
            }
        for (int lane = 0; lane < 4; lane++) {
            re[node + lane] = pr[lane];
            im[node + lane] = pi[lane];
        }
    }
}

/* The nodes of the noise and what is known at them */
typedef struct {
    const ThresholdedStep *step;
    double k;               /* the real part of the exponent */
    double size;            /* the largest |k + iu|, at least 1 */
    double near;            /* L below which nu is negligible and |k L| <= TAYLOR */
    double below_threshold; /* L below which nu is negligible */
    double least;           /* log(1 - q), the infimum of L */
    double deep;            /* at least |e^{kL}|, and the sum of its terms, at the nodes near that */
    Size n;                 /* how many nodes */
    Size lower;             /* those before it go by powers of L - least */
    Size first;             /* those from here on by powers of L */
    Size last;              /* up to here */
    double *z;              /* the rows: nodes of the noise */
    double *ratio;          /* L */
    double *share;          /* r */
    double *base;           /* log of the weight */
    double *far_ratio;      /* L of the others */
    double *tilted;         /* and their weights (1 - nu) e^{kL} */
    double *excess;         /* x = e^L - 1 */
    double *ratio_error;    /* a bound of the error of L */
    double *weight;         /* the weight */
    double *tilted_weight;  /* the weight times e^{kL}, or times L^2 */
    ThresholdValues nu;     /* of the upper threshold; y is of use before */
} ExcessNodes;

/* Sums over the nodes that are not near 0, and of their errors: fixed + |k + iu| slope */
typedef struct {
    Exact mass;   /* weights times 1 - nu */
    Exact drift;  /* the same times x */
    double fixed; /* of the errors */
    double slope;
    Size place; /* how many go by sums of e^{iuL} */
} Tally;

/* Nodes from where the noise is small enough; 0 if they are too many */
static int place_nodes(ExcessNodes *at, const ThresholdedStep *step, double k, double spacing, Size nodes, double log_goal) {
    double reach = spacing * (double)(nodes - 1), size = larger(1.0, hypot(k, reach)), *rows = NULL;
    double start = larger(step->edges[0], -sqrt(2.0 * (4.0 + log(3.0 + size) - log_goal)));
    Size n = hs_bigjump_place_nodes(step, NOT_LARGE, k, reach, size, log_goal, start, nodes, &rows), first = 0, last;
    if (!n)
        return 0;
    *at = (ExcessNodes){.step = step, .k = k, .size = size, .n = n, .z = rows, .ratio = rows + n, .share = rows + 2 * n};
    at->base = rows + 3 * n, at->far_ratio = rows + 4 * n, at->tilted = rows + 5 * n, at->excess = rows + 6 * n;
    at->ratio_error = rows + 7 * n, at->weight = rows + 8 * n, at->tilted_weight = rows + 9 * n;
    at->nu = (ThresholdValues){rows + 10 * n, rows + 11 * n, rows + 12 * n, rows + 13 * n, rows + 14 * n};
    at->below_threshold = log1p(larger(0.0, smaller(0.6 * step->high, step->high - 10.0 * step->width)));
    at->near = smaller(TAYLOR / size, at->below_threshold);
    at->least = log1p(-step->run->rate);
    at->deep = exp(k * at->least) * exp(TAYLOR) * (1.0 + 1e-6);
    while (first < n && at->ratio[first] < -TAYLOR / size)
        first++;
    for (last = first; last < n && at->ratio[last] < at->near; last++) /* nu begins to the right of it */
        ;
    at->first = first, at->last = last;
    hs_bigjump_ratio_errors(step->run, rows, at->ratio, at->share, n, at->ratio_error);
    memcpy(at->weight, at->base, (size_t)n * sizeof(double));
    hs_exps(at->weight, n);
    return 1;
}

/* Of nodes with |k L| <= TAYLOR the factors of a polynomial in k, by powers of L, some at a time: `_series`.  Their sum is at most
   e^|kL| |kL|^2/2 ("Powers of L"), which the errors are relative to. */
static double near_powers(const ExcessNodes *at, double *powers, int *degrees) {
    const double *ratio = at->ratio;
    Size first = at->first, last = at->last;
    double square, spread = 0.0, spread_squares = 0.0, remainder = 0.0, grown_by = 1.0;
    int degree = 2;
    if (last > first) {
        double widest = larger(at->size * larger(fabs(ratio[first]), fabs(ratio[last - 1])), 1e-300), term = widest / 3.0;
        while (degree * term > 0x1p-55)
            degree++, term *= widest / (degree + 1);
        remainder = degree * term / (1.0 - 2.0 * widest / (degree + 2)); /* they fall at least like a geometric series */
        grown_by = exp(widest) * (1.0 + 1e-6);
    }
    for (Size j = first; j < last; j++)
        at->tilted_weight[j] = at->weight[j] * ratio[j] * ratio[j];
    add_powers(ratio + first, at->tilted_weight + first, last - first, degree - 1, powers);
    for (Size j = first; j < last; j++) {
        spread += at->weight[j] * fabs(ratio[j]) * at->ratio_error[j];
        spread_squares += at->tilted_weight[j] * at->z[j] * at->z[j];
    }
    square = powers[0];
    spread += UNIT * spread_squares;
    double factorial = 1.0, pieces = (double)((last - first) / PIECE + 2);
    for (int m = 0; m < degree - 1; m++) {
        factorial *= m + 2;
        powers[m] /= factorial;
    }
    for (int m = degree - 3; m >= 0; m--)
        powers[m] += powers[m + 1];
    *degrees = degree;
    /* rounding of the sums (PIECE terms, then pieces of two lanes), of powers and of Horner's scheme; what is left out; errors of L
     */
    return grown_by * (0.5 * square * ((PIECE + 2.0 * pieces + 4.0 * degree + 30.0) * UNIT + remainder) + spread);
}

/* Nodes far left, by powers of L - log(1 - q): those sums, and what the errors are of */
static void lowest_powers(ExcessNodes *at, Tally *tally, double *lowest) {
    const double *ratio = at->ratio;
    double least = at->least, deep = at->deep;
    Size lower = 0;
    for (; lower < at->first && (ratio[lower] - least) * at->size < TAYLOR && ratio[lower] < at->below_threshold; lower++) {
        double x = at->excess[lower], z = at->z[lower], relative = 4.0 * UNIT * z * z + 3.0 * FUNCTION + 4.0 * UNIT;
        at->nu.y[lower] = ratio[lower] - least;
        add(&tally->mass, at->weight[lower]);
        add(&tally->drift, at->weight[lower] * x);
        tally->fixed += at->weight[lower] * (1.0 + deep) * relative;
        /* an error of log(1 - q) or of D moves e^{kL} by |k| times itself */
        tally->slope += at->weight[lower] * (deep * (at->ratio_error[lower] + (FUNCTION + 4.0 * UNIT) * fabs(least)) +
                                             fabs(x) * relative + (1.0 + x) * at->ratio_error[lower]);
    }
    at->lower = lower;
    add_powers(at->nu.y, at->weight, lower, LOWEST, lowest);
}

/* nu, and e^{kL} with its weight, left and right of the nodes that go by powers */
static void set_thresholds(const ExcessNodes *at) {
    const ThresholdedStep *step = at->step;
    for (int side = 0; side < 2; side++) {
        Size from = side ? at->last : at->lower, to = side ? at->n : at->first;
        const ThresholdValues *all = &at->nu;
        ThresholdValues here = {all->y + from, all->below + from, all->above + from, all->below_error + from,
                                all->above_error + from};
        for (Size j = from; j < to; j++)
            at->tilted_weight[j] = at->base[j] + at->k * at->ratio[j];
        hs_exps(at->tilted_weight + from, to - from);
        hs_bigjump_thresholds_at(step->run, step->high, step->width, at->z + from, at->ratio + from, at->excess + from, to - from,
                                 &here);
    }
}

/* The other nodes: their weights, and what multiplies |k| in the errors, and what does not.  0 if e^{kL} is no double */
static int far_terms(const ExcessNodes *at, Tally *tally, double log_goal) {
    Size n = at->n, far = n - (at->last - at->first);
    double k = at->k, negligible = exp(log_goal - 3.0) / (double)n;
    int fits = 1;
    for (Size j = at->lower; j < n && fits; j++) {
        if (at->first <= j && j < at->last)
            continue;
        double l = at->ratio[j], x = at->excess[j], z = at->z[j], weight = at->weight[j];
        fits = k * l <= 600.0;
        double not_large = at->nu.above[j], not_large_weight = weight * not_large, row = at->tilted_weight[j] * not_large;
        double off = not_large * at->nu.above_error[j] + NEVER;
        double most = (at->tilted_weight[j] + weight * (1.0 + at->size * fabs(x))) * (not_large + off) * (1.0 + 1e-9);
        if (most < negligible) { /* far out on either side */
            tally->fixed += most;
            if (falls_from(at->step, k, z, x)) {
                tally->fixed += most * (double)(n - j);
                break;
            }
            continue;
        }
        double relative = relative_error(far, z);
        at->far_ratio[tally->place] = l;
        at->tilted[tally->place++] = row;
        add(&tally->mass, not_large_weight);
        add(&tally->drift, not_large_weight * x);
        tally->fixed += (row + not_large_weight) * relative + (at->tilted_weight[j] + weight) * off;
        tally->slope += row * (at->ratio_error[j] + 6.0 * UNIT * fabs(l)) + not_large_weight * fabs(x) * relative +
                        weight * fabs(x) * off + not_large_weight * (1.0 + x) * at->ratio_error[j];
    }
    return fits;
}

/* All errors but those of the nodes near 0; `lowest` become factors of a polynomial */
static void bound_errors(const ExcessNodes *at, const Tally *tally, double log_goal, double total_mass, double total_drift,
                         double *lowest, LineValues *found) {
    const ThresholdedStep *step = at->step;
    double size = at->size, fixed = tally->fixed, right = hs_bigjump_tail_above(step, at->k), left = exp(log_tail_bound(-at->z[0]));
    /* underflow; left of the nodes |e^{kL} - 1 - k x| <= 2 + |k|, in the sum and in the integral; right of them */
    double lost = 1e-307 * (2.0 + at->excess[at->n - 1]) * ((double)at->n + 4.0) * (2.0 + size) + left * (4.0 + 2.0 * size) +
                  right * (2.0 + size);
    /* nu where it is neglected; the rule */
    lost += 3.0 * (size + 2.0) * exp(log_tail_bound((step->high - expm1(at->near)) / step->width)) * (1.0 + SLACK) + exp(log_goal);
    double over = 1.0, at_least = lowest[0];
    for (int m = 0; m < LOWEST; m++) {
        lowest[m] *= m ? 1.0 / over : 1.0;
        over *= m + 1;
    }
    double each = (PIECE + 2.0 * (double)(at->lower / PIECE + 2) + 4.0 * LOWEST + 30.0) * UNIT + 3.0 * FUNCTION;
    fixed += at->deep * at_least * (each + 2.0 * pow(TAYLOR, LOWEST) / over); /* twice the first of the terms left out */
    found->fixed = fixed + lost + step->q * (step->error + 2.0 * FUNCTION) + 8.0 * UNIT * total_mass;
    found->slope = tally->slope + step->drift * (step->drift_error + 2.0 * FUNCTION) + 8.0 * UNIT * total_drift;
}

/* The values: two polynomials, the sums of e^{iuL}, less E nu + k E nu x */
static void evaluate(const ExcessNodes *at, const double *powers, int degree, const double *lowest, double total_mass,
                     double total_drift, double spacing, Size nodes, LineValues *found, double *room) {
    Size wide = (nodes + 3) / 4 * 4;
    double *pr = room, *pi = pr + wide, *lr = pi + wide, *li = lr + wide, *cr = li + wide, *ci = cr + wide, *places = ci + wide;
    double k = at->k;
    horner(powers, degree - 1, k, spacing, nodes, pr, pi);
    if (at->lower) {
        horner(lowest, LOWEST, k, spacing, nodes, lr, li);
        for (Size node = 0; node < wide; node++)
            places[node] = (double)node;
        hs_turns(at->least * spacing, places, wide, cr, ci);
    }
    double whole = exp(k * at->least);
    for (Size node = 0; node < nodes; node++) {
        double u = spacing * (double)node, fr = k * (k - 1.0) - u * u, fi = u * (2.0 * k - 1.0), re = found->re[node],
               im = found->im[node];
        if (at->lower) {
            re += whole * (lr[node] * cr[node] - li[node] * ci[node]);
            im += whole * (lr[node] * ci[node] + li[node] * cr[node]);
        }
        found->re[node] = fr * pr[node] - fi * pi[node] + (re - (total_mass + k * total_drift));
        found->im[node] = fr * pi[node] + fi * pr[node] + (im - u * total_drift);
    }
}

int hs_bigjump_excess(const ThresholdedStep *step, double k, double spacing, Size nodes, double log_goal, LineValues *found,
                      double *room) {
    double powers[TERMS] = {0.0}, lowest[TERMS] = {0.0};
    Tally tally = {.fixed = 0.0};
    ExcessNodes at;
    int degree;
    if (!place_nodes(&at, step, k, spacing, nodes, log_goal))
        return 0;
    found->curve = near_powers(&at, powers, &degree);
    lowest_powers(&at, &tally, lowest);
    set_thresholds(&at);
    int fits = far_terms(&at, &tally, log_goal) && (double)tally.place * (double)nodes <= WORK &&
               (!tally.place || hs_fourier_sums(at.far_ratio, at.tilted, 1, tally.place, spacing, nodes, found->re, found->im));
    double total_mass = tally.mass.sum + tally.mass.rest + step->q, total_drift = tally.drift.sum + tally.drift.rest + step->drift;
    bound_errors(&at, &tally, log_goal, total_mass, total_drift, lowest, found);
    if (fits)
        evaluate(&at, powers, degree, lowest, total_mass, total_drift, spacing, nodes, found, room);
    free(at.z);
    return fits;
}
