"""Asoodeh et al. (ISIT 2020) as functions: reference values, mpmath, laws, bad input.

The oracle of Theorem 3 encloses the minimum of (16): from above by (16) itself at a point found in mpmath, from below by
weak duality (the tangent of x^order at the lower likelihood ratio); both agree to many digits more than are asked for.
"""

import json
import math
import random
import re
import warnings
from fractions import Fraction
from itertools import pairwise

import mpmath as mp
import numpy as np
import pytest
from mpmath import mpf

import hockeystick as hs
import hockeystick.conversion as conversion
from hockeystick.conversion.optimal_rdp import epsilon_of_renyi, log_delta_of_renyi
from places import DATA

ROWS = json.loads((DATA / "golden_a.json").read_text(encoding="utf-8"))["values"]
CLOSE = 5e-14


@pytest.fixture(autouse=True)
def _digits():
    with mp.workdps(60):
        yield


class _Package:
    conversion = conversion


def asked(call, inputs):
    return eval(call, {"hs": _Package, "math": math}, dict(inputs))


def numbers(row):
    return {k: [float(x) for x in v] if isinstance(v, list) else float(v) for k, v in row["inputs"].items()}


def blur(row):
    """By how much the answer may move since decimal inputs, and arithmetic on them in the call, are rounded."""
    inputs = numbers(row)
    centre, moved = asked(row["call"], inputs), 0.0
    arithmetic = any(sign in row["call"] for sign in ("*", "/"))
    for name, value in inputs.items():
        if isinstance(value, list) or name not in row["call"]:
            continue
        if arithmetic or Fraction(row["inputs"][name]) != Fraction(value):
            for towards in (-math.inf, math.inf):
                moved += abs(asked(row["call"], {**inputs, name: math.nextafter(value, towards)}) - centre)
    return moved + (4.0 * 2.0**-53 * abs(centre) if arithmetic or "eps_list" in inputs else 0.0)


@pytest.mark.parametrize("row", ROWS, ids=[row["id"] for row in ROWS])
def test_reference_value(row):
    truth, found = float(row["value"]), asked(row["call"], numbers(row))
    if row["kind"] == "integer":
        assert found == int(row["value"])
        return
    allowed = blur(row)
    assert abs(found - truth) <= CLOSE * abs(truth) + allowed
    if "asymptotic" in row["call"]:
        return
    slip = allowed + 2.0**-52 * abs(truth)  # the reference is rounded to a double as well
    assert found <= truth + slip if "budget" in row["call"] else found >= truth - slip


# --- the oracle of Theorem 3


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


def cases(seed, count):
    rng = random.Random(seed)
    for _ in range(count):
        order = rng.choice([1.0 + 10.0 ** rng.uniform(-9, 6), 1.0 + 10.0 ** rng.uniform(-2, 3), 2.0, 1.0 + 1e-9, 1e6])
        epsilon = rng.choice([0.0, 10.0 ** rng.uniform(-12, 4), 10.0 ** rng.uniform(-3, 1.5)])
        small = 10.0 ** -rng.choice([rng.uniform(0, 12), rng.uniform(0, 300)])
        close = (1.0 - 10.0 ** -rng.uniform(0, 13)) / order
        delta = rng.choice([small, small, close, 1.0 - 10.0 ** -rng.uniform(0, 9)])
        yield order, epsilon, min(max(delta, 1e-300), 1.0 - 1e-9)


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


# --- the two-sided budget, Remark 1


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


# --- closed forms


def _log_zeta(t):
    return -mp.log1p(t) - t * mp.log1p(1 / t)


