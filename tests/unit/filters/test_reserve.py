"""The reserve: whole amounts that add up exactly, prices that are certified, promises that cover all that fits."""

import math
from fractions import Fraction

import pytest

import hockeystick as hs
from hockeystick import filters
from hockeystick.filters.amounts import HEADROOM, SHARES, exact, root_down, root_up, written

SAMPLED = hs.Gaussian(sigma=1.1).poisson(rate=256 / 60_000)


def test_numbers_are_read_as_they_are_written():
    assert exact("x", 0.1) + exact("x", 0.2) == exact("x", 0.3) == Fraction(3, 10)
    assert exact("x", "1/3") * 3 == exact("x", 1)
    for value in (Fraction(3, 10), Fraction(1, 3), Fraction(5), Fraction(1, 2**60), Fraction(0)):
        assert Fraction(written(value)) == value


@pytest.mark.parametrize("value", [-0.1, float("nan"), float("inf"), "x", "-1/2", "1/0", "nan"])
def test_what_is_no_amount_is_refused(value):
    with pytest.raises(hs.BadValue, match="limit is"):
        filters.Reserve(value)


@pytest.mark.parametrize("value", [True, None, 1j, [1.0]])
def test_what_is_no_number_is_refused(value):
    with pytest.raises(hs.BadType, match="limit is"):
        filters.Reserve(value)


def test_roots_are_on_their_sides():
    for value in (Fraction(2), Fraction(1, 3), Fraction(10) ** -40, Fraction(7, 3) * 10**30):
        assert Fraction(root_down(value)) ** 2 <= value <= Fraction(root_up(value)) ** 2
        assert root_up(value) <= root_down(value) * (1 + 1e-15)


@pytest.mark.parametrize(("sigma", "count"), [(10.0, 100), (3.0, 9), (7.0, 49), (17.0, 289), (0.1 * 30, 9)])
def test_parts_of_a_reserve_of_mu_are_all_of_it_and_no_more(sigma, count):
    reserve = filters.Reserve(1.0)
    price = reserve.price(hs.Gaussian(sigma=sigma))
    assert reserve.everything.times(price) == count
    assert price.amount >= Fraction(SHARES) / Fraction(sigma) ** 2  # never less than its share
    assert count * price.amount <= SHARES + HEADROOM


def test_ten_percent_and_ninety_are_exactly_all_of_it():
    reserve = filters.Reserve(1.0)
    tenth, rest = (reserve.price(hs.Gaussian(sigma=math.sqrt(1.0 / part))) for part in (0.1, 0.9))
    left = reserve.everything.without(tenth)
    assert left.holds(rest)
    assert not left.without(rest).holds(reserve.price(hs.Gaussian(sigma=2000.0)))


@pytest.mark.parametrize(
    ("limit", "parts"),
    [
        ("0.3", (hs.PureDP(epsilon=0.1), hs.PureDP(epsilon=0.2))),
        (1.7, (hs.PureDP(epsilon=0.1),) * 17),
        (1, (hs.Laplace(scale=3.0),) * 3),
    ],
    ids=["0.1 + 0.2", "17 * 0.1", "3 * 1/3"],
)
def test_pure_amounts_are_exact(limit, parts):
    reserve = filters.Reserve(limit, kind="pure")
    left = reserve.everything
    for part in parts:
        price = reserve.price(part)
        assert left.holds(price)
        left = left.without(price)
    assert left.amount == 0
    assert not left.holds(reserve.price(hs.PureDP(epsilon=1e-12)))
    assert reserve.promise() == float(Fraction(limit))


def test_the_promise_is_that_of_the_plan_and_the_reserve():
    plan = hs.Laplace(scale=20.0) * 5
    reserve = filters.Reserve(0.4, slack="1e-7")
    bare = (plan + hs.GDP(mu=0.4)).epsilon(delta=1e-6 - 1e-7)
    assert bare <= reserve.promise(plan, 1e-6) <= bare * (1 + 1e-7)
    assert reserve.promise_delta(plan, reserve.promise(plan, 1e-6)) <= 1e-6 * (1 + 1e-9)


