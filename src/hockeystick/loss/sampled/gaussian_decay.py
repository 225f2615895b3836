"""How fast |phi(c+iu)| of a sampled Gaussian step falls in u: proved for every u, from sums over the nodes of the noise.

Under the law of z tilted by e^{kL} let f(u) = E e^{iuL}, and let chi = g^2, g = Phi((z - z0)/b), cut off the part left of z0,
where L is flat.  Then |f(u)| <= |E (1 - chi) e^{iuL}| + |E chi e^{iuL}|, where

* |E eta e^{iuL}|^2 = m0^2 - E eta eta' (1 - cos(u (L - L'))) <= m0^2 - u^2 (m0 m2 - m1^2) + u^4 (2 m0 m4 - 8 m1 m3 + 6 m2^2)/24
  with eta = 1 - chi, independent copies and m_i = E eta L^i; the bound is concave in u^2, so that on a cell of u it is largest
  at an end;
* by parts, with dL/dz = r/s: |E chi e^{iuL}| <= E|psi|/u, psi = g D, D = (g/r) (k r - s z - 1 + r) + (2 s/r) dg/dz, and
  (E|psi|)^2 <= E[chi] E[D^2].

So 1 - |f(u)| >= (m0^2 - |E eta e^{iuL}|^2)/2 + max(0, E chi - V/u).  Of several z0 the best is taken at each u.  What holds far
out is carried inwards: 1 - |f(u)|^2 >= (1 - |f(nu)|^2)/n^2 (docs/mathematics.md, Lemma 18).  All integrands are analytic where L
is, so that the sums are as good as those of e^{kL} but for the growth of g off the real line: |g|, |1 - g| <= 1 + Y/2 and
|dg/dz| <= e^{y^2/2}/(2b) at height a = b y, Y = y e^{y^2/2}; on the far side of z0 each falls like e^{-((z - z0)/b)^2/2} besides.
"""

import math

import numpy as np

from ...numerics.cancellation_free import Array
from ...numerics.geometric_cells import RATIO, Cells
from ...numerics.normal import LOG_ROOT_TWO_PI
from ...numerics.rounding import UNIT
from .quadrature import CAP, Grid, Shape

_CUTS = 10
PLACES = np.arange(_CUTS)[:, None] * (1.0 / (_CUTS - 2))
AWAY = np.append(np.arange(0.0, 8.1, 0.5), 40.0)  # (z - z0)/b
FADING = np.exp(-0.5 * AWAY[:-1] ** 2)
_INWARDS = tuple((whole, int(math.log(whole) / math.log(RATIO))) for whole in (2, 4, 8))  # nu is at least so many cells ahead
FAINT = 1e-100  # rates below this have no proof by parts


def sampled_gap(grid: Grid, k: Array, weight: Array, lost: float, cells: Cells) -> Array:
    """Lower bounds of 1 - |f(u)| on cells of u, one row for each k; `weight` are the tilted weights, of sum 1.

    `lost` bounds the relative error of their sum.
    """
    from scipy.special import ndtr

    noise, rate = grid.shape.noise, grid.shape.rate
    z, ratio, share = grid.z, grid.ratio, grid.share
    least = min(float(k.min()), 0.0)
    width = _cut_width(grid, least, grid.lead)
    first = max(0.5 / noise - noise, grid.low)
    last = min(0.5 / noise + noise * (1.5 - math.log(rate)), grid.high)
    places = first + max(last - first, 0.0) * PLACES
    places = np.minimum(grid.low + grid.step * np.rint((places - grid.low) * (1.0 / grid.step)), grid.high)  # at nodes
    places[-1] = grid.high  # nothing is cut off
    x = (z - places) * (1.0 / width)
    g = ndtr(x)
    bell = np.exp(-0.5 * x * x - (LOG_ROOT_TWO_PI + math.log(width)))
    chi = g * g
    powers = np.empty((5, z.size))
    powers[0], powers[1:] = 1.0, ratio
    m = (weight[:, None, :] * np.multiply.accumulate(powers)) @ (ndtr(-x) * (1.0 + g)).T
    lone, mean, square, cube, fourth = m.swapaxes(0, 1)

    reach = max(abs(grid.low), abs(grid.high))
    size = float(np.abs(k).max()) * (abs(float(ratio[-1])) + reach / noise + noise**-2) + reach * reach
    slack = 1e-11 + 16.0 * UNIT * size  # of the weights
    errors, sides = _allowances(grid, k, lost, width, places)
    one, two = lone * square, mean * mean
    variance = one - two - slack * (one + two) - 4.1 * errors[0] * sides[0]
    one, two, three = 2.0 * lone * fourth, 8.0 * mean * cube, 6.0 * square * square
    bend = one - two + three + slack * (one + np.abs(two) + three) + 33.0 * errors[0] * sides[1]

    left = cells.left
    squares = left * left
    gap = np.multiply.outer(bend * (-1.0 / 24.0), squares)
    gap += variance[:, :, None]
    gap *= 0.5 * squares
    np.minimum(gap[:, :, :-1], gap[:, :, 1:], out=gap[:, :, :-1])
    gap[:, :, -1] = 0.0
    np.maximum(gap, 0.0, out=gap)
    if rate > FAINT:
        mass = weight @ chi.T
        inverse = 1.0 / np.maximum(share, rate * 1e-60)
        pull = k[:, None] * share - noise * z - 1.0 + share
        pressed = weight * inverse * inverse
        pulled = pressed * pull
        one, two = (pulled * pull) @ chi.T, (pressed @ (bell * bell).T) * (4.0 * noise * noise)
        spread = (one + two) * (1.0 + slack) + (4.0 * noise) * (pulled @ (g * bell).T) + errors[1] * sides[2]
        variation = np.sqrt(spread * (mass * (1.0 + slack) + errors[0]))
        far = np.multiply.outer(variation, -1.0 / left)
        far += (mass * (1.0 - slack) - errors[0])[:, :, None]
        gap += np.maximum(far, 0.0, out=far)
        return carried(gap.max(axis=1), far.max(axis=1)) * (1.0 - 1e-9)
    best: Array = gap.max(axis=1) * (1.0 - 1e-9)
    return best


