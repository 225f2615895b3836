/* About where the saddle points of a run lie: guides, which prove nothing */
#ifndef HOCKEYSTICK_SADDLE_H
#define HOCKEYSTICK_SADDLE_H

#include "types.h"

enum { GUIDED = 1500 };

/* log M at real k to a few digits: `Guide` of loss/sampled/gaussian.py */
struct Guide {
    double rows[4 * GUIDED]; /* z, L, r and log of the weights at the nodes */
    double reach;            /* the largest |k|; negative: there are no nodes yet */
    double mass;             /* the sum of the weights */
    double drift;            /* and of the weights times x = e^L - 1 */
    double variance;         /* and times L^2 */
    double top;              /* the largest |L| */
    Size size;               /* how many nodes */
};

static inline double exponent(const Run *run, int row, double c) { return run->removal[row] ? 1.0 + c : -c; }
double hs_saddle_of_delta(Guide *guide, const Run *run);
double hs_saddle_of_epsilon(Guide *guide, const Run *run, double epsilon);

#endif
