"""Zero-concentrated DP to approximate DP and back, against mpmath and in its order."""

import math
import random
from itertools import pairwise

import mpmath as mp
import numpy as np
import pytest
from mpmath import mpf

import hockeystick.conversion as conversion
from renyi_cases import CLOSE, cases, check_up


@pytest.fixture(autouse=True)
def _digits():
    with mp.workdps(60):
        yield


def _root(function):
    """Where an increasing function of log t vanishes."""
    low, high = mpf(-60), mpf(720)
    for _ in range(110):
        middle = (low + high) / 2
        low, high = (low, middle) if function(mp.exp(middle)) > 0 else (middle, high)
    return mp.exp(low)


def test_closed_forms_of_zcdp_against_mpmath():
    rng = random.Random(25)
    for _, epsilon, delta in cases(26, 60):
        rho = 10.0 ** rng.uniform(-12, 4)
        with mp.workdps(40):
            r, e, d = mpf(rho), mpf(epsilon), mpf(delta)
            log = -mp.log(d)
            check_up(conversion.zcdp_to_epsilon_classic(rho, delta), r + 2 * mp.sqrt(r * log))
            classic = mp.exp(-((e - r) ** 2) / (4 * r)) if e > r else mpf(1)
            if classic > 1e-300:
                check_up(conversion.zcdp_to_delta_classic(rho, epsilon), classic)
            budget = (e / (mp.sqrt(log + e) + mp.sqrt(log))) ** 2
            if budget > 1e-290:
                assert budget * (1 - CLOSE) <= conversion.zcdp_budget_classic(epsilon, delta) <= budget
            t = _root(lambda t, r=r, log=log: r * t * t + mp.log1p(t) - log)
            left = (log - mp.log1p(t)) / t
            terms = r * (1 + t) + abs(left) + mp.log1p(1 / t)
            check_up(conversion.zcdp_to_epsilon_improved(rho, delta), max(mpf(0), r * (1 + t) + left - mp.log1p(1 / t)), terms)
            t = _root(lambda t, r=r, e=e: r * (2 * t + 1) - mp.log1p(1 / t) - e)
            improved = mp.exp(min(mpf(0), t * (r * (t + 1) - e - mp.log1p(1 / t)) - mp.log1p(t)))
            if improved > 1e-300:
                check_up(conversion.zcdp_to_delta_improved(rho, epsilon), improved)
            t = _root(lambda t, e=e, log=log: e + mp.log1p(1 / t) - (2 * t + 1) * (log - mp.log1p(t)) / t**2)
            budget = (e - (log - mp.log1p(t)) / t + mp.log1p(1 / t)) / (1 + t)
            if budget > 1e-290:
                assert budget * (1 - CLOSE) <= conversion.zcdp_budget_improved(epsilon, delta) <= budget


def test_lemma_2_takes_each_of_its_terms():
    for rho in np.logspace(-8, 2, 21).tolist():
        for delta in (1e-10, 1e-3, 0.3, 0.9):
            orders = [1.0 + x * (1.0 / delta - 1.0) for x in np.logspace(-12, 0, 400).tolist()]
            ordinary = [a for a in orders if rho * a * (a - 1.0) < 600.0]
            second = min(math.log1p(math.expm1(rho * a * (a - 1.0)) / (a * delta)) / (a - 1.0) for a in ordinary)
            last = max(0.0, rho / delta + math.log1p(-delta))
            found = conversion.zcdp_to_epsilon_closed(rho, delta)
            assert found <= min(second, last, conversion.zcdp_to_epsilon_improved(rho, delta)) * (1.0 + 1e-13) + 1e-15
    # rho / delta + log(1 - delta) is 0 here, and the others are not
    assert conversion.zcdp_to_epsilon_closed(0.2, 0.6) == 0.0 < conversion.zcdp_to_epsilon_classic(0.2, 0.6)


def test_pure_to_zcdp():
    for epsilon in (1e-12, 1e-3, 0.5, 1.0, 7.0, 300.0):
        tight, loose = conversion.pure_to_zcdp_tight(epsilon), conversion.pure_to_zcdp(epsilon)
        check_up(tight, mpf(epsilon) * mp.tanh(mpf(epsilon) / 2))
        check_up(loose, mpf(epsilon) ** 2 / 2)
        assert tight <= loose
        p, q = 1 / (1 + mp.exp(-mpf(epsilon))), 1 / (1 + mp.exp(mpf(epsilon)))
        for order in (mpf("1.0001"), mpf(2), mpf(50)):  # randomised response has its largest D / order at order 1
            assert mp.log(p**order * q ** (1 - order) + q**order * p ** (1 - order)) / (order - 1) <= tight * order
    assert conversion.pure_to_zcdp(0.0) == conversion.pure_to_zcdp_tight(0.0) == 0.0


def test_the_four_conversions_of_zcdp_are_ordered():
    rng = random.Random(28)
    for _ in range(60):
        rho, epsilon = 10.0 ** rng.uniform(-8, 3), rng.choice([0.0, 10.0 ** rng.uniform(-4, 3)])
        delta = rng.choice([10.0 ** -rng.uniform(0, 12), 10.0 ** -rng.uniform(0, 300)])
        ends = ("", "_closed", "_improved", "_classic")
        values = [getattr(conversion, "zcdp_to_epsilon" + end)(rho, delta) for end in ends]
        assert all(a <= b for a, b in pairwise(values)), (rho, delta)
        values = [getattr(conversion, "zcdp_to_delta" + end)(rho, epsilon) for end in ("", "_improved", "_classic")]
        assert all(a <= b * (1.0 + CLOSE) for a, b in pairwise(values)), (rho, epsilon)
        values = [getattr(conversion, "zcdp_budget" + end)(epsilon, delta) for end in ends]
        assert all(a >= b * (1.0 - CLOSE) for a, b in pairwise(values)), (epsilon, delta)


def test_no_order_of_a_grid_beats_the_best_order():
    rng = random.Random(29)
    steps = (10.0 ** np.linspace(-12, 12, 161)).tolist()
    for _ in range(25):
        rho, delta = 10.0 ** rng.uniform(-10, 4), rng.choice([10.0 ** -rng.uniform(0, 12), 1.0 - 10.0 ** -rng.uniform(0, 9)])
        epsilon = rng.choice([0.0, 10.0 ** rng.uniform(-8, 3)])
        orders = [1.0 + t for t in steps]
        gammas = [math.nextafter(rho * a, math.inf) for a in orders]
        best = min(conversion.rdp_to_epsilon(a, g, delta) for a, g in zip(orders, gammas, strict=True))
        assert conversion.zcdp_to_epsilon(rho, delta) <= best * (1.0 + 2.0 * CLOSE)
        best = min(conversion.rdp_to_delta(a, g, epsilon) for a, g in zip(orders, gammas, strict=True))
        assert conversion.zcdp_to_delta(rho, epsilon) <= best * (1.0 + 2.0 * CLOSE)
        best = max(conversion.rdp_budget(a, epsilon, delta) / a for a in orders)
        assert conversion.zcdp_budget(epsilon, delta) >= best * (1.0 - 2.0 * CLOSE)
