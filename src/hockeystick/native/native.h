/* What the files of the compiled core share.  The mathematics and its proofs stand beside the NumPy code of the same names. */
#ifndef HOCKEYSTICK_NATIVE_H
#define HOCKEYSTICK_NATIVE_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>

#if FLT_EVAL_METHOD != 0
#error "intermediate results are not doubles here"
#endif

#define UNIT 0x1p-53
#define FUNCTION (8.0 * UNIT)
#define SECOND_ORDER (1.0 + 1e-6)
#define LOG_ROOT_TWO_PI 0.9189385332046727417803297
#define PI 3.14159265358979323846264338
#define CAP 600.0

typedef Py_ssize_t Size;

/* An argument that is an array of doubles (complex numbers are two), C-contiguous. */
typedef struct {
    double *at;
    Size size;
} Array;

typedef struct {
    Py_buffer views[8];
    int count;
} Held;

/* Arguments by a format: 'a' an array, 'd' a double, 'n' a whole number.  0 if they do not fit; then an exception is set. */
int parse(Held *held, PyObject *const *args, Size count, const char *format, ...);
void release(Held *held);

#define FUNCTION_OF_PYTHON(name) PyObject *name(PyObject *self, PyObject *const *args, Size count)

FUNCTION_OF_PYTHON(native_lay);
FUNCTION_OF_PYTHON(native_right_edge);
FUNCTION_OF_PYTHON(native_choose_step);
FUNCTION_OF_PYTHON(native_expand);
FUNCTION_OF_PYTHON(native_above);
FUNCTION_OF_PYTHON(native_decay);
FUNCTION_OF_PYTHON(native_excess);
FUNCTION_OF_PYTHON(native_terms);
FUNCTION_OF_PYTHON(native_sums);
FUNCTION_OF_PYTHON(native_cut);
FUNCTION_OF_PYTHON(native_epsilon);
FUNCTION_OF_PYTHON(native_epsilons);
FUNCTION_OF_PYTHON(native_rule);
FUNCTION_OF_PYTHON(native_far_off);
FUNCTION_OF_PYTHON(native_pieces);
FUNCTION_OF_PYTHON(native_bent);

enum { CELLS = 97, ROWS = 2 }; /* of u (numerics/cells.py); ordered pairs that share a contour */

/* A grid of the noise, without gaps. */
typedef struct {
    const double *z, *ratio, *share, *base;
    Size size;
    double noise, rate, noise_error, low, high, step, angle, lead, log_rule;
} Grid;

/* noise.c */
int read_grid(Grid *grid, Array rows, Array numbers);
void fill_rows(double *rows, Size size, double low, double step, double noise, double rate);
double ratio_at(double noise, double rate, double z);
double right_tail(double noise, double rate, double k, double z);
double right_edge(double noise, double rate, double k, double target);
double longest_step(double noise, double rate, double low, double least, double most, double lead, double reach, double level,
                    double *error);
void tilted_sums(const double *rows, Size size, double k, double shift, double sums[4]);
double rule_error(const Grid *grid, double k, double angle);
double outside(const Grid *grid, double k);
double outside_linear(const Grid *grid, double size);

/* values.c: 0 where there is no memory */
double bound_above(const Grid *grid, double k);
int gentle_along(const Grid *grid, double c, int removal, const double *k, Size many, double step, Size nodes, double *value,
                 double *error);
int excess_along(const Grid *grid, const double *k, Size many, double step, Size nodes, double *value, double *error);

/* decay.c: 0 where there is no memory */
int decay_of(const Grid *grid, const double *k, int many, double start, double *out);

/* contour.c */
int terms_of(const double *value, const double *error, Size many, Size nodes, double step, double c, double epsilon, double *weights,
             double *errors, double *heights, double *levers, double *sums);
void sums_of(const double *weights, Size many, Size nodes, double step, double angle, double *totals, double *swings);
int cut_of(const double *decay, double start, double step, double wanted, Size most, double *beyond);

/* saddle.c: what is told of a run is a guide, but for the grids */
enum { GUIDED = 1500 };

typedef struct {
    double noise, rate, noise_error, count, log_delta, below, above, floor; /* below < log delta < above, surely */
    int many, removal[ROWS];
} Run;

/* log M at real k to a few digits: `Guide` of loss/sampled.py */
typedef struct {
    double rows[4 * GUIDED], reach, mass, drift, variance, top;
    Size size;
} Guide;

static inline double exponent(const Run *run, int row, double c) { return run->removal[row] ? 1.0 + c : -c; }
int guided(Guide *guide, const Run *run, double k, double jet[3]);
int expanded(Guide *guide, const Run *run, double c, double jet[3]);
double saddle_of_delta(Guide *guide, const Run *run);
double *make_grid(Grid *grid, const Run *run, double k, double lead, double reach, double ahead, double step);

static inline double larger(double a, double b) { return a > b ? a : b; }
static inline double smaller(double a, double b) { return a < b ? a : b; }
static inline double log_tail_bound(double x) { return x >= 0.0 ? -0.5 * x * x - M_LN2 : 0.0; }

#endif
