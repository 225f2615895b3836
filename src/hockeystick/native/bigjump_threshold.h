/* Where a sparse run is split into large and other steps: a guide, never part of a proof */
#ifndef HOCKEYSTICK_BIGJUMP_THRESHOLD_H
#define HOCKEYSTICK_BIGJUMP_THRESHOLD_H

#include "types.h"

enum { BACK = 3 }; /* orders r that are tried in Lemma 19a */

typedef struct {
    double epsilon;       /* for which it is made: of the largest count of the block */
    double least_epsilon; /* about epsilon of the least count */
    double high;          /* X: a step is large with probability g((x - X)/W) */
    double width;         /* W */
    double low;           /* Y: and not small with probability g((x - Y)/V); 0: no step is called small */
    double low_width;     /* V */
    double order;         /* s of Lemma 19b for what is small */
    double log_q;         /* log E nu */
    double log_not_small; /* log E kappa */
    double c;             /* a point at or left of the saddle */
    double spread;        /* the width of its bump */
    double phi;           /* log phi there, of one step */
    double gain;          /* log phi/(phi - mid) there */
    double ahead[AHEAD];  /* c, and points right of the saddle */
    double rates[BACK];   /* r of Lemma 19a */
} ThresholdGuide;

double hs_bigjump_place(const Run *run, double x); /* the z of an x */
int hs_bigjump_choose_thresholds(ThresholdGuide *guide, const Run *run, double epsilon, int divides);
double hs_bigjump_guess_log_delta(const Run *run, double epsilon);

#endif
