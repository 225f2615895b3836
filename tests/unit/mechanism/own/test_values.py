"""Tests, decompositions and simulators of finite pairs, exactly; what they refuse."""

import math
import random
from fractions import Fraction as F

import pytest

import hockeystick as hs
import truth_pairs

PAIR = hs.Pair([F(1, 2), F(1, 3), F(1, 6), 0], [F(1, 3), F(1, 3), F(2, 9), F(1, 9)])


def random_pairs(count):
    rng = random.Random(3)
    for _ in range(count):
        p, q = truth_pairs.drawn(rng)
        yield rng, hs.Pair(p, q)


def test_the_best_test_beats_every_deterministic_one():
    for _, pair in random_pairs(20):
        for chosen in range(2 ** len(pair.p)):
            picked = [place for place in range(len(pair.p)) if chosen >> place & 1]
            fpr, tpr = sum((pair.q[one] for one in picked), F(0)), sum((pair.p[one] for one in picked), F(0))
            best = pair.best_test(fpr)
            assert best.fpr == fpr == sum((best.says_p[one] * pair.q[one] for one in range(len(pair.q))), F(0))
            assert best.tpr >= tpr
            like = pair.best_test(like=dict.fromkeys(picked, 1))
            assert like == best
            # Steinke 2022, Lemma 4: with the threshold counted on both sides
            ratio = [p / q if q else math.inf for p, q in zip(pair.p, pair.q, strict=True)]
            assert tpr <= sum((p for p, x in zip(pair.p, ratio, strict=True) if x >= best.threshold), F(0))
            assert 1 - fpr <= sum((q for q, x in zip(pair.q, ratio, strict=True) if x <= best.threshold), F(0))


def test_the_curve_of_best_tests_is_the_trade_off_curve():
    for alpha in (F(1, 20), F(1, 3), F(4, 5)):
        best = PAIR.best_test(alpha)
        ends = PAIR.tpr_bounds(float(alpha), neighbours="add")  # whichever order: P here is what a test looks for
        other = PAIR.tpr_bounds(float(alpha), neighbours="remove")
        assert any(one.lower - 1e-9 <= float(best.tpr) <= one.upper + 1e-9 for one in (ends, other))


def test_the_decomposition_and_the_simulator_give_the_pair_back():
    for rng, pair in random_pairs(40):
        p, q = dict(enumerate(pair.p)), dict(enumerate(pair.q))
        top = max(one._finite.infinite_mass for one in (pair, pair.reverse))
        delta = top + (1 - top) * F(rng.randrange(4), 7)
        level = F(rng.randint(100, 300), 100)
        try:
            parts = pair.decomposition(level=level, delta=delta)
        except hs.BadValue:
            assert max(one._finite.hockey_stick(level) for one in (pair, pair.reverse)) > delta
            continue
        assert parts.level == level
        for whole, common, rest in ((p, parts.p_common, parts.p_rest), (q, parts.q_common, parts.q_rest)):
            assert {one: (1 - delta) * common[one] + delta * rest[one] for one in whole} == whole
            for law in (common, rest):
                assert sum(law.values()) == 1
                assert min(law.values()) >= 0
        for one in p:
            assert parts.p_common[one] <= level * parts.q_common[one]
            assert parts.q_common[one] <= level * parts.p_common[one]
        simulator = parts.simulator()
        assert simulator.law(0) == p
        assert simulator.law(1) == q
        for law in (simulator.first, simulator.second):
            assert sum(law.values()) == 1
            assert min(law.values()) >= 0


def test_the_level_of_an_epsilon_is_at_most_its_exponential():
    parts = PAIR.decomposition(epsilon=0.3, delta=0.2)
    assert float(parts.level) == pytest.approx(math.exp(0.3))
    coin = hs.Pair({"yes": "3/4", "no": "1/4"}, {"yes": "1/4", "no": "3/4"})
    assert coin.decomposition(level=3).simulator().first == {"yes": 1, "no": 0}
    with pytest.raises(hs.BadValue, match="a level from 3 up"):
        coin.decomposition(epsilon=1.0)
    assert coin.decomposition(epsilon=0.0, delta=1).p_common == coin.decomposition(epsilon=0.0, delta=1).q_common


def test_draws_follow_the_laws():
    simulator = PAIR.decomposition(epsilon=0.2, delta=0.25).simulator()
    rng = hs.InsecureSeed(5)
    for b, law in ((0, PAIR.p), (1, PAIR.q)):
        counts = [0] * 4
        for _ in range(4000):
            counts[simulator.draw(b, rng=rng)] += 1
        squares = sum((n - 4000 * float(x)) ** 2 / (4000 * float(x)) for n, x in zip(counts, law, strict=True) if x)
        assert squares < 20.0
        assert not any(n for n, x in zip(counts, law, strict=True) if not x)
    best = PAIR.best_test(F(1, 6))
    assert best.says(0, rng=rng) in (True, False)
    assert best.says(3) is False
    assert simulator.draw(0) in range(4)


