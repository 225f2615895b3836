"""The core on sparse runs: thresholded steps against quadrature, answers against those of NumPy, counts that share contours."""

import math
import random
from collections.abc import Iterator

import numpy as np
import pytest
from scipy.special import erfcx, log_ndtr, ndtr, wofz

import hockeystick as hs
from hockeystick.loss.bigjump.cells import Thresholds
from hockeystick.loss.sampled.quadrature import SampledStep
from hockeystick.mechanism.growing import Growing
from hockeystick.native import core
from hockeystick.numerics.cancellation_free import Array, ComplexArray
from hockeystick.numerics.rounding import FUNCTION
from hockeystick.numerics.trapezoid import COUNT, Cells
from twins import pure

pytestmark = pytest.mark.skipif(core is None, reason="the core was not compiled: there was no C compiler")


class Quadrature:
    """A thresholded step by Gauss's rule on short panels of the noise."""

    def __init__(self, shape: SampledStep, thresholds: Thresholds) -> None:
        place, weight = np.polynomial.legendre.leggauss(12)
        edges = np.linspace(-14.0, 30.0, 15_001)
        half = 0.5 * (edges[1] - edges[0])
        z = (edges[:-1, None] + half * (1.0 + place)).ravel()
        self.weight = np.tile(half * weight, edges.size - 1) * np.exp(-0.5 * z * z) / math.sqrt(2.0 * math.pi)
        self.ratio, _ = shape.ratios(z)
        self.x = np.expm1(self.ratio)
        y = (self.x - thresholds.high) / thresholds.high_width
        self.large, self.log_not_large = ndtr(y), log_ndtr(-y)
        if thresholds.low:
            v = (self.x - thresholds.low) / thresholds.low_width
            before = self.x < 0.5 * (thresholds.low + thresholds.high)
            with np.errstate(divide="ignore"):
                self.log_middle = np.log(np.maximum(np.where(before, ndtr(v) - self.large, ndtr(-y) - ndtr(-v)), 0.0))

    def integral(self, values: Array | ComplexArray) -> complex:
        return complex((self.weight * values).sum())

    def _grown(self, k: complex, log_share: Array) -> ComplexArray:
        found: ComplexArray = np.exp(np.maximum(log_share + k.real * self.ratio, -740.0)) * np.exp(1j * k.imag * self.ratio)
        return found

    def excess(self, k: complex) -> complex:
        """phi - 1."""
        not_large, x = np.exp(self.log_not_large), self.x
        bent = np.where(
            np.abs(k * self.ratio) < 1e-5,
            0.5 * k * (k - 1.0) * self.ratio**2 * not_large,
            self._grown(k, self.log_not_large) - not_large * (1.0 + k * x),
        )
        return self.integral(bent) - self.integral(self.large) - k * self.integral(self.large * x)

    def middle(self, k: complex) -> complex:
        return self.integral(self._grown(k, self.log_middle))


def thresholded_steps() -> Iterator[tuple[random.Random, SampledStep, Thresholds, float]]:
    """The noise, thresholds, and a tilt."""
    rng = random.Random(12)
    for turn in range(24):
        shape = SampledStep(10.0 ** rng.uniform(-0.2, 0.9), 10.0 ** rng.uniform(-5.0, -1.5))
        epsilon = 10.0 ** rng.uniform(-2.0, 0.5)
        high = math.expm1(epsilon) * rng.uniform(0.5, 2.0)
        width, low = rng.uniform(0.03, 0.06) * high, (rng.uniform(0.05, 0.4) * high if turn % 2 else 0.0)
        narrow = max(min(0.08 * low, width), width * (shape.rate + low) / (shape.rate + high) * (1.0 + 1e-12)) if low else 0.0
        yield rng, shape, Thresholds(low, high, narrow, width), rng.uniform(3.0, 12.0) / epsilon


