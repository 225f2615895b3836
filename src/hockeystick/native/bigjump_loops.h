/* Loops of loss/bigjump/cells.py and loss/bigjump/thresholds.py */
#ifndef HOCKEYSTICK_BIGJUMP_LOOPS_H
#define HOCKEYSTICK_BIGJUMP_LOOPS_H

#include "types.h"

/* One step on broad cells of z, and its thresholds */
typedef struct {
    const double *edges;       /* of z */
    const double *x_plus_rate; /* x + q at the edges */
    const double *share;       /* r at the edges */
    const double *tilt;        /* two logarithms for each cell, whose exponentials are added */
    const double *plain;
    Size cells;
    double noise;      /* the noise multiplier */
    double rate;       /* the sampling rate */
    double reach;      /* the largest |Im k| */
    double high;       /* X */
    double high_width; /* W */
    double low;        /* Y; 0: none is small */
    double low_width;  /* V */
    int kind;          /* LARGE, MIDDLE or ALL */
} BroadStep;

/* About the longest step of the rule with an error below e^log_goal, and a bound of it; (0, 0) if there is none.  0: no memory */
int hs_bigjump_rule(const BroadStep *step, double log_goal, double beyond, double *longest, double *error);
/* Bounds of log |mid(k + iu)| for each u, growing, and beyond.  0: no memory */
int hs_bigjump_log_moduli(const BroadStep *step, double k, double last_x, double log_left, const double *u, Size many, double *out);
/* For each row the sums of its entries times g((x - threshold)/width), from each of the places `cuts` to the next.  0: no memory */
int hs_bigjump_threshold_sums(const double *x, Size n, const double *table, Size rows, const double *cuts, Size many,
                              double threshold, double width, double *out);
double hs_bigjump_remainder_sum(const double *ratio, const double *x, const double *weight, Size cells, double k);

#endif
