/* Twin of loss/sampled/gaussian_slice.py: how fast the characteristic function of the exponentially tilted privacy loss falls, on
   geometric cells of u. */
#include "gaussian_decay.h"
#include "elementary.h"
#include "gaussian_grid.h"

enum { CUTS = 10, STOPS = 17, PARTS = 9, LANES = 16 };
static const int WHOLE[3] = {2, 4, 8}, FARTHER[3] = {3, 6, 9}; /* log(whole)/log(1.25), rounded down */

#define NEARBY 13.0    /* of x: farther off a cut g is taken as 0 or 1 */
#define LEFT_OUT 1e-22 /* and this is counted for it, as mass that is lost */

enum { M0, M1, M2, M3, M4, MASS, PULL, BELL, BOTH };

typedef struct {
    double first, second;
    double square[CUTS], fourth[CUTS], inner[CUTS];
} Allowance;

/* By how much sums over the grid with g may err (after Lemma 17 of docs/mathematics.md): |g| and |1 - g| are at most 1 + Y/2,
   Y = y e^{y^2/2}, times e^{-x^2/2} where they fall, on the lines Im z = width y */
static void allowances(const Grid *grid, double least, double most, double lost, double width, const double *places,
                       Allowance *found) {
    double noise = grid->noise, rate = grid->rate, rest = log1p(-rate);
    double a = smaller(PI / grid->step / (0.5 + 1.0 / (width * width) - 0.125 * least / (noise * noise)),
                       smaller(2.5 * noise, 5.0 * width));
    double angle = a / noise, y = a / width, rule = exp(smaller(600.0, hs_grid_rule_error(grid, least, angle)));
    double steep = exp(0.5 * y * y), bulge = 1.0 + 0.5 * y * steep, reach = 2.0 * larger(fabs(grid->low), fabs(grid->high));
    double slope = (most + 1.0) / cos(0.5 * angle) + 1.0 + noise * (reach + a), first = 2.0 * (rule * bulge * bulge + lost);
    double sum = bulge * slope + noise * steep / width, plain = slope + noise / width;
    found->first = first * (1.0 + first);
    found->second = rule * sum * sum + 2.0 * lost * plain * plain;
    double turn = angle - log(cos(0.5 * angle)), odds = log(rate) - rest, least_t = (reach + 0.5 / noise) / noise;
    double narrow = exp((width / noise) * (width / noise));
    double least_rho = least_t + angle < CAP ? rate * expm1(least_t + angle) : INFINITY; /* t is seldom larger than least_t */
    double powers[(CUTS + 1) * STOPS], *fades = powers + CUTS * STOPS, away[STOPS];
    for (int stop = 0; stop < STOPS; stop++) {
        fades[stop] = -0.125 * stop * stop;
        away[stop] = width * (stop < STOPS - 1 ? 0.5 * (stop + 1) : 40.0);
        for (int cut = 0; cut < CUTS; cut++)
            powers[cut * STOPS + stop] = smaller((places[cut] + away[stop] - 0.5 / noise) * (1.0 / noise) + odds, 600.0);
    }
    hs_exps(powers, (CUTS + 1) * STOPS);
    for (int cut = 0; cut < CUTS; cut++) {
        double square = 0.0, fourth = 0.0;
        for (int stop = 0; stop < STOPS; stop++) {
            double t = (places[cut] + away[stop] - 0.5 / noise) * (1.0 / noise), exponent = t + odds;
            double rho = powers[cut * STOPS + stop];
            double size = (rho <= 0.5 ? 1.4 * rho : larger(exponent, 0.0) + (0.7 + turn)) - rest;
            double moved = !(t > least_t) ? least_rho : t + angle < CAP ? rate * expm1(t + angle) : INFINITY;
            if (moved <= 0.5)
                size = smaller(size, 1.4 * moved);
            size *= size;
            double faded = size * fades[stop];
            square = larger(square, faded);
            fourth = larger(fourth, faded * size);
        }
        double inner = exp(smaller((0.5 / noise - places[cut]) * (1.0 / noise), 600.0)) * ((1.0 - rate) / rate) + 1.0;
        found->square[cut] = square;
        found->fourth[cut] = fourth;
        found->inner[cut] = inner * inner * narrow;
    }
}

