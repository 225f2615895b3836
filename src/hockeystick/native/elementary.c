/* Elementary functions over arrays: docs/mathematics.md, section 14. */
#include "elementary.h"

WIDE void hs_exps(double *at, Size size) {
    confine(at, size);
    for (Size i = 0; i < size; i++) {
        double scale, part;
        part_exp(at[i], &scale, &part);
        at[i] = scale * (1.0 + part);
    }
}

WIDE void hs_normals(const double *restrict y, Size size, double *restrict below, double *restrict above) {
    for (Size i = 0; i < size; i++) {
        double exponent = -0.5 * y[i] * y[i], a = fabs(y[i]);
        above[i] = exponent < -684.5 ? LEAST_EXPONENT : exponent; /* a tail of 0 */
        below[i] = a > 38.0 ? 38.0 : a;
    }
    for (Size i = 0; i < size; i++) {
        double scale, part;
        part_exp(above[i], &scale, &part);
        double tail = scale * (1.0 + part) * mills(below[i]), rest = 1.0 - tail;
        below[i] = y[i] < 0.0 ? tail : rest;
        above[i] = y[i] < 0.0 ? rest : tail;
    }
}

WIDE double hs_dot(const double *restrict one, const double *restrict two, Size size) {
    double parts[8] = {0.0};
    Size i = 0;
    for (; i + 8 <= size; i += 8)
        for (int lane = 0; lane < 8; lane++)
            parts[lane] += one[i + lane] * two[i + lane];
    for (; i < size; i++)
        parts[0] += one[i] * two[i];
    return ((parts[0] + parts[4]) + (parts[1] + parts[5])) + ((parts[2] + parts[6]) + (parts[3] + parts[7]));
}

WIDE static void near_turns(double angle, const double *restrict places, Size fours, double *restrict re, double *restrict im) {
    for (Size n = 0; n < 4 * fours; n++)
        turn_of(places[n] * angle, re + n, im + n);
}

void hs_turns(double angle, const double *places, Size count, double *re, double *im) {
    double farthest = larger(fabs(places[0]), fabs(places[count - 1])); /* they grow */
    if (farthest * fabs(angle) <= MOST_TURN)
        near_turns(angle, places, count / 4, re, im);
    else
        for (Size n = 0; n < count; n++) {
            re[n] = cos(places[n] * angle);
            im[n] = sin(places[n] * angle);
        }
}
