/* Twin of loss/bigjump/transform.py: the values of phi = E (1 - nu) e^{kL} off the real axis. */
#include "elementary.h"

enum { TERMS = 40, LOWEST = 28, PIECE = 64, ROOM = 18 }; /* ROOM: rows of nodes */
#define TAYLOR 2.0                                       /* |k L| of the nodes that are summed by powers */
#define WORK 1e7                                         /* nodes of the noise times those of the contour */

/* Where no square is too small a number */
static inline double modulus(double re, double im) { return sqrt(re * re + im * im); }

/* log(1 + z), to relative accuracy: `log1p_complex` */
static void log_one_more(double re, double im, double *log_re, double *log_im) {
    double whole = 2.0 * re + (re * re + im * im);
    *log_re = whole < -0.75 ? log(larger(hypot(1.0 + re, im), 1e-290)) : 0.5 * log1p(whole);
    *log_im = atan2(im, 1.0 + re);
}

/* Values along a contour, and a bound of their errors: fixed + |k + iu| slope + |(k + iu)(k + iu - 1)| curve */
typedef struct {
    double *re, *im, fixed, slope, curve;
} Along;

/* The nodes of the noise from z on for a rule that errs by e^log_goal, as rows; 0 if there are too many, or no memory */
static Size lay_nodes(const Marked *step, int kind, double k, double reach, double size, double log_goal, double z, Size nodes,
                      double **rows) {
    double length = smaller(hs_bigjump_longest_step(step, kind, k, reach, size, log_goal), 1.0), low = z;
    if (!(length > 0.0))
        return 0;
    hs_grid_exact_places(&low, &length);
    double places = (step->edges[step->kept] - low) / length + 2.0;
    if (!(places >= 1.0 && places * (double)nodes < 2.0 * WORK && places < 1e5) ||
        !(*rows = malloc((size_t)(ROOM * (Size)places) * sizeof(double))))
        return 0;
    hs_grid_fill(*rows, *rows + 6 * (Size)places, (Size)places, low, length, step->run->noise, step->run->rate);
    return (Size)places;
}

/* Whether what is not large, times e^{kL} or 1 + |k| x, falls from a node on: the hazard of g is at least its argument */
static int falls_from(const Marked *step, double k, double z, double x) {
    double square = step->width * step->width, over = x - step->high;
    return z > 0.0 && x > 0.0 && over > 5.0 * step->width && k * square < over * (1.0 + x) && square < over * x;
}

static double relative_error(Size far, double z) {
    double terms = (double)((far < 32 ? far : 32) + (far + 31) / 32);
    return 4.0 * UNIT * z * z + ((terms + 10.0) * UNIT + 2.0 * FUNCTION + TURNS_ERROR);
}

/* Adds sums of `power`, `power` y, `power` y^2, ..., so many, of a piece of nodes; four nodes side by side */
WIDE static void add_piece(const double *restrict y, const double *restrict power, Size size, int many, double *restrict into) {
    double part[TERMS][4] = {{0.0}}, by[4], now[4];
    for (Size j = 0; j < size; j += 4) {
        for (int lane = 0; lane < 4; lane++) {
            by[lane] = j + lane < size ? y[j + lane] : 0.0;
            now[lane] = j + lane < size ? power[j + lane] : 0.0;
        }
        for (int m = 0; m < many; m++)
            for (int lane = 0; lane < 4; lane++) {
                part[m][lane] += now[lane];
                now[lane] *= by[lane];
            }
    }
    for (int m = 0; m < many; m++)
        into[m] += (part[m][0] + part[m][1]) + (part[m][2] + part[m][3]);
}

static void add_powers(const double *y, const double *power, Size size, int many, double *into) {
    for (Size start = 0; start < size; start += PIECE)
        add_piece(y + start, power + start, size - start < PIECE ? size - start : PIECE, many, into);
}

