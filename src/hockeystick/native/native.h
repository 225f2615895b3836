/* What the files of the compiled core share.  The mathematics and its proofs stand beside the NumPy code of the same names. */
#ifndef HOCKEYSTICK_NATIVE_H
#define HOCKEYSTICK_NATIVE_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>

#if defined(__FAST_MATH__) || defined(__ASSOCIATIVE_MATH__) || defined(__RECIPROCAL_MATH__) || \
    (defined(__FINITE_MATH_ONLY__) && __FINITE_MATH_ONLY__)
#error "results are certified for IEEE arithmetic in the order of the sources: no -ffast-math"
#endif
#if FLT_EVAL_METHOD != 0
#error "intermediate results are not doubles here"
#endif

#define UNIT 0x1p-53
#define FUNCTION (8.0 * UNIT)
#define ERFC (16.0 * UNIT)
#define SECOND_ORDER (1.0 + 1e-6)
#define LOG_ROOT_TWO_PI 0.9189385332046727417803297
#define PI 3.14159265358979323846264338
#define CAP 600.0
#define SLACK 1e-9 /* relative, of bounds by cells: far more than their rounding */

/* A loop over arrays, where the machine has wide registers compiled for those as well: the same operations, the same results */
#if defined(__x86_64__) && defined(__linux__) && defined(__GLIBC__) && defined(__GNUC__) && !defined(__clang__)
#define WIDE __attribute__((target_clones("avx2", "default")))
#else
#define WIDE
#endif

typedef Py_ssize_t Size;

/* An argument that is an array of doubles (complex numbers are two), C-contiguous. */
typedef struct {
    double *at;
    Size size;
} Array;

typedef struct {
    Py_buffer views[8]; /* so many arrays at most */
    int count;
} Held;

/* Arguments by a format: 'a' an array, 'd' a double, 'n' a whole number.  0 if they do not fit; then an exception is set. */
int hs_parse(Held *held, PyObject *const *args, Size count, const char *format, ...);
void hs_release(Held *held);

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
FUNCTION_OF_PYTHON(native_gaussian);
FUNCTION_OF_PYTHON(native_once);
FUNCTION_OF_PYTHON(native_normals);
FUNCTION_OF_PYTHON(native_response);
FUNCTION_OF_PYTHON(native_laplace);
FUNCTION_OF_PYTHON(native_gaussian_deltas);
FUNCTION_OF_PYTHON(native_sampled_deltas);
FUNCTION_OF_PYTHON(native_laplace_deltas);
FUNCTION_OF_PYTHON(native_rule);
FUNCTION_OF_PYTHON(native_far_off);
FUNCTION_OF_PYTHON(native_pieces);
FUNCTION_OF_PYTHON(native_bent);
FUNCTION_OF_PYTHON(native_marked);

enum {
    CELLS = 97,
    CLOSER = 281,
    ROWS = 2
}; /* of u (numerics/trapezoid.py), each GROWTH times the one before, and narrower ones that
      reach as far; ordered pairs that share a contour */
#define GROWTH 1.25
#define SLOWER 1.08

/* A grid of the noise, without gaps. */
typedef struct {
    const double *z, *ratio, *share, *base;
    Size size;
    double noise, rate, noise_error, low, high, step, angle, lead, log_rule;
} Grid;

/* noise.c */
int hs_grid_read(Grid *grid, Array rows, Array numbers);
void hs_grid_exact_places(double *low, double *step);
void hs_grid_fill(double *rows, double *x, Size size, double low, double step, double noise, double rate); /* x unless NULL */
double hs_grid_ratio(double noise, double rate, double z);
double hs_grid_right_tail(double noise, double rate, double k, double z);
double hs_grid_right_edge(double noise, double rate, double k, double target);
double hs_grid_longest_step(double noise, double rate, double low, double least, double most, double lead, double reach,
                            double level, double *error);
void hs_grid_tilted_sums(const double *rows, Size size, double k, double shift, double sums[4]);
double hs_grid_rule_error(const Grid *grid, double k, double angle);
double hs_grid_outside(const Grid *grid, double k);
double hs_grid_outside_linear(const Grid *grid, double size);

/* values.c: 0 where there is no memory */
double hs_gaussian_above(const Grid *grid, double k);
int hs_gaussian_gentle(const Grid *grid, double c, int removal, const double *k, Size many, double step, Size nodes, double *value,
                       double *error);
