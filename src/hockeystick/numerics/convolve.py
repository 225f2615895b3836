"""Sums of independent variables on a lattice by the fast Fourier transform, with the errors bounded in the 2-norm.

The masses are to be tilted beforehand: the transform's error is relative to the largest of them, so that what matters must not be
small.  If most of the mass of a variable sits at one point, this part is taken out and known exactly, and the error is relative
to the rest; if that is so of every variable, likewise of their sum.
"""

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from .cancellation_free import Array, ComplexArray, log1p_complex
from .rounding import FFT, FUNCTION, SECOND_ORDER, UNIT

_DEAD = 60.0  # -log of the part of a spectrum that is left out
_HEAVY = 0.6  # the mass of a peak that is kept apart

Places = npt.NDArray[np.intp]


class Law:
    """Masses at the points z = offset + step * (first + i), tilted by e^{theta z} and scaled to sum 1.

    `log_total` undoes the scaling; `rounding` bounds the relative error of every mass that matters.  If `right` is given, that
    share of the mass of point i moves on to point i + 1 before it is tilted.
    """

    def __init__(self, first: int, z: Array, log_mass: Array, theta: float, right: Array | None = None) -> None:
        exponent = log_mass + theta * z
        top = float(exponent.max())
        masses = np.exp(exponent - top)
        if right is not None:
            moved = masses[:-1] * right
            masses[:-1] -= moved
            masses[1:] += moved * math.exp(theta * float(z[1] - z[0]))
        total = float(masses.sum())
        self.first, self.z, self.masses, self.log_total = first, z, masses / total, top + math.log(total)
        matter = exponent >= top - 80.0
        size = float((np.abs(log_mass[matter]) + np.abs(theta * z[matter])).max()) + abs(top)
        self.rounding = 4.0 * UNIT * size + 3.0 * FUNCTION + 20.0 * UNIT
        self.peak = int(self.masses.argmax())

    def log_moment_above(self, ahead: float) -> float:
        """An upper bound of log E e^{ahead z} under the tilted law."""
        exponent = ahead * self.z
        top = float(exponent[self.masses > 0.0].max())
        value = top + math.log(float(self.masses @ np.exp(np.minimum(exponent - top, 0.0))))
        return value + 1e-9 + 16.0 * UNIT * (abs(value) + ahead * float(np.abs(self.z).max()))

    def folded(self, size: int, apart: bool) -> Array:
        """On one period, which begins at the peak; the peak itself set to 0 if it is kept apart."""
        start = -self.peak % size
        out = np.zeros(-(-(self.masses.size + start) // size) * size)
        out[start : start + self.masses.size] = self.masses
        if apart:
            out[start + self.peak] = 0.0
        found: Array = out.reshape(-1, size).sum(axis=0)
        return found


class _Factor:
    """The transform phi of a law that is taken `count` times; a heavy peak is known apart, only the rest of it transformed."""

    def __init__(self, law: Law, count: int, size: int) -> None:
        self.count, self.peak = count, float(law.masses[law.peak])
        self.heavy = self.peak > _HEAVY
        rest = law.folded(size, self.heavy)
        self.mass, self.norm = min(1.0, float(rest.sum())), math.sqrt(float(rest @ rest))
        self.phi = np.fft.rfft(rest)
        if self.heavy:
            self.phi *= 1.0 / self.peak
            self.log = log1p_complex(self.phi)
            self.level: Array = self.log.real + math.log(self.peak)
        else:
            self.level = 0.5 * np.log(np.maximum(self.phi.real**2 + self.phi.imag**2, 1e-60))

    def angle(self, at: Places) -> Array:
        """The argument of phi."""
        found: Array = self.log.imag[at] if self.heavy else np.arctan2(self.phi.imag[at], self.phi.real[at])
        return found

    def error(self, at: Places) -> Array:
        """A bound of the error of log phi, from its own rounding."""
        if not self.heavy:
            found: Array = (4.0 * FUNCTION) * (1.0 + np.abs(self.angle(at)) + np.abs(self.level[at]))
            return found
        ratio, log = self.phi[at], self.log[at]
        off = np.abs(ratio) / np.abs(1.0 + ratio)
        return (4.0 * FUNCTION) * (off + np.abs(log)) + 4.0 * FUNCTION * abs(math.log(self.peak))


class Sum:
    """The sum of independent laws, each taken so many times, on one period of `size` points that begins at `first`.

    `masses` are scaled by e^-log_scale; their errors are at most `error` in the 2-norm, apart from a relative `rounding`.
    """

    def __init__(self, laws: Sequence[tuple[Law, int]], size: int, first: int) -> None:
        eta = FFT * math.log2(size) * UNIT
        idle = sum(count * math.log(law.masses[law.peak]) for law, count in laws)  # log P(all at their peaks)
        self.log_scale, self.rounding = 0.0, 64.0 * UNIT
        factors: list[_Factor] = []
        start = 0
        spread = turns = 0.0
        for law, count in laws:
            factors.append(factor := _Factor(law, count, size))
            self.log_scale += count * law.log_total
            wraps = law.masses.size / size + 2.0
            self.rounding += count * (law.rounding + UNIT * (4.0 * abs(law.log_total) + wraps))
            start += count * (law.first + law.peak)
            spread += count * eta * factor.norm
            turns += count * eta * factor.mass
        spread *= math.exp(min(turns, 100.0))  # (|phi| + e)^(n-1) where |phi| is 1
        apart = idle > -3.0 and all(factor.heavy for factor in factors)
        spectrum, error = _apart(factors, idle) if apart else _together(factors, eta, spread)
        del factors, factor  # they are large
        self.masses = np.fft.irfft(spectrum, size)
        del spectrum
        self.masses = np.roll(self.masses, (start - first) % size)
        self.error = ((spread if apart else 0.0) + error + eta * float(np.linalg.norm(self.masses))) * SECOND_ORDER
        if apart:
            self.masses[(start - first) % size] += math.exp(idle)
        np.maximum(self.masses, 0.0, out=self.masses)
        self.rounding += 8.0 * UNIT * abs(self.log_scale)


def _norm(values: Array) -> float:
    """The 2-norm over one period of the law with this half of a spectrum."""
    return math.sqrt(float(values @ values) / (values.size - 1))


def _apart(factors: Sequence[_Factor], idle: float) -> tuple[ComplexArray, float]:
    """The product of (peak + phi)^count less the product of the peaks alone, and a bound of its rounding in the 2-norm."""
    value: ComplexArray = np.zeros(factors[0].phi.size, dtype=np.complex128)
    error: Array = np.zeros(value.size)
    for factor in factors:
        ratio, term = factor.phi, factor.count * factor.log
        error += factor.count * 4.0 * FUNCTION * np.abs(ratio) / np.abs(1.0 + ratio) + 4.0 * UNIT * np.abs(term)
        value += term
    spectrum = np.expm1(value)
    spectrum *= math.exp(idle)
    error = math.exp(idle) * error * np.exp(value.real) + 6.0 * FUNCTION * np.abs(spectrum)
    return spectrum, _norm(error)


def _together(factors: Sequence[_Factor], eta: float, spread: float) -> tuple[ComplexArray, float]:
    """The product of phi^count, and a bound of its whole error in the 2-norm.

    An error e of phi changes phi^n by at most n (|phi| + e)^(n-1) e: at every point e is at most eta times the mass that was
    transformed, and in the 2-norm the changes are at most `spread`, whichever is less.
    """
    heights: Array = np.zeros(factors[0].phi.size)
    for factor in factors:
        heights += factor.count * factor.level
    live = np.nonzero(heights > -_DEAD)[0]
    sizes = np.exp(heights[live])
    turns: Array = np.zeros(live.size)
    error: Array = np.full(live.size, 4.0 * FUNCTION)
    pointwise = 0.0
    for factor in factors:
        count, off = factor.count, eta * factor.mass
        turns += count * factor.angle(live)
        error += count * factor.error(live)
        weak = min(1.0, 11.0 * count * off) ** (count - 1) if count > 1 else 1.0
        pointwise += count * off * (1.2 * _norm(np.exp(heights - factor.level)) + weak)
    spectrum = np.zeros(heights.size, dtype=np.complex128)
    spectrum.real[live], spectrum.imag[live] = sizes * np.cos(turns), sizes * np.sin(turns)
    rounding = np.zeros(heights.size)
    rounding[live] = sizes * np.expm1(np.minimum(error + 4.0 * UNIT * np.abs(turns), 100.0))
    return spectrum, _norm(rounding) + min(spread, pointwise) + math.exp(-_DEAD)
