"""The filters: exact amounts, refusals that charge nothing, states that survive."""

import json
import math
import random
import threading
from fractions import Fraction

import pytest

import hockeystick as hs
from hockeystick import filters

EVERY = {
    "pure": lambda: filters.PureFilter(epsilon="0.3"),
    "zcdp": lambda: filters.ZCDPFilter(rho=0.5, delta=1e-7),
    "gdp": lambda: filters.GDPFilter(mu=1.0, slack=1e-7),
    "renyi": lambda: filters.RenyiFilter(orders=(2.0, 8.0), budgets=(0.1, 0.4)),
    "approximate": lambda: filters.ApproximateFilter(epsilon=1.0, delta=1e-6),
}


@pytest.mark.parametrize("name", EVERY)
def test_what_fits_is_spent_and_what_does_not_is_refused(name):
    budget = EVERY[name]()
    release = hs.PureDP(epsilon=0.01)
    count = budget.fits(release)
    assert count > 0
    assert not budget.would_exceed(release, count)
    assert budget.would_exceed(release, count + 1)
    budget.spend(release, count - 1)
    before = budget.spent
    with pytest.raises(hs.OverBudget, match=r"nothing was charged\.  1 of it still fit"):
        budget.spend(release, 2)
    assert budget.spent == before
    budget.spend(release)
    assert budget.fits(release) == 0
    assert all(value >= 0 for value in budget.remaining.values())
    assert {one: budget.spent[one] + budget.remaining[one] for one in budget.budget} == budget.budget


@pytest.mark.parametrize("name", EVERY)
def test_a_state_survives_as_text(name):
    budget = EVERY[name]()
    budget.spend(hs.PureDP(epsilon=0.01), 3)
    again = EVERY[name]()
    again.restore(json.loads(json.dumps(budget.state())))
    assert again.spent == budget.spent
    with pytest.raises(hs.BadValue, match="has spent something already"):
        again.restore(budget.state())
    with pytest.raises(hs.BadValue, match=r"more .* than the budget"):
        EVERY[name]().restore({one: str(10 * value + 1) for one, value in budget.budget.items()})
    with pytest.raises(hs.BadType, match="state is 3"):
        EVERY[name]().restore(3)
    with pytest.raises(hs.BadValue, match=r"lacks|unknown"):
        EVERY[name]().restore({})


@pytest.mark.parametrize("name", EVERY)
def test_the_promise_is_at_least_that_of_what_fits(name):
    """Of the same release all the way the exact epsilon is known: a fixed plan."""
    budget = EVERY[name]()
    release = hs.PureDP(epsilon=0.01)
    plan = release * budget.fits(release)
    assert plan.epsilon(delta=1e-6) <= budget.epsilon(1e-6) < math.inf


def test_tenths_add_up():
    budget = filters.PureFilter(epsilon=0.3)
    budget.spend(0.1)
    budget.spend(0.2)
    assert budget.remaining == {"epsilon": 0}
    assert budget.epsilon(0.0) == 0.3
    with pytest.raises(hs.OverBudget):
        budget.spend("1e-300")
    budget = filters.PureFilter(epsilon=1)
    for _ in range(10):
        budget.spend(0.1)
    assert budget.remaining["epsilon"] == 0
    assert filters.ZCDPFilter(rho="1/18").fits(hs.Gaussian(sigma=3.0)) == 1
    assert filters.GDPFilter(mu="1/3").fits(hs.Gaussian(sigma=3.0)) == 1
    assert filters.RenyiFilter(orders=2.0, budgets="1/9").fits(hs.Gaussian(sigma=3.0)) == 1


def test_random_splits_are_never_refused_and_never_overspent():
    draw = random.Random(5)
    for _ in range(200):
        parts = [Fraction(draw.randint(1, 999), 1000) for _ in range(draw.randint(2, 9))]
        budget = filters.PureFilter(epsilon=float(sum(parts)))
        for part in parts:
            budget.spend(float(part))
        assert budget.remaining["epsilon"] == 0
        assert budget.would_exceed(1e-15)


