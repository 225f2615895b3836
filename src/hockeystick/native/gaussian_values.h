/* K of a sampled Gaussian step: bounds on the real axis, values along a vertical line.  0 where there is no memory */
#ifndef HOCKEYSTICK_GAUSSIAN_VALUES_H
#define HOCKEYSTICK_GAUSSIAN_VALUES_H

#include "types.h"

double hs_gaussian_above(const Grid *grid, double k);
int hs_gaussian_excess(const Grid *grid, const double *k, Size many, double step, Size nodes, double *value, double *error);
int hs_gaussian_gentle(const Grid *grid, double c, int removal, const double *k, Size many, double step, Size nodes, double *value,
                       double *error);

#endif
