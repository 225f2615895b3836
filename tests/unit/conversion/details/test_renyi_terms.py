"""zeta, f and g, the pair of Theorem 3 and the branch of Lemma 2 (Asoodeh et al. 2020), against mpmath."""

import math

import mpmath as mp
import pytest
from mpmath import mpf

import hockeystick as hs
from hockeystick import conversion
from renyi_cases import CLOSE, cases


@pytest.fixture(autouse=True)
def _digits():
    with mp.workdps(60):
        yield


def test_zeta():
    for order, _, _ in cases(1, 60):
        a = mpf(order)
        truth = (1 - 1 / a) ** (a - 1) / a
        assert truth <= conversion.rdp_zeta(order) <= truth * (1 + mpf(10) ** -13)
    assert conversion.rdp_zeta(1.0 + 2.0**-52) == pytest.approx(1.0, abs=1e-13)


def test_f_and_g_are_below_and_close_and_their_larger_one_is_the_closed_budget():
    for order, epsilon, delta in cases(2, 150):
        if order * delta >= 0.999 or epsilon > 1e3:
            continue
        a, e, d = mpf(order), mpf(epsilon), mpf(delta)
        f, g = conversion.rdp_budget_terms(order, epsilon, delta)
        with mp.workdps(120 + int(-2 * math.log10(delta))):
            zeta = (1 - 1 / a) ** (a - 1) / a
            least = e - mp.log(zeta / d) / (a - 1)
            other = e + mp.log((mp.exp(e) - a * d) * ((1 - d) / (mp.exp(e) - d)) ** a + a * d) / (a - 1)
        assert least - CLOSE * (e + (1 + abs(mp.log(zeta / d))) / (a - 1)) <= g <= least
        assert other * (1 - 200 * mpf(2) ** -53) <= f <= other + mpf(10) ** -300 or other < mpf(10) ** -300
        assert conversion.rdp_budget_closed(order, epsilon, delta) == max(0.0, f, g)
    with pytest.raises(hs.Unsupported, match=r"Eq\. 18"):
        conversion.rdp_budget_terms(2.0, 1.0, 0.5)


def test_the_pair_is_the_minimiser_of_theorem_3():
    for order, epsilon, delta in cases(3, 40):
        if delta <= 1e-12 or order * delta >= 0.9 or not 1.001 < order < 1e3 or epsilon > 20.0:
            continue
        p, q = conversion.rdp_budget_pair(order, epsilon, delta)
        a, e, d = mpf(order), mpf(epsilon), mpf(delta)

        def objective(p, a=a, e=e, d=d):
            return p**a * (p - d) ** (1 - a) + (1 - p) ** a * (mp.exp(e) - p + d) ** (1 - a)

        at, step = mpf(p), mpf(p) * mpf(10) ** -7
        assert objective(at) < min(objective(at - step), objective(at + step))
        assert p > order * delta * (1 - 1e-9)
        assert p - math.exp(epsilon) * q == pytest.approx(delta, rel=1e-6)
        value = e + mp.log(objective(at)) / (a - 1)
        assert value == pytest.approx(conversion.rdp_budget(order, epsilon, delta), rel=1e-8)
    assert conversion.rdp_budget_pair(4.0, 1.0, 0.3) == (1.0, 0.7 * math.exp(-1.0))
    assert conversion.rdp_budget_pair(math.inf, 0.0, 0.25) == (1.0, 0.75)


def test_the_branch_of_lemma_2():
    for rho, delta in [(1.0 / 800.0, 1e-5), (0.5, 1e-5), (3.0, 1e-9), (0.01, 0.1), (40.0, 0.5)]:
        epsilon, order, branch = conversion.zcdp_closed_branch(rho, delta)
        assert epsilon == conversion.zcdp_to_epsilon_closed(rho, delta)
        assert branch == 0.0
        t, r = mpf(order) - 1, mpf(rho)
        assert abs(r * t * t + mp.log1p(t) + mp.log(mpf(delta))) < 1e-9
    epsilon, order, branch = conversion.zcdp_closed_branch(1e-4, 0.9)
    assert epsilon == 0.0
    assert conversion.zcdp_closed_branch(0.0, 0.5)[0] == 0.0