/* A polynomial at k + iu, u = 0, spacing, ...: Horner's scheme, four nodes side by side; room for a multiple of four */
WIDE static void horner(const double *restrict factors, int many, double k, double spacing, Size nodes, double *restrict re,
                        double *restrict im) {
    for (Size node = 0; node < nodes; node += 4) {
        double pr[4], pi[4] = {0.0}, u[4], swap[4];
        for (int lane = 0; lane < 4; lane++) {
            u[lane] = spacing * (double)(node + lane);
            pr[lane] = factors[many - 1];
        }
        for (int m = many - 2; m >= 0; m--)
            for (int lane = 0; lane < 4; lane++) {
                swap[lane] = pr[lane] * k - pi[lane] * u[lane] + factors[m];
                pi[lane] = pr[lane] * u[lane] + pi[lane] * k;
                pr[lane] = swap[lane];
            }
        for (int lane = 0; lane < 4; lane++) {
            re[node + lane] = pr[lane];
            im[node + lane] = pi[lane];
        }
    }
}

/* phi - 1 at k + iu, u = 0, spacing, ..., phi = E (1 - nu) e^{kL}, with nu the higher mark; the rule errs by about e^log_goal.  0
   if that takes too long. */
static int kept_along(const Marked *step, double k, double spacing, Size nodes, double log_goal, Along *found, double *room) {
    const Run *run = step->run;
    double reach = spacing * (double)(nodes - 1), size = larger(1.0, hypot(k, reach)), *rows = NULL;
    double start = larger(step->edges[0], -sqrt(2.0 * (4.0 + log(3.0 + size) - log_goal)));
    Size n = lay_nodes(step, KEPT, k, reach, size, log_goal, start, nodes, &rows), first = 0, last;
    if (!n)
        return 0;
    double *ratio = rows + n, *share = rows + 2 * n, *base = rows + 3 * n, *far_ratio = rows + 4 * n, *tilted = rows + 5 * n,
           *excess = rows + 6 * n, *moved = rows + 7 * n, *own = rows + 8 * n, *grown = rows + 9 * n;
    Marks at = {rows + 10 * n, rows + 11 * n, rows + 12 * n, rows + 13 * n, rows + 14 * n};
    double unmarked = log1p(larger(0.0, smaller(0.6 * step->high, step->high - 10.0 * step->width)));
    double near = smaller(TAYLOR / size, unmarked), least = log1p(-run->rate);
    while (first < n && ratio[first] < -TAYLOR / size)
        first++;
    for (last = first; last < n && ratio[last] < near; last++) /* marks begin to the right of it */
        ;

    /* nodes with |k L| <= TAYLOR, by powers of L, some at a time: `_near`; their sum is at most e^|kL| |k L|^2/2 */
    double powers[TERMS] = {0.0}, square, spread = 0.0, spread_squares = 0.0, remainder = 0.0, grown_by = 1.0;
    int degree = 2;
    if (last > first) {
        double widest = larger(size * larger(fabs(ratio[first]), fabs(ratio[last - 1])), 1e-300), term = widest / 3.0;
        while (degree * term > 0x1p-55)
            degree++, term *= widest / (degree + 1);
        remainder = degree * term / (1.0 - 2.0 * widest / (degree + 2));
        grown_by = exp(widest) * (1.0 + 1e-6);
    }
    hs_bigjump_ratio_errors(run, rows, ratio, share, n, moved);
    memcpy(own, base, (size_t)n * sizeof(double));
    hs_exps(own, n);
    for (Size j = first; j < last; j++)
        grown[j] = own[j] * ratio[j] * ratio[j];
    add_powers(ratio + first, grown + first, last - first, degree - 1, powers);
    for (Size j = first; j < last; j++) {
        spread += own[j] * fabs(ratio[j]) * moved[j];
        spread_squares += grown[j] * rows[j] * rows[j];
    }
    square = powers[0];
    spread += UNIT * spread_squares;
    double factorial = 1.0, pieces = (double)((last - first) / PIECE + 2);
    for (int m = 0; m < degree - 1; m++) {
        factorial *= m + 2;
        powers[m] /= factorial;
    }
    for (int m = degree - 3; m >= 0; m--)
        powers[m] += powers[m + 1];
    found->curve = grown_by * (0.5 * square * ((PIECE + 2.0 * pieces + 4.0 * degree + 30.0) * UNIT + remainder) + spread);

    /* the others: their weights, and what multiplies |k| in the errors, and what does not */
    Size far = n - (last - first), place = 0, lower = 0;
    Exact mass = {0.0, 0.0}, drift = {0.0, 0.0};
    double fixed = 0.0, slope = 0.0, faint = exp(log_goal - 3.0) / (double)n, lowest[TERMS] = {0.0};
    double deep = exp(k * least) * exp(TAYLOR) * (1.0 + 1e-6); /* at least |e^{kL}|, and the sum of its terms, at those nodes */
    int fits = 1;
    for (; lower < first && (ratio[lower] - least) * size < TAYLOR && ratio[lower] < unmarked;
         lower++) { /* by powers of L - log(1 - q) */
        double x = excess[lower], z = rows[lower], relative = 4.0 * UNIT * z * z + 3.0 * FUNCTION + 4.0 * UNIT;
        at.y[lower] = ratio[lower] - least;
        add(&mass, own[lower]);
        add(&drift, own[lower] * x);
        fixed += own[lower] * (1.0 + deep) * relative;
        slope += own[lower] *
                 (deep * (moved[lower] + (FUNCTION + 4.0 * UNIT) * fabs(least)) + fabs(x) * relative + (1.0 + x) * moved[lower]);
    }
    add_powers(at.y, own, lower, LOWEST, lowest);
    for (int side = 0; side < 2; side++) {
        Size from = side ? last : lower, to = side ? n : first;
        Marks here = {at.y + from, at.below + from, at.above + from, at.below_error + from, at.above_error + from};
        for (Size j = from; j < to; j++)
            grown[j] = base[j] + k * ratio[j];
        hs_exps(grown + from, to - from);
        hs_bigjump_marks_at(run, step->high, step->width, rows + from, ratio + from, excess + from, to - from, &here);
    }
    for (Size j = lower; j < n && fits; j++) {
        if (first <= j && j < last)
            continue;
        double l = ratio[j], x = excess[j], z = rows[j], weight = own[j];
        fits = k * l <= 600.0;
        double kept = at.above[j], light = weight * kept, row = grown[j] * kept, off = kept * at.above_error[j] + NEVER;
        double most = (grown[j] + weight * (1.0 + size * fabs(x))) * (kept + off) * (1.0 + 1e-9);
        if (most < faint) { /* far out on either side */
            fixed += most;
            if (falls_from(step, k, z, x)) {
                fixed += most * (double)(n - j);
                break;
            }
            continue;
        }
        double relative = relative_error(far, z);
        far_ratio[place] = l;
        tilted[place++] = row;
        add(&mass, light);
        add(&drift, light * x);
        fixed += (row + light) * relative + (grown[j] + weight) * off;
        slope += row * (moved[j] + 6.0 * UNIT * fabs(l)) + light * fabs(x) * relative + weight * fabs(x) * off +
                 light * (1.0 + x) * moved[j];
    }
    fits = fits && (double)place * (double)nodes <= WORK &&
           (!place || hs_fourier_sums(far_ratio, tilted, 1, place, spacing, nodes, found->re, found->im));
    double sure = mass.sum + mass.rest + step->q, pull = drift.sum + drift.rest + step->drift,
           right = hs_bigjump_beyond_kept(step, k), left = exp(log_tail_bound(-rows[0]));
    double lost =
        1e-307 * (2.0 + excess[n - 1]) * ((double)n + 4.0) * (2.0 + size) + left * (4.0 + 2.0 * size) + right * (2.0 + size);
    lost += 3.0 * (size + 2.0) * exp(log_tail_bound((step->high - expm1(near)) / step->width)) * (1.0 + SLACK) + exp(log_goal);
    double over = 1.0, at_least = lowest[0];
    for (int m = 0; m < LOWEST; m++) {
        lowest[m] *= m ? 1.0 / over : 1.0;
        over *= m + 1;
    }
    double each = (PIECE + 2.0 * (double)(lower / PIECE + 2) + 4.0 * LOWEST + 30.0) * UNIT + 3.0 * FUNCTION;
    fixed += deep * at_least * (each + 2.0 * pow(TAYLOR, LOWEST) / over); /* and the terms left out */
    found->fixed = fixed + lost + step->q * (step->error + 2.0 * FUNCTION) + 8.0 * UNIT * sure;
    found->slope = slope + step->drift * (step->drift_error + 2.0 * FUNCTION) + 8.0 * UNIT * pull;
    Size wide = (nodes + 3) / 4 * 4;
    double *pr = room, *pi = pr + wide, *lr = pi + wide, *li = lr + wide, *cr = li + wide, *ci = cr + wide, *places = ci + wide;
    horner(powers, degree - 1, k, spacing, nodes, pr, pi);
    if (lower) {
        horner(lowest, LOWEST, k, spacing, nodes, lr, li);
        for (Size node = 0; node < wide; node++)
            places[node] = (double)node;
        hs_turns(least * spacing, places, wide, cr, ci);
    }
    double whole = exp(k * least);
    for (Size node = 0; fits && node < nodes; node++) {
        double u = spacing * (double)node, fr = k * (k - 1.0) - u * u, fi = u * (2.0 * k - 1.0), re = found->re[node],
               im = found->im[node];
        if (lower) {
            re += whole * (lr[node] * cr[node] - li[node] * ci[node]);
            im += whole * (lr[node] * ci[node] + li[node] * cr[node]);
        }
        found->re[node] = fr * pr[node] - fi * pi[node] + (re - (sure + k * pull));
        found->im[node] = fr * pi[node] + fi * pr[node] + (im - u * pull);
    }
    free(rows);
    return fits;
}

