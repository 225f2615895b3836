/* Twins of loss/big_jump.py and loss/parted_marks.py, for one mechanism: about where epsilon of a sparse run lies, from which loss on
   a step counts as large there, up to which as small, and the saddle point.  Nothing here is part of a proof. */
#include "native.h"

enum { NODES = 1500, RATES = 23, ORDERS = 19, STARTS = 6, TRIES = 60, SELDOM = 4 };
#define HARD 0.03, 0.08 /* widths of a mark, relative to x */
#define DIGITS 23.0     /* about -log of the errors of the contour's terms */
static const double FARTHER[STARTS] = {1.0, 1.1, 1.25, 1.5, 2.0, 3.0};

double place_of(const Run *run, double x) { return run->noise * log1p(x / run->rate) + 0.5 / run->noise; }

/* The normal distribution function */
static double g(double y) { return y > 8.5 ? 1.0 : y < -38.0 ? 0.0 : 0.5 * erfc(-M_SQRT1_2 * y); }

typedef double Function(void *of, double x);

/* Places no farther apart than `width` between which an increasing function changes sign: numerics/roots.py */
static void bracketed(Function *function, void *of, double *low, double *high, double width) {
    double below = NAN, above = NAN;
    int kept = 0;
    for (int turn = 0; turn < TRIES && *high - *low > width; turn++) {
        double share = below < 0.0 && above > 0.0 ? below / (below - above) : 0.5, room = smaller(0.45 * width, 0.5 * (*high - *low));
        double point = smaller(larger(*low + (*high - *low) * share, *low + room), *high - room), value = function(of, point);
        if (value < 0.0) {
            above *= kept > 0 ? 0.5 : 1.0;
            *low = point;
            below = value;
            kept = 1;
        } else {
            below *= kept < 0 ? 0.5 : 1.0;
            *high = point;
            above = value;
            kept = -1;
        }
    }
}

/* One step on plain nodes of the noise */
typedef struct {
    const Run *run;
    double count, epsilon, pay, hard, target, fixed[RATES], *ratio, *x, *weight, *space; /* what is fixed is not logarithms */
    double *suffix, *lifted, *heavy; /* of weight (x + e^epsilon + 1); e^{-r (L - epsilon)}, a row for each r; weight of what is large */
    double orders[ORDERS], *bent, bounds[ORDERS]; /* weight (e^{kL} - 1 - k x), a row for each order; log of what small steps may do */
    Size size, first, from[STARTS];  /* the first beyond epsilon; beyond some multiples of it */
    int best;
    double high, width, q, drift, *light;
    double low, low_width, soft, order, large, *middle, each_phi, each_gain; /* log phi and log phi/(phi - mid), where asked last; 0: none is small; E nu, and then q and drift are of what is not small */
    Size end;
    int divides; /* whether some may be small */
} Noise;

/* Nodes up to some z; 0 if they are too many */
static int laid(Noise *noise, double low, double last, double spacing) {
    double size = ceil((last - low) / spacing), rows[4 * NODES];
    if (!(size >= 2.0 && size <= NODES))
        return 0;
    noise->size = (Size)size;
    fill_rows(rows, noise->size, low, spacing, noise->run->noise, noise->run->rate);
    for (Size j = 0; j < noise->size; j++) {
        noise->ratio[j] = rows[noise->size + j];
        noise->x[j] = expm1(noise->ratio[j]);
        noise->weight[j] = exp(rows[3 * noise->size + j]);
    }
    return 1;
}

static double normal_delta(double epsilon, double mu) {
    double a = epsilon / mu - 0.5 * mu;
    if (a > 38.0)
        return 0.0;
    return larger(0.0, g(-a) - exp(epsilon) * g(-a - mu));
}

/* log delta at e^x by the principle of one big jump, with the sign of what is left of the target */
static double jumped(void *of, double x) {
    Noise *noise = of;
    double epsilon = exp(x), total, square = 0.0, count = noise->count;
    Size first = 0;
    for (; first < noise->size && noise->ratio[first] < 0.25 * epsilon; first++)
        square += noise->light[first] * noise->ratio[first] * noise->ratio[first];
    double deviation = sqrt(larger(square * count, 1e-30));
    total = normal_delta(epsilon, deviation);
    for (Size j = first; j < noise->size; j++)
        total += count * noise->light[j] * normal_delta(epsilon - noise->ratio[j], deviation);
    return noise->target - log(larger(total, 1e-300));
}

