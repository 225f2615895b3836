"""The law of the loss as users ask for it, and rho."""

import math

import pytest

import hockeystick as hs

RUN = hs.Gaussian(sigma=2.0) * 4


def test_it_is_asked_in_one_order():
    for ask in (RUN.loss, lambda: RUN.loss("add-or-remove"), lambda: hs.Gaussian(2.0).poisson(0.1).loss("zero-out")):
        with pytest.raises(hs.Unsupported, match="two ordered pairs"):
            ask()
    with pytest.raises(hs.BadValue, match="neighbours"):
        RUN.loss("both")
    assert RUN.loss("zero-out").mean() == RUN.loss("remove").mean()  # one law for both orders
    assert RUN.loss("replace").variance().upper == pytest.approx(4.0)


@pytest.mark.parametrize("run", [hs.ZCDP(0.1), hs.Exponential(1.0), hs.RDP((2.0,), (0.1,)), hs.Gaussian(2.0) + hs.ZCDP(0.1)])
def test_runs_known_by_bounds_have_no_law(run):
    with pytest.raises(hs.Unsupported, match="known by bounds only"):
        run.loss("remove")


def test_the_reverse():
    step = hs.Gaussian(sigma=1.0).poisson(rate=0.1)
    reverse = step.loss("remove").reverse()
    assert reverse.neighbours == "add"
    assert reverse.tail(0.05) == step.loss("add").tail(0.05)
    # Steinke 2022, Proposition 7: delta = P(Z > epsilon) - e^epsilon Q(log P/Q > epsilon), minus which has the reverse law
    delta, tail, under_q = step.delta_bounds(0.3, "remove"), step.loss("remove").tail(0.3), reverse.cdf(-0.3)
    assert tail.lower - math.exp(0.3) * under_q.upper <= delta.upper
    assert delta.lower <= tail.upper - math.exp(0.3) * under_q.lower
    with pytest.raises(hs.Unsupported, match="no other order"):
        RUN.loss("replace").reverse()


def test_the_normal_approximation_says_that_it_is_none():
    normal = RUN.loss("remove").normal_approximation()
    assert normal == pytest.approx((0.5, 1.0))
    assert normal.tail(0.5) == pytest.approx(0.5)
    assert "no guarantee" in type(normal).__doc__
    assert "no guarantee" in type(normal).tail.__doc__
    assert hs.compose([]).loss("remove").normal_approximation().tail(0.1) == 0.0


def test_what_it_does_not_bound_is_said():
    for text in (hs.Gaussian.loss.__doc__, type(RUN.loss("remove")).__doc__):
        assert "bound nothing for a mechanism" in " ".join(text.split())
    figure = RUN.loss("remove").plot()
    words = " ".join(one.get_text() for one in figure.texts).replace("\n", " ")
    assert "bounds nothing for a mechanism that it dominates" in words
    legend = [one.get_text() for one in figure.axes[0].get_legend().get_texts()]
    assert any("no guarantee" in one for one in legend)
    hs.ApproxDP(1.0, 1e-3).loss("remove").plot()


def test_levels_of_quantiles():
    for level in (0.0, 1.0, -1.0):
        with pytest.raises(hs.BadValue, match="level is"):
            RUN.loss("remove").quantile(level)
    with pytest.raises(hs.Unsupported, match="too many values"):
        RUN.loss("remove").atoms()
    assert repr(RUN.loss("remove")) == "(Gaussian(sigma=2.0) * 4).loss(neighbours='remove')"


def test_rho():
    assert RUN.rho() == pytest.approx(0.5, rel=1e-12)
    assert RUN.rho("replace") == pytest.approx(2.0, rel=1e-12)
    assert hs.ZCDP(0.25).rho() == pytest.approx(0.25, rel=1e-14)
    assert hs.compose([]).rho() == 0.0
    assert (hs.PureDP(1.0) * 2).rho() == pytest.approx(math.tanh(0.5) * 2.0, rel=1e-9)
    assert hs.ApproxDP(1.0, 1e-9).rho() == math.inf
    pair = hs.Pair(("1/2", "1/2"), ("1/4", "3/4"))
    rho = pair.rho()
    for order in (1.0, 1.3, 2.0, 5.0, 40.0):
        for one in (pair, pair.reverse):
            assert one.renyi(order).lower <= rho * order * (1.0 + 1e-14)
    assert rho <= 1.001 * max(one.renyi(order).upper / order for one in (pair, pair.reverse) for order in (1, 1.2, 1.5, 2, 3))