/* mid = E (kappa - nu) e^{kL} likewise */
static int middle_along(const Marked *step, double k, double spacing, Size nodes, double log_goal, Along *found) {
    const Run *run = step->run;
    double reach = spacing * (double)(nodes - 1), from = step->low - sqrt(2.0 * (6.0 - log_goal)) * step->low_width, *rows = NULL;
    double start = from > 0.0 ? larger(step->edges[0], hs_bigjump_place(run, from)) : step->edges[0];
    Size n = lay_nodes(step, MIDDLE, k, reach, 0.0, log_goal, start, nodes, &rows), place = 0;
    if (!n)
        return 0;
    double *ratio = rows + n, *share = rows + 2 * n, *grown = rows + 3 * n, *far_ratio = rows + 4 * n, *tilted = rows + 5 * n,
           *excess = rows + 6 * n, *moved = rows + 7 * n;
    double faint = exp(log_goal - 3.0) / (double)n, fixed = 0.0, slope = 0.0;
    Marks high = {rows + 8 * n, rows + 9 * n, rows + 10 * n, rows + 11 * n, rows + 12 * n},
          low = {rows + 13 * n, rows + 14 * n, rows + 15 * n, rows + 16 * n, rows + 17 * n};
    int fits = 1;
    hs_bigjump_ratio_errors(run, rows, ratio, share, n, moved);
    hs_bigjump_marks_at(run, step->high, step->width, rows, ratio, excess, n, &high);
    hs_bigjump_marks_at(run, step->low, step->low_width, rows, ratio, excess, n, &low);
    for (Size j = 0; j < n; j++)
        grown[j] += k * ratio[j];
    hs_exps(grown, n);
    for (Size j = 0; j < n && fits; j++) {
        double l = ratio[j], x = excess[j], z = rows[j], one, two, off;
        fits = k * l <= 600.0;
        if (x <
            0.5 * (step->low + step->high)) { /* kappa - nu, as the difference of the complements where that is the better one */
            one = low.below[j];
            two = high.below[j];
            off = one * low.below_error[j] + two * high.below_error[j] + 2.0 * NEVER;
        } else {
            one = high.above[j];
            two = low.above[j];
            off = one * high.above_error[j] + two * low.above_error[j] + 2.0 * NEVER;
        }
        double middle = larger(one - two, 0.0), most = grown[j] * (middle + off) * (1.0 + 1e-9);
        if (most < faint) {
            fixed += most;
            if (falls_from(step, k, z, x)) {
                fixed += grown[j] * (one + off) * (1.0 + 1e-9) * (double)(n - j); /* there `one` is 1 - nu */
                break;
            }
            continue;
        }
        far_ratio[place] = l;
        tilted[place++] = grown[j] * middle;
        fixed += grown[j] * (middle * (relative_error(n, z) + 2.0 * UNIT) + off);
        slope += grown[j] * middle * (moved[j] + 6.0 * UNIT * fabs(l));
    }
    fits = fits && (double)place * (double)nodes <= WORK &&
           (!place || hs_fourier_sums(far_ratio, tilted, 1, place, spacing, nodes, found->re, found->im));
    /* left of the first node kappa e^{kL} is less than there, where L > 0, or less than kappa */
    double before =
        hs_bigjump_g_above((expm1(ratio[0]) - step->low) / step->low_width) * (1.0 + 1e-6) * exp(larger(0.0, k * ratio[0]));
    found->fixed = fixed + 3.0 * before + hs_bigjump_beyond_kept(step, k) + exp(log_goal) + 1e-307 * (double)n;
    found->slope = slope;
    found->curve = 0.0;
    free(rows);
    return fits;
}