def _check_up(found, truth, scale=None):
    assert truth <= found <= truth + CLOSE * (abs(truth) if scale is None else scale)


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
                _check_up(conversion.rdp_to_delta_classic(order, gamma, epsilon), classic)
            if improved > 1e-300:
                _check_up(conversion.rdp_to_delta_improved(order, gamma, epsilon), improved)
            _check_up(conversion.rdp_to_epsilon_classic(order, gamma, delta), g - mp.log(d) / t)
            first = max(mpf(0), g - (mp.log(d) - _log_zeta(t)) / t)
            terms = g + abs(mp.log(a * d)) / t + mp.log1p(1 / t)
            _check_up(conversion.rdp_to_epsilon_improved(order, gamma, delta), first, terms)
            second = mp.log1p(mp.expm1(t * g) / (a * d)) / t
            closed = max(mpf(0), g + mp.log1p(-d)) if a * d >= 1 else min(first, second)
            scale = g - mp.log1p(-d) if a * d >= 1 else max(closed, min(second, terms))
            _check_up(conversion.rdp_to_epsilon_closed(order, gamma, delta), closed, scale)
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
            _check_up(conversion.zcdp_to_epsilon_classic(rho, delta), r + 2 * mp.sqrt(r * log))
            classic = mp.exp(-((e - r) ** 2) / (4 * r)) if e > r else mpf(1)
            if classic > 1e-300:
                _check_up(conversion.zcdp_to_delta_classic(rho, epsilon), classic)
            budget = (e / (mp.sqrt(log + e) + mp.sqrt(log))) ** 2
            if budget > 1e-290:
                assert budget * (1 - CLOSE) <= conversion.zcdp_budget_classic(epsilon, delta) <= budget
            t = _root(lambda t, r=r, log=log: r * t * t + mp.log1p(t) - log)
            left = (log - mp.log1p(t)) / t
            terms = r * (1 + t) + abs(left) + mp.log1p(1 / t)
            _check_up(conversion.zcdp_to_epsilon_improved(rho, delta), max(mpf(0), r * (1 + t) + left - mp.log1p(1 / t)), terms)
            t = _root(lambda t, r=r, e=e: r * (2 * t + 1) - mp.log1p(1 / t) - e)
            improved = mp.exp(min(mpf(0), t * (r * (t + 1) - e - mp.log1p(1 / t)) - mp.log1p(t)))
            if improved > 1e-300:
                _check_up(conversion.zcdp_to_delta_improved(rho, epsilon), improved)
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
        _check_up(tight, mpf(epsilon) * mp.tanh(mpf(epsilon) / 2))
        _check_up(loose, mpf(epsilon) ** 2 / 2)
        assert tight <= loose
        p, q = 1 / (1 + mp.exp(-mpf(epsilon))), 1 / (1 + mp.exp(mpf(epsilon)))
        for order in (mpf("1.0001"), mpf(2), mpf(50)):  # randomised response has its largest D / order at order 1
            assert mp.log(p**order * q ** (1 - order) + q**order * p ** (1 - order)) / (order - 1) <= tight * order
    assert conversion.pure_to_zcdp(0.0) == conversion.pure_to_zcdp_tight(0.0) == 0.0


# --- laws


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


# --- curves


def test_a_linear_curve_is_zcdp():
    for rho, delta in [(0.5, 1e-5), (1e-4, 1e-8), (30.0, 1e-3), (0.5, 1e-200)]:
        epsilon, order = conversion.rdp_curve_to_epsilon(lambda a, rho=rho: rho * a, delta)
        assert epsilon == pytest.approx(conversion.zcdp_to_epsilon(rho, delta), rel=2e-13)
        assert conversion.rdp_to_epsilon(order, rho * order, delta) == epsilon
        found, order = conversion.rdp_curve_to_delta(lambda a, rho=rho: rho * a, epsilon)
        assert found == pytest.approx(delta, rel=1e-11)
        assert conversion.rdp_to_delta(order, rho * order, epsilon) == found


def test_listed_orders_are_used_exactly():
    tried = []

    def curve(order):
        tried.append(order)
        return 0.5 * order

    epsilon, order = conversion.rdp_curve_to_epsilon(curve, 1e-5, orders=[2, 4.5, np.float64(8.0)])
    assert (epsilon, order) == (conversion.rdp_to_epsilon(4.5, 2.25, 1e-5), 4.5)
    assert set(tried) == {2.0, 4.5, 8.0}
    assert all(type(one) is float for one in tried)
    delta, order = conversion.rdp_curve_to_delta(curve, 4.0, orders=np.array([2.0, 5.0]))
    assert (delta, order) == (conversion.rdp_to_delta(5.0, 2.5, 4.0), 5.0)


