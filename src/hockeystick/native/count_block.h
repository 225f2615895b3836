/* Contours for one mechanism and all counts of a block of them */
#ifndef HOCKEYSTICK_COUNT_BLOCK_H
#define HOCKEYSTICK_COUNT_BLOCK_H

#include "law.h"

enum {
    CONTOURS = 4, /* for each block */
    SOONER = 3,   /* of which those to be tried before the single big jump */
    FEW = 1000    /* nodes, at most */
};

typedef struct Block {
    Run run;                       /* with a count amid the others */
    double saddle;                 /* its saddle point; negative: not asked yet */
    Room room;                     /* for terms */
    Contour contours[CONTOURS][2]; /* for the pairs that seem to matter, and for every pair */
    struct BigJumpSplit *split;    /* the run split by the single big jump, if that was asked */
    struct Block *added;           /* for the order "add" alone */
    Guide guide;                   /* the last, as it is long: filled in when it is asked */
} Block;

Block *hs_block_open(const Run *run); /* NULL where there is no memory */
void hs_block_close(Block *block);
int hs_block_bound_ahead(Contour *contour, double count, double epsilon);
int hs_block_step(Contour *contour, const Run *run, double least_epsilon, double most_epsilon);
Contour *hs_block_contour(Block *block, int turn, int every);
/* Both ends of epsilon by contours of the block, from one to another; 0 if they are not close */
int hs_block_epsilon(Block *block, const Run *run, int from, int to, double *low, double *high);
/* Both ends of log delta at epsilons that grow, from a contour for the one in the middle: from where to where they are close */
int hs_block_log_deltas(Block *block, const double *epsilons, Size many, double *low, double *high, Size *first, Size *last);

#endif
