"""A fixed hundred of random runs against truths found in ball arithmetic (`scripts/truth.py --store` makes them)."""

import json
from pathlib import Path

import pytest
from flint import arb

import hockeystick as hs

STORED = json.loads((Path(__file__).parent / "data" / "truth.json").read_text())


def built(case):
    run = hs.Gaussian(sigma=case["sigma"]).poisson(rate=case["rate"]) * case["steps"]
    if "laplace" in case:
        scale, count = case["laplace"]
        run = run + hs.Laplace(scale=scale) * count
    if "gaussian" in case:
        run = run + hs.Gaussian(sigma=case["gaussian"])
    return run


def test_there_are_a_hundred():
    assert len(STORED) == 100


@pytest.mark.parametrize("case", STORED, ids=[f"{n:03d}" for n in range(len(STORED))])
def test_the_interval_holds_the_truth(case):
    bounds = built(case).epsilon_bounds(delta=case["delta"])
    truth = arb(case["epsilon"])
    assert arb(bounds.lower) <= truth <= arb(bounds.upper)
    assert bounds.width <= 1e-6 * bounds.upper


@pytest.mark.parametrize("case", STORED[::5], ids=[f"{n:03d}" for n in range(0, len(STORED), 5)])
def test_the_claimed_error_is_not_below_the_observed(case):
    """The ends are proved: the truth may lie anywhere between, so half the width is at least the distance from the middle."""
    bounds = built(case).epsilon_bounds(delta=case["delta"])
    middle = 0.5 * (arb(bounds.lower) + arb(bounds.upper))
    assert abs(middle - arb(case["epsilon"])) <= 0.5 * (arb(bounds.upper) - arb(bounds.lower)) * (1 + arb(1e-12))
