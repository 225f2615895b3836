"""Composition, subsampling and groups (Steinke 2022): reference values, 60 digits, the mechanisms themselves, bad input."""

import json
import math
import random
from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest
from mpmath import mp, mpf

from hockeystick import conversion
from hockeystick.conversion.group import log_mixture
from hockeystick.conversion.subsampling import _from_base
from hockeystick.errors import BadType, BadValue, Unsupported
from places import DATA

ROWS = json.loads((DATA / "golden_s.json").read_text())["values"]
CLOSE = 1e-12  # what rounding the decimal inputs may change
SHARP = 2e-14  # the certified margins


@pytest.fixture(autouse=True)
def _digits():
    with mp.workdps(80):
        yield


def zcdp(rho):
    return lambda order: rho * order


def above(value, truth, most=SHARP):
    """Not below the truth, and at most `most` above it (or two subnormal steps)."""
    assert mpf(value) >= truth * (1 - mpf(1e-60))  # what 80 digits may have added
    assert mpf(value) <= truth * (1 + mpf(most)) + 2 * mpf(5e-324)


def spread(rng, low, high):
    return 10.0 ** rng.uniform(low, high)


# Reference values


def number(given):
    return [number(one) for one in given] if isinstance(given, list) else given if "optimal" in given else float(given)


@pytest.mark.parametrize("row", ROWS, ids=[row["id"] for row in ROWS])
def test_the_reference_value_is_met(row):
    inputs = {name: number(given) for name, given in row["inputs"].items()}
    scope = {"hs": SimpleNamespace(conversion=conversion), "__builtins__": {"int": int}, **inputs}
    assert eval(row["call"], scope) == pytest.approx(float(row["value"]), rel=CLOSE, abs=0.0)


def test_the_fixed_size_reference_is_bounded_from_above():
    """S-6.7fix/002 takes exact divergences of the Gaussian; from its curve alone one gets 1.27 times that."""
    assert 0.001080039578524713 < conversion.fixed_size_rdp(3, 10, 0.01, zcdp(0.5)) < 0.00138


# Composition


def test_basic_composition_sums_exactly():
    rng = random.Random(1)
    for _ in range(50):
        parts = [(spread(rng, -12, 3), spread(rng, -300, -3), rng.randrange(1000)) for _ in range(rng.randrange(6))]
        epsilon, delta = conversion.basic_composition(parts)
        above(epsilon, mp.fsum(mpf(e) * k for e, _, k in parts), 3e-16)
        above(delta, min(mpf(1), mp.fsum(mpf(d) * k for _, d, k in parts)), 3e-16)
    assert conversion.basic_composition([]) == (0.0, 0.0)
    assert conversion.basic_composition([(1.0, 0.75), (1.0, 0.75)]) == (2.0, 1.0)
    assert conversion.basic_composition(np.array([[0.5, 0.25], [0.5, 0.25]])) == (1.0, 0.5)


def test_advanced_composition_is_theorem_22():
    rng = random.Random(2)
    for _ in range(100):
        parts = [(spread(rng, -9, 1), rng.choice((0.0, spread(rng, -30, -6))), rng.randrange(1, 50)) for _ in range(3)]
        delta = rng.choice((spread(rng, -4, 0), 1.0))
        squares = mp.fsum(mpf(e) ** 2 * k for e, _, k in parts)
        left = mpf(delta) - mp.fsum(mpf(d) * k for _, d, k in parts)
        advanced = squares / 2 + mp.sqrt(2 * squares * mp.log(1 / left))
        above(conversion.advanced_composition(parts, delta), min(advanced, mp.fsum(mpf(e) * k for e, _, k in parts)))


def test_advanced_composition_at_the_edges():
    half = [(0.5, 0.25, 2)]
    assert conversion.advanced_composition(half, 0.5) == 1.0  # nothing is left: basic composition still holds (S-E18)
    assert conversion.advanced_composition([], 0.0) == 0.0
    assert conversion.advanced_composition([(1e200, 0.0)], 1e-6) == 1e200
    with pytest.raises(Unsupported, match="sum to more"):
        conversion.advanced_composition(half, 0.25)
    several = conversion.advanced_composition([(0.01, 0.0, 10_000)], [1e-9, 1e-6, 1e-3])
    assert several.shape == (3,)
    assert list(several) == sorted(several, reverse=True)


def test_advanced_composition_near_delta_one():
    """1 - delta below the rounding of delta: the logarithm is not zero."""
    above(conversion.advanced_composition([(1e-3, 1e-20)], 1.0), mpf(1e-6) / 2 + mp.sqrt(mpf(2e-6) * mpf(1e-20)), 1e-9)


# Amplification of (epsilon, delta)


