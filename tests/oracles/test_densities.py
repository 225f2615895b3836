"""Pairs of densities against ball arithmetic: single steps by quadrature, composed exponentials by incomplete gamma functions."""

import math

import numpy as np
import pytest
import scipy.stats as st
from flint import acb, arb

import hockeystick as hs
import truth_densities
from hockeystick.loss.own import cells, log_concave
from hockeystick.mechanism.own.densities import ACCURACY

INF = math.inf
LOGS = truth_densities.LOGARITHMS


class Tilted:
    """The density proportional to e^{mx} on [-1, 1]."""

    def __init__(self, m):
        self.m = m

    def support(self):
        return -1.0, 1.0

    def logpdf(self, x):
        return self.m * x - math.log((math.exp(self.m) - math.exp(-self.m)) / self.m)

    def cdf(self, x):
        return np.expm1(self.m * (x + 1.0)) / math.expm1(2.0 * self.m)

    def sf(self, x):
        return np.expm1(self.m * (x - 1.0)) / math.expm1(-2.0 * self.m)


CASES = {  # two densities, the logarithms of both in ball arithmetic, where they matter, what is stated
    "logistic": (st.logistic(1.0), st.logistic(0.0), "logistic", (1.0,), (0.0,), (-70.0, 71.0), {"losses": (-1.0, 1.0)}),
    "gumbel": (st.gumbel_r(0.5), st.gumbel_r(0.0), "gumbel", (0.5,), (0.0,), (-4.5, 70.0), {}),
    "exponential": (st.expon(scale=2.0), st.expon(), "expon", (2.0,), (1.0,), (1e-30, 300.0), {}),
    "beta": (st.beta(3.0, 2.0), st.beta(2.0, 2.5), "beta", (3.0, 2.0), (2.0, 2.5), (1e-12, 1.0 - 1e-12), {}),
    "truncated": (Tilted(1.0), Tilted(0.5), "truncated", (1.0,), (0.5,), (-1.0, 1.0), {}),
    "norm": (st.norm(1.0, 1.0), st.norm(0.1, 1.0), "norm", (1.0,), (0.1,), (-15.0, 15.0), {}),
}


@pytest.fixture(autouse=True)
def coarse(monkeypatch):
    """Bounds hold for any number of cells; few are quick, and show a violation all the more."""
    monkeypatch.setattr(cells, "TUNING", cells.Tuning(cells=400))


@pytest.mark.parametrize("case", CASES)
def test_one_step_and_its_sample_contain_the_quadrature(case):
    p, q, name, first, second, (low, high), stated = CASES[case]
    pair = hs.Pair(p, q, ratio="increasing", **stated)
    rate = 0.2

    def truth(level):
        return truth_densities.hockey_stick(lambda x: LOGS[name](x, *first), lambda x: LOGS[name](x, *second), level, low, high)

    for level in (0.3, 1.0, 1.3, 2.2):
        least, most = truth(level)
        found = pair.hockey_stick(level)
        assert found.lower <= float(most) + 1e-22
        assert found.upper >= float(least) - 1e-22
        assert found.width < 3e-3
        if level >= 1.0:
            exact = pair.delta_bounds(epsilon=math.log(level), neighbours="remove")
            assert exact.lower <= float(most) * (1 + 1e-12) + 1e-22
            assert exact.upper >= float(least) * (1 - 1e-12) - 1e-22
            # Theorem 11 of Zhu, Dong and Wang: (1 - r) Q + r P against Q
            drawn = pair.poisson(rate=rate).delta_bounds(epsilon=math.log(1.0 + rate * (level - 1.0)), neighbours="remove")
            assert drawn.lower <= rate * float(most) * (1 + 1e-9) + 1e-22
            assert drawn.upper >= rate * float(least) * (1 - 1e-9) - 1e-22


def test_composed_exponentials_contain_the_gamma_law():
    pair = hs.Pair(st.expon(scale=2.0), st.expon(), ratio="increasing")
    for count in (1, 10):
        run = pair * count
        for epsilon in (0.3, 4.0):
            for relation, truth in zip(("remove", "add"), truth_densities.exponentials(2.0, count, epsilon), strict=True):
                found = run.delta_bounds(epsilon=epsilon, neighbours=relation)
                assert found.lower <= float(truth) * (1 + 1e-12) + 1e-22, (count, epsilon, relation)
                assert found.upper >= float(truth) * (1 - 1e-12), (count, epsilon, relation)
                assert found.width <= 2e-3


def test_log_concave_densities_contain_the_same(monkeypatch):
    monkeypatch.setattr(log_concave, "TUNING", log_concave.Tuning(pieces=50))

    def moved(place):
        return lambda x: np.exp(-0.5 * (x - place) ** 2) / math.sqrt(2.0 * math.pi)

    pair = hs.Pair(moved(1.0), moved(0.0), ratio="increasing", log_concave=True, support=(-INF, INF))
    noise = hs.Gaussian(sigma=1.0)
    for count in (1, 8):
        for epsilon in (0.5, 4.0):
            truth = (noise * count).delta_bounds(epsilon=epsilon)
            found = (pair * count).delta_bounds(epsilon=epsilon)
            assert found.lower <= truth.upper
            assert found.upper >= truth.lower
            assert found.width < 1e-3


