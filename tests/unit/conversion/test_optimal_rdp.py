"""Theorem 3 of Asoodeh et al. (ISIT 2020): its minimum, both inverses and the two-sided budget, against mpmath."""

import math

import mpmath as mp
import numpy as np
import pytest
from mpmath import mpf

import hockeystick as hs
import hockeystick.conversion as conversion
from hockeystick.conversion.optimal_rdp import epsilon_of_renyi, log_delta_of_renyi
from renyi_cases import CLOSE, cases


@pytest.fixture(autouse=True)
def _digits():
    with mp.workdps(60):
        yield


def _lift(t, s):
    return mp.log((1 + t) / t * mp.expm1(-t * s) / mp.expm1(-(1 + t) * s))


def _solve_s(t, x):
    s, tolerance = x + min(x, mp.log1p(1 / t)), mpf(10) ** -min(45, mp.mp.dps - 20)
    for _ in range(100):
        slope = t / mp.expm1(t * s) - (1 + t) / mp.expm1((1 + t) * s) if t * s < 3000 else mpf(0)
        step = (s - _lift(t, s) - x) / (1 - slope)
        s -= step
        if abs(step) < tolerance * s:
            return s
    raise AssertionError("no convergence")


def _best_v(order, epsilon, delta):
    """The v of the best pair, to about 15 digits, by false position in log(e^v - 1)."""
    with mp.workdps(40):
        a, e, d = mpf(order), mpf(epsilon), mpf(delta)
        t = a - 1
        if d < mpf(10) ** -40:  # v is far below epsilon, or both are far below 1 / order
            if a * e < mpf(10) ** -12:
                return 2 * d
            s = _solve_s(t, e)
            return d * mp.expm1(-s) / mp.expm1(-_lift(t, s))

        def gap(y):
            s = _solve_s(t, e + mp.log1p(mp.exp(y)))
            return -mp.log1p(mp.exp(-y)) - mp.log(d * mp.expm1(-s) / mp.expm1(-_lift(t, s)))

        least, most = min(2, a) * d * mpf("0.99"), max(2, a) * d * mpf("1.01")
        low = mp.log(least / 2) if least >= 1 else mp.log(least / (1 - least)) - 1
        high = mp.log(most / (1 - most)) + 1 if most < mpf("0.9") else 60 + 60 / t
        f_low, f_high = gap(low), gap(high)
        for k in range(120):
            y = (low * f_high - high * f_low) / (f_high - f_low) if k % 3 else (low + high) / 2
            f = gap(y)
            if abs(f) < mpf(10) ** -25 or high - low < mpf(10) ** -18:
                break
            low, f_low, high, f_high = (low, f_low, y, f) if f > 0 else (y, f, high, f_high)
        return mp.log1p(mp.exp(y))


def cumulant(order, epsilon, delta, v=None):
    """(order - 1) * gamma of Theorem 3, enclosed."""
    digits = max(0, -float(mp.log10(mpf(delta))))
    v = _best_v(order, epsilon, delta) if v is None and mpf(order) * mpf(delta) < 1 else v
    digits = 2 * digits if digits < 320 else 30  # further down gamma itself is not small in these tests
    with mp.workdps(70 + int(digits) + 2 * int(abs(math.log10(order - 1.0)))):
        a, e, d = mpf(order), mpf(epsilon), mpf(delta)
        t = a - 1
        closed = t * (e - mp.log1p(-d))
        if a * d >= 1:
            return closed, closed
        s = _solve_s(t, e + v)
        u = s - v
        rise = 1 - a * mp.exp(-t * v) + t * mp.exp(-a * v)
        lower = mp.log(a * d * mp.exp(t * u) * -mp.expm1(-t * s) - rise + 1)
        p = mp.expm1(-v) / mp.expm1(-s)
        q = (p - d) * mp.exp(-e)
        upper = mp.log(p**a * q**-t + (1 - p) ** a * (1 - q) ** -t) if q > 0 and p < 1 else closed
        return lower, upper


