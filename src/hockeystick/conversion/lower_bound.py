"""An error that privacy cannot avoid (S = Steinke 2022)."""

import math
from fractions import Fraction

from ..checks import count, non_negative
from ..errors import Unsupported
from ..numerics.rounding import FUNCTION, down
from .broadcast import broadcast
from .group import probability

_SLACK = 1e-9
"""By how much the hypotheses may fail: the proof uses 1/10 where its hypotheses give 8/75 (1/6 - 2/100 - 4/100)."""


@broadcast
def mean_error_lower_bound(examples: int, queries: int, epsilon: float, delta: float = 0.0) -> float:
    """The root mean square error per coordinate that no (epsilon, delta)-DP mean of `examples` binary vectors stays below.

    min(sqrt(queries) / (16 examples (e^epsilon - 1)), 1/10), reached on some data set, where a vector has `queries`
    entries and one vector may be replaced (S Theorem 25).  Needs delta <= 1 / (100 examples) and
    queries >= 200 (e^epsilon - 1)^2 examples, else `Unsupported`.

    >>> round(mean_error_lower_bound(1000, 100_000, 0.5), 9)
    0.030466452
    """
    examples, queries = count("examples", examples, least=1), count("queries", queries, least=1)
    epsilon, delta = non_negative("epsilon", epsilon), probability("delta", delta)
    if Fraction(delta) * 100 * examples > 1.0 + _SLACK:
        raise Unsupported(f"delta is {delta}: the theorem needs at most 1 / (100 examples), which is {1.0 / (100.0 * examples)}.")
    odds = math.expm1(min(epsilon, 300.0))
    if queries < 200.0 * odds * odds * examples * (1.0 - _SLACK):
        least = 200.0 * odds * odds * examples
        raise Unsupported(f"queries is {queries}: the theorem needs at least 200 (e^epsilon - 1)^2 examples, which is {least:g}.")
    tenth = down(0.1)
    if odds == 0.0 or (error := math.sqrt(queries) / (16.0 * examples * odds)) > 1.0:
        return tenth
    return min(tenth, down(error, 2.0 * FUNCTION * error))