def test_amplify_approx_is_theorem_29():
    rng = random.Random(3)
    for _ in range(400):
        epsilon = rng.choice((spread(rng, -300, 3.3), rng.uniform(650.0, 1500.0)))
        delta, rate = spread(rng, -320, 0), rng.choice((spread(rng, -322, 0), 1.0 - spread(rng, -16, 0)))
        value, small = conversion.amplify_approx(epsilon, delta, rate)
        above(value, mp.log1p(mpf(rate) * mp.expm1(mpf(epsilon))))
        above(small, mpf(rate) * mpf(delta), 3e-16)
        assert value <= epsilon
    assert conversion.amplify_approx(1e308, 1.0, 1.0) == (1e308, 1.0)
    assert conversion.amplify_approx(1e308, 1.0, 0.0) == (0.0, 0.0)
    assert conversion.amplify_approx(0.0, 0.5, 0.5) == (0.0, 0.25)


def test_log_mixture_takes_an_exact_exponent():
    """With a rounded exponent the error would be |exponent| units, 1e-13 here."""
    rng = random.Random(4)
    for _ in range(300):
        exponent = Fraction(rng.uniform(0, 1500)) / 3
        weight = min(1.0, float(mp.exp(-mpf(exponent.numerator) / exponent.denominator) * rng.uniform(0.1, 10)))
        if weight > 0.0:
            above(
                log_mixture(weight, exponent), mp.log1p(weight * mp.expm1(mpf(exponent.numerator) / exponent.denominator)), 5e-15
            )


def test_amplify_profile_is_the_mixture_s_own_profile():
    """E(pP + (1-p)Q || Q) of randomised response, exactly; and the reverse direction is below it."""
    rng = random.Random(5)
    for _ in range(100):
        size, rate = spread(rng, -2, 0.7), spread(rng, -3, 0)
        p = mpf(1) / (1 + mp.exp(-mpf(size)))

        def profile(epsilon, p=p):
            return float(max(mpf(0), p - mp.exp(mpf(epsilon)) * (1 - p)))

        epsilon = rng.uniform(0.0, 1.2 * conversion.amplify_approx(size, 0.0, rate)[0])
        first, second = (p, 1 - p), (1 - p, p)
        mixed = [rate * a + (1 - mpf(rate)) * b for a, b in zip(first, second, strict=True)]
        forward = mp.fsum(max(mpf(0), a - mp.exp(mpf(epsilon)) * b) for a, b in zip(mixed, second, strict=True))
        reverse = mp.fsum(max(mpf(0), b - mp.exp(mpf(epsilon)) * a) for a, b in zip(mixed, second, strict=True))
        value = conversion.amplify_profile(profile, rate)(epsilon)
        assert forward * (1 - mpf(1e-13)) - mpf(1e-16) <= value <= forward + mpf(1e-13)
        assert value >= reverse - mpf(1e-15)


def test_amplify_profile_asks_below_the_exact_epsilon():
    rng = random.Random(6)
    asked = []
    for _ in range(300):
        epsilon = rng.choice((0.0, spread(rng, -300, 3), rng.uniform(690.0, 720.0)))
        rate = rng.choice((spread(rng, -322, 0), 1.0, 0.5))
        assert conversion.amplify_profile(lambda inner: asked.append(inner) or 0.25, rate)(epsilon) >= 0.25 * rate
        exact = mp.log1p(mp.expm1(mpf(epsilon)) / mpf(rate))
        assert exact * (1 - mpf(5e-15)) - mpf(5e-324) <= mpf(asked[-1]) <= exact
        assert asked[-1] >= epsilon
    assert conversion.amplify_profile(lambda _: 1.0, 0.0)(3.0) == 0.0
    assert conversion.amplify_profile(lambda _: 1.0, 0.5)([0.0, 1.0]).tolist() == [0.5, 0.5]


# Amplification of Rényi DP


def series(order, rate, rdp):
    """S Theorem 34, printed form."""
    p = mpf(rate)
    terms = [(1 - p) ** (order - 1) * (1 + (order - 1) * p)]
    power = (1 - p) ** order
    for k in range(order + 1):
        if k >= 2:
            terms.append(power * mp.exp((k - 1) * mpf(rdp(k))))
        power = power * (order - k) / (k + 1) * p / (1 - p)
    return mp.log(mp.fsum(terms)) / (order - 1)


CURVES = {
    "zcdp": lambda size: zcdp(size),
    "pure": lambda size: lambda order: min(size, 0.5 * size * size * order),
    "one": lambda size: lambda order: size if order == 7 else 0.0,
    "falling": lambda size: lambda order: size / order**2,
}


@pytest.mark.parametrize("kind", CURVES)
def test_amplify_rdp_is_theorem_34(kind):
    rng = random.Random(kind)
    mp.dps = 700  # the printed series cancels
    for _ in range(60):
        order = rng.choice((2, 3, 4, 7, 8, 16, 33, 64, 150))
        rate = rng.choice((spread(rng, -1, 0), spread(rng, -12, -1), spread(rng, -300, 0), 1.0 - spread(rng, -16, 0)))
        if not 0.0 < rate < 1.0:
            continue
        rdp = CURVES[kind](spread(rng, *rng.choice(((-8, 3), (-80, 5)))))
        truth = series(order, rate, rdp)
        value = conversion.amplify_rdp(order, rate, rdp)
        if truth > mpf(10) ** -600:
            above(value, truth)
        else:
            assert value <= 5e-324


