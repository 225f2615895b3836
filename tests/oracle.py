"""Truths in ball arithmetic (python-flint), written apart from the library.

`contour_log_delta` integrates along a contour like the library does, but with other nodes, many bits and everything
in balls; `laplace_delta` and `two_step_delta` do not use the contour formula at all.
"""

import math
from dataclasses import dataclass

from flint import acb, acb_mat, arb, ctx

BITS = 220
LEAD = 110.0  # -log of the discretisation errors allowed
DECIDING = 60.0  # enough to decide a comparison, not for thirty digits
FAR = 100.0  # so many widths of the bump are looked at for a sampled part that rises again


@dataclass(frozen=True)
class Part:
    """kind: 'gaussian' (a = mu), 'laplace' (a = sensitivity/scale), 'remove' or 'add' (a = noise, b = rate)."""

    kind: str
    a: float
    b: float
    count: int


class Undecided(Exception):
    """The integrand does not fall within the nodes allowed."""


def _ratio(noise: arb, q: arb, z: arb) -> arb:
    """L(z) = log(1 - q + q e^t), t = z/s - 1/(2 s^2): the log ratio of (1 - q) N(0, 1) + q N(1/s, 1) to N(0, 1)."""
    t = z / noise - 1 / (2 * noise * noise)
    return (q * t.expm1()).log1p() if t < 0.01 else ((1 - q) + q * t.exp()).log()


def _tail(x: arb) -> arb:
    """The normal law right of x."""
    return (x / arb(2).sqrt()).erfc() / 2


def _right_tail(noise: arb, q: arb, k: float, z: arb, h: arb) -> arb:
    """A bound of h times the sum of e^{kL} times the normal density over nodes h apart right of the node z, for k > 0.

    L' = (q e^t/(1 - q + q e^t))/s lies between 0 and 1/s, so L(y) <= L(z) + (y - z)/s right of z, and the terms are at most

        g(y) = e^{k L(z) + k (y - z)/s - y^2/2}/sqrt(2 pi)  =  e^{k (L(z) - z/s) + (k/s)^2/2} times the normal density at y - k/s.

    g rises until k/s and falls from there on.  Let a <= k/s < a + h be the nodes next to k/s.  h g is at most the integral of g
    over the h after the node for those left of a, over the h before the node for those right of a + h, and over the h between
    them for the lower of these two; the higher one is at most the largest value of g.  So the sum is at most the integral of g
    right of z, which is e^{...} times the normal law right of z - k/s, and h times the largest value of g there.
    This falls in z: L(z) - z/s does, and the other two factors do.
    """
    move = arb(k) / noise
    place = z - move
    highest = (-place * place / 2).exp() if place > 0 else arb(1)
    scale = (arb(k) * (_ratio(noise, q, z) - z / noise) + move * move / 2).exp()
    return scale * (_tail(place) + h * highest / (2 * arb.pi()).sqrt())


def _edge(noise: arb, q: arb, k: float, h: float, most: float, lead: float) -> float:
    """A place from 1 to `most`, by bisection, right of which next to nothing is left out (`_left_out` says how much)."""
    goal = (-arb(lead)).exp()
    low, high = 1.0, max(most, 1.0)
    while high - low > max(0.25, 0.01 * high):
        middle = 0.5 * (low + high)
        low, high = (low, middle) if _right_tail(noise, q, k, arb(middle), arb(h)) < goal else (middle, high)
    return high


def _left_out(noise: arb, q: arb, k: float, low: arb, high: arb, h: arb) -> arb:
    """A bound of the rule's sum of |e^{(k + iv) L}| = e^{kL} times the normal density beyond both ends, low < 0 < high.

    There the density falls outwards, so that h times the sum of it is at most the normal law beyond the end; L rises, from
    log(1 - q) on.  For k > 0 on the right the terms may rise with L: see `_right_tail`.
    """
    if k > 0:
        return (arb(k) * _ratio(noise, q, low)).exp() * _tail(-low) + _right_tail(noise, q, k, high, h)
    return (arb(k) * (-q).log1p()).exp() * _tail(-low) + (arb(k) * _ratio(noise, q, high)).exp() * _tail(high)


