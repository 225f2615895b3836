"""Grids of z for many sampled Gaussian steps at once: as `noise.Grid`, the steps along the first axis."""

import math
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import numpy.typing as npt

from ...numerics.cancellation_free import Array
from ...numerics.normal import LOG_ROOT_TWO_PI
from ..sampled.quadrature import CAP, beyond_cap

NARROW = 1600  # nodes of a grid
_BOUNDS = 14.0  # -log of the rule's error times the count
_NEAR, _FAR = np.arange(33) * (1.0 / 32.0), np.arange(1, 13) * (1.0 / 12.0)
_ANGLES = 0.5 ** np.arange(5)[:, None]


@dataclass
class Runs:
    """count steps of noise multiplier `noise` and sampling rate `rate` each, and log delta; one entry for each run."""

    noise: Array
    noise_error: Array
    rate: Array
    count: Array
    log_delta: Array

    def pick(self, which: npt.NDArray[Any]) -> "Runs":
        return Runs(*(getattr(self, one.name)[which] for one in fields(self)))


@dataclass
class Nodes:
    """Equally spaced z and what `noise.Grid` has at them; `angle` is the strip for real exponents down to -least."""

    z: Array
    ratio: Array
    share: Array
    base: Array
    step: Array
    low: Array
    high: Array
    angle: Array


def lay(noise: Array, rate: Array, low: Array, high: Array, step: Array, least: Array) -> Nodes:
    """Nodes from low to high, so many that every step is at most the one given."""
    count = int(np.nanmax((high - low) / step)) + 2
    step = (high - low) / (count - 1)
    unit = np.ldexp(1.0, np.frexp(step)[1] - 30)  # so that places are exact: `exact_places`
    low, step = np.floor(low / unit) * unit, np.floor(step / unit) * unit
    z = low[:, None] + step[:, None] * np.arange(count)
    s, q = noise[:, None], rate[:, None]
    t = z / s - 0.5 / s**2
    capped = np.minimum(t, CAP)
    grown = q * np.exp(capped)
    total = grown + (1.0 - q)
    excess = q * np.expm1(capped)
    ratio = np.where(excess < -0.5, np.log(total), np.log1p(np.maximum(excess, -0.5)))
    ratio, share = beyond_cap(t, q, ratio, grown / total)
    base = (np.log(step) - LOG_ROOT_TWO_PI)[:, None] - 0.5 * z * z
    angle = np.minimum(2.0 * math.pi * noise / (step * (noise**2 + 0.25 * least)), 2.5)
    return Nodes(z, ratio, share, base, step, z[:, 0], z[:, -1], angle)


def log_tail(x: Array) -> Array:
    """An upper bound of log P(N > x)."""
    return np.where(x >= 0.0, -0.5 * x * x - math.log(2.0), 0.0)


def _ratio(noise: Array, rate: Array, z: Array) -> Array:
    """L(z), to a few digits less than all."""
    return np.logaddexp(np.log(rate) + z / noise - 0.5 / noise**2, np.log1p(-rate))


def edge(noise: Array, rate: Array, k: Array, lead: Array) -> Array:
    """About the z right of which e^{kL} integrates to e^-lead, k > 0."""
    peak = k / noise
    z = peak + np.sqrt(2.0 * lead) + 1.0
    for _ in range(5):
        height = k * (_ratio(noise, rate, z) - z / noise) + 0.5 * peak * peak + lead
        z = peak + np.sqrt(2.0 * np.maximum(height, 1.0))
    found: Array = np.maximum(z, 0.5 / noise)
    return found


def log_rule(nodes: Nodes, noise: Array) -> Array:
    """log of the relative error of the rule for e^{kL}, k >= 0 (`Grid.rule`)."""
    a = nodes.angle * noise
    alias = 2.0 * math.pi * a / nodes.step
    return math.log(2.0) + 0.5 * a * a - alias - np.log1p(-np.exp(-alias)) + 1e-9


def log_outside(nodes: Nodes, noise: Array, rate: Array, k: Array) -> Array:
    """log of a bound of what the nodes beyond both ends would add to the sum of e^{kL} (`Grid.outsides`); k has three axes."""
    low, high, s = (one[:, None, None] for one in (nodes.low, nodes.high, noise))
    first, last, floor = (one[:, None, None] for one in (nodes.ratio[:, 0], nodes.ratio[:, -1], np.log1p(-rate)))
    left, shift = log_tail(-low), k / s
    right = k * last + shift * (0.5 * shift - high) + log_tail(high - shift)
    rising = np.maximum(left + k * first, right)
    return np.where(k > 0.0, rising, np.maximum(left + k * floor, log_tail(high))) + 1.6


