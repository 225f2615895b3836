/* log delta at many epsilons of one run */
#ifndef HOCKEYSTICK_LOG_DELTAS_H
#define HOCKEYSTICK_LOG_DELTAS_H

#include "types.h"

typedef int Answer(const void *of, double epsilon, double *low, double *high); /* 0: it does not count */
/* From where to where those that grow, around the middle one, are answered closely; 0 if that is nowhere */
int hs_around_middle(const Run *run, Answer *answer, const void *of, const double *epsilons, Size many, double *low, double *high,
                     Size *first, Size *last);
/* Both ends of log delta at epsilons that grow; NaN where they are not close.  0: it was stopped */
int hs_log_deltas(const Run *run, const double *epsilons, Size many, double *low, double *high);

#endif
