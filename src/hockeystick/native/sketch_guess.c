/* Twin of loss/big_jump.py: about where epsilon of a sparse run of one mechanism lies. */
#include "sketch.h"

enum { TRIES = 60 };

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

/* Nodes up to some z; 0 if they are too many */
int lay_noise(Noise *noise, double low, double last, double spacing) {
    double size = ceil((last - low) / spacing), rows[4 * SKETCHED];
    if (!(size >= 2.0 && size <= SKETCHED))
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
double jumped_epsilon(Noise *noise, double count) {
    const Run *run = noise->run;
    double least = log(1e-7), most = log(300.0), low = least, high = most, log_count = log(count);
    noise->count = count;
    if (!lay_noise(noise, -8.0, 1.0 / run->noise + sqrt(2.0 * larger(log_count - run->log_delta, 0.0)) + 4.0,
                   0.08 * smaller(run->noise, 3.0)))
        return 0.0;
    for (Size j = 0; j < noise->size; j++)
        noise->light[j] = noise->weight[j] * (1.0 + noise->x[j]); /* those of P */
    noise->target = run->log_delta;
    bracketed(jumped, noise, &low, &high, 2e-3);
    return least < low && high < most ? exp(0.5 * (low + high)) : 0.0;
}
