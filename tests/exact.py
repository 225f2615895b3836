"""Truths without any contour, written apart from the library: exact laws in balls, closed forms, and float sandwiches.

A `Step` is one ordered pair (P, Q) of one use of a mechanism: a list of atoms in balls, or the tails of a loss with a density.
`Run` gives balls around delta(epsilon) of steps with counts, by the first of these that is affordable:

* all steps atomic: the laws of two halves of the run are listed (binomial, multinomial, or by powers of polynomials on an
  integer lattice) and joined, delta = sum over pairs of values above epsilon of P - e^epsilon Q;
* one step with a density besides: the same with that step's tails in closed form;
* anything else: a sandwich of two laws on a grid by direct convolution (all terms positive, so that every rounding error is
  relative), from above by moving the mass of each cell to its ends, from below by the test {sum of the cell numbers >= t}.

`delta(P, Q)(epsilon) = max over events A of P(A) - e^epsilon Q(A)` is all the theory there is.
"""

import math
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
from flint import arb, arb_poly, ctx

from oracle import laplace_delta

BITS = 400
MOST_VALUES = 60_000  # of one half of a run
GRID = 8192
_ROUGH = 1 << 20  # points allowed to a first look
_TIE = 1e-13  # values this close to epsilon are compared in balls
ZERO, ONE = arb(0), arb(1)


class TooLarge(Exception):
    """No oracle is affordable."""


def ball(low, high):
    """The ball of an interval."""
    low, high = arb(low), arb(high)
    return (low + high) / 2 + arb(0, 1) * (high - low) / 2


# ---------------------------------------------------------------- single steps


@dataclass
class Step:
    """atoms: pairs of masses (p, q), both positive; places: integers n with loss base + step n, if there is a lattice."""

    atoms: list = field(default_factory=list)
    infinite: arb = ZERO  # P-mass where Q has none
    lone: arb = ZERO  # Q-mass where P has none
    stray: arb = ZERO  # a bound of the P-mass that is left out
    places: list | None = None
    tails: object = None  # t -> (P(Z > t), Q(Z > t)) for a loss with a density
    span: tuple = ()  # of a loss with a density: least and largest loss, or infinities
    squared_mu: object = None  # of a Gaussian
    height: object = None  # of Laplace noise: sensitivity / scale

    @property
    def atomic(self):
        return self.tails is None

    @property
    def native(self):
        """The lattice's step, or 0."""
        if self.places is None or len(self.atoms) < 2:
            return 0.0
        z, least = _losses(self), min(self.places)
        return (z[-1] - z[0]) / (max(self.places) - least) * math.gcd(*[n - least for n in self.places])

    def tail(self, t):
        """P(Z > t) and Q(Z > t), the infinite mass not counted."""
        if self.tails is not None:
            return self.tails(t)
        p = q = ZERO
        for one, other in self.atoms:
            z = (one / other).log()
            if z > t:
                p, q = p + one, q + other
            elif not z <= t:
                p, q = p + one * arb(0.5, 0.5), q + other * arb(0.5, 0.5)
        return p, q


def response(epsilon, categories=2, delta=0.0):
    """Randomised response; two categories and a delta: the worst pair of (epsilon, delta)-DP."""
    e, rest = arb(epsilon).exp(), 1 - arb(delta)
    total = e + categories - 1
    atoms, places = [(rest / total, rest * e / total), (rest * e / total, rest / total)], [-1, 1]
    if categories > 2:
        middle = rest * (categories - 2) / total
        atoms.insert(1, (middle, middle))
        places = [-1, 0, 1]
    return Step(atoms, arb(delta), arb(delta), places=places)


def replaced(epsilon):
    """The worst pair of epsilon-DP for add-or-remove when a record is replaced: what both have in common is uniform on [0, 1]; P
    is e^epsilon times as likely on a stretch at the left, Q on one of the same length at the right, and each e^-epsilon times on
    the rest."""
    e = arb(epsilon).exp()
    ends = 1 / (1 + e)  # e^epsilon x + e^-epsilon (1 - x) = 1
    middle = (1 - 2 * ends) / e
    return Step([(ends / e, ends * e), (middle, middle), (ends * e, ends / e)], places=[-1, 0, 1])


def discrete_laplace(scale, move):
    fall = (-1 / arb(scale)).exp()
    first, inner = 1 / (1 + fall), (1 - fall) / (1 + fall)
    p = [first] + [inner * fall**x for x in range(1, move)] + [first * fall**move]  # of x = 0 (noise below too), ..., move
    return Step(list(zip(p[::-1], p, strict=True)), places=[2 * n - move for n in range(move + 1)])


