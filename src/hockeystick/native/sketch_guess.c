/* Twin of loss/big_jump.py: about where epsilon of a sparse run of one mechanism lies. */
#include "sketch.h"

enum { TRIES = 60 };
#define LEAST (-7.0)   /* where the noise begins */
#define COARSE 4.0     /* how much farther apart nodes are at first */
#define FAR_BELOW 1e-3 /* losses, of epsilon */

/* Places no farther apart than `width` between which an increasing function changes sign: numerics/roots.py */
void bracketed(Function *function, void *of, double *low, double *high, double width) {
    double below = NAN, above = NAN;
    int kept = 0;
    for (int turn = 0; turn < TRIES && *high - *low > width; turn++) {
        double share = below < 0.0 && above > 0.0 ? below / (below - above) : 0.5,
               room = smaller(0.45 * width, 0.5 * (*high - *low));
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

/* Nodes up to some z, farther apart where losses are far below epsilon; 0 if they are too many */
int lay_noise(Noise *noise, double last, double spacing, double epsilon) {
    const Run *run = noise->run;
    double rows[4 * SKETCHED], wide = larger(spacing, smaller(COARSE * spacing, 0.15)),
                               bend = smaller(place_of(run, FAR_BELOW * epsilon), last);
    double before = larger(0.0, ceil((bend - LEAST) / wide)), from = LEAST + before * wide,
           size = ceil((last - from) / spacing) + 1.0;
    if (!(size >= 2.0 && (last - LEAST) / spacing < SKETCHED - 1.0 / spacing))
        return 0;
    noise->size = (Size)before;
    for (int part = 0; part < 2; part++) {
        Size n = (Size)(part ? size : before), start = part ? noise->size : 0;
        fill_rows(rows, noise->x + start, n, part ? from : LEAST, part ? spacing : wide, run->noise, run->rate);
        for (Size j = 0; j < n; j++) {
            noise->ratio[start + j] = rows[n + j];
            noise->weight[start + j] = exp(rows[3 * n + j]);
        }
    }
    noise->weight[noise->size] *= 0.5 * (1.0 + wide / spacing);
    noise->size += (Size)size;
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

/* Where epsilon of so many steps is about, near another one if that is not 0; or 0 */
double jumped_epsilon(Noise *noise, double count, double near) {
    const Run *run = noise->run;
    double least = log(1e-7), most = log(300.0), low = least, high = most, log_count = log(count);
    noise->count = count;
    if (!lay_noise(noise, 1.0 / run->noise + sqrt(2.0 * larger(log_count - run->log_delta, 0.0)) + 4.0,
                   0.08 * smaller(run->noise, 3.0), 0.0))
        return 0.0;
    for (Size j = 0; j < noise->size; j++)
        noise->light[j] = noise->weight[j] * (1.0 + noise->x[j]); /* those of P */
    noise->target = run->log_delta;
    if (near > 0.0) { /* epsilon of a few more steps */
        low = log(0.8 * near), high = log(near) + 4e-3;
        double below = low, above = high;
        bracketed(jumped, noise, &low, &high, 2e-3);
        if (below < low && high < above)
            return exp(0.5 * (low + high));
        low = least, high = most;
    }
    bracketed(jumped, noise, &low, &high, 2e-3);
    return least < low && high < most ? exp(0.5 * (low + high)) : 0.0;
}
