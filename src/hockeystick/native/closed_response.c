/* Epsilon of randomised response, repeated: sums over the binomial law, in long doubles (docs/mathematics.md, section 5). */
#include "closed.h"

#define LONG_UNIT (0.5L * LDBL_EPSILON)
enum { MOST = 10000 }; /* steps: more of them have other ways */

/* The double next to it, on the side of `sign` */
static double aside(long double value, double sign) {
    double near = (double)value;
    return sign * ((long double)near - value) >= 0.0L ? near : nextafter(near, sign * INFINITY);
}

int hs_closed_response(double epsilon, double many, double delta, double *low, double *high) {
    if (!(0.0 < epsilon && epsilon <= 600.0 && 1.0 <= many && many <= MOST && 0.0 < delta && delta < 1.0))
        return 0;
    long double falls = expl(-(long double)epsilon), twice = expl(-2.0L * epsilon);
    long double mass = expl(-(long double)many * log1pl(falls)); /* of the largest loss, then of the next one */
    long double above = mass, tilted = mass;                     /* sums of the masses of P, and of Q times e^loss */
    int size = (int)many, least = size;                          /* how many steps show the larger loss, at least */
    if (!(mass > 1e20L * LDBL_MIN))
        return 0;
    while (above - twice * tilted < delta) { /* delta at the next loss */
        if (2 * --least <= size)
            return 0;
        mass *= falls * ((long double)(least + 1) / (long double)(size - least));
        above += mass;
        tilted = mass + twice * tilted;
    }
    long double error = 32.0L * (many + 4.0L) * LONG_UNIT, loss = (long double)(2 * least - size) * epsilon;
    long double less = above * (1.0L - error) - delta, more = above * (1.0L + error) - delta;
    if (!(less > 0.0L))
        return 0;
    long double least_gap = logl(less / (tilted * (1.0L + error))), most_gap = logl(more / (tilted * (1.0L - error)));
    long double slack = 32.0L * LONG_UNIT * (1.0L + loss - least_gap); /* of the logarithms and of what is added to them */
    if (!(most_gap < -slack && most_gap > slack - 2.0L * epsilon && loss + least_gap > slack)) /* between two losses, above 0 */
        return 0;
    *low = aside(loss + least_gap - slack, -1.0);
    *high = aside(loss + most_gap + slack, 1.0);
    return 1;
}
