/* Draws of an exact law from random words: docs/mathematics.md, section 17.  The reference, in the modules of the folder draws,
   reads the same words in the same order; a draw that the words looked at here do not decide, or that is out of range, is left to
   it. */
#ifndef HOCKEYSTICK_DRAWS_H
#define HOCKEYSTICK_DRAWS_H

#include "types.h"
#include <stdint.h>

#ifdef __SIZEOF_INT128__ /* without whole numbers of 128 bits the reference draws */
#define DRAWS 1
#else
#define DRAWS 0
#endif

/* Random words, in order */
typedef struct {
    const uint32_t *next; /* the one that is read next */
    const uint32_t *end;  /* behind the last */
} Words;

/* How a draw ends: drawn; not decided here; the words do not last */
typedef enum { DRAWN, UNDECIDED, NO_WORDS } Ending;

/* A scale: mantissa * 2^exponent, the mantissa of at most 53 bits, or up to 1 more; fractions of so many words are multiplied */
typedef struct {
    uint64_t mantissa; /* a whole number below 2^53 */
    int inexact;       /* whether it may be larger, by less than 1 */
    int exponent;      /* of the unit of the mantissa */
    int words;         /* 1 or 2 */
} Scale;

/* Each makes up to `count` draws, says how many it made and how the last one that it tried ended, and leaves `words` behind what
   the finished draws have read. */
Size hs_draw_laplace(Words *words, const double *values, Size count, Scale scale, int grid, double *out, Ending *ending);
Size hs_draw_gaussian(Words *words, const double *values, Size count, Scale scale, int grid, double *out, Ending *ending);
Size hs_draw_discrete_laplace(Words *words, Size count, Scale scale, int64_t *out, Ending *ending);
Size hs_draw_discrete_gaussian(Words *words, Size count, double sigma, int64_t *out, Ending *ending);

/* 1 with a probability between `sure` and `most` units of 2^-32 */
Size hs_draw_bernoulli(Words *words, Size count, uint64_t sure, uint64_t most, int64_t *out, Ending *ending);

/* Whole numbers below bound, bound - falling, bound - 2 falling, ..., all from 1 to 2^32 */
Size hs_draw_below(Words *words, Size count, uint64_t bound, uint64_t falling, int64_t *out, Ending *ending);

/* A category instead of each true one, of others + 1 <= 2^31: a lie is proposed with a probability between `sure` and `most` units
   of 2^-32, and kept with probability e^-exponent */
typedef struct {
    uint64_t sure, most;
    uint64_t others;
    double exponent;
} Response;
Size hs_draw_response(Words *words, const int64_t *truths, Size count, Response response, int64_t *out, Ending *ending);

/* One of the places, each tried in random order and taken with probability e^-exponent; with `again` a place that was refused may
   be tried again, else `order` has room for all of them; some exponent is 0 */
Size hs_draw_choice(Words *words, const double *exponents, Size places, int again, int64_t *order, int64_t *chosen, Ending *ending);

#endif
