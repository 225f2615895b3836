"""An analyst who chooses each release in view of the outputs, solved exactly: every choice of every history, in fractions.

The worst that any analyst can reach is a dynamic program: after each output either stop, or run what still fits, whichever gives
the larger delta in the end.  Nothing here shares code with the filters but what they say a release costs.
"""

import functools
import itertools
import math
import random
from fractions import Fraction

import pytest

import hockeystick as hs
from hockeystick import filters

Pair = tuple[tuple[Fraction, Fraction], ...]  # masses under P and under Q


def response(ratio) -> Pair:
    """Randomised response whose likelihood ratios are this and its inverse."""
    high = Fraction(ratio) / (1 + Fraction(ratio))
    return (high, 1 - high), (1 - high, high)


def reveal(share) -> Pair:
    """The record is published with this probability."""
    share = Fraction(share)
    return (share, Fraction(0)), (Fraction(0), share), (1 - share, 1 - share)


def claim(ratio) -> hs.PureDP:
    """epsilon of `response`, above its logarithm."""
    return hs.PureDP(epsilon=math.nextafter(math.log(ratio), math.inf))


def stick(pair: Pair, level: Fraction) -> Fraction:
    return sum((max(p - level * q, Fraction(0)) for p, q in pair), Fraction(0))


def product(pairs) -> Pair:
    return tuple(
        (math.prod((p for p, _ in outcome), start=Fraction(1)), math.prod((q for _, q in outcome), start=Fraction(1)))
        for outcome in itertools.product(*pairs)
    )


def worst(allowed, menu, start, level: Fraction) -> Fraction:
    """The largest delta at e^epsilon = level of any transcript.  `allowed(state, item)` is the next state, or None."""

    @functools.cache
    def value(state, ratio: Fraction) -> Fraction:
        best = max(Fraction(0), 1 - ratio)  # stop
        for item, pair in enumerate(menu):
            after = allowed(state, item)
            if after is not None:
                best = max(best, sum((p * value(after, ratio * q / p) for p, q in pair if p), Fraction(0)))
        return best

    return value(start, level)


def drawn_from(budget: filters.Filter, releases):
    """The rule of a filter, as a function of what was spent."""
    names = list(budget.budget)
    limits = [budget.budget[name] for name in names]
    costs = [[budget.cost(release)[name] for name in names] for release in releases]

    def allowed(spent, item):
        after = tuple(have + more for have, more in zip(spent, costs[item], strict=True))
        return after if all(have <= most for have, most in zip(after, limits, strict=True)) else None

    return allowed, (Fraction(0),) * len(names)


TWO, ANY = response(2), reveal(Fraction(2, 9))


def test_natural_filtering_grants_more_than_it_promises():
    """Exact profiles of what was chosen, stopped when over (log 2, 2/9): the published failure, in the smallest form."""
    promised, level = Fraction(2, 9), Fraction(2)
    menu = (TWO, ANY)

    def natural(taken, item):
        after = tuple(sorted((*taken, item)))
        return after if stick(product(menu[one] for one in after), level) <= promised else None

    assert (natural((0,), 0), natural((0,), 1)) == ((0, 0), (0, 1))  # each history is within the promise
    assert natural((0, 0, 0), 0) is None
    assert worst(natural, menu, (), level) >= Fraction(8, 27) > promised
    # and the transcript itself, written out: response, then response again if the answer was yes, else the reveal
    transcript = [(p * a, q * b) for (p, q), then in zip(TWO, (TWO, ANY), strict=True) for a, b in then]
    assert sum(p for p, _ in transcript) == sum(q for _, q in transcript) == 1
    assert stick(tuple(transcript), level) == Fraction(8, 27)
    finite = sorted({p / q for p, q in transcript if q})
    true = next(high for low, high in itertools.pairwise([level, *finite]) if stick(tuple(transcript), high) <= promised)
    assert true > level  # its epsilon at 2/9 is above log 2
    # planned, the same two are paid for beforehand, in any order, whatever is decided in between
    planned = stick(product((TWO, TWO, ANY)), level)

    def basket(left, item):
        return tuple(one - (place == item) for place, one in enumerate(left)) if left[item] else None

    assert worst(basket, menu, (2, 1), level) == planned


