"""delta of one epoch alone when a record is removed: E(S - T e^epsilon)+/T, S the sum of the steps' likelihood ratios.

Steps far out are weighed down.  Where all are kept, and where all but one are, the mean is an integral along a vertical line, the
one that is not kept in pieces, each on the line that suits it; two that are not kept are bounded.
docs/mathematics/allocation.md, Lemma 49.
"""

import math
from dataclasses import dataclass

import numpy as np

from ...numerics.cancellation_free import Array, ComplexArray, log1p_complex
from ...numerics.rounding import FUNCTION, SECOND_ORDER, UNIT
from ..protocol import Inconclusive
from .capped import CappedTransform
from .capped_loss import cap_for, log_lost, log_lost_left
from .moments import AllocatedStep
from .pieces import Chords, Pieces


@dataclass(frozen=True)
class Tuning:
    """None of it enters a proof: every bound holds whatever is chosen here."""

    log_tolerance: float = 19.0
    """-log of the share of delta that may be lost, in each of several places."""
    rounds: int = 6
    """Of the search for epsilon, each with lines of its own."""
    near: float = 0.7
    """Of log delta, within which the lines serve."""
    ladder: int = 6
    """Lines, each at half the place of the one before."""
    cancelled: float = 7.0
    """log of how much larger than delta the terms of a line may be: a line nearer to 0 has more nodes."""
    aliased: float = 12.0
    """The same at twice the place, which bounds the aliases."""
    most_nodes: int = 3000
    """Of a line."""
    angles: tuple[float, ...] = (0.02, 0.05, 0.1, 0.2, 0.35, 0.5, 0.7, 0.9)
    """Of pi/2 over the sharpness: how far the steps are turned together to bound what is cut off."""


TUNING = Tuning()


@dataclass(frozen=True)
class Term:
    """A sum over the nodes of a line: terms at T e^epsilon = anchor, and bounds of their errors; what is cut off and aliases."""

    z: ComplexArray
    terms: ComplexArray
    errors: float
    slopes: float
    aliases: tuple[tuple[float, float], ...]
    """Constants and places of the bounds e^{constant - place shift}."""