def test_theorem_3_against_mpmath_in_all_directions():
    for order, epsilon, delta in cases(20, 70):
        lower, upper = cumulant(order, epsilon, delta)
        assert upper >= lower * (1 - mpf(10) ** -40)
        assert upper - lower <= mpf(10) ** -16 * upper
        t = mpf(order) - 1
        gamma = float(lower / t)
        budget = conversion.rdp_budget(order, epsilon, delta)
        if gamma > 1e-290:
            assert lower / t * (1 - CLOSE) <= budget <= upper / t, (order, epsilon, delta)
        else:
            assert 0.0 <= budget <= upper / t
        if float(t) * gamma < 1e-270:
            continue
        # the bound holds; a delta smaller by CLOSE would break it, and a gamma smaller by CLOSE gives no more than epsilon
        given = t * mpf(gamma)
        found = conversion.rdp_to_delta(order, gamma, epsilon)
        assert cumulant(order, epsilon, found)[1] >= given, (order, epsilon, delta)
        assert found * (1 - CLOSE) < 1e-300 or cumulant(order, epsilon, mpf(found) * (1 - CLOSE))[0] <= given
        found = conversion.rdp_to_epsilon(order, gamma, delta)
        assert cumulant(order, found, delta)[1] >= given, (order, epsilon, delta)
        if found > 0.0:
            assert conversion.rdp_to_epsilon(order, gamma * (1.0 - CLOSE), delta) <= max(epsilon, 5e-324) * (1.0 + CLOSE)


def test_theorem_3_is_the_minimum_of_16_by_golden_section():
    """No use of the extremal pair: (16) minimised directly."""
    ratio = (mp.sqrt(5) - 1) / 2
    for order, epsilon, delta in [(2.0, 1.0, 0.01), (3.0, 0.0, 0.1), (10.0, 1.0, 1e-5), (1.001, 0.5, 1e-3), (5.0, 2.0, 0.19)]:
        with mp.workdps(50):
            a, e, d = mpf(order), mpf(epsilon), mpf(delta)

            def value(z, a=a, e=e, d=d):
                p = d + mp.exp(z)
                return mp.log(p**a * (p - d) ** (1 - a) + (1 - p) ** a * (mp.exp(e) - p + d) ** (1 - a))

            low, high = mp.log(d) - 10, mp.log(1 - d) - mpf(10) ** -15
            for _ in range(120):
                left, right = high - ratio * (high - low), low + ratio * (high - low)
                low, high = (low, right) if value(left) < value(right) else (left, high)
            truth = e + value(low) / (a - 1)
        assert truth * (1 - CLOSE) <= conversion.rdp_budget(order, epsilon, delta) <= truth


@pytest.mark.parametrize("log_delta", [-1e4, -3000.0, -700.0, -650.0, -20.0])
@pytest.mark.parametrize(("order", "gamma"), [(1.01, 3.0), (2.0, 0.5), (20.0, 1e-3), (1e4, 0.1), (3.0, 500.0)])
def test_the_helpers_far_below_the_smallest_double(order, gamma, log_delta):
    found = epsilon_of_renyi(order, gamma, log_delta)
    with mp.workdps(40):
        delta = mp.exp(mpf(log_delta))
    given = (mpf(order) - 1) * mpf(gamma)
    assert cumulant(order, found, delta)[1] >= given
    assert cumulant(order, mpf(found) * (1 - CLOSE), delta)[0] <= given
    total = (order - 1.0) * gamma
    log_found = log_delta_of_renyi(order, total, found)
    with mp.workdps(40):
        above, below = mp.exp(mpf(log_found)), mp.exp(mpf(log_found) - mpf(10) ** -14 * (abs(log_found) + 10))
    assert cumulant(order, found, above)[1] >= mpf(total)
    assert cumulant(order, found, below)[0] <= mpf(total)


@pytest.mark.parametrize("total", [1e3, 1e9, 1e100, 1e308, math.inf])
def test_the_log_delta_of_a_huge_cumulant(total):
    truth = mp.log1p(-mp.exp(1 - mpf(total) / 4))
    assert truth <= log_delta_of_renyi(5.0, total, 1.0) <= 0.0
    assert log_delta_of_renyi(5.0, 0.0, 1.0) == -math.inf
    assert epsilon_of_renyi(5.0, math.inf, -10.0) == math.inf
    assert epsilon_of_renyi(5.0, 0.0, -10.0) == 0.0


