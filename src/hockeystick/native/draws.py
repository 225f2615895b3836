"""Draws by the compiled core, as many as it decides; the reference (draws/*.py) makes the others, from the same random words.

Which of the two serves is decided here.  A draw that the core leaves to the reference begins again with the words with which the
core began, so what is drawn does not depend on who draws it (Lemma 38).
"""

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from . import core as _core

core: Any = _core if hasattr(_core, "draw_below") else None
Kernel = Callable[[Any, int], tuple[int, int, int]]
Wholes = npt.NDArray[np.int64]
_UNDECIDED = 1  # the ending of a draw that is left to the reference (native/draws.h)
_BLOCK = 1 << 14  # words at once, 64 KiB: they stay in the cache, and Ctrl-C waits for some thousand draws
_NORMAL = 1e-290, 1e270  # scales whose grids, and what is on them, are ordinary doubles


class Words(Protocol):
    """Random words, in order (draws/source.py)."""

    bits: int

    def next(self) -> int: ...
    def ahead(self, count: int) -> npt.NDArray[np.uint32]: ...
    def skip(self, count: int) -> None: ...


def _draw(kernel: Kernel | None, size: int, words: Words, each: int, reference: Callable[[int], None]) -> None:
    """All draws: the kernel takes unread words and the place of the first draw to be made; a draw takes some `each` words."""
    place = wanted = 0
    while place < size:
        if kernel is None or core is None:
            reference(place)
            place += 1
            continue
        block = words.ahead(max(wanted, min(_BLOCK, each * (size - place) + 16)))
        made, read, ending = kernel(block, place)
        words.skip(read)
        place += made
        wanted = 0
        if place < size and ending == _UNDECIDED:
            reference(place)
            place += 1
        elif not made:
            wanted = 2 * len(block)  # the words did not last for one


def _on_grid(
    values: Any, spread: float, grid: int, normal: bool, out: Any, words: Words, reference: Callable[[int], float]
) -> None:
    mantissa = math.ldexp(math.frexp(spread)[0], 53)

    def kernel(block: Any, place: int) -> tuple[int, int, int]:
        found: tuple[int, int, int] = core.draw_on_grid(block, values[place:], mantissa, grid, normal, out[place:])
        return found

    def one(place: int) -> None:
        out[place] = reference(place)

    inside = _NORMAL[0] <= spread <= _NORMAL[1]
    _draw(kernel if inside else None, len(out), words, 14 if normal else 7, one)


def laplace(values: Any, scale: float, grid: int, out: Any, words: Words, reference: Callable[[int], float]) -> None:
    """values plus Laplace noise of this scale, on a grid of spacing 2^grid."""
    _on_grid(values, scale, grid, False, out, words, reference)


def gaussian(values: Any, sigma: float, grid: int, out: Any, words: Words, reference: Callable[[int], float]) -> None:
    """values plus normal noise, on a grid of spacing 2^grid."""
    _on_grid(values, sigma, grid, True, out, words, reference)


def _whole(
    kernel: Callable[[Any, Wholes], tuple[int, int, int]] | None,
    size: int,
    words: Words,
    each: int,
    reference: Callable[[int], int],
) -> npt.NDArray[Any]:
    """An array of whole numbers, of Python's own if one is beyond 64 bits."""
    out = np.empty(size, dtype=np.int64)
    large: dict[int, int] = {}

    def one(place: int) -> None:
        drawn = reference(place)
        if -(2**63) <= drawn < 2**63:
            out[place] = drawn
        else:
            large[place] = drawn

    _draw(None if kernel is None else lambda block, place: kernel(block, out[place:]), size, words, each, one)
    if not large:
        return out
    wide = out.astype(object)
    for place, drawn in large.items():
        wide[place] = drawn
    return wide


def _mantissa(scale: Fraction) -> tuple[float, int, bool]:
    """53 bits of the scale, the exponent of their unit, and whether there are more."""
    exponent = scale.numerator.bit_length() - scale.denominator.bit_length() - 53
    if scale >= Fraction(2) ** (exponent + 53):
        exponent += 1
    scaled = scale / Fraction(2) ** exponent
    return float(math.floor(scaled)), exponent, scaled.denominator != 1


def discrete_laplace(scale: Fraction, least: int, size: int, words: Words, reference: Callable[[int], int]) -> npt.NDArray[Any]:
    """Discrete Laplace noise; at least `least` binary digits of the fraction are drawn, 32 or 64."""
    mantissa, exponent, inexact = _mantissa(scale)

    def kernel(block: Any, out: Wholes) -> tuple[int, int, int]:
        found: tuple[int, int, int] = core.draw_discrete_laplace(block, mantissa, exponent, inexact, 1 + (least > 32), out)
        return found

    return _whole(kernel if not inexact or least > 32 else None, size, words, 7, reference)


def discrete_gaussian(sigma: float, size: int, words: Words, reference: Callable[[int], int]) -> npt.NDArray[Any]:
    """Discrete Gaussian noise."""

    def kernel(block: Any, out: Wholes) -> tuple[int, int, int]:
        found: tuple[int, int, int] = core.draw_discrete_gaussian(block, sigma, out)
        return found

    return _whole(kernel if 2.0**-30 <= sigma <= 2.0**50 else None, size, words, 14, reference)


def _units(probability: Fraction) -> tuple[int, int]:
    """The whole numbers of 2^-32 next below and next above it."""
    scaled = probability * 2**32
    return math.floor(scaled), math.ceil(scaled)


def bernoulli(probability: Fraction, size: int, words: Words, reference: Callable[[int], int]) -> npt.NDArray[Any]:
    """1 with this probability, else 0."""
    sure, most = _units(probability)
    return _whole(lambda block, out: core.draw_bernoulli(block, sure, most, out), size, words, 1, reference)


def below(bound: int, falling: int, size: int, words: Words, reference: Callable[[int], int]) -> npt.NDArray[Any]:
    """Whole numbers below bound, bound - falling, bound - 2 falling, ...; `falling` is 0 or 1."""

    def kernel(block: Any, out: Wholes) -> tuple[int, int, int]:
        first = bound - falling * (size - len(out))
        found: tuple[int, int, int] = core.draw_below(block, first, falling, out)
        return found

    return _whole(kernel if bound <= 2**32 else None, size, words, 2, reference)


def response(
    truths: Wholes, proposal: Fraction, others: int, exponent: float, words: Words, reference: Callable[[int], int]
) -> npt.NDArray[Any]:
    """A category instead of each true one; `exponent` is within 2^-45 of what it stands for."""
    sure, most = _units(proposal)

    def kernel(block: Any, out: Wholes) -> tuple[int, int, int]:
        here = truths[len(truths) - len(out) :]
        found: tuple[int, int, int] = core.draw_response(block, here, sure, most, others, exponent, out)
        return found

    return _whole(kernel if others <= 2**31 else None, len(truths), words, 6, reference)


def choice(exponents: Any, again: bool, words: Words, reference: Callable[[int], int]) -> int:
    """A place, tried in random order and taken with probability e^-exponent, exponents within 2^-45 (1 + it)."""
    order = np.empty(0 if again else len(exponents), dtype=np.int64)

    def kernel(block: Any, out: Wholes) -> tuple[int, int, int]:
        found: tuple[int, int, int] = core.draw_choice(block, exponents, again, order, out)
        return found

    return int(_whole(kernel if len(exponents) <= 2**32 else None, 1, words, 64, reference)[0])
