"""Epsilon of many runs of sampled Gaussian steps in one call of the compiled core: what a sweep asks.

Counts of one mechanism that are near each other share a contour (docs/mathematics.md, section 2, "Many questions, many runs").
A run that the core leaves open is asked by itself, as all runs are where the core is absent; the others have the bits that the
run would have by itself.
"""

import math
from dataclasses import dataclass

import numpy as np

from ...native import ORDERED, core
from ...numerics.cancellation_free import Array


@dataclass(frozen=True)
class Runs:
    """count steps of noise multiplier `noise` and sampling rate `rate` each, and log delta; one entry for each run."""

    noise: Array
    noise_error: Array
    rate: Array
    count: Array
    log_delta: Array


def sampled_epsilons(runs: Runs, removals: tuple[bool, ...]) -> tuple[Array, Array]:
    """Both ends of epsilon of each run, the largest over the ordered pairs; NaN where it is not proved closely."""
    low, high = np.full(runs.noise.shape, math.nan), np.full(runs.noise.shape, math.nan)
    if core is not None:
        orders = ORDERED.index(removals) + 1
        core.epsilons(runs.noise, runs.rate, runs.noise_error, runs.count, orders, runs.log_delta, low, high)
        wrong = low > high  # a bug of ours: the driver decides
        low[wrong] = high[wrong] = math.nan
    return low, high