/* The weights times 1, L, ..., L^4, and what of D^2 is theirs; rows of a multiple of LANES */
static void part_weights(const Grid *grid, double k, int by_parts, Size wide, const double *weights, double *parts) {
    for (Size i = 0; i < grid->size; i++) {
        double one = weights[i], l = grid->ratio[i], share = grid->share[i];
        double inverse = by_parts ? 1.0 / larger(share, grid->rate * 1e-60) : 0.0;
        double inverse_square = one * inverse * inverse, pull = k * share - grid->noise * grid->z[i] - 1.0 + share, *at = parts + i;
        at[0] = one;
        at[wide] = one *= l;
        at[2 * wide] = one *= l;
        at[3 * wide] = one *= l;
        at[4 * wide] = one * l;
        at[5 * wide] = inverse_square * pull * pull;
        at[6 * wide] = inverse_square;
        at[7 * wide] = inverse_square * pull;
    }
    for (Size i = grid->size; i < wide; i++)
        for (int part = 0; part < 8; part++)
            parts[part * wide + i] = 0.0;
}

/* g^2, 1 - g^2, g'^2 and g g' about a cut, at so many nodes to both of its sides */
static void cut_shapes(double spacing, double width, Size wide, Size before, double *shapes) {
    double *chi = shapes, *rest = chi + 2 * wide, *bells = rest + 2 * wide, *both = bells + 2 * wide;
    Size nearby = (Size)smaller(NEARBY / spacing, (double)before);
    for (Size i = 0; i < 2 * wide; i++) {
        chi[i] = i < before ? 0.0 : 1.0;
        rest[i] = i < before ? 1.0 : 0.0;
        bells[i] = both[i] = 0.0;
    }
    for (Size d = 0; d <= nearby; d++) {
        double x = spacing * (double)d, tail = 0.5 * erfc(M_SQRT1_2 * x), g = 1.0 - tail;
        double bell = exp(-0.5 * x * x - LOG_ROOT_TWO_PI) / width;
        Size left = before - d, right = before + d;
        chi[left] = tail * tail, rest[left] = 1.0 - tail * tail, both[left] = tail * bell;
        chi[right] = g * g, rest[right] = tail * (2.0 - tail), both[right] = g * bell;
        bells[left] = bells[right] = bell * bell;
    }
}

WIDE static void add_parts(const double *restrict parts, Size wide, const double *restrict chi, double *restrict sums) {
    const double *rest = chi + 2 * wide, *bells = rest + 2 * wide, *both = bells + 2 * wide;
    const double *one = parts, *two = one + wide, *three = two + wide, *four = three + wide, *five = four + wide;
    const double *pull = five + wide, *inverse_square = pull + wide, *inverse_square_pull = inverse_square + wide;
    double lanes[PARTS][LANES] = {{0.0}};
    for (Size i = 0; i < wide; i += LANES)
        for (int lane = 0; lane < LANES; lane++) {
            lanes[M0][lane] += one[i + lane] * rest[i + lane];
            lanes[M1][lane] += two[i + lane] * rest[i + lane];
            lanes[M2][lane] += three[i + lane] * rest[i + lane];
            lanes[M3][lane] += four[i + lane] * rest[i + lane];
            lanes[M4][lane] += five[i + lane] * rest[i + lane];
            lanes[MASS][lane] += one[i + lane] * chi[i + lane];
            lanes[PULL][lane] += pull[i + lane] * chi[i + lane];
            lanes[BELL][lane] += inverse_square[i + lane] * bells[i + lane];
            lanes[BOTH][lane] += inverse_square_pull[i + lane] * both[i + lane];
        }
    for (int part = 0; part < PARTS; part++) {
        sums[part] = 0.0;
        for (int lane = 0; lane < LANES; lane++)
            sums[part] += lanes[part][lane];
    }
}