@pytest.mark.parametrize("last", [1.001, 1.5, 3.0, 40.0])
def test_a_curve_that_ends_at_an_order(last):
    epsilon, order = conversion.rdp_curve_to_epsilon(lambda a: 0.01 * a if a <= last else math.inf, 1e-6)
    listed = [1.0 + (last - 1.0) * k / 400 for k in range(1, 401)]
    best, _ = conversion.rdp_curve_to_epsilon(lambda a: 0.01 * a, 1e-6, orders=listed)
    assert order <= last
    assert best * (1.0 - 1e-4) <= epsilon <= best * (1.0 + 1e-6)


def test_a_curve_with_noise_and_a_curve_of_steps():
    rough = conversion.rdp_curve_to_epsilon(lambda a: 0.5 * a * (1.0 + 1e-7 * math.sin(1e5 * a)), 1e-5)[0]
    assert rough == pytest.approx(conversion.zcdp_to_epsilon(0.5, 1e-5), rel=1e-6)
    steps = conversion.rdp_curve_to_epsilon(lambda a: 0.5 * math.ceil(a), 1e-5)[0]
    assert steps <= 1.02 * conversion.rdp_curve_to_epsilon(lambda a: 0.5 * a, 1e-5, orders=range(2, 20))[0]


def test_a_pure_curve_and_a_curve_that_says_nothing():
    epsilon, _ = conversion.rdp_curve_to_epsilon(lambda _: 0.25, 1e-9)
    assert 0.249 < epsilon <= 0.25 * (1.0 + 1e-6)
    assert conversion.rdp_curve_to_epsilon(lambda _: 0.0, 1e-9)[0] == 0.0
    assert conversion.rdp_curve_to_delta(lambda _: math.inf, 1.0)[0] == 1.0
    with pytest.raises(hs.Unsupported, match="infinite"):
        conversion.rdp_curve_to_epsilon(lambda _: math.inf, 1e-5)


def test_curves_take_arrays():
    epsilon, order = conversion.rdp_curve_to_epsilon(lambda a: 0.5 * a, np.array([[1e-5], [1e-9]]))
    assert epsilon.shape == order.shape == (2, 1)
    assert epsilon[1, 0] == conversion.rdp_curve_to_epsilon(lambda a: 0.5 * a, 1e-9)[0]


@pytest.mark.parametrize(
    ("rdp", "error"),
    [
        (3.0, hs.BadType),
        (lambda _: "x", hs.BadType),
        (lambda _: None, hs.BadType),
        (lambda _: math.nan, hs.BadValue),
        (lambda _: -1.0, hs.BadValue),
    ],
)
def test_a_curve_that_is_none(rdp, error):
    with pytest.raises(error, match="rdp"):
        conversion.rdp_curve_to_epsilon(rdp, 1e-5)
    with pytest.raises(error, match="rdp"):
        conversion.rdp_curve_to_delta(rdp, 1.0)


@pytest.mark.parametrize(
    ("orders", "error"), [([], hs.BadValue), ([1.0], hs.BadValue), ("23", hs.BadType), (2.0, hs.BadType), ([True], hs.BadType)]
)
def test_orders_that_are_none(orders, error):
    with pytest.raises(error, match="order"):
        conversion.rdp_curve_to_epsilon(lambda a: a, 1e-5, orders=orders)


# --- Gaussian noise


def test_gaussian_sigma_against_mpmath():
    for _, epsilon, delta in cases(31, 150):
        if delta < 1e-280:
            continue
        sigma = conversion.gaussian_sigma(epsilon, delta)
        with mp.workdps(60 + 2 * int(-math.log10(delta))):
            mu, e = 1 / mpf(sigma), mpf(epsilon)
            a, b = (e / mu - mu / 2) / mp.sqrt(2), (e / mu + mu / 2) / mp.sqrt(2)
            slack = (mpf(delta) - (mp.erfc(a) - mp.exp(e) * mp.erfc(b)) / 2) / (mu * mp.npdf(a * mp.sqrt(2)))
        # log delta is known to about 20 UNIT of itself, and its slope in log mu is 1 for small epsilon
        assert 0 <= slack <= 1e-13 + 20 * 2.0**-53 * -math.log(delta), (epsilon, delta)
    assert conversion.gaussian_sigma(1.0, 1e-5, 3.0) == pytest.approx(3.0 * conversion.gaussian_sigma(1.0, 1e-5), rel=1e-15)