def _sampled_log_phi(part: Part, c: float, step: float, nodes: int, slack_log: float) -> list[acb]:
    """log M(k) on the nodes by the trapezoidal rule in the noise, to about e^-slack_log."""
    noise, q = arb(part.a), arb(part.b)
    k0 = 1.0 + c if part.kind == "remove" else -c
    reach = step * nodes
    lead = slack_log + math.log(part.count) + math.log(2 + abs(k0) + reach)
    s = part.a
    if k0 > 0:
        angle = min(math.sqrt(2 * lead) / s, 3.0)
        fold = 0.0
    else:
        angle = min(math.sqrt(2 * lead / (s * s - 0.25 * k0)), 2.5)
        fold = k0 * math.log(math.cos(angle / 2))
    width = angle * s
    h = 2 * math.pi * width / (lead + width * width / 2 + fold + reach * angle)
    low = -math.sqrt(2 * (lead + max(0.0, k0 * math.log1p(-part.b))))
    high = max(math.sqrt(2 * lead) + 1 / s, max(k0, 1.0) / s + math.sqrt(2 * lead))
    if k0 > 0:  # stop once e^{kL} and e^L are both negligible for good
        high = _edge(noise, q, max(k0, 1.0), h, high, lead)
    count = int((high - low) / h) + 2
    if count > 30_000:
        raise Undecided
    hh, lo = arb(h), arb(low)
    ratios, weights = [], []
    scale = hh / (2 * arb.pi()).sqrt()
    for j in range(count):
        z = lo + hh * j
        ratios.append(_ratio(noise, q, z))
        weights.append(scale * (-z * z / 2).exp())
    rest = _left_out(noise, q, k0, lo, lo + hh * (count - 1), hh)
    inner = max(1, math.isqrt(nodes))
    outer = -(-nodes // inner)
    du = arb(step)
    tilted = [w * (arb(k0) * r).exp() for w, r in zip(weights, ratios, strict=True)]
    fine = acb_mat(inner, count, _powers([(acb(0, 1) * du * r).exp() for r in ratios], inner))
    coarse = acb_mat(outer, count, _powers([(acb(0, 1) * du * inner * r).exp() for r in ratios], outer, tilted))
    table = coarse * fine.transpose()
    slack = arb(0, math.exp(-slack_log - math.log(part.count))) + rest * arb(0, 1)
    values = [table[n // inner, n % inner] for n in range(nodes)]
    values = [acb(v.real + slack, v.imag + slack) for v in values]
    return [(v if part.kind == "remove" else v.conjugate()).log() for v in values]


def _powers(bases: list[acb], rows: int, start: list[arb] | None = None) -> list[acb]:
    out: list[acb] = []
    current = [acb(1)] * len(bases) if start is None else [acb(x) for x in start]
    for _ in range(rows):
        out.extend(current)
        current = [x * y for x, y in zip(current, bases, strict=True)]
    return out


def _log_phi(part: Part, c: float, step: float, nodes: int, lead: float) -> list[acb]:
    points = [acb(arb(c), arb(step) * n) for n in range(nodes)]
    a = arb(part.a)
    if part.kind == "gaussian":
        return [a * a / 2 * w * (w + 1) for w in points]
    if part.kind == "laplace":
        out = []
        for w in points:
            v = w + arb(0.5)
            out.append(((-a / 2).exp() * ((v * a).cosh() + (v * a).sinh() / (2 * v))).log())
        return out
    return _sampled_log_phi(part, c, step, nodes, lead)


class Contour:
    """delta of one ordered pair by the contour integral in balls; c, width and guess (of log delta) are only hints.

    The rest beyond the last node is bounded with the exact decay of the Gaussian and Laplace parts; that |M(k)| of a
    sampled part does not rise again after its second half is taken for granted, and looked at in places up to FAR widths.
    Errors are about e^-lead of delta.
    """

    def __init__(
        self, parts: list[Part], epsilon: float, c: float, width: float, guess: float, most: int = 4000, lead: float = LEAD
    ) -> None:
        ctx.prec = self.bits = int(2 * lead)
        self.c = c = (1.0 + 0.97 * c) - 1.0  # not the library's own contour; 1 + c is exact
        self.step = step = min(2 * math.pi * c / (lead - guess), 0.25 * width)
        self.ahead = [(c + x * width, _real_height(parts, c + x * width, lead)) for x in (0.3, 1.0, 2.0, 4.0, 8.0)]
        while self._right(arb(epsilon)) - guess > -min(60.0, lead):
            self.step = step = 0.7 * step
        self.fall = 0.0
        for nodes in (100, 400, 1200, most):
            total = [acb(0)] * nodes
            before, self.fall = self.fall, 0.0
            for part in parts:
                values = _log_phi(part, c, step, nodes, lead)
                total = [x + part.count * y for x, y in zip(total, values, strict=True)]
                self.fall += _fall(part, values, c, step * nodes, FAR * width, lead)
            if self.fall > min(70.0, lead):
                break
            if self.fall < 1.05 * before:  # it has come to rest
                raise Undecided
        else:
            raise Undecided
        self.height = total[0].real
        self.points = [acb(arb(c), arb(step) * n) for n in range(nodes)]
        self.terms = [(k - self.height).exp() / (w * (w + 1)) for k, w in zip(total, self.points, strict=True)]

    def _right(self, e: arb) -> float:
        """log of the aliases from the right, by a Markov bound at any s > c."""
        return min(float((k - s * e).mid()) - 2 * math.pi * (s - self.c) / self.step for s, k in self.ahead)

    def log_delta(self, epsilon: float | arb) -> arb:
        """A ball around log delta(epsilon)."""
        ctx.prec = self.bits
        e = arb(epsilon)
        value = arb(0)
        for n, (w, x) in enumerate(zip(self.points, self.terms, strict=True)):
            term = (x * (-acb(0, 1) * w.imag * e).exp()).real
            value += term if n else term / 2
        value = value * arb(self.step) / arb.pi()
        scale = self.height - arb(self.c) * e
        # aliases on the left: at most 1/(e^{2 pi c/h} - 1)
        left = (-(2 * arb.pi() * arb(self.c) / arb(self.step)) - scale).exp() * 2
        right = (arb(self._right(e) + 1e-6) - scale).exp() * 2
        rest = float(abs(value.mid())) * 1e-22 + math.exp(-self.fall) / (self.step * len(self.points))
        value = value - (left + right) * arb(0.5, 0.5) + arb(0, rest)
        return scale + value.log()

    def epsilon(self, delta: float, start: float) -> arb:
        """The epsilon at which delta is reached, by secants from a point near it, to some twenty digits."""
        target = arb(delta).log()
        a, b = arb(start), arb(start) * (1 + arb(1e-7)) + arb(1e-12)
        for _ in range(6):
            fa, fb = (self.log_delta(x).mid() - target.mid() for x in (a, b))
            if fa == fb:
                break
            a, b = b, (b - fb * (b - a) / (fb - fa)).mid()
        return b


def contour_log_delta(
    parts: list[Part], epsilons: list[float], c: float, width: float, guess: float, most: int = 4000
) -> list[arb]:
    """Balls around log delta at several epsilons near each other."""
    contour = Contour(parts, epsilons[0], c, width, guess, most)
    return [contour.log_delta(e) for e in epsilons]


def _real_height(parts: list[Part], c: float, lead: float) -> arb:
    return sum((part.count * _log_phi(part, c, 1e-9, 1, lead)[0].real for part in parts), arb(0))


def _fall(part: Part, values: list[acb], c: float, u: float, far: float, lead: float) -> float:
    """A lower bound of -count * log |phi(c + iv)/phi(c)| for v >= u; of a sampled part as far as it is looked at."""
    if part.kind == "gaussian":
        return 0.49 * (part.a * u) ** 2 * part.count
    if part.kind == "laplace":
        top = math.exp(c * part.a - float(values[0].real.mid())) / 2
        bottom = math.exp(-(c + 1) * part.a - float(values[0].real.mid())) / 2
        # phi = top e^{iua} (1 + 1/(2v)) + bottom e^{-iua} (1 - 1/(2v)), v = c + 1/2 + iu: the latter factor is below 1
        return -part.count * math.log(min(1.0, top * abs(1.0 + 0.5 / complex(c + 0.5, u)) + bottom))
    last = max(float(x.real.mid()) for x in values[len(values) // 2 :])
    if far > u:
        beyond = _log_phi(part, c, far / 97, 97, lead)[int(97 * u / far) :]
        last = max(last, *(float(x.real.mid()) for x in beyond))
    return part.count * (float(values[0].real.mid()) - last)


def laplace_delta(a: float, count: int, epsilon: float) -> arb:
    """delta of `count` Laplace steps from the exact law of the sum: atoms, and sums of exponential pieces.

    With i atoms at +a, j at -a and m uniform-times-e^{z/2} pieces, Z = (i - j) a - m a + U, U of Irwin-Hall density
    sum_l (-1)^l C(m, l) (u - 2 a l)_+^{m-1}/(m-1)! on [0, 2 a m], times (1/4)^m e^{(z - m a)/2}... integrated term by term.
    """
    ctx.prec = 120 + 40 * count + int(3.0 * float(a) * count)
    aa, e = arb(a), arb(epsilon)
    total = arb(0)
    for m in range(count + 1):
        for i in range(count - m + 1):
            j = count - m - i
            ways = arb(math.comb(count, m) * math.comb(count - m, i))
            weight = ways * (arb(1) / 2) ** i * ((-aa).exp() / 2) ** j
            base = (i - j) * aa
            if m == 0:
                if base > e:
                    total += weight * (1 - (e - base).exp())
                continue
            # piece density: (1/4) e^{(z - a)/2} on [-a, a]; shift u = z + m a in [0, 2 m a]
            piece = weight * (arb(1) / 4) ** m * (-aa * m).exp()
            inner = arb(0)
            for order in range(m + 1):
                start = 2 * aa * order
                # integral over u >= max(start, e - base + m a) of (u - start)^{m-1}/(m-1)! (e^{u/2} - e^{c - u/2}), to 2 m a
                cut = e - base + m * aa
                top = 2 * aa * m
                lower = cut if cut > start else start
                if not lower < top:
                    continue
                sign = -1 if order % 2 else 1
                grow = _power_exp(m, lower - start, top - start, arb(1) / 2) * (start / 2).exp()
                fall = _power_exp(m, lower - start, top - start, -arb(1) / 2) * (-start / 2).exp()
                inner += sign * math.comb(m, order) * (grow - (e - base + m * aa).exp() * fall)
            total += piece * inner
    return total


def _power_exp(m: int, low: arb, high: arb, rate: arb) -> arb:
    """Integral of v^{m-1}/(m-1)! e^{rate v} from low to high, by parts."""

    def primitive(v: arb) -> arb:
        terms = ((-1) ** n * v ** (m - 1 - n) / math.factorial(m - 1 - n) / rate ** (n + 1) for n in range(m))
        return sum(terms, arb(0)) * (rate * v).exp()

    return primitive(high) - primitive(low)
