/* Noise: its exponential number times the scale, in whole numbers of 128 bits (draws/noise.py; docs/mathematics.md, section 17:
   Lemma 36; what is decided here is what the reference decides, Lemma 38). */
#include "draws_words.h"

#if DRAWS

typedef unsigned __int128 Natural;
typedef __int128 Integer;

/* The nearest double, of even mantissa if two are.  The conversion of 128 bits that a compiler has is in a library of its own,
   which a wheel may have to do without: scripts/wheels.py. */
static double nearest(Integer whole) {
    if (whole == (int64_t)whole)
        return (double)(int64_t)whole;
    Natural size = whole < 0 ? -(Natural)whole : (Natural)whole;
    uint64_t lost = 0; /* whether anything is, as the last of eleven bits that are rounded off */
    int shift = 0;
    for (; size >> 64; shift++, size >>= 1)
        lost |= (uint64_t)size & 1;
    double found = ldexp((double)((uint64_t)size | lost), shift);
    return whole < 0 ? -found : found;
}

/* Between low and high, and below high, in units of 2^-64 2^exponent: the mantissa times a number between whole + fraction/2^64 and
   `width` units more.  The products are below 2^(53 + 75). */
static inline void multiply(Scale scale, uint64_t whole, uint64_t fraction, uint64_t width, Natural *low, Natural *high) {
    Natural size = (Natural)whole << 64 | fraction;
    *low = scale.mantissa * size;
    *high = *low + scale.mantissa * (Natural)width + (scale.inexact ? size + width : 0);
}

/* Where a value is on the grid: whole + part/2^64 steps, and less than 2^-64 more if inexact */
typedef struct {
    Integer whole;
    uint64_t part;
    int inexact;
} Place;

static int place(double value, int grid, Place *at) {
    int exponent;
    Integer digits = (int64_t)(frexp(value, &exponent) * 0x1p53);
    int left = exponent - 53 - grid;
    *at = (Place){0, 0, 0};
    if (!digits)
        return 1;
    if (left > 70)
        return 0;
    if (left >= 0) {
        at->whole = digits * ((Integer)1 << left);
    } else if (left >= -64) {
        at->whole = digits >> -left;
        at->part = (uint64_t)((Natural)digits << (64 + left));
    } else {
        at->whole = digits < 0 ? -1 : 0;
        at->part = (uint64_t)(digits >> (-left - 64 < 127 ? -left - 64 : 127));
        at->inexact = 1;
    }
    return 1;
}

/* value + scale * drawn, or -, on the nearest step of the grid; the scale is in units of 2^-12 steps */
static Ending on_grid(Words *words, double value, Exponential drawn, int negative, Scale scale, int grid, double *out) {
    uint32_t more;
    Place at;
    Natural low, high;
    if (!place(value, grid, &at))
        return UNDECIDED;
    if (!read_word(words, &more))
        return NO_WORDS;
    multiply(scale, drawn.whole, (uint64_t)drawn.fraction << 32 | more, 1, &low, &high);
    Integer least = (Integer)(low >> 12), most = (Integer)((high + 4095) >> 12), start = (Integer)at.part + ((Integer)1 << 63);
    Integer from = negative ? start - most : start + least, to = negative ? start - least + 1 : start + most + at.inexact;
    Integer steps = from >> 64;
    if ((to - 1) >> 64 != steps)
        return UNDECIDED;
    *out = ldexp(nearest(at.whole + steps), grid);
    return DRAWN;
}

static Ending one_laplace(Words *words, double value, Scale scale, int grid, double *out) {
    Exponential drawn;
    uint32_t sign;
    if (!read_word(words, &sign))
        return NO_WORDS;
    Ending ending = exponential(words, &drawn);
    return ending == DRAWN ? on_grid(words, value, drawn, (int)(sign >> 31), scale, grid, out) : ending;
}

/* Whether (one - 1)^2/2 < other; -1: not decided.  By doubles: one - 1 and other are exact, and beyond the word they may move the
   square by less than (|one - 1| + 1) 2^-32, which with the rounding of the square is less than the error. */
