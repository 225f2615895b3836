/* What a contour asks of one step.  Errors and bounds are those of the law's twin in Python. */
#ifndef HOCKEYSTICK_LAW_H
#define HOCKEYSTICK_LAW_H

#include "contour_bounds.h"
#include "saddle.h"

struct Law {
    /* log M(k) and two derivatives in k, to a few digits */
    int (*expand)(Guide *guide, const Run *run, double k, double jet[3]);
    /* `coarse_estimates` and `quadratic_limit` of loss/protocol.py */
    void (*coarse_estimates)(const Run *run, double *variance, double *quadratic_limit);
    /* Prepares `cumulant_above` and `decay`; 0: it cannot */
    int (*prepare)(Contour *contour, const Run *run);
    /* A bound of K(s) */
    double (*cumulant_above)(const Contour *contour, const Run *run, int row, double s);
    /* Lower bounds of -log |phi(c + iu)/phi(c)| on cells, for the pairs that are evaluated; 0 if the transform seems not to have
       decayed at `far`, or there is no memory */
    int (*decay)(const Contour *contour, const Guide *guide, const Run *run, double far, double *decay);
    /* K at the nodes, and its errors; 0: it would take too many nodes */
    int (*values)(Contour *contour, const Run *run);
};

extern const Law HS_LAW_GAUSSIAN; /* sampled Gaussian noise: law_gaussian.c */
extern const Law HS_LAW_LAPLACE;  /* law_laplace.c */
extern const Law HS_LAW_REVEALED; /* one of two sampled Gaussian steps: law_revealed.c */

#endif
