"""Composition of approximate differential privacy by its theorems, and the error that no mean can avoid (Steinke 2022)."""

import math
from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any, overload

from ..checks import count, non_negative, probability
from ..checks import rate as checked_rate
from ..errors import BadType, BadValue, Unsupported
from ..numerics.rounding import FUNCTION, down, up
from ._kernels.broadcast import broadcast
from .group import exact_up

if TYPE_CHECKING:
    from ..bounds import Array, Floats

_SLACK = 1e-9
"""By how much the hypotheses may fail: the proof uses 1/10 where its hypotheses give 8/75 (1/6 - 2/100 - 4/100)."""
Part = tuple[float, float, int]


def basic_composition(parts: Iterable[Sequence[Any]]) -> tuple[float, float]:
    """(epsilon, delta) of running all parts, each (epsilon, delta) or (epsilon, delta, count): the sums.

    Steinke 2022, Theorem 1.
    The parts may be chosen adaptively (Steinke 2022, Theorem 22); delta is at most 1.

    Parameters
    ----------
    parts : iterable of tuple
        Each (epsilon, delta) or (epsilon, delta, count), epsilon from 0 up.

    Returns
    -------
    tuple of float
        Epsilon and delta, rounded up.

    Raises
    ------
    BadType
        If parts is no sequence of sequences of real numbers.
    BadValue
        If a part has another length, or a number that is out of its range.

    Examples
    --------
    >>> basic_composition([(0.5, 0.0, 3), (0.25, 1e-6)])
    (1.75, 1e-06)
    """
    listed = checked_parts(parts)
    return exact_up(_total(listed, 0)), min(1.0, exact_up(_total(listed, 1)))


@overload
def advanced_composition(parts: Iterable[Sequence[Any]], delta: float) -> float: ...
@overload
def advanced_composition(parts: Iterable[Sequence[Any]], delta: "Floats") -> "Array": ...
def advanced_composition(parts: Iterable[Sequence[Any]], delta: Any) -> Any:
    """The epsilon that running all parts has at `delta`: the smaller of basic and advanced composition.

    Steinke 2022, Theorems 18 and 22.
    With s = sum epsilon^2 and d = delta - sum of the parts' deltas: s / 2 + sqrt(2 s log(1 / d)), or the sum of the
    epsilons, which also holds at d = 0 (erratum S-E18).  Below that nothing is proved and `Unsupported` is raised.  The parts
    may be chosen adaptively.

    Parameters
    ----------
    parts : iterable of tuple
        Each (epsilon, delta) or (epsilon, delta, count), epsilon from 0 up.
    delta : float or array_like
        A probability from 0 to 1.

    Returns
    -------
    float or ndarray
        Epsilon, rounded up.

    Raises
    ------
    BadType
        If parts is no sequence of sequences of real numbers, or the other argument no real number and no array of them.
    BadValue
        If a part has another length, or a number is out of its range.
    Unsupported
        If delta is below the sum of the parts' deltas.

    Examples
    --------
    >>> round(advanced_composition([(0.1, 0.0, 100)], delta=1e-6), 9), advanced_composition([(0.5, 0.0)], 0.0)
    (5.75652177, 0.5)
    """
    listed = checked_parts(parts)
    deltas, squares = _total(listed, 1), sum((Fraction(epsilon) ** 2 * times for epsilon, _, times in listed), Fraction(0))
    return _advanced(delta, exact_up(_total(listed, 0)), exact_up(squares), deltas)


@broadcast
def _advanced(delta: float, basic: float, squares: float, deltas: Fraction) -> float:
    left = Fraction(probability("delta", delta)) - deltas
    if left < 0:
        raise Unsupported(
            f"delta is {delta} and the parts' deltas sum to more, {exact_up(deltas)}: this theorem gives no epsilon there; "
            "optimal_composition_epsilon may."
        )
    if left == 0 or squares == math.inf:
        return basic
    log = -math.log(float(left)) if 2 * left < 1 else -math.log1p(-float(1 - left))
    advanced = 0.5 * squares + math.sqrt(2.0 * squares * log)
    return min(basic, up(advanced, 2.0 * FUNCTION * advanced))


