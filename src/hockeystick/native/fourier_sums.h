/* Sums of e^{iuL} at equal steps of u: numerics/trapezoid.py */
#ifndef HOCKEYSTICK_FOURIER_SUMS_H
#define HOCKEYSTICK_FOURIER_SUMS_H

#include "types.h"

/* The sum over j of weights[row][j] e^{iuL_j} at u = 0, step, ..., added to (re, im), for one or two rows; 0 where there is no
   memory.  The factors e^{iuL}, products of two, err by TURNS_ERROR at most. */
#define TURNS_ERROR (2.0 * FUNCTION + 4.0 * UNIT)
int hs_fourier_sums(const double *ratio, const double *weights, Size many, Size far, double step, Size nodes, double *re,
                    double *im);

#endif