class Alone:
    """Both ends of delta of one epoch near T e^epsilon = anchor."""

    def __init__(self, step: AllocatedStep, anchor: float, log_delta: float) -> None:
        self.step, self.anchor, self.log_delta = step, anchor, log_delta
        t = step.tilt
        lost = 0.5 * (log_delta + math.log(2.0) - TUNING.log_tolerance)
        self.cap = cap_for(step, lost)
        self._plain = Chords(step)
        ends = self._ends()
        far = min(self._far(), ends[1])
        self.pieces = Pieces(step, self.cap, ends[0], max(far, ends[0] + 0.01))
        self.straight = Pieces(step, self.cap, far, ends[1]) if far < ends[1] - 0.01 and far > ends[0] else None
        y = math.exp(t * self.cap.place - 0.5 * t * t)
        self.most = 1.5 * max(-lost, 1.0) / y
        # two that are not kept, and one beyond the cells
        twice = 2.0 * log_lost(step, self.cap) - math.log(2.0)
        beyond = float(np.logaddexp(log_lost_left(step, self.cap, ends[0]), _log_right(step, ends[1])))
        self.lost = math.exp(min(twice, 700.0)) + math.exp(beyond)
        self.terms: list[Term] = []
        self._build()

    def _far(self) -> float:
        """Noise beyond which the one step lifts the sum above T e^epsilon whatever the others do."""
        step, count = self.step, self.step.steps
        t = step.tilt
        unit = 1.0 / math.sqrt(count * math.expm1(min(t * t, 100.0)))
        s = unit * np.geomspace(0.05, 60.0, 40)
        self._fall = s, (count - 1) * self._plain.log_above(s) - 1.0 - np.log(s)
        x = self.cap.place
        while self._log_short(math.exp(t * x - 0.5 * t * t), self.anchor) > self.log_delta - TUNING.log_tolerance + 8.0:
            x += 0.1
            if x > 60.0:
                return x
        return x

    def _log_short(self, y: float, anchor: float) -> float:
        """log of a bound of E(anchor - y - S')+, S' the others: (a - x)+ <= e^{s (a - x) - 1}/s."""
        s, fall = self._fall
        return float((s * (anchor - y) + fall).min())

    def _ends(self) -> tuple[float, float]:
        """Cells beyond which too little is to matter."""
        goal = self.log_delta - TUNING.log_tolerance
        low, high = self.cap.place, self.cap.place
        while log_lost_left(self.step, self.cap, low) > goal and low > -8.0:
            low -= 0.25
        while _log_right(self.step, high) > goal:
            high += 0.25
            if high > 60.0:
                raise Inconclusive
        return low, high

    def _build(self) -> None:
        count = self.step.steps
        real = None
        for _ in range(12):
            try:
                real = CappedTransform(self.step, self.cap, self.most, 0.0)
                break
            except Inconclusive:
                self.most *= 0.7
        if real is None:
            raise Inconclusive
        grid = np.geomspace(1e-4, 1.0, 81) * self.most
        value, error = real.values(grid.astype(np.complex128))
        power = np.log1p(value.real + error)
        drift = grid * (count - self.anchor)
        base = drift + count * power - 2.0 * np.log(grid)
        enough = self.log_delta + math.log(count) + TUNING.cancelled
        first = float(grid[_farthest(base, enough + math.log(count), 6)])
        ladder = first * 0.5 ** np.arange(TUNING.ladder - 1.0, -2.0, -1.0)  # and one beyond
        base = ladder * (count - self.anchor) + (count - 1) * np.interp(ladder, grid, power) - 2.0 * np.log(ladder)
        chosen: dict[float, list[slice | None]] = {first: [None]}
        for rows in self.pieces.groups(first, self.anchor - count):
            log_g = np.log(np.maximum(self.pieces.values(ladder.astype(np.complex128), rows)[0].real, 1e-300))
            chosen.setdefault(float(ladder[_farthest(base + log_g, enough, 1)]), []).append(rows)
        for place, members in chosen.items():
            self._line(place, members)

    def _line(self, place: float, members: list[slice | None]) -> None:
        """The terms of these pieces along one line; None is all steps kept."""
        step, count = self.step, self.step.steps
        wanted = self.log_delta - TUNING.log_tolerance
        h = 2.0 * math.pi * place / (-wanted + 6.0 + max(0.0, math.log(self.anchor / count)))
        last, cut = self._cut(place, wanted)
        nodes = math.ceil(last / h) + 1
        if not 0 < nodes <= TUNING.most_nodes:
            raise Inconclusive
        v = h * np.arange(nodes)
        z = place + 1j * v
        beyond = place * np.array([1.0, 1.15, 1.4, 1.8, 2.5])
        beyond = beyond[beyond <= max(self.most, place)]
        transform = CappedTransform(step, self.cap, float(beyond[-1]), float(v[-1]))
        value, lost = transform.values(z)
        size = np.abs(1.0 + value)
        if not size.min() > 1e-150:
            raise Inconclusive
        off, log = lost / size, log1p_complex(value)
        real, real_error = transform.values(beyond.astype(np.complex128))
        log_real = np.log1p(real.real + real_error) + 4.0 * FUNCTION
        drift = count - self.anchor
        for rows in members:
            power = count if rows is None else count - 1
            error = np.where(off < 0.5, -power * np.log1p(-np.minimum(off, 0.5)), power * np.log1p(off) + 2.0)
            error = error + power * 8.0 * FUNCTION * np.abs(value) / size
            exponent = power * log + z * drift
            error += 4.0 * UNIT * (np.abs(exponent) + np.abs(z) * (self.anchor + count))
            if rows is None:
                factor: ComplexArray = np.full(nodes, 1.0 / count, dtype=np.complex128)
                relative: Array = np.zeros(nodes)
                above: Array = np.full(beyond.size, -math.log(count))
                mass, largest = 1.0 / count, 0.0
            else:
                g, g_error = self.pieces.values(z, rows)
                factor, relative = g, g_error
                both = self.pieces.values(beyond.astype(np.complex128), rows)
                above = np.log(np.maximum(both[0].real + both[1], 1e-300))
                mass = float(self.pieces.weight[rows].sum()) * 1.01
                largest = float(self.pieces.away[rows].max())
            weight = np.full(nodes, h / math.pi)
            weight[0] *= 0.5
            if not float(exponent.real.max()) < 600.0:
                raise Inconclusive
            height = np.exp(exponent.real) * weight / np.abs(z) ** 2
            terms = np.exp(exponent) * weight * factor / (z * z)
            known = np.minimum(error, 1.0)
            grown = height * np.expm1(known)
            unsure = error > 1.0  # a factor that is lost in its error: the power is as large as it may be
            if unsure.any():
                log_most = exponent.real[unsure] + error[unsure]
                if not float(log_most.max()) < 600.0:
                    raise Inconclusive
                grown[unsure] = np.exp(log_most) * weight[unsure] / np.abs(z[unsure]) ** 2
            wrong = float((grown + height * ((nodes + 40.0) * UNIT)) @ np.abs(factor) + (height + grown) @ relative)
            top = power * log_real + beyond * drift + above
            # Lemma 49: aliases to the right by one real point, those to the left by the mean, and the cut
            span = 2.0 * math.pi / h
            right = top[1:] - (beyond[1:] - place) * span - 1.0 - np.log(beyond[1:]) + 0.01
            left = math.log(mass * (self.anchor + span + count + largest)) - place * span + 0.2
            rest = cut * power + above[0] + math.log(1.0 / (math.pi * float(v[-1]))) - place * (self.anchor - count)
            aliases = (
                (float(right.min()) if right.size else math.inf, float(beyond[1 + int(np.argmin(right))]) if right.size else 0.0),
            )
            self.terms.append(
                Term(z, terms, wrong * SECOND_ORDER, float(np.abs(terms) @ np.abs(z)), (*aliases, (left, 0.0), (rest, place)))
            )

    def _cut(self, place: float, wanted: float) -> tuple[float, float]:
        """Where the line is cut off, and log of a bound of |E chi e^{z (Y - 1)}| beyond, |e^{-z}| taken out."""
        step, cap = self.step, self.cap
        theta = np.array(TUNING.angles) * (0.5 * math.pi / cap.sharpness)
        theta = np.minimum(theta, 1.5 / step.tilt)
        count = step.steps
        turned = np.sin(step.tilt * theta) * (1.0 - 1e-9)

        def bound(v: float) -> float:
            s = v * turned - place
            good = s > 0.0
            if not good.any():
                return math.inf
            plain = self._plain.log_above(s[good])
            return float((0.5 * theta[good] ** 2 + plain).min())

        v = 2.0 * place
        for _ in range(60):
            found = bound(v)
            total = (count - 1) * found + place * (count - self.anchor) - place * (count - 1)
            if total - math.log(v) < wanted - 3.0:
                return v, found - place
            v *= 1.25
        raise Inconclusive

    def delta(self, epsilon: float) -> tuple[float, float, float]:
        """Lower end, upper end and slope of delta at this epsilon, near the one that this was made for."""
        shift = self.step.steps * math.exp(epsilon) - self.anchor
        if not abs(shift) <= 0.05 * self.anchor:
            raise Inconclusive
        total = error = slope = 0.0
        for term in self.terms:
            turned = np.exp(-term.z * shift) * term.terms
            total += float(turned.real.sum())
            slope -= float((turned * term.z).real.sum())
            grown = math.exp(min(max(-float(term.z[0].real) * shift, -700.0), 600.0))
            error += term.errors * grown + term.slopes * grown * (24.0 * UNIT) * (abs(shift) + self.anchor)
            error += sum(math.exp(min(constant - place * shift, 700.0)) for constant, place in term.aliases)
        if self.straight is not None:
            value, off = self._straight(self.anchor + shift)
            total, error = total + value[0], error + off
            slope -= value[1]
        error *= 1.0 + 1e-9
        return max(total - error, 0.0), max(total, 0.0) + error + self.lost, slope * self.step.steps * math.exp(epsilon)

    def _straight(self, anchor: float) -> tuple[tuple[float, float], float]:
        """E(S' + Y - anchor)+ over the far cells, where it is about its mean without the bracket; its slope; its error.

        The bracket adds at most E(anchor - Y - S')+ at the cells' left end; the weight of the others takes off at most what is
        not kept of (S' + Y).
        """
        made, count = self.straight, self.step.steps
        assert made is not None
        weight, away = made.weight, made.away
        plain, grown = float(weight.sum()), float((weight * away).sum())
        value = plain * (count - anchor) + grown
        error = float((weight * made.slip).sum()) * (count + anchor) + float(
            (weight * (np.abs(away) * made.slip + made.y_slip)).sum()
        )
        error += 64.0 * UNIT * (plain * (count + anchor) + abs(grown))
        rule, most = made.rule(np.zeros(1, dtype=np.complex128)), made.largest
        error += float(rule[0]) * (count + anchor + most)
        t = self.step.tilt
        first = math.exp(t * made.first - 0.5 * t * t) * (1.0 - 1e-9)
        error += plain * math.exp(min(self._log_short(first, anchor), 600.0)) * (1.0 + 1e-6)
        unkept = math.exp(log_lost(self.step, self.cap))
        error += unkept * (plain * (count + anchor) + abs(grown) + plain)
        return (value, plain), error


