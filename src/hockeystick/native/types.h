/* What all files of the compiled core share: constants, the grid of the noise, a run.  Kernels know nothing of Python. */
#ifndef HOCKEYSTICK_TYPES_H
#define HOCKEYSTICK_TYPES_H

#include <float.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#if defined(__FAST_MATH__) || defined(__ASSOCIATIVE_MATH__) || defined(__RECIPROCAL_MATH__) ||                                     \
    (defined(__FINITE_MATH_ONLY__) && __FINITE_MATH_ONLY__)
#error "results are certified for IEEE arithmetic in the order of the sources: no -ffast-math"
#endif
#if FLT_EVAL_METHOD != 0
#error "intermediate results are not doubles here"
#endif

/* What is assumed of the machine: numerics/rounding.py; docs/mathematics.md, section 14 */
#define UNIT 0x1p-53
#define FUNCTION (8.0 * UNIT)     /* relative error of an elementary function */
#define ERFC (16.0 * UNIT)        /* and of erfc */
#define SECOND_ORDER (1.0 + 1e-6) /* a bound of the first order with room for the terms beyond it */
#define LOG_ROOT_TWO_PI 0.9189385332046727417803297
#define PI 3.14159265358979323846264338
#define CAP 600.0      /* of exponents, so that e^t stays finite */
#define SLACK 1e-9     /* relative, of bounds by cells: far more than their rounding */
#define TOLERANCE 29.0 /* -log of the relative size allowed to each discretisation error: loss/contour/contour.py */
#define CLOSE 1e-9     /* relative width with which an interval counts as converged */
#define NEVER 1e-299   /* the normal distribution function is less where it is said to be 0 */

/* A loop over arrays, where the machine has wide registers compiled for those as well: the same operations, the same results */
#if defined(__x86_64__) && defined(__linux__) && defined(__GLIBC__) && defined(__GNUC__) && !defined(__clang__)
#define WIDE __attribute__((target_clones("avx2", "default")))
#else
#define WIDE
#endif

typedef ptrdiff_t Size;

enum {
    CELLS = 97,   /* of u, each GROWTH times the one before: numerics/trapezoid.py */
    CLOSER = 281, /* narrower ones, each SLOWER times the one before, that reach as far */
    ROWS = 2,     /* ordered pairs that share a contour */
    KINDS = 2,    /* sampled steps of which one is revealed */
    AHEAD = 5     /* places on the real axis, from the contour on, at which K is bounded */
};
#define GROWTH 1.25
#define SLOWER 1.08

/* A grid of the noise, without gaps: `Grid` of loss/sampled/quadrature.py */
typedef struct {
    const double *z;     /* the nodes */
    const double *ratio; /* L(z) */
    const double *share; /* r(z), the share of the sampled component */
    const double *base;  /* log of the weight of the trapezoidal rule times the normal density */
    Size size;           /* how many nodes */
    double noise;        /* the noise multiplier */
    double rate;         /* the sampling rate */
    double noise_error;  /* relative error of the former */
    double low;          /* the first node */
    double high;         /* the last one */
    double step;         /* between nodes */
    double angle;        /* the strip for real exponents is |Im z| <= noise angle */
    double lead;         /* -log of what lies beyond the ends, over M(k) */
    double log_rule;     /* log of the error of the rule for complex exponents */
} Grid;

typedef struct Law Law;
typedef struct Guide Guide;

/* Two sampled steps of which one, or none, is what is done: law_revealed.c */
typedef struct {
    double noise[KINDS];  /* their noise multipliers */
    double rate[KINDS];   /* their sampling rates */
    double weight[KINDS]; /* and probabilities */
    double nothing;       /* the probability of none */
    double weight_error;  /* a bound of the relative error of probabilities */
    Guide *guide;         /* of the second; it is filled on the way */
} Revealed;

/* One mechanism, how often it is used, and what is asked */
typedef struct {
    double noise;             /* the noise multiplier; of Laplace noise by how many of its scales it is moved */
    double rate;              /* the sampling rate */
    double noise_error;       /* relative error of the noise */
    double count;             /* how often */
    double log_delta;         /* where epsilon is asked */
    double below;             /* surely below log delta, which was rounded */
    double above;             /* surely above it */
    double floor;             /* an epsilon below which ends need not be close */
    double least;             /* the counts that belong together: the least */
    double most;              /* and the largest */
    int many;                 /* of ordered pairs */
    int removal[ROWS];        /* whether a record is removed, for each */
    const Revealed *revealed; /* of law_revealed.c; else NULL */
    const Law *law;           /* of one step; of Laplace noise one order stands for both */
    int (*stop)(void *of);    /* asked now and then on long ways: other than 0 gives up; NULL: there is none */
    void *of;                 /* its argument */
} Run;

/* Room that grows; `room_for` is NULL where there is no memory */
typedef struct {
    double *at; /* the room */
    Size size;  /* of how many doubles */
} Room;

static inline double *room_for(Room *room, Size size) {
    if (size > room->size) {
        free(room->at);
        room->at = malloc((size_t)size * sizeof(double));
        room->size = room->at ? size : 0;
    }
    return room->at;
}

/* A sum of numbers of one sign, rounded about once (Neumaier) */
typedef struct {
    double sum;  /* as it is added up */
    double rest; /* what was lost on the way */
} Exact;

static inline void add(Exact *into, double value) {
    double sum = into->sum + value;
    into->rest += fabs(into->sum) >= fabs(value) ? (into->sum - sum) + value : (value - sum) + into->sum;
    into->sum = sum;
}

/* Whether the run is given up */
static inline int stopped(const Run *run) { return run->stop && run->stop(run->of); }

static inline double larger(double a, double b) { return a > b ? a : b; }
static inline double smaller(double a, double b) { return a < b ? a : b; }
/* log of a bound of P(N > x): Mills' ratio falls, and P(N > 0) = 1/2 */
static inline double log_tail_bound(double x) { return x >= 0.0 ? -0.5 * x * x - M_LN2 : 0.0; }

#endif
