"""Why private means err: the statistic of tracing attacks, and the error that follows without rounding of constants."""

import math
from collections.abc import Iterable
from fractions import Fraction

from ... import checks
from ...errors import BadType, BadValue
from ...numerics.rounding import FUNCTION, UNIT, down, up
from .._kernels.broadcast import broadcast

MOST_EXAMPLES = 300


def tracing_statistic(answers: Iterable[float]) -> float:
    """E[(f(X) - P) sum_i (X_i - P)] + E[(E[f(X) | P] - P)^2], P uniform, X its n coins; rounded down (Steinke 2022, Lemma 26).

    How far the answers of a mechanism are correlated with its records, plus its squared bias: at least 1/12 whatever the
    mechanism, so that one that is accurate can be traced.  Depends on f only through the mean of f over the inputs with s ones.

    Parameters
    ----------
    answers : iterable of float
        That mean for s = 0, 1, ..., n: numbers from 0 to 1, for n from 1 to 300.

    Returns
    -------
    float
        The statistic, computed exactly and rounded down to a double.

    Raises
    ------
    BadType
        If answers is no sequence, or an entry no real number.
    BadValue
        If there are fewer than two or more than 301 answers, or one is no probability.

    Examples
    --------
    >>> round(tracing_statistic([0.0, 0.0, 1.0, 1.0]), 12)  # the majority of three
    0.204761904762
    """
    if isinstance(answers, str | bytes) or not isinstance(answers, Iterable):
        raise BadType(f"answers is {answers!r} ({type(answers).__name__}); allowed: a sequence of numbers from 0 to 1.")
    given = [Fraction(checks.probability(f"answers[{s}]", one)) for s, one in enumerate(answers)]
    n = len(given) - 1
    if not 1 <= n <= MOST_EXAMPLES:
        raise BadValue(f"answers has {n + 1} entries; allowed: from 2 to {MOST_EXAMPLES + 1}, one for each number of ones.")
    # E[f | P = p] = sum_s answers_s B_s(p), Bernstein's polynomials; E B_s = 1 / (n + 1), E P B_s = (s + 1) / ((n + 1)(n + 2))
    correlation = sum(one * (s - Fraction(n * (s + 1), n + 2)) for s, one in enumerate(given)) / (n + 1)
    cross = sum(one * (s + 1) for s, one in enumerate(given)) / ((n + 1) * (n + 2))
    weighted = [one * math.comb(n, s) for s, one in enumerate(given)]
    square = Fraction(0)
    for total in range(2 * n + 1):  # E B_s B_t = C(n, s) C(n, t) / (C(2n, s + t) (2n + 1))
        pairs = (weighted[s] * weighted[total - s] for s in range(max(0, total - n), min(n, total) + 1))
        square += sum(pairs, Fraction(0)) / math.comb(2 * n, total)
    exact = correlation + square / (2 * n + 1) - 2 * cross + Fraction(1, 3)
    value = float(exact)
    return value if Fraction(value) <= exact else math.nextafter(value, -math.inf)


@broadcast
def mean_error_lower_bound_sharp(examples: int, queries: int, epsilon: float, delta: float = 0.0) -> float:
    """`mean_error_lower_bound` before its constants are rounded: larger, and for all arguments, rounded down.

    The smallest error a with a^2 + 1/(6 n) >= (1/6 - 2 a^2 - 4 n delta)^2 queries / (2 n^2 (e^epsilon - 1)^2), n = examples, the
    last display but one in the proof of Theorem 25 (Steinke 2022, Theorem 25, with Lemma 27 as in erratum S-E1).  It is 0 where
    n delta is 1/24 or more, or where the sampling error is larger than what the theorem can tell.

    Parameters
    ----------
    examples : int or array_like
        The number of records, a whole number from 1 up.
    queries : int or array_like
        The number of coordinates, a whole number from 1 up.
    epsilon : float or array_like
        From 0 up.
    delta : float or array_like, default 0.0
        A probability from 0 to 1.

    Returns
    -------
    float or ndarray
        A lower bound of the root mean square error per coordinate, rounded down.

    Raises
    ------
    BadType
        If an argument is no real number and no array of them.
    BadValue
        If an argument is out of its range, or shapes do not broadcast.

    Examples
    --------
    >>> round(mean_error_lower_bound_sharp(1000, 100_000, 0.5), 9)
    0.053919864
    """
    n, k = checks.count("examples", examples, 1), checks.count("queries", queries, 1)
    epsilon, delta = checks.non_negative("epsilon", epsilon), checks.probability("delta", delta)
    if epsilon > 300.0:
        return 0.0
    a = Fraction(1, 6) - 4 * n * Fraction(delta)
    odds = Fraction(up(math.expm1(epsilon) * (1.0 + 2.0 * FUNCTION)) if epsilon else 0.0)
    v = 2 * n * n * odds * odds / k
    above = a * a - v / (6 * n)
    if a <= 0 or above <= 0:
        return 0.0
    root = math.sqrt(v * (8 * a + Fraction(8, 3 * n)) + v * v)
    square = 2.0 * float(above) / (float(4 * a + v) + root)
    return max(0.0, down(math.sqrt(square) * (1.0 - 8.0 * UNIT)))