def test_amplify_rdp_of_a_large_order():
    """Order 10^4: near the change of phase the terms' logarithms are tens of thousands and cancel."""
    for rate, rho in ((0.01, 4e-4), (0.3, 1e-4), (1e-6, 1.3e-3), (0.999, 1e-5)):
        with mp.workdps(60):
            above(conversion.amplify_rdp(10_000, rate, zcdp(rho)), series(10_000, rate, zcdp(rho)))


def test_amplify_rdp_at_the_edges():
    rdp = zcdp(0.3)
    for order in (1.5, 2, 7, 8.25):
        assert conversion.amplify_rdp(order, 0.0, rdp) == 0.0
        assert conversion.amplify_rdp(order, 1.0, rdp) == rdp(order)
    assert conversion.amplify_rdp(5, 0.1, lambda _: 0.0) == 0.0
    assert conversion.amplify_rdp(5, 0.1, lambda _: math.inf) == math.inf
    assert conversion.amplify_rdp(5, 0.1, lambda k: math.inf if k > 5 else k) < math.inf
    assert conversion.amplify_rdp(5, 0.1, lambda _: 1.7e308) == pytest.approx(1.7e308)
    assert conversion.amplify_rdp(2, 5e-324, lambda _: 1.0) == 5e-324
    assert conversion.amplify_rdp(3, 0.5, lambda _: 5e-324) == 5e-324
    assert conversion.amplify_rdp(200, 1e-10, lambda k: 1e-9 if k == 200 else 0.0) == 5e-324
    assert conversion.amplify_rdp(1e6, 0.1, rdp) == conversion.amplify_rdp_large_order(1e6, 0.1, rdp)


def test_amplify_rdp_asks_for_whole_orders_once():
    asked = []
    conversion.amplify_rdp([2.5, 4, 3.5], 0.1, lambda order: asked.append(order) or 1.0)
    assert sorted(asked) == [2, 3, 4]
    assert all(type(order) is int for order in asked)


def renyi(first, second, order):
    """D_order of two lists of probabilities."""
    return mp.log(mp.fsum(a**order * b ** (1 - order) for a, b in zip(first, second, strict=True))) / (order - 1)


def pair(rng):
    size = rng.randrange(2, 5)
    both = []
    for _ in range(2):
        weights = [mpf(spread(rng, -3, 0)) for _ in range(size)]
        both.append([weight / mp.fsum(weights) for weight in weights])
    return both


def both_ways(first, second):
    """The curve of a pair for adding or removing: the larger direction."""
    return lambda order: float(max(renyi(first, second, mpf(order)), renyi(second, first, mpf(order))) * (1 + mpf(1e-15)))


def mixed(first, second, rate):
    return [mpf(rate) * a + (1 - mpf(rate)) * b for a, b in zip(first, second, strict=True)]


BOUNDS = {
    "amplify_rdp": lambda order, rate, rdp: conversion.amplify_rdp(order, rate, rdp),
    "amplify_rdp_analytic": lambda order, rate, rdp: conversion.amplify_rdp_analytic(order, rate, rdp),
    "amplify_rdp_large_order": lambda order, rate, rdp: conversion.amplify_rdp_large_order(order, rate, rdp),
}


@pytest.mark.parametrize("name", BOUNDS)
def test_a_pair_obeys_the_bound_in_both_directions(name):
    rng = random.Random(name)
    mp.dps = 30
    for _ in range(100):
        first, second = pair(rng)
        rate, order = (
            rng.choice((rng.uniform(0.0, 0.632), spread(rng, -4, -0.2))),
            rng.choice((rng.uniform(1.0001, 3), rng.uniform(2, 12))),
        )
        value = BOUNDS[name](order, rate, both_ways(first, second))
        mixture = mixed(first, second, rate)
        assert value >= renyi(mixture, second, mpf(order))
        assert value >= renyi(second, mixture, mpf(order))


def test_large_order_holds_in_both_directions_at_every_rate():
    rng = random.Random(8)
    mp.dps = 30
    for _ in range(100):
        first, second = pair(rng)
        rate, order = 1.0 - spread(rng, -3, -0.5), rng.uniform(1.001, 4.0)
        value = conversion.amplify_rdp_large_order(order, rate, both_ways(first, second))
        mixture = mixed(first, second, rate)
        assert value >= renyi(mixture, second, mpf(order))
        assert value >= renyi(second, mixture, mpf(order))


def test_theorem_35_below_order_two():
    """The inequality behind it, f'' >= 0, where the paper's proof has a gap (S-E7) and ours (rates up to 3/4) has none."""
    rng = random.Random(9)
    mp.dps = 40
    for _ in range(500):
        a, p, x = (
            mpf(rng.uniform(1.0, 2.0)),
            mpf(rng.choice((rng.uniform(0, 0.75), spread(rng, -6, -0.2)))),
            mpf(spread(rng, -8, 8)),
        )
        weight = (2 * a - 1) * p / ((2 * a - 1) * p + 3 * (1 - p))
        up, down = 1 - p + p * x, p + (1 - p) * x
        g = (1 - weight) * (2 * a - 1) * mp.log(up) + weight * (
            (a + 1) * mp.log(up) + (a - 2) * mp.log(down) - (a + 1) * mp.log(x)
        )
        assert g >= -mpf(1e-35)