def test_thresholded_steps() -> None:
    seen = [0, 0]
    for rng, shape, thresholds, c in thresholded_steps():
        true = Quadrature(shape, thresholds)
        q, drift = true.integral(true.large).real, true.integral(true.large * true.x).real
        if not 1e-250 < q < 0.1:
            continue
        spread, nodes, steps = 0.2 * c, rng.randint(20, 200), 10.0 ** rng.uniform(0.5, 4.0)
        step = spread * rng.uniform(0.1, 0.6)
        value, error = np.empty((nodes, 2), dtype=complex), np.empty(nodes)
        fall, far, cells = np.empty(COUNT), np.empty(COUNT), Cells(spread)
        about = thresholds.low, thresholds.low_width, thresholds.high, thresholds.high_width, math.log(q)
        found = core.thresholded_step(shape.noise, shape.rate, steps, *about, c, spread, step, value, error, fall, far)
        if found is None:
            continue
        seen[thresholds.low > 0.0] += 1
        # (what the quadrature itself may err by is added)
        assert abs(found[0] / q - 1.0) <= found[2] + 1e-11
        assert abs(found[1] / drift - 1.0) <= found[2] + 1e-11
        phi = true.excess(complex(1.0 + c)).real
        assert phi - 1e-12 * abs(phi) <= found[3] <= phi + 1e-3 * abs(phi) + 1e-6 / steps
        back = true.integral(np.exp(-true.ratio) - 1.0 + true.x).real
        assert back * (1.0 - 1e-12) <= found[4] <= 2.0 * back + 1e-12
        for j in (0, 1, nodes // 2, nodes - 1):
            k = complex(1.0 + c, step * j)
            whole = 1.0 + true.excess(k)
            assert abs(np.exp(complex(value[j, 0])) / whole - 1.0) <= error[j] + 1e-11
            if thresholds.low:
                assert abs(np.exp(complex(value[j, 1])) - (1.0 - true.middle(k) / whole)) <= error[j] + 1e-11
        if thresholds.low:
            mid = true.middle(complex(1.0 + c)).real
            assert math.log(mid) <= found[5] + 1e-11
            assert found[5] <= math.log(mid) + 4.0
        for cell in range(0, COUNT - 1, 7):
            left, right = float(cells.left[cell]), float(cells.right[cell])
            if right > 3e3 * shape.noise:
                break  # the quadrature does not follow
            for u in (left, math.sqrt(left * right)):
                k = complex(1.0 + c, u)
                size = abs(1.0 + true.excess(k))
                assert size <= (1.0 + phi) * math.exp(-fall[cell]) + 1e-11
                assert (abs(true.middle(k)) if thresholds.low else size) <= math.exp(far[cell]) + 1e-11
    assert min(seen) >= 5


def sparse(seed: int) -> tuple[float, float, int, float]:
    """Noise, rate, steps and delta where the single big jump answers."""
    rng = random.Random(seed)
    rate = 10.0 ** rng.uniform(-5.0, -1.5)
    steps = max(2, int(10.0 ** rng.uniform(-1.5, 1.0) / rate))
    return 10.0 ** rng.uniform(-0.15, 0.8), rate, steps, 10.0 ** rng.uniform(-14.0, -4.0)


def asked(noise: float, rate: float, steps: float, delta: float, orders: int = 3) -> tuple[float, float] | None:
    log_delta = math.log(delta)
    slack = FUNCTION * abs(log_delta)
    found = core.epsilon(noise, rate, 0.0, steps, orders, log_delta, log_delta - slack, log_delta + slack, 0.0)
    return found and found[:2]


def test_sparse_runs_are_answered_as_by_numpy() -> None:
    seen = 0
    for seed in range(40):
        noise, rate, steps, delta = sparse(seed)
        found = asked(noise, rate, float(steps), delta)
        with pure():
            plain = (hs.Gaussian(sigma=noise).poisson(rate=rate) * steps).epsilon_bounds(delta)
        if found is not None:
            seen += 1
            assert max(found[0], plain.lower) <= min(found[1], plain.upper)
            assert found[1] - found[0] <= 1e-9 * found[1]
    assert seen > 30


@pytest.mark.parametrize(("noise", "rate", "first", "many"), [(1.1, 0.01, 2, 150), (0.8, 0.05, 1200, 120), (3.0, 1e-3, 900, 200)])
def test_counts_that_follow_each_other_are_answered_as_each_by_itself(noise: float, rate: float, first: int, many: int) -> None:
    counts = np.arange(float(first), float(first + many))
    low, high = np.empty(many), np.empty(many)
    core.epsilons(np.full(many, noise), np.full(many, rate), np.zeros(many), counts, 3, np.full(many, math.log(1e-6)), low, high)
    for count, ends in zip(counts.tolist(), zip(low.tolist(), high.tolist(), strict=True), strict=True):
        alone = asked(noise, rate, count, 1e-6)
        assert alone == ends if alone is not None else math.isnan(ends[0])
    answered = high[np.isfinite(high)]
    assert answered.size > many // 2
    assert np.all(np.diff(answered) > 0.0)  # more steps, more epsilon


def test_growing_runs_are_answered_as_each_by_itself() -> None:
    step = hs.Gaussian(sigma=1.3).poisson(rate=0.02)
    for neighbours in ("add-or-remove", "remove"):
        growing, answered = Growing(step, 1e-6, neighbours), 0
        for count in (*range(990, 1030), 5, 6, 7, 7, 1, 10**6, 10**6 + 1):
            found = growing.epsilon(count)
            assert found in (None, (step * count).epsilon(1e-6, neighbours))
            answered += found is not None
        assert answered > 35


@pytest.mark.parametrize(
    ("delta", "neighbours"), [(0.0, "add-or-remove"), (1.0, "add-or-remove"), (2.0, "remove"), (1e-6, "add")]
)
def test_growing_runs_that_are_asked_by_themselves(delta: float, neighbours: str) -> None:
    growing = Growing(hs.Gaussian(sigma=1.3).poisson(rate=0.02), delta, neighbours)
    assert [growing.epsilon(count) for count in (10, 11, 12)] == [None, None, None]


def test_growing_runs_are_asked_by_themselves_without_the_core() -> None:
    with pure():
        growing = Growing(hs.Gaussian(sigma=1.3).poisson(rate=0.02), 1e-6, "add-or-remove")
        assert [growing.epsilon(count) for count in (10, 11, 12)] == [None, None, None]


def test_growing_runs_of_other_mechanisms_are_asked_by_themselves() -> None:
    assert Growing(hs.Laplace(scale=3.0), 1e-6, "add-or-remove").epsilon(3) is None
    assert Growing(hs.Gaussian(sigma=3.0), 1e-6, "add-or-remove").epsilon(3) is None


def test_the_distribution_function_off_the_line() -> None:
    """|z erfcx(z)| < 0.75 on the imaginary axis (Lemma 19c): its derivative is at most 3; far out the next term is enough."""
    places = np.arange(0.0, 5.5, 1e-4)
    assert np.max(places * np.abs(wofz(places))) + 3.0 * 0.5e-4 < 0.75
    assert 1.0 / math.sqrt(math.pi) + 1.0 / places[-1] < 0.75
    rng = np.random.default_rng(7)
    a, b = -rng.exponential(3.0, 10_000), rng.exponential(4.0, 10_000)
    size = np.abs(0.5 * np.exp(0.5 * (b * b - a * a)) * wofz(1j * -(a + 1j * b) / math.sqrt(2.0)))
    assert np.all(size <= np.minimum(0.5, 0.54 / b) * np.exp(0.5 * (b * b - a * a)) * (1.0 + 1e-12))


def test_few_sparse_steps_in_closed_form_averaged() -> None:
    """Two steps: the closed form of one averaged over the noise of the other."""
    place, weight = np.polynomial.legendre.leggauss(16)
    for noise, rate, delta in ((1.0, 0.01, 1e-6), (0.5, 0.001, 1e-6), (1.3, 0.03, 1e-9), (2.0, 0.0005, 1e-5)):
        found = asked(noise, rate, 2.0, delta, 1)
        assert found is not None
        for epsilon, side in zip(found, (1.0, -1.0), strict=True):
            centre = noise * math.log1p(math.expm1(epsilon) / rate) + 0.5 / noise
            last = noise * math.log1p((math.exp(epsilon) / (1.0 - rate) - 1.0) / rate) + 0.5 / noise
            fine = centre + (last - centre) * np.arange(-30.0, 30.1, 0.25)
            near = noise * 4.0 * 0.75 ** np.arange(34)
            edges = np.unique(np.concatenate((np.arange(-10.0, 16.0, 0.1), fine, centre + near, centre - near)))
            half = 0.5 * np.diff(edges)[:, None]
            z = (edges[:-1, None] + half * (1.0 + place)).ravel()
            x = rate * np.expm1(z / noise - 0.5 / noise**2)
            masses = (half * weight).ravel() * np.exp(-0.5 * z * z) / math.sqrt(2.0 * math.pi) * (1.0 + x)
            total = math.fsum(masses * single(noise, rate, epsilon - np.log1p(x)))
            assert side * math.log(total / delta) > -1e-12


def single(noise: float, rate: float, epsilon: Array) -> Array:
    """delta of one step, for any epsilon."""
    inside = np.exp(epsilon) > 1.0 - rate
    inner = np.log(np.where(inside, (np.expm1(epsilon) + rate) / rate, 1.0))
    t = inner * noise - 0.5 / noise
    close = (
        np.exp(-0.5 * t * t)
        * 0.5
        * (erfcx(np.maximum(t, -3.0) / math.sqrt(2.0)) - erfcx(np.maximum(t + 1.0 / noise, -3.0) / math.sqrt(2.0)))
    )
    found: Array = np.where(
        inside, rate * np.where(t > -3.0, close, ndtr(-t) - np.exp(inner) * ndtr(-t - 1.0 / noise)), -np.expm1(epsilon)
    )
    return found
