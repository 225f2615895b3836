"""The oracle's own integral: what it leaves out at both ends lies below the bounds it adds for it."""

import math

import pytest
from flint import arb, ctx

import oracle

CASES = [  # noise, rate, k, h
    (1.0, 0.1, 1.5, 0.05),
    (0.5, 1e-6, 3.0, 0.02),
    (0.5, 1e-6, 30.0, 0.02),
    (5.0, 1e-3, 40.0, 0.1),
    (30.0, 0.9, 200.0, 0.3),
    (0.7, 1e-20, 12.0, 2.5),  # steps so long that the largest term counts by itself
]


@pytest.fixture(autouse=True)
def _bits():
    before, ctx.prec = ctx.prec, 300
    yield
    ctx.prec = before


def term(noise: float, rate: float, k: float, z: arb) -> arb:
    """e^{kL} times the normal density."""
    t = z / noise - 1 / (2 * arb(noise) ** 2)
    return (k * ((1 - arb(rate)) + arb(rate) * t.exp()).log() - z * z / 2).exp() / (2 * arb.pi()).sqrt()


@pytest.mark.parametrize(("noise", "rate", "k", "h"), CASES)
def test_what_is_left_out_on_the_right_lies_below_its_bound(noise, rate, k, h):
    """From places before and beyond k/s; near the bound where the step is small."""
    for place in (1.0, 0.5 * k / noise, k / noise, k / noise + 4.0, k / noise + 15.0):
        total = sum((term(noise, rate, k, arb(place) + arb(h) * j) for j in range(1, int((k / noise + 60.0) / h))), arb(0)) * h
        bound = oracle._right_tail(arb(noise), arb(rate), k, arb(place), arb(h))
        assert total < bound
        if h <= 0.05 and place >= k / noise:
            assert total > bound / 10


@pytest.mark.parametrize(("noise", "rate", "k", "h"), CASES)
@pytest.mark.parametrize("sign", [1, -1])
def test_what_is_left_out_at_both_ends_lies_below_its_bound(noise, rate, k, h, sign):
    low, high = arb(-3.0), arb(4.0)
    beyond = [high + arb(h) * j for j in range(1, int((k / noise + 60.0) / h))] + [
        low - arb(h) * j for j in range(1, int(40 / h))
    ]
    total = sum((term(noise, rate, sign * k, z) for z in beyond), arb(0)) * h
    assert total < oracle._left_out(arb(noise), arb(rate), sign * k, low, high, arb(h))


@pytest.mark.parametrize(("noise", "rate", "k", "h"), CASES)
def test_the_edge_leaves_next_to_nothing_or_is_the_farthest(noise, rate, k, h):
    for lead, most in ((60.0, 12.0 + k / noise), (110.0, 15.0 + k / noise), (110.0, 1e4)):
        edge = oracle._edge(arb(noise), arb(rate), k, h, most, lead)
        assert 1.0 <= edge <= most
        if edge < most:
            assert oracle._right_tail(arb(noise), arb(rate), k, arb(edge), arb(h)) < (-arb(lead)).exp()


def test_the_integral_of_a_sampled_step_against_another_rule():
    """M(k) of a whole k is a sum of binomial terms: E e^{kL} = sum C(k, j) (1 - q)^(k - j) q^j e^{j (j - 1)/(2 s^2)}."""
    for noise, rate, k in ((0.8, 0.01, 2), (3.0, 0.3, 7), (0.3, 1e-5, 4)):
        found = oracle._sampled_log_phi(oracle.Part("remove", noise, rate, 1), k - 1.0, 0.1, 1, 100.0)[0].real
        s, q = arb(noise), arb(rate)
        truth = sum(
            (math.comb(k, j) * (1 - q) ** (k - j) * q**j * (arb(j * (j - 1)) / (2 * s * s)).exp() for j in range(k + 1)), arb(0)
        ).log()
        assert found.overlaps(truth)
        assert found.rad() < 1e-40
        assert abs(found - truth) < 1e-40
