"""Random numbers of which digits are drawn as they are needed: uniform and exponential ones, and what is decided by them.

The reference of the compiled core (`native/draws.c`), which has the same algorithms and reads the same words in the same order;
what the core cannot decide with the words that it looks at is decided here.  Proofs: docs/mathematics.md, section 17.
"""

from fractions import Fraction
from typing import Protocol

_NONE = Fraction(0)


class Digits(Protocol):
    """Random digits of so many bits each (`Words`; tests have digits of one or two bits, all of which can be listed)."""

    bits: int

    def next(self) -> int: ...


class Uniform:
    """A uniform number in [0, 1): it lies between `numerator` and `numerator` + 1, over 2^`size`."""

    def __init__(self, words: Digits) -> None:
        self._words, self.numerator, self.size = words, words.next(), words.bits

    def refine(self) -> None:
        """One more digit."""
        self.numerator = self.numerator << self._words.bits | self._words.next()
        self.size += self._words.bits

    def digit(self, place: int) -> int:
        """The digit at a place, from 1 on."""
        while self.size < place * self._words.bits:
            self.refine()
        return self.numerator >> (self.size - place * self._words.bits) & ((1 << self._words.bits) - 1)

    def less(self, other: "Uniform") -> bool:
        """Whether it is the smaller one: the first digit in which they differ says so."""
        place = 1
        while (mine := self.digit(place)) == (its := other.digit(place)):
            place += 1
        return mine < its


class Exponential:
    """A standard exponential number, a whole number and a uniform fraction (Lemma 35, von Neumann 1951)."""

    def __init__(self, words: Digits) -> None:
        self._whole = 0
        while True:
            self._fraction = last = Uniform(words)
            odd = False
            while (one := Uniform(words)).less(last):
                last, odd = one, not odd
            if not odd:
                return
            self._whole += 1

    def refine(self) -> None:
        """One more digit."""
        self._fraction.refine()

    @property
    def size(self) -> int:
        """How many binary digits of the fraction are known."""
        return self._fraction.size

    @property
    def low(self) -> int:
        """It lies between `low` and `low` + 1, over 2^`size`."""
        return self._whole << self._fraction.size | self._fraction.numerator

    def exceeds(self, bound: Fraction) -> bool:
        """Whether it is larger, which has probability e^-bound for a bound from 0 up."""
        while True:
            scaled = bound.numerator << self.size
            if self.low * bound.denominator >= scaled:
                return True
            if (self.low + 1) * bound.denominator <= scaled:
                return False
            self.refine()

    def times(self, scale: Fraction, least: int = 0, offset: Fraction = _NONE, sign: int = 1) -> int:
        """The whole number below offset + sign * scale times it; at least `least` binary digits are drawn."""
        while self.size < least:
            self.refine()
        slope = sign * scale.numerator * offset.denominator
        while True:
            unit = scale.denominator * offset.denominator << self.size
            one = (offset.numerator * scale.denominator << self.size) + slope * self.low
            floor = min(one, one + slope) // unit
            if max(one, one + slope) <= (floor + 1) * unit:  # below its upper end, almost surely
                return floor
            self.refine()


def bernoulli(probability: Fraction, words: Digits) -> bool:
    """True with this probability: a uniform number is smaller."""
    one = Uniform(words)
    while True:
        scaled = probability.numerator << one.size
        if (one.numerator + 1) * probability.denominator <= scaled:
            return True
        if one.numerator * probability.denominator >= scaled:
            return False
        one.refine()


def bernoulli_exp(exponent: Fraction, words: Digits) -> bool:
    """True with probability e^-exponent, for an exponent from 0 up; for 0 no digit is drawn."""
    return exponent == 0 or Exponential(words).exceeds(exponent)


def coin(words: Digits) -> bool:
    """True with probability 1/2."""
    return bool(words.next() >> (words.bits - 1))


def below(bound: int, words: Digits) -> int:
    """A whole number from 0 to bound - 1, all equally likely: the leading bits of whole words, tried until they fit."""
    length = (bound - 1).bit_length()
    count = -(-length // words.bits)
    while True:
        value = 0
        for _ in range(count):
            value = value << words.bits | words.next()
        value >>= count * words.bits - length
        if value < bound:
            return value
