/* epsilon of sparse runs in the order "remove", by the single big jump: twin of loss/bigjump/split.py */
#ifndef HOCKEYSTICK_BIGJUMP_H
#define HOCKEYSTICK_BIGJUMP_H

#include "bigjump_step.h"
#include "contour_bounds.h"

/* For all counts of a block; p, q and what follows are of one of them */
typedef struct BigJumpSplit {
    Run run;                        /* with the largest count */
    ThresholdGuide guide;           /* the thresholds and the tilt, chosen without proof */
    ThresholdedStep step;           /* one step with the upper threshold */
    ThresholdedStep low_step;       /* one step with the lower threshold, if some are small */
    Contour contour;                /* for the remainder */
    NodeValue *nodes;               /* of one step, along it */
    double reverse[BACK];           /* of one step: log E_Q e^{-rL} (Lemma 19a) */
    double large_left[BACK];        /* E_Q[nu; z < z1] */
    double large_right[BACK];       /* E_Q[nu e^{-r(L - epsilon)}; z > z1] */
    double log_small;               /* log E e^{kL} of small ones (Lemma 19b) */
    double least_truncation_error;  /* of the contour, for the least count */
    int ready;                      /* whether it proves anything */
    double p;                       /* of one count: P(some large) */
    double q;                       /* Q(some large) */
    double large_error;             /* a bound of their relative errors */
    double log_compensation[BACK];  /* log of bounds of the compensation right of z1, but for e^{r epsilon} */
    double compensation_left[BACK]; /* bounds of what lies left of z1 */
    double all_small;               /* log of a bound of what happens where all are small, but for e^{-s epsilon} */
} BigJumpSplit;

BigJumpSplit *hs_bigjump_open(const Run *run); /* NULL where there is no memory */
void hs_bigjump_close(BigJumpSplit *split);
/* Both ends; 0 if they are not close */
int hs_bigjump_epsilon(BigJumpSplit *split, const Run *run, Room *room, double *low, double *high);
/* Both ends of log delta around the middle one of epsilons that grow: from where to where they are close */
void hs_bigjump_log_deltas(const Run *run, const double *epsilons, Size many, double *low, double *high, Size *first, Size *last);

/* bigjump_split.c */
double hs_bigjump_epsilon_of(const BigJumpSplit *split, double count);
int hs_bigjump_prepare(BigJumpSplit *split);

#endif
