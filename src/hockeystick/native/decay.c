/* Twin of loss/sampled_decay.py: how fast |phi(c+iu)| falls, on geometric cells of u. */
#include "native.h"
#include <string.h>

enum { CUTS = 10, STOPS = 17 };
static const int WHOLE[3] = {2, 4, 8}, FARTHER[3] = {3, 6, 9}; /* log(whole)/log(1.25), rounded down */

typedef struct {
    double m0, m1, m2, m3, m4, mass, pull, bell, both;
} Moments;

typedef struct {
    double first, second;
    double square[CUTS], fourth[CUTS], inner[CUTS];
} Allowance;

static void allowances(const Grid *grid, double least, double most, double lost, double width, const double *places,
                       Allowance *found) {
    double noise = grid->noise, rate = grid->rate, rest = log1p(-rate);
    double a = smaller(PI / grid->step / (0.5 + 1.0 / (width * width) - 0.125 * least / (noise * noise)),
                       smaller(2.5 * noise, 5.0 * width));
    double angle = a / noise, y = a / width, rule = exp(smaller(600.0, rule_error(grid, least, angle)));
    double steep = exp(0.5 * y * y), bulge = 1.0 + 0.5 * y * steep, reach = 2.0 * larger(fabs(grid->low), fabs(grid->high));
    double slope = (most + 1.0) / cos(0.5 * angle) + 1.0 + noise * (reach + a), first = 2.0 * (rule * bulge * bulge + lost);
    double sum = bulge * slope + noise * steep / width, plain = slope + noise / width;
    found->first = first * (1.0 + first);
    found->second = rule * sum * sum + 2.0 * lost * plain * plain;
    double turn = angle - log(cos(0.5 * angle)), odds = log(rate) - rest, least_t = (reach + 0.5 / noise) / noise;
    double narrow = exp((width / noise) * (width / noise));
    double faint = rate * expm1(smaller(least_t + angle, 600.0)); /* t is seldom larger than least_t */
    double fades[STOPS];
    for (int stop = 0; stop < STOPS; stop++)
        fades[stop] = exp(-0.125 * stop * stop);
    for (int cut = 0; cut < CUTS; cut++) {
        double square = 0.0, fourth = 0.0;
        for (int stop = 0; stop < STOPS; stop++) {
            double away = places[cut] + width * (stop < STOPS - 1 ? 0.5 * (stop + 1) : 40.0),
                   t = (away - 0.5 / noise) * (1.0 / noise);
            double exponent = t + odds, rho = exp(smaller(exponent, 600.0));
            double size = (rho <= 0.5 ? 1.4 * rho : larger(exponent, 0.0) + (0.7 + turn)) - rest;
            double moved = t > least_t ? rate * expm1(smaller(t + angle, 600.0)) : faint;
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

int decay_of(const Grid *grid, const double *k, int many, double start, double *out) {
    double *weights = malloc((size_t)(many * grid->size) * sizeof(double));
    if (!weights)
        return 0;
    const double *z = grid->z, *ratio = grid->ratio, *share = grid->share, *base = grid->base;
    double noise = grid->noise, rate = grid->rate;
    Size n = grid->size;

    double shift = -INFINITY, totals[ROWS], lowest = INFINITY, least = 0.0, most = 0.0, beyond = -INFINITY, least_k = INFINITY;
    for (int row = 0; row < many; row++) {
        for (Size i = 0; i < n; i++) {
            double one = k[row] * ratio[i] + base[i];
            weights[row * n + i] = one;
            shift = larger(shift, one);
        }
        least_k = smaller(least_k, k[row]);
        most = larger(most, fabs(k[row]));
        beyond = larger(beyond, outside(grid, k[row]));
    }
    least = smaller(least_k, 0.0);
    for (int row = 0; row < many; row++) {
        double total = 0.0;
        for (Size i = 0; i < n; i++)
            total += weights[row * n + i] = exp(weights[row * n + i] - shift);
        totals[row] = total;
        lowest = smaller(lowest, total);
        for (Size i = 0; i < n; i++)
            weights[row * n + i] *= 1.0 / totals[row];
    }
    double lost = exp(smaller(600.0, rule_error(grid, least_k, grid->angle))) + exp(smaller(600.0, beyond - shift)) / lowest;

    double places[CUTS], room = (PI / grid->step) * (PI / grid->step) / grid->lead - 0.5 + 0.125 * least / (noise * noise);
    double width = larger(0.5 * smaller(noise, 4.0), smaller(1.0 / sqrt(larger(room, 1e-3)), 2.0 * noise));
    double first = larger(0.5 / noise - noise, grid->low), last = smaller(0.5 / noise + noise * (1.5 - log(rate)), grid->high);
    for (int cut = 0; cut < CUTS; cut++)
        places[cut] = first + larger(last - first, 0.0) * (cut * (1.0 / (CUTS - 2)));
    places[CUTS - 1] = grid->high; /* nothing is cut off */
    Allowance allowed;
    allowances(grid, least, most, lost, width, places, &allowed);
    double reach = larger(fabs(grid->low), fabs(grid->high));
    double size = most * (fabs(ratio[n - 1]) + reach / noise + 1.0 / (noise * noise)) + reach * reach;
    double slack = 1e-11 + 16.0 * UNIT * size, front = LOG_ROOT_TWO_PI + log(width), off = allowed.first;
    int by_parts = rate > 1e-100;

    double far[ROWS][CELLS];
    for (int row = 0; row < many; row++)
        for (int cell = 0; cell < CELLS; cell++)
            out[row * CELLS + cell] = far[row][cell] = 0.0;
    for (int cut = 0; cut < CUTS; cut++) {
        Moments sums[ROWS];
        memset(sums, 0, sizeof sums);
        for (Size i = 0; i < n; i++) {
            double x = (z[i] - places[cut]) * (1.0 / width), g = x > 8.5 ? 1.0 : 0.5 * erfc(-M_SQRT1_2 * x), chi = g * g;
            double bell = exp(larger(-0.5 * x * x - front, -350.0)),
                   inverse = by_parts ? 1.0 / larger(share[i], rate * 1e-60) : 0.0;
            for (int row = 0; row < many; row++) {
                Moments *sum = &sums[row];
                double weight = weights[row * n + i], one = weight * (1.0 - chi), l = ratio[i];
                double pressed = weight * inverse * inverse, pull = k[row] * share[i] - noise * z[i] - 1.0 + share[i];
                sum->m0 += one;
                sum->m1 += one *= l;
                sum->m2 += one *= l;
                sum->m3 += one *= l;
                sum->m4 += one *= l;
                sum->mass += weight * chi;
                sum->pull += pressed * pull * pull * chi;
                sum->bell += pressed * bell * bell;
                sum->both += pressed * pull * (g * bell);
            }
        }
        for (int row = 0; row < many; row++) {
            const Moments *m = &sums[row];
            double *gap = out + row * CELLS, one = m->m0 * m->m2, two = m->m1 * m->m1;
            double variance = one - two - slack * (one + two) - 4.1 * off * allowed.square[cut];
            double a = 2.0 * m->m0 * m->m4, b = 8.0 * m->m1 * m->m3, c = 6.0 * m->m2 * m->m2;
            double bend = (a - b + c + slack * (a + fabs(b) + c) + 33.0 * off * allowed.fourth[cut]) * (1.0 / 24.0);
            double spread = (m->pull + m->bell * (4.0 * noise * noise)) * (1.0 + slack) + 4.0 * noise * m->both +
                            allowed.second * allowed.inner[cut];
            double variation = by_parts ? sqrt(spread * (m->mass * (1.0 + slack) + off)) : INFINITY;
            double sure = m->mass * (1.0 - slack) - off, left = start, square = left * left;
            double here = (variance - bend * square) * (0.5 * square);
            for (int cell = 0; cell < CELLS; cell++) {
                double next_left = left * 1.25, next_square = next_left * next_left;
                double next = cell < CELLS - 1 ? (variance - bend * next_square) * (0.5 * next_square) : 0.0;
                double steady = larger(sure - variation / left, 0.0);
                gap[cell] = larger(larger(smaller(here, next), 0.0) + steady, gap[cell]);
                far[row][cell] = larger(steady, far[row][cell]);
                left = next_left;
                here = next;
            }
        }
    }
    for (int row = 0; row < many; row++) {
        double *gap = out + row * CELLS;
        for (int way = 0; way < 3; way++) /* what holds far out, nearer in */
            for (int cell = 0; cell + FARTHER[way] < CELLS; cell++) {
                double bound = far[row][cell + FARTHER[way]];
                gap[cell] = larger(bound * (2.0 - bound) * (0.5 / (WHOLE[way] * WHOLE[way])), gap[cell]);
            }
        for (int cell = 0; cell < CELLS; cell++)
            gap[cell] = log1p(-smaller(gap[cell] * (1.0 - 1e-9), 1.0 - 1e-15)) * (-1.0 + 1e-12);
    }
    free(weights);
    return 1;
}

/* decay(rows, numbers, k, start, out): lower bounds of -log |phi(c+iu)/phi(c)|, CELLS for each k */
FUNCTION_OF_PYTHON(native_decay) {
    Held held;
    Array rows, numbers, k, out;
    Grid grid;
    double start;
    (void)self;
    if (!parse(&held, args, count, "aaada", &rows, &numbers, &k, &start, &out))
        return NULL;
    if (k.size < 1 || k.size > ROWS || out.size != k.size * CELLS)
        PyErr_Format(PyExc_ValueError, "one or two exponents, %d cells for each", CELLS);
    else if (read_grid(&grid, rows, numbers) && !decay_of(&grid, k.at, (int)k.size, start, out.at))
        PyErr_NoMemory();
    release(&held);
    if (PyErr_Occurred())
        return NULL;
    Py_RETURN_NONE;
}