def test_between_whole_orders_the_bound_is_close_and_ordered():
    rng = random.Random(10)
    for _ in range(200):
        rate, rho, order = spread(rng, -4, -0.1), spread(rng, -3, 0.5), rng.uniform(2.0, 40.0)
        below, above_it = (conversion.amplify_rdp(whole, rate, zcdp(rho)) for whole in (math.floor(order), math.ceil(order)))
        value = conversion.amplify_rdp(order, rate, zcdp(rho))
        assert below <= value <= above_it
        share = (mpf(order) - math.floor(order)) * math.floor(order) / (mpf(order) - 1)
        above(value, (1 - share) * mpf(below) + share * mpf(above_it), 1e-15)
    assert conversion.amplify_rdp(1.01, 0.1, zcdp(0.5)) == conversion.amplify_rdp(2, 0.1, zcdp(0.5))
    loose = {2: 9.0, 3: 0.1}.__getitem__  # a curve that is worse at the smaller order: monotonicity is better
    assert conversion.amplify_rdp(2.5, 0.9, loose) == conversion.amplify_rdp(3, 0.9, lambda k: loose(k) if k == 3 else 9.0)


def test_amplify_rdp_analytic_is_proposition_41():
    rng = random.Random(11)
    for _ in range(200):
        order, rate, rho = 1.0 + spread(rng, -3, 3), spread(rng, -200, -0.21), spread(rng, -9, 2)
        omega = order * rng.choice((1.0, 1.0 + spread(rng, -3, 2)))
        a, p, w = mpf(order), mpf(rate), mpf(omega)
        small = mp.e / 2 * a * (a - 1) * p**2 * mp.expm1(mpf(zcdp(rho)(2)))
        with mp.workdps(600):
            large = mp.exp(w * mp.log((a - 1) * p) + (w - 1) * mpf(zcdp(rho)(omega)))
            truth = mp.log1p(small + large) / (a - 1)
        above(conversion.amplify_rdp_analytic(order, rate, zcdp(rho), omega), truth, 1e-15)


def test_the_best_omega_is_found():
    rng = random.Random(12)
    for _ in range(100):
        order, rate, rho = 1.0 + spread(rng, -1, 1.5), spread(rng, -12, -0.21), spread(rng, -4, 1)
        best = max(order, 0.5 - math.log((order - 1.0) * rate) / (2.0 * rho))  # S-E17
        exact = conversion.amplify_rdp_analytic(order, rate, zcdp(rho), best)
        assert conversion.amplify_rdp_analytic(order, rate, zcdp(rho)) == pytest.approx(exact, rel=1e-12)
    bounded = conversion.amplify_rdp_analytic(3.0, 1e-3, lambda _: 0.5)  # the second term can be made as small as one likes
    assert bounded == pytest.approx(math.log1p(1.5 * math.e * 2.0 * 1e-6 * math.expm1(0.5)) / 2.0, rel=1e-13)
    until = conversion.amplify_rdp_analytic(3.0, 1e-3, lambda order: order if order < 4.0 else math.inf)
    assert until <= conversion.amplify_rdp_analytic(3.0, 1e-3, zcdp(1.0), 3.5)


def test_amplify_rdp_large_order_and_lower_are_their_formulas():
    rng = random.Random(13)
    for _ in range(300):
        order, rate, size = (
            1.0 + spread(rng, -8, 8),
            rng.choice((spread(rng, -280, 0), 1.0 - spread(rng, -16, -1))),
            spread(rng, -9, 4),
        )
        c = (mpf(order) - 1) / mpf(order)
        upper = conversion.amplify_rdp_large_order(order, rate, lambda _, size=size: size)
        above(upper, mp.log1p(mpf(rate) * mp.expm1(c * mpf(size))) / c)
        assert upper <= size
        lower = conversion.amplify_rdp_lower(order, rate, lambda _, size=size: size)
        truth = mpf(size) + mp.log(mpf(rate)) / c
        assert truth - abs(truth) * mpf(4e-16) <= mpf(lower) <= truth
        assert lower <= upper
    flat = conversion.amplify_rdp_large_order([2, 3], 0.0, zcdp(1.0))
    assert flat.tolist() == [0.0, 0.0]
    assert conversion.amplify_rdp_lower(2, 0.0, zcdp(1.0)) == 0.0
    assert conversion.amplify_rdp_large_order(2, 0.5, lambda _: math.inf) == math.inf