def _farthest(bound: Array, enough: float, double: int) -> int:
    """The last place at which the bound is small enough, also at twice the place, so many entries on; else where it is least."""
    good = np.nonzero((bound[:-double] <= enough) & (bound[double:] <= enough + TUNING.aliased))[0]
    return int(good[-1]) if good.size else int(np.argmin(bound[:-double]))


def _log_right(step: AllocatedStep, x: float) -> float:
    """log of a bound of the probability, when the record takes part, that a step is beyond x."""
    from scipy.special import log_ndtr

    t = step.tilt * (1.0 + 2.0 * step.tilt_error)
    others = float(log_ndtr(-x)) + math.log(step.steps)
    return float(np.logaddexp(float(log_ndtr(t - x)), others)) + 1e-9 * (1.0 + x * x)


def first_guess(step: AllocatedStep, log_delta: float) -> float:
    """About the epsilon at this delta: of many small likelihood ratios, or of one large one."""
    t, far = step.tilt, math.sqrt(2.0 * max(-log_delta, 0.1))
    bulk = math.sqrt(math.expm1(min(t * t, 100.0)) / step.steps) * max(far - 0.8, 0.3)
    jump = math.exp(min(t * (far - 0.6) + 0.25 * t * t, 300.0)) / step.steps
    return math.log1p(max(jump, bulk))


