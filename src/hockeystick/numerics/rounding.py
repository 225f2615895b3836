"""What every certified bound assumes of the machine, and nothing else.

* Basic operations are IEEE 754 double precision, rounded to nearest: relative error at most `UNIT`.
* exp, expm1, log, log1p, sin, cos, arctan2 of the C library and NumPy err by at most 4 units in the
  last place: relative error at most `FUNCTION`.
* expl, log1pl and logl of the C library err by at most 4 units in the last place of a long double, where one has 64 bits; others
  are not used (`native/closed_response.c`).
* A sum of n terms, in whatever order, errs by at most (n - 1) * UNIT * sum of magnitudes; a product of
  matrices likewise per entry.  The second-order terms of such products of (1 + UNIT) are covered by
  `SECOND_ORDER`.
* The (inverse) fast Fourier transform of n numbers errs by at most FFT * log2(n) * UNIT: in each number relative to the sum (the
  mean) of the magnitudes, and as a vector relative to the 2-norm of the result (the standard bound; Higham 2002, section 24.1).
* `scipy.special.log_ndtr` errs by at most `LOG_NDTR` (1 + its magnitude).
* The weights of Gauss's rule of twenty points by NumPy's `leggauss` err by at most `GAUSS_WEIGHT` (relative): more than twice
  what `tests/unit/loss/sampled/test_laplace.py` finds.
* erfc of the C library errs by at most `ERFC` (relative), where it is at least 1e-300 (glibc states 5 units in the last place).
* `scipy.special.erfcx` errs by at most `ERFCX` (relative).  `tests/unit/numerics/test_rounding.py` measures it, and
  the functions above, against ball arithmetic; the figure here is at least twice the error found there.
"""

import math
from typing import Any

UNIT = 2.0**-53
FUNCTION = 8.0 * UNIT
ERFC = 16.0 * UNIT
ERFCX = 16.0 * UNIT
LOG_NDTR = 32.0 * UNIT
GAUSS_WEIGHT = 1500.0 * UNIT
FFT = 2.0
SECOND_ORDER = 1.0 + 1e-6
"""First-order error bounds are multiplied by this; it covers products of bounds below 1e-6."""

SQUARE_ERROR = 8.0 * UNIT
"""Relative error of the square of mu: of sensitivity / sigma, its square, and an exact sum (math.fsum)."""

SMALLEST = 5e-324
LARGEST = 1.7976931348623157e308


def up(value: float, error: float = 0.0) -> float:
    """The smallest double that is surely at least value + error (error >= 0)."""
    return math.nextafter(value + error, math.inf) if math.isfinite(value) else value


def down(value: float, error: float = 0.0) -> float:
    """The largest double that is surely at most value - error (error >= 0)."""
    return math.nextafter(value - error, -math.inf) if math.isfinite(value) else value


def exp_up(log_value: float, ceiling: float = math.inf) -> float:
    """exp rounded up: never zero for a finite logarithm, never above `ceiling`."""
    if log_value == -math.inf:
        return 0.0
    if log_value > 709.0:
        return ceiling
    value = math.exp(log_value)
    return min(ceiling, max(SMALLEST, math.nextafter(value * (1.0 + 2.0 * FUNCTION), math.inf)))


def exp_down(log_value: float) -> float:
    """exp rounded down."""
    if log_value > 709.0:
        log_value = 709.0
    value = math.exp(log_value)
    return max(0.0, math.nextafter(value * (1.0 - 2.0 * FUNCTION), -math.inf))


def exp_ends(low: Any, high: Any) -> tuple[Any, Any]:
    """Both ends of a probability from those of its logarithm: floats, or arrays of them, to the same bits.

    >>> exp_ends(-1e9, 1e-20)
    (0.0, 1.0)
    """
    if isinstance(low, float):
        return exp_down(low), exp_up(high, ceiling=1.0)
    import numpy as np

    grown = [np.array([math.exp(x) for x in np.minimum(ends, 0.0).ravel().tolist()]).reshape(ends.shape) for ends in (low, high)]
    least, most = (
        np.nextafter(grown[0] * (1.0 - 2.0 * FUNCTION), -math.inf),
        np.nextafter(grown[1] * (1.0 + 2.0 * FUNCTION), math.inf),
    )
    return np.maximum(least, 0.0), np.where(high == -math.inf, 0.0, np.minimum(most, 1.0))