def test_an_epsilon_whose_cumulants_cancel():
    """t (gamma - epsilon) is 1e-3 of each product of 1e12: known exactly, although the products are not."""
    order, gamma, epsilon = 1e6 + 1.0, 1e6, 1e6 + 1e-6
    difference = (mpf(gamma) - mpf(epsilon)) * mpf(10) ** 6
    truth = mp.exp(difference - mp.log(mpf(order)) - mpf(10) ** 6 * mp.log1p(mpf(10) ** -6))
    assert truth * (1 - CLOSE) <= conversion.rdp_to_delta(order, gamma, epsilon) <= truth * (1 + CLOSE)


def _bernoulli(a, p, q):
    return np.log(p**a * q ** (1 - a) + (1 - p) ** a * (1 - q) ** (1 - a)) / (a - 1)


@pytest.mark.parametrize(
    ("order", "epsilon", "delta"),
    [(2.0, 0.1, 0.6), (3.0, 0.0, 0.5), (1.5, 1.0, 0.3), (4.0, 0.5, 0.2), (2.0, 0.5, 0.1), (10.0, 0.5, 0.1), (1.1, 0.0, 0.9)],
)
def test_the_two_sided_budget_against_brute_force(order, epsilon, delta):
    """The least max(D(P||Q), D(Q||P)) over a grid of two-point pairs with p - e^epsilon q >= delta, by refinement."""
    low, high, best = delta, 1.0, math.inf
    for _ in range(6):
        p = np.linspace(low, high, 4003)[1:-1]
        q = (p - delta) * math.exp(-epsilon)
        inside = (q > 0.0) & (p < 1.0)
        p, q = p[inside], q[inside]
        worst = np.maximum(_bernoulli(order, p, q), _bernoulli(order, q, p))
        k = int(np.argmin(worst))
        best = min(best, float(worst[k]))
        low, high = p[max(0, k - 2)], p[min(len(p) - 1, k + 2)]
    found = conversion.rdp_budget_two_sided(order, epsilon, delta)
    assert best * (1.0 - 1e-9) <= found <= best * (1.0 + 1e-12)
    assert found >= conversion.rdp_budget(order, epsilon, delta)


def test_the_two_sided_budget_against_mpmath():
    for order, epsilon, delta in cases(21, 60):
        digits = 60 + 2 * int(-math.log10(delta)) + 2 * int(abs(math.log10(order - 1.0)))
        with mp.workdps(digits):
            a, e, d = mpf(order), mpf(epsilon), mpf(delta)
            t, p, q = a - 1, (d + mp.exp(e)) / (1 + mp.exp(e)), (1 - d) / (1 + mp.exp(e))
            high, low = p / q, q / p
            response = mp.log(p**a * q**-t + q**a * p**-t) / t
            beyond = mp.exp(e) < t / a * (high**a - low**a) / (high**t - low**t)  # p + q > 1 for the pair of Theorem 3
        truth = response if beyond else cumulant(order, epsilon, delta)[0] / t
        if truth > 1e-290:
            found = conversion.rdp_budget_two_sided(order, epsilon, delta)
            assert truth * (1 - CLOSE) <= found <= truth * (1 + mpf(10) ** -15), (order, epsilon, delta)


def test_remark_1():
    for order, gamma, _ in cases(22, 200):
        low, high = conversion.rdp_zero_epsilon(order, gamma)
        exact = conversion.rdp_to_delta(order, gamma, 0.0)
        assert exact * (1.0 - CLOSE) <= low <= high == 1.0
        if low < 1.0 and gamma > 0.0:
            assert conversion.rdp_to_epsilon(order, gamma, min(low * (1.0 + CLOSE), 1.0 - 2.0**-53)) <= 1e-13 * gamma
    assert conversion.rdp_zero_epsilon(2.0, 1e3) == (1.0, 1.0)


