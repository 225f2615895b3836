"""Epsilon of many runs of sampled Gaussian steps at once, by the compiled core or in array operations: what a sweep asks.

In array operations: the same proofs as for one run (`noise.py`, `sampled_decay.py`, `contour.py`; docs/mathematics.md, sections
3 and 4), with the runs along the first axis and the ordered pairs along the second.  Grids of z and of u are as long as the
longest of a chunk.  The sums of e^{kL} - 1 are less careful than those for one run (their errors are relative to |k L|, not to
its square), and runs that need many nodes or very many steps are not answered: what is not proved to `_CLOSE` is left to be
asked by itself.
"""

import math

import numpy as np
import numpy.typing as npt

from ...native import ORDERED, core
from ...numerics.cancellation_free import Array
from ..composed import LEFT
from ..contour.contour import FORWARD, SHARES
from .batch_grid import NARROW, Nodes, Runs, coarse_lead, lay, span
from .batch_line import Line

_CLOSE = 1e-9  # relative
_CHUNK, _PIECE, _TABLE = 64, 32, 400_000
_HEAVY = 200_000  # nodes of u times those of z: left of the saddle there may be fewer
_SETTLED = 1e-3  # of log c


def alike() -> bool:
    """Whether many runs are told as each of them by itself, to the last bit."""
    return core is not None


def sampled_epsilons(runs: Runs, removals: tuple[bool, ...]) -> tuple[Array, Array]:
    """Both ends of epsilon of each run, the largest over the ordered pairs; NaN where it is not proved closely."""
    low, high = np.full(runs.noise.shape, math.nan), np.full(runs.noise.shape, math.nan)
    if core is not None:
        orders = ORDERED.index(removals) + 1
        core.epsilons(runs.noise, runs.rate, runs.noise_error, runs.count, orders, runs.log_delta, low, high)
        return low, high
    with np.errstate(all="ignore"):  # what is not finite is not proved
        guess = _first_guess(runs)
        size = _extent(runs, guess)
        order = np.argsort(np.where(np.isfinite(size), size, math.inf))
        order = order[size[order] < NARROW]
        for at in range(0, order.size, _CHUNK):
            chunk = order[at : at + _CHUNK]
            ends = _chunk(runs.pick(chunk), guess[chunk], np.array(removals))
            close = (ends[0] > 0.0) & (ends[1] - ends[0] <= _CLOSE * ends[1])
            low[chunk], high[chunk] = np.where(close, ends[0], math.nan), np.where(close, ends[1], math.nan)
    return low, high


def _first_guess(runs: Runs) -> Array:
    """Where the search for the saddle point begins."""
    variance = runs.count * runs.rate**2 * np.expm1(np.minimum(runs.noise**-2, 30.0))
    knee = 2.0 * runs.noise**2 * (1.0 - np.log(runs.rate)) + 1.0
    start: Array = np.minimum(np.sqrt(2.0 * np.maximum(-runs.log_delta, 1.0) / variance), knee)
    return start


def _cut_step(noise: Array, least: Array, lead: Array) -> Array:
    return math.pi / np.sqrt(lead * (0.5 + (0.5 * np.minimum(noise, 4.0)) ** -2 - 0.125 * least / noise**2))


def _extent(runs: Runs, c: Array) -> Array:
    """About how many nodes of z a run needs."""
    lead = coarse_lead(runs, c)
    low, high = span(runs, c, 2.0 * c, lead)
    return (high - low) / _cut_step(runs.noise, -1.0 - c, lead)


def _coarse(runs: Runs, c: Array, ahead: Array) -> Nodes:
    lead = coarse_lead(runs, c)
    return lay(runs.noise, runs.rate, *span(runs, c, ahead, lead), _cut_step(runs.noise, -1.0 - c, lead), 1.15 * c)


def _expand(nodes: Nodes, k: Array) -> tuple[Array, Array, Array]:
    """log M and its two derivatives at real k, to a few digits."""
    weight = np.exp(k[:, None] * nodes.ratio + nodes.base)
    plain = np.exp(nodes.base)
    mass = plain.sum(axis=1)
    drift = (plain * np.expm1(np.minimum(nodes.ratio, 600.0))).sum(axis=1)
    pulled = weight * nodes.ratio
    excess = weight.sum(axis=1) - mass - k * drift
    total = 1.0 + excess
    lean = (pulled.sum(axis=1) - drift) / total
    return np.log1p(excess), lean, np.maximum((pulled * nodes.ratio).sum(axis=1) / total - lean * lean, 1e-300)