@pytest.mark.parametrize(
    "budget",
    [
        filters.PureFilter(epsilon=1.5),
        filters.GDPFilter(mu=1.3, slack="0.05"),
        filters.ApproximateFilter(epsilon=2.5, delta=0.2),
        filters.ZCDPFilter(rho=0.9),
        filters.RenyiFilter(orders=3.0, budgets=1.6),
        filters.RenyiFilter(orders=(2.0, 3.0, 6.0), budgets=(1.2, 1.6, 2.5)),
    ],
    ids=["pure", "gdp", "approximate", "zcdp", "one order", "a curve"],
)
def test_no_analyst_reaches_more_than_a_filter_promises(budget):
    pairs, releases = [response(2), response(Fraction(5, 4))], [claim(2.0), claim(1.25)]
    if type(budget) in (filters.GDPFilter, filters.ApproximateFilter):
        share = Fraction(1, 40)
        pairs.append(reveal(share))
        releases.append(hs.ApproxDP(epsilon=0.0, delta=float(share)))
    allowed, start = drawn_from(budget, releases)
    for delta in (0.02, 0.06, 0.2):
        epsilon = budget.epsilon(delta)
        if math.isfinite(epsilon):
            assert worst(allowed, pairs, start, Fraction(math.exp(epsilon)) * (1 - Fraction(1, 10**12))) <= Fraction(delta) * (
                1 + Fraction(1, 10**9)
            )


@pytest.mark.parametrize("kind", ["pure", "gdp"])
@pytest.mark.parametrize("seed", range(3))
def test_no_analyst_reaches_more_than_the_promise_of_an_account(kind, seed):
    """A plan and a reserve with slack; the analyst draws from both, in any order, and stops when it suits."""
    choice = random.Random(seed)
    ratios = [Fraction(choice.randint(14, 30), 10) for _ in range(2)]
    share = Fraction(1, choice.choice((64, 80)))
    plan_pairs, plan = [response(ratios[0]), reveal(share)], claim(ratios[0]) * 2 + hs.ApproxDP(epsilon=0.0, delta=float(share))
    reserve = filters.Reserve(choice.choice((0.8, 1.2)), slack=str(choice.choice((0.02, 0.04))), kind=kind)
    drawn_pairs = [response(ratios[1]), reveal(share)]
    drawn = [claim(ratios[1]), hs.ApproxDP(epsilon=0.0, delta=float(share))]
    prices = [reserve.price(release) for release in drawn]
    assert any(reserve.everything.holds(price) for price in prices)

    def allowed(state, item):
        lines, left = state
        if item < len(lines):
            return (tuple(one - (place == item) for place, one in enumerate(lines)), left) if lines[item] else None
        price = prices[item - len(lines)]
        return (lines, left.without(price)) if left.holds(price) else None

    start = ((2, 1), reserve.everything)
    for level in (Fraction(1), Fraction(3, 2), Fraction(4)):
        reached = worst(allowed, [*plan_pairs, *drawn_pairs], start, level)
        promised = reserve.promise_delta(plan, math.log(level))
        assert 0 < reached <= Fraction(promised) * (1 + Fraction(1, 10**9))


def test_the_account_of_the_counter_example_keeps_its_promise():
    """The same menu and the same promise (log 2, 2/9), drawn from reserves: nobody is granted more, whatever they see."""
    level, promised = Fraction(2), Fraction(2, 9)
    releases = [claim(2.0), hs.ApproxDP(epsilon=0.0, delta=float(promised))]
    for kind in ("pure", "gdp"):
        reserve = filters.largest_reserve(math.log(2.0), float(promised), slack="0.2", kind=kind)
        prices = [reserve.price(releases[0]), None]
        small = hs.ApproxDP(epsilon=0.0, delta=0.05)
        prices[1] = reserve.price(small)

        def allowed(left, item, prices=prices):
            return left.without(prices[item]) if left.holds(prices[item]) else None

        assert worst(allowed, (TWO, reveal(Fraction(1, 20))), reserve.everything, level) <= promised
        with pytest.raises(hs.Unsupported, match="not valid"):
            reserve.price(releases[1])