def test_the_theorem_of_whitehouse_and_others():
    budget = filters.ApproximateFilter(epsilon=1.0, delta=1e-6, spent_at_once=1e-7)
    count = budget.fits(hs.PureDP(epsilon=0.01))

    def theorem(n):
        squares = n * 1e-4
        return math.sqrt(2 * math.log(1e7) * squares) + squares / 2

    assert theorem(count) <= 1.0 < theorem(count + 1)
    assert budget.epsilon(1e-6) == 1.0
    assert budget.epsilon(9e-7) == math.inf
    assert budget.fits(hs.Gaussian(sigma=100.0), delta=1e-8) <= 90
    assert budget.fits(hs.ApproxDP(epsilon=0.01, delta=1e-8)) == 90


@pytest.mark.parametrize(
    ("budget", "release", "words"),
    [
        (EVERY["pure"], hs.Gaussian(sigma=1.0), r"not pure DP.*natural filter.*2602.06756"),
        (EVERY["zcdp"], hs.ApproxDP(epsilon=0.1, delta=1e-9), r"no finite rho.*natural filter"),
        (lambda: filters.GDPFilter(mu=1.0), hs.ApproxDP(epsilon=0.1, delta=1e-9), r"no finite mu.*slack.*natural filter"),
        (EVERY["renyi"], hs.ApproxDP(epsilon=0.1, delta=1e-9), r"no theorem here adds deltas to Rényi"),
        (EVERY["approximate"], hs.Gaussian(sigma=10.0), r"Give delta=.*natural filter"),
    ],
    ids=list(EVERY),
)
def test_what_has_no_theorem_is_refused_with_what_is_missing(budget, release, words):
    with pytest.raises(hs.Unsupported, match=words):
        budget().spend(release)


def test_deltas_go_with_the_filters_that_count_them():
    for name in ("pure", "renyi"):
        with pytest.raises(hs.BadValue, match="allowed: 0"):
            EVERY[name]().spend(hs.PureDP(epsilon=0.01), delta=1e-9)
    budget = EVERY["zcdp"]()
    cost = budget.cost(hs.ApproxDP(epsilon=0.1, delta=1e-9), delta=1e-9)
    assert cost["delta"] == Fraction(1, 10**9)
    assert cost["rho"] == Fraction(0.1) ** 2 / 2


def test_a_sampled_run_costs_a_gdp_filter_its_certified_mu():
    run = hs.Gaussian(sigma=1.1).poisson(rate=256 / 60_000) * 1000
    budget = filters.GDPFilter(mu=1.0, slack=1e-7)
    cost = budget.cost(run)
    assert cost["delta"] > 0
    assert float(cost["mu^2"]) == pytest.approx(run.mu(delta=float(cost["delta"])) ** 2)
    bare = filters.GDPFilter(mu=40.0).cost(run)
    assert float(bare["mu^2"]) == pytest.approx(1000 / 1.1**2)  # without a slack sampling does not count


@pytest.mark.parametrize("value", [True, None, "x", float("nan"), -1.0, [1.0]])
@pytest.mark.parametrize("name", EVERY)
def test_nonsense_is_refused(name, value):
    with pytest.raises((hs.BadType, hs.BadValue)):
        EVERY[name]().spend(value)
    with pytest.raises((hs.BadType, hs.BadValue)):
        EVERY[name]().spend(hs.PureDP(epsilon=0.001), count=value if value != [1.0] else -1)


def test_several_orders_hold_together():
    budget = filters.RenyiFilter(orders=(2.0, 32.0), budgets=(1.0, 0.5))
    assert budget.fits(hs.Gaussian(sigma=10.0)) == 3  # of order 32, not the 100 of order 2
    curve = filters.RenyiFilter(orders=(2.0, 32.0), budgets=lambda order: 0.05 * order)
    assert curve.budget == {"order 2": Fraction(1, 10), "order 32": Fraction(8, 5)}
    assert curve.fits(hs.Gaussian(sigma=10.0)) == 10
    with pytest.raises(hs.BadValue, match="twice"):
        filters.RenyiFilter(orders=(2.0, 2.0), budgets=(1.0, 1.0))
    with pytest.raises(hs.BadValue, match="as many of each"):
        filters.RenyiFilter(orders=(2.0, 3.0), budgets=(1.0,))


def test_threads_share_a_filter():
    budget = filters.PureFilter(epsilon=10)
    granted = []

    def work():
        for _ in range(50):
            try:
                budget.spend("0.1")
            except hs.OverBudget:
                continue
            granted.append(1)

    threads = [threading.Thread(target=work) for _ in range(8)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert len(granted) == 100
    assert budget.remaining["epsilon"] == 0
