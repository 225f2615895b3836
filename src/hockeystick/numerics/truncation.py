"""The shares of a Poisson sample of which at most so many are kept: binomial masses and tails with small relative error.

docs/mathematics/truncated.md, Lemma 54.
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from .binomial import _bend, _stirling
from .cancellation_free import Array
from .rounding import FUNCTION, UNIT

_BLOCK = 512
_SEEN = 1e-18  # of a sum: the rest of it is bounded in closed form
_LEAST = 1e-290  # a mass below it is taken for this one


class Part(NamedTuple):
    """Steps of this weight draw the record with this rate."""

    weight: float
    rate: float


@dataclass(frozen=True)
class Shares:
    """What the size of the sample without the record says of the record's own part.

    `small`, `edge`: at most cap - 2 others are kept, or cap - 1; weights and rates are rounded up, the rest is nothing.
    `whole`, `full`: fewer than cap others are drawn, or cap and more, of which the rate is that of being kept; likewise rounded.
    `rate` is the probability that the record is kept, rounded down.  `error` bounds the relative error of weights.
    """

    small: Part
    edge: Part
    whole: Part
    full: Part
    rate: float
    error: float


def log_mass(count: int, rate: float, heads: int) -> tuple[float, float]:
    """log P(N = heads) of N heads in `count` tosses, each with this probability, 0 < rate < 1; and a bound of its error.

    Loader's formula with exact distances from the means of heads and tails (docs/bibliography.md, [L00]).

    >>> value, error = log_mass(60_000, 0.0042666, 256)
    >>> print(round(value, 9), error < 1e-13)
    -3.689714916 True
    """
    tails = count - heads
    if heads == 0 or tails == 0:
        value = count * (math.log(rate) if heads else math.log1p(-rate))
        return value, 4.0 * FUNCTION * abs(value)
    mean = Fraction(rate) * count
    away, up, down = heads - mean, float(mean), float(count - mean)
    ratios = np.array([float(away / mean), float(-away / (count - mean))])
    bends = _bend(ratios) * (up, down)
    # a part in 1e16 of the ratio moves a bend by that part of count * ratio * log(1 + ratio), at most twice the bend and its log
    steep = abs(float(away)) * (abs(math.log(heads / up)) + abs(math.log(tails / down)))
    n, i, rest = np.array([float(count)]), np.array([float(heads)]), np.array([float(tails)])
    spread = float((_stirling(n) - _stirling(i) - _stirling(rest))[0])
    spread -= 0.5 * (math.log(heads) + math.log(tails) + math.log(2.0 * math.pi) - math.log(count))
    value = spread - float(bends.sum())
    return value, 4.0 * UNIT * steep + 24.0 * FUNCTION * float(bends.sum()) + 4.0 * FUNCTION * (8.0 + math.log(count))


def _products(ratios: Array) -> Array:
    return np.multiply.accumulate(ratios)


def tail_over(count: int, rate: float, first: int, upwards: bool) -> tuple[float, float]:
    """The mass beyond `first`, upwards or downwards, over that at `first`; and a bound of its relative error.

    Each mass is the one before times (n - k)/(k + 1) q/(1 - q), or its inverse; ratios fall, so that the rest is below a
    geometric series.

    >>> above, error = tail_over(10, 0.5, 8, True)
    >>> print(round(above * 45, 9), error < 1e-13)
    11.0 True
    """
    odds = float(Fraction(rate) / (1 - Fraction(rate)))
    if not upwards:
        odds = 1.0 / odds
    total, term, done, left = 0.0, 1.0, 0, count - first if upwards else first
    while done < left:
        steps = np.arange(done, min(done + _BLOCK, left), dtype=float)
        if upwards:
            ratios = odds * (count - first - steps) / (first + 1.0 + steps)
        else:
            ratios = odds * (first - steps) / (count - first + 1.0 + steps)
        terms = term * _products(ratios)
        total += float(terms.sum())
        term, last, done = float(terms[-1]), float(ratios[-1]), done + steps.size
        if last < 1.0 and term * last <= _SEEN * total * (1.0 - last):
            break
    # the k-th term is a product of 4 k roundings; 1e-18 of the rest
    return total, UNIT * (8.0 * done + 16.0)


@lru_cache(maxsize=256)
def truncation(examples: int, rate: float, cap: int) -> Shares:
    """The shares of a sample of `examples` records, 0 < cap < examples, 0 < rate < 1.

    >>> shares = truncation(60_000, 256 / 60_000, 300)
    >>> print(round(shares.edge.weight, 9), round(shares.edge.rate, 9), round(1.0 - shares.rate / (256 / 60_000), 9))
    0.000757063 0.025590243 7.1728e-05
    """
    others, q = examples - 1, rate
    value, log_error = log_mass(others, q, cap - 1)
    beta = math.exp(max(value, -700.0))  # P(K = cap - 1), K others drawn
    upper = cap >= examples * q
    # of N drawn of all records: cap/examples P(N = cap) = q beta, P(N = cap - 1) = at beta
    in_all, first = tail_over(examples, q, cap if upper else cap - 1, upper)
    in_others, second = tail_over(others, q, cap - 1, upper)
    error = 2.0 * (first + second + log_error + 16.0 * FUNCTION)
    if upper:
        ends = 1.0 - beta * (1.0 + in_others), 1.0 - beta * in_others, beta * in_others  # P(K <= cap - 2), (< cap), (>= cap)
        off = beta * (1.0 + in_others) * error, error
        drawn, beyond = q * (1.0 + in_all) + 1.0 - q, q * in_all  # over beta
        edge, edge_rate = beta * drawn, q * (1.0 + in_all) / drawn
        full_rate = beyond / in_others
        lost = ends[2] * q - beta * beyond
    else:
        ends = beta * in_others, beta * (1.0 + in_others), 1.0 - beta * (1.0 + in_others)
        at = examples * (1.0 - q) / (examples - cap + 1.0)
        inside = cap / examples * (1.0 - beta * at * (1.0 + in_all))  # P(N >= cap) is 1/4 at least
        # what is left of the tails is 1/4 at least, and errors are those of the tails
        error = 16.0 * beta * (1.0 + at + examples * q / cap) * (1.0 + in_all + in_others) * error + 16.0 * FUNCTION
        off = error * ends[1], error
        edge, edge_rate = inside + (1.0 - q) * beta, inside / (inside + (1.0 - q) * beta)
        full_rate = (inside - q * beta) / ends[2]
        lost = ends[2] * q - (inside - q * beta)
    small, whole, full = ends[0] + off[0] + UNIT, min(ends[1] + off[0] + UNIT, 1.0), max(ends[2], _LEAST) * (1.0 + error)
    return Shares(
        *_halves(small, max(edge, _LEAST) * (1.0 + error), q, edge_rate * (1.0 + error)),
        Part(whole, q),
        Part(min(full, 1.0), min(max(full_rate * (1.0 + error), 0.0), 1.0)),
        max(0.0, q - max(lost, 0.0) - (error + 4.0 * UNIT) * q),
        2.0 * error,
    )


def _halves(small: float, edge: float, rate: float, edge_rate: float) -> tuple[Part, Part]:
    """Weights of which the second goes with the larger rate, so that it may take from the first what is too much for 1; the first
    errs by a rounding, which `error` counts."""
    edge, edge_rate = min(edge, 1.0), min(max(edge_rate, rate), 1.0)
    return Part(max(min(small, 1.0 - edge), 0.0), rate), Part(edge, edge_rate)
