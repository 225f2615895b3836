"""The compiled core's answers at many epsilons of one run, and for many Laplace steps: against balls and against NumPy."""

import math
import random

import mpmath as mp
import numpy as np
import pytest
from flint import arb

import hockeystick as hs
from hockeystick.loss.composed import composed
from hockeystick.loss.contour.contour import Saddle
from hockeystick.loss.engines.compiled import laplace_epsilon
from hockeystick.loss.pairs.laplace import LaplaceLoss
from hockeystick.mechanism.release import Release
from hockeystick.native import core
from hockeystick.numerics.trapezoid import Cells
from laplace_sum import exact
from oracle import Contour, Part
from truth_sparse import log_delta
from twins import pure

pytestmark = pytest.mark.skipif(core is None, reason="the core was not compiled: there was no C compiler")


def laplace_contour(a: float, count: int, epsilon: float) -> Contour:
    """In balls, from the hints of the library's saddle point."""
    near = Saddle.of_epsilon(composed([(LaplaceLoss(a), count)]), epsilon)
    return Contour([Part("laplace", a, 1.0, count)], epsilon, near.c, near.width, near.log_delta)


@pytest.mark.parametrize("seed", range(40))
def test_many_laplace_steps(seed: int) -> None:
    rng = random.Random(seed)
    a = 10.0 ** rng.uniform(-3.0, 0.3)
    count = round(10.0 ** rng.uniform(2.8, 5.0) / a)  # so that the oracle knows where to end
    delta = 10.0 ** -rng.uniform(0.2, 60.0)
    ends = laplace_epsilon(a, count, delta)
    assert ends is not None
    assert ends[1] - ends[0] < 1e-11 * ends[1]
    contour = laplace_contour(a, count, ends[1])
    goal = arb(delta).log()
    assert contour.log_delta(ends[0]) > goal
    assert contour.log_delta(ends[1]) < goal


@pytest.mark.parametrize(("a", "count"), [(2.0, 65), (1.0, 70), (0.8, 90)])
def test_laplace_steps_from_the_exact_law(a: float, count: int) -> None:
    """Without a contour."""
    for delta in (0.1, 1e-6, 1e-12):
        ends = laplace_epsilon(a, count, delta)
        if not ends:
            continue
        with mp.workdps(120):
            assert exact(a, count, ends[0]) >= delta >= exact(a, count, ends[1])
    run = hs.Laplace(scale=1.0 / a) * count
    epsilons = [0.3 * a * count, 0.5 * a * count]
    for epsilon, low, high in zip(epsilons, *run.log_delta_bounds(epsilons), strict=True):
        with mp.workdps(120):
            assert low <= mp.log(exact(1.0 / (1.0 / a), count, epsilon)) <= high


@pytest.mark.parametrize("a", [1e-3, 0.1, 0.7, 3.0])
@pytest.mark.parametrize("c", [1e-3, 0.4, 5.0])
def test_laplace_steps_fall_as_proved(a: float, c: float) -> None:
    cells = Cells(0.05 / a)
    proved = LaplaceLoss(a).slice(c, c, 1000).decay(cells)[0]

    def height(u: float) -> mp.mpf:
        v = mp.mpc(c + 0.5, u)
        return mp.log(abs(mp.cosh(v * a) + mp.sinh(v * a) / (2 * v)))

    with mp.workdps(30):
        for left, right, fall in zip(cells.left[:60], cells.right[:60], proved[:60], strict=True):
            for share in (0.0, 0.3, 0.7, 1.0):
                assert height(0.0) - height(left + share * (right - left)) >= fall


def random_run(rng: random.Random) -> Release:
    kind = rng.choice(("gaussian", "laplace", "sampled", "sampled"))
    if kind == "gaussian":
        return hs.Gaussian(sigma=10.0 ** rng.uniform(-1.0, 3.0)) * rng.randint(1, 10**4)
    count = round(10.0 ** rng.uniform(2.0, 7.0))
    if kind == "laplace":
        return hs.Laplace(scale=math.sqrt(count) * 10.0 ** rng.uniform(-1.0, 1.0)) * count
    rate = 10.0 ** rng.uniform(-4.0, -0.01)
    return hs.Gaussian(sigma=rng.uniform(0.5, 4.0) * max(1.0, rate * math.sqrt(count))).poisson(rate=rate) * count


@pytest.mark.parametrize("seed", range(40))
def test_many_epsilons_against_numpy(seed: int) -> None:
    """In any order, some twice; what is answered with others is answered alone, up to the ends."""
    rng = random.Random(seed)
    run, relation = random_run(rng), rng.choice(("add-or-remove", "add", "remove"))
    middle = run.epsilon(10.0 ** -rng.uniform(1.0, 40.0), neighbours=relation)
    epsilons = [middle * rng.uniform(0.3, 1.5) for _ in range(20)]
    epsilons += [epsilons[3], 0.0, -0.1]
    found = run.log_delta_bounds(epsilons, neighbours=relation)
    with pure():
        plain = run.log_delta_bounds(epsilons, neighbours=relation)
    assert np.all(found.lower <= plain.upper)
    assert np.all(plain.lower <= found.upper)
    known = plain.upper > -math.inf
    width, other = (one.upper[known] - one.lower[known] for one in (found, plain))
    assert np.all(width <= np.maximum(1.1e-9, 1.01 * other))
    alone = run.log_delta_bounds(epsilons[5], neighbours=relation)
    assert alone.lower <= found.upper[5]
    assert found.lower[5] <= alone.upper
    assert np.all(np.exp(found.upper) * (1.0 - 1e-12) <= run.delta(epsilons, neighbours=relation))