def _saddle(runs: Runs, c: Array, nodes: Nodes, steps: int) -> Array:
    """As `ComposedLoss.saddle_of_delta`; by Newton's method in log c, within a bracket."""
    x = np.log(c)
    lower, upper = np.full(c.shape, -math.inf), np.full(c.shape, math.inf)
    for _ in range(steps):
        c = np.exp(x)
        k0, k1, k2 = (runs.count * one for one in _expand(nodes, 1.0 + c))
        share = c / (1.0 + c)
        bend = c * c * k2 + 1.0 + share * share
        large = x - 0.5 * np.log(2.0 * math.pi * bend) - LEFT
        cost = c * k1 - k0 + x + np.log1p(c) - 1.0 - share - np.maximum(large, 0.0)
        slope = bend - np.where(large > 0.0, (1.0 + share**3) / bend, 0.0)
        over = cost + runs.log_delta > 0.0
        lower, upper = np.where(over, lower, x), np.where(over, x, upper)
        bent = np.log(np.maximum(-cost / runs.log_delta, 1e-300)) * cost / slope
        step = np.where(cost > 0.0, bent, (cost + runs.log_delta) / slope)
        following = x - np.clip(step, -1.0, 1.0)
        middle = 0.5 * (lower + upper)
        x = np.where((following > lower) & (following < upper) | ~np.isfinite(middle), following, middle)
        if float(np.abs(step).max()) < _SETTLED:
            break
    return np.exp(x)


def _chunk(runs: Runs, c: Array, removal: npt.NDArray[np.bool_]) -> tuple[Array, Array]:
    nodes = _coarse(runs, c, 2.0 * c)
    found = _saddle(runs, c, nodes, 20)
    lost = ~(_extent(runs, found) < NARROW)
    c = np.where(lost, c, found)
    value, _, bend = (runs.count * one for one in _expand(nodes, 1.0 + c))
    width = 1.0 / np.sqrt(bend + c**-2.0 + (1.0 + c) ** -2.0)
    nodes = _coarse(runs, c, c + FORWARD[-1] * width)
    c = (1.0 + _saddle(runs, c, nodes, 2)) - 1.0  # 1 + c is exact
    value, _, bend = (runs.count * one for one in _expand(nodes, 1.0 + c))
    bend = bend + c**-2.0 + (1.0 + c) ** -2.0
    width = 1.0 / np.sqrt(bend)
    epsilon = (value - np.log(c) - np.log1p(c) - 0.5 * np.log(2.0 * math.pi * bend) - runs.log_delta) / c
    line = Line(runs, removal, c, width, epsilon, nodes)
    light = line.fits & ~lost & (line.work <= _HEAVY)
    low, high = _ends(line, light)
    for share in SHARES:  # left of the saddle, as `Saddle.back`
        rest = np.nonzero(~lost & ~(high - low <= _CLOSE * high))[0]
        if rest.size:
            other = _back(line.pick(rest), share)
            low[rest], high[rest] = _ends(other, other.fits & (other.work <= _HEAVY))
    heavy = line.fits & ~lost & ~light & ~(high - low <= _CLOSE * high)
    ends = _ends(line, heavy)
    return np.where(heavy, ends[0], low), np.where(heavy, ends[1], high)


def _back(line: Line, share: float) -> Line:
    """The contours of the same runs nearer to 0, with these ones among the places where K is bounded ahead."""
    c = (1.0 + share * line.c) - 1.0
    nodes = _coarse(line.runs, c, line.c)
    _, _, bend = (line.runs.count * one for one in _expand(nodes, 1.0 + c))
    width = np.minimum(1.0 / np.sqrt(bend + c**-2.0 + (1.0 + c) ** -2.0), (line.c - c) / FORWARD[2])
    return Line(line.runs, line.removal, c, width, line.epsilon, nodes)


def _ends(line: Line, which: npt.NDArray[np.bool_]) -> tuple[Array, Array]:
    """Both ends of epsilon of these runs, NaN for the others; those that take about as much work together."""
    low, high = np.full(line.c.shape, math.nan), np.full(line.c.shape, math.nan)
    order = np.nonzero(which)[0]
    order = order[np.argsort(line.work[order])]
    at = order.size
    while at > 0:  # the longest first
        count = min(at, max(4, min(_PIECE, int(_TABLE / line.work[order[at - 1]]))))
        piece = order[at - count : at]
        low[piece], high[piece] = line.pick(piece).ends()
        at -= count
    return low, high
