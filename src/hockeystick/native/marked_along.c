/* Twins of loss/parted_cells.py and loss/parted_step.py: phi = E (1 - nu) e^{kL} off the real axis, how it falls and its values. */
#include "native.h"

enum { JOINED = 2, TERMS = 40, PIECE = 64, NARROWED = 3 };
static const double LINES[TURNED] = {0.12, 0.25, 0.5};
static const int SHIFTS[NARROWED] = {0, 4, 9};
#define FAINT 30.0 /* log of how much less is counted, not summed */
#define WORK 1e7   /* nodes of the noise times those of the contour */

/* Lower bounds of -log |phi(k + iu)/phi(k)| on cells of u from `start` on, by the spread of the tilted law: `spread_gap` of
   numerics/transform.py; phi is at least phi(k) */
void fall_of(const Marked *step, double k, double phi, double start, double *out) {
    Size joined = step->kept / JOINED, live = 0;
    double moments[CELLS] = {0.0}, mass[2048], low[2048], high[2048], right[CELLS], left = start;
    for (int cell = 0; cell < CELLS; cell++)
        right[cell] = (cell ? right[cell - 1] : start) * 1.25;
    for (Size i = 0; i < joined && live < 2048; i++) {
        Size from = i * JOINED, to = from + JOINED;
        double far = larger(fabs(step->edges[from]), fabs(step->edges[to])), y = (step->x[to] - step->high) / step->width;
        double log_mass = -0.5 * far * far + (log(JOINED * step->cell) - LOG_ROOT_TWO_PI - 2.0 * SLACK);
        double kept = y > 37.0 ? 0.0 : 0.5 * erfc(M_SQRT1_2 * y);
        mass[live] = exp(smaller(log_mass + k * step->ratio[from], 600.0)) * kept / phi;
        low[live] = step->ratio[from];
        high[live] = step->ratio[to];
        live += mass[live] > 1e-20;
    }
    for (Size i = 0; i < live; i++) {
        int cell = CELLS - 2;
        for (Size j = i + 1; j < live; j++) {
            double inner = low[j] - high[i], outer = high[j] - low[i];
            while (cell >= 0 && !(right[cell] * outer <= PI * (1.0 - 1e-9)))
                cell--;
            if (cell < 0)
                break;
            moments[cell] += inner > 0.0 ? mass[i] * mass[j] * inner * inner : 0.0;
        }
    }
    for (int cell = CELLS - 2; cell >= 0; cell--)
        moments[cell] += moments[cell + 1];
    for (int cell = 0; cell < CELLS; cell++, left *= 1.25) {
        double best = 0.0;
        for (int way = 0; way < NARROWED; way++) {
            double t = PI / pow(1.25, SHIFTS[way]), factor = 2.0 * (1.0 - cos(t)) / (t * t) * (1.0 - 1e-9);
            if (cell + SHIFTS[way] < CELLS)
                best = larger(best, moments[cell + SHIFTS[way]] * factor);
        }
        double gap = smaller(left * left * best, 1.0) * (1.0 - SLACK);
        out[cell] = -0.5 * log1p(-smaller(gap, 1.0 - 1e-15));
    }
}

/* The integrand of phi(k), or of mid(k), on some lines above the real one, where |e^{iuL}| <= e^{-u arg}; 0 where there is no
 * memory */
int look_far(Far *far, const Marked *step, int kind, double k) {
    Size cells = far->cells = step->kept;
    double *room = malloc((size_t)(2 * TURNED * cells) * sizeof(double)), noise = step->run->noise;
    far->room = room;
    if (!room)
        return 0;
    for (int turn = 0; turn < TURNED; turn++) {
        double angle = LINES[turn], cosine = cos(angle), sine = sin(angle), height = 0.5 * noise * angle * noise * angle,
               mark = 0.0;
        double *log_f = room + 2 * turn * cells, *arg = log_f + cells, before = 0.0;
        far->arg[turn] = arg;
        far->log_f[turn] = falls_beyond(step, step->last_x, angle, k, 0.0) ? log_f : NULL;
        for (Size cell = 0; far->log_f[turn] && cell < cells; cell++) {
            double r = step->share[cell];
            mark = log(off_line(step, cell, cosine, sine, kind)) + k * step->ratio[cell + 1] + height;
            before = cell ? before : mark;
            log_f[cell] = mark + step->log_mass[cell];
            arg[cell] = atan2(r * sine, 1.0 - r * (1.0 - cosine)) * (1.0 - 1e-12);
        }
        /* what lies beyond the cells on either side */
        far->ends[turn] = larger(larger(mark + log_tail_bound(step->edges[cells]), before + log(step->left)), -700.0) + M_LN2;
    }
    return 1;
}