def test_the_bounds_stand_in_order():
    """Of a true pair: lower <= series <= each closed form (S Figure 2)."""
    for order in (2, 3, 5, 10, 30, 100):
        exact = conversion.amplify_rdp(order, 0.05, zcdp(0.5))
        assert conversion.amplify_rdp_lower(order, 0.05, zcdp(0.5)) <= exact
        assert exact <= conversion.amplify_rdp_large_order(order, 0.05, zcdp(0.5)) * (1 + SHARP)
        assert exact <= conversion.amplify_rdp_analytic(order, 0.05, zcdp(0.5)) * (1 + SHARP)


def test_amplify_zcdp_is_above_the_series():
    rng = random.Random(14)
    proved = 0
    for _ in range(300):
        rate, rho, order = spread(rng, -9, -1), spread(rng, -4, 0), rng.randrange(2, 40)
        try:
            value = conversion.amplify_zcdp(order, rate, rho)
        except Unsupported:
            continue
        proved += 1
        above(value, 10 * mpf(rate) ** 2 * mpf(rho) * order, 3e-16)
        assert value >= conversion.amplify_rdp(order, rate, zcdp(rho))
    assert proved > 30


@pytest.mark.parametrize(
    ("order", "rate", "rho"),
    [
        (10, 1e-4, 1.0),  # erratum S-E6: 4 rate instead of 4 rho would allow it, with a bound that is 10^4 too small
        (11.0, 1e-4, 0.1),
        (2, 0.07, 0.1),
        (2, 0.6, 0.1),
        (2, 1e-4, 1.5),
    ],
)
def test_amplify_zcdp_outside_the_theorem(order, rate, rho):
    with pytest.raises(Unsupported, match="the theorem needs"):
        conversion.amplify_zcdp(order, rate, rho)


# Fixed size, groups, mixtures


def test_fixed_size_bounds_a_replacement():
    rng = random.Random(15)
    mp.dps = 30
    for _ in range(60):
        size = 3
        one, other, base = (
            [w / mp.fsum(ws) for w in ws] for ws in ([mpf(spread(rng, -2, 0)) for _ in range(size)] for _ in range(3))
        )
        rate, order = spread(rng, -3, 0), rng.uniform(1.1, 6.0)
        via = order * (1.0 + spread(rng, -1, 1))

        def rdp(order, one=one, other=other, base=base):
            pairs = ((one, base), (base, one), (other, base), (base, other))
            return float(max(renyi(p, q, mpf(order)) for p, q in pairs) * (1 + mpf(1e-15)))

        if order * (via - 1) / (via - order) > 300:
            continue
        value = conversion.fixed_size_rdp(order, via, rate, rdp)
        assert value >= renyi(mixed(one, base, rate), mixed(other, base, rate), mpf(order))


def test_the_way_back_is_bounded_from_the_curve():
    """D(Q || pP + (1-p)Q) of discrete pairs, by the three bounds behind `fixed_size_rdp`; each is the best somewhere."""
    rng = random.Random(21)
    mp.dps = 30
    best = set()
    for _ in range(300):
        first, second = pair(rng)
        rate = rng.choice((spread(rng, -4, 0), 1.0 - spread(rng, -3, 0)))
        order = rng.uniform(1.01, 12.0)
        rdp = both_ways(first, second)
        value = _from_base(order, rate, rdp)
        assert value >= renyi(second, mixed(first, second, rate), mpf(order))
        best.add(
            (
                value == conversion.amplify_rdp(order, rate, rdp),
                value > 0.9 * -math.log1p(-rate * -math.expm1(-rdp(math.ceil(order)))),
            )
        )
    assert len(best) >= 3


def test_fixed_size_at_the_edges():
    assert conversion.fixed_size_rdp(2, 3, 1e-200, zcdp(200.0)) > 0.0
    assert conversion.fixed_size_rdp(2, 1e9, 1e-3, zcdp(1.0)) == pytest.approx(-math.log1p(-1e-3), rel=0.01)
    assert conversion.fixed_size_rdp(2, 3, 0.5, lambda _: math.inf) == math.inf
    assert conversion.fixed_size_rdp(2, 3, 0.5, lambda _: 0.0) == pytest.approx(0.0, abs=1e-323)
    assert conversion.fixed_size_rdp(2, 3, 1 - 2.0**-53, zcdp(1.0)) <= conversion.fixed_size_rdp(2, 3, 1.0, zcdp(1.0)) * (
        1 + SHARP
    )


def test_fixed_size_takes_the_corrected_order():
    """Erratum S-E5: at rate 1, N(1), N(0), N(-1) has the value 4 at order 2; the printed order gives 2.1."""
    assert conversion.fixed_size_rdp(2, 2.1, 1.0, zcdp(0.5)) == pytest.approx(22.05, rel=1e-12)
    assert conversion.fixed_size_rdp(2, 4, 1.0, zcdp(0.5)) == 4.0


