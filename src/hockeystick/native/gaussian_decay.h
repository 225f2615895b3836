/* How fast |phi(c + iu)| of a sampled Gaussian step falls: loss/sampled/gaussian_slice.py */
#ifndef HOCKEYSTICK_GAUSSIAN_DECAY_H
#define HOCKEYSTICK_GAUSSIAN_DECAY_H

#include "types.h"

/* Lower bounds of -log |phi(c + iu)/phi(c)|, CELLS for each k; 0 where there is no memory */
int hs_gaussian_decay(const Grid *grid, const double *k, int many, double start, double *out);

#endif
