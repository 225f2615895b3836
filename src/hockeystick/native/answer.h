/* epsilon and log delta of one sampled Gaussian mechanism, repeated */
#ifndef HOCKEYSTICK_ANSWER_H
#define HOCKEYSTICK_ANSWER_H

#include "count_block.h"

/* Fixes the ordered pairs: 1 is (True,), 2 (False,), 3 (True, False); 0 if the numbers are not those of a run */
int hs_answer_ordered(Run *run, Size removals);
/* The same for one of two steps: law_revealed.c */
int hs_answer_revealed(Run *run, Revealed *both, Size removals);
/* Which proof answered */
enum { BY_CONTOUR = 1, BY_BIG_JUMP = 2 };

/* Both ends of epsilon of a run of the block, and which proof they are of; another one is opened where it is of another, none where
   there is no memory.  0 if they are not close */
int hs_answer_epsilon(Block **block, Run *run, double *low, double *high);

/* Many runs, one entry for each: those of one mechanism that follow each other share what they can */
typedef struct {
    const double *noise;       /* noise multipliers */
    const double *rate;        /* sampling rates */
    const double *noise_error; /* relative errors of the noise */
    const double *count;       /* counts */
    const double *log_delta;   /* where epsilon is asked */
    double *low;               /* both ends; NaN for those not answered */
    double *high;
    Size removals; /* as above */
    Block *block;  /* of the last one; NULL at first, and to be closed */
} Batch;

void hs_answer_batch(Batch *batch, Size from, Size to);

#endif
