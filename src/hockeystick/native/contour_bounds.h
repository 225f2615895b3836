/* A contour, and what it proves of delta: loss/contour/contour.py */
#ifndef HOCKEYSTICK_CONTOUR_BOUNDS_H
#define HOCKEYSTICK_CONTOUR_BOUNDS_H

#include "types.h"

typedef struct {
    double c;                                /* where it crosses the real axis */
    double step;                             /* of the trapezoidal rule along it */
    double width;                            /* of the bump of the integrand in u */
    double epsilon;                          /* for which the terms are evaluated */
    double nodes_allowed;                    /* at most so many nodes */
    double nodes_wanted;                     /* nodes that suffice; inf: none would */
    double truncation_error;                 /* a bound of what lies beyond the last node, in units of the first term: Lemma 7 */
    double points_ahead[AHEAD];              /* points s >= c on the real axis */
    double log_markov_ahead[ROWS][AHEAD];    /* log of s^s/(1+s)^{1+s} e^{K(s)}, from above, for each pair */
    double size_ahead;                       /* the largest modulus of what those are sums of, for their rounding */
    double log_scale[ROWS];                  /* log of the sum's unit, but for e^{-c epsilon}, for each pair that is evaluated */
    double height_error[ROWS];               /* a bound of its error */
    double abs_moment[ROWS];                 /* the sum of |term| u: how an error of epsilon moves the sum */
    double sum_error[ROWS];                  /* a bound of the error of the sum */
    double *weights;                         /* the terms at `epsilon`, in units of the first one's size */
    int used_rows[ROWS];                     /* the ordered pairs that are evaluated at the nodes */
    int many;                                /* how many of them */
    int pairs;                               /* of how many pairs of the run */
    Size nodes;                              /* on the contour; 0: it proves nothing */
    double step_cumulant_above[ROWS][AHEAD]; /* of a single step: bounds of K at `points_ahead` */
    double step_log_middle[AHEAD];           /* log of bounds of mid there (Lemma 19b), if `has_small` */
    double step_log_middle_0;                /* the same at w = 0 */
    double log_mass;                         /* log of a bound of the mass of what is transformed */
    double step_cumulant;                    /* about K of a single step of the first pair at c */
    double step_variance;                    /* and K'' */
    double smallest_cumulant;                /* about the least |K| of a single step */
    double largest_cumulant;                 /* and the largest K */
    double slack;                            /* added to bounds of K ahead */
    double *values;                          /* K of a single step at the nodes */
    double *errors;                          /* and bounds of its errors */
    Grid grid;                               /* of the noise, on the real axis */
    double *rows;                            /* the rows of that grid */
    Grid grids[KINDS];                       /* the same for each of several parts */
    double *grid_rows[KINDS];                /* and their rows */
    int stage;                               /* 1: planned, 2: and truncated, -1: not to be had */
    int has_small;                           /* whether it is for "none large, not all small" (Lemma 19b) */
} Contour;

extern const double HS_AHEAD[AHEAD]; /* where K is bounded: c + HS_AHEAD width */
double hs_log_markov(double s);      /* log of s^s/(1+s)^{1+s} */
double hs_contour_markov(const Contour *contour, int row, double epsilon);
double hs_contour_markov_epsilon(const Contour *contour, int row, double log_delta);
int hs_contour_bound_ahead(Contour *contour, double above[ROWS][AHEAD]);
void hs_contour_choose_step(Contour *contour, double log_delta);
int hs_contour_node_count(Contour *contour, const double *decay, int cells, double growth, double allowed);
int hs_contour_evaluate(Contour *contour, const double *value, const double *error, double *errors);
double hs_contour_estimate(const Contour *contour, double epsilon, double *slope, double *first);
void hs_contour_bounds(const Contour *contour, double epsilon, double *lower, double *upper);

#endif
