"""The most repetitions within a budget, and the Rényi accountant."""

import json
import math
import warnings
from fractions import Fraction

import numpy as np
import pytest

import hockeystick as hs
from hockeystick import conversion
from hockeystick.planning.rounds import MOST, Budget, most_rounds
from places import DATA

REST = json.loads((DATA / "golden_rest.json").read_text(encoding="utf-8"))["values"]
CLOSE = 1e-12


def number(given):
    return [number(one) for one in given] if isinstance(given, list) else float(given)


def asked(call, inputs):
    return eval(call, {"hs": hs, "math": math, "__builtins__": {"int": int}}, dict(inputs))


@pytest.mark.parametrize("row", REST, ids=[row["id"] for row in REST])
def test_reference_value(row):
    inputs = {name: number(given) for name, given in row["inputs"].items()}
    truth, found = float(row["value"]), asked(row["call"], inputs)
    if row["kind"] == "integer":
        assert found == int(row["value"])
        return
    moved = 0.0
    for name, value in inputs.items():
        if isinstance(value, float) and Fraction(row["inputs"][name]) != Fraction(value):
            moved += abs(asked(row["call"], {**inputs, name: math.nextafter(value, math.inf)}) - found)
    assert abs(found - truth) <= CLOSE * truth + moved


# rounds


def best_rounds(epsilon, convert):
    """The most rounds of noise 20 by a conversion of its rho."""
    count = 1
    while convert(count / 800.0, 1e-5) <= epsilon:
        count += 1
    return count - 1


def test_what_a_better_bound_buys():
    """Asoodeh et al. 2020, Figure 2 (SEEDS, answer (a)): rounds within epsilon at delta 1e-5, sigma 20."""
    for epsilon, by_lemma_2, by_all in ((6.0, 102, 184), (7.0, 124, 228), (8.0, 144, 271)):
        classic = best_rounds(epsilon, conversion.zcdp_to_epsilon_classic)
        assert best_rounds(epsilon, conversion.zcdp_to_epsilon_closed) - classic == by_lemma_2
        assert hs.rounds(hs.Gaussian(sigma=20.0), epsilon=epsilon, delta=1e-5) - classic == by_all


def test_figure_3_in_iterations():
    step = hs.Gaussian(sigma=4.0).poisson(rate=0.001)
    assert hs.rounds(step, epsilon=1.0, delta=1e-5) == 1_113_160
    assert hs.rounds(step, epsilon=0.25, delta=1e-5) == 87_599


@pytest.mark.parametrize(
    ("step", "epsilon", "delta"),
    [
        (hs.Gaussian(sigma=20.0), 1.0, 1e-5),
        (hs.Gaussian(sigma=1e5), 1.0, 1e-5),
        (hs.Laplace(scale=10.0), 1.0, 1e-6),
        (hs.PureDP(epsilon=0.1), 1.0, 0.0),
        (hs.ApproxDP(epsilon=0.01, delta=1e-9), 1.0, 1e-6),
        (hs.ZCDP(rho=1e-4), 1.0, 1e-6),
        (hs.Gaussian(sigma=4.0).poisson(rate=0.001) * 1000 + hs.Laplace(scale=200.0), 2.0, 1e-5),
    ],
    ids=str,
)
def test_one_more_is_too_many(step, epsilon, delta):
    count = hs.rounds(step, epsilon=epsilon, delta=delta)
    assert type(count) is int
    assert (step * count).epsilon(delta) <= epsilon < (step * (count + 1)).epsilon(delta)


def test_not_even_one():
    assert hs.rounds(hs.Gaussian(sigma=0.1), epsilon=1.0, delta=1e-5) == 0
    assert hs.rounds(hs.Gaussian(sigma=20.0), epsilon=0.0, delta=1e-5) == 0
    assert hs.rounds(hs.Gaussian(sigma=20.0), epsilon=1.0, delta=0.0) == 0
    assert hs.rounds(hs.ApproxDP(epsilon=0.1, delta=1e-3), epsilon=1.0, delta=1e-5) == 0


