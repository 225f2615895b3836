"""Many questions of one run: a contour made for one epsilon serves those near it.

The proofs of a contour hold at every epsilon; only their width grows with the distance from the one it was made for.  So the
middle one of the questions gets a contour, those that it answers closely are done, and the ones left of them and right of them
are answered in the same way.  What a contour does not answer closely is asked by itself.
"""

import math
from collections.abc import Callable, Sequence

import numpy as np

from ..numerics.rounding import FUNCTION, UNIT
from ..numerics.series import Array
from .certain import Interval
from .composed import ComposedLoss
from .contour import TOLERANCE, Contour, Saddle
from .engine import epsilon_interval, has_closed, log_delta_interval
from .noise import TooFine
from .renyi import RenyiLoss

_STEPS = 6  # of Newton's method
_FEW = 4  # questions that are not worth a contour of their own
_CLOSE, _CLOSER = 1e-9, 1e-11  # widths in log delta of a contour that is of use, and with which one is content
_NEAR_ONE = -1e-3  # log delta above which 1 - delta is what counts


def log_delta_intervals(run: ComposedLoss, epsilons: Sequence[float]) -> list[Interval]:
    """Both ends of log delta at each epsilon."""
    found: dict[float, Interval] = {}

    def answer(contour: Contour, wanted: list[float]) -> tuple[Array, Array]:
        low, high = _ends(contour, np.array(wanted))
        return low, np.where(high < _NEAR_ONE, high, math.inf)

    if len(epsilons) >= _FEW and _shares(run):
        _share(run, sorted({one for one in epsilons if abs(one) < math.inf}), Saddle.of_epsilon, answer, lambda _: 1.0, found)
    alone = len(epsilons) == 1
    return [found[one] if one in found else log_delta_interval(run, one, alone) for one in epsilons]


def epsilon_intervals(run: ComposedLoss, deltas: Sequence[float]) -> list[Interval]:
    """Both ends of the smallest epsilon for each delta."""
    found: dict[float, Interval] = {}

    def answer(contour: Contour, wanted: list[float]) -> tuple[Array, Array]:
        goal = np.array(wanted)
        slack = FUNCTION * np.abs(goal)
        epsilon = contour.saddle.epsilon + (contour.saddle.log_delta - goal) / contour.c
        for _ in range(_STEPS):  # by Newton's method
            value, slope, error = _estimates(contour, epsilon)
            epsilon = epsilon + (goal - value) / np.minimum(slope, -1e-3 * contour.c)
        ahead = (2.0 * error + 2.0 * slack + 1e-15 * np.abs(goal)) / contour.c
        low, high = epsilon - ahead, epsilon + ahead
        sure = (_ends(contour, low)[0] >= goal + slack) & (_ends(contour, high)[1] <= goal - slack) & (low > 0.0)
        return low, np.where(sure, high, math.inf)

    if len(deltas) >= _FEW and _shares(run):
        wanted = sorted({math.log(one) for one in deltas if 0.0 < one < 1.0}, reverse=True)
        _share(run, wanted, Saddle.of_delta, answer, lambda contour: contour.c, found)
    out = []
    for one in deltas:
        ends = found.get(math.log(one)) if 0.0 < one < 1.0 else None
        out.append(ends or epsilon_interval(run, one))
    return out


def _estimates(contour: Contour, epsilons: Array) -> tuple[Array, Array, Array]:
    """`Contour.estimate` and `Contour.error` for many epsilons."""
    angle = contour.u[:, None] * (epsilons - contour.anchor)
    cosine, sine = np.cos(angle), np.sin(angle)
    real, imaginary = contour.weights.real, contour.weights.imag
    total = np.maximum(real @ cosine + imaginary @ sine, 1e-300)
    swing = (imaginary * contour.u) @ cosine - (real * contour.u) @ sine
    value = np.array(contour.fixed)[:, None] - contour.c * epsilons + np.log(total)
    best = value.argmax(axis=0)[None, :]
    lost = contour.sum_error[0] + contour.dropped + 2.0 * math.exp(-TOLERANCE)
    size = 16.0 * UNIT * (np.abs(contour.c * epsilons) + abs(contour.saddle.log_delta))
    slope = np.take_along_axis(swing / total, best, 0)[0] - contour.c
    return np.take_along_axis(value, best, 0)[0], slope, (contour.height_error[0] + lost / total[0]) * 1.001 + size


