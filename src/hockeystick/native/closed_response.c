/* Epsilon of randomised response, repeated: sums over the binomial law, in long doubles (docs/mathematics.md, section 5). */
#include "closed.h"

/* Long doubles where the processor has them.  Where a library would work them out (quadruple precision on ARM), with functions
 * that some libraries compute in doubles, doubles serve: errors are counted in units of what is used. */
#if LDBL_MANT_DIG == 64
typedef long double Long;
#define LONG(function) function##l
#define LONG_UNIT (0.5L * LDBL_EPSILON)
#define LONG_LEAST LDBL_MIN
#else
typedef double Long;
#define LONG(function) function
#define LONG_UNIT (0.5 * DBL_EPSILON)
#define LONG_LEAST DBL_MIN
#endif
enum { MOST = 10000 }; /* steps: more of them have other ways */

/* The double next to it, on the side of `sign` */
static double aside(Long value, double sign) {
    double near = (double)value;
    return sign * ((Long)near - value) >= 0.0 ? near : nextafter(near, sign * INFINITY);
}

int hs_closed_response(double epsilon, double many, double delta, double *low, double *high) {
    if (!(0.0 < epsilon && epsilon <= 600.0 && 1.0 <= many && many <= MOST && 0.0 < delta && delta < 1.0))
        return 0;
    Long falls = LONG(exp)(-(Long)epsilon), twice = LONG(exp)(-2.0 * (Long)epsilon);
    Long mass = LONG(exp)(-(Long)many * LONG(log1p)(falls)); /* of the largest loss, then of the next one */
    Long above = mass, tilted = mass;                        /* sums of the masses of P, and of Q times e^loss */
    int size = (int)many, least = size;                      /* how many steps show the larger loss, at least */
    if (!(mass > 1e20 * LONG_LEAST))
        return 0;
    while (above - twice * tilted < delta) { /* delta at the next loss */
        if (2 * --least <= size)
            return 0;
        mass *= falls * ((Long)(least + 1) / (Long)(size - least));
        above += mass;
        tilted = mass + twice * tilted;
    }
    Long error = 32.0 * (many + 4.0) * LONG_UNIT, loss = (Long)(2 * least - size) * epsilon;
    Long less = above * (1.0 - error) - delta, more = above * (1.0 + error) - delta;
    if (!(less > 0.0))
        return 0;
    Long least_gap = LONG(log)(less / (tilted * (1.0 + error))), most_gap = LONG(log)(more / (tilted * (1.0 - error)));
    Long slack = 32.0 * LONG_UNIT * (1.0 + loss - least_gap); /* of the logarithms and of what is added to them */
    if (!(most_gap < -slack && most_gap > slack - 2.0 * epsilon && loss + least_gap > slack)) /* between two losses, above 0 */
        return 0;
    *low = aside(loss + least_gap - slack, -1.0);
    *high = aside(loss + most_gap + slack, 1.0);
    return 1;
}
