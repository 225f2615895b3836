/* One sampled Gaussian step with soft thresholds: nu = g((x - X)/W) is the probability that it is large, kappa the same of Y, V,
   that it is not small; phi = E (1 - nu) e^{kL}, mid = E (kappa - nu) e^{kL}.  docs/mathematics.md, section 7a;
   loss/bigjump/cells.py and loss/bigjump/transform.py */
#ifndef HOCKEYSTICK_BIGJUMP_STEP_H
#define HOCKEYSTICK_BIGJUMP_STEP_H

#include "bigjump_threshold.h"

typedef struct {
    const Run *run;
    double high;         /* X */
    double width;        /* W */
    double low;          /* Y; 0: none is small */
    double low_width;    /* V */
    double left;         /* the normal mass left of the cells */
    double cell;         /* the width of a cell of z */
    double last_x;       /* x at the end of `kept_cells` */
    double fast;         /* the largest real k */
    double *edges;       /* of the cells of z */
    double *ratio;       /* L at the edges */
    double *x;           /* e^L - 1 at the edges */
    double *share;       /* r at the edges */
    double *log_mass;    /* log of bounds of the normal mass of each cell */
    double *mass;        /* those bounds */
    double *mass_x;      /* the same times x, where x > 0 */
    double *x_plus_rate; /* x + q at the edges */
    double *space;       /* room for four rows */
    Size cells;          /* how many */
    Size kept_cells;     /* of which those before 1 - nu is negligible */
    double *real;        /* nodes for bounds of phi on the real axis, in eight rows: y = (x - X)/W, L, log of the weight,
                            (1 - nu) times it, x, the error of L, room, 1 - nu */
    double before;       /* the normal mass left of them */
    double rule;         /* log of the error of the rule for (1 - nu)(e^{kL} - 1 - k x) */
    double *rows;        /* nodes for what is large: z, L, r and the weight, and more */
    double *large;       /* nu at those */
    double *spare;       /* room for two rows */
    double before_large; /* what is large left of them */
    double front;        /* log of the weight at z = 0 */
    Size reals;          /* how many nodes for the real axis */
    Size nodes;          /* and for what is large */
    double q;            /* E nu */
    double drift;        /* E nu x */
    double error;        /* a bound of the relative errors of q and of q + drift */
    double drift_error;  /* and of drift */
} ThresholdedStep;

/* The normal distribution function g at a soft threshold, at some nodes */
typedef struct {
    double *y;           /* (x - threshold)/width */
    double *below;       /* g(y) */
    double *above;       /* g(-y) */
    double *below_error; /* bounds of the shares by which they err */
    double *above_error;
} ThresholdValues;

enum { LARGE, MIDDLE, ALL, NOT_LARGE }; /* what is integrated: nu, kappa - nu, 1 - nu and kappa - nu, 1 - nu */

/* bigjump_cells.c: the cells, and the step of the trapezoidal rule */
int hs_bigjump_cells(ThresholdedStep *step, const Run *run, const ThresholdGuide *guide, double most, double fast);
void hs_bigjump_free(ThresholdedStep *step);
double hs_bigjump_g_above(double y);
void hs_bigjump_shifted_moduli(const ThresholdedStep *step, Size from, Size cells, double cosine, double sine, int kind,
                               double *found, double *room);
int hs_bigjump_falls_beyond(const ThresholdedStep *step, double x, double angle, double k, double reach);
double hs_bigjump_longest_step(const ThresholdedStep *step, int kind, double k, double reach, double size, double log_goal);

/* bigjump_real.c: what is large, and bounds on the real axis */
int hs_bigjump_sum_large(ThresholdedStep *step, double log_q, double digits);
void hs_bigjump_ratio_errors(const Run *run, const double *z, const double *ratio, const double *share, Size n, double *moved);
void hs_bigjump_thresholds_at(const Run *run, double threshold, double width, const double *z, const double *ratio, const double *x,
                              Size n, ThresholdValues *at);
double hs_bigjump_tail_above(const ThresholdedStep *step, double k);
void hs_bigjump_log_middle_above(const ThresholdedStep *step, const double *k, int many, double *found);
double hs_bigjump_excess_above(const ThresholdedStep *step, double k);
double hs_bigjump_reverse_above(const ThresholdedStep *step, double k);
void hs_bigjump_large_above(const ThresholdedStep *step, const double *k, int many, double pivot, const double *height,
                            double *left_of, double *right_of);

/* bigjump_decay.c: how phi and mid fall off the real axis */
enum { TURNED = 2 };

typedef struct {
    double *room;        /* bounds on some lines above the real one, for each edge and cell */
    double ends[TURNED]; /* what lies beyond the cells; inf: the line proves nothing */
    Size cells;          /* how many */
} ShiftedLines;

void hs_bigjump_spread_decay(const ThresholdedStep *step, double k, double phi, double start, int cells, double growth,
                             double *out);
int hs_bigjump_shift_lines(ShiftedLines *lines, const ThresholdedStep *step, double k);
double hs_bigjump_log_modulus_above(const ShiftedLines *lines, double u);

/* bigjump_values.c: values along a contour */
typedef struct {
    double re;             /* log phi */
    double im;             /* its imaginary part */
    double phi_error;      /* a bound of the relative error of phi */
    double log_ratio_re;   /* if some are small: log(1 - mid/phi) */
    double log_ratio_im;   /* its imaginary part */
    double ratio;          /* |1 - mid/phi| */
    double ratio_error;    /* a bound of its error */
    double separate_error; /* a bound of the errors of phi and of phi - mid by themselves, over the latter */
} NodeValue;

int hs_bigjump_values(const ThresholdedStep *step, const ThresholdedStep *small, double k, double spacing, Size nodes,
                      double log_goal, double middle_goal, NodeValue *nodes_of);

#endif
