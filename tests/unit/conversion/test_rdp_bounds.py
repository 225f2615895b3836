"""Closed forms from Rényi DP to approximate DP, against mpmath and in their order."""

import math
import random
from itertools import pairwise

import mpmath as mp
import pytest
from mpmath import mpf

import hockeystick.conversion as conversion
from renyi_cases import CLOSE, cases, check_up


@pytest.fixture(autouse=True)
def _digits():
    with mp.workdps(60):
        yield


def _log_zeta(t):
    return -mp.log1p(t) - t * mp.log1p(1 / t)


def test_closed_forms_of_renyi_against_mpmath():
    rng = random.Random(23)
    for order, epsilon, delta in cases(24, 300):
        gamma = rng.choice([10.0 ** rng.uniform(-12, 6), epsilon * rng.uniform(0.5, 1.5) + 1e-9])
        with mp.workdps(60 + 2 * int(-math.log10(delta)) + 2 * int(abs(math.log10(order - 1.0)))):
            a, e, d, g = mpf(order), mpf(epsilon), mpf(delta), mpf(gamma)
            t = a - 1
            classic = mp.exp(min(mpf(0), t * (g - e)))
            improved = mp.exp(min(mpf(0), t * (g - e) + _log_zeta(t)))
            if classic > 1e-300:
                check_up(conversion.rdp_to_delta_classic(order, gamma, epsilon), classic)
            if improved > 1e-300:
                check_up(conversion.rdp_to_delta_improved(order, gamma, epsilon), improved)
            check_up(conversion.rdp_to_epsilon_classic(order, gamma, delta), g - mp.log(d) / t)
            first = max(mpf(0), g - (mp.log(d) - _log_zeta(t)) / t)
            terms = g + abs(mp.log(a * d)) / t + mp.log1p(1 / t)
            check_up(conversion.rdp_to_epsilon_improved(order, gamma, delta), first, terms)
            second = mp.log1p(mp.expm1(t * g) / (a * d)) / t
            closed = max(mpf(0), g + mp.log1p(-d)) if a * d >= 1 else min(first, second)
            scale = g - mp.log1p(-d) if a * d >= 1 else max(closed, min(second, terms))
            check_up(conversion.rdp_to_epsilon_closed(order, gamma, delta), closed, scale)
            if a * d >= 1:
                budget = scale = e - mp.log1p(-d)
            else:
                lower = e + (mp.log(d) - _log_zeta(t)) / t
                ratio = (1 - d) / (mp.exp(e) - d)
                other = e + mp.log((mp.exp(e) - a * d) * ratio**a + a * d) / t
                budget = max(mpf(0), lower, other)
                scale = budget if other >= lower else max(budget, e + abs(mp.log(a * d)) / t + mp.log1p(1 / t))
            if budget > 1e-290:
                found = conversion.rdp_budget_closed(order, epsilon, delta)
                assert budget - CLOSE * scale <= found <= budget, (order, epsilon, delta)


def test_the_four_conversions_are_ordered():
    for order, epsilon, delta in cases(27, 150):
        gamma = max(epsilon, 1e-3) * 0.7
        values = [
            getattr(conversion, "rdp_to_epsilon" + end)(order, gamma, delta) for end in ("", "_closed", "_improved", "_classic")
        ]
        assert all(a <= b * (1.0 + CLOSE) + CLOSE * gamma for a, b in pairwise(values)), (
            order,
            gamma,
            delta,
        )
        values = [getattr(conversion, "rdp_to_delta" + end)(order, gamma, epsilon) for end in ("", "_improved", "_classic")]
        assert all(a <= b * (1.0 + CLOSE) for a, b in pairwise(values)), (order, gamma, epsilon)
        assert conversion.rdp_budget_closed(order, epsilon, delta) <= conversion.rdp_budget(order, epsilon, delta) * (1.0 + CLOSE)
