"""The compiled core against its twins in NumPy, loop by loop and answer by answer."""

import math
import os
import random
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import numpy as np
import pytest

import hockeystick as hs
from hockeystick.loss import batch, contour, engine, noise, sampled_slice
from hockeystick.loss.noise import Grid, Nodes, Shape, TooFine
from hockeystick.loss.sampled import Guide, SampledGaussianLoss
from hockeystick.loss.sampled_slice import SampledGaussianSlice
from hockeystick.native import core
from hockeystick.numerics.cells import Cells

pytestmark = pytest.mark.skipif(core is None, reason="the core was not compiled: there was no C compiler")

MODULES = noise, sampled_slice, contour, engine, batch


@contextmanager
def pure() -> Iterator[None]:
    """NumPy alone."""
    with pytest.MonkeyPatch.context() as patch:
        for module in MODULES:
            patch.setattr(module, "core", None)
        yield


def shapes(count: int, seed: int) -> Iterator[tuple[random.Random, Shape]]:
    rng = random.Random(seed)
    for _ in range(count):
        yield rng, Shape(10.0 ** rng.uniform(-0.6, 1.8), 10.0 ** rng.uniform(-7.0, -0.02), rng.choice((0.0, 1e-16)))


def both(build: Callable[[], object]) -> tuple[object, object]:
    """What both say, or TooFine."""

    def told() -> object:
        try:
            return build()
        except TooFine:
            return TooFine

    with pure():
        plain = told()
    return told(), plain


def test_nodes_and_their_sums() -> None:
    for rng, shape in shapes(60, 1):
        low, step, count, k = -9.0, 10.0 ** rng.uniform(-2.0, -0.3), rng.randint(2, 300), rng.uniform(-9.0, 9.0)
        with pure():
            plain = Nodes.from_low(shape, low, step, count)
            sums = plain.sums(k, plain.highest(k))
        found = Nodes.from_low(shape, low, step, count)
        errors = plain.ratio_errors()[1]
        assert np.array_equal(found.z, plain.z)
        assert np.all(np.abs(found.ratio - plain.ratio) <= 2.0 * errors)
        np.testing.assert_allclose(found.share, plain.share, rtol=1e-13)
        np.testing.assert_allclose(found.base, plain.base, rtol=1e-15, atol=1e-15)
        widest = float(np.abs(plain.ratio).max())
        far = np.abs(np.array(found.sums(k, found.highest(k))) - sums)
        assert np.all(far <= 1e-12 * sums[0] * np.array([1.0, widest, widest**2, 1.0]))


def test_the_far_end_of_the_noise() -> None:
    for rng, shape in shapes(100, 2):
        k, target = 10.0 ** rng.uniform(-1.0, 3.0), -(10.0 ** rng.uniform(0.0, 3.0))
        found, plain = both(lambda shape=shape, k=k, target=target: shape.right_edge(k, target))  # type: ignore[misc]
        assert found == plain or math.isclose(found, plain, rel_tol=1e-12)  # type: ignore[arg-type]


def test_grids() -> None:
    """The same steps, proved with the same errors."""
    seen = 0
    for rng, shape in shapes(100, 3):
        k, level, lead = rng.choice((1.0 + 10.0 ** rng.uniform(-1.0, 2.0), -rng.uniform(0.0, 9.0))), 0.0, rng.uniform(20.0, 80.0)
        reach = 10.0 ** rng.uniform(-1.0, 3.0)
        found, plain = both(lambda s=shape, k=k, a=lead, b=reach: Grid(s, k, level, a, b))  # type: ignore[misc]
        if isinstance(found, Grid) and isinstance(plain, Grid):
            seen += 1
            assert found.step == pytest.approx(plain.step, rel=1e-9)
            assert found.log_rule == pytest.approx(plain.log_rule, abs=1e-6)
            assert [found.outside(k), found.high] == pytest.approx([plain.outside(k), plain.high], rel=1e-9)
        else:
            assert found is plain
    assert seen > 50


def slices(count: int, seed: int) -> Iterator[tuple[random.Random, Callable[[], SampledGaussianSlice]]]:
    """Lines through K, in one or both orders of the pair."""
    for rng, shape in shapes(count, seed):
        removals = rng.choice(((True,), (False,), (True, False)))
        c, steps = 10.0 ** rng.uniform(-1.0, 1.5), int(10.0 ** rng.uniform(0.0, 7.0))

        def line(
            shape: Shape = shape, removals: tuple[bool, ...] = removals, c: float = c, n: int = steps
        ) -> SampledGaussianSlice:
            found = SampledGaussianLoss(shape, removals, Guide(shape)).slice(c, 2.0 * c, n)
            if not isinstance(found, SampledGaussianSlice):
                raise TooFine
            return found

        yield rng, line