int hs_gaussian_excess(const Grid *grid, const double *k, Size many, double step, Size nodes, double *value, double *error);

/* decay.c: 0 where there is no memory */
int hs_gaussian_decay(const Grid *grid, const double *k, int many, double start, double *out);

/* contour.c */
int hs_contour_terms(const double *value, const double *error, Size many, Size nodes, double step, double c, double epsilon,
                     double *weights, double *errors, double *heights, double *levers, double *sums);
void hs_contour_sums(const double *weights, Size many, Size nodes, double step, double angle, double *totals, double *swings);
int hs_contour_cut(const double *decay, int cells, double growth, double start, double step, double wanted, Size most,
                   double *beyond);

/* What a contour knows: loss/contour/contour.py */
enum { FORWARD = 5 };
#define TOLERANCE 29.0
#define CLOSE 1e-9 /* ends with which one is content */

typedef struct {
    double c, step, width, epsilon, most, wanted, dropped, forward[FORWARD], forward_log[ROWS][FORWARD], forward_size;
    double fixed[ROWS], height_error[ROWS], lever[ROWS], sum_error[ROWS], *weights;
    int live[ROWS], many, pairs; /* the ordered pairs that are laid; how many of how many */
    Size nodes;
    /* of a single step: bounds of K ahead, about K and K'' of the first pair, the least |K| and the largest K, and what is added to
       those bounds; K at the nodes and its errors */
    double each_above[ROWS][FORWARD], each_middle[FORWARD], each_mass, log_mass, level, second, faintest, tallest, slack, *values,
        *errors;
    Grid grid; /* on the real axis, and its rows */
    double *rows;
    int stage, parted; /* 1: planned, 2: and cut, -1: not to be had; whether logs of `each_middle` and of `each_mass` count, that of
                          mid at w = 0 */
} Contour;

/* bounds.c */
extern const double HS_AHEAD[FORWARD];
double hs_log_markov(double s);
double hs_contour_markov(const Contour *contour, int row, double epsilon);
double hs_contour_markov_epsilon(const Contour *contour, int row, double log_delta);
int hs_contour_look_ahead(Contour *contour, double above[ROWS][FORWARD]);
void hs_contour_choose_step(Contour *contour, double log_delta);
int hs_contour_cut_nodes(Contour *contour, const double *decay, int cells, double growth, double allowed);
int hs_contour_weigh(Contour *contour, const double *value, const double *error, double *errors);
double hs_contour_estimate(const Contour *contour, double epsilon, double *slope, double *first);
void hs_contour_bounds(const Contour *contour, double epsilon, double *lower, double *upper);

/* Room that grows; `room_for` is NULL where there is no memory */
typedef struct {
    double *at;
    Size size;
} Room;

static inline double *room_for(Room *room, Size size) {
    if (size > room->size) {
        free(room->at);
        room->at = malloc((size_t)size * sizeof(double));
        room->size = room->at ? size : 0;
    }
    return room->at;
}

/* saddle.c: what is told of a run is a guide, but for the grids */
enum { GUIDED = 1500 };

typedef struct Law Law;

typedef struct {
    double noise, rate, noise_error, count, log_delta, below, above, floor; /* below < log delta < above, surely */
    double least, most;                                                     /* counts that belong together */
    int many, removal[ROWS];
    const Law *law; /* of Laplace noise `noise` is by how many of its scales it is moved, and one order stands for both */
} Run;

/* log M at real k to a few digits: `Guide` of loss/sampled/gaussian.py */
typedef struct {
    double rows[4 * GUIDED], reach, mass, drift, variance, top;
    Size size;
} Guide;

static inline double exponent(const Run *run, int row, double c) { return run->removal[row] ? 1.0 + c : -c; }
double hs_saddle_of_delta(Guide *guide, const Run *run);
double hs_saddle_of_epsilon(Guide *guide, const Run *run, double epsilon);

