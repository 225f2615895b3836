/* Twin of loss/parted_marks.py: up to which loss a step counts as small, so that small ones alone hardly ever reach epsilon. */
#include "sketch.h"

/* The weights of e^{kL} - 1 - k x for several orders k - 1; every second one is twice another */
static void look_up(Noise *noise) {
    double first = 2.0 / noise->epsilon, second = first * M_SQRT2;
    for (int i = 0; i < ORDERS; i++)
        noise->orders[i] = first * pow(2.0, 0.5 * i);
    for (Size j = 0; j < noise->size; j++) {
        double l = noise->ratio[j], x = noise->x[j], grown = 1.0 + x, near = exp(smaller(first * l, 300.0)),
               far = exp(smaller(second * l, 300.0));
        for (int i = 0; i < ORDERS; i += 2) {
            noise->bent[i * noise->size + j] =
                noise->weight[j] * (smaller(grown * near, 1e250) - 1.0 - (1.0 + noise->orders[i]) * x);
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

/* Whether |phi|^n has not died out, for a tilt near that of the saddle, half way to where the transform does with a mark there */
static int sooner(const Noise *noise, double mark) {
    double u = 3.5 / noise->soft * (1.0 + mark) / mark, k = 1.0 - 0.5 * noise->run->log_delta / noise->epsilon, all = 0.0, re = 0.0,
           im = 0.0;
    for (Size j = 0; j < noise->size && noise->x[j] < noise->high; j++) {
        double l = noise->ratio[j], tilted = noise->weight[j] * exp(smaller(k * l, 40.0));
        all += tilted;
        re += tilted * cos(u * l);
        im += tilted * sin(u * l);
    }
    return noise->run->count * log(all / larger(hypot(re, im), 1e-300)) < 25.0;
}

/* The largest x below which a step may be called small, if that is of use */
void mark_small(Noise *noise) {
    double low = log(expm1(1e-3 * noise->epsilon)), high = log(smaller(0.7 * expm1(noise->epsilon), 0.5 * noise->high));
    noise->low = noise->low_width = noise->order = 0.0;
    if (!noise->divides || !(low < high) || !sooner(noise, exp(high)))
        return;
    if (!noise->orders[0])
        look_up(noise);
    if (alone(noise, low) > 0.0)
        return;
    bracketed(alone, noise, &low, &high, 0.04);
    alone(noise, low);
    double mark = exp(low);
    if (!sooner(noise, mark))
        return;
    for (int i = ORDERS - 1; i >= 0; i--) /* the least: e^{kL} may be no double */
        if (noise->bounds[i] <= noise->target)
            noise->order = noise->orders[i];
    if (noise->order > 0.0) {
        noise->low = mark;
        noise->low_width = low_width(noise, mark);
    }
}
