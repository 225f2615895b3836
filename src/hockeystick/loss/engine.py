"""The one place that chooses how a composed loss is answered, and joins the proofs into an interval.

Closed form where there is one (Gaussian noise alone; a single step), else the contour.  What holds for every run bounds
the answer from both sides where the contour proves too little:

    delta(eps) >= delta of any step of the run;  >= 1 - e^eps;  >= P(Z = ceiling) (1 - e^{eps - ceiling})
    delta(eps) <= sum of the steps' delta(0) + max(0, 1 - e^eps);  = 0 from the ceiling on;  <= 1
    delta(eps) <= that of the run with every sampled step replaced by the step itself (sampling is post-processing:
                  a fresh draw of the noise stands in for the answer with probability 1 - q)
"""

import math
from collections.abc import Callable

import numpy as np

from ..numerics.roots import increasing_root
from ..numerics.rounding import FUNCTION, LARGEST, UNIT, down, up
from .composed import ComposedLoss
from .contour import Contour, Saddle
from .cumulant import Closed
from .gaussian import GaussianLoss
from .noise import TooFine
from .sampled import SampledGaussianLoss

Interval = tuple[float, float]
_FAR = 1e120  # no question is asked of the engines beyond this epsilon


def log_delta_interval(run: ComposedLoss, epsilon: float, floor: float = -math.inf) -> Interval:
    """Both ends of log delta(epsilon).  If it is surely at most `floor`, the upper end may be anything up to that."""
    low, high = _certain(run, epsilon)
    if not run.terms or high - low < 1e-14:
        return low, high
    if epsilon > _FAR:
        return -math.inf, log_delta_interval(run, _FAR, floor)[1]  # delta falls in epsilon
    closed = _closed(run, epsilon)
    if closed is not None:
        low, high = max(low, down(closed.value, closed.error)), min(high, up(closed.value, closed.error))
    elif high > max(low, floor):
        try:
            contour = Contour(run, Saddle.of_epsilon(run, epsilon))
            high = min(high, contour.markov(epsilon))
            if high > floor and contour.lay():
                low, high = max(low, contour.lower(epsilon)), min(high, contour.upper(epsilon))
            if low < -1e-3 and high > -0.5:
                low = max(low, _near_one(run, epsilon))
        except TooFine:
            high = min(high, log_delta_interval(_unsampled(run), epsilon)[1])
        if low < high - 1e-9:
            low = max(low, _at_least(run, epsilon))
    return min(low, high), high if high == -math.inf else max(high, -LARGEST)


def epsilon_interval(run: ComposedLoss, delta: float, floor: float = 0.0) -> Interval:
    """Both ends of the smallest epsilon >= 0 with delta(epsilon) <= delta.

    If it is surely at most `floor`, the upper end may be anything up to that.
    """
    if delta >= 1.0 or not run.terms:
        return 0.0, 0.0
    ceiling = run.ceiling
    if delta == 0.0:
        return ceiling * (1.0 - 8.0 * FUNCTION - 2.0 * len(run.terms) * UNIT), ceiling
    log_delta = math.log(delta)
    slack = FUNCTION * abs(log_delta)
    target = log_delta - slack, log_delta + slack  # surely below and above log(delta)
    if _certain(run, 0.0)[1] <= target[0]:
        return 0.0, 0.0
    low, high = 0.0, ceiling
    try:
        low, high = _solve(run, log_delta, target, floor)
    except TooFine:
        high = epsilon_interval(_unsampled(run), delta)[1]
    if high > floor and low < high * (1.0 - 1e-9):
        low = max(low, _epsilon_at_least(run, log_delta, target[1]))
    high = max(0.0, min(high, ceiling))
    return max(0.0, min(low, high)), high


def _closed(run: ComposedLoss, epsilon: float) -> Closed | None:
    """The closed form, if the run has one."""
    if len(run.terms) == 1:
        loss, count = run.terms[0]
        if count == 1:  # Gaussian parts are one step, whatever their number
            return loss.closed(epsilon)
    return None


def _certain(run: ComposedLoss, epsilon: float) -> Interval:
    """What holds for every run: bounds of log delta(epsilon)."""
    if epsilon >= run.ceiling:
        return -math.inf, -math.inf
    least = total = 0.0
    if epsilon < 0.0:
        least = total = -math.expm1(max(epsilon, -800.0))
    low = math.log(least) - 2.0 * FUNCTION if least else -math.inf
    if not run.terms:
        return low, (min(0.0, low + 4.0 * FUNCTION) if least else -math.inf)
    for loss, count in run.terms:
        single = loss.closed(0.0)
        total += math.inf if single is None else count * math.exp(single.value + single.error)
        if total > 1.0:
            break
    return low, min(0.0, math.log(total) + len(run.terms) * UNIT + 4.0 * FUNCTION)


