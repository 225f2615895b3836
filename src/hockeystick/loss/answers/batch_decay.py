"""How fast |phi| of many sampled Gaussian steps falls: as `sampled_decay.sampled_gap`, the steps along the first axis."""

import math

import numpy as np

from ...numerics.cancellation_free import Array
from ...numerics.normal import LOG_ROOT_TWO_PI
from ...numerics.rounding import UNIT
from ..sampled.gaussian_decay import AWAY, FADING, FAINT, PLACES, carried
from ..sampled.quadrature import CAP
from .batch_grid import Nodes, log_outside, log_rule


def gaps(nodes: Nodes, noise: Array, rate: Array, k: Array, lead: Array, left: Array) -> Array:
    """Lower bounds of 1 - |f(u)| from `left` to the next, for each run and each of its exponents k."""
    from scipy.special import ndtr

    s, q = noise[:, None, None], rate[:, None, None]
    z, ratio, share = nodes.z[:, None], nodes.ratio[:, None], nodes.share[:, None]
    log_weight = k[:, :, None] * ratio + nodes.base[:, None]
    shift = log_weight.max(axis=(1, 2))[:, None, None]
    weight = np.exp(log_weight - shift)
    total = weight.sum(axis=2, keepdims=True)
    outside = np.exp(np.minimum(600.0, log_outside(nodes, noise, rate, k[:, :, None]).max(axis=(1, 2)) - shift[:, 0, 0]))
    least = np.minimum(k.min(axis=1), 0.0)
    lost = np.exp(np.minimum(600.0, log_rule(nodes, noise) + least * np.log(np.cos(0.5 * nodes.angle))))
    lost = lost + outside / total.min(axis=(1, 2))
    weight = weight / total
    width = _cut_width(nodes, noise, least, lead)[:, None, None]
    first = np.maximum(0.5 / noise - noise, nodes.low)
    last = np.minimum(0.5 / noise + noise * (1.5 - np.log(rate)), nodes.high)
    places = first[:, None, None] + np.maximum(last - first, 0.0)[:, None, None] * PLACES
    places[:, -1] = nodes.high[:, None]  # nothing is cut off
    x = (z - places) / width
    g = ndtr(x)
    bell = np.exp(-0.5 * x * x - (LOG_ROOT_TWO_PI + np.log(width)))
    chi = g * g
    powers = np.empty((len(noise), 5, nodes.z.shape[1]))
    powers[:, 0], powers[:, 1:] = 1.0, ratio
    powers = np.multiply.accumulate(powers, axis=1)
    uncut, cut = (np.swapaxes(one, 1, 2) for one in (ndtr(-x) * (1.0 + g), chi))
    m = (weight[:, :, None] * powers[:, None]) @ uncut[:, None]
    lone, mean, square, cube, fourth = (m[:, :, place] for place in range(5))

    reach = np.maximum(-nodes.low, nodes.high)
    size = np.abs(k).max(axis=1) * (np.abs(nodes.ratio[:, -1]) + reach / noise + noise**-2.0) + reach * reach
    slack = (1e-11 + 16.0 * UNIT * size)[:, None, None]
    errors, sides = _allowances(nodes, noise, rate, k, lost, width, places)
    one, two = lone * square, mean * mean
    variance = one - two - slack * (one + two) - 4.1 * errors[0] * sides[0]
    one, two, three = 2.0 * lone * fourth, 8.0 * mean * cube, 6.0 * square * square
    bend = one - two + three + slack * (one + np.abs(two) + three) + 33.0 * errors[0] * sides[1]

    squares = (left * left)[:, None, None]
    gap = (bend[..., None] * (-1.0 / 24.0) * squares + variance[..., None]) * (0.5 * squares)
    gap[..., :-1] = np.minimum(gap[..., :-1], gap[..., 1:])
    gap[..., -1] = 0.0
    gap = np.where(gap > 0.0, gap, 0.0)
    mass = weight @ cut
    inverse = 1.0 / np.maximum(share, q * 1e-60)
    pull = k[:, :, None] * share - s * z - 1.0 + share
    pressed = weight * inverse * inverse
    pulled = pressed * pull
    one, two = (pulled * pull) @ cut, (pressed @ np.swapaxes(bell * bell, 1, 2)) * (4.0 * s * s)
    spread = (one + two) * (1.0 + slack) + (4.0 * s) * (pulled @ np.swapaxes(g * bell, 1, 2)) + errors[1] * sides[2]
    variation = np.sqrt(spread * (mass * (1.0 + slack) + errors[0]))
    far = (mass * (1.0 - slack) - errors[0])[..., None] - variation[..., None] / left[:, None, None]
    far = np.where((far > 0.0) & (q > FAINT)[..., None], far, 0.0)
    best: Array = carried((gap + far).max(axis=2), far.max(axis=2)) * (1.0 - 1e-9)
    return best


