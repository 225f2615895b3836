"""Errors against ball arithmetic."""

import numpy as np
from flint import arb, ctx


def worst(found: np.ndarray, truths: list[arb]) -> float:
    """The largest relative error."""
    ctx.prec = 200
    most = 0.0
    for value, truth in zip(found.tolist(), truths, strict=True):
        if abs(truth) > 1e-300:  # normal numbers
            most = max(most, float(abs(arb(value) / truth - 1).upper()))
    return most
