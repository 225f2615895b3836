"""The most repetitions of a step within a budget (Question Two of Asoodeh et al. 2020, for any release), alone or after a run."""

import math
from collections.abc import Callable
from typing import Any, NamedTuple, Unpack

from .. import checks
from ..errors import BadType, Unreachable
from ..mechanism.release import Release
from .target import Others, Target, Wanted

MOST = 10**12


class Budget(NamedTuple):
    """What must stay within its limit: a certified upper bound of some measure that grows with the number of rounds."""

    measure: Callable[[Release], float]
    limit: float

    def spent(self, release: Release) -> float:
        """The measure over its limit: at most 1 if the release is within the budget."""
        value = self.measure(release)
        if value <= self.limit:
            return min(value / self.limit, 1.0) if self.limit else 1.0
        return max(value / self.limit, math.nextafter(1.0, 2.0)) if self.limit else math.inf


def rounds(step: Release, epsilon: float | None = None, delta: float | None = None, **target: Unpack[Others]) -> int:
    """The largest T for which `step * T` is certainly within a target; 0 if not even one is.

    The step is any release, also a whole run.  The target is `epsilon, delta` or another that `calibrate` knows.  If it
    holds for more than 10**12 rounds, or for any number of them since the step gives nothing away, `Unreachable` says so.

    Parameters
    ----------
    step : Release
        What is repeated.
    epsilon : float, optional
        The largest epsilon, from 0 up, at `delta`.
    delta : float, optional
        A probability from 0 to 1: that of epsilon, or of mu.
    **target : float
        Instead of epsilon another limit: `epsilon` and `delta`, `mu` (and `delta`), `rho`, `advantage`, `tpr` and `fpr`, or
        `bayes_risk` and `prior`; with `neighbours` if it is for another relation than the release states.

    Returns
    -------
    int
        The largest count that is certainly within the target; 0 if there is none.

    Raises
    ------
    BadType
        If step is no release, or a limit is no real number.
    BadValue
        If not exactly one target is given, a limit is out of its range, or neighbours no relation.
    Unreachable
        If the largest count that can be asked is within the target.
    Unsupported
        If no theorem covers the step under this relation.

    Examples
    --------
    >>> import hockeystick as hs
    >>> rounds(hs.Gaussian(sigma=20.0), epsilon=6.0, delta=1e-5)
    685
    """
    goal = Target.of(epsilon=epsilon, delta=delta, **target)
    return most_rounds(_checked("step", step), goal, f"within {goal}")


def remaining(run: Release, step: Release, **target: Unpack[Wanted]) -> int:
    """The largest T for which `run + step * T` is certainly within a target; `Unreachable` if the run itself is not.

    Parameters
    ----------
    run : Release
        What was spent already.
    step : Release
        What is repeated after it.
    **target : float
        A limit: `epsilon` and `delta`, `mu` (and `delta`), `rho`, `advantage`, `tpr` and `fpr`, or `bayes_risk` and `prior`;
        with `neighbours` if it is for another relation than the release states.

    Returns
    -------
    int
        The largest count that is certainly within the target; 0 if there is none.

    Raises
    ------
    BadType
        If run or step is no release, or a limit is no real number.
    BadValue
        If not exactly one target is given, a limit is out of its range, or neighbours no relation.
    Unreachable
        If the run alone is beyond the target, or the largest count that can be asked within it.
    Unsupported
        If no theorem covers the run or the step under this relation.

    Examples
    --------
    >>> import hockeystick as hs
    >>> remaining(hs.Gaussian(sigma=20.0) * 600, hs.Gaussian(sigma=20.0), epsilon=6.0, delta=1e-5)
    85
    """
    goal = Target.of(**target)
    if not goal.holds(_checked("run", run)):
        raise goal.over(run)
    return most_rounds(_checked("step", step), goal, f"within {goal}", run)


def _checked(name: str, release: Any) -> Release:
    if not isinstance(release, Release):
        raise BadType(f"{name} is {release!r}; allowed: a release such as Gaussian(sigma=2.0).")
    return release


def most_rounds(step: Release, budget: "Budget | Target", what: str, already: Release | None = None) -> int:
    """The largest count within a budget, by few questions: secants of log spent against log count, else halving."""
    largest = min(MOST, checks.MOST_STEPS // max((count for _, count in step.parts), default=1))

    def spent(count: int) -> float:
        return budget.spent(step * count if already is None else already + step * count)

    if not step.parts or spent(largest) <= 1.0:
        raise Unreachable(
            f"{largest:,} rounds of {step!r} are still {what}: no number of rounds up to there spends this budget.  "
            "Take it as no limit, or ask for a smaller budget."
        )
    low, high = 0, largest
    at_low, at_high = 0.0, math.inf
    count, stuck = 1, 0
    while high - low > 1:
        found = spent(count)
        width = high - low
        if found <= 1.0:
            low, at_low = count, found
        else:
            high, at_high = count, found
        stuck = stuck + 1 if high - low > width // 2 and high < largest else 0
        count = _next(low, at_low, high, at_high, stuck)
    return low


def _next(low: int, at_low: float, high: int, at_high: float, stuck: int) -> int:
    """A count strictly between the two."""
    if low == 0:
        guess = math.isqrt(high)
    elif stuck >= 2 or not 0.0 < at_low < at_high < math.inf:
        # nothing is known above: what grows at least like the square root is spent by then
        guess = math.isqrt(low * high) if high > 4 * low else (low + high) // 2
        if math.isinf(at_high) and at_low > 0.0:
            guess = min(guess, math.ceil(low * min(at_low**-2.0, 1e6)) + 1)
    else:
        slope = math.log(at_high / at_low) / math.log(high / low)
        guess = math.floor(low * math.exp(-math.log(at_low) / slope)) + (stuck & 1)
    return min(max(guess, low + 1), high - 1)
