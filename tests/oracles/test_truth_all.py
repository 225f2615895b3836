"""Stored truths of every mechanism and claim that is one pair (`scripts/truth_all.py --store` makes them)."""

import json

import pytest
from flint import arb, ctx

import exact
import hockeystick as hs
import truth_all

STORED = json.loads(truth_all.STORED.read_text())


def shown(case):
    return "+".join(f"{'sampled ' if 'rate' in part else ''}{part['kind']}*{part['count']}" for part in case["parts"])


def relation(case):
    return case.get("neighbours", "add-or-remove")


def test_all_kinds_are_there():
    kinds = {(part["kind"], "rate" in part) for case in STORED for part in case["parts"]}
    assert kinds == {(kind, rate) for kind in truth_all.ATOMIC + truth_all.SMOOTH for rate in (False, True)}
    assert len(STORED) >= 150


@pytest.mark.parametrize("case", STORED, ids=shown)
def test_epsilon_holds_the_truth(case):
    bounds = truth_all.built(case).epsilon_bounds(case["delta"], neighbours=relation(case))
    low, high = (float(end) for end in case["epsilon_truth"])
    assert bounds.lower <= high
    assert bounds.upper >= low


@pytest.mark.parametrize("case", STORED, ids=shown)
def test_log_delta_holds_the_truth(case):
    bounds = truth_all.built(case).log_delta_bounds(case["epsilon"], neighbours=relation(case))
    low, high = (arb(end) for end in case["log_delta_truth"])
    assert arb(bounds.lower) <= high
    assert arb(bounds.upper) >= low


@pytest.mark.parametrize("order", ["remove", "add"])
def test_a_sandwich_holds_what_the_exact_law_says(order):
    """The oracles agree with each other."""
    step = exact.sampled(exact.response(0.5, 4), 0.2, order)
    listed, grid = (exact.Run([(step, 40)], 1e-6, 2048, way) for way in (None, "sandwich"))
    assert (listed.way, grid.way) == ("laws", "sandwich")
    for epsilon in (-0.3, 0.1, 0.7):
        assert grid.delta(epsilon).contains(listed.delta(epsilon))


def test_two_ways_to_the_binomial_law():
    ctx.prec = exact.BITS
    step = exact.response(0.3)
    listed = exact.Run([(step, 1500)], 1e-9)
    for epsilon in (70.1, 90.3, 93.0):
        assert listed.delta(epsilon).overlaps(exact.binomial_delta(step, 1500, epsilon))


def test_more_orders_are_never_worse():
    """A kink at a listed order may be the best place, and a search may miss it."""
    orders, values = (12.207982454741705, 14.29627527220988), (0.029817635322590783, 0.12978119869967847)
    both = hs.RDP(orders=orders, values=values)
    for order, value in zip(orders, values, strict=True):
        alone = hs.RDP(orders=(order,), values=(value,))
        assert both.epsilon(6.1732704315746e-08) <= alone.epsilon(6.1732704315746e-08) * (1.0 + 1e-12)
        assert both.delta(1.0) <= alone.delta(1.0) * (1.0 + 1e-12)
