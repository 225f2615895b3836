/* What the files of the sketch share: one step of a sparse run on plain nodes of the noise.  Nothing here is part of a proof. */
#ifndef HOCKEYSTICK_SKETCH_H
#define HOCKEYSTICK_SKETCH_H

#include "native.h"

enum { SKETCHED = 1500, RATES = 23, ORDERS = 19, STARTS = 6 }; /* SKETCHED: the most nodes */

typedef struct {
    const Run *run;
    double count, epsilon, pay, hard, target, fixed[RATES], *ratio, *x, *weight, *space; /* what is fixed is not logarithms */
    double *suffix, *lifted,
        *heavy; /* of weight (x + e^epsilon + 1); e^{-r (L - epsilon)}, a row for each r; weight of what is large */
    double orders[ORDERS], *bent,
        bounds[ORDERS];             /* weight (e^{kL} - 1 - k x), a row for each order; log of what small steps may do */
    Size size, first, from[STARTS]; /* the first beyond epsilon; beyond some multiples of it */
    int best;
    double high, width, q, drift, *light;
    double low, low_width, soft, order, large, *middle, each_phi,
        each_gain; /* log phi and log phi/(phi - mid), where asked last; 0: none is small; E nu, and then q and drift are of what is
                      not small */
    Size end;
    int divides; /* whether some may be small */
} Noise;

typedef double Function(void *of, double x);

/* The normal distribution function */
static inline double g(double y) { return y > 8.5 ? 1.0 : y < -38.0 ? 0.0 : 0.5 * erfc(-M_SQRT1_2 * y); }

/* sketch_guess.c */
void bracketed(Function *function, void *of, double *low, double *high, double width);
int lay_noise(Noise *noise, double last, double spacing, double epsilon);
double jumped_epsilon(Noise *noise, double count, double near);

/* sketch_small.c */
void mark_small(Noise *noise);

#endif
