"""The privacy loss of a mixture (1 - q) Q + q P against Q in terms of that of P, and back.

docs/mathematics.md, section 3: L = log(1 + x).
"""

import math

import numpy as np

from .cancellation_free import Array


def sampled_loss(z: Array, rate: float) -> Array:
    """log(1 - q + q e^z), the loss of the sampled step where that of the step itself is z.

    Where q e^z - q is below -1/2, q is above 1/2 and 1 - q exact: a sum of positive numbers.

    >>> print(sampled_loss(np.array([-40.0, 1e-9]), 1.0 - 2.0**-30).round(9))
    [-2.07944154e+01  1.00000000e-09]
    """
    excess = rate * np.expm1(np.minimum(z, 30.0))
    low = np.log((1.0 - rate) + rate * np.exp(np.minimum(z, 0.0)))
    near = np.where(excess < -0.5, low, np.log1p(np.maximum(excess, -0.5)))
    found: Array = np.where(z > 30.0, np.logaddexp(math.log1p(-rate), math.log(rate) + z), near)
    return found


def unsampled_loss(x: Array, rate: float) -> Array:
    """The z with log(1 - q + q e^z) = x, -inf where there is none; an error of x of a few units is all that it costs."""
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        far = x - math.log(rate) + np.log1p(-(1.0 - rate) * np.exp(-np.maximum(x, 0.0)))
        low = np.log((np.exp(np.minimum(x, 0.0)) - (1.0 - rate)) / rate)
        near = np.where(x < -0.5, low, np.log1p(np.expm1(np.minimum(x, 30.0)) / rate))
    return np.where(x > math.log1p(-rate), np.where(x > 30.0, far, np.where(np.isnan(near), -math.inf, near)), -math.inf)