/* A bound of log |phi(k + iu)|, or of log |mid|, for this u and beyond */
double far_at(const Far *far, double u) {
    double found = INFINITY;
    for (int turn = 0; turn < TURNED; turn++) {
        const double *log_f = far->log_f[turn], *arg = far->arg[turn];
        if (!log_f)
            continue;
        double top = far->ends[turn], inside = 1.0 + (double)far->cells * exp(-FAINT);
        for (Size cell = 0; cell < far->cells; cell++)
            top = larger(top, log_f[cell] - arg[cell] * u);
        inside = exp(far->ends[turn] - top) + (double)far->cells * exp(-FAINT);
        for (Size cell = 0; cell < far->cells; cell++) {
            double one = log_f[cell] - arg[cell] * u - top;
            inside += one > -FAINT ? exp(one) : 0.0;
        }
        found = smaller(found, top + log(inside));
    }
    return found + 2.0 * SLACK;
}

/* log(1 + z), to relative accuracy: `log1p_complex` */
static void log_of(double re, double im, double *log_re, double *log_im) {
    double whole = 2.0 * re + (re * re + im * im);
    *log_re = whole < -0.75 ? log(larger(hypot(1.0 + re, im), 1e-290)) : 0.5 * log1p(whole);
    *log_im = atan2(im, 1.0 + re);
}

/* phi, and mid if some are small, at k + iu, u = 0, spacing, ..., of one step; the rule errs by about e^log_goal.  0 if that takes
   too long. */