def test_groups_of_approximate_dp():
    rng = random.Random(16)
    for _ in range(300):
        epsilon, size = rng.choice((0.0, spread(rng, -20, 1.5))), rng.choice((1, 2, 3, 10, 1000))
        delta = spread(rng, -290, 0)
        total, value = conversion.group_approx(epsilon, delta, size)
        above(total, mpf(epsilon) * size, 3e-16)
        geometric = mpf(size) if epsilon == 0.0 else mp.expm1(mpf(epsilon) * size) / mp.expm1(mpf(epsilon))
        above(value, min(mpf(1), mpf(delta) * geometric))
        if size == 2:
            assert conversion.replace_from_add_remove(epsilon, delta) == (total, value)
    assert conversion.replace_from_add_remove(800.0, 0.0) == (1600.0, 0.0)
    assert conversion.replace_from_add_remove(800.0, 1e-9) == (1600.0, 1.0)
    assert conversion.group_approx(1e308, 0.5, 1) == (1e308, 0.5)
    assert conversion.group_approx(1e308, 0.0, 2**53) == (math.inf, 0.0)


def test_mixture_rdp_is_lemma_33_6():
    rng = random.Random(17)
    for _ in range(400):
        order, weight = 1.0 + spread(rng, -9, 6), rng.choice((rng.random(), spread(rng, -320, 0), 1.0 - spread(rng, -16, 0)))
        first, second = spread(rng, -9, 4), rng.choice((0.0, spread(rng, -9, 4)))
        s, t = mpf(weight), mpf(order) - 1
        low = mpf(min(first, second))
        truth = low + mp.log((1 - s) * mp.exp(t * (first - low)) + s * mp.exp(t * (second - low))) / t
        with mp.workdps(400):
            above(conversion.mixture_rdp(order, weight, first, second), truth, 1e-14)
    assert conversion.mixture_rdp(1, 0.25, 1.0, 2.0) == 1.25
    assert conversion.mixture_rdp(7, 0.0, 1.0, 2.0) == 1.0
    assert conversion.mixture_rdp(7, 1.0, 1.0, 2.0) == 2.0


def test_group_rdp_is_lemma_33_7():
    rng = random.Random(18)
    for _ in range(200):
        order, one, two = 1.0 + spread(rng, -3, 3), spread(rng, -6, 3), spread(rng, -6, 3)
        via = order * (1.0 + spread(rng, -3, 3))
        asked = []

        def constant(value, asked=asked):
            return lambda at: asked.append(at) or value

        value = conversion.group_rdp(order, via, constant(one), constant(two))
        a, b = mpf(order), mpf(via)
        above(asked[0], a * (b - 1) / (b - a), 3e-16)
        assert asked[1] == via
        above(value, b / (b - 1) * mpf(one) + mpf(two), 3e-16)
        assert conversion.group_rdp(order, via, zcdp(one), zcdp(two)) >= conversion.group_zcdp(one, two) * order * (1 - 1e-14)
    assert conversion.group_rdp(2, 4, lambda _: math.inf, zcdp(1.0)) == math.inf


def test_group_zcdp_is_its_formula():
    rng = random.Random(19)
    for _ in range(200):
        one, two = spread(rng, -300, 300), rng.choice((0.0, spread(rng, -300, 300)))
        above(conversion.group_zcdp(one, two), (mp.sqrt(mpf(one)) + mp.sqrt(mpf(two))) ** 2, 2e-15)


# The lower bound


def test_mean_error_lower_bound_is_theorem_25():
    rng = random.Random(20)
    for _ in range(200):
        examples, epsilon = rng.randrange(1, 10**6), spread(rng, -9, 1)
        least = 200.0 * math.expm1(epsilon) ** 2 * examples
        queries = math.ceil(least * (1.0 + spread(rng, -6, 4))) + 1
        if queries > 2**53:
            continue
        truth = min(mp.sqrt(queries) / (16 * examples * mp.expm1(mpf(epsilon))), mpf(1) / 10)
        value = conversion.mean_error_lower_bound(examples, queries, epsilon, delta=1 / (100 * examples))
        assert truth * (1 - mpf(3e-15)) <= mpf(value) <= truth
        if queries < least * 1.5 and least > 10.0:
            with pytest.raises(Unsupported, match="queries"):
                conversion.mean_error_lower_bound(examples, int(least * 0.9), epsilon)
    assert conversion.mean_error_lower_bound(10, 1, 0.0) == pytest.approx(0.1, rel=1e-15)
    with pytest.raises(Unsupported, match="delta"):
        conversion.mean_error_lower_bound(10, 1000, 0.1, delta=0.0011)
    with pytest.raises(Unsupported, match="queries"):
        conversion.mean_error_lower_bound(10, 1000, 1e6)


def test_a_mean_with_noise_does_not_beat_the_lower_bound():
    """Gaussian noise for (epsilon, delta) by zCDP, sensitivity sqrt(queries) / examples: far above it, as it must be."""
    examples, queries, epsilon, delta = 1000, 40_000, 0.3, 1e-5
    log = math.log(1.0 / delta)
    rho = (math.sqrt(log + epsilon) - math.sqrt(log)) ** 2
    sigma = math.sqrt(queries / (2.0 * rho)) / examples
    assert sigma > conversion.mean_error_lower_bound(examples, queries, epsilon, delta)


# Arrays and bad input

