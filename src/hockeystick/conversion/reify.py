"""Clip and reify: a head guarantee made a full one by Laplace noise (Liu et al. 2021, Theorem 4.7), sampled exactly.

Laplace noise made of floating-point numbers leaks (Mironov 2012).  Here values are rounded to a grid of spacing 2^k, and the
noise is a whole number of steps whose law, the discrete Laplace law, is met exactly (`draws/noise.py`).  Rounding is part
of the output and cannot lose privacy; that it may widen the range by a step is counted in the noise, so the mu of the head stays.
"""

import math
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from ..checks import positive, real
from ..draws.noise import discrete_laplaces
from ..draws.source import words_of
from ..errors import BadType, BadValue
from ..numerics.rounding import LARGEST

if TYPE_CHECKING:
    from ..draws.source import InsecureSeed

_BITS = 40  # steps of the grid within the scale of the noise
_RANGE = 1e150


def clip_and_reify(values: Any, lower: float, upper: float, epsilon_head: float, rng: "InsecureSeed | None" = None) -> Any:
    """`values` clipped to [lower, upper], plus Laplace noise: if they are (epsilon_head, mu)-head GDP, this is mu-GDP.

    One number gets noise of scale (upper - lower) / epsilon_head (Liu et al. 2021, Theorem 4.7).  An array of d numbers counts
    as one output and gets d times that, as each of its numbers may change by upper - lower; call once for each output that has
    a head guarantee of its own.  The noise alone makes the output epsilon_head-DP, exactly: it is drawn in whole numbers, from
    the operating system's randomness unless `rng` is given, which is meant for tests only.

    Parameters
    ----------
    values : float or array_like
        The numbers to release; they may be infinite, but not NaN.
    lower : float
        The lower end of the range, from -1e150 to 1e150.
    upper : float
        The upper end of the range, above the lower one.
    epsilon_head : float
        Where the head guarantee ends, from 1e-100 to 1e100.
    rng : InsecureSeed, optional
        Where the randomness comes from: the operating system, unless tests or figures need a seed.

    Returns
    -------
    float or ndarray
        The noisy values, in the shape of `values`.

    Raises
    ------
    BadType
        If values hold something else than numbers, an end is no real number, or rng is no InsecureSeed.
    BadValue
        If an end or epsilon_head is out of its range, or lower is not below upper.

    Examples
    --------
    >>> 0.0 <= clip_and_reify(3.0, 0.0, 1.0, epsilon_head=1e6) <= 1.001
    True
    """
    lower, upper = _end("lower", lower), _end("upper", upper)
    if not lower < upper:
        raise BadValue(f"lower is {lower} and upper is {upper}; allowed: lower below upper.")
    epsilon_head = positive("epsilon_head", epsilon_head)
    if not 1e-100 <= epsilon_head <= 1e100:
        raise BadValue(f"epsilon_head is {epsilon_head}; allowed: a number from 1e-100 to 1e100.")
    words = words_of(rng)
    numbers, shape = _numbers(values)
    step, decay = grid_and_decay(lower, upper, epsilon_head, max(1, len(numbers)))
    steps = [round(Fraction(min(max(one, lower), upper)) / step) for one in numbers]
    noise = discrete_laplaces(1 / decay, len(steps), words, least=64).tolist()
    noisy = [_double((one + more) * step) for one, more in zip(steps, noise, strict=True)]
    return noisy[0] if shape is None else np.array(noisy, dtype=float).reshape(shape)


def grid_and_decay(lower: float, upper: float, epsilon_head: float, size: int) -> tuple[Fraction, Fraction]:
    """The spacing of the grid, and the decay of the noise per step with which `size` numbers are epsilon_head-DP.

    >>> step, decay = grid_and_decay(0.0, 1.0, 2.0, 1)
    >>> step == Fraction(1, 2**42), decay == Fraction(2, 2**42)
    (True, True)
    """
    width = Fraction(upper) - Fraction(lower)
    step = _power_of_two(min(width, width * size / Fraction(epsilon_head))) / 2**_BITS
    span = round(Fraction(upper) / step) - round(Fraction(lower) / step)  # after rounding, hence perhaps a step more than width
    return step, Fraction(epsilon_head) / (span * size)


def _end(name: str, value: Any) -> float:
    number = real(name, value, "a finite number")
    if abs(number) > _RANGE:
        raise BadValue(f"{name} is {number}; allowed: a number from {-_RANGE:g} to {_RANGE:g}.")
    return number


def _numbers(values: Any) -> tuple[list[float], tuple[int, ...] | None]:
    """The numbers, which may be infinite, and the shape of the array, None for a single number."""
    try:
        grid = np.asarray(values, dtype=object)
    except ValueError:
        raise BadType(f"values is {values!r}; allowed: a number or a rectangular array of numbers.") from None
    found = []
    for one in grid.ravel().tolist():
        if isinstance(one, float) and math.isinf(one):
            found.append(one)
        else:
            found.append(real("values", one, "numbers, or arrays of them, that are not NaN"))
    return found, grid.shape if grid.ndim else None


def _power_of_two(value: Fraction) -> Fraction:
    """The power of two next below a positive number, or a quarter of it at least."""
    exponent = value.numerator.bit_length() - value.denominator.bit_length() - 1
    return Fraction(2) ** exponent


def _double(value: Fraction) -> float:
    return float(max(min(value, Fraction(LARGEST)), -Fraction(LARGEST)))
