"""The orders at which the closed forms of zero-concentrated DP are best: where to look, never part of a proof."""

import math
from collections.abc import Callable

from ...numerics.roots import increasing_root
from ...numerics.rounding import up

LEAST_RHO = 1e-100
"""Smaller rho are counted as this one."""

LEAST, MOST = 1e-15, 1e14  # of order - 1


def gamma_up(rho: float, t: float) -> float:
    """gamma(1 + t) of rho-zCDP, rounded up."""
    return up(rho * (1.0 + t))


def _root(function: Callable[[float], tuple[float, float]], start: float) -> float:
    """The t at which an increasing function of log t vanishes."""
    x = increasing_root(function, min(max(math.log(start), -300.0), 300.0), lower=-600.0, upper=600.0)
    return math.exp(x)


def epsilon_place(rho: float, log_inverse: float) -> float:
    """Where the improved epsilon is smallest in t: rho t^2 + log(1 + t) = log(1/delta)."""

    def excess(x: float) -> tuple[float, float]:
        t = math.exp(x)
        return rho * t * t + math.log1p(t) - log_inverse, 2.0 * rho * t * t + t / (1.0 + t)

    return _root(excess, min(math.sqrt(log_inverse / rho), math.expm1(min(log_inverse, 700.0))))


def delta_place(rho: float, epsilon: float) -> float:
    """Where the improved delta is smallest in t: rho (2 t + 1) - log(1 + 1/t) = epsilon."""

    def excess(x: float) -> tuple[float, float]:
        t = math.exp(x)
        return rho * (2.0 * t + 1.0) - math.log1p(1.0 / t) - epsilon, 2.0 * rho * t + 1.0 / (1.0 + t)

    return _root(excess, max(0.5 * epsilon / rho, math.sqrt(0.5 / rho)))


def budget_place(epsilon: float, log_inverse: float) -> float:
    """Where the improved budget is largest in t: (2 t + 1)(log(1/delta) - log(1 + t)) / t^2 - log(1 + 1/t) = epsilon."""

    def excess(x: float) -> tuple[float, float]:
        t = math.exp(x)
        left = log_inverse - math.log1p(t)
        more = (2.0 * t + 1.0) / (t * t)
        slope = 2.0 * left * (t + 1.0) / (t * t) + more * t / (1.0 + t) - 1.0 / (1.0 + t)
        return epsilon + math.log1p(1.0 / t) - more * left, slope

    return _root(excess, min(2.0 * log_inverse / max(epsilon, 1e-300), math.expm1(min(log_inverse, 300.0))))