@pytest.mark.parametrize("seed", range(10))
def test_many_epsilons_in_balls(seed: int) -> None:
    rng = random.Random(seed)
    rate, sigma, count = 10.0 ** rng.uniform(-2.5, -0.5), rng.uniform(0.7, 3.0), round(10.0 ** rng.uniform(3.0, 5.0))
    run = hs.Gaussian(sigma=sigma).poisson(rate=rate) * count
    middle = run.epsilon(1e-9, neighbours="remove")
    epsilons = np.linspace(0.8, 1.1, 7) * middle
    low, high = run.log_delta_bounds(epsilons, neighbours="remove")
    loss = composed([(run.parts[0][0]._pair_loss(("remove",)), count)])
    for place in (0, 3, 6):
        near = Saddle.of_epsilon(loss, float(epsilons[place]))
        contour = Contour([Part("remove", sigma, rate, count)], float(epsilons[place]), near.c, near.width, near.log_delta)
        true = contour.log_delta(float(epsilons[place]))
        assert low[place] < true
        assert true < high[place]
        assert high[place] - low[place] < 1e-9


@pytest.mark.parametrize("seed", [1, 3, 4, 5, 7, 8, 10, 11, 12, 13, 14, 15])
def test_sparse_runs_against_numpy(seed: int) -> None:
    """The single big jump at several epsilons; an addition besides."""
    rng = random.Random(seed)
    count = round(10.0 ** rng.uniform(0.4, 6.0))
    run = hs.Gaussian(sigma=rng.uniform(0.4, 2.0)).poisson(rate=min(0.2, 10.0 ** rng.uniform(-2.0, 0.5) / count)) * count
    relation = rng.choice(("add-or-remove", "add-or-remove", "remove"))
    middle = run.epsilon(10.0 ** -rng.uniform(3.0, 30.0), neighbours=relation)
    epsilons = sorted(middle * rng.uniform(0.7, 1.3) for _ in range(6))
    found = run.log_delta_bounds(epsilons, neighbours=relation)
    with pure():
        plain = run.log_delta_bounds(epsilons, neighbours=relation)
    assert np.all(found.lower <= plain.upper)
    assert np.all(plain.lower <= found.upper)
    for epsilon, low, high in zip(epsilons, found.lower, found.upper, strict=True):
        if -690.0 < low < high < -1e-9:  # the way back, up to the rounding of the exponentials
            assert run.epsilon_bounds(math.exp(high), neighbours=relation).lower <= epsilon * (1.0 + 1e-9)
            assert run.epsilon_bounds(math.exp(low), neighbours=relation).upper >= epsilon * (1.0 - 1e-9)


@pytest.mark.parametrize("seed", range(6))
def test_two_sparse_steps(seed: int) -> None:
    """Against the closed form of one, averaged over the noise of the other."""
    rng = random.Random(seed)
    rate, sigma = 10.0 ** rng.uniform(-4.0, -1.5), rng.uniform(0.5, 1.5)
    run = hs.Gaussian(sigma=sigma).poisson(rate=rate) * 2
    middle = run.epsilon(rate * 10.0 ** -rng.uniform(1.0, 8.0), neighbours="remove")
    epsilons = [0.95 * middle, middle]
    low, high = run.log_delta_bounds(epsilons, neighbours="remove")
    with mp.workdps(30):
        for epsilon, least, most in zip(epsilons, low, high, strict=True):
            assert least <= log_delta((rate, sigma), (rate, sigma), mp.mpf(epsilon), 1) <= most
            assert most - least < 1e-8


@pytest.mark.parametrize("seed", range(30))
def test_gaussian_noise_to_forty_digits(seed: int) -> None:
    rng = random.Random(seed)
    sigma = 10.0 ** rng.uniform(-2.0, 2.5)
    epsilons = sorted((rng.uniform(0.0, 1.0) ** 3 * 30.0 + 0.5 / sigma) / sigma for _ in range(20))
    low, high = hs.Gaussian(sigma=sigma).log_delta_bounds(epsilons)
    with mp.workdps(60):
        mu = 1 / mp.mpf(sigma)
        for epsilon, least, most in zip(epsilons, low, high, strict=True):
            x = mp.mpf(epsilon)
            true = mp.log(mp.ncdf(mu / 2 - x / mu) - mp.exp(x) * mp.ncdf(-mu / 2 - x / mu))
            assert least <= true <= most
            assert most - least < 1e-11 * max(1.0, abs(most))


def test_what_the_core_is_not_asked() -> None:
    ends = np.empty(2), np.empty(2)
    assert not core.laplace_deltas(0.1, 10.0, np.array([1.0, 2.0]), *ends)  # few have a closed form
    assert not core.laplace_deltas(0.1, 1000.0, np.array([1.0]), *ends)  # lengths differ
    assert not core.sampled_deltas(1.0, 2.0, 0.0, 10.0, 1, np.array([1.0, 2.0]), *ends)  # no rate
    assert not core.gaussian_deltas(math.nan, 0.0, np.array([1.0, 2.0]), *ends)
    assert core.sampled_deltas(1.0, 0.01, 0.0, 1e4, 3, np.array([math.nan, math.inf]), *ends)
    assert not np.isfinite(ends).any()
    with pytest.raises(TypeError):
        core.laplace_deltas(0.1, 1000.0, [1.0], *ends)