def test_the_variances_are_ordered_and_theorem_5_is_no_guarantee():
    for epsilon, delta in [(0.3, 0.01), (1.0, 1e-5), (5.0, 1e-9), (0.1, 0.01)]:
        exact = conversion.gaussian_sigma(epsilon, delta) ** 2
        improved = conversion.gaussian_variance_improved(1, epsilon, delta)
        assert exact <= improved <= conversion.gaussian_variance_classic(1, epsilon, delta)
        assert conversion.gaussian_variance_improved(7, epsilon, delta) == pytest.approx(7.0 * improved, rel=1e-14)
    assert conversion.gaussian_variance_asymptotic(1, 0.3, 0.01) < 0.4 * conversion.gaussian_sigma(0.3, 0.01) ** 2  # A-E8
    assert conversion.gaussian_variance_asymptotic(1, 0.1, 0.01) < 0.0
    for epsilon, delta in [(30.0, 1e-5), (0.01, 0.1)]:
        with pytest.raises(hs.Unsupported, match="Theorem 5"):
            conversion.gaussian_variance_asymptotic(1, epsilon, delta)
    with pytest.raises(hs.Unreachable, match="larger epsilon or delta"):
        conversion.gaussian_sigma(0.0, 5e-324)


# --- arrays and bad input

NAMES = [name for name in conversion.__all__ if re.match(r"rdp_(to|budget|zero)|zcdp_|gaussian_|pure_to_zcdp", name)]
VALID = {"order": 2.0, "gamma": 0.5, "epsilon": 1.0, "delta": 1e-5, "rho": 0.5, "count": 10, "sensitivity": 1.0}


def parameters(name):
    import inspect

    return list(inspect.signature(getattr(conversion, name)).parameters)