def _cut_width(nodes: Nodes, noise: Array, least: Array, lead: Array) -> Array:
    """b: half the distance in which e^t grows by e, or larger if the grid needs it."""
    room = (math.pi / nodes.step) ** 2 / lead - 0.5 + 0.125 * least / noise**2
    width: Array = np.maximum(0.5 * np.minimum(noise, 4.0), np.minimum(1.0 / np.sqrt(np.maximum(room, 1e-3)), 2.0 * noise))
    return width


def _allowances(
    nodes: Nodes, noise: Array, rate: Array, k: Array, lost: Array, width: Array, places: Array
) -> tuple[tuple[Array, Array], tuple[Array, Array, Array]]:
    """Errors of the sums over 1 - chi and over D^2, and the moduli they are relative to (`sampled_decay._allowances`)."""
    least, b = np.minimum(k.min(axis=1), 0.0), width[:, 0, 0]
    a = math.pi / nodes.step / (0.5 + b**-2.0 - 0.125 * least / noise**2)
    a = np.minimum(np.minimum(a, 2.5 * noise), 5.0 * b)
    angle, y = a / noise, a / b
    alias = 2.0 * math.pi * a / nodes.step
    rule = math.log(2.0) + 0.5 * a * a + least * np.log(np.cos(0.5 * angle)) - alias - np.log1p(-np.exp(-alias)) + 1e-9
    rule = np.exp(np.minimum(600.0, rule))
    steep = np.exp(0.5 * y * y)
    bulge = 1.0 + 0.5 * y * steep
    reach = 2.0 * np.maximum(-nodes.low, nodes.high)
    slope = (np.abs(k).max(axis=1) + 1.0) / np.cos(0.5 * angle) + 1.0 + noise * (reach + a)
    first = 2.0 * (rule * bulge * bulge + lost)
    second = rule * (bulge * slope + noise * steep / b) ** 2 + 2.0 * lost * (slope + noise / b) ** 2
    s, q, turned = (one[:, None, None] for one in (noise, rate, angle))
    away = places + width * AWAY[1:]
    t = (away - 0.5 / s) / s
    exponent = t + (np.log(q) - np.log1p(-q))
    rho = np.exp(np.minimum(exponent, 600.0))
    turn = turned - np.log(np.cos(0.5 * turned))
    size = np.where(rho <= 0.5, 1.4 * rho, np.maximum(exponent, 0.0) + (0.7 + turn)) - np.log1p(-q)
    edge = ((reach + 0.5 / noise) / noise)[:, None, None]
    farthest = np.maximum(t, edge) + turned
    moved = np.where(farthest < CAP, q * np.expm1(np.minimum(farthest, CAP)), np.inf)  # at least |x|
    size = np.where(moved <= 0.5, np.minimum(size, 1.4 * moved), size)
    squares = size * size
    faded = squares * FADING
    inner = np.exp(np.minimum((0.5 / s - places) / s, 600.0))[:, :, 0] * ((1.0 - rate) / rate)[:, None] + 1.0
    sides = faded.max(axis=2), (faded * squares).max(axis=2), inner * inner * np.exp((b / noise) ** 2)[:, None]
    errors = (first * (1.0 + first))[:, None, None], second[:, None, None]
    return errors, (sides[0][:, None], sides[1][:, None], sides[2][:, None])