def test_ties_are_exact():
    assert hs.rounds(hs.PureDP(epsilon=0.125), epsilon=1.0, delta=0.0) == 8
    assert hs.rounds(hs.PureDP(epsilon=0.1), epsilon=1.0, delta=0.0) == 9  # the double 0.1 is above a tenth


def test_the_relation_counts():
    step = hs.Gaussian(sigma=20.0)
    assert hs.rounds(step, epsilon=1.0, delta=1e-5, neighbours="replace") == 7 < hs.rounds(step, epsilon=1.0, delta=1e-5)


@pytest.mark.parametrize("step", [hs.Gaussian(sigma=1e9), hs.PureDP(epsilon=0.0), hs.compose([])], ids=repr)
def test_a_budget_that_is_not_spent(step):
    with pytest.raises(hs.Unreachable, match=f"{MOST:,} rounds of"):
        hs.rounds(step, epsilon=1.0, delta=1e-5)
    with pytest.raises(hs.Unreachable, match="rounds of"):
        hs.rounds(hs.Gaussian(sigma=1.0), epsilon=1.0, delta=1.0)


def test_any_measure_is_a_budget():
    """Few questions, whatever grows: also in steps, and with jumps to infinity."""
    asked_at = []

    def budget(measure, limit):
        def measured(run):
            ((_, count),) = run.parts
            asked_at.append(count)
            return measure(count)

        return Budget(measured, limit)

    step = hs.Gaussian(sigma=1.0)
    for measure, limit, most in (
        (lambda n: 1e-9 * n, 1.0, 10**9),
        (lambda n: n**0.5, 1000.0, 10**6),
        (lambda n: math.log1p(n), 5.0, 147),
        (lambda n: 0.0 if n < 777 else math.inf, 1.0, 776),
        (lambda n: 0.5 if n < 123_456_789 else 2.0, 1.0, 123_456_788),
        (lambda n: float(n > 41), 0.0, 41),
        (lambda n: n**7 * 1e-40, 1.0, 517_947),
    ):
        asked_at.clear()
        assert most_rounds(step, budget(measure, limit), "within") == most
        assert len(asked_at) < 70


def test_rounds_bad_input():
    for step in (1, None, "Gaussian"):
        with pytest.raises(hs.BadType, match="step is"):
            hs.rounds(step, epsilon=1.0, delta=1e-5)
    step = hs.Gaussian(sigma=2.0)
    for epsilon, delta in ((-1.0, 1e-5), (1.0, 2.0), (math.nan, 1e-5), (math.inf, 1e-5)):
        with pytest.raises(hs.BadValue):
            hs.rounds(step, epsilon=epsilon, delta=delta)
    with pytest.raises(hs.BadValue):
        hs.rounds(step, epsilon=1.0, delta=1e-5, neighbours="friends")


# The Rényi accountant

RUNS = [
    hs.Gaussian(sigma=20.0) * 500,
    hs.Gaussian(sigma=1.1).poisson(rate=0.01) * 1000,
    hs.Laplace(scale=5.0) * 20,
    hs.RandomizedResponse(epsilon=0.5) * 7 + hs.Gaussian(sigma=3.0),
    hs.DiscreteGaussian(sigma=3.0) * 4,
    hs.ZCDP(rho=0.02) * 3,
    hs.PureDP(epsilon=1.0),
]


