/* Answers that need no contour: both ends of epsilon; 0 where other ways serve */
#ifndef HOCKEYSTICK_CLOSED_H
#define HOCKEYSTICK_CLOSED_H

#include "types.h"

/* closed_gaussian.c: Gaussian noise, and one sampled step of it */
int hs_closed_gaussian(double mu, double mu_error, double delta, double *low, double *high);
int hs_closed_once(double mu, double mu_error, double rate, int removal, double delta, double *low, double *high);
int hs_closed_gaussian_deltas(double mu, double mu_error, const double *epsilons, Size many, double *low, double *high);
/* closed_laplace.c: Laplace noise; many steps go along a contour */
int hs_closed_laplace(double a, double many, double delta, double *low, double *high);
int hs_laplace_run(double a, double many, Run *run); /* for `hs_log_deltas`; 0: few steps have a closed form in Python */
/* closed_response.c: randomised response */
int hs_closed_response(double epsilon, double many, double delta, double *low, double *high);

#endif
