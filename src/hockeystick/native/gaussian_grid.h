/* The log ratio L(z) of a sampled Gaussian step on a grid of the noise: loss/sampled/quadrature.py */
#ifndef HOCKEYSTICK_GAUSSIAN_GRID_H
#define HOCKEYSTICK_GAUSSIAN_GRID_H

#include "types.h"

void hs_grid_exact_places(double *low, double *step);
/* Rows z, L, r and log of the weights; x = e^L - 1 besides unless NULL */
void hs_grid_fill(double *rows, double *excess, Size n, double low, double step, double noise, double rate);
double hs_grid_ratio(double noise, double rate, double z);
double hs_grid_right_tail(double noise, double rate, double k, double z);
double hs_grid_right_edge(double noise, double rate, double k, double target); /* inf where there is none */
double hs_grid_longest_step(double noise, double rate, double low, double least, double most, double lead, double reach,
                            double level, double *error);
/* Sums of e^{kL + base - shift} times 1, L, L^2 and r */
void hs_grid_tilted_sums(const double *rows, Size n, double k, double shift, double sums[4]);
double hs_grid_rule_error(const Grid *grid, double k, double angle);
double hs_grid_outside(const Grid *grid, double k);
double hs_grid_outside_linear(const Grid *grid, double size);

#endif