def test_bounds_and_decay_along_a_line() -> None:
    seen = 0
    for rng, line in slices(80, 4):
        cells, points = Cells(10.0 ** rng.uniform(-2.0, 2.0)), np.array([1.0, 1.3, 2.0])
        found, plain = both(lambda line=line, p=points: (line().above(p * line().c), line().decay(cells)))  # type: ignore[misc]
        if isinstance(found, tuple) and isinstance(plain, tuple):
            seen += 1
            np.testing.assert_allclose(found[0], plain[0], rtol=1e-9, atol=1e-12)
            np.testing.assert_allclose(found[1], plain[1], rtol=1e-6, atol=1e-9)
        else:
            assert found is plain
    assert seen > 40


def test_values_along_a_line() -> None:
    """They differ by no more than both allow for."""
    seen = 0
    for rng, line in slices(80, 5):
        nodes, step = rng.choice((1, 2, 17, 120, 300)), 10.0 ** rng.uniform(-2.0, 0.0)
        found, plain = both(lambda line=line, n=nodes, h=step: line().values(h, n))  # type: ignore[misc]
        if isinstance(found, tuple) and isinstance(plain, tuple):
            seen += 1
            (value, error), (other, allowed) = found, plain
            far = np.abs(np.expm1(np.minimum(np.abs(value.real - other.real), 1.0)) + 1j * np.sin(value.imag - other.imag))
            assert np.all((far <= 1.001 * (error + allowed)) | (error > 0.1))
            assert np.all(error <= 2.0 * allowed + 1e-14)
        else:
            assert found is plain
    assert seen > 40


@pytest.mark.parametrize("seed", range(60))
def test_answers(seed: int) -> None:
    """Intervals that both hold, and as narrow."""
    rng = random.Random(seed)
    run = hs.Gaussian(sigma=10.0 ** rng.uniform(-0.4, 1.2)).poisson(rate=10.0 ** rng.uniform(-5.0, -0.1)) * int(
        10.0 ** rng.uniform(0.0, 7.0)
    )
    if seed % 3 == 0:
        run = run + hs.Laplace(scale=10.0 ** rng.uniform(0.0, 2.0)) * rng.randint(1, 20)
    delta = 10.0 ** rng.uniform(-30.0, -1.0)
    found = run.epsilon_bounds(delta)
    with pure():
        plain = run.epsilon_bounds(delta)
    assert max(found.lower, plain.lower) <= min(found.upper, plain.upper)
    assert found.upper - found.lower <= 3.0 * (plain.upper - plain.lower) + 1e-12 * plain.upper


def test_without_the_core() -> None:
    """HOCKEYSTICK_PURE=1: the same questions are answered."""
    code = (
        "import hockeystick as hs; from hockeystick.native import core; "
        "b = (hs.Gaussian(sigma=1.1).poisson(rate=0.01) * 10_000).epsilon_bounds(1e-5); print(core, b.lower, b.upper)"
    )
    env = {**os.environ, "HOCKEYSTICK_PURE": "1"}
    said = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, check=True).stdout.split()
    bounds = (hs.Gaussian(sigma=1.1).poisson(rate=0.01) * 10_000).epsilon_bounds(1e-5)
    assert said[0] == "None"
    assert max(float(said[1]), bounds.lower) <= min(float(said[2]), bounds.upper)


@pytest.mark.parametrize(
    "call",
    [
        lambda: core.lay(np.empty((4, 3)), 0.0, 0.1, 1.0),  # one too few
        lambda: core.lay("rows", 0.0, 0.1, 1.0, 0.5),
        lambda: core.lay(np.empty((4, 6))[:, ::2], 0.0, 0.1, 1.0, 0.5),  # not contiguous
        lambda: core.expand(np.empty((4, 3)), "k", 0.0),
        lambda: core.above(np.empty((4, 3)), np.empty(2), np.empty(1), np.empty(1)),
        lambda: core.above(np.empty((4, 3)), np.empty(9), np.empty(2), np.empty(1)),
        lambda: core.sums(np.empty((2, 5), dtype=complex), 0, 0.1, 0.0),
        lambda: core.cut(np.empty(5), 1.0, 1.0, 1.0, 1),
    ],
)
def test_arguments_that_do_not_fit(call: Callable[[], object]) -> None:
    with pytest.raises((TypeError, ValueError, BufferError)):
        call()
