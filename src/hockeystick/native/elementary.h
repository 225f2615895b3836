/* Elementary functions in operations that the compiler does several at a time, within FUNCTION, the turns within it of 1: the
   same bits on every machine (docs/mathematics.md, section 14). */
#ifndef HOCKEYSTICK_ELEMENTARY_H
#define HOCKEYSTICK_ELEMENTARY_H

#include "types.h"
#include <stdint.h>

#define WHOLE_BITS 0x1.8p52      /* added: the nearest whole number, in the last bits */
#define LEAST_EXPONENT -709.2    /* here the scale is 0 */
#define MOST_EXPONENT 709.9      /* here inf */
#define LN2_HIGH 0x1.62e42feep-1 /* 32 bits of log 2, and the rest */
#define LN2_LOW 0x1.a39ef35793c76p-33
#define HALF_PI_HIGH 0x1.921fb544p0 /* 33 bits of pi/2, 33 more, and the rest */
#define HALF_PI_MIDDLE 0x1.0b4611a6p-34
#define HALF_PI_LOW 0x1.3198a2e037073p-69
#define MOST_TURN 1e6
#define ROOT_HALF_BITS 0x3fe6a09e667f3bcdULL
#define ONE_BITS 0x3ff0000000000000ULL

static inline uint64_t bits_of(double x) {
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static inline double of_bits(uint64_t bits) {
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* Exponents beyond these as these; what is no number remains that.  In a loop of its own, or the compiler treats constants apart.
 */
static inline void confine(double *at, Size size) {
    for (Size i = 0; i < size; i++) {
        double x = at[i] < LEAST_EXPONENT ? LEAST_EXPONENT : at[i];
        at[i] = x > MOST_EXPONENT ? MOST_EXPONENT : x;
    }
}

/* e^x = scale (1 + part), the scale a power of 2, of what is confined */
static inline void part_exp(double x, double *scale, double *part) {
    double near = x * 0x1.71547652b82fep0 + WHOLE_BITS, whole = near - WHOLE_BITS;
    double r = (x - whole * LN2_HIGH) - whole * LN2_LOW, s = r * r;
    double even = 1.0 / 2 + s * (1.0 / 24 + s * (1.0 / 720 + s * (1.0 / 40320 + s * (1.0 / 3628800 + s * (1.0 / 479001600)))));
    double odd = 1.0 / 6 + s * (1.0 / 120 + s * (1.0 / 5040 + s * (1.0 / 362880 + s * (1.0 / 39916800 + s * (1.0 / 6227020800)))));
    *scale = of_bits((bits_of(near) + 1023) << 52);
    *part = r + s * (even + r * odd);
}

/* log(u + rest) of a positive u, not subnormal, and what is small beside it */
static inline double log_of(double u, double rest) {
    uint64_t bits = bits_of(u) + (ONE_BITS - ROOT_HALF_BITS), power = bits >> 52;
    double whole = of_bits(power | 0x4330000000000000ULL) - (0x1p52 + 1023.0);
    double f = (of_bits((bits & 0xfffffffffffffULL) + ROOT_HALF_BITS) - 1.0) + rest * of_bits((2046 - power) << 52);
    double s = f / (2.0 + f), w = s * s, fourth = w * w * (w * w);
    double low = 2.0 / 3 + w * (2.0 / 5 + w * (2.0 / 7 + w * (2.0 / 9)));
    double high = 2.0 / 11 + w * (2.0 / 13 + w * (2.0 / 15 + w * (2.0 / 17 + w * (2.0 / 19))));
    return whole * LN2_HIGH + ((2.0 * s + s * w * (low + fourth * high)) + whole * LN2_LOW);
}

/* e^{i angle} for |angle| <= MOST_TURN */
static inline void turn_of(double angle, double *re, double *im) {
    double near = angle * 0x1.45f306dc9c883p-1 + WHOLE_BITS, whole = near - WHOLE_BITS;
    double y = ((angle - whole * HALF_PI_HIGH) - whole * HALF_PI_MIDDLE) - whole * HALF_PI_LOW, w = y * y;
    double fourth = w * w * (w * w);
    double sine = -1.0 / 6 + w * (1.0 / 120 + w * (-1.0 / 5040 + w * (1.0 / 362880)));
    double more = -1.0 / 39916800 + w * (1.0 / 6227020800 + w * (-1.0 / 1307674368000 + w * (1.0 / 355687428096000)));
    double cosine = 1.0 / 2 + w * (-1.0 / 24 + w * (1.0 / 720 + w * (-1.0 / 40320)));
    double rest = 1.0 / 3628800 + w * (-1.0 / 479001600 + w * (1.0 / 87178291200 + w * (-1.0 / 20922789888000)));
    sine = y + y * w * (sine + fourth * more);
    cosine = 1.0 - w * (cosine + fourth * rest);
    uint64_t quarter = bits_of(near), odd = 0 - (quarter & 1), one = bits_of(cosine), two = bits_of(sine);
    *re = of_bits(((two & odd) | (one & ~odd)) ^ (((quarter + 1) & 2) << 62));
    *im = of_bits(((one & odd) | (two & ~odd)) ^ ((quarter & 2) << 62));
}

/* e^{a^2/2} P(N > a), 0 <= a <= 38: its product with 1 + a is a polynomial in (a - 4)/(a + 5), by its even and its odd part
   (section 14, tests/unit/native/test_native.py) */
static inline double mills(double a) {
    double t = (a - 4.0) / (a + 5.0), w = t * t;
    double even = 0x1.1c13409e2fc0dp-22 + w * (-0x1.d6229c3792b48p-25 + w * 0x1.f7b77e610f17ap-28);
    double odd = 0x1.1e4a1dc53fe04p-20 + w * (-0x1.7d6ea6e777794p-23 + w * 0x1.501c96d304929p-26);
    even = -0x1.4a27064dda0ecp-14 + w * (0x1.3561fa92c3449p-17 + w * (-0x1.6af45045f961fp-20 + w * even));
    odd = -0x1.aac392757cacbp-14 + w * (0x1.eb9bb48577920p-16 + w * (-0x1.846c248b88a04p-18 + w * odd));
    even = -0x1.40e3c0089f133p-5 + w * (-0x1.de77050fb402ep-9 + w * (0x1.634d214648968p-11 + w * even));
    odd = 0x1.f9f33a7d7534cp-5 + w * (0x1.1172c6e0b81edp-6 + w * (-0x1.338461387bba3p-11 + w * odd));
    even = 0x1.e361ea6fba141p-2 + w * (0x1.008cf558e9e4fp-5 + w * (-0x1.0d86da1275a6ap-4 + w * even));
    odd = -0x1.bd9c10497bfbcp-4 + w * (0x1.1b61dde9d5774p-5 + w * odd);
    return (even + t * odd) / (1.0 + a);
}

/* elementary.c: e^x; 0 below -708.74, inf above 709.5 */
enum { TOGETHER = 128 }; /* exponentials in a row, where there are many */
void hs_exps(double *at, Size size);

/* The normal distribution function at y and at -y, each within NORMAL, and half a unit times y^2 where it is a tail; below -37 it
   is said to be 0 */
#define NORMAL (24.0 * UNIT)
void hs_normals(const double *y, Size size, double *below, double *above);

/* The sum of products, in eight parts */
double hs_dot(const double *one, const double *two, Size size);

/* e^{i place angle} for so many places, a multiple of 4 */
void hs_turns(double angle, const double *places, Size count, double *re, double *im);

#endif