/* Where epsilon of so many steps is about, or 0 */
static double jumped_epsilon(Noise *noise, double count) {
    const Run *run = noise->run;
    double least = log(1e-7), most = log(300.0), low = least, high = most, log_count = log(count);
    noise->count = count;
    if (!laid(noise, -8.0, 1.0 / run->noise + sqrt(2.0 * larger(log_count - run->log_delta, 0.0)) + 4.0, 0.08 * smaller(run->noise, 3.0)))
        return 0.0;
    for (Size j = 0; j < noise->size; j++)
        noise->light[j] = noise->weight[j] * (1.0 + noise->x[j]); /* those of P */
    noise->target = run->log_delta;
    bracketed(jumped, noise, &low, &high, 2e-3);
    return least < low && high < most ? exp(0.5 * (low + high)) : 0.0;
}

/* For several r: E_Q e^{-rS} (and e^epsilon), and e^{-r (L - epsilon)} at the nodes beyond epsilon.  Every second r is twice another. */
static void look_back(Noise *noise) {
    double sums[RATES] = {0.0}, rate = 0.25 / noise->epsilon, count = noise->run->count, log_of[RATES];
    for (int r = 0; r < RATES; r++)
        log_of[r] = rate * pow(2.0, 0.5 * r);
    noise->first = noise->size;
    for (Size j = 0; j < noise->size; j++) {
        double l = noise->ratio[j], near = exp(-rate * l), far = exp(-log_of[1] * l);
        double before = exp(-rate * (l - noise->epsilon)), after = exp(-log_of[1] * (l - noise->epsilon));
        int beyond = l >= noise->epsilon;
        if (beyond && j < noise->first)
            noise->first = j;
        for (int r = 0; r < RATES; r += 2) {
            sums[r] += noise->weight[j] * (near - 1.0 + log_of[r] * noise->x[j]);
            if (r + 1 < RATES)
                sums[r + 1] += noise->weight[j] * (far - 1.0 + log_of[r + 1] * noise->x[j]);
            if (beyond) {
                noise->lifted[r * noise->size + j] = before;
                if (r + 1 < RATES)
                    noise->lifted[(r + 1) * noise->size + j] = after;
            }
            near *= near, far *= far, before *= before, after *= after;
        }
    }
    for (int r = 0; r < RATES; r++) {
        double log_fixed = noise->epsilon + count * log1p(larger(sums[r], -0.999));
        noise->fixed[r] = exp(smaller(log_fixed, 600.0)); /* NaN: of no use, as comparisons have it */
    }
    for (int i = 0; i < STARTS; i++)
        for (noise->from[i] = noise->first; noise->from[i] < noise->size && noise->ratio[noise->from[i]] < FARTHER[i] * noise->epsilon;)
            noise->from[i]++;
}

/* log of how much the others may take back of what is large from e^x on, less the target: to be negative */
static double taken(void *of, double log_x) {
    Noise *noise = of;
    double mark = exp(log_x), width = noise->hard * mark, near[STARTS], total = 0.0, least = INFINITY, count = noise->run->count;
    Size j = 0;
    while (j < noise->size && noise->x[j] < mark - 38.0 * width)
        noise->heavy[j++] = 0.0;
    for (; j < noise->size; j++)
        noise->heavy[j] = count * noise->weight[j] * g((noise->x[j] - mark) / width);
    j = 0;
    for (int i = 0; i < STARTS; i++) {
        for (; j < noise->from[i]; j++)
            total += noise->heavy[j];
        near[i] = total * noise->pay;
    }
    for (int r = 0; r < RATES; r++) {
        const double *lifted = noise->lifted + r * noise->size;
        double heavy = 0.0, best = INFINITY;
        Size end = noise->size;
        for (int i = STARTS - 1; i >= 0; i--) {
            for (; end > noise->from[i]; end--)
                heavy += noise->heavy[end - 1] * lifted[end - 1];
            best = smaller(best, noise->fixed[r] * heavy + near[i]);
        }
        if (best < least) {
            least = best;
            noise->best = r;
        }
    }
    return noise->target - log(larger(least, 1e-300));
}

/* log of all that there is of large steps, less the target */
static double gone(void *of, double log_x) {
    Noise *noise = of;
    double mark = exp(log_x), width = noise->hard * mark, total = 0.0;
    for (Size j = noise->size; j-- > 0 && noise->x[j] > mark - 38.0 * width;)
        total += noise->suffix[j] * g((noise->x[j] - mark) / width);
    return noise->target - log(larger(total * noise->run->count, 1e-300));
}

