/* The trapezoidal sum along a contour: loss/contour/contour.py */
#ifndef HOCKEYSTICK_CONTOUR_SUM_H
#define HOCKEYSTICK_CONTOUR_SUM_H

#include "types.h"

int hs_contour_terms(const double *value, const double *error, Size many, Size nodes, double step, double c, double epsilon,
                     double *weights, double *errors, double *heights, double *abs_moments, double *sums);
void hs_contour_sums(const double *weights, Size many, Size nodes, double step, double angle, double *totals, double *slopes);
/* The first cell beyond which the terms add up to at most `wanted`, no later than `most`, and a bound of that sum */
int hs_contour_truncate(const double *decay, int cells, double growth, double start, double step, double wanted, Size most,
                        double *rest);

#endif
