"""Samples of records and choices among candidates, with exactly the stated probabilities (docs/mathematics.md, section 17)."""

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from ..native import draws as loops
from .lazy import Digits, Exponential, below, bernoulli, bernoulli_exp
from .source import Words

Wholes = npt.NDArray[np.int64]
_TINY, _FAR = 5e-324, 1e300  # exponents of which it counts only that they are not 0, and that they are large
_WEIGHTS = 1e-200, 1e200  # weights of scores that are ordinary doubles


def poisson_sample(rate: float, size: int, words: Words) -> Wholes:
    """The places of those of `size` records that take part, each with probability `rate`."""
    exact = Fraction(rate)
    return np.flatnonzero(loops.bernoulli(exact, size, words, lambda _: bernoulli(exact, words)))


def subset(batch: int, size: int, words: Words) -> Wholes:
    """`batch` of the places below `size`, all subsets equally likely, in increasing order: the first of a shuffle."""
    picks = loops.below(size, 1, batch, words, lambda place: below(size - place, words))
    moved: dict[int, int] = {}  # what a shuffled array of all places would have where it differs from the place
    chosen = np.empty(batch, dtype=np.int64)
    for place, pick in enumerate(picks.tolist()):
        last = size - 1 - place
        chosen[place] = moved.get(pick, pick)
        moved[pick] = moved.pop(last, last) if pick != last else last
    return np.sort(chosen)


def draws_of(draws: int, size: int, words: Words) -> Wholes:
    """So many places below `size`, each drawn from all of them."""
    return loops.below(size, 0, draws, words, lambda _: below(size, words))


def shuffled(size: int, words: Words) -> list[int]:
    """All places below `size` in random order, every order equally likely."""
    order = list(range(size))
    picks = loops.below(size, 1, size, words, lambda place: below(size - place, words)).tolist() if size else []
    for place, pick in enumerate(picks):
        last = size - 1 - place
        order[pick], order[last] = order[last], order[pick]
    return order


@lru_cache(maxsize=16)
def log_two(bits: int) -> int:
    """The whole number below 2^bits log 2, or the one before it.

    >>> log_two(10)
    709
    """
    guard = bits + 16
    total, k = 0, 1
    power: int = (2 << guard) // 3  # log 2 = 2 artanh(1/3), each term rounded down: `bits` terms at most
    while power:
        total += power // k
        power //= 9
        k += 2
    return total >> 16


class Response:
    """Randomised response: the true category with weight 1, each of `others` more with weight e^-epsilon (Lemma 37)."""

    def __init__(self, epsilon: float, others: int) -> None:
        self.others, self.epsilon = others, Fraction(epsilon)
        self.length = (others - 1).bit_length()
        bits = 128
        while (halvings := self._floor(log_two(bits) + 2, bits)) != self._floor(log_two(bits), bits):
            bits *= 2
        self.halvings = halvings  # floor(epsilon / log 2)
        self.proposal = 1 / (1 + Fraction(2) ** (halvings - self.length))  # of a lie
        rest = self.epsilon - halvings * Fraction(log_two(128), 2**128)
        self.exponent = float(rest) if epsilon else 0.0

    def _floor(self, log: int, bits: int) -> int:
        return math.floor(self.epsilon * (1 << bits) / log)

    def _kept(self, words: Digits) -> bool:
        """True with probability e^-(epsilon - halvings log 2): log 2 to as many digits as are needed."""
        if not self.epsilon:
            return True
        drawn = Exponential(words)
        while True:
            bits = drawn.size + 64
            low = self.epsilon - self.halvings * Fraction(log_two(bits) + 2, 2**bits)
            high = self.epsilon - self.halvings * Fraction(log_two(bits), 2**bits)
            unit = 1 << drawn.size
            if Fraction(drawn.low, unit) >= high:
                return True
            if Fraction(drawn.low + 1, unit) <= low:
                return False
            drawn.refine()

    def one(self, truth: int, words: Digits) -> int:
        """An answer instead of one category."""
        while bernoulli(self.proposal, words):
            other = below(1 << self.length, words)
            if other < self.others and self._kept(words):
                return other + (other >= truth)
        return truth

    def all(self, truths: Wholes, words: Words) -> npt.NDArray[Any]:
        """Answers instead of many."""
        return loops.response(
            truths, self.proposal, self.others, self.exponent, words, lambda place: self.one(int(truths[place]), words)
        )


class Exponents(Sequence[Fraction]):
    """weight * (best - score) for each score, exactly: a fraction is made of those that are asked for."""

    def __init__(self, scores: Sequence[Any], weight: Fraction) -> None:
        self._scores, self._best, self._weight = scores, max(scores), weight

    def __len__(self) -> int:
        return len(self._scores)

    def __getitem__(self, place: Any) -> Any:
        return (Fraction(self._best) - Fraction(self._scores[place])) * self._weight

    def near(self) -> npt.NDArray[np.float64]:
        """Doubles within 2^-45 (1 + it), finite; 0 for 0 only.  Products of doubles have an error of four roundings."""
        exact, (least, most) = self._weight, _WEIGHTS
        if not (least <= exact <= most and all(type(one) is float for one in self._scores)):
            return np.array([_near(one) for one in self])
        scores = np.array(self._scores)
        with np.errstate(over="ignore", under="ignore"):
            found: npt.NDArray[np.float64] = np.minimum((self._best - scores) * float(exact), _FAR)
        found[(found == 0.0) & (scores != self._best)] = _TINY
        return found


def selection(exponents: Exponents, again: bool, words: Words) -> int:
    """A place, tried in random order, each taken with probability e^-exponent, of which one is 0 (Lemma 37).

    With `again`, refused places are tried again: place i is chosen with a probability proportional to e^-exponent (the
    exponential mechanism); without, this is permute-and-flip.
    """
    reference: Callable[[int], int] = lambda _: one_selection(exponents, again, words)  # noqa: E731
    return loops.choice(exponents.near(), again, words, reference)


def one_selection(exponents: Sequence[Fraction], again: bool, words: Digits) -> int:
    """The reference of `selection`."""
    order, left = list(range(len(exponents))), len(exponents)
    while True:
        at = below(left, words)
        if bernoulli_exp(exponents[order[at]], words):
            return order[at]
        if not again:
            left -= 1
            order[at] = order[left]


def _near(exponent: Fraction) -> float:
    """Its double; 0 for 0 only, and finite."""
    try:
        return min(max(float(exponent), _TINY), _FAR) if exponent else 0.0
    except OverflowError:
        return _FAR