/* The weights of e^{kL} - 1 - k x for several orders k - 1; every second one is twice another */
static void look_up(Noise *noise) {
    double first = 2.0 / noise->epsilon, second = first * M_SQRT2;
    for (int i = 0; i < ORDERS; i++)
        noise->orders[i] = first * pow(2.0, 0.5 * i);
    for (Size j = 0; j < noise->size; j++) {
        double l = noise->ratio[j], x = noise->x[j], grown = 1.0 + x, near = exp(smaller(first * l, 300.0)), far = exp(smaller(second * l, 300.0));
        for (int i = 0; i < ORDERS; i += 2) {
            noise->bent[i * noise->size + j] = noise->weight[j] * (smaller(grown * near, 1e250) - 1.0 - (1.0 + noise->orders[i]) * x);
            if (i + 1 < ORDERS)
                noise->bent[(i + 1) * noise->size + j] =
                    noise->weight[j] * (smaller(grown * far, 1e250) - 1.0 - (1.0 + noise->orders[i + 1]) * x);
            near = smaller(near * near, 1e250), far = smaller(far * far, 1e250);
        }
    }
}

/* A width such that what is large is never small */
static double low_width(const Noise *noise, double low) {
    double rate = noise->run->rate, narrowest = noise->width * (rate + low) / (rate + noise->high) * (1.0 + 1e-12);
    return larger(smaller(noise->soft * low, noise->width), narrowest);
}

/* log of what steps below e^x alone may do, by the best order, less the target: to be negative */
static double alone(void *of, double log_x) {
    Noise *noise = of;
    double mark = exp(log_x), width = low_width(noise, mark), some = 0.0, pulled = 0.0, least = INFINITY, count = noise->run->count;
    Size end = noise->size;
    for (Size j = 0; j < noise->size; j++) {
        double y = (noise->x[j] - mark) / width, not_small = noise->weight[j] * g(y);
        some += not_small;
        pulled += not_small * noise->x[j];
        noise->heavy[j] = g(-y);
        if (y > 38.0) {
            for (Size i = j; i < noise->size; i++) {
                some += noise->weight[i];
                pulled += noise->weight[i] * noise->x[i];
            }
            some -= noise->weight[j], pulled -= noise->weight[j] * noise->x[j];
            end = j;
            break;
        }
    }
    for (int i = 0; i < ORDERS; i++) {
        const double *bent = noise->bent + i * noise->size;
        double inner = -some - (1.0 + noise->orders[i]) * pulled;
        for (Size j = 0; j < end; j++)
            inner += bent[j] * noise->heavy[j];
        noise->bounds[i] = log_markov(noise->orders[i]) - noise->orders[i] * noise->epsilon + count * log1p(larger(inner, -0.999));
        least = smaller(least, noise->bounds[i]);
    }
    return least - noise->target;
}

/* About the u at which |phi|^n has died out */
static double fade(const Noise *noise) {
    double least = log(1e-2), most = log(1e12);
    while (most - least > 0.8) {
        double u = exp(0.5 * (least + most)), total = 0.0;
        for (Size j = 0; j < noise->size; j += SELDOM)
            total += noise->weight[j] * (1.0 - cos(smaller(u * noise->ratio[j], 1e3)));
        if (SELDOM * noise->run->count * total > 32.0)
            most = log(u);
        else
            least = log(u);
    }
    return exp(most);
}

/* The largest x below which a step may be called small, if that is of use */
static void mark_small(Noise *noise) {
    double low = log(expm1(1e-3 * noise->epsilon)), high = log(smaller(0.7 * expm1(noise->epsilon), 0.5 * noise->high));
    noise->low = noise->low_width = noise->order = 0.0;
    if (!noise->divides || !(low < high) || alone(noise, low) > 0.0)
        return;
    bracketed(alone, noise, &low, &high, 0.02);
    alone(noise, low);
    double mark = exp(low);
    if (!(9.0 / noise->soft * (1.0 + mark) / mark < fade(noise))) /* without is cheaper */
        return;
    for (int i = ORDERS - 1; i >= 0; i--) /* the least: e^{kL} may be no double */
        if (noise->bounds[i] <= noise->target)
            noise->order = noise->orders[i];
    if (noise->order > 0.0) {
        noise->low = mark;
        noise->low_width = low_width(noise, mark);
    }
}