/* Takes what one cut proves on the cells from `left`: Lemma 17, its first part convex in u^2 and so largest at an end of a cell */
WIDE static void take_cut(const double *restrict left, double variance, double quartic, double sure, double variation,
                          double *restrict gap, double *restrict far) {
    double near[CELLS + 1];
    for (int cell = 0; cell < CELLS; cell++) {
        double square = left[cell] * left[cell];
        near[cell] = (variance - quartic * square) * (0.5 * square);
    }
    near[CELLS] = 0.0;
    for (int cell = 0; cell < CELLS; cell++) {
        double steady = larger(sure - variation / left[cell], 0.0);
        double both = larger(smaller(near[cell], near[cell + 1]), 0.0) + steady;
        gap[cell] = larger(both, gap[cell]);
        far[cell] = larger(steady, far[cell]);
    }
}

/* -log(1 - gap), from below */
WIDE static void take_logs(double *gap) {
    for (int cell = 0; cell < CELLS; cell++) {
        double left = 1.0 - gap[cell];
        gap[cell] = log_of(left, (1.0 - left) - gap[cell]) * (-1.0 + 1e-12);
    }
}

/* The tilted law at the nodes, for each exponent, and what is known of it */
typedef struct {
    const Grid *grid;
    const double *k; /* the exponents */
    int many;        /* how many */
    int by_parts;    /* whether smoothness may prove anything */
    Size wide;       /* nodes, as a multiple of LANES */
    double *weights; /* a row for each exponent: tilted, of sum 1 */
    double *parts;   /* eight rows for each: `part_weights` */
    double *shapes;  /* `cut_shapes` */
    double least;    /* the least exponent, or 0 */
    double most;     /* the largest |k| */
    double lost;     /* relative to M(k): the error of the rule, and what lies outside of the grid */
} Tilted;

static void tilt(Tilted *of) {
    const Grid *grid = of->grid;
    const double *k = of->k, *ratio = grid->ratio, *base = grid->base;
    double shift = -INFINITY, lowest = INFINITY, beyond = -INFINITY, least_k = INFINITY, *weights = of->weights;
    Size n = grid->size;
    int many = of->many;
    for (int row = 0; row < many; row++) {
        for (Size i = 0; i < n; i++) {
            double one = k[row] * ratio[i] + base[i];
            weights[row * n + i] = one;
            shift = larger(shift, one);
        }
        least_k = smaller(least_k, k[row]);
        of->most = larger(of->most, fabs(k[row]));
        beyond = larger(beyond, hs_grid_outside(grid, k[row]));
    }
    of->least = smaller(least_k, 0.0);
    for (Size i = 0; i < many * n; i++)
        weights[i] -= shift;
    hs_exps(weights, many * n);
    of->by_parts = grid->rate > 1e-100;
    for (int row = 0; row < many; row++) {
        double total = 0.0;
        for (Size i = 0; i < n; i++)
            total += weights[row * n + i];
        lowest = smaller(lowest, total);
        for (Size i = 0; i < n; i++)
            weights[row * n + i] *= 1.0 / total;
        part_weights(grid, k[row], of->by_parts, of->wide, weights + row * n, of->parts + 8 * row * of->wide);
    }
    of->lost = exp(smaller(600.0, hs_grid_rule_error(grid, least_k, grid->angle))) + exp(smaller(600.0, beyond - shift)) / lowest;
}

/* Where the law is cut, at nodes, which share the shapes about them; at the last node nothing is cut off.  Returns the width of a
   cut. */
static double place_cuts(const Tilted *of, Size at[CUTS], double places[CUTS]) {
    const Grid *grid = of->grid;
    Size n = grid->size;
    double noise = grid->noise;
    double room = (PI / grid->step) * (PI / grid->step) / grid->lead - 0.5 + 0.125 * of->least / (noise * noise);
    double width = larger(0.5 * smaller(noise, 4.0), smaller(1.0 / sqrt(larger(room, 1e-3)), 2.0 * noise));
    double first = larger(0.5 / noise - noise, grid->low),
           last = smaller(0.5 / noise + noise * (1.5 - log(grid->rate)), grid->high);
    for (int cut = 0; cut < CUTS; cut++) {
        double place = first + larger(last - first, 0.0) * (cut * (1.0 / (CUTS - 2)));
        at[cut] =
            cut < CUTS - 1 ? (Size)larger(0.0, smaller((double)(n - 1), rint((place - grid->low) * (1.0 / grid->step)))) : n - 1;
        places[cut] = grid->z[at[cut]];
    }
    return width;
}