def test_a_budget_gives_back_its_target():
    for order, epsilon, delta in cases(30, 150):
        gamma = conversion.rdp_budget(order, epsilon, delta)
        if gamma * (order - 1.0) < 1e-270:
            continue
        assert conversion.rdp_to_delta(order, gamma, epsilon) <= delta * (1.0 + CLOSE)
        assert conversion.rdp_to_epsilon(order, gamma * (1.0 - 1e-13), delta) <= epsilon * (1.0 + 1e-13)
        rho = conversion.zcdp_budget_closed(epsilon, delta)
        if rho > 1e-90:
            assert conversion.zcdp_to_epsilon_closed(rho * (1.0 - 1e-12), delta) <= epsilon * (1.0 + 1e-12) + 1e-15


def test_an_infinite_order_is_pure_dp_of_one_direction():
    """The limits of ever larger orders."""
    for gamma, other in ((0.5, 0.1), (0.5, 0.9), (3.0, 1e-6), (0.0, 0.3)):
        for name in ("rdp_to_epsilon", "rdp_to_epsilon_closed", "rdp_to_epsilon_improved", "rdp_to_epsilon_classic"):
            function = getattr(conversion, name)
            assert function(math.inf, gamma, other) == pytest.approx(function(1e15, gamma, other), rel=1e-9, abs=1e-12)
        for name in ("rdp_budget", "rdp_budget_closed", "rdp_budget_two_sided"):
            function = getattr(conversion, name)
            assert function(math.inf, gamma, other) == pytest.approx(function(1e14, gamma, other), rel=1e-9)
        for name in ("rdp_to_delta", "rdp_to_delta_improved", "rdp_to_delta_classic"):
            function = getattr(conversion, name)
            assert function(math.inf, gamma, other) == pytest.approx(function(1e15, gamma, other), rel=1e-9, abs=1e-12)
    assert conversion.rdp_to_epsilon(math.inf, 0.5, 1e-300) == 0.5
    assert conversion.rdp_zero_epsilon(math.inf, 0.3)[0] == pytest.approx(1.0 - math.exp(-0.3), rel=1e-14)
    pure = conversion.rdp_budget_two_sided(math.inf, 0.5, 0.1)
    assert conversion.implied_delta(pure, 0.0, 0.5) == pytest.approx(0.1, rel=1e-12)
    assert conversion.rdp_curve_to_delta(lambda order: 0.5, 0.6, orders=[2.0, math.inf]) == (0.0, math.inf)
    epsilon, order = conversion.rdp_curve_to_epsilon(lambda order: 0.5, 0.1, orders=[2.0, math.inf])
    assert (epsilon, order) == (conversion.rdp_to_epsilon(math.inf, 0.5, 0.1), math.inf)


@pytest.mark.parametrize("order", [2.0, 1.5, 64.0])
def test_edges_are_answered(order):
    assert conversion.rdp_to_epsilon(order, 0.0, 1e-5) == 0.0
    assert conversion.rdp_to_delta(order, 0.0, 0.0) == 0.0
    assert conversion.rdp_to_epsilon(order, 1.0, 1.0 / order) >= conversion.rdp_to_epsilon(order, 1.0, 1.01 / order) >= 0.0
    assert conversion.rdp_budget(order, 0.0, 1e-3) > 0.0
    assert conversion.rdp_curve_to_epsilon(lambda a: 0.1 * a, 1e-5, orders=[order])[1] == order


@pytest.mark.parametrize("order", [1.001, 2.0, 64.0, 1e15, math.inf])
@pytest.mark.parametrize("epsilon", [0.0, 0.5, 1e100])
def test_the_budget_at_delta_0_which_theorem_3_includes(order, epsilon):
    """The limit of small deltas: nothing at a finite order; at an infinite one, pure DP, epsilon itself."""
    budget = conversion.rdp_budget(order, epsilon, 0.0)
    assert budget == (epsilon if order == math.inf else 0.0)
    assert budget <= conversion.rdp_budget(order, epsilon, 1e-300) * (1.0 + CLOSE)
    assert conversion.rdp_budget(order, epsilon, [0, 0.1])[0] == budget
    with pytest.raises(hs.BadValue, match=r"delta is 1.0; allowed: a probability from 0 to below 1"):
        conversion.rdp_budget(order, epsilon, 1.0)