CALLS = {
    "advanced_composition": (lambda x: conversion.advanced_composition([(0.1, 0.0)], x), "delta"),
    "amplify_approx.epsilon": (lambda x: conversion.amplify_approx(x, 0.0, 0.1), "epsilon"),
    "amplify_approx.delta": (lambda x: conversion.amplify_approx(1.0, x, 0.1), "delta"),
    "amplify_approx.rate": (lambda x: conversion.amplify_approx(1.0, 0.0, x), "rate"),
    "amplify_profile.rate": (lambda x: conversion.amplify_profile(lambda _: 0.0, x), "rate"),
    "amplify_profile.epsilon": (lambda x: conversion.amplify_profile(lambda _: 0.0, 0.1)(x), "epsilon"),
    "amplify_rdp.order": (lambda x: conversion.amplify_rdp(x, 0.1, zcdp(1.0)), "order"),
    "amplify_rdp.rate": (lambda x: conversion.amplify_rdp(2, x, zcdp(1.0)), "rate"),
    "amplify_rdp_analytic.order": (lambda x: conversion.amplify_rdp_analytic(x, 0.1, zcdp(1.0)), "order"),
    "amplify_rdp_analytic.rate": (lambda x: conversion.amplify_rdp_analytic(2, x, zcdp(1.0)), "rate"),
    "amplify_rdp_large_order.order": (lambda x: conversion.amplify_rdp_large_order(x, 0.1, zcdp(1.0)), "order"),
    "amplify_rdp_large_order.rate": (lambda x: conversion.amplify_rdp_large_order(2, x, zcdp(1.0)), "rate"),
    "amplify_rdp_lower.order": (lambda x: conversion.amplify_rdp_lower(x, 0.1, zcdp(1.0)), "order"),
    "amplify_rdp_lower.rate": (lambda x: conversion.amplify_rdp_lower(2, x, zcdp(1.0)), "rate"),
    "amplify_zcdp.order": (lambda x: conversion.amplify_zcdp(x, 1e-4, 0.1), "order"),
    "amplify_zcdp.rate": (lambda x: conversion.amplify_zcdp(2, x, 0.1), "rate"),
    "amplify_zcdp.rho": (lambda x: conversion.amplify_zcdp(2, 1e-4, x), "rho"),
    "fixed_size_rdp.order": (lambda x: conversion.fixed_size_rdp(x, 3, 0.1, zcdp(1.0)), "order"),
    "fixed_size_rdp.via": (lambda x: conversion.fixed_size_rdp(2, x, 0.1, zcdp(1.0)), "via"),
    "fixed_size_rdp.rate": (lambda x: conversion.fixed_size_rdp(2, 3, x, zcdp(1.0)), "rate"),
    "replace_from_add_remove.epsilon": (lambda x: conversion.replace_from_add_remove(x, 0.0), "epsilon"),
    "replace_from_add_remove.delta": (lambda x: conversion.replace_from_add_remove(1.0, x), "delta"),
    "group_approx.epsilon": (lambda x: conversion.group_approx(x, 0.0, 2), "epsilon"),
    "group_approx.delta": (lambda x: conversion.group_approx(1.0, x, 2), "delta"),
    "group_approx.size": (lambda x: conversion.group_approx(1.0, 0.0, x), "size"),
    "mixture_rdp.order": (lambda x: conversion.mixture_rdp(x, 0.1, 1.0, 1.0), "order"),
    "mixture_rdp.weight": (lambda x: conversion.mixture_rdp(2, x, 1.0, 1.0), "weight"),
    "mixture_rdp.first": (lambda x: conversion.mixture_rdp(2, 0.1, x, 1.0), "first"),
    "mixture_rdp.second": (lambda x: conversion.mixture_rdp(2, 0.1, 1.0, x), "second"),
    "group_rdp.order": (lambda x: conversion.group_rdp(x, 3, zcdp(1.0), zcdp(1.0)), "order"),
    "group_rdp.via": (lambda x: conversion.group_rdp(2, x, zcdp(1.0), zcdp(1.0)), "via"),
    "group_zcdp.rho1": (lambda x: conversion.group_zcdp(x, 1.0), "rho1"),
    "group_zcdp.rho2": (lambda x: conversion.group_zcdp(1.0, x), "rho2"),
    "mean_error_lower_bound.examples": (lambda x: conversion.mean_error_lower_bound(x, 100, 0.1), "examples"),
    "mean_error_lower_bound.queries": (lambda x: conversion.mean_error_lower_bound(10, x, 0.1), "queries"),
    "mean_error_lower_bound.epsilon": (lambda x: conversion.mean_error_lower_bound(10, 100, x), "epsilon"),
    "mean_error_lower_bound.delta": (lambda x: conversion.mean_error_lower_bound(10, 100, 0.1, x), "delta"),
}


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("given", ["1", True, np.True_, 1j, ["1", 0.5], b"x", {}])
def test_a_wrong_type_is_named(name, given):
    call, argument = CALLS[name]
    with pytest.raises(BadType, match=argument):
        call(given)


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("given", [math.nan, math.inf, -math.inf, -1.0, -5e-324, 10**400, [-1.0, 0.5]])
def test_a_wrong_value_is_named(name, given):
    call, argument = CALLS[name]
    error = BadType if name == "amplify_profile.rate" and isinstance(given, list) else BadValue
    with pytest.raises(error, match=argument):
        call(given)