/* Takes what all cuts prove (Lemmas 15 to 17): lower bounds of 1 - |f(u)| on cells of u, and of those that hold however far out */
static void take_cuts(const Tilted *of, double start, double *out, double far[ROWS][CELLS]) {
    const Grid *grid = of->grid;
    double noise = grid->noise, places[CUTS], left[CELLS];
    Size n = grid->size, wide = of->wide, at[CUTS];
    double width = place_cuts(of, at, places);
    cut_shapes(grid->step / width, width, wide, n - 1, of->shapes);
    Allowance allowed;
    allowances(grid, of->least, of->most, of->lost + LEFT_OUT, width, places, &allowed);
    double reach = larger(fabs(grid->low), fabs(grid->high));
    double size = of->most * (fabs(grid->ratio[n - 1]) + reach / noise + 1.0 / (noise * noise)) + reach * reach;
    double slack = 1e-11 + 16.0 * UNIT * size, off = allowed.first;
    for (int cell = 0; cell < CELLS; cell++)
        left[cell] = cell ? left[cell - 1] * 1.25 : start;
    for (int cut = 0; cut < CUTS; cut++)
        for (int row = 0; row < of->many; row++) {
            double m[PARTS];
            add_parts(of->parts + 8 * row * wide, wide, of->shapes + (n - 1 - at[cut]), m);
            /* Lemma 15: m0 m2 - m1^2 and the next moments, each with the error of a sum over the grid */
            double one = m[M0] * m[M2], two = m[M1] * m[M1];
            double variance = one - two - slack * (one + two) - 4.1 * off * allowed.square[cut];
            double a = 2.0 * m[M0] * m[M4], b = 8.0 * m[M1] * m[M3], c = 6.0 * m[M2] * m[M2];
            double quartic = (a - b + c + slack * (a + fabs(b) + c) + 33.0 * off * allowed.fourth[cut]) * (1.0 / 24.0);
            /* Lemma 16: the variation V, by the inequality of Cauchy and Schwarz */
            double spread = (m[PULL] + m[BELL] * (4.0 * noise * noise)) * (1.0 + slack) + 4.0 * noise * m[BOTH] +
                            allowed.second * allowed.inner[cut];
            double variation = of->by_parts ? sqrt(spread * (m[MASS] * (1.0 + slack) + off)) : INFINITY;
            take_cut(left, variance, quartic, m[MASS] * (1.0 - slack) - off, variation, out + row * CELLS, far[row]);
        }
}

int hs_gaussian_decay(const Grid *grid, const double *k, int many, double start, double *out) {
    Size n = grid->size, wide = (n + LANES - 1) / LANES * LANES;
    Tilted of = {.grid = grid, .k = k, .many = many, .wide = wide};
    double far[ROWS][CELLS];
    if (!(of.weights = malloc((size_t)(many * n + (8 * many + 8) * wide) * sizeof(double))))
        return 0;
    of.parts = of.weights + many * n;
    of.shapes = of.parts + 8 * many * wide;
    for (int row = 0; row < many; row++)
        for (int cell = 0; cell < CELLS; cell++)
            out[row * CELLS + cell] = far[row][cell] = 0.0;
    tilt(&of);
    take_cuts(&of, start, out, far);
    for (int row = 0; row < many; row++) {
        double *gap = out + row * CELLS;
        for (int way = 0; way < 3; way++) /* Lemma 18: what holds far out, nearer in */
            for (int cell = 0; cell + FARTHER[way] < CELLS; cell++) {
                double bound = far[row][cell + FARTHER[way]];
                gap[cell] = larger(bound * (2.0 - bound) * (0.5 / (WHOLE[way] * WHOLE[way])), gap[cell]);
            }
        for (int cell = 0; cell < CELLS; cell++)
            gap[cell] = gap[cell] >= 0.0 ? smaller(gap[cell] * (1.0 - 1e-9), 1.0 - 1e-15) : 0.0; /* so, if it is no number */
        take_logs(gap);
    }
    free(of.weights);
    return 1;
}
