"""Pairs of densities as descriptions: what may be given, what is refused, and what they are by themselves."""

import copy
import math
import pickle

import numpy as np
import pytest
import scipy.stats as st

import hockeystick as hs
from hockeystick.loss.own import cells

INF = math.inf
LOGISTIC = st.logistic(1.0), st.logistic(0.0)


@pytest.fixture(autouse=True)
def coarse(monkeypatch):
    monkeypatch.setattr(cells, "TUNING", cells.Tuning(cells=300))


def test_equal_descriptions_are_one():
    one, two = (hs.Pair(st.logistic(1.0), st.logistic(0.0), ratio="increasing", losses=(-1, 1)) for _ in range(2))
    assert one == two
    assert hash(one) == hash(two)
    assert isinstance(one, hs.Pair)
    assert one + two == one * 2
    assert one != hs.Pair(*LOGISTIC, ratio="increasing")
    assert pickle.loads(pickle.dumps(one)) == one == copy.deepcopy(one)
    finite = hs.Pair([0.5, 0.5], [0.25, 0.75])
    assert pickle.loads(pickle.dumps(finite)) == finite
    assert repr(one) == "Pair(p=logistic(1.0), q=logistic(0.0), ratio='increasing', losses=(-1.0, 1.0))"
    assert one.reverse.reverse == one
    assert hs.Pair(*LOGISTIC[:1] * 2, ratio="increasing").epsilon(delta=0.0) == 0.0
    with pytest.raises(hs.Unsupported, match="JSON"):
        one.to_json()


def test_what_is_wrong_is_said():
    both, more = (np.exp, np.exp), ("add-or-remove", "increasing")
    for given, error, words in (
        (LOGISTIC, hs.Unsupported, "monotone likelihood ratio"),
        ((*LOGISTIC, "add-or-remove", "up"), hs.BadValue, "'increasing' or 'decreasing'"),
        ((*both, *more), hs.BadValue, "support of p is missing"),
        ((*both, *more, False, (0, 1)), hs.Unsupported, "log_concave=True"),
        ((*both, *more, True, (1, 0)), hs.BadValue, "the first below the second"),
        ((*both, *more, True, 3), hs.BadType, "support is 3"),
        ((*both, *more, True, (0, "b")), hs.BadType, "an end of support"),
        ((st.poisson(1), st.poisson(2), *more), hs.BadType, "discrete"),
        ((st.norm(1), [0.5, 0.5], *more), hs.BadType, "beside a density"),
        (([0.5, 0.5], st.norm(1), *more), hs.BadType, "beside a density"),
        (([1.0], [1.0], *more), hs.BadValue, "stated of densities"),
        ((*LOGISTIC, *more, False, None, (1, -1)), hs.BadValue, "losses is"),
        ((*LOGISTIC, *more, False, None, None, 0.1), hs.BadValue, "accuracy is 0.1"),
        ((*LOGISTIC, *more, False, None, None, True), hs.BadType, "accuracy is True"),
        ((*LOGISTIC, "nobody", "increasing"), hs.BadValue, "neighbours is 'nobody'"),
        ((st.norm(1.0), st.norm(0.0), "add-or-remove", "decreasing"), hs.BadValue, "p/q is increasing"),
    ):
        with pytest.raises(error, match=words):
            hs.Pair(*given)


def test_divergences_lie_around_closed_forms():
    """Exponential variables of rates 1/2 and 1: D_a = (log(b) + ...) in closed form; the first order is 1 - log 2."""
    pair = hs.Pair(st.expon(), st.expon(scale=2.0), ratio="decreasing", losses=(-INF, math.log(2.0)))
    kl = math.log(2.0) - 0.5
    assert pair.renyi(1).lower <= kl <= pair.renyi(1).upper
    assert pair.renyi(1).width < 1e-3
    order = 3.0  # E_q (p/q)^3 = 8 E e^{-3x/2} under rate 1/2
    truth = 8.0 * 0.5 / 2.0
    assert pair.renyi(order).lower <= math.log(truth) / 2.0 <= pair.renyi(order).upper
    assert pair.chi(order).lower <= (truth - 1.0) / 2.0 <= pair.chi(order).upper
    assert pair.renyi(INF).lower <= math.log(2.0) <= pair.renyi(INF).upper
    distance = pair.f_divergence(lambda t: abs(t - 1) / 2)
    assert distance.lower <= 0.25 <= distance.upper
    assert distance.width < 1e-3
    assert (pair * 2).rdp(3.0, neighbours="remove") == pytest.approx(math.log(truth), rel=1e-2)
    with pytest.raises(hs.BadValue, match="slope_at_infinity"):
        hs.Pair(st.expon(scale=2.0), st.expon(), ratio="increasing").f_divergence(lambda t: abs(t - 1) / 2)


def test_a_pair_stated_for_a_replacement_goes_by_both_orders():
    pair = hs.Pair(st.expon(), st.expon(scale=2.0), "replace", ratio="decreasing")
    found = pair.delta_bounds(epsilon=0.5, neighbours="replace")
    once = hs.Pair(st.expon(), st.expon(scale=2.0), ratio="decreasing")
    worst = [once.delta_bounds(epsilon=0.5, neighbours=order) for order in ("remove", "add")]
    assert found.upper >= max(one.lower for one in worst)
    assert found.lower <= max(one.upper for one in worst)
    assert found.width < 1e-3


def test_supports_for_each():
    pair = hs.Pair(
        lambda x: 1.0 + 0.0 * x, lambda x: 0.5 + 0.0 * x, ratio="increasing", log_concave=True, support=((1, 2), (0, 2))
    )
    found = pair.delta_bounds(epsilon=0.0)
    assert found.lower <= 0.5 <= found.upper
    assert found.width < 1e-9
    assert pair.epsilon_bounds(delta=0.0, neighbours="remove").upper == pytest.approx(math.log(2.0), abs=1e-9)