def carried(gap: Array, far: Array) -> Array:
    """Gaps on cells of u, together with what the bounds from far out, which grow with u, say nearer in."""
    for whole, cells in _INWARDS:
        bound = far[..., cells:]
        np.maximum(gap[..., :-cells], bound * (2.0 - bound) * (0.5 / whole**2), out=gap[..., :-cells])
    return gap


def cut_step(shape: Shape, least: float, lead: float) -> float:
    """The step of a grid on which a cut of a useful width is resolved to about e^-lead."""
    return math.pi / math.sqrt(lead * (0.5 + (0.5 * min(shape.noise, 4.0)) ** -2 - 0.125 * least / shape.noise**2))


def _cut_width(grid: Grid, least: float, lead: float) -> float:
    """b: half the distance in which e^t grows by e, or larger if the grid needs it."""
    noise = grid.shape.noise
    room = (math.pi / grid.step) ** 2 / lead - 0.5 + 0.125 * least / noise**2
    return max(0.5 * min(noise, 4.0), min(1.0 / math.sqrt(max(room, 1e-3)), 2.0 * noise))


def _allowances(grid: Grid, k: Array, lost: float, width: float, places: Array) -> tuple[tuple[float, float], list[Array]]:
    """Errors of the sums over 1 - chi (or chi) and over D^2, each relative to what follows: the largest moduli of L^2 and of L^4
    against the fall of 1 - chi, and of 1/r^2 against that of chi, for each z0.

    On the strip |log(1 + rho e^{i angle})| <= 1.4 rho for rho <= 1/2, and <= log(1 + rho) + angle - log cos(angle/2) always,
    where L = log(1 - q) + log(1 + rho e^{i angle}), rho = r/(1 - r); |L| <= 1.4 |x| for |x| <= 1/2, where
    |x| <= q (e^{|t| + angle} - 1); |r| <= r/cos(angle/2); and |1/r| <= 1/r.
    """
    noise, rate, least = grid.shape.noise, grid.shape.rate, min(float(k.min()), 0.0)
    a = min(math.pi / grid.step / (0.5 + 1.0 / width**2 - 0.125 * least / noise**2), 2.5 * noise, 5.0 * width)
    angle, y = a / noise, a / width
    rule = math.exp(min(600.0, grid.rule(least, angle)))
    steep = math.exp(0.5 * y * y)
    bulge = 1.0 + 0.5 * y * steep
    # beyond the ends of the grid the weights fall faster than z grows: twice the ends are enough
    reach = 2.0 * max(abs(grid.low), abs(grid.high))
    slope = (float(np.abs(k).max()) + 1.0) / math.cos(0.5 * angle) + 1.0 + noise * (reach + a)
    first = 2.0 * (rule * bulge * bulge + lost)
    second = rule * (bulge * slope + noise * steep / width) ** 2 + 2.0 * lost * (slope + noise / width) ** 2
    away = places + width * AWAY[1:]
    t = (away - 0.5 / noise) * (1.0 / noise)
    exponent = t + (math.log(rate) - math.log1p(-rate))
    rho = np.exp(np.minimum(exponent, 600.0))
    turn = angle - math.log(math.cos(0.5 * angle))
    size = np.where(rho <= 0.5, 1.4 * rho, np.maximum(exponent, 0.0) + (0.7 + turn)) - math.log1p(-rate)
    farthest = np.maximum(t, (reach + 0.5 / noise) / noise) + angle
    moved = np.where(farthest < CAP, rate * np.expm1(np.minimum(farthest, CAP)), math.inf)  # at least |x|
    size = np.where(moved <= 0.5, np.minimum(size, 1.4 * moved), size)
    squares = size * size
    faded = squares * FADING
    inner = np.exp(np.minimum((0.5 / noise - places[:, 0]) * (1.0 / noise), 600.0)) * ((1.0 - rate) / rate) + 1.0
    with np.errstate(over="ignore"):  # then it proves nothing
        sides = [faded.max(axis=1), (faded * squares).max(axis=1), inner * inner * math.exp((width / noise) ** 2)]
    return (first * (1.0 + first), second), sides
