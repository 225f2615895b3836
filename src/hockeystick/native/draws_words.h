/* Elementary draws: exponential (Lemma 35) and whole numbers from random words. */
#ifndef HOCKEYSTICK_DRAWS_WORDS_H
#define HOCKEYSTICK_DRAWS_WORDS_H

#include "draws.h"

/* beyond, a double does not have all the digits of the whole part and the first word of the fraction */
enum { MOST_WHOLE = 1 << 10 };

/* An exponential number between whole + fraction/2^32 and one unit more */
typedef struct {
    uint64_t whole;
    uint32_t fraction;
} Exponential;

static inline int read_word(Words *words, uint32_t *word) {
    if (words->next == words->end)
        return 0;
    *word = *words->next++;
    return 1;
}

/* Exponential of draws/lazy.py: equal words would need further ones */
static inline Ending exponential(Words *words, Exponential *drawn) {
    for (drawn->whole = 0; drawn->whole < MOST_WHOLE; drawn->whole++) {
        uint32_t last, one, odd = 0;
        if (!read_word(words, &last))
            return NO_WORDS;
        drawn->fraction = last;
        for (;; last = one, odd ^= 1) {
            if (!read_word(words, &one))
                return NO_WORDS;
            if (one >= last)
                break;
        }
        if (one == last)
            return UNDECIDED;
        if (!odd)
            return DRAWN;
    }
    return UNDECIDED;
}

/* Whether it exceeds a number from 0 up that is known within 2^-41 (1 + it), the other half is for rounding; -1: not decided */
static inline int exceeds(Exponential drawn, double bound) {
    double low = (double)drawn.whole + (double)drawn.fraction * 0x1p-32, error = 0x1p-40 * (1.0 + bound);
    return low > bound + error ? 1 : low + 0x1p-32 < bound - error ? 0 : -1;
}

/* 1 with probability e^-exponent; 0 is exact */
static inline Ending bernoulli_exp(Words *words, double exponent, int *yes) {
    Exponential drawn;
    *yes = 1;
    if (exponent == 0.0)
        return DRAWN;
    Ending ending = exponential(words, &drawn);
    if (ending != DRAWN)
        return ending;
    *yes = exceeds(drawn, exponent);
    return *yes < 0 ? UNDECIDED : DRAWN;
}

static inline Ending bernoulli(Words *words, uint64_t sure, uint64_t most, int *yes) {
    uint32_t word;
    if (!read_word(words, &word))
        return NO_WORDS;
    *yes = word < sure;
    return word < sure || word >= most ? DRAWN : UNDECIDED;
}

/* How many bits whole numbers below the bound have */
static inline int length_of(uint64_t bound) {
    int length = 0;
    while ((uint64_t)1 << length < bound)
        length++;
    return length;
}

/* One try: so many leading bits of a word; none for length 0 */
static inline Ending leading(Words *words, int length, uint64_t *value) {
    uint32_t word = 0;
    if (length && !read_word(words, &word))
        return NO_WORDS;
    *value = (uint64_t)word >> (32 - length);
    return DRAWN;
}

#endif