@pytest.mark.parametrize("run", RUNS, ids=repr)
def test_the_accountant_bounds_the_exact_answer(run):
    accountant = hs.RDPAccountant().compose(run)
    epsilon, delta = accountant.epsilon(delta=1e-5), accountant.delta(epsilon=1.0)
    assert run.epsilon_bounds(1e-5).lower <= epsilon * (1 + 1e-12)
    assert run.delta_bounds(1.0).lower <= delta * (1 + 1e-12)
    order = accountant.order(delta=1e-5)
    assert epsilon == conversion.rdp_to_epsilon(order, run.rdp(order), 1e-5)
    around = [conversion.rdp_to_epsilon(a, run.rdp(a), 1e-5) for a in (1.5, 2.0, 5.0, 0.99 * order + 0.01, 1.02 * order, 64.0)]
    assert epsilon <= min(around) * (1 + 1e-9)
    assert accountant.rdp(order) == run.rdp(order)
    assert accountant.release == run


def test_it_composes():
    step = hs.Gaussian(sigma=2.0)
    one = hs.RDPAccountant().compose(step, 3).compose(hs.Laplace(scale=2.0))
    assert one.release == step * 3 + hs.Laplace(scale=2.0)
    assert one.rdp(3.0) == pytest.approx(3 * step.rdp(3.0) + hs.Laplace(scale=2.0).rdp(3.0), rel=1e-13)
    assert hs.RDPAccountant().epsilon(delta=1e-5) == 0.0
    assert "Laplace" in repr(one)
    replace = hs.RDPAccountant(neighbours="replace").compose(step)
    assert replace.neighbours == "replace"
    assert replace.rdp(2.0) == pytest.approx(4 * step.rdp(2.0))
    deltas = np.array([1e-6, 1e-5])
    assert one.epsilon(deltas).tolist() == [one.epsilon(1e-6), one.epsilon(1e-5)]
    assert one.order(delta=deltas).shape == (2,)


def test_listed_orders_and_their_edges():
    run = hs.Gaussian(sigma=20.0) * 100  # the best order is 9.6
    free = hs.RDPAccountant().compose(run).epsilon(1e-5)
    listed = hs.RDPAccountant(orders=[32.0, 9.0, 9.5, 2.0]).compose(run)
    assert listed.orders == (2.0, 9.0, 9.5, 32.0)
    assert free <= listed.epsilon(1e-5) < 1.001 * free
    assert listed.order(delta=1e-5) == 9.5
    for orders, word in (((2.0, 3.0), "largest"), ((30.0, 40.0), "smallest")):
        edge = hs.RDPAccountant(orders=orders).compose(run)
        with pytest.warns(hs.EdgeOrder, match=word):
            assert edge.epsilon(1e-5) > free
        with pytest.warns(hs.EdgeOrder, match=word):
            edge.delta(2.0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert hs.RDPAccountant(orders=[4.0]).compose(run).order(epsilon=2.0) == 4.0  # no list to be at the edge of
        pure = hs.RDPAccountant(orders=[2.0, math.inf]).compose(hs.PureDP(epsilon=0.5))
        assert pure.order(delta=1e-9) == math.inf
        assert pure.epsilon(delta=1e-9) <= 0.5


def test_accountant_bad_input():
    with pytest.raises(hs.BadValue, match="orders is empty"):
        hs.RDPAccountant(orders=[])
    with pytest.raises(hs.BadValue, match="order is"):
        hs.RDPAccountant(orders=[1.0])
    with pytest.raises(hs.BadType):
        hs.RDPAccountant(orders="23")
    with pytest.raises(hs.BadValue, match="neighbours"):
        hs.RDPAccountant(neighbours="friends")
    accountant = hs.RDPAccountant()
    with pytest.raises(hs.BadType, match="release is"):
        accountant.compose(3)
    with pytest.raises(hs.BadValue, match="count"):
        accountant.compose(hs.Gaussian(sigma=1.0), -1)
    with pytest.raises(hs.BadValue, match="give delta, or epsilon"):
        accountant.order()
    with pytest.raises(hs.BadValue, match="give delta, or epsilon"):
        accountant.order(delta=1e-5, epsilon=1.0)
    with pytest.raises(hs.Unsupported, match="infinite"):
        accountant.compose(hs.ApproxDP(epsilon=0.1, delta=1e-6)).epsilon(1e-5)