def discrete_gaussian(sigma, move, depth):
    """Values whose mass is below e^-depth are left out."""
    reach = int(sigma * math.sqrt(2 * depth + 40)) + 3 + move
    scale = -1 / (2 * arb(sigma) ** 2)
    weights = [(scale * x * x).exp() for x in range(reach + move + 1)]
    far = int(sigma * math.sqrt(2 * 300)) + 3
    total = 1 + 2 * sum(((scale * x * x).exp() for x in range(1, far)), ZERO)
    total += ball(0, 3 * (1 + arb(sigma)) * (scale * far * far).exp())
    atoms = [(weights[abs(y - move)] / total, weights[abs(y)] / total) for y in range(move - reach, reach + 1)]
    stray = 2 * (1 + arb(sigma)) * (scale * (reach - move) ** 2).exp() * 2
    # outputs below move - reach weigh next to nothing under P; those above `reach` are more than reach - move from the mean
    return Step(atoms, stray=stray, places=list(range(len(atoms))))


def shift(epsilon, share):
    """Losses t and t - epsilon, t = share * epsilon."""
    e, t = arb(epsilon), arb(epsilon) * arb(share)
    p = (1 - (t - e).exp()) / (1 - (-e).exp())
    return Step([(1 - p, (1 - p) * (e - t).exp()), (p, p * (-t).exp())], places=[0, 1])


def gaussian(squared_mu):
    """N(mu, 1) against N(0, 1)."""
    square = arb(squared_mu)
    mu = square.sqrt()

    def tails(t):
        y = t / mu + mu / 2  # the output
        return ((y - mu) / arb(2).sqrt()).erfc() / 2, (y / arb(2).sqrt()).erfc() / 2

    return Step(tails=tails, span=(-math.inf, math.inf), squared_mu=square)


def laplace(a):
    """a = sensitivity / scale."""
    a = arb(a)

    def tails(t):
        # the output y has loss a - 2|y - a| between 0 and a ... in units of the scale, noise at 0 (Q) and at a (P)
        if t >= a:
            return ZERO, ZERO
        if t < -a:
            return ONE, ONE
        y = (t + a) / 2  # loss > t means output > y
        return 1 - (y - a).exp() / 2, (-y).exp() / 2

    return Step(tails=tails, span=_around(a), height=a)


def exponential(epsilon):
    """The pair with a loss density proportional to e^{z/2} on [-epsilon, epsilon]."""
    a = arb(epsilon)

    def tails(t):
        if t >= a:
            return ZERO, ZERO
        t = t if t > -a else -a
        scale = 2 * (a / 2).sinh()
        return ((a / 2).exp() - (t / 2).exp()) / scale, ((-t / 2).exp() - (-a / 2).exp()) / scale

    return Step(tails=tails, span=_around(a))


def _around(a):
    """Doubles surely beyond -a and a."""
    return -float(a) * (1 + 1e-14), float(a) * (1 + 1e-14)


def sampled(step, rate, order):
    """remove: (1-r) Q + r P against Q; add: Q against (1-r) Q + r P."""
    r = arb(rate)
    if step.atomic:
        atoms = [((1 - r) * q + r * p, q) for p, q in step.atoms]
        if step.lone > 0:
            atoms.append(((1 - r) * step.lone, step.lone))
        places = [0, 1] if len(atoms) == 2 else None
        if order == "remove":
            return Step(atoms, r * step.infinite, ZERO, step.stray, places)
        swapped = [(q, p) for p, q in atoms][::-1]  # symmetric step: Q's stray mass is P's
        return Step(swapped, ZERO, r * step.infinite, step.stray, places)

    def mixed(t):
        p, q = step.tails(t)
        return (1 - r) * q + r * p, q

    def remove(t):
        inner = (t.exp() - 1 + r) / r
        return mixed(inner.log()) if inner > 0 else (ONE, ONE)

    def add(t):  # Z > t iff the removal's loss is below -t
        inner = ((-t).exp() - 1 + r) / r
        if not inner > 0:
            return ZERO, ZERO
        p, q = mixed(inner.log())
        return 1 - q, 1 - p

    low, high = (_log_mix(rate, x) for x in step.span)
    ends = low - 1e-14 * abs(low), high + 1e-14 * abs(high)
    return Step(tails=remove if order == "remove" else add, span=tuple(ends) if order == "remove" else (-ends[1], -ends[0]))


