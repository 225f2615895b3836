/* What the two parts of a thresholded step share: phi - 1 (bigjump_excess.c) and mid (bigjump_values.c) along a contour */
#ifndef HOCKEYSTICK_BIGJUMP_ALONG_H
#define HOCKEYSTICK_BIGJUMP_ALONG_H

#include "bigjump_step.h"
#include "fourier_sums.h"

#define WORK 1e7 /* nodes of the noise times those of the contour */

/* Values along a contour, and a bound of their errors: fixed + |k + iu| slope + |(k + iu)(k + iu - 1)| curve */
typedef struct {
    double *re; /* of the values */
    double *im;
    double fixed; /* of the errors */
    double slope;
    double curve;
} LineValues;

/* Whether what is not large, times e^{kL} or 1 + |k| x, falls from a node on: the hazard of g is at least its argument */
static inline int falls_from(const ThresholdedStep *step, double k, double z, double x) {
    double square = step->width * step->width, over = x - step->high;
    return z > 0.0 && x > 0.0 && over > 5.0 * step->width && k * square < over * (1.0 + x) && square < over * x;
}

/* Of a term among so many: of its weight, whose exponent errs by units of z^2, of its exponentials and turns, and of the sum, whose
   terms are added up in blocks of 32 (docs/mathematics.md, section 14) */
static inline double relative_error(Size far, double z) {
    double terms = (double)((far < 32 ? far : 32) + (far + 31) / 32);
    return 4.0 * UNIT * z * z + ((terms + 10.0) * UNIT + 2.0 * FUNCTION + TURNS_ERROR);
}

/* The nodes of the noise from z on for a rule that errs by e^log_goal, as rows; 0 if there are too many, or no memory */
Size hs_bigjump_place_nodes(const ThresholdedStep *step, int kind, double k, double reach, double size, double log_goal, double z,
                            Size nodes, double **rows);
/* phi - 1 at k + iu, u = 0, spacing, ..., phi = E (1 - nu) e^{kL}, with nu of the upper threshold; the rule errs by about
   e^log_goal.  0 if that takes too long. */
int hs_bigjump_excess(const ThresholdedStep *step, double k, double spacing, Size nodes, double log_goal, LineValues *found,
                      double *room);

#endif
