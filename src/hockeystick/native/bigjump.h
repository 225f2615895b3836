/* epsilon of sparse runs in the order "remove", by large steps split off */
#ifndef HOCKEYSTICK_BIGJUMP_H
#define HOCKEYSTICK_BIGJUMP_H

#include "bigjump_step.h"
#include "contour_bounds.h"

/* For all counts of a block; what is said of one of them is p, q and so on */
typedef struct Parted {
    Run run;              /* with the largest count */
    Sketch sketch;        /* the marks and the tilt */
    Marked step;          /* a step, what is large split off */
    Marked low_step;      /* a step, what is not small split off, if some are small */
    Contour contour;      /* for the rest */
    Node *nodes;          /* of one step, along it */
    double reverse[BACK]; /* of one step: log E_Q e^{-rL} (Lemma 19a) */
    double light[BACK];   /* E_Q[nu; z < z1] */
    double heavy[BACK];   /* E_Q[nu e^{-r(L - epsilon)}; z > z1] */
    double small;         /* log E e^{kL} of small ones (Lemma 19b) */
    double least_dropped; /* what the contour drops for the least count */
    int made;             /* whether it proves anything */
    double p;             /* of one count: P(some large) */
    double q;             /* Q(some large) */
    double count_error;   /* a bound of their relative errors */
    double taken[BACK];   /* log of bounds of what is taken back, but for e^{r epsilon} */
    double close[BACK];   /* and of what is below z1 */
    double all_small;     /* log of a bound of what happens where all are small, but for e^{-s epsilon} */
} Parted;

Parted *hs_bigjump_open(const Run *run); /* NULL where there is no memory */
void hs_bigjump_close(Parted *parted);
/* Both ends; 0 if they are not close */
int hs_bigjump_epsilon(Parted *parted, const Run *run, Room *room, double *low, double *high);
/* Both ends of log delta around the middle one of epsilons that grow: from where to where they are close */
void hs_bigjump_log_deltas(const Run *run, const double *epsilons, Size many, double *low, double *high, Size *first, Size *last);

/* bigjump_split.c */
double hs_bigjump_epsilon_of(const Parted *parted, double count);
int hs_bigjump_made(Parted *parted);

#endif
