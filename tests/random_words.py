"""Random words that a test decides: every beginning of a stream of digits, listed; and words in which ties are common."""

from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

import numpy as np
from mpmath import mp

from hockeystick.draws.source import InsecureSeed, Words


class NoDigits(Exception):
    """The digits do not last."""


class Given(Words):
    """The words of a list; each stands for one digit of `digit_bits` bits, its leading ones."""

    def __init__(self, words: list[int]) -> None:
        super().__init__(lambda size: b"")
        self._block, self._asked = np.array(words, dtype=np.uint32), -1

    def next(self) -> int:
        if self._read == len(self._block):
            raise NoDigits
        return super().next()

    def ahead(self, count: int) -> Any:
        unread = self._block[self._read :]
        if self._asked == self._read:  # nothing has been read since: more words are wanted
            raise NoDigits
        self._asked = self._read
        return unread


class Few:
    """Digits of a few bits, from a list."""

    def __init__(self, digits: list[int], bits: int) -> None:
        self.bits, self._digits = bits, iter(digits)

    def next(self) -> int:
        for digit in self._digits:
            return digit
        raise NoDigits


def law(draw: Callable[[list[int]], Any], bits: int, depth: int) -> tuple[dict[Any, Fraction], Fraction]:
    """The probabilities of what is drawn from at most `depth` digits, by trying all of them, and that of no decision."""
    found: dict[Any, Fraction] = {}
    left = Fraction(0)
    waiting: list[list[int]] = [[]]
    while waiting:
        digits = waiting.pop()
        try:
            drawn = draw(digits)
        except NoDigits:
            if len(digits) == depth:
                left += Fraction(1, 2 ** (bits * depth))
            else:
                waiting += [[*digits, digit] for digit in range(2**bits)]
            continue
        found[drawn] = found.get(drawn, Fraction(0)) + Fraction(1, 2 ** (bits * len(digits)))
    return found, left


def coarse(seed: int, bits: int) -> Words:
    """Words of which only the leading bits are random: ties are common."""
    plain = InsecureSeed(seed)._words
    mask = (1 << 32) - (1 << (32 - bits))

    def fetch(size: int) -> bytes:
        block = plain.ahead(size // 4)[: size // 4] & np.uint32(mask)
        plain.skip(size // 4)
        return block.astype("<u4").tobytes()

    return Words(fetch)


def chance(counted: Any, expected: Any) -> float:
    """The probability of a chi-square as large as this one; cells with few expected draws are joined."""
    cells: list[tuple[float, float]] = []
    ours = theirs = 0.0
    for one, other in sorted(zip(counted, expected, strict=True), key=lambda cell: -cell[1]):
        ours, theirs = ours + one, theirs + other
        if theirs >= 20.0:
            cells.append((ours, theirs))
            ours = theirs = 0.0
    cells[-1] = cells[-1][0] + ours, cells[-1][1] + theirs
    statistic = sum((one - other) ** 2 / other for one, other in cells)
    return float(mp.gammainc(mp.mpf(len(cells) - 1) / 2, mp.mpf(statistic) / 2, mp.inf, regularized=True))


def discrete_laplace_law(scale: float) -> Callable[[int], float]:
    r = mp.exp(-1 / mp.mpf(scale))
    return lambda z: float((1 - r) / (1 + r) * r ** abs(z))


def discrete_gaussian_law(sigma: float) -> Callable[[int], float]:
    def weight(z: int) -> Any:
        return mp.exp(-(mp.mpf(z) ** 2) / (2 * mp.mpf(sigma) ** 2))

    total = mp.nsum(lambda z: weight(z), [-mp.inf, mp.inf]) if sigma < 1 else mp.fsum(map(weight, span(sigma)))
    return lambda z: float(weight(z) / total)


def span(sigma: float) -> Iterator[int]:
    most = int(40 * sigma) + 40
    return iter(range(-most, most + 1))