def test_the_names_of_the_arguments():
    assert len(NAMES) == 28
    assert all(set(parameters(name)) <= set(VALID) for name in NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_scalars_give_floats_and_arrays_give_arrays(name):
    function, names = getattr(conversion, name), parameters(name)
    scalar = function(**{one: VALID[one] for one in names})
    parts = scalar if isinstance(scalar, tuple) else (scalar,)
    assert all(type(part) is float for part in parts)
    assert function(*(np.float64(VALID[one]) for one in names)) == scalar
    first = function(np.full((3, 1), VALID[names[0]]), *(np.full(2, VALID[one]) for one in names[1:]))
    shape = (3, 2) if len(names) > 1 else (3, 1)
    for got, part in zip(first if isinstance(first, tuple) else (first,), parts, strict=True):
        assert got.shape == shape
        assert got.dtype == float
        assert (got == part).all()
    empty = function(**{one: np.array([]) for one in names})
    assert [one.shape for one in (empty if isinstance(empty, tuple) else (empty,))] == [(0,)] * len(parts)
    assert isinstance(function(**{one: [VALID[one]] for one in names}), np.ndarray | tuple)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("value", ["1", None, True, 1j, np.array([True]), [None]], ids=repr)
def test_wrong_types(name, value):
    for one in parameters(name):
        with pytest.raises(hs.BadType, match=f"{one} is .*allowed"):
            getattr(conversion, name)(**{**{k: VALID[k] for k in parameters(name)}, one: value})


@pytest.mark.parametrize("name", NAMES)
def test_values_out_of_range(name):
    wrong = {"order": [1.0, 0.5, 1e16], "delta": [0.0, 1.0, 2.0], "count": [0, 1.5], "sensitivity": [0.0]}
    for one in parameters(name):
        infinite = [] if one == "order" else [math.inf]  # pure DP of one direction
        for value in [*wrong.get(one, [1e101]), -1.0, math.nan, *infinite, -math.inf]:
            with pytest.raises(hs.BadValue, match=f"{one} is .*allowed"):
                getattr(conversion, name)(**{**{k: VALID[k] for k in parameters(name)}, one: value})


def test_shapes_that_do_not_fit():
    with pytest.raises(hs.BadValue, match="broadcast"):
        conversion.rdp_to_delta(np.ones(2) + 1.0, np.ones(3), 1.0)


@pytest.mark.parametrize("name", NAMES)
def test_the_ends_of_the_ranges(name):
    rng = random.Random(name)
    ends = {
        "order": [1.0 + 2.0**-52, 1.0 + 1e-9, 2.0, 1e9, 1e15],
        "delta": [5e-324, 1e-300, 1e-9, 0.5, 1.0 - 1e-9, 1.0 - 2.0**-53],
        "count": [1, 2**53],
        "sensitivity": [1e-100, 1.0, 1e100],
    }
    level = [0.0, 5e-324, 1e-300, 1e-100, 1e-9, 1.0, 745.0, 1e9, 1e100]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for _ in range(25):
            try:
                found = getattr(conversion, name)(**{one: rng.choice(ends.get(one, level)) for one in parameters(name)})
            except hs.HockeystickError:
                continue
            for one in found if isinstance(found, tuple) else (found,):
                assert math.isfinite(one)
                assert one >= 0.0 or "asymptotic" in name
                assert one <= 1.0 or "delta" not in name


# Edges that are answered, and the theorem that an error names


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


def test_an_error_names_the_theorem():
    for name, arguments, theorem in (
        ("rdp_to_epsilon", (1.0, 0.5, 1e-5), "A, Eq. 13 and Theorem 3"),
        ("rdp_to_delta_classic", (0.5, 0.5, 1.0), "A, Theorem 1"),
        ("rdp_budget", (2.0, 1.0, 0.0), "A, Theorem 3"),
        ("zcdp_to_epsilon", (-1.0, 1e-5), "A, Eq. 24"),
        ("amplify_approx", (1.0, 1e-5, 1.5), "S Theorem 29"),
    ):
        with pytest.raises(hs.BadValue, match=re.escape(theorem)):
            getattr(conversion, name)(*arguments)


def test_arrays_are_answered_at_once():
    """The same numbers, to rounding; never below the optimum."""
    rng = np.random.default_rng(8)
    size = 4000
    order, gamma = 1.0 + 10.0 ** rng.uniform(-9, 6, size), 10.0 ** rng.uniform(-12, 3, size)
    delta = np.where(rng.random(size) < 0.8, 10.0 ** rng.uniform(-300, 0, size), 1.0 - 10.0 ** rng.uniform(-9, -0.01, size))
    delta = np.minimum(delta, 1.0 - 1e-9)
    found = conversion.rdp_to_epsilon(order, gamma, delta)
    for epsilon, *row in zip(found.tolist(), order.tolist(), gamma.tolist(), delta.tolist(), strict=True):
        alone = conversion.rdp_to_epsilon(*row)
        assert abs(epsilon - alone) <= 1e-12 * alone + 1e-13 * row[1]
        # what implies (epsilon, delta) by the other direction of the theorem
        assert conversion.rdp_budget(row[0], epsilon, row[2]) >= row[1] * (1.0 - 2e-13) - 1e-300
    assert conversion.rdp_to_epsilon(delta=delta[:6].reshape(2, 3), order=2.0, gamma=gamma[:3]).shape == (2, 3)
    with pytest.raises(hs.BadValue, match=r"order is 1\.0"):
        conversion.rdp_to_epsilon(np.array([2.0, 1.0]), 0.5, 1e-5)
    with pytest.raises(hs.BadType):
        conversion.rdp_to_epsilon([2.0, True], 0.5, 1e-5)
    with pytest.raises(hs.BadValue, match="broadcast"):
        conversion.rdp_to_epsilon(np.ones(2) + 1.0, np.ones(3), 1e-5)
