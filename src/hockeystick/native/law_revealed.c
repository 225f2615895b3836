/* One of two sampled Gaussian steps, which one being revealed, or no step at all: twin of loss/sampled/revealed.py.  phi - 1 is the
   mean of those of both (docs/mathematics/truncated.md, Lemma 54a). */
#include "law.h"

#define SLIGHT 0.05 /* weights of parts whose decay is not worth its cost */

typedef struct {
    double re, im;
} Complex;

/* One of the parts as a run of its own, of the same counts and orders */
static Run part_of(const Run *run, int part) {
    Run one = *run;
    one.noise = run->revealed->noise[part];
    one.rate = run->revealed->rate[part];
    one.law = &HS_LAW_GAUSSIAN;
    one.revealed = NULL;
    return one;
}

/* The contour with the grid of one of the parts; what it holds belongs to the whole one */
static Contour contour_of(const Contour *contour, int part) {
    Contour one = *contour;
    one.grid = contour->grids[part];
    one.rows = contour->grid_rows[part];
    return one;
}

static int expand(Guide *guide, const Run *run, double k, double jet[3]) {
    const Revealed *both = run->revealed;
    double jets[KINDS][3], top = 0.0, total, moved = 0.0, first = 0.0, second = 0.0;
    for (int part = 0; part < KINDS; part++) {
        Run one = part_of(run, part);
        if (!HS_LAW_GAUSSIAN.expand(part ? both->guide : guide, &one, k, jets[part]))
            return 0;
        top = larger(top, jets[part][0]);
    }
    total = both->nothing * exp(-top);
    for (int part = 0; part < KINDS; part++) {
        double share = both->weight[part] * exp(jets[part][0] - top), *of = jets[part];
        total += share;
        moved += both->weight[part] * expm1(of[0]);
        first += share * of[1];
        second += share * (of[2] + of[1] * of[1]);
    }
    jet[0] = top < 1.0 ? log1p(moved) : top + log(total);
    jet[1] = first / total;
    jet[2] = larger(second / total - jet[1] * jet[1], 1e-300);
    return 1;
}

static void coarse_estimates(const Run *run, double *variance, double *quadratic_limit) {
    *variance = 0.0;
    *quadratic_limit = INFINITY;
    for (int part = 0; part < KINDS; part++) {
        Run one = part_of(run, part);
        double its, limit;
        HS_LAW_GAUSSIAN.coarse_estimates(&one, &its, &limit);
        *variance += run->revealed->weight[part] * its;
        *quadratic_limit = smaller(*quadratic_limit, limit);
    }
}

static int prepare(Contour *contour, const Run *run) {
    if (!(contour->largest_cumulant <= 1.0))
        return 0;
    for (int part = 0; part < KINDS; part++) {
        Run one = part_of(run, part);
        Contour its = *contour;
        its.rows = NULL;
        if (!HS_LAW_GAUSSIAN.prepare(&its, &one))
            return 0;
        contour->grids[part] = its.grid;
        contour->grid_rows[part] = its.rows;
    }
    return 1;
}

static double cumulant_above(const Contour *contour, const Run *run, int row, double s) {
    const Revealed *both = run->revealed;
    double bounds[KINDS], top = -INFINITY, moved = 0.0, size = 0.0;
    for (int part = 0; part < KINDS; part++) {
        Run one = part_of(run, part);
        Contour its = contour_of(contour, part);
        bounds[part] = HS_LAW_GAUSSIAN.cumulant_above(&its, &one, row, s);
        top = larger(top, bounds[part]);
    }
    if (!(top < INFINITY))
        return INFINITY;
    if (top < 1.0) {
        for (int part = 0; part < KINDS; part++) {
            double term = both->weight[part] * expm1(bounds[part]);
            moved += term;
            size += fabs(term);
        }
        double found = log1p(larger(moved + size * (both->weight_error + 4.0 * FUNCTION), -1.0 + UNIT));
        return found + fabs(found) * 2.0 * FUNCTION;
    }
    double total = (both->nothing + both->weight_error + 4.0 * UNIT) * exp(-top);
    for (int part = 0; part < KINDS; part++)
        total += both->weight[part] * exp(bounds[part] - top);
    return top + log(total) + both->weight_error + FUNCTION * (8.0 + 4.0 * top);
}