/* What a contour asks of one step.  Errors and bounds are those of the law's twin in Python. */
struct Law {
    int (*guided)(Guide *guide, const Run *run, double k, double jet[3]); /* log M(k) and two derivatives in k, to a few digits */
    void (*rough)(const Run *run, double *variance, double *knee);        /* `rough` and `knee` of loss/protocol.py */
    int (*axis)(Contour *contour, const Run *run);                        /* makes ready for `above` and `falls`; 0: it cannot */
    double (*above)(const Contour *contour, const Run *run, int row, double s); /* a bound of K(s) */
    int (*falls)(const Contour *contour, const Guide *guide, const Run *run, double far,
                 double *decay); /* lower bounds of -log |phi(c + iu)/phi(c)| on cells, for the pairs that are laid; 0
                                    if it seems not to have died out at `far`, or there is no memory */
    int (*lay)(Contour *contour, const Run *run); /* K at the nodes, and its errors; 0: it takes too long */
};
extern const Law HS_LAW_GAUSSIAN, HS_LAW_LAPLACE; /* sampled.c, laplace_contour.c */

/* sketch.c: where a sparse run is parted, no more than a guide */
enum { BACK = 3 };

typedef struct {
    double epsilon, least_epsilon, high, width, low, low_width,
        order; /* the marks (low: 0 if none is small), the order for those */
    double log_q, log_not_small, c, spread, phi, gain, ahead[FORWARD],
        rates[BACK]; /* log E nu, log E kappa; a point at or left of the saddle, the width of its bump, log phi and
                        log phi/(phi - mid) there; it, and points right of the saddle */
} Sketch;

double hs_bigjump_place(const Run *run, double x);
int hs_bigjump_thresholds(Sketch *sketch, const Run *run, double epsilon, int divides);
double hs_bigjump_guess_log_delta(const Run *run, double epsilon);

#define NEVER 1e-299 /* the normal distribution function is less where it is said to be 0 */

/* marked.c: one step whose large outcomes are counted apart */
typedef struct {
    const Run *run;
    double high, width, low, low_width, left, cell, last_x,
        fast; /* the marks (low: 0 if none is small); the mass left of the cells, and their width; x at the end of those kept; the
                 largest k */
    double *edges, *ratio, *x, *share, *log_mass, *mass, *lifted, *shifted, *space; /* of broad cells of z: the mass, with x > 0
                                                                                       besides, x + q; room for four rows */
    Size cells, kept;
    double *real, before,
        rule; /* nodes for bounds on the real axis: y, L, log of the weight, (1 - nu) times it, x, the error of L, room, 1 - nu;
                 the mass left of them; log of the error of the rule for (1 - nu)(e^{kL} - 1 - k x) */
    double *rows, *large, *room, before_large, front; /* nodes for what is large: z, L, r and the weight; nu; what is large left of
                                                         them; log of the weight at 0 */
    Size reals, nodes;
    double q, drift, error, drift_error; /* E nu and E nu x; bounds of the relative errors of the former and of the sum of both, and
                                            of the latter */
} Marked;

/* (x - mark)/width, g of it and of the other sign, and bounds of the shares by which they err */
typedef struct {
    double *y, *below, *above, *below_error, *above_error;
} Marks;

enum { LARGE, MIDDLE, ALL, KEPT }; /* nu, kappa - nu, 1 - nu and kappa - nu, 1 - nu */
int hs_bigjump_cells(Marked *step, const Run *run, const Sketch *sketch, double most, double fast);
int hs_bigjump_count_large(Marked *step, double log_q, double digits);
void hs_bigjump_free(Marked *step);
double hs_bigjump_g_above(double y);
void hs_bigjump_off_line(const Marked *step, Size from, Size cells, double cosine, double sine, int kind, double *found,
                         double *room);
int hs_bigjump_falls_beyond(const Marked *step, double x, double angle, double k, double reach);
double hs_bigjump_longest_step(const Marked *step, int kind, double k, double reach, double size, double log_goal);
void hs_bigjump_ratio_errors(const Run *run, const double *z, const double *ratio, const double *share, Size n, double *moved);
void hs_bigjump_marks_at(const Run *run, double mark, double width, const double *z, const double *ratio, const double *x, Size n,
                         Marks *at);
double hs_bigjump_beyond_kept(const Marked *step, double k);
void hs_bigjump_log_middle_above(const Marked *step, const double *k, int many, double *found);
double hs_bigjump_not_large_above(const Marked *step, double k);
double hs_bigjump_reverse_above(const Marked *step, double k);
void hs_bigjump_large_above(const Marked *step, const double *k, int many, double pivot, const double *height, double *light,
                            double *heavy);