static inline int half_square_below(Exponential one, Exponential other) {
    double apart = ((double)one.whole - 1.0) + (double)one.fraction * 0x1p-32, square = 0.5 * apart * apart;
    double error = (fabs(apart) + 1.0) * (0x1p-31 + 0x1p-50 * fabs(apart));
    double low = (double)other.whole + (double)other.fraction * 0x1p-32;
    return low > square + error ? 1 : low + 0x1p-31 < square - error ? 0 : -1;
}

static Ending one_gaussian(Words *words, double value, Scale scale, int grid, double *out) {
    for (;;) {
        Exponential one, other;
        Ending ending = exponential(words, &one);
        if (ending == DRAWN)
            ending = exponential(words, &other);
        if (ending != DRAWN)
            return ending;
        int kept = half_square_below(one, other);
        if (kept < 0)
            return UNDECIDED;
        uint32_t sign;
        if (!kept)
            continue;
        if (!read_word(words, &sign))
            return NO_WORDS;
        return on_grid(words, value, one, (int)(sign >> 31), scale, grid, out);
    }
}

/* The whole number below scale * drawn, with further words if they are needed */
static Ending whole_below(Words *words, Exponential drawn, Scale scale, int64_t *out) {
    uint32_t more = 0;
    int shift = 64 - scale.exponent; /* to the right, to whole units */
    if (shift <= 0)
        return UNDECIDED;
    for (int known = scale.words; known <= 2; known++) {
        Natural low, high;
        if (known == 2 && !read_word(words, &more))
            return NO_WORDS;
        multiply(scale, drawn.whole, (uint64_t)drawn.fraction << 32 | more, known == 2 ? 1 : (uint64_t)1 << 32, &low, &high);
        Natural least = shift < 128 ? low >> shift : 0, most = shift < 128 ? (high - 1) >> shift : 0;
        if (least != most)
            continue;
        *out = (int64_t)least;
        return least < (Natural)1 << 62 ? DRAWN : UNDECIDED;
    }
    return UNDECIDED;
}

static Ending one_discrete_laplace(Words *words, Scale scale, int64_t *out) {
    for (;;) {
        Exponential drawn;
        uint32_t sign;
        if (!read_word(words, &sign))
            return NO_WORDS;
        Ending ending = exponential(words, &drawn);
        if (ending == DRAWN)
            ending = whole_below(words, drawn, scale, out);
        if (ending != DRAWN)
            return ending;
        if (*out || sign >> 31 == 0) {
            *out = sign >> 31 ? -*out : *out;
            return DRAWN;
        }
    }
}

/* Proposed by discrete Laplace noise of scale t = floor(sigma) + 1, kept with probability e^-((|z| - sigma^2/t)^2 / (2 sigma^2)); t
   and sigma are doubles, and the exponent is one within 2^-48 (1 + it), for sigma from 2^-30 to 2^50. */
static Ending one_discrete_gaussian(Words *words, Scale scale, double sigma, int64_t *out) {
    double center = sigma * sigma / (double)scale.mantissa, doubled = 2.0 * sigma * sigma;
    for (;;) {
        Exponential drawn;
        Ending ending = one_discrete_laplace(words, scale, out);
        if (ending == DRAWN)
            ending = exponential(words, &drawn);
        if (ending != DRAWN)
            return ending;
        double size = fabs((double)*out);
        if (size > 0x1p52)
            return UNDECIDED;
        int kept = exceeds(drawn, (size - center) * (size - center) / doubled);
        if (kept)
            return kept < 0 ? UNDECIDED : DRAWN;
    }
}

/* Draws until one does not end well, which leaves the words where it began */
#define DRAW_EACH(draw)                                                                                                            \
    Size done = 0;                                                                                                                 \
    *ending = DRAWN;                                                                                                               \
    for (; done < count; done++) {                                                                                                 \
        Words before = *words;                                                                                                     \
        if ((*ending = (draw)) != DRAWN) {                                                                                         \
            *words = before;                                                                                                       \
            break;                                                                                                                 \
        }                                                                                                                          \
    }                                                                                                                              \
    return done;

