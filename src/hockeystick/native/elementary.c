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

/* Angles are given in `re` */
WIDE static void near_turns(Size fours, double *restrict re, double *restrict im) {
    for (Size n = 0; n < 4 * fours; n++)
        turn_of(re[n], re + n, im + n);
}

void turns(double angle, Size stride, Size count, double *re, double *im) {
    for (Size n = 0; n < count; n++)
        re[n] = (double)(n * stride) * angle;
    if (fabs(angle) * (double)(stride * count) <= MOST_TURN)
        near_turns(count / 4, re, im);
    else
        for (Size n = 0; n < count; n++) {
            double turn = re[n];
            re[n] = cos(turn);
            im[n] = sin(turn);
        }
}
