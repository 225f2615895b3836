/* Elementary functions over arrays. */
#include "elementary.h"

WIDE void exps(double *at, Size size) {
    confine(at, size);
    for (Size i = 0; i < size; i++) {
        double scale, part;
        part_exp(at[i], &scale, &part);
        at[i] = scale * (1.0 + part);
    }
}

WIDE static void near_turns(double angle, const double *restrict places, Size fours, double *restrict re, double *restrict im) {
    for (Size n = 0; n < 4 * fours; n++)
        turn_of(places[n] * angle, re + n, im + n);
}

void turns(double angle, const double *places, Size count, double *re, double *im) {
    double farthest = larger(fabs(places[0]), fabs(places[count - 1])); /* they grow */
    if (farthest * fabs(angle) <= MOST_TURN)
        near_turns(angle, places, count / 4, re, im);
    else
        for (Size n = 0; n < count; n++) {
            re[n] = cos(places[n] * angle);
            im[n] = sin(places[n] * angle);
        }
}