def _log_mix(rate, z):
    if z == -math.inf:
        return math.log1p(-rate)
    if z > 600:
        return z + math.log(rate)
    return math.log1p(rate * math.expm1(z))


# ---------------------------------------------------------------- laws of several steps


class Law:
    """Sorted losses with the balls of their masses under P and Q, and sums from each on."""

    def __init__(self, z, p, q):
        order = np.argsort(np.array(z), kind="stable")
        self.z = np.array(z)[order]
        self.p, self.q = [p[i] for i in order], [q[i] for i in order]
        self.tail_p, self.tail_q = _tails(self.p), _tails(self.q)

    def __mul__(self, other):
        if len(self.p) * len(other.p) > 4 * MOST_VALUES:
            raise TooLarge
        z = (self.z[:, None] + other.z[None, :]).ravel()
        return Law(z, [x * y for x in self.p for y in other.p], [x * y for x in self.q for y in other.q])


def _tails(masses):
    found = [ZERO] * (len(masses) + 1)
    for i in range(len(masses) - 1, -1, -1):
        found[i] = found[i + 1] + masses[i]
    return found


def _losses(step):
    return [float((p / q).log().mid()) for p, q in step.atoms]


def law_size(step, count):
    """How many values the law of `count` uses has."""
    if step.places is not None:
        return count * (max(step.places) - min(step.places)) + 1
    return math.comb(count + len(step.atoms) - 1, count)