Size hs_draw_laplace(Words *words, const double *values, Size count, Scale scale, int grid, double *out,
                     Ending *ending){DRAW_EACH(one_laplace(words, values[done], scale, grid, out + done))}

Size hs_draw_gaussian(Words *words, const double *values, Size count, Scale scale, int grid, double *out,
                      Ending *ending){DRAW_EACH(one_gaussian(words, values[done], scale, grid, out + done))}

Size hs_draw_discrete_laplace(Words *words, Size count, Scale scale, int64_t *out,
                              Ending *ending){DRAW_EACH(one_discrete_laplace(words, scale, out + done))}

Size hs_draw_discrete_gaussian(Words *words, Size count, double sigma, int64_t *out, Ending *ending) {
    Scale scale = {(uint64_t)sigma + 1, 0, 0, 1};
    DRAW_EACH(one_discrete_gaussian(words, scale, sigma, out + done))
}

static Ending one_bernoulli(Words *words, uint64_t sure, uint64_t most, int64_t *out) {
    int yes = 0;
    Ending ending = bernoulli(words, sure, most, &yes);
    *out = yes;
    return ending;
}

Size hs_draw_bernoulli(Words *words, Size count, uint64_t sure, uint64_t most, int64_t *out, Ending *ending) {
    DRAW_EACH(one_bernoulli(words, sure, most, out + done))
}

static Ending one_below(Words *words, uint64_t bound, int64_t *out) {
    int length = length_of(bound);
    for (;;) {
        uint64_t value;
        if (leading(words, length, &value) != DRAWN)
            return NO_WORDS;
        *out = (int64_t)value;
        if (value < bound)
            return DRAWN;
    }
}

Size hs_draw_below(Words *words, Size count, uint64_t bound, uint64_t falling, int64_t *out, Ending *ending) {
    DRAW_EACH(one_below(words, bound - (uint64_t)done * falling, out + done))
}

static Ending one_response(Words *words, int64_t truth, const Response *response, int length, int64_t *out) {
    for (;;) {
        int lie = 0, kept = 0;
        uint64_t other;
        Ending ending = bernoulli(words, response->sure, response->most, &lie);
        if (ending != DRAWN)
            return ending;
        *out = truth;
        if (!lie)
            return DRAWN;
        if (leading(words, length, &other) != DRAWN)
            return NO_WORDS;
        if (other >= response->others)
            continue;
        ending = bernoulli_exp(words, response->exponent, &kept);
        *out = (int64_t)other + ((int64_t)other >= truth);
        if (ending != DRAWN || kept)
            return ending;
    }
}

Size hs_draw_response(Words *words, const int64_t *truths, Size count, Response response, int64_t *out, Ending *ending) {
    int length = length_of(response.others);
    DRAW_EACH(one_response(words, truths[done], &response, length, out + done))
}

static Ending one_choice(Words *words, const double *exponents, Size places, int again, int64_t *order, int64_t *chosen) {
    for (Size i = 0; !again && i < places; i++)
        order[i] = i;
    for (Size left = places; left > 0; left -= !again) {
        int taken = 0;
        int64_t at;
        Ending ending = one_below(words, (uint64_t)left, &at);
        if (ending != DRAWN)
            return ending;
        *chosen = again ? at : order[at];
        ending = bernoulli_exp(words, exponents[*chosen], &taken);
        if (ending != DRAWN || taken)
            return ending;
        if (!again)
            order[at] = order[left - 1];
    }
    return UNDECIDED; /* no exponent is 0 */
}

Size hs_draw_choice(Words *words, const double *exponents, Size places, int again, int64_t *order, int64_t *chosen,
                    Ending *ending) {
    const Size count = 1;
    DRAW_EACH(one_choice(words, exponents, places, again, order, chosen))
}

#else
extern int hs_draws_are_the_reference; /* a file has something in it */
#endif