def _ends(contour: Contour, epsilons: Array) -> tuple[Array, Array]:
    """`Contour.lower` and `Contour.upper` for many epsilons; every ordered pair is laid."""
    c, span = contour.c, 2.0 * math.pi / contour.step
    moved, size = epsilons - contour.anchor, np.abs(epsilons)
    angle = contour.u[:, None] * moved
    total = contour.weights.real @ np.cos(angle) + contour.weights.imag @ np.sin(angle)
    scale = np.array(contour.fixed)[:, None] - c * epsilons
    error = np.array(contour.height_error)[:, None] + (8.0 * UNIT) * (np.abs(scale) + abs(c) * size)
    lost = (
        np.array(contour.sum_error)[:, None] + np.array(contour.lever)[:, None] * (4.0 * UNIT * np.abs(moved)) + contour.dropped
    )
    ahead = np.array(contour.forward)
    levels = np.array(contour.forward_log)[:, :, None] - ahead[:, None] * epsilons
    slack = (8.0 * UNIT) * (abs(contour.forward[-1]) * size + contour.forward_size)
    high = np.minimum(levels.min(axis=1) + slack, scale + error + np.log(np.maximum(total + lost, 1e-300)))
    far = span * np.abs(ahead[1:] - c)
    aliased = (levels[:, 1:] - far[:, None]).min(axis=1) + (slack + 8.0 * UNIT * float(far[-1]))
    near = float(far[0]), span * abs(c)
    if not min(near) > 0.0:
        return np.full(epsilons.shape, -math.inf), high.max(axis=0)
    beyond = np.exp(np.minimum(aliased - scale, 700.0)) * ((1.0 + 1e-9) / -math.expm1(-near[0]))
    before = np.exp(np.minimum(-near[1] - scale, 700.0)) * ((1.0 + 1e-9) / -math.expm1(-near[1]))
    rest = total - lost - (beyond + before)
    low = np.where(rest > 0.0, scale - error + np.log(np.maximum(rest, 1e-300)), -math.inf)
    return low.max(axis=0), high.max(axis=0)


def _shares(run: ComposedLoss) -> bool:
    """Whether the contour is what answers, and nothing is added to it."""
    plain = run.exact and bool(run.terms) and not any(isinstance(loss, RenyiLoss) for loss, _ in run.terms)
    return plain and run.fades and not run.ends and run.log_stray == -math.inf and not has_closed(run)


def _share(
    run: ComposedLoss,
    wanted: list[float],
    saddle: Callable[[ComposedLoss, float], Saddle],
    answer: Callable[[Contour, list[float]], tuple[Array, Array]],
    slope: Callable[[Contour], float],
    found: dict[float, Interval],
) -> None:
    """Answers those of the questions, in order, that contours answer closely."""
    if len(wanted) < _FEW:
        return
    middle = len(wanted) // 2
    first, last = middle, middle + 1
    try:
        contour = Contour(run, saddle(run, wanted[middle]))
        if contour.lay(every=True):
            with np.errstate(all="ignore"):  # far from the middle nothing need come of it
                low, high = answer(contour, wanted)
            width = (high - low) * slope(contour)
            close = width <= min(max(4.0 * float(width[middle]), _CLOSER), _CLOSE)
            if close[middle]:
                far = np.nonzero(~close)[0]
                place = int(far.searchsorted(middle))
                first = int(far[place - 1]) + 1 if place else 0
                last = int(far[place]) if place < far.size else len(wanted)
                ends = zip(low[first:last].tolist(), high[first:last].tolist(), strict=True)
                found.update(zip(wanted[first:last], ends, strict=True))
    except TooFine:
        pass
    _share(run, wanted[:first], saddle, answer, slope, found)
    _share(run, wanted[last:], saddle, answer, slope, found)
