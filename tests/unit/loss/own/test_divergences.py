"""Divergences of finite pairs, against mpmath at more digits."""

import math
from fractions import Fraction as F

import pytest
from mpmath import mp, mpf

from hockeystick.loss.own.divergences import at_most_exp, chi_ends, kl_ends, log_ends, renyi_ends
from hockeystick.loss.own.finite import finite_loss

NEAR = F(1, 10**30)
PAIRS = {
    "plain": ((F(1, 2), F(1, 3), F(1, 6)), (F(1, 4), F(1, 4), F(1, 2))),
    "next to each other": ((F(1, 2) + NEAR, F(1, 2) - NEAR), (F(1, 2), F(1, 2))),
    "tiny masses": ((F(1, 10**300), 1 - F(1, 10**300)), (F(1, 10**9), 1 - F(1, 10**9))),
    "something of q alone": ((F(1), F(0)), (F(2, 3), F(1, 3))),
}


@pytest.mark.parametrize("order", [F(1) + F(1, 10**12), F(3, 2), F(2), F(100), F(10**6)])
@pytest.mark.parametrize("name", PAIRS)
def test_powers(name, order):
    p, q = PAIRS[name]
    mp.dps = 120
    a = mpf(order.numerator) / order.denominator
    real = [(mpf(x.numerator) / x.denominator, mpf(y.numerator) / y.denominator) for x, y in zip(p, q, strict=True) if x]
    total = mp.fsum(x**a * y ** (1 - a) for x, y in real)
    loss = finite_loss(zip(p, q, strict=True))
    for (low, high), truth in (
        (renyi_ends(loss, order), mp.log(total) / (a - 1)),
        (chi_ends(loss, order), (total - 1) / (a - 1)),
    ):
        assert mpf(low) <= truth <= mpf(high)
        assert high == math.inf or high - low <= 1e-15 * high


@pytest.mark.parametrize("name", PAIRS)
def test_the_divergence_of_order_one(name):
    p, q = PAIRS[name]
    mp.dps = 120
    truth = mp.fsum(
        mpf(x.numerator) / x.denominator * mp.log(mpf((x / y).numerator) / (x / y).denominator)
        for x, y in zip(p, q, strict=True)
        if x
    )
    low, high = kl_ends(finite_loss(zip(p, q, strict=True)))
    assert mpf(low) <= truth <= mpf(high)
    assert high - low <= 1e-15 * high


def test_logarithms_and_their_order():
    low, high = log_ends(F(3, 2))
    assert low < math.log(1.5) < high
    assert log_ends(F(1)) == (0.0, 0.0)
    third = F(math.log(3.0))  # a double next to log 3, on one side of it
    mp.dps = 60
    assert at_most_exp(F(3), third) == bool(mpf(math.log(3.0)) > mp.log(3))
    assert at_most_exp(F(1), F(0))
    assert not at_most_exp(F(1) + F(1, 10**100), F(0))
    assert not at_most_exp(F(1) + F(1, 10**40), F(1, 10**41))