/* phi, and mid if some are small, at k + iu, u = 0, spacing, ..., of one step; the rules err by about e^log_goal.  `small` is the
   step of which what is not small is large, NULL if none is: phi = E (1 - kappa) e^{kL} + mid, each on nodes of its own.  0 if that
   takes too long. */
int hs_bigjump_values(const Marked *step, const Marked *small, double k, double spacing, Size nodes, double log_goal,
                      double middle_goal, Node *nodes_of) {
    double *space = calloc((size_t)(11 * (nodes + 3)), sizeof(double));
    if (!space)
        return 0;
    Along rest = {.re = space, .im = space + nodes}, middle = {.re = space + 2 * nodes, .im = space + 3 * nodes};
    int found = kept_along(small ? small : step, k, spacing, nodes, log_goal, &rest, space + 4 * nodes) &&
                (!small || middle_along(step, k, spacing, nodes, middle_goal, &middle));
    for (Size node = 0; found && node < nodes; node++) {
        double u = spacing * (double)node, reaches = sqrt(k * k + u * u), missing = middle.fixed + reaches * middle.slope;
        double mr = middle.re[node], mi = middle.im[node], er = rest.re[node] + mr, ei = rest.im[node] + mi;
        double off = reaches * reaches * rest.curve + rest.fixed + reaches * rest.slope;
        off += missing + 8.0 * UNIT * (fabs(er) + fabs(ei) + fabs(mr) + fabs(mi));
        double magnitude = modulus(1.0 + er, ei);
        found = magnitude > 1e-140 && magnitude < 1e100;
        Node *at = nodes_of + node;
        log_one_more(er, ei, &at->re, &at->im);
        at->off = off / magnitude;
        if (small) {
            double square = magnitude * magnitude;
            double sr = -(mr * (1.0 + er) + mi * ei) / square, si = -(mi * (1.0 + er) - mr * ei) / square; /* -mid/phi */
            missing /= magnitude;
            at->rest = larger(modulus(1.0 + sr, si), 1e-290);
            log_one_more(sr, si, &at->term_re, &at->term_im);
            at->lost = (missing + modulus(sr, si) * (at->off + 8.0 * UNIT)) / (1.0 - smaller(at->off, 0.5));
            at->lost += 8.0 * FUNCTION * modulus(at->term_re, at->term_im) * at->rest;
            at->apart = (at->off + missing + 16.0 * UNIT) / at->rest;
        }
    }
    free(space);
    return found;
}

