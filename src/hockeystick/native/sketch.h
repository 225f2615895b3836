/* What the files of the sketch share: one step of a sparse run on plain nodes of the noise.  Nothing here is part of a proof. */
#ifndef HOCKEYSTICK_SKETCH_H
#define HOCKEYSTICK_SKETCH_H

#include "elementary.h"

enum { SKETCHED = 1508, RATES = 23, ORDERS = 19, STARTS = 6 }; /* SKETCHED: room for nodes */

typedef struct {
    const Run *run;
    double count, epsilon, pay, hard, target, fixed[RATES], *ratio, *x, *weight, *space; /* what is fixed is not logarithms */
    double *suffix, *lifted,
        *heavy;            /* of weight (x + e^epsilon + 1); e^{-r (L - epsilon)}, a row for each r; weight of what is large */
    double *y, *one, *two; /* of use for a while; y and the others */
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

/* The first node from which on a row that grows is at least that */
static inline Size from_on(const double *row, Size size, double least) {
    Size low = 0, high = size;
    while (low < high) {
        Size middle = (low + high) / 2;
        if (row[middle] < least)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* g((x - mark)/width), and the same of the other sign, at nodes from one to another */
static inline void weigh_nodes(const Noise *noise, Size from, Size to, double mark, double width, double *below, double *above) {
    double inverse = 1.0 / width;
    for (Size j = from; j < to; j++)
        noise->y[j] = (noise->x[j] - mark) * inverse;
    hs_normals(noise->y + from, to - from, below + from, above + from);
}

/* sketch_guess.c */
void hs_bracket(Function *function, void *of, double *low, double *high, double width);
int hs_bigjump_lay_noise(Noise *noise, double last, double spacing, double epsilon);
double hs_bigjump_one_jump_epsilon(Noise *noise, double count, double near);
double hs_bigjump_one_jump_log_delta(Noise *noise, double count, double epsilon);

/* sketch_small.c */
void hs_bigjump_mark_small(Noise *noise);

#endif