int not_large_along(const Marked *step, double k, double spacing, Size nodes, double log_goal, Node *nodes_of) {
    const Run *run = step->run;
    int parted = step->low > 0.0, many = parted ? 2 : 1;
    double reach = spacing * (double)(nodes - 1), size = larger(1.0, hypot(k, reach)), end = step->edges[step->kept];
    double length = marked_step(step, ALL, k, reach, size, log_goal), low = step->edges[0];
    if (!(length > 0.0 && length < 1e3))
        return 0;
    exact_places(&low, &length);
    double places = (end - low) / length + 2.0;
    if (!(places * (double)nodes < 2.0 * WORK && places < 1e5))
        return 0;
    Size n = (Size)places, first = 0, last;
    double *space = calloc((size_t)(7 * n + 4 * nodes), sizeof(double));
    if (!space)
        return 0;
    double *rows = space, *ratio = rows + n, *share = rows + 2 * n, *base = rows + 3 * n, *far_ratio = rows + 4 * n;
    double *tilted = rows + 5 * n, *re = rows + 7 * n, *im = re + 2 * nodes;
    fill_rows(rows, n, low, length, run->noise, run->rate);
    double mark = parted ? step->low : step->high, width = parted ? step->low_width : step->width;
    double near = smaller(1.0 / size, log1p(larger(0.0, smaller(0.6 * mark, mark - 10.0 * width))));
    while (first < n && ratio[first] < -1.0 / size)
        first++;
    for (last = first; last < n && ratio[last] < near; last++) /* marks begin to the right of it */
        ;

    /* nodes with |k L| <= 1, by powers of L, some at a time: `_near` */
    double powers[TERMS] = {0.0}, part[TERMS], square = 0.0, spread = 0.0, remainder = 0.0, near_error = 0.0;
    int degree = 2;
    if (last > first) {
        double widest = larger(size * larger(fabs(ratio[first]), fabs(ratio[last - 1])), 1e-300), term = widest / 3.0;
        while (degree * term > 0x1p-55)
            degree++, term *= widest / (degree + 1);
        remainder = degree * term / (1.0 - 2.0 * widest / (degree + 2));
    }
    for (Size start = first; start < last; start += PIECE) {
        for (int m = 0; m < degree - 1; m++)
            part[m] = 0.0;
        for (Size j = start; j < last && j < start + PIECE; j++) {
            double weight = exp(base[j]), l = ratio[j], power = weight * l * l, slip = slip_of(run, rows[j]);
            double moved = share[j] * slip + (FUNCTION + 16.0 * UNIT) * fabs(l);
            square += power;
            spread += weight * fabs(l) * (moved + UNIT * fabs(l) * rows[j] * rows[j]);
            for (int m = 0; m < degree - 1; m++) {
                part[m] += power;
                power *= l;
            }
        }
        for (int m = 0; m < degree - 1; m++)
            powers[m] += part[m];
    }
    double factorial = 1.0, pieces = (double)((last - first) / PIECE + 2);
    for (int m = 0; m < degree - 1; m++) {
        factorial *= m + 2;
        powers[m] /= factorial;
    }
    for (int m = degree - 3; m >= 0; m--)
        powers[m] += powers[m + 1];
    near_error = 1.36 * square * ((PIECE + 2.0 * pieces + 4.0 * degree + 30.0) * UNIT + remainder) + 2.72 * spread;

    /* the others: their weights, and what multiplies |k| in the errors, and what does not */
    Size far = n - (last - first), place = 0;
    Exact mass = {0.0, 0.0}, drift = {0.0, 0.0};
    double terms = (double)((far < 32 ? far : 32) + (far + 31) / 32), fixed = 0.0, slope = 0.0, tiny = 0.0;
    double middle_fixed = 0.0, middle_slope = 0.0, faint = exp(log_goal - 3.0) / (double)n;
    for (Size j = 0; j < n; j++) {
        if (first <= j && j < last)
            continue;
        double l = ratio[j], x = expm1(l), z = rows[j], y = (x - step->high) / step->width, slip = slip_of(run, z),
               own = exp(base[j]);
        double moved = share[j] * slip + (FUNCTION + 16.0 * UNIT) * fabs(l);
        double kept = y < -8.5 ? 1.0 : y > 37.0 ? 0.0 : 0.5 * erfc(M_SQRT1_2 * y);
        if (k * l > 600.0) {
            free(space);
            return 0;
        }
        double grown = exp(base[j] + k * l), light = own * kept, row = grown * kept;
        double off = kept > 0.0 ? kept * mark_error(run->rate, step->high, step->width, x, -y, slip) : NEVER;
        double most = (grown + own * (1.0 + size * fabs(x))) * (kept + off) * (1.0 + 1e-9);
        if (most < faint) { /* far out on either side */
            fixed += most;
            middle_fixed += most;
            continue;
        }
        double relative = 4.0 * UNIT * z * z + ((terms + 10.0) * UNIT + 2.0 * FUNCTION + TURNS_ERROR);
        far_ratio[place] = l;
        tilted[place] = row;
        if (parted) { /* kappa - nu, as the difference of the complements where that is the better one */
            double v = (x - step->low) / step->low_width, one, two, middle_off;
            if (x < 0.5 * (step->low + step->high)) {
                one = v < -37.0 ? 0.0 : v > 8.5 ? 1.0 : 0.5 * erfc(-M_SQRT1_2 * v);
                two = y < -37.0 ? 0.0 : y > 8.5 ? 1.0 : 0.5 * erfc(-M_SQRT1_2 * y);
                middle_off = one * mark_error(run->rate, step->low, step->low_width, x, v, slip) +
                             two * mark_error(run->rate, step->high, step->width, x, y, slip) + 2.0 * NEVER;
            } else {
                one = kept;
                two = v < -8.5 ? 1.0 : v > 37.0 ? 0.0 : 0.5 * erfc(M_SQRT1_2 * v);
                middle_off = off + two * mark_error(run->rate, step->low, step->low_width, x, -v, slip) + 2.0 * NEVER;
            }
            double middle = larger(one - two, 0.0);
            tilted[n + place] = grown * middle;
            middle_fixed += grown * (middle * (relative + 2.0 * UNIT) + middle_off);
            middle_slope += grown * middle * (moved + 6.0 * UNIT * fabs(l));
        }
        place++;
        add(&mass, light);
        add(&drift, light * x);
        fixed += (row + light) * relative + (grown + own) * off;
        slope +=
            row * (moved + 6.0 * UNIT * fabs(l)) + light * fabs(x) * relative + own * fabs(x) * off + light * (1.0 + x) * moved;
        tiny += fabs(x);
    }
    for (Size j = 0; parted && j < place; j++) /* one row after the other */
        tilted[place + j] = tilted[n + j];
    if ((double)(place * many) * (double)nodes > WORK ||
        (place && !turned_sums(far_ratio, tilted, many, place, spacing, nodes, re, im))) {
        free(space);
        return 0;
    }
    double sure = mass.sum + mass.rest + step->q, pull = drift.sum + drift.rest + step->drift, right = beyond_kept(step, k);
    double lost = 5e-324 * (tiny + (double)n + 4.0) * (2.0 + size) + step->left * (3.0 + size) + right * (2.0 + size);
    lost += 3.0 * (size + 2.0) * exp(log_tail_bound((step->high - expm1(near)) / step->width)) * (1.0 + SLACK) + exp(log_goal);
    double before = parted ? exp(log_tail_bound((step->low - expm1(near)) / step->low_width)) * (1.0 + SLACK) : 0.0;
    double middle_lost = (3.0 + step->left) * before + right + exp(log_goal);
    int found = 1;
    for (Size node = 0; node < nodes; node++) {
        double u = spacing * (double)node, reaches = sqrt(k * k + u * u), pr = powers[degree - 2], pi = 0.0, swap;
        for (int m = degree - 3; m >= 0; m--) { /* Horner */
            swap = pr * k - pi * u + powers[m];
            pi = pr * u + pi * k;
            pr = swap;
        }
        double fr = k * (k - 1.0) - u * u, fi = u * (2.0 * k - 1.0);
        double er = fr * pr - fi * pi + (re[node] - (sure + k * pull)), ei = fr * pi + fi * pr + (im[node] - u * pull);
        double off = sqrt(fr * fr + fi * fi) * near_error + fixed + reaches * slope + lost;
        off += (step->q + reaches * step->drift) * (step->error + 2.0 * FUNCTION) +
               8.0 * UNIT * (sure + reaches * pull + fabs(er) + fabs(ei));
        double magnitude = hypot(1.0 + er, ei);
        found &= magnitude > 1e-280 && magnitude < 1e100;
        Node *at = nodes_of + node;
        log_of(er, ei, &at->re, &at->im);
        at->off = off / magnitude;
        if (parted) {
            double mr = re[nodes + node], mi = im[nodes + node], square = magnitude * magnitude;
            double sr = -(mr * (1.0 + er) + mi * ei) / square, si = -(mi * (1.0 + er) - mr * ei) / square; /* -mid/phi */
            double missing = (middle_fixed + reaches * middle_slope + middle_lost) / magnitude;
            at->rest = larger(hypot(1.0 + sr, si), 1e-290);
            log_of(sr, si, &at->term_re, &at->term_im);
            at->lost = (missing + hypot(sr, si) * (at->off + 8.0 * UNIT)) / (1.0 - smaller(at->off, 0.5));
            at->lost += 8.0 * FUNCTION * hypot(at->term_re, at->term_im) * at->rest;
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
    Marked marked = {.edges = NULL};
    Far far = {.room = NULL};
    (void)self;
    if (!parse(&held, args, count, "dddddddddddaaaa", &run.noise, &run.rate, &run.count, &sketch.low, &sketch.low_width,
               &sketch.high, &sketch.width, &log_q, &c, &spread, &step, &value, &error, &fall, &off))
        return NULL;
    run.least = run.most = run.count;
    int found = 0;
    double above = 0.0, back = 0.0, middle = 0.0, u = spread, ahead = c + AHEAD[FORWARD - 1] * spread;
    Node *nodes = NULL;
    if (error.size < 1 || value.size != 4 * error.size || fall.size != CELLS || off.size != CELLS) {
        PyErr_SetString(PyExc_ValueError, "as many values as errors, and the cells");
    } else if (mark_cells(&marked, &run, &sketch, 2.0 + ahead, 1.0 + ahead) && count_large(&marked, log_q, 38.0) &&
               look_far(&far, &marked, MIDDLE, 1.0 + c) && (nodes = malloc((size_t)error.size * sizeof *nodes))) {
        above = not_large_above(&marked, 1.0 + c);
        back = reverse_above(&marked, 1.0);
        fall_of(&marked, 1.0 + c, 1.0 + above, spread, fall.at);
        for (int cell = 0; cell < CELLS; cell++, u *= 1.25)
            off.at[cell] = far_at(&far, u);
        middle = marked.low > 0.0 ? log_middle_above(&marked, 1.0 + c) : 0.0;
        found = not_large_along(&marked, 1.0 + c, step, error.size, -30.0 - log(run.count), nodes);
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
    forget(&marked);
    release(&held);
    if (PyErr_Occurred())
        return NULL;
    if (!found)
        Py_RETURN_NONE;
    return Py_BuildValue("(dddddd)", marked.q, marked.drift, marked.error, above, back, middle);
}