@pytest.mark.parametrize("kind", ["gdp", "pure"])
@pytest.mark.parametrize("plan", [None, hs.DiscreteGaussian(sigma=20.0) * 12, SAMPLED * 100], ids=["none", "counts", "training"])
def test_the_largest_reserve_keeps_the_promise_and_leaves_nothing_over(kind, plan):
    reserve = filters.largest_reserve(2.0, 1e-6, plan, kind=kind)
    assert reserve.promise(plan, 1e-6) <= 2.0
    more = filters.Reserve(reserve.limit * Fraction("1.000001"), reserve.slack, kind)
    assert more.promise(plan, 1e-6) > 2.0


def test_a_plan_beyond_the_promise_is_said():
    with pytest.raises(hs.Unreachable, match="alone has epsilon"):
        filters.largest_reserve(0.5, 1e-6, hs.Gaussian(sigma=2.0))


def test_a_plan_that_leaves_nothing_has_an_empty_reserve():
    epsilon = hs.PureDP(epsilon=1.0).epsilon(delta=0.0)
    reserve = filters.largest_reserve(epsilon, 0.0, hs.PureDP(epsilon=1.0), kind="pure")
    assert reserve.limit == reserve.capacity == 0
    assert not reserve.everything.holds(reserve.price(hs.PureDP(epsilon=1e-9)))
    assert reserve.everything.holds(reserve.price(hs.compose([])))


def test_a_sampled_entry_takes_equal_shares_of_reserve_and_slack():
    reserve = filters.Reserve(0.5, slack="1e-7")
    price = reserve.price(SAMPLED * 1000)
    assert price.amount / SHARES == pytest.approx(price.slack / SHARES, rel=1e-3)
    assert price.measure == (SAMPLED * 1000).mu(delta=price.delta)
    assert Fraction(price.delta) <= reserve.slack * price.slack / SHARES
    assert reserve.price(hs.Gaussian(sigma=10.0)).slack == 0
    one_by_one = reserve.everything.times(reserve.price(SAMPLED * 400))
    assert one_by_one < filters.still_fit(reserve, SAMPLED * 400)


def test_without_a_slack_sampling_does_not_count():
    bare = filters.Reserve(2.0)
    assert bare.price(SAMPLED).measure == pytest.approx(1 / 1.1, rel=1e-8)


def test_what_has_no_price_is_refused_with_what_is_missing():
    with pytest.raises(hs.Unsupported, match=r"no finite mu.*natural filter.*not valid.*2602.06756"):
        filters.Reserve(1.0).price(hs.ApproxDP(epsilon=0.1, delta=1e-9))
    with pytest.raises(hs.Unsupported, match=r"no finite epsilon at delta 0"):
        filters.Reserve(1.0, kind="pure").price(hs.Gaussian(sigma=10.0))


def test_a_line_known_by_renyi_divergences_has_no_slack_beside_it():
    with pytest.raises(hs.Unsupported, match="Lemma 62 needs a dominating pair"):
        filters.Reserve(0.5, slack="1e-7").promise(hs.ZCDP(rho=0.01), 1e-6)
    reserve = filters.largest_reserve(2.0, 1e-6, hs.ZCDP(rho=0.01))
    assert reserve.slack == 0
    assert reserve.promise(hs.ZCDP(rho=0.01), 1e-6) <= 2.0


def test_one_renyi_order():
    reserve = filters.largest_reserve(1.0, 1e-5, kind="renyi", order=8.0)
    price = reserve.price(SAMPLED)
    steps = reserve.everything.times(price)
    assert steps > 250
    order = reserve.order
    assert hs.conversion.rdp_to_epsilon(order, (SAMPLED * steps).rdp(order), 1e-5) <= 1.0 < reserve.promise(SAMPLED, 1e-5)
    with pytest.raises(hs.BadValue, match="no theorem here adds deltas"):
        filters.Reserve(1.0, slack=1e-7, kind="renyi", order=8.0)