def longest_step(noise: Array, rate: Array, c: Array, level: Array, lead: Array, reach: Array, low: Array) -> tuple[Array, Array]:
    """The longest step whose error is below e^(level - lead) for exponents of real parts from -1.15 c to 1 + c and imaginary
    parts up to `reach`, and log of a bound of that error (`Grid._choose_step`); NaN if there is none."""
    least, most, floor = -1.15 * c, 1.0 + c, np.log1p(-rate)
    widest = np.minimum(np.sqrt(2.0 * lead) / noise, 2.8)
    lean = most / noise
    near, far = (np.maximum(lean + np.sqrt(lean**2 + 2.0 * x), 1.0) for x in (lead, lead + reach * widest))
    near, far = np.maximum(near, low + 1.0), np.maximum(far, low + 1.0)
    first = low[:, None] + (near - low)[:, None] * _NEAR
    z = np.concatenate((first, near[:, None] * (far / near)[:, None] ** _FAR), axis=1)
    odds = z / noise[:, None] + (np.log(rate) - floor - 0.5 / noise**2)[:, None]  # log of r/(1 - r)
    lift = np.logaddexp(0.0, odds)
    ratio, share = lift + floor[:, None], np.exp(odds[:, 1:] - lift[:, 1:])[:, None]
    angles = widest[:, None, None] * _ANGLES
    nearest = np.minimum(np.maximum(z[:, :-1], 0.0), z[:, 1:])
    turn = reach[:, None, None] * np.arctan2(share * np.sin(angles), share * (np.cos(angles) - 1.0) + 1.0)
    height = np.maximum(most[:, None] * ratio[:, 1:], least[:, None] * ratio[:, :-1]) - 0.5 * nearest * nearest
    half = np.minimum(share, 0.5)
    shrunk = np.log1p((half * (half - 1.0)) * (4.0 * np.sin(0.5 * angles) ** 2))
    cells = turn + height[:, None] + shrunk * (0.5 * least)[:, None, None]
    top = cells.max(axis=(1, 2))
    inside = (np.exp(cells - top[:, None, None]) @ (z[:, 1:] - z[:, :-1])[:, :, None])[:, :, 0] / math.sqrt(2.0 * math.pi)
    before = log_tail(-low) + np.maximum(most * ratio[:, 0], least * floor)
    shift = most / noise
    right = most * (_ratio(noise, rate, far) - far / noise) + 0.5 * shift * shift + log_tail(far - shift)
    beyond = np.maximum(right, log_tail(far))
    angle = angles[:, :, 0]
    a, fold = angle * noise[:, None], np.log(np.cos(0.5 * angle)) * least[:, None]
    parts = np.logaddexp(before[:, None] + turn[:, :, 0] + fold, beyond[:, None] + reach[:, None] * angle + fold)
    within = top[:, None] + np.log(np.maximum(inside, 1e-300))
    rise = np.logaddexp(within, parts) + 0.5 * a * a + (math.log(2.0) + 2e-6)
    alias = (lead - level)[:, None] + rise
    steps = np.where(alias > 1.0, 2.0 * math.pi * a / alias, 0.0)
    best = steps.argmax(axis=1)[:, None]
    step, alias, rise = (np.take_along_axis(one, best, 1)[:, 0] for one in (steps, alias, rise))
    return np.where(step > 0.0, step, math.nan), rise - alias - np.log1p(-np.exp(-alias)) + 1e-9


def coarse_lead(runs: Runs, c: Array) -> Array:
    """-log of what a grid for bounds may leave out."""
    lead: Array = np.log(runs.count) + _BOUNDS + np.log(3.0 + c)
    return lead


def span(runs: Runs, c: Array, ahead: Array, lead: Array) -> tuple[Array, Array]:
    """Where the grids begin and end, for exponents up to 1 + c and, where that is cheap, 1 + ahead."""
    low = -np.sqrt(2.0 * (lead - 1.15 * c * np.log1p(-runs.rate)))
    most = np.sqrt(2.0 * lead) + 1.0 / runs.noise
    high = np.maximum(edge(runs.noise, runs.rate, 1.0 + c, lead), most)
    return low, np.maximum(high, np.minimum(edge(runs.noise, runs.rate, 1.0 + ahead, lead), 2.0 * high))
