"""Numbers of events, rounded to the safe side."""

import math
from fractions import Fraction

from ...errors import BadValue
from ...mechanism.mixture import GaussianMixture
from ...numerics.rounding import down, up


def thinned(mixture: GaussianMixture, rate: float) -> GaussianMixture:
    """The record takes part with this probability: weights of moves are rounded up, the rest down."""
    if rate == 1.0:
        return mixture
    total = sum(map(Fraction, mixture.weights))
    pairs = zip(mixture.moves, mixture.weights, strict=True)
    moved = [(move, min(1.0, up(float(Fraction(rate) * Fraction(weight) / total)))) for move, weight in pairs if move]
    rest = max(0.0, down(float(1 - sum(Fraction(weight) for _, weight in moved))))
    return GaussianMixture(mixture.sigma, (0.0, *(move for move, _ in moved)), (rest, *(weight for _, weight in moved)))


def ratio_down(numerator: float, denominator: float) -> float:
    """The largest double surely at most the quotient; the quotient itself where it is one."""
    value = numerator / denominator
    if math.isinf(value):
        raise BadValue(f"{numerator} / {denominator} is too large for a double.")
    return down(value) if Fraction(value) * Fraction(denominator) > Fraction(numerator) else value


def product_up(one: float, two: float) -> float:
    """The least double surely at least the product."""
    value = one * two
    return up(value) if Fraction(value) < Fraction(one) * Fraction(two) else value