/* The least x from which a step may be called large, and the weights of what is not; of what is small and middle */
static void mark(Noise *noise, double most, double hard) {
    double low = log(1.05 * expm1(noise->epsilon)), high = log(most);
    noise->hard = hard;
    if (gone(noise, low) > 0.0) { /* there are none: less is large, as long as that is so */
        high = low;
        low = log(noise->run->rate);
        bracketed(gone, noise, &low, &high, 0.02);
    } else {
        bracketed(taken, noise, &low, &high, 0.02);
    }
    noise->high = exp(high);
    noise->width = hard * noise->high;
    mark_small(noise);
    noise->q = noise->drift = noise->large = 0.0;
    noise->end = 0;
    for (Size j = 0; j < noise->size; j++) {
        double y = (noise->x[j] - noise->high) / noise->width, large = g(y), not_small = large, small = g(-y);
        if (noise->low > 0.0) {
            double v = (noise->x[j] - noise->low) / noise->low_width;
            not_small = g(v);
            small = g(-v);
        }
        noise->large += noise->weight[j] * large;
        noise->q += noise->weight[j] * not_small;
        noise->drift += noise->weight[j] * not_small * noise->x[j];
        noise->light[j] = noise->weight[j] * small;
        noise->middle[j] = noise->weight[j] * larger(y < 0.0 ? not_small - large : g(-y) - small, 0.0);
        if (noise->light[j] > 0.0 || noise->middle[j] > 0.0)
            noise->end = j + 1;
    }
}

/* log f and its derivatives from those of f; f - 1 */
static void add_log(double count, double excess, double first, double second, double jet[3]) {
    double value = larger(1.0 + excess, 1e-300);
    first /= value;
    jet[0] += count * log1p(larger(excess, -1.0 + 1e-15));
    jet[1] += count * first;
    jet[2] += count * (second / value - first * first);
}

/* K and two derivatives at c, of what is not large; if some are small, of what is not all of them */
static void transform(Noise *noise, double c, double jet[3]) {
    double k = 1.0 + c, excess = -noise->q - k * noise->drift, first = -noise->drift, second = 0.0, mid[3] = {0.0, 0.0, 0.0};
    double count = noise->run->count, gain[3] = {0.0, 0.0, 0.0};
    for (Size j = 0; j < noise->end; j++) {
        double l = noise->ratio[j], grown = exp(smaller(k * l, 600.0)), one = noise->middle[j] * grown;
        excess += noise->light[j] * (grown - 1.0 - k * noise->x[j]);
        first += noise->light[j] * (l * grown - noise->x[j]);
        second += noise->light[j] * (l * l * grown);
        mid[0] += one;
        mid[1] += one * l;
        mid[2] += one * l * l;
    }
    jet[0] = jet[1] = jet[2] = 0.0;
    add_log(count, excess, first, second, jet);
    noise->each_phi = jet[0] / count;
    noise->each_gain = 0.0;
    if (noise->low > 0.0) {
        double value = larger(1.0 + excess, 1e-300), odds = mid[0] / value, turn = (mid[1] - odds * first) / value;
        add_log(count, odds, turn, (mid[2] - odds * second - 2.0 * turn * first) / value, gain);
        double some = larger(-expm1(-gain[0]), 1e-300), steep = gain[1] / some;
        noise->each_gain = gain[0] / count;
        noise->each_phi += noise->each_gain;
        jet[0] += gain[0] + log(some);
        jet[1] += steep;
        jet[2] += gain[2] / some - steep * steep * (1.0 - some);
    }
    jet[2] = larger(jet[2], 1e-300);
    if (!(fabs(jet[0]) < INFINITY && fabs(jet[1]) < INFINITY && jet[2] < INFINITY))
        jet[0] = jet[1] = jet[2] = 1e200; /* so that a search turns back */
}

/* `saddle_of_epsilon` of loss/composed.py: c, and K there; 0 if nothing is found */
static double saddle(Noise *noise, double jet[3]) {
    double lower = log(1e-9), upper = log(1e15), x = log(10.0 / noise->epsilon);
    for (int turn = 0; turn < TRIES; turn++) {
        double c = exp(x), near = 1.0 / c, next = 1.0 / (1.0 + c);
        transform(noise, c, jet);
        double value = jet[1] - noise->epsilon - near - next, newton = -value / (c * (jet[2] + near * near + next * next));
        if (value > 0.0)
            upper = x;
        else
            lower = x;
        double following = x + larger(-1.0, smaller(1.0, newton));
        if (newton > -0.5 && newton < 0.02 && c * c * newton * newton * (jet[2] + near * near) < 0.1) {
            transform(noise, exp(following), jet);
            return exp(following);
        }
        if (!(lower < following && following < upper))
            following = 0.5 * (lower + upper);
        if (!(lower < following && following < upper))
            return 0.0;
        x = following;
    }
    return 0.0;
}

