"""Losses of two values: the binomial sum in ball arithmetic."""

import itertools
import math

import pytest
from flint import arb, ctx

import hockeystick as hs
from hockeystick.loss.composed import composed
from hockeystick.loss.enumeration.two_point import two_point_epsilon, two_point_log_delta
from hockeystick.loss.pairs.discrete import ResponseLoss
from hockeystick.loss.pairs.laplace import LaplaceLoss


def tosses(epsilon: float, infinite: float, rate: float, order: str) -> list[tuple[arb, arb]]:
    """(loss, mass under P) of each finite value of a claim's worst pair in a Poisson sample."""
    grown, lost, q = arb(epsilon).exp(), arb(infinite), arb(rate)
    yes, no = (1 - lost) * grown / (1 + grown), (1 - lost) / (1 + grown)  # under P, and exchanged under Q
    mixed = [(q * p + (1 - q) * other, other) for p, other in ((yes, no), (no, yes))]
    pairs = mixed if order == "remove" else [(other, p) for p, other in mixed]
    return [((p / other).log(), p) for p, other in pairs]


@pytest.mark.parametrize("order", ["remove", "add"])
@pytest.mark.parametrize(
    ("epsilon", "infinite", "rate", "steps", "delta"),
    [
        (0.2, 0.0, 0.01, 20000, 1e-7),
        (0.01, 0.0, 1.0, 5000, 1e-3),
        (1.0, 0.0, 2e-4, 30000, 1e-60),
        (3.0, 0.0, 1e-3, 100, 1e-12),
        (0.3, 1e-9, 1.0, 300, 1e-5),
    ],
)
def test_many_steps_of_two_values_against_the_binomial_sum(epsilon, infinite, rate, steps, delta, order) -> None:
    """In ball arithmetic; the interval is as narrow as on a native lattice it shall be."""
    claim = hs.ApproxDP(epsilon, infinite) if infinite else hs.PureDP(epsilon)
    found = (claim.poisson(rate=rate) * steps).epsilon_bounds(delta=delta, neighbours=order)
    assert found.width <= 1e-9 * found.upper + 1e-12
    old, ctx.prec = ctx.prec, 300
    try:
        (up, p), (down, q) = tosses(epsilon, infinite, rate, order)
        if up < down:
            (up, p), (down, q) = (down, q), (up, p)
        ratio, mass, total = p / q, q**steps, {end: arb(0) for end in (found.lower, found.upper)}
        for heads in range(steps + 1):
            loss = heads * up + (steps - heads) * down
            for end in total:
                if loss > end:
                    total[end] += mass * (1 - (arb(end) - loss).exp())
            mass *= ratio * (steps - heads) / (heads + 1)
        beyond = 1 - (1 - arb(infinite)) ** steps if order == "remove" or rate == 1.0 else arb(0)
        assert total[found.lower] + beyond >= delta >= total[found.upper] + beyond
    finally:
        ctx.prec = old


def listed(steps: list[tuple[float, float]], epsilon: float) -> float:
    """The finite part of delta over all outcomes of claims (epsilon, infinite)."""
    total = 0.0
    for signs in itertools.product((1, -1), repeat=len(steps)):
        loss = math.fsum(sign * one for sign, (one, _) in zip(signs, steps, strict=True))
        if loss > epsilon:
            mass = math.prod((1.0 - lost) / (1.0 + math.exp(-sign * one)) for sign, (one, lost) in zip(signs, steps, strict=True))
            total += mass * -math.expm1(epsilon - loss)
    return total


STEPS = [[(0.5, 0.0)], [(0.5, 0.0)] * 5, [(0.5, 1e-3)] * 3, [(0.2, 0.0), (0.7, 0.01), (0.7, 0.01), (1.3, 0.0)]]


@pytest.mark.parametrize("steps", STEPS, ids=str)
def test_few_signs_are_summed(steps):
    run = composed([(ResponseLoss(one, 2, lost), 1) for one, lost in steps])
    for epsilon in (0.0, 0.1, 0.45, 0.9, 1.4):
        low, high = two_point_log_delta(run, epsilon)
        truth = listed(steps, epsilon)
        if truth == 0.0:
            assert low == -math.inf
            continue
        assert low - 1e-12 <= math.log(truth) <= high + 1e-12
        assert high - low < 1e-6
        left, right = two_point_epsilon(run, math.log(truth), 1e-14)
        assert left - 1e-9 <= epsilon <= right + 1e-9
        assert right - left < 1e-4


def test_other_runs_are_no_sums_of_signs():
    for loss in (LaplaceLoss(0.5), ResponseLoss(0.5, 3)):
        run = composed([(loss, 2), (ResponseLoss(0.3), 1)])
        assert two_point_log_delta(run, 0.1) == (-math.inf, math.inf)
        assert two_point_epsilon(run, -3.0, 0.0) == (0.0, math.inf)
    assert two_point_log_delta(composed([(ResponseLoss(0.3), 2)]), -0.1) == (-math.inf, math.inf)


def test_what_is_reached_at_once_needs_no_epsilon():
    assert two_point_epsilon(composed([(ResponseLoss(0.3, 2, 0.1), 2)]), 2.0 * math.log(0.9) + 1e-9, 1e-14) == (0.0, 0.0)
