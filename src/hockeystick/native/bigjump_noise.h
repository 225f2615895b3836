/* What the files that choose the thresholds share: one step of a sparse run on plain nodes of the noise.  Nothing here is part of a
 * proof. */
#ifndef HOCKEYSTICK_BIGJUMP_NOISE_H
#define HOCKEYSTICK_BIGJUMP_NOISE_H

#include "bigjump_threshold.h"
#include "elementary.h"

#define CLOSE_BY 1.5 /* log of the size of the contour's terms, relative to delta, that is small enough */
enum { GUIDE_NODES = 1508, RATES = 23, ORDERS = 19, STARTS = 6 }; /* GUIDE_NODES: room for nodes */

typedef struct {
    const Run *run;
    double count;                 /* of the run */
    double epsilon;               /* for which thresholds are chosen */
    double exp_epsilon;           /* e^epsilon */
    double relative_width;        /* the width of a threshold, relative to x */
    double target;                /* log of what may be only bounded */
    double reverse_moment[RATES]; /* E_Q e^{-rS} e^epsilon for each r, not logarithms; NaN: of no use */
    double *ratio;                /* L at the nodes */
    double *x;                    /* e^L - 1 */
    double *weight;               /* of the rule, with the normal density */
    double *space;                /* all rows */
    double *suffix;               /* weight (x + e^epsilon + 1) */
    double *reverse_power;        /* e^{-r (L - epsilon)}, a row for each r */
    double *large_weight;         /* weight of what is large */
    double *y;                    /* of use for a while: (x - threshold)/width */
    double *one;                  /* and two rows */
    double *two;
    double orders[ORDERS];     /* s of Lemma 19b; the first is 0 while they are not known */
    double *remainder;         /* weight (e^{kL} - 1 - k x), a row for each order */
    double bounds[ORDERS];     /* log of what small steps may do */
    Size size;                 /* how many nodes */
    Size first;                /* the first beyond epsilon */
    Size from[STARTS];         /* the first beyond some multiples of it */
    int best;                  /* which r is the best */
    double high;               /* X */
    double width;              /* W */
    double q;                  /* E nu; if some are small E kappa */
    double drift;              /* the same with x */
    double *small_weight;      /* weight of what is small, or of what is not large */
    double low;                /* Y; 0: none is small */
    double low_width;          /* V */
    double relative_low_width; /* V relative to x */
    double order;              /* the s that is taken */
    double q_large;            /* E nu */
    double *middle_weight;     /* weight of what is middle */
    double step_phi;           /* log phi where the transform was asked last */
    double step_gain;          /* and log phi/(phi - mid); 0: none is small */
    Size end;                  /* beyond it nodes have no weight */
    int allows_small;          /* whether some may be small */
} Noise;

typedef double Function(void *of, double x);

/* The first node from which on a row that grows is at least that */
static inline Size first_at_least(const double *row, Size size, double least) {
    Size low = 0, high = size;
    while (low < high) {
        Size middle = (low + high) / 2;
        if (row[middle] < least)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* g((x - threshold)/width), and the same of the other sign, at nodes from one to another */
static inline void threshold_values(const Noise *noise, Size from, Size to, double threshold, double width, double *below,
                                    double *above) {
    double inverse = 1.0 / width;
    for (Size j = from; j < to; j++)
        noise->y[j] = (noise->x[j] - threshold) * inverse;
    hs_normals(noise->y + from, to - from, below + from, above + from);
}

/* bigjump_guess.c */
void hs_bracket(Function *function, void *of, double *low, double *high, double width);
int hs_bigjump_noise_nodes(Noise *noise, double last, double spacing, double epsilon);
double hs_bigjump_one_jump_epsilon(Noise *noise, double count, double near);
double hs_bigjump_one_jump_log_delta(Noise *noise, double count, double epsilon);

/* bigjump_saddle.c: c of the saddle point, and K there, 0 if nothing is found; log of the size of the contour's terms relative to
 * delta */
double hs_bigjump_saddle(Noise *noise, double jet[3]);
double hs_bigjump_log_cancellation(const Noise *noise, double c, const double jet[3], double *spread);
void hs_bigjump_set_contour(ThresholdGuide *guide, const Noise *noise, double c, double spread);
void hs_bigjump_choose_contour(ThresholdGuide *guide, Noise *noise, double peak);

/* bigjump_small.c */
void hs_bigjump_choose_small(Noise *noise);

#endif
