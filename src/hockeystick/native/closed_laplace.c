/* Epsilon of steps of the same Laplace noise: of few of them next to their largest loss (docs/mathematics.md, section 5, r = 0), of
   many along a contour. */
#include "closed.h"
#include "count_block.h"

enum { MOST = 64, TERMS = 400, STEPS = 40, ATTEMPTS = 8 };
#define FARTHEST 100.0 /* of x */

typedef struct {
    double value, slope, error; /* the error is relative, of the value */
} Fall;

/* e^-x times the sum of B_m x^m/m!, B_m the sum of C(count, j) over j < m, m - j odd; 0 if it takes too many terms */
static int fall_at(double x, int count, Fall *out) {
    double halves[2] = {0.0, 0.0}, ways = 1.0, power = 1.0, total = 0.0, first = 0.0, fade = exp(-x);
    for (int m = 1; m < TERMS; m++) {
        int j = m - 1;
        if (j <= count) {
            halves[j & 1] += ways;
            ways *= (double)(count - j) / m;
        }
        first += halves[j & 1] * power;
        power *= x / m;
        double term = halves[j & 1] * power;
        total += term;
        if (m > count && m > 2.0 * x && term < 0x1p-60 * total) { /* from here on each is at most half of the one before */
            out->value = fade * total;
            out->slope = fade * (first - total);
            out->error = FUNCTION + (3.0 * count + 4.0 * m + 8.0) * UNIT;
            return 1;
        }
    }
    return 0;
}

/* From near the root, on the side of `sign`, to where the value is surely below (-1) or above (1) the goal */
static int end(double near, int count, double goal, double sign, double *found) {
    Fall at;
    double x = near;
    for (int i = 0; i < ATTEMPTS; i++) {
        if (!(x > 0.0 && fall_at(x, count, &at) && at.slope > 0.0))
            return 0;
        double missing = goal - at.value * (1.0 - sign * at.error);
        if (sign * missing <= 0.0) {
            *found = x;
            return 1;
        }
        x = nextafter(x + missing / at.slope * (1.0 + 1e-6 + 0.1 * i), sign * INFINITY);
    }
    return 0;
}

/* 0 if it is not next to the largest loss, or there are many */
static int next_to_largest(double a, double many, double delta, double *low, double *high) {
    Fall at;
    double least, most;
    if (!(2.0 <= many && many <= MOST))
        return 0;
    int size = (int)many;
    double goal = ldexp(delta, size - 1), x = goal, limit = smaller(a, FARTHEST) * (1.0 - 16.0 * UNIT);
    for (int i = 0; i < STEPS; i++) { /* at the goal the value is at least that: it grows faster than x */
        if (!(0.0 < x && x < limit && fall_at(x, size, &at) && at.slope > 0.0))
            return 0;
        double step = (goal - at.value) / at.slope;
        x += step;
        if (fabs(step) <= 1e-9 * x)
            break;
    }
    if (!end(x, size, goal, -1.0, &least) || !end(x, size, goal, 1.0, &most) || !(most < limit))
        return 0;
    double top = many * a, error = 4.0 * UNIT * (top + most); /* a itself is known to two units */
    *low = nextafter(top - 2.0 * most - error, -INFINITY);
    *high = nextafter(top - 2.0 * least + error, INFINITY);
    return 1;
}

static Run many_steps(double a, double many) {
    return (Run){.noise = a, .count = many, .least = many, .most = many, .many = 1, .removal = {1, 0}, .law = &HS_LAW_LAPLACE};
}

/* Few that are not next to their largest loss have a closed form in Python, which is tighter */
static int along_contour(double a, double many, double delta, double *low, double *high) {
    Run run = many_steps(a, many);
    double slack = FUNCTION * fabs(run.log_delta = log(delta));
    run.below = run.log_delta - slack;
    run.above = run.log_delta + slack;
    Block *block = many > MOST ? hs_block_open(&run) : NULL;
    int found = block && hs_block_epsilon(block, &run, 0, CONTOURS, low, high);
    if (block)
        hs_block_close(block);
    return found;
}

int hs_closed_laplace(double a, double many, double delta, double *low, double *high) {
    return 1e-100 < a && a < 1e100 && many < INFINITY && 0.0 < delta && delta < 1.0 &&
           (next_to_largest(a, many, delta, low, high) || along_contour(a, many, delta, low, high));
}

int hs_laplace_run(double a, double many, Run *run) {
    *run = many_steps(a, many);
    return 1e-100 < a && a < 1e100 && MOST < many && many < INFINITY;
}