/* marked(noise, rate, count, low, low_width, high, width, log_q, c, spread, step, value, error, fall, far): what is known of one
   marked step, along k = 1 + c + iu, for tests: log phi and log(1 - mid/phi), and the errors of both together; returns E nu, E nu x
   and a bound of their relative errors, and bounds of phi - 1 at k = 1 + c and of E e^{-L} - 1; None if nothing is known.  `fall`
   and `far` are for the cells of u. */
FUNCTION_OF_PYTHON(native_marked) {
    Held held;
    Run run = {.many = 1, .removal = {1, 0}};
    double log_q, c, spread, step;
    Sketch sketch = {.low = 0.0};
    Array value, error, fall, off;
    Marked marked = {.edges = NULL}, small = {.edges = NULL};
    Far far = {.room = NULL};
    (void)self;
    if (!hs_parse(&held, args, count, "dddddddddddaaaa", &run.noise, &run.rate, &run.count, &sketch.low, &sketch.low_width,
                  &sketch.high, &sketch.width, &log_q, &c, &spread, &step, &value, &error, &fall, &off))
        return NULL;
    run.least = run.most = run.count;
    int found = 0;
    double above = 0.0, back = 0.0, middle = 0.0, u = spread, ahead = c + HS_AHEAD[FORWARD - 1] * spread;
    Node *nodes = NULL;
    if (error.size < 1 || value.size != 4 * error.size || fall.size != CELLS || off.size != CELLS) {
        PyErr_SetString(PyExc_ValueError, "as many values as errors, and the cells");
    } else if (hs_bigjump_cells(&marked, &run, &sketch, 2.0 + ahead, 1.0 + ahead) && hs_bigjump_count_large(&marked, log_q, 38.0) &&
               hs_bigjump_look_far(&far, &marked, 1.0 + c) && (nodes = malloc((size_t)error.size * sizeof *nodes))) {
        above = hs_bigjump_not_large_above(&marked, 1.0 + c);
        back = hs_bigjump_reverse_above(&marked, 1.0);
        hs_bigjump_spread_decay(&marked, 1.0 + c, 1.0 + above, spread, CELLS, GROWTH, fall.at);
        for (int cell = 0; cell < CELLS; cell++, u *= 1.25)
            off.at[cell] = hs_bigjump_far_at(&far, u);
        double k = 1.0 + c;
        if (marked.low > 0.0)
            hs_bigjump_log_middle_above(&marked, &k, 1, &middle);
        double goal = -30.0 - log(run.count);
        int parted = marked.low > 0.0;
        Sketch here = {.high = sketch.low, .width = sketch.low_width};
        found = (!parted || (hs_bigjump_cells(&small, &run, &here, 2.0 + ahead, 1.0 + ahead) &&
                             hs_bigjump_count_large(&small, log_tail_bound(hs_bigjump_place(&run, sketch.low)), 38.0))) &&
                hs_bigjump_values(&marked, parted ? &small : NULL, 1.0 + c, step, error.size, goal, goal, nodes);
        for (Size node = 0; found && node < error.size; node++) {
            const Node *at = nodes + node;
            double *into = value.at + 4 * node;
            into[0] = at->re, into[1] = at->im, into[2] = marked.low > 0.0 ? at->term_re : 0.0,
            into[3] = marked.low > 0.0 ? at->term_im : 0.0;
            error.at[node] = at->off + (marked.low > 0.0 ? at->lost : 0.0);
        }
    }
    free(nodes);
    free(far.room);
    hs_bigjump_free(&marked);
    hs_bigjump_free(&small);
    hs_release(&held);
    if (PyErr_Occurred())
        return NULL;
    if (!found)
        Py_RETURN_NONE;
    return Py_BuildValue("(dddddd)", marked.q, marked.drift, larger(marked.error, marked.drift_error), above, back, middle);
}
