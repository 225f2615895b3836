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

/* A grid of the noise, without gaps. */
typedef struct {
    const double *z, *ratio, *share, *base;
    Size size;
    double noise, rate, noise_error, low, high, step, angle, lead, log_rule;
} Grid;

/* Reads 4 rows (z, ratio, share, base) and the nine numbers of a grid. */
int read_grid(Grid *grid, Array rows, Array numbers);

double ratio_at(double noise, double rate, double z);
double right_tail(double noise, double rate, double k, double z);
double rule_error(const Grid *grid, double k, double angle);
double outside(const Grid *grid, double k);
double outside_linear(const Grid *grid, double size);

static inline double larger(double a, double b) { return a > b ? a : b; }
static inline double smaller(double a, double b) { return a < b ? a : b; }
static inline double log_tail_bound(double x) { return x >= 0.0 ? -0.5 * x * x - M_LN2 : 0.0; }

#endif