def test_divergences():
    assert (
        PAIR.f_divergence(lambda x: abs(x - 1) / 2) == PAIR.hockey_stick(1) == hs.Bounds(0.16666666666666666, 0.16666666666666669)
    )
    kl = PAIR.f_divergence(lambda x: x * math.log(x) if x else 0)
    assert kl.lower <= PAIR.renyi(1).lower <= PAIR.renyi(1).upper <= kl.upper
    assert PAIR.reverse.renyi(2) == hs.Bounds(math.inf, math.inf)
    assert PAIR.reverse.reverse == PAIR
    assert PAIR.renyi(math.inf).upper == pytest.approx(math.log(1.5))
    assert PAIR.renyi(2).upper <= PAIR.rdp(2, neighbours="remove")
    assert hs.Pair([1], [1]).renyi(2) == hs.Pair([1], [1]).chi(2) == hs.Bounds(0.0, 0.0)
    assert hs.Pair([1], [1]).epsilon(1e-9) == 0.0
    assert PAIR.reverse.f_divergence(lambda x: (x - 1) ** 2, slope_at_infinity=math.inf).upper == math.inf


def test_doubles_are_scaled_and_fractions_are_not():
    assert sum(hs.Pair([0.1] * 10, [0.1] * 10).p) == 1
    assert hs.Pair(["0.1", "0.9"], [0.5, 0.5]).p == (F(1, 10), F(9, 10))
    assert hs.Pair({"a": 1}, {"b": 0.5, "a": 0.5}).outcomes == ("a", "b")


@pytest.mark.parametrize(
    ("p", "q", "error", "words"),
    [
        ([0.5, 0.4], [0.5, 0.5], hs.BadValue, "sum to 0.9"),
        (["1/3", "1/3"], [0.5, 0.5], hs.BadValue, "sum to"),
        ([0.5, 0.5], [1.0], hs.BadValue, "p has 2 masses and q 1"),
        ([-0.5, 1.5], [0.5, 0.5], hs.BadValue, "a mass of p is -0.5"),
        ([math.nan, 1.0], [0.5, 0.5], hs.BadValue, "a mass of p is nan"),
        ([True, False], [0.5, 0.5], hs.BadType, "a mass of p is True"),
        (["x", 1], [0.5, 0.5], hs.BadValue, "a mass of p is 'x'"),
        (0.5, [0.5, 0.5], hs.BadType, "p is 0.5"),
        ({"a": 1}, [1], hs.BadType, "allowed: two lists"),
        ([1, 0], [0, 1], hs.Unsupported, "share no outcome"),
        ([F(1, 2) + F(1, 10**300), F(1, 2) - F(1, 10**300)], [F(1, 2)] * 2, hs.BadValue, "1e-280"),
    ],
)
def test_what_is_no_pair_is_refused(p, q, error, words):
    with pytest.raises(error, match=words):
        hs.Pair(p, q)


def test_a_pair_says_nothing_of_another_relation():
    with pytest.raises(hs.Unsupported, match="neighbours='replace'"):
        PAIR.epsilon(1e-5, neighbours="replace")
    with pytest.raises(hs.Unsupported, match="replace-one"):
        hs.Pair(PAIR.p, PAIR.q, "replace").epsilon(1e-5)
    both = hs.Pair(PAIR.p, PAIR.q, "replace")
    assert both.delta_bounds(0.1, neighbours="zero-out") == both.delta_bounds(0.1, neighbours="replace")
    erased = hs.Pair(PAIR.p, PAIR.q, "zero-out") * 3
    assert erased.delta_bounds(0.1, neighbours="zero-out") == (PAIR * 3).delta_bounds(0.1)
    batch = both.without_replacement(batch=3, examples=10) * 4
    assert batch.delta_bounds(0.1, neighbours="replace").lower == 0.0 < batch.delta(0.1, neighbours="replace")


@pytest.mark.parametrize(
    ("ask", "words"),
    [
        (lambda: PAIR.renyi(0.5), "order is 0.5"),
        (lambda: PAIR.chi(1), "order is 1"),
        (lambda: PAIR.hockey_stick(-1), "level is -1"),
        (lambda: PAIR.best_test(), "neither"),
        (lambda: PAIR.best_test(1.5), "fpr is 1.5"),
        (lambda: PAIR.decomposition(), "neither"),
        (lambda: PAIR.decomposition(epsilon=1.0, delta=F(1, 10)), "delta from 0.111111 up"),
        (lambda: PAIR.reverse.f_divergence(lambda x: x - 1), "slope_at_infinity"),
        (lambda: PAIR.f_divergence(3), "function is 3"),
    ],
)
def test_questions_out_of_range(ask, words):
    with pytest.raises(hs.HockeystickError, match=words):
        ask()


def test_draws_out_of_range():
    simulator = PAIR.decomposition(epsilon=0.3, delta=0.2).simulator()
    for ask in (
        lambda: simulator.draw(2),
        lambda: simulator.law(-1),
        lambda: simulator.process((0, "middle")),
        lambda: PAIR.best_test(0.5).says("no outcome"),
        lambda: simulator.draw(0, rng=7),
    ):
        with pytest.raises(hs.HockeystickError, match="allowed"):
            ask()
