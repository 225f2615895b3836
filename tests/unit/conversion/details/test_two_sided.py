"""Conversions of Rényi bounds that hold in both directions, against a search over Bernoulli pairs in mpmath."""

import mpmath as mp
import pytest
from mpmath import mpf

from hockeystick import conversion
from renyi_cases import cases

PAIRS = [(2.0, 1.2, 0.1), (3.0, 0.9, 0.05), (1.5, 0.3, 0.0), (5.0, 2.0, 1.0)]  # order, gamma, epsilon


def _renyi(order, p, q):
    return mp.log(p**order * q ** (1 - order) + (1 - p) ** order * (1 - q) ** (1 - order)) / (order - 1)


def _largest_p(order, gamma, q):
    """The largest p with both divergences at most gamma: they rise in p > q."""
    low, high = q, mpf(1)
    for _ in range(60):
        p = (low + high) / 2
        fits = p < 1 and max(_renyi(order, p, q), _renyi(order, q, p)) <= gamma
        low, high = (p, high) if fits else (low, p)
    return low


def _best(order, gamma, value):
    """The largest value(p, q); that is unimodal in q, as the pairs within gamma are a convex set."""
    low, high, ratio = mpf(0), mpf(1), (mp.sqrt(5) - 1) / 2
    for _ in range(60):
        left, right = high - ratio * (high - low), low + ratio * (high - low)
        if value(_largest_p(order, gamma, left), left) > value(_largest_p(order, gamma, right), right):
            high = right
        else:
            low = left
    q = (low + high) / 2
    return value(_largest_p(order, gamma, q), q)


@pytest.mark.parametrize(("order", "gamma", "epsilon"), PAIRS)
def test_both_inverses_against_all_bernoulli_pairs(order, gamma, epsilon):
    with mp.workdps(25):
        truth = _best(mpf(order), mpf(gamma), lambda p, q: p - mp.exp(mpf(epsilon)) * q)
        found = conversion.rdp_to_delta_two_sided(order, gamma, epsilon)
        assert truth * (1 - mpf(10) ** -15) <= found <= truth * (1 + mpf(10) ** -12)
        assert found <= conversion.rdp_to_delta(order, gamma, epsilon)
        back = conversion.rdp_to_epsilon_two_sided(order, gamma, found)
        assert abs(back - epsilon) <= 1e-11
        assert back <= conversion.rdp_to_epsilon(order, gamma, found)


def test_they_are_inverse_to_the_budget_and_never_above_one_direction():
    """What is returned was checked: the budget there is enough, and just below it is not."""
    tighter = 0
    for order, epsilon, delta in cases(5, 60):
        gamma = conversion.rdp_budget_two_sided(order, epsilon, delta)
        if gamma == 0.0:
            continue
        found = conversion.rdp_to_epsilon_two_sided(order, gamma, delta)
        one_sided = conversion.rdp_to_epsilon(order, gamma, delta)
        assert found <= one_sided
        if found < one_sided:
            assert conversion.rdp_budget_two_sided(order, found, delta) >= gamma
            assert found <= epsilon
            tighter += 1
        found = conversion.rdp_to_delta_two_sided(order, gamma, epsilon)
        one_sided = conversion.rdp_to_delta(order, gamma, epsilon)
        assert found <= one_sided
        if found < one_sided:
            assert conversion.rdp_budget_two_sided(order, epsilon, found) >= gamma
            assert found <= delta
            assert conversion.rdp_budget_two_sided(order, epsilon, found * (1 - 1e-12)) <= gamma
    assert tighter > 10


def test_the_ends():
    assert conversion.rdp_to_epsilon_two_sided(2.0, 0.0, 0.1) == 0.0
    assert conversion.rdp_to_delta_two_sided(2.0, 0.0, 0.1) == 0.0
    assert conversion.rdp_to_delta_two_sided(2.0, 1e3, 0.0) == 1.0
    pure = conversion.rdp_to_delta_two_sided(float("inf"), 1.0, 0.25)  # Theorem 3.1 of Liu et al.
    assert pure == pytest.approx(conversion.implied_delta(1.0, 0.0, 0.25), rel=1e-13)