def epsilon_alone(step: AllocatedStep, log_delta: float, slack: float) -> tuple[float, float]:
    """Both ends of epsilon of one epoch when a record is removed."""
    guess, goal = first_guess(step, log_delta), math.exp(log_delta)
    for _ in range(TUNING.rounds):
        made = Alone(step, step.steps * math.exp(guess), log_delta)
        low, high, slope = made.delta(guess)
        middle = 0.5 * (low + high - made.lost)
        if not middle > 0.0 or not slope < 0.0:
            guess *= 0.8
            continue
        off = math.log(middle) - log_delta
        if abs(off) < TUNING.near and low > 0.5 * high:
            return _ends_near(made, guess, goal, slack)
        moved = off * middle / -slope
        guess = max(guess + max(min(moved, 0.5 * guess), -0.4 * guess), 1e-12)
    raise Inconclusive


def _ends_near(made: Alone, guess: float, goal: float, slack: float) -> tuple[float, float]:
    """delta falls in epsilon: where it is surely at least the goal, and where it is surely at most."""
    for _ in range(8):
        low, high, slope = made.delta(guess)
        middle = 0.5 * (low + high)
        moved = math.log(max(middle, 1e-300) / goal) * middle / -slope
        guess += moved
        if abs(moved) < 1e-12 * guess:
            break
    least, most = goal * (1.0 + slack), goal * (1.0 - slack)
    low, high, slope = made.delta(guess)
    reach = (0.5 * (high - low) + slack * goal) / -slope * 1.05 + 1e-13 * guess
    ends = [0.0, math.inf]
    for side, sign in ((0, -1.0), (1, 1.0)):
        away = reach
        for _ in range(12):
            place = max(guess + sign * away, 0.0)
            found = made.delta(place)
            if (found[0] >= least) if side == 0 else (found[1] <= most):
                ends[side] = place
                break
            away *= 1.5
    return ends[0], ends[1]
