"""Finite pairs from tests and from levels: both give back the pair that they were taken from."""

import math
import random
from fractions import Fraction as F

from hockeystick.loss.own import polygon
from hockeystick.loss.own.finite import both_orders, finite_loss
from hockeystick.loss.own.polygon import BITS, ONE, circumscribed, inscribed, units


def dyadic_pair(rng):
    """Masses that are whole 64ths, some of them alone."""
    cuts = [sorted(rng.sample(range(1, 64), 5)) for _ in range(2)]
    masses = [[F(b - a, 64) for a, b in zip([0, *one], [*one, 64], strict=True)] for one in cuts]
    masses[0] += [F(0)]
    masses[1] = [F(0), *masses[1]]
    return finite_loss(zip(*masses, strict=True))


def test_units_are_exact_and_rounded_down():
    for value in (0.0, 1.0, 0.1, 1e-300, 3.5e300):
        assert F(units(value), ONE) == F(value)
    assert units(5e-324) == (1 << BITS) >> 1074
    assert units(math.ldexp(1.0, -1074)) * 2**1074 == ONE


def test_a_pair_is_given_back_by_its_tests():
    rng = random.Random(5)
    for _ in range(20):
        loss = dyadic_pair(rng)
        tests = polygon._tests(loss)
        rng.shuffle(tests)
        assert inscribed(tests) == loss
        # worse tests change nothing
        fpr, tpr = tests[0]
        assert inscribed([*tests, (fpr + ONE // 128, max(tpr - ONE // 128, 0)), (fpr, tpr // 2)]) == loss


def test_a_pair_is_given_back_by_its_curve_and_some_levels_are_above_it():
    rng = random.Random(6)
    for _ in range(20):
        loss = dyadic_pair(rng)
        exact = [(x, loss.hockey_stick(x)) for x in loss.ratios]
        levels = [(-int(-x * ONE // 1), -int(-h * ONE // 1)) for x, h in exact]
        found = circumscribed(levels)
        some = circumscribed(levels[::2])
        assert sum(p for p, _ in found.masses_by_ratio) + found.infinite_mass == 1
        assert sum(q for _, q in found.masses_by_ratio) + found.infinite_mass_under_q == 1
        for _ in range(20):
            x = F(rng.randrange(1, 400), 100)
            h = loss.hockey_stick(x)
            assert h <= found.hockey_stick(x) <= h + F(1, 2**1000)
            assert h <= some.hockey_stick(x)
            assert some.reversed.hockey_stick(x) >= loss.reversed.hockey_stick(x)


def test_either_order_is_that_of_exact_fractions():
    rng = random.Random(7)
    for _ in range(10):
        loss = dyadic_pair(rng)
        mine, known = polygon.either_order(loss), both_orders(loss)
        known = known.dominating[0] if hasattr(known, "dominating") and known is not loss else loss
        for x in (0.0, 0.3, 1.1):
            worst = max(one.hockey_stick(F(math.exp(x))) for one in (loss, loss.reversed))
            assert abs(mine.hockey_stick(F(math.exp(x))) - worst) < F(1, 2**1000)