@pytest.mark.parametrize("name", [name for name in CALLS if name not in ("amplify_rdp_analytic.omega", "amplify_profile.rate")])
def test_none_is_no_number(name):
    with pytest.raises(BadType):
        CALLS[name][0](None)


CURVE_CALLS = {
    "amplify_rdp": lambda rdp: conversion.amplify_rdp(3, 0.1, rdp),
    "amplify_rdp_analytic": lambda rdp: conversion.amplify_rdp_analytic(3, 0.1, rdp),
    "amplify_rdp_large_order": lambda rdp: conversion.amplify_rdp_large_order(3, 0.1, rdp),
    "amplify_rdp_lower": lambda rdp: conversion.amplify_rdp_lower(3, 0.1, rdp),
    "fixed_size_rdp": lambda rdp: conversion.fixed_size_rdp(3, 5, 0.1, rdp),
    "group_rdp": lambda rdp: conversion.group_rdp(3, 5, rdp, zcdp(1.0)),
}


@pytest.mark.parametrize("name", CURVE_CALLS)
def test_a_wrong_curve_is_named(name):
    call = CURVE_CALLS[name]
    for wrong in (1.0, None, "gaussian", [1.0, 2.0]):
        with pytest.raises(BadType, match=r"rdp|first"):
            call(wrong)
    for wrong in (math.nan, -1.0, -math.inf, 10**400):
        with pytest.raises(BadValue, match=r"(rdp|first)\(\d"):
            call(lambda _, wrong=wrong: wrong)
    for wrong in ("1", None, True, 1j):
        with pytest.raises(BadType, match=r"(rdp|first)\(\d"):
            call(lambda _, wrong=wrong: wrong)
    assert call(lambda _: 1) == call(lambda _: np.float64(1.0)) == call(lambda _: 1.0)


@pytest.mark.parametrize("omega", [2.999, 0.5, -1.0, math.nan, math.inf])
def test_omega_is_at_least_the_order(omega):
    with pytest.raises(BadValue, match="omega"):
        conversion.amplify_rdp_analytic(3, 0.1, zcdp(1.0), omega)
    with pytest.raises(BadType, match="omega"):
        conversion.amplify_rdp_analytic(3, 0.1, zcdp(1.0), "4")
    with pytest.raises(Unsupported, match="1/e"):
        conversion.amplify_rdp_analytic(3, 0.64, zcdp(1.0))


def test_a_wrong_profile_is_named():
    with pytest.raises(BadType, match="profile"):
        conversion.amplify_profile(0.5, 0.1)
    for wrong, error in ((math.nan, BadValue), (1.5, BadValue), (-0.1, BadValue), ("0", BadType), (None, BadType)):
        with pytest.raises(error, match=r"profile\("):
            conversion.amplify_profile(lambda _, wrong=wrong: wrong, 0.1)(1.0)


@pytest.mark.parametrize("compose", [conversion.basic_composition, lambda parts: conversion.advanced_composition(parts, 0.5)])
def test_wrong_parts_are_named(compose):
    for wrong in (1.0, None, "parts", [0.1, 0.2], ["ab"], {1: 2}, [(0.1, "0")], [(True, 0.0)], [(0.1, 0.0, True)]):
        with pytest.raises(BadType, match="parts"):
            compose(wrong)
    for wrong in (
        [(0.1,)],
        [(0.1, 0.0, 1, 1)],
        [(-0.1, 0.0)],
        [(0.1, 1.5)],
        [(0.1, 0.0, 1.5)],
        [(0.1, 0.0, -1)],
        [(math.inf, 0.0)],
    ):
        with pytest.raises(BadValue, match="parts"):
            compose(wrong)


def test_arrays_follow_broadcasting():
    epsilon, delta = conversion.amplify_approx(np.array([0.1, 1.0])[:, None], 1e-6, np.array([0.0, 0.5, 1.0]))
    assert epsilon.shape == delta.shape == (2, 3)
    assert epsilon[1, 1] == conversion.amplify_approx(1.0, 1e-6, 0.5)[0]
    both = conversion.amplify_rdp(np.array([2, 2.5, 5]), 0.1, zcdp(0.5))
    assert both.tolist() == [conversion.amplify_rdp(order, 0.1, zcdp(0.5)) for order in (2, 2.5, 5)]
    assert conversion.fixed_size_rdp(2, [3, 4], 0.1, zcdp(0.5)).shape == (2,)
    assert conversion.group_rdp(2, [3, 4], zcdp(0.5), zcdp(0.5)).shape == (2,)
    assert type(conversion.amplify_rdp(np.float64(2.5), np.float64(0.1), zcdp(0.5))) is float
    with pytest.raises(BadValue, match="broadcast"):
        conversion.group_zcdp([1.0, 2.0], [1.0, 2.0, 3.0])