def _at_least(run: ComposedLoss, epsilon: float) -> float:
    """A lower bound of log delta(epsilon) from single steps and from the largest loss."""
    low = -math.inf
    for loss, _ in run.terms:
        single = loss.closed(epsilon)
        if single is not None:
            low = max(low, single.value - single.error)
    if epsilon < run.ceiling * (1.0 - 1e-12) and run.log_top_mass > -math.inf:
        low = max(low, run.log_top_mass + math.log(-math.expm1(epsilon - run.ceiling * (1.0 - 1e-13))) - 4.0 * FUNCTION)
    return low


def _epsilon_at_least(run: ComposedLoss, log_delta: float, target: float) -> float:
    """An epsilon at which single steps, or the largest loss, already have delta(epsilon) >= delta."""
    low, high = 0.0, min(run.ceiling, 1e300)
    if _at_least(run, 0.0) < target:
        return 0.0
    for _ in range(1100):
        if high - low <= 1e-9 * high:
            break
        middle = 0.5 * (low + high) if low > 0.25 * high else max(math.sqrt(max(low, 1e-12) * high), 1e-12)
        if _at_least(run, middle) >= target:
            low = middle
        else:
            high = middle
    return low


def _near_one(run: ComposedLoss, epsilon: float) -> float:
    """A lower bound of log delta where it is nearly 0: 1 - delta = E min(1, e^{eps - Z}) <= e^{K(-t) + t eps}, 0 <= t <= 1."""
    _, mean, variance = run.expand(0.0)
    t = min(0.5, max((mean - epsilon) / variance, 1e-6))
    bound = float(run.slice(-t, -t, 0.0).above(np.array([-t]))[0]) + t * epsilon + 8.0 * UNIT * abs(epsilon)
    return math.log1p(-math.exp(bound)) - FUNCTION if bound < -1e-9 else -math.inf


def _unsampled(run: ComposedLoss) -> ComposedLoss:
    """The run with every sampled Gaussian step replaced by the Gaussian step itself, which dominates it."""
    squares, rest = [], []
    for loss, count in run.terms:
        if isinstance(loss, SampledGaussianLoss):
            squares.append(count / loss.shape.noise**2)
        elif isinstance(loss, GaussianLoss):
            squares.append(count * loss.square)
        else:
            rest.append((loss, count))
    return ComposedLoss(((GaussianLoss(math.fsum(squares)), 1), *rest))


def _solve(run: ComposedLoss, log_delta: float, target: Interval, floor: float) -> Interval:
    closed = _closed(run, 0.0)
    if closed is not None and closed.error < 1.0:
        return _solve_closed(run, log_delta, target)
    saddle = Saddle.of_delta(run, log_delta)
    contour = Contour(run, saddle)
    top = contour.markov_epsilon(target[0])
    if top <= floor or not contour.lay():
        return 0.0, top

    def gap(epsilon: float) -> tuple[float, float]:
        value, slope = contour.estimate(epsilon)
        return log_delta - value, -slope

    guess = increasing_root(gap, saddle.epsilon, enough=lambda _, step: abs(step) * saddle.c < 1e-8, steps=30)
    ahead = contour.error(guess) + target[1] - target[0]  # about where the proofs will end
    return (
        _certify(lambda e: contour.lower(e) - target[1], guess - ahead / saddle.c, -saddle.c),
        min(top, _certify(lambda e: target[0] - contour.upper(e), guess + ahead / saddle.c, saddle.c)),
    )


def _solve_closed(run: ComposedLoss, log_delta: float, target: Interval) -> Interval:
    def at(epsilon: float) -> Closed:
        found = _closed(run, epsilon)
        return Closed(-LARGEST, math.inf, -math.inf) if found is None else found

    def gap(epsilon: float) -> tuple[float, float]:
        value, _, slope = at(epsilon)
        return max(log_delta - value, -LARGEST), -slope

    if at(0.0).value <= log_delta:
        guess = 0.0
    else:
        _, mean, variance = run.expand(0.0)
        start = min(mean + math.sqrt(-2.0 * log_delta * variance), run.ceiling * 0.5)
        guess = increasing_root(gap, start, lower=0.0, upper=run.ceiling)
    slope = -at(guess).slope

    def below(epsilon: float) -> float:
        found = at(epsilon)
        return found.value - found.error - target[1]

    def above(epsilon: float) -> float:
        found = at(epsilon)
        return target[0] - found.value - found.error

    return _certify(below, guess, -slope), _certify(above, guess, slope)


def _certify(margin: Callable[[float], float], guess: float, pace: float) -> float:
    """From a guess, go in the direction of pace's sign until the margin is not negative; it grows about as fast as |pace|."""
    point = guess
    if not abs(pace) > 0.0:
        return math.copysign(math.inf, pace)
    for attempt in range(60):
        gap = margin(point)
        if gap >= 0.0:
            return point
        if math.isinf(gap):
            break
        point -= gap / pace * (1.0 + 1e-6 + 0.1 * attempt)
        point = math.nextafter(point, math.copysign(math.inf, pace))
    return math.copysign(math.inf, pace)