def law(step, count):
    """The exact law of `count` uses."""
    if count == 0:
        return Law([0.0], [ONE], [ONE])
    if law_size(step, count) > MOST_VALUES * 1.2:
        raise TooLarge
    z = _losses(step)
    if step.places is not None and len(z) > 1:
        low, unit = min(step.places), math.gcd(*[n - min(step.places) for n in step.places])
        size = (max(step.places) - low) // unit
        first, second = [ZERO] * (size + 1), [ZERO] * (size + 1)
        for n, (p, q) in zip(step.places, step.atoms, strict=True):
            first[(n - low) // unit], second[(n - low) // unit] = p, q
        p, q = (arb_poly(first) ** count).coeffs(), (arb_poly(second) ** count).coeffs()
        width = (z[-1] - z[0]) / size
        return Law([count * z[0] + width * n for n in range(len(p))], p, q)
    powers = [[[ONE], [ONE]] for _ in z]
    for rows, pair in zip(powers, step.atoms, strict=True):
        for row, x in zip(rows, pair, strict=True):
            for n in range(1, count + 1):
                row.append(row[-1] * x / n)
    partial = {0: [(0.0, ONE, ONE)]}
    for i, rows in enumerate(powers):
        found: dict = {}
        for used, entries in partial.items():
            choices = [count - used] if i == len(powers) - 1 else range(count - used + 1)
            for n in choices:
                x, y = rows[0][n], rows[1][n]
                found.setdefault(used + n, []).extend((a + n * z[i], b * x, c * y) for a, b, c in entries)
        partial = found
    entries = partial[count]
    scale = arb(count).gamma() * count
    return Law([a for a, _, _ in entries], [b * scale for _, b, _ in entries], [c * scale for _, _, c in entries])


def joined_delta(first, second, epsilon):
    """delta of the sum of two laws."""
    if len(first.p) > len(second.p):
        first, second = second, first
    grown = arb(epsilon).exp()
    cut = float(epsilon) - first.z
    tie = _TIE * (1 + abs(float(epsilon)) + np.abs(first.z) + float(np.abs(second.z).max()))
    sure = np.searchsorted(second.z, cut + tie, "right")
    maybe = np.searchsorted(second.z, cut - tie, "left")
    total = ZERO
    size = len(second.p)
    for i in range(len(first.p)):
        if maybe[i] >= size:
            continue
        total += first.p[i] * second.tail_p[sure[i]] - grown * (first.q[i] * second.tail_q[sure[i]])
        for j in range(maybe[i], sure[i]):  # too close for doubles
            total += (first.p[i] * second.p[j] - grown * (first.q[i] * second.q[j])).max(ZERO)
    return total


def binomial_delta(step, count, epsilon):
    """delta of many uses of a step with two atoms, by a windowed binomial sum."""
    (p0, q0), (p1, q1) = step.atoms
    z0, z1 = (p0 / q0).log(), (p1 / q1).log()
    e = arb(epsilon)
    if z1 < z0:
        (p0, q0, z0), (p1, q1, z1) = (p1, q1, z1), (p0, q0, z0)
    first = (e - count * z0) / (z1 - z0)
    k = max(0, math.floor(float(first.lower())) - 1)
    if k > count:
        return ZERO
    log_ways = arb(count + 1).lgamma() - arb(k + 1).lgamma() - arb(count - k + 1).lgamma()
    p = (log_ways + k * p1.log() + (count - k) * p0.log()).exp()
    gain = (e - (k * z1 + (count - k) * z0)).exp()  # e^eps Q / P
    step_p, step_gain, total = p1 / p0, (z0 - z1).exp(), ZERO
    ratio = ONE
    while True:
        total += p * (1 - gain).max(ZERO)
        if k == count:
            return total
        ratio = step_p * (count - k) / (k + 1)
        p, gain, k = p * ratio, gain * step_gain, k + 1
        if k % 64 == 0 and ratio < 0.99 and total > 0 and p / (1 - ratio) < total * arb(2) ** -150:
            return total + ball(0, (p / (1 - ratio)).upper())


def _pieces(height, count, epsilon):
    """delta of Laplace steps, which grows with the height, between heights that have short mantissas."""
    ends = []
    for sign in (-1, 1):
        ctx.prec = 110
        near = (height * (1 + sign * arb(2) ** -100)).mid()
        ends.append(laplace_delta(near, count, epsilon))
    ctx.prec = BITS
    return ball(ends[0].lower(), ends[1].upper())


# ---------------------------------------------------------------- sandwiches on a grid


@dataclass
class Grid:
    """Float laws on anchor + h n, n from `first`: `up` from above, `p` and `q` of the cells, and relative error `off`."""

    first: int
    anchor: float
    up: np.ndarray
    above: float  # mass moved to infinity
    low: int
    p: np.ndarray
    q: np.ndarray  # tilted by e^{anchor + h n + lean}, so that nothing underflows
    lean: float
    off: float


class Sandwich:
    """delta from both sides, for deltas about `level` or above."""

    def __init__(self, steps, level, points=GRID):
        self.level, self.slip = level, 0.0
        width = self._width(steps, points)
        self.h = width / points * 1.02
        units = {s.native for s, _ in steps if s.atomic} if all(s.atomic for s, _ in steps) else set()
        if len(units) == 1 and max(units) > 0.0 and width / max(units) < 5 * points:
            self.h = max(units)  # then nothing is lost by the grid
        self.grid = self._total(steps, points)
        self.slip = sum(1e-9 * self.h * n for s, n in steps if s.atomic)

    def _width(self, steps, points):
        """How wide the run's law is, from a coarse grid."""
        ranges = [_range(s, self.level * 1e-9 / n) for s, n in steps]
        rough = math.sqrt(sum(n * _variance(s) for s, n in steps)) * math.sqrt(2 * -math.log(self.level) + 40)
        rough = max(rough, *(high - low for low, high in ranges))
        for _ in range(8):
            self.h = rough / 600
            grid = self._total(steps, _ROUGH)
            if grid.up.size < 2400:
                return grid.up.size * self.h
            rough *= 2
        raise TooLarge

    def _total(self, steps, points):
        total = None
        for step, count in steps:
            part = self._power(self._cells(step, count, points), count)
            total = part if total is None else self._times(total, part)
        return total

    def _cells(self, step, count, points):
        h, tiny = self.h, self.level * 1e-9 / count
        low, high = _range(step, tiny)
        anchor = high if step.atomic or step.span[1] < math.inf else 0.0
        first, last = math.floor((low - anchor) / h) - 1, math.ceil((high - anchor) / h)
        size = last - first
        if size > 4 * points:
            raise TooLarge
        hh, aa = arb(h), arb(anchor)
        p, q, up = [ZERO] * size, [ZERO] * size, [ZERO] * (size + 1)
        above = step.stray + step.infinite
        if step.atomic:
            for z, (one, other) in zip(_losses(step), step.atoms, strict=True):
                n = min(max(math.ceil((z - anchor) / h - 1e-9) - 1 - first, 0), size - 1)
                p[n], q[n] = p[n] + one, q[n] + other
        else:
            tails = [step.tail(aa + hh * (first + n)) for n in range(size + 1)]
            above += tails[-1][0]
            up[0] = 1 - tails[0][0]  # what lies below is moved up; it is no part of the test
            for n in range(size):
                p[n], q[n] = tails[n][0] - tails[n + 1][0], tails[n][1] - tails[n + 1][1]
        fall = 1 - (-hh).exp()
        for n in range(size):
            right = ONE
            if p[n] > 0:
                mean = q[n] / p[n] * (aa + hh * (first + n)).exp()  # of e^{left end - Z}
                right = ((1 - mean) / fall).max(ZERO).min(ONE)
            up[n] += p[n] * (1 - right)
            up[n + 1] += p[n] * right
        least = np.array([max(0.0, float(x.lower())) for x in p])
        lean = h if step.atomic else 0.5 * h  # values are at the ends of their cells, or anywhere
        if points < _ROUGH and count * h > 500.0 and not (step.atomic and abs(h - step.native) <= 1e-12 * h):
            raise TooLarge
        most = np.array([float((x * (aa + hh * (first + n) + arb(lean)).exp()).upper()) for n, x in enumerate(q)])
        keep = least > 1e-100  # an event: what is dropped is dropped from both
        up = np.array([max(0.0, float(x.upper())) for x in up])
        p, q = np.where(keep, least, 0.0), np.where(keep, most, 0.0)
        return self._trim(Grid(first, anchor, up, float(above.upper()), first, p, q, lean, 1e-14), tiny)

    def _trim(self, grid, tiny):
        first, last, foot, head = _ends(grid.up, tiny)
        up = grid.up[first:last].copy()
        up[0] += foot
        a, b, _, _ = _ends(grid.p, tiny)
        return Grid(
            grid.first + first, grid.anchor, up, grid.above + head, grid.low + a, grid.p[a:b], grid.q[a:b], grid.lean, grid.off
        )

    def _times(self, one, two):
        size = min(one.up.size, two.up.size)
        if size * max(one.up.size, two.up.size) > 3e9:
            raise TooLarge
        off = one.off + two.off + (size + 4) * 2.3e-16
        above = one.above * (two.up.sum() + two.above) + two.above * one.up.sum()
        found = Grid(
            one.first + two.first, one.anchor + two.anchor, np.convolve(one.up, two.up), above * (1 + 1e-10),
            one.low + two.low, np.convolve(one.p, two.p), np.convolve(one.q, two.q), one.lean + two.lean, off,
        )  # fmt: skip
        return self._trim(found, self.level * 1e-11)

    def _power(self, base, count):
        total = None
        while count:
            if count & 1:
                total = base if total is None else self._times(total, base)
            count >>= 1
            if count:
                base = self._times(base, base)
        return total

    def delta(self, epsilon, infinite=ZERO):
        """A ball around delta; the infinite mass is within the upper end already."""
        g = self.grid
        slip = 1e-12 * (1 + abs(epsilon) + abs(g.anchor)) + self.slip
        z = g.anchor + self.h * (g.first + np.arange(g.up.size))
        gain = -np.expm1(np.minimum(epsilon - slip - z, 0.0))
        high = (float(g.up @ gain) + g.above) * (1 + 2 * g.off + 1e-11) + 1e-290
        head_p = np.add.accumulate(g.p[::-1])[::-1] * (1 - g.off - 1e-11)
        place = g.anchor + g.lean + self.h * (g.low + np.arange(g.q.size))
        shrunk = g.q * np.exp(np.minimum(epsilon - place, 600.0))
        head_q = np.add.accumulate(shrunk[::-1])[::-1] * (1 + g.off + 1e-11 + 1e-15 * (abs(epsilon) + abs(g.anchor) + g.lean))
        low = arb(max(0.0, float((head_p - head_q).max()))) + infinite
        return ball(low.lower(), max(arb(high), low.upper()))


def _ends(masses, tiny):
    """Which part of an array holds all but `tiny` on either side, and what lies beyond."""
    head, foot = np.add.accumulate(masses[::-1])[::-1], np.add.accumulate(masses)
    first, last = int((foot <= tiny).sum()), int((head > tiny).sum())
    if last <= first:
        return 0, masses.size, 0.0, 0.0
    return first, last, float(foot[first - 1]) if first else 0.0, float(head[last]) if last < masses.size else 0.0


def _variance(step):
    if step.squared_mu is not None:
        return float(step.squared_mu)
    if step.atomic:
        z, p = np.array(_losses(step)), np.array([float(p) for p, _ in step.atoms])
        mean = p @ z / p.sum()
        return max(float(p @ (z - mean) ** 2 / p.sum()), 1e-18)
    low, high = _range(step, 1e-3)
    z = np.linspace(low, high, 200)
    head = np.array([float(step.tail(arb(x))[0]) for x in z])
    mass = np.append(-np.diff(head), head[-1])
    mean = mass @ z / mass.sum()
    return max(float(mass @ (z - mean) ** 2 / mass.sum()), 1e-12, ((high - low) * 1e-3) ** 2)


def _range(step, tiny):
    """Between which values the loss lies but for P-masses of about `tiny`; all values of an atomic one."""
    if step.atomic:
        z = _losses(step)
        return min(z), max(z)
    low, high = step.span
    if math.isinf(high):
        high = 1.0
        while step.tail(arb(high))[0] > tiny:
            high *= 1.3
    if math.isinf(low):
        low = -1.0
        while 1 - step.tail(arb(low))[0] > tiny:
            low *= 1.3
    while high > 1e-6 and step.span[1] == math.inf and not step.tail(arb(high / 1.3))[0] > tiny:
        high /= 1.3
    return low, high


# ---------------------------------------------------------------- whole runs of one ordered pair


class Run:
    """steps: (Step, count); `way` says how delta is found: 'laws', 'tails', 'binomial', 'pieces' or 'sandwich'."""

    def __init__(self, steps, level=1e-60, points=GRID, way=None):
        ctx.prec = BITS
        squares = [n * s.squared_mu for s, n in steps if s.squared_mu is not None]
        steps = [(s, n) for s, n in steps if s.squared_mu is None]
        if squares:
            steps.append((gaussian(sum(squares, ZERO)), 1))
        self.steps = steps
        kept = ONE
        self.stray = ZERO
        for step, count in steps:
            kept *= (1 - step.infinite) ** count
            self.stray += count * step.stray
        self.infinite = 1 - kept
        self._sandwich = lambda: Sandwich(steps, level, points)
        if way == "sandwich":
            self.way, self._delta = way, self._by_sandwich()
            return
        try:
            self.way, self._delta = self._exact(steps)
        except TooLarge:
            self.way, self._delta = "sandwich", self._by_sandwich()

    def _by_sandwich(self):
        found = self._sandwich()
        return lambda e: found.delta(e, self.infinite)

    def _exact(self, steps):
        smooth = [(s, n) for s, n in steps if not s.atomic]
        listed = [(s, n) for s, n in steps if s.atomic]
        if not listed and len(smooth) == 1 and smooth[0][0].height is not None and 1 < smooth[0][1] <= 12:
            step, count = smooth[0]
            return "pieces", lambda e: _pieces(step.height, count, e)
        if sum(n for _, n in smooth) > 1:
            raise TooLarge
        if not smooth and len(listed) == 1 and len(listed[0][0].atoms) == 2 and listed[0][1] > 2000:
            step, count = listed[0]
            return "binomial", lambda e: binomial_delta(step, count, e) + self._far()
        first, second = self._halves(listed, apart=bool(smooth))
        if smooth:
            step = smooth[0][0]

            def by_tails(e):
                grown, total = arb(e).exp(), ZERO
                for p, q in zip(first.p, first.q, strict=True):
                    one, other = step.tail(arb(e) - (p / q).log())
                    total += p * one - grown * q * other
                return total + self._far()

            return "tails", by_tails
        return "laws", lambda e: joined_delta(first, second, e) + self._far()

    def _far(self):
        return self.infinite + ball(0, self.stray.upper())

    def _halves(self, listed, apart):
        if not listed:
            return law(response(1.0), 0), law(response(1.0), 0)
        if apart:
            if math.prod(law_size(s, n) for s, n in listed) > 6000:
                raise TooLarge
            found = law(*listed[0])
            for part in listed[1:]:
                found = found * law(*part)
            return found, None
        if len(listed) == 1:
            step, count = listed[0]
            if law_size(step, count) <= 20_000:
                return law(response(1.0), 0), law(step, count)
            return law(step, count // 2), law(step, count - count // 2)
        laws = sorted((law(s, n) for s, n in listed), key=lambda one: -len(one.p))
        first, second = laws[0], laws[1]
        for other in laws[2:]:
            if len(first.p) <= len(second.p):
                first = first * other
            else:
                second = second * other
        return first, second

    def delta(self, epsilon):
        """A ball around delta(epsilon)."""
        ctx.prec = BITS
        return self._delta(epsilon)


def infinite_mass(parts):
    """P(Z = infinity) of (Fraction, count) parts, exactly."""
    kept = Fraction(1)
    for mass, count in parts:
        kept *= (1 - Fraction(mass)) ** count
    return 1 - kept
