"""The law of the loss: tails, distribution function, quantiles and support, against mpmath and enumeration."""

import math
from fractions import Fraction as F

import numpy as np
import pytest
from mpmath import mp, mpf

import hockeystick as hs
from hockeystick.loss.answers.law import Law
from hockeystick.loss.lattice.lattice import Lattice

COIN = hs.Pair(("1/2", "3/10", "1/5", 0), ("2/5", "1/3", "1/6", "1/10"))


def gaussian_tail(mu, epsilon):
    return mp.erfc((mpf(epsilon) - mpf(mu) ** 2 / 2) / mpf(mu) / mp.sqrt(2)) / 2


def enumerated(pair, steps):
    """All sums with their masses, to fifty digits."""
    law = {mpf(0): F(1)}
    mp.dps = 50
    for _ in range(steps):
        new = {}
        for z, mass in law.items():
            for p, q in zip(pair.p, pair.q, strict=True):
                if p and q:
                    at = z + mp.log(mpf(p.numerator) / p.denominator) - mp.log(mpf(q.numerator) / q.denominator)
                    new[at] = new.get(at, F(0)) + mass * p
        law = new
    return law


@pytest.mark.parametrize("count", [1, 7])
@pytest.mark.parametrize("epsilon", [-30.0, -1.0, 0.0, 0.3, 2.0, 30.0])
def test_gaussian_noise(count, epsilon):
    mp.dps = 40
    mu = mp.sqrt(count) / 2
    loss = (hs.Gaussian(sigma=2.0) * count).loss("remove")
    truth = gaussian_tail(mu, epsilon)
    assert loss.tail(epsilon).lower <= truth <= loss.tail(epsilon).upper
    assert loss.cdf(epsilon).lower <= gaussian_tail(-mu, epsilon) <= loss.cdf(epsilon).upper
    assert loss.tail(epsilon).width <= 1e-7 * loss.tail(epsilon).upper + 5e-324
    assert loss.cdf(epsilon).width <= 1e-7 * loss.cdf(epsilon).upper + 5e-324


@pytest.mark.parametrize("order", ["remove", "add"])
def test_few_steps_of_few_values(order):
    steps = 4
    pair = COIN if order == "remove" else COIN.reverse
    law = enumerated(pair, steps)
    loss = (COIN * steps).loss(order)
    finite = sum((p for p, q in zip(pair.p, pair.q, strict=True) if q), F(0)) ** steps
    for epsilon in (-1.1, -0.2, 0.0, 0.05, 0.4, 3.0):
        below = sum((mass for z, mass in law.items() if z <= epsilon), F(0))
        assert loss.cdf(epsilon).lower <= below <= loss.cdf(epsilon).upper
        assert loss.tail(epsilon).lower <= 1 - below <= loss.tail(epsilon).upper
        assert loss.tail(epsilon).width <= 1e-11
    assert loss.infinite_mass.lower <= 1 - finite <= loss.infinite_mass.upper
    atoms = loss.atoms()
    assert sum(one.mass.lower for one in atoms) <= finite <= sum(one.mass.upper for one in atoms)
    assert [one.loss for one in atoms] == sorted(one.loss for one in atoms)
    assert loss.support[0] <= min(law) < max(law) <= loss.support[1]


def test_many_steps_by_slopes_agree_with_the_list_of_values():
    run = COIN * 9
    listed = Law(run._run("add"), run._run("remove"))
    assert listed.atoms() is not None
    sloped = Law(run._run("add"), run._run("remove"))
    sloped._listed = None
    points = [-1.0, -0.2, 0.123, 0.5]
    for ask in ("tail_ends", "cdf_ends"):
        for (low, high), (a, b) in zip(getattr(listed, ask)(points), getattr(sloped, ask)(points), strict=True):
            assert a <= high
            assert low <= b
            assert b - a < 1e-3
    for level in (0.2, 0.35):
        (low, high), (a, b) = listed.quantile(level), sloped.quantile(level)
        assert a <= high
        assert low <= b
        assert b - a < 1e-2


@pytest.mark.parametrize("epsilon", [-0.5, 0.1, 1.0])
def test_sampled_noise_one_step_and_slopes(epsilon):
    """One step is known from its masses, and by slopes as if it were many."""
    mp.dps = 40
    q, step = mpf(0.05), hs.Gaussian(sigma=1.0).poisson(rate=0.05)
    loss = step.loss("remove")
    edge = (mp.exp(mpf(epsilon)) - 1 + q) / q  # of e^(z of the noise)
    truth = (1 - q) * gaussian_tail(1, mp.log(edge) + 1) + q * gaussian_tail(1, mp.log(edge)) if edge > 0 else mpf(1)
    assert loss.tail(epsilon).lower <= truth <= loss.tail(epsilon).upper
    sloped = Law(step._run("remove"), step._run("add"))
    sloped.__dict__["_direct"] = None
    ((low, high),) = sloped.tail_ends([epsilon])
    assert low <= truth <= high
    assert high - low < 1e-5


def test_quantiles():
    mp.dps = 30
    loss = hs.Gaussian(sigma=1.0).loss("remove")
    for level in (1e-6, 0.5, 0.999):
        ends = loss.quantile(level)
        truth = mpf(1) / 2 + mp.sqrt(2) * mp.erfinv(2 * mpf(level) - 1)
        assert ends.lower <= truth <= ends.upper
        assert ends.width < 1e-9
    claim = hs.ApproxDP(epsilon=1.0, delta=0.01).loss("remove")
    assert claim.quantile(0.995) == hs.Bounds(math.inf, math.inf)
    assert 1.0 in claim.quantile(0.98)
    assert 0.0 in hs.compose([]).loss("remove").quantile(0.3)


def test_arrays_and_the_tail_is_above_delta():
    run = hs.Laplace(scale=5.0) * 10
    points = np.array([[0.0, 0.5], [1.0, 5.0]])
    loss = run.loss("remove")
    tails = loss.tail(points)
    assert tails.upper.shape == points.shape
    assert np.all(tails.upper >= run.delta_bounds(points).lower)
    assert np.all(loss.cdf(points).lower + tails.lower <= 1.0)
    assert np.all(loss.cdf(points).upper + tails.upper >= 1.0)


def test_a_quantile_goes_by_few_lattices(monkeypatch):
    """Far from it rough tails are enough, and near it one lattice serves all points."""
    made = []
    original = Lattice.__init__

    def counted(self, run, plan, size):
        made.append(size)
        original(self, run, plan, size)

    monkeypatch.setattr(Lattice, "__init__", counted)
    found = (hs.Laplace(scale=2.0) * 3 + hs.PureDP(epsilon=0.3) * 2).loss("remove").quantile(0.3)
    assert found.lower <= -0.1 <= found.upper
    assert found.width < 1e-6
    assert 0 < len(made) <= 15