/* phi_j(c) is 1 at least on the real axis right of 0, so that its share is its weight over phi(c) at least */
static int bound_decay(const Contour *contour, const Guide *guide, const Run *run, double far, double *decay) {
    const Revealed *both = run->revealed;
    Size total = (Size)contour->many * CELLS;
    double *gap = malloc((size_t)(2 * total) * sizeof(double)), *its_decay = gap + total;
    int found = gap != NULL;
    for (Size at = 0; found && at < total; at++)
        gap[at] = 0.0;
    for (int part = 0; found && part < KINDS; part++) {
        if (part && both->weight[part] < SLIGHT)
            continue;
        Run one = part_of(run, part);
        Contour its = contour_of(contour, part);
        if (!HS_LAW_GAUSSIAN.decay(&its, part ? both->guide : guide, &one, far, its_decay)) {
            found = part > 0;
            continue;
        }
        for (int row = 0; row < contour->many; row++) {
            double most = cumulant_above(contour, run, contour->used_rows[row], contour->c);
            double share = both->weight[part] * exp(-larger(most, 0.0)) * (1.0 - both->weight_error - 8.0 * FUNCTION);
            for (int cell = 0; cell < CELLS; cell++)
                gap[row * CELLS + cell] -= share * expm1(-larger(its_decay[row * CELLS + cell], 0.0));
        }
    }
    for (Size at = 0; found && at < total; at++)
        decay[at] = -log1p(-smaller(larger(gap[at], 0.0), 1.0 - 1e-15)) * (1.0 - 1e-12);
    free(gap);
    return found;
}

static Complex expm1_complex(double re, double im) {
    double grown = expm1(re), half = sin(0.5 * im);
    return (Complex){grown - 2.0 * half * half * (1.0 + grown), (1.0 + grown) * sin(im)};
}

static int evaluate(Contour *contour, const Run *run) {
    const Revealed *both = run->revealed;
    Size total = (Size)contour->many * contour->nodes;
    double *sums = calloc((size_t)(3 * total), sizeof(double)), *lost = sums + 2 * total;
    int found = sums != NULL;
    for (int part = 0; found && part < KINDS; part++) {
        Run one = part_of(run, part);
        Contour its = contour_of(contour, part);
        its.values = NULL;
        if (!(found = HS_LAW_GAUSSIAN.values(&its, &one)))
            break;
        double weight = both->weight[part];
        for (Size at = 0; at < total; at++) {
            Complex excess = expm1_complex(its.values[2 * at], its.values[2 * at + 1]);
            double size = hypot(excess.re, excess.im);
            sums[2 * at] += weight * excess.re;
            sums[2 * at + 1] += weight * excess.im;
            lost[at] += weight * ((1.0 + size) * its.errors[at] * SECOND_ORDER + size * (both->weight_error + 4.0 * FUNCTION));
        }
        free(its.values);
    }
    for (Size at = 0; found && at < total; at++) {
        double re = sums[2 * at], im = sums[2 * at + 1], size = hypot(re, im);
        double square = 2.0 * re + (re * re + im * im), whole = larger(hypot(1.0 + re, im), 1e-290);
        sums[2 * at] = square < -0.75 ? log(whole) : 0.5 * log1p(square);
        sums[2 * at + 1] = atan2(im, 1.0 + re);
        lost[at] = (lost[at] + 16.0 * UNIT * size) * (SECOND_ORDER / whole);
    }
    if (!found) {
        free(sums);
        sums = NULL;
    }
    contour->values = sums;
    contour->errors = sums ? sums + 2 * total : NULL;
    return sums != NULL;
}

const Law HS_LAW_REVEALED = {expand, coarse_estimates, prepare, cumulant_above, bound_decay, evaluate};