static int chosen(Sketch *sketch, Noise *noise) {
    const Run *run = noise->run;
    double epsilon = noise->epsilon = sketch->epsilon, log_count = log(run->count), best = INFINITY;
    double variance = run->count * run->rate * run->rate * expm1(smaller(1.0 / (run->noise * run->noise), 30.0));
    double most = expm1(2.0 * epsilon + smaller(14.0 * sqrt(variance), 30.0));
    double last = smaller(place_of(run, 3.0 * most), 1.0 / run->noise + 60.0);
    if (!laid(noise, -8.0, last, 0.05 * smaller(run->noise, 6.0)))
        return 0;
    noise->pay = exp(epsilon);
    for (Size j = 0; j < noise->size; j++)
        noise->suffix[j] = noise->weight[j] * (noise->x[j] + noise->pay + 1.0);
    look_back(noise);
    if (noise->divides)
        look_up(noise);
    double widths[] = {HARD}, widest = 1.0 / sqrt(2.0 * (log_count + 33.0 + epsilon - run->log_delta));
    noise->soft = smaller(widths[1], widest);
    double hard = smaller(widths[1], smaller(widest, widths[0] * epsilon / -expm1(-epsilon)));
    for (double sure = 29.0; sure > 7.0; sure -= 3.0) { /* -log of the relative size allowed to what is only bounded */
        double jet[3], c;
        noise->target = run->log_delta - sure;
        mark(noise, most, hard);
        if (!((c = saddle(noise, jet)) > 0.0))
            continue;
        double even = (1.0 + c) - 1.0, bend = jet[2] + 1.0 / (c * c) + 1.0 / ((1.0 + c) * (1.0 + c));
        double size = jet[0] - c * epsilon - log(c) - log1p(c) - 0.5 * log(bend) - run->log_delta;
        double cost = exp(smaller(size - DIGITS, 300.0)) + exp(2.0 - sure);
        if (!(cost < best))
            break;
        best = cost;
        sketch->high = noise->high;
        sketch->width = noise->width;
        sketch->low = noise->low;
        sketch->low_width = noise->low_width;
        sketch->order = noise->order;
        sketch->log_not_small = log(larger(noise->q, 1e-300));
        sketch->phi = noise->each_phi;
        sketch->gain = noise->each_gain;
        sketch->log_q = log(larger(noise->large, 1e-300));
        sketch->c = even;
        sketch->spread = 1.0 / sqrt(bend);
        for (int i = 0; i < BACK; i++) {
            int r = noise->best + i - BACK / 2;
            sketch->rates[i] = 0.25 / epsilon * pow(2.0, 0.5 * (r < 0 ? 0 : r >= RATES ? RATES - 1 : r));
        }
    }
    return best < INFINITY;
}

/* Where a run is to be parted with the largest count of its block, for this epsilon, or if it is 0 for one that is guessed,
   and whether some steps may count as small; 0 if that is not known */
int sketched(Sketch *sketch, const Run *run, double epsilon, int divides) {
    Noise noise = {.run = run, .divides = divides, .best = RATES / 2, .space = malloc((size_t)((RATES + ORDERS + 7) * NODES) * sizeof(double))};
    double *at = noise.space;
    if (!at)
        return 0;
    noise.ratio = at, noise.x = at + NODES, noise.weight = at + 2 * NODES, noise.suffix = at + 3 * NODES;
    noise.light = at + 4 * NODES, noise.heavy = at + 5 * NODES, noise.middle = at + 6 * NODES;
    noise.lifted = at + 7 * NODES, noise.bent = noise.lifted + RATES * NODES;
    sketch->epsilon = sketch->least_epsilon = epsilon > 0.0 ? epsilon : jumped_epsilon(&noise, run->most);
    if (run->least < run->most && sketch->epsilon > 0.0)
        sketch->least_epsilon = jumped_epsilon(&noise, run->least);
    int found = sketch->least_epsilon > 0.0 && 1e-7 < sketch->epsilon && sketch->epsilon < 300.0 && chosen(sketch, &noise);
    free(noise.space);
    return found;
}