def test_the_noise_that_fits_fits_and_less_does_not():
    reserve = filters.largest_reserve(1.0, 1e-6)
    for release in (hs.Gaussian(sigma=1.0), hs.Laplace(scale=0.5), SAMPLED * 50_000, hs.PureDP(epsilon=3.0)):
        found = filters.noise_that_fits(reserve, release)
        assert found is not None
        assert reserve.everything.holds(reserve.price(found))
        assert not reserve.everything.holds(reserve.price(release))
    assert filters.noise_that_fits(reserve, hs.ApproxDP(epsilon=1.0, delta=1e-3)) is None
    assert filters.noise_that_fits(reserve, hs.Gaussian(sigma=50.0)) == hs.Gaussian(sigma=50.0)


@pytest.mark.parametrize("relation", ["replace", "zero-out"])
def test_the_relation_is_that_of_the_budget(relation):
    reserve = filters.Reserve(1.0, neighbours=relation)
    moved = 2.0 if relation == "replace" else 1.0
    assert reserve.price(hs.Gaussian(sigma=10.0)).measure == pytest.approx(moved / 10.0)
    with pytest.raises(hs.BadValue, match="stated for"):
        filters.Reserve(1.0).price(hs.dpsgd(sigma=1.0, rate=0.1, steps=10, sampler="poisson", neighbours=relation))
    with pytest.raises(hs.BadValue, match="neighbours is 'add'"):
        filters.Reserve(1.0, neighbours="add")


@pytest.mark.parametrize(
    "reserve",
    [filters.Reserve(1.1, slack="1e-7"), filters.Reserve("1/3", kind="pure"), filters.Reserve(1.0, kind="renyi", order=7.5)],
    ids=lambda reserve: reserve.kind,
)
def test_a_reserve_survives_as_text(reserve):
    assert filters.Reserve.from_dict(reserve.to_dict()) == reserve
    with pytest.raises(hs.BadValue, match="unknown keys"):
        filters.Reserve.from_dict({**reserve.to_dict(), "limmit": "1"})


def test_amounts_stay_whole_numbers_of_databases():
    price = filters.Reserve("1e-9", slack="1e-12").price(hs.Gaussian(sigma=0.01))
    assert price.amount <= 2**62
    assert not filters.Reserve(0).everything.holds(filters.Reserve(0).price(hs.Gaussian(sigma=1e6)))


def test_without_slack_left_what_needs_some_does_not_fit():
    """It has a price, which is more than there is: a budget's answer, not a missing theorem."""
    reserve = filters.Reserve(1.0, slack="1e-7")
    release = hs.ApproxDP(epsilon=0.1, delta=1e-9)
    empty = filters.Left(reserve.capacity, 0)
    price = reserve.price(release, empty)
    assert price.slack > 0
    assert not empty.holds(price)
    assert reserve.everything.holds(price)


@pytest.mark.parametrize(
    "line",
    [
        hs.Exponential(epsilon=0.1),
        hs.RDP(orders=(2.0, 8.0), values=(0.01, 0.05)).poisson(rate=0.1),
        hs.Gaussian(sigma=9.0) + hs.RDP(orders=(2.0,), values=(0.01,)),
    ],
    ids=["exponential", "sampled claim", "joined"],
)
def test_bounds_by_renyi_divergences_are_found_wherever_they_are(line):
    with pytest.raises(hs.Unsupported, match="Lemma 62"):
        filters.Reserve(0.5, slack="1e-7").promise(line, 1e-6)
    reserve = filters.largest_reserve(12.0, 1e-6, line)
    assert reserve.slack == 0
    assert reserve.promise(line, 1e-6) <= 12.0