def _total(parts: list[Part], place: int) -> Fraction:
    return sum((Fraction(part[place]) * part[2] for part in parts), Fraction(0))


def checked_parts(parts: Any) -> list[Part]:
    """The parts as (epsilon, delta, count)."""
    if isinstance(parts, str | bytes | dict | set | frozenset) or not isinstance(parts, Iterable):
        raise BadType(f"parts is {parts!r}; allowed: a sequence of (epsilon, delta) or (epsilon, delta, count).")
    return [_part(f"parts[{place}]", part) for place, part in enumerate(parts)]


def _part(name: str, part: Any) -> Part:
    allowed = "(epsilon, delta) or (epsilon, delta, count)"
    if isinstance(part, str | bytes | dict) or not isinstance(part, Iterable):
        raise BadType(f"{name} is {part!r}; allowed: {allowed}.")
    values = list(part)
    if len(values) not in (2, 3):
        raise BadValue(f"{name} has {len(values)} entries; allowed: {allowed}.")
    epsilon = non_negative(f"epsilon in {name}", values[0])
    delta = probability(f"delta in {name}", values[1])
    return epsilon, delta, count(f"count in {name}", values[2]) if len(values) == 3 else 1


@broadcast
def mean_error_lower_bound(examples: int, queries: int, epsilon: float, delta: float = 0.0) -> float:
    """The root mean square error per coordinate that no (epsilon, delta)-DP mean of `examples` binary vectors stays below.

    min(sqrt(queries) / (16 examples (e^epsilon - 1)), 1/10), reached on some data set, where a vector has `queries`
    entries and one vector may be replaced (Steinke 2022, Theorem 25, whose proof uses Lemma 27
    as corrected in erratum S-E1).  Needs delta <= 1 / (100 examples) and
    queries >= 200 (e^epsilon - 1)^2 examples, else `Unsupported`.

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
        A lower bound of the error, rounded down.

    Raises
    ------
    BadType
        If an argument is no real number and no array of them.
    BadValue
        If an argument is out of its range, or shapes do not broadcast.
    Unsupported
        If a hypothesis of the theorem does not hold.

    Examples
    --------
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
        raise Unsupported(
            f"queries is {queries}: the theorem needs at least 200 (e^epsilon - 1)^2 examples, which is {math.ceil(least):,}."
        )
    tenth = down(0.1)
    if odds == 0.0 or (error := math.sqrt(queries) / (16.0 * examples * odds)) > 1.0:
        return tenth
    return min(tenth, down(error, 2.0 * FUNCTION * error))


@broadcast
def sampled_mean_error(sigma: float, rate: float, examples: int) -> float:
    """sigma^2 + (1 - rate) / (rate * examples): the mean squared error of a noisy mean over a Poisson sample.

    Steinke 2022, section 6.6.
    The most it can be, for one number from 0 to 1 of each record and Gaussian noise of standard deviation sigma added to the sum
    over the sample divided by rate * examples.  With the whole data (rate 1) it is sigma^2.

    Parameters
    ----------
    sigma : float or array_like
        The standard deviation of the noise on the mean, from 0 up.
    rate : float or array_like
        The sampling rate, above 0, at most 1.
    examples : int or array_like
        The number of records, from 1 up.

    Returns
    -------
    float or ndarray
        The mean squared error, rounded up.

    Raises
    ------
    BadType
        If an argument is no real number and no array of them.
    BadValue
        If an argument is out of its range, or shapes do not broadcast.

    Examples
    --------
    >>> round(sampled_mean_error(sigma=0.01, rate=0.1, examples=10_000), 9)
    0.001
    """
    sigma, rate, number = non_negative("sigma", sigma), checked_rate("rate", rate), count("examples", examples, least=1)
    if rate == 0.0:
        raise BadValue("rate is 0.0; allowed: a probability above 0, at most 1.")
    return exact_up(Fraction(sigma) ** 2 + (1 - Fraction(rate)) / (Fraction(rate) * number))