/* marked_far.c: the same off the real axis, from above */
enum { TURNED = 2 };

typedef struct {
    double *room, ends[TURNED]; /* on some lines, for each edge and cell; what lies beyond the cells, inf: it proves nothing */
    Size cells;
} Far;

void hs_bigjump_spread_decay(const Marked *step, double k, double phi, double start, int cells, double growth, double *out);
int hs_bigjump_look_far(Far *far, const Marked *step, double k);
double hs_bigjump_far_at(const Far *far, double u);

/* marked_along.c: values.  What is told of one step at a node: log phi and a bound of its relative error; if some are small also
   log(1 - mid/phi), |1 - mid/phi|, a bound of its error, and one of the errors of phi and of phi - mid by themselves, over the
   latter */
typedef struct {
    double re, im, off, term_re, term_im, rest, lost, apart;
} Node;

int hs_bigjump_values(const Marked *step, const Marked *small, double k, double spacing, Size nodes, double log_goal,
                      double middle_goal, Node *found);

/* parted.c */
double hs_bigjump_bent(const double *ratio, const double *x, const double *weight, Size cells, double k);

/* apart.c: epsilon of sparse runs in the order "remove"; 0 if its ends are not close */
typedef struct Parted Parted;
Parted *hs_bigjump_open(const Run *run);
void hs_bigjump_close(Parted *parted);
int hs_bigjump_epsilon(Parted *parted, const Run *run, Room *room, double *low, double *high);
/* Both ends of log delta around the middle one of epsilons that grow: from where to where they are close */
void hs_bigjump_log_deltas(const Run *run, const double *epsilons, Size many, double *low, double *high, Size *first, Size *last);

/* contours.c */
enum {
    CONTOURS = 4,
    SOONER = 3,
    FEW = 1000
}; /* of which those to be tried sooner than large steps are counted apart; most nodes */

typedef struct Block {
    Run run; /* with a count amid the others */
    double saddle;
    Room room;
    Contour contours[CONTOURS][2]; /* for the pairs that seem to matter, and for every pair */
    Parted *parted;
    struct Block *added; /* for the order "add" alone */
    Guide guide;         /* the last, as it is long: laid when it is asked */
} Block;

Block *hs_block_open(const Run *run); /* NULL where there is no memory */
void hs_block_close(Block *block);
int hs_block_look_ahead(Contour *contour, double count, double epsilon);
int hs_block_step(Contour *contour, const Run *run, double least_epsilon, double most_epsilon);
int hs_block_at_count(Contour *contour, const Run *run, double epsilon, Room *room);
int hs_block_epsilon(Block *block, const Run *run, int from, int to, double *low, double *high);
/* From where to where those that grow around the middle one are told closely, the rest is not; 0 if that is nowhere */
typedef int Answer(const void *of, double epsilon, double *low, double *high); /* 0: it does not count */
int hs_around_middle(Answer *told, const void *of, const double *epsilons, Size many, double *low, double *high, Size *first,
                     Size *last);
/* Both ends of log delta at epsilons that grow; NaN where they are not close */
void hs_log_deltas(const Run *run, const double *epsilons, Size many, double *low, double *high);

/* values.c: sum over j of weights[row][j] e^{iuL_j} at u = 0, step, ..., added to (re, im), for one or two rows; 0 where there is
   no memory.  The turns, products of two, err by TURNS_ERROR at most. */
#define TURNS_ERROR (2.0 * FUNCTION + 4.0 * UNIT)
int hs_fourier_sums(const double *ratio, const double *weights, Size many, Size far, double step, Size nodes, double *re,
                    double *im);

/* A sum of numbers of one sign, rounded about once (Neumaier). */
typedef struct {
    double sum, rest;
} Exact;

static inline void add(Exact *into, double value) {
    double sum = into->sum + value;
    into->rest += fabs(into->sum) >= fabs(value) ? (into->sum - sum) + value : (value - sum) + into->sum;
    into->sum = sum;
}

static inline double larger(double a, double b) { return a > b ? a : b; }
static inline double smaller(double a, double b) { return a < b ? a : b; }
static inline double log_tail_bound(double x) { return x >= 0.0 ? -0.5 * x * x - M_LN2 : 0.0; }

#endif