def test_turned_lines_and_mixed_runs():
    pair = hs.Pair(st.logistic(-1.0), st.logistic(0.0), ratio="decreasing", losses=(-1.0, 1.0))
    other = hs.Pair(st.logistic(1.0), st.logistic(0.0), ratio="increasing", losses=(-1.0, 1.0))
    for epsilon in (0.2, 0.7):
        one, two = pair.delta_bounds(epsilon=epsilon), other.delta_bounds(epsilon=epsilon)
        assert one.lower <= two.upper
        assert two.lower <= one.upper
    mixed = hs.Pair(st.expon(scale=2.0), st.expon(), ratio="increasing") + hs.PureDP(epsilon=0.5)
    truth, _ = truth_densities.exponentials(2.0, 1, 1.0)
    assert mixed.delta_bounds(epsilon=1.0, neighbours="remove").upper >= float(truth)


def test_two_normals_and_two_laplace_are_that_noise():
    normal = hs.Pair(st.norm(1.0, 2.0), st.norm(0.0, 2.0)) * 5
    assert normal.epsilon(delta=1e-6) == (hs.Gaussian(sigma=2.0) * 5).epsilon(delta=1e-6)
    assert normal.rdp(3.0) == (hs.Gaussian(sigma=2.0) * 5).rdp(3.0)
    laplace = hs.Pair(st.laplace(0.0, 2.0), st.laplace(1.0, 2.0)).poisson(rate=0.1) * 5
    assert laplace.epsilon(delta=1e-6) == pytest.approx(
        (hs.Laplace(scale=2.0).poisson(rate=0.1) * 5).epsilon(delta=1e-6), rel=1e-9
    )
    close = hs.Pair(st.norm(1.0), st.norm(0.0))
    truth, _ = truth_densities.hockey_stick(lambda x: LOGS["norm"](x, 1), lambda x: LOGS["norm"](x, 0), acb(2).real, -14.0, 14.0)
    assert close.hockey_stick(2).lower <= float(truth) <= close.hockey_stick(2).upper


@pytest.mark.parametrize(
    ("p", "q"),
    [(st.t(5, 1.0), st.t(5, 0.0)), (st.norm(0.0, 2.0), st.norm(0.0, 1.0)), (st.cauchy(1.0), st.cauchy(0.0))],
    ids=["t", "scales", "cauchy"],
)
def test_ratios_that_are_not_monotone_are_refused(p, q):
    with pytest.raises(hs.Unsupported, match="not so monotone"):
        hs.Pair(p, q, ratio="increasing").epsilon(delta=1e-5)
    with pytest.raises(hs.Unsupported, match="monotone likelihood ratio"):
        hs.Pair(p, q)


def test_two_scales_through_a_statistic():
    """Of n normals the sum of squares is sufficient, with a chi-square law."""
    pair = hs.Pair(st.halfnorm(scale=2.0), st.halfnorm(scale=1.0), ratio="increasing")
    found = (pair * 2).delta_bounds(epsilon=1.0, neighbours="remove")
    # two degrees of freedom: exponential, Z = T (1 - 1/4)/2 - 2 log 2
    t = (1.0 + 2.0 * math.log(2.0)) / 0.375
    truth = math.exp(-t / 8.0) - math.exp(1.0 - t / 2.0)
    assert found.lower <= truth * (1 + 1e-12)
    assert truth * (1 - 1e-12) <= found.upper


def test_supports_that_differ():
    pair = hs.Pair(st.uniform(0.1, 1.0), st.uniform(0.0, 1.0), ratio="increasing")
    assert pair.epsilon(delta=0.09) == INF
    found = pair.delta_bounds(epsilon=1.0)
    assert found.lower <= 0.1 <= found.upper
    assert found.width < 1e-11
    assert pair.renyi(2).lower == INF


def test_the_default_accuracy_is_above_what_scipy_errs():
    """Twice the largest error that is found in tails and logarithms of densities, against ball arithmetic."""
    known = {
        "norm": (st.norm(), lambda x: (x / arb(2).sqrt()).erfc() / 2, lambda x: -(x**2) / 2 - (2 * arb.pi()).sqrt().log(), 36.0),
        "gumbel": (st.gumbel_r(), lambda x: -((-((-x).exp())).expm1()), lambda x: -x - (-x).exp(), 600.0),
        "gamma": (st.gamma(2.5), lambda x: x.gamma_upper(arb(2.5), 1), lambda x: 1.5 * x.log() - x - arb(2.5).lgamma(), 600.0),
        "expon": (st.expon(), lambda x: (-x).exp(), lambda x: -x, 600.0),
    }
    for frozen, above, log_density, far in known.values():
        for place in np.geomspace(1e-3, far, 100).tolist():
            truth, logarithm = float(above(arb(place))), float(log_density(arb(place)))
            assert abs(float(frozen.sf(place)) - truth) <= 0.5 * ACCURACY * truth
            assert abs(float(frozen.logpdf(place)) - logarithm) <= 0.5 * ACCURACY * (1.0 + abs(logarithm))
