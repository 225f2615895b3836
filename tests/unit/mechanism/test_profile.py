"""Privacy profiles as values, the figures that are made of them, and clip-and-reify."""

import json
import math

import numpy as np
import pytest

import hockeystick as hs
from hockeystick import conversion
from hockeystick.errors import BadValue
from hockeystick.report.figures import FIGURES, paper_g

# from claims


def test_one_claim_is_approximate_dp():
    one, other = hs.Profile.from_claims([(0.7, 1e-4)]), hs.ApproxDP(epsilon=0.7, delta=1e-4)
    for epsilon in (0.0, 0.3, 0.7, 2.0):
        assert one.delta(epsilon) == other.delta(epsilon)
    assert (one * 10).epsilon(delta=1e-2) == (other * 10).epsilon(delta=1e-2)


def test_claims_imply_the_lower_hull():
    """Every single claim's consequences (Liu et al. 2021, Theorem 3.1) lie above it, and a mixture of two is better than both."""
    claims = [(1.0, 1e-6), (0.4, 1e-2), (0.0, 0.2)]
    both = hs.Profile.from_claims(claims)
    for epsilon in np.linspace(0.0, 1.2, 13).tolist():
        single = min(conversion.implied_delta(e, d, epsilon) for e, d in claims)
        assert both.delta_bounds(epsilon).lower <= single * (1 + 1e-12)
    assert both.delta(0.7) < 0.9 * min(conversion.implied_delta(e, d, 0.7) for e, d in claims)
    x = [math.exp(e) for e, _ in claims]
    share = (math.exp(0.7) - x[1]) / (x[0] - x[1])
    assert both.delta(0.7) == pytest.approx(share * 1e-6 + (1 - share) * 1e-2, rel=1e-12)
    assert both.epsilon(delta=1e-6) == pytest.approx(1.0, rel=1e-12)
    assert both.epsilon(delta=1e-7) == math.inf


def test_a_claim_that_says_nothing_new_changes_nothing():
    base = hs.Profile.from_claims([(1.0, 1e-6), (0.5, 1e-3)])
    more = hs.Profile.from_claims([(1.0, 1e-6), (0.5, 1e-3), (0.7, 0.5), (3.0, 0.2)])
    for epsilon in (0.0, 0.6, 0.9, 4.0):
        assert more.delta(epsilon) == pytest.approx(base.delta(epsilon), rel=1e-12)


def test_claims_compose_and_are_sampled_and_written():
    both = hs.Profile.from_claims([(1.0, 1e-6), (0.5, 1e-3)])
    assert hs.from_json(both.to_json()) == both
    assert json.loads(both.to_json())["release"]["claims"] == [[0.5, 1e-3], [1.0, 1e-6]]
    assert (both * 5).epsilon(delta=1e-3) <= (hs.ApproxDP(epsilon=1.0, delta=1e-6) * 5).epsilon(delta=1e-3)
    assert both.poisson(rate=0.1).delta(0.05) < both.delta(0.05)
    assert both.epsilon(delta=0.1, neighbours="replace") < math.inf
    assert hs.Profile.from_claims([(0.0, 0.0), (1.0, 0.5)]).epsilon(delta=0.0) == 0.0


# from rules


def test_the_paper_s_rules():
    sgd = hs.Profile.from_rule(lambda e, d: 2.0 / e * math.sqrt(math.log(1.0 / d)), sigma=2.0, tail=(5.0, 1.0))
    direct = conversion.refined_profile(lambda e: math.exp(-e * e))
    naive = hs.Profile.from_rule(lambda e, d: 2.0 / e * math.sqrt(math.log(1.0 / d)), sigma=2.0, refined=False)
    for epsilon in (0.0, 0.5, 1.3, 3.0):
        assert sgd.function(epsilon) == pytest.approx(direct(epsilon), rel=1e-9)
        assert naive.function(epsilon) == pytest.approx(math.exp(-epsilon * epsilon), rel=1e-9)
    assert sgd.mu() == pytest.approx(1.856357289, abs=1e-8)
    icea = hs.Profile.from_rule(lambda e, d: 10.0 * math.log(4.0 / (e * d)), sigma=20.0, tail=(1.0, math.inf))
    assert icea.function(0.0) == pytest.approx(0.745421741879, rel=1e-9)
    assert icea.mu() == math.inf


def test_a_rule_is_asked_few_times_and_its_delta_is_that_of_the_profile():
    """One delta once took 19 million calls of the rule."""
    calls = []

    def rule(e, d):
        calls.append(e)
        return 2.0 / e * math.sqrt(math.log(1.0 / d))

    found = hs.Profile.from_rule(rule, sigma=2.0).delta_bounds(1.0)
    direct = hs.Profile(conversion.refined_profile(lambda e: math.exp(-e * e))).delta_bounds(1.0)
    assert found.upper == pytest.approx(direct.upper, rel=1e-9)
    assert found.lower == pytest.approx(direct.lower, rel=1e-9)
    assert direct.lower <= conversion.implied_delta(*conversion.refined_kink(lambda e: math.exp(-e * e)), 1.0) <= direct.upper
    assert len(calls) < 150_000


@pytest.mark.parametrize("ask", [lambda one, **more: one.mu(**more), lambda one, **more: one.head_mu(1.0, **more)])
def test_mu_is_for_the_relation_of_the_claim(ask):
    claim = hs.Profile(lambda epsilon: max(0.0, -math.expm1((epsilon - 1.0) / 2.0)), neighbours="zero-out")
    assert ask(claim, neighbours="zero-out")
    with pytest.raises(hs.Unsupported, match="zero-out"):
        ask(claim, neighbours="add-or-remove")
    with pytest.raises(hs.BadValue, match="neighbours"):
        ask(claim, neighbours="nearby")


def test_the_profile_of_a_run():
    run = hs.Laplace(scale=1.0)
    again = hs.Profile(run.delta)
    assert again.delta(0.5) >= run.delta(0.5)
    assert again.delta(0.5) == pytest.approx(run.delta(0.5), rel=1e-4)
    assert again.mu() == pytest.approx(run.mu(), rel=1e-9)


@pytest.mark.parametrize(("scale", "count", "delta"), [(3.9, 5, 9e-8), (0.7, 2, 1e-80), (2.5, 1, 1.9e-8), (10.0, 100, 1e-6)])
def test_a_function_is_asked_where_it_bends(scale, count, delta):
    """The corner at the largest loss is found, and chords and tangents lie close to each other."""
    exact = (hs.Laplace(scale=scale) * count).epsilon_bounds(delta)
    bounds = (hs.Profile(lambda x: max(0.0, -math.expm1(0.5 * (x - 1.0 / scale)))) * count).epsilon_bounds(delta)
    assert bounds.lower <= exact.upper
    assert exact.lower <= bounds.upper
    assert bounds.width < 1e-5 * bounds.upper


@pytest.mark.parametrize(("stairs", "top"), [(20, 1.0), (37, 1.0), (100, 3.0)])
@pytest.mark.parametrize("count", [1, 2])
def test_a_function_that_only_falls(stairs, top, count):
    """What it says at its corners is a claim that follows from it: no lower end is above that."""

    def stair(epsilon):
        return min(1.0, math.ceil(max(0.0, -math.expm1(0.5 * (epsilon - top))) * stairs - 1e-9) / stairs)

    corners = [max(0.0, top + 2.0 * math.log1p(-k / stairs)) for k in range(stairs)]
    implied = hs.Profile.from_claims([(corner + 1e-9, stair(corner + 1e-9)) for corner in corners])
    run = hs.Profile(stair) * count
    for epsilon in (0.3 * top, 0.7 * top, 0.945 * top):
        assert run.delta_bounds(epsilon).lower <= (implied * count).delta(epsilon)
        assert run.delta(epsilon) <= 1.1 * (implied * count).delta(epsilon) + 1e-3


def test_the_delta_of_a_run_is_asked_at_once():
    asked = []

    class Counted(hs.Gaussian):
        def delta(self, epsilon, *more):
            asked.append(np.size(epsilon))
            return super().delta(epsilon, *more)

    run = Counted(sigma=1.0)
    assert hs.Profile(run.delta).epsilon(1e-6) == pytest.approx(hs.Gaussian(sigma=1.0).epsilon(1e-6), rel=2e-5)
    assert len(asked) < 100 < max(asked)


# bad profiles are refused with the first point that is wrong


@pytest.mark.parametrize(
    ("function", "error", "point"),
    [
        (lambda e: 0.1 + 0.01 * e, ValueError, r"function\(0.0078125\)"),
        (lambda e: 1.5, ValueError, r"function\(0.0\) is 1.5"),
        (lambda e: 0.5 + e, ValueError, r"function\(0.0078125\)"),
        (lambda e: 0.1 - 0.1 * e, ValueError, r"function\(2.0\) is -0.1"),
        (lambda e: math.nan, ValueError, r"function\(0.0\) is nan"),
        (lambda e: 1.0 / e, ValueError, r"function\(0.0\) fails"),
        (lambda e: "much", ValueError, r"function\(0.0\) is 'much'"),
        (lambda e, d: 0.1, TypeError, "a function of one number"),
        (lambda: 0.1, TypeError, "a function of one number"),
        (3.0, TypeError, "function is 3.0"),
        (None, ValueError, "neither"),
    ],
)
def test_bad_functions(function, error, point):
    with pytest.raises(error, match=point):
        hs.Profile(function)


def test_a_bump_between_the_first_points_is_found_when_asked():
    bump = hs.Profile(lambda e: 0.6 if 0.3 < e < 0.4 else 0.5)
    with pytest.raises(BadValue, match=r"function\(0\.3\d*\) is 0.6"):
        bump.delta(1.0)


@pytest.mark.parametrize(
    ("make", "error", "words"),
    [
        (lambda: hs.Profile.from_claims([]), ValueError, "neither"),
        (lambda: hs.Profile.from_claims([(1.0, 2.0)]), ValueError, "delta is 2.0"),
        (lambda: hs.Profile.from_claims([(1.0, 1.0)]), ValueError, "promises nothing"),
        (lambda: hs.Profile.from_claims([(1.0,)]), ValueError, "a claim"),
        (lambda: hs.Profile.from_claims([3.0]), TypeError, "claims"),
        (lambda: hs.Profile(lambda e: 0.0, claims=[(1.0, 0.1)]), ValueError, "both"),
        (lambda: hs.Profile(lambda e: 0.0, tail=3.0), TypeError, "tail"),
        (lambda: hs.Profile(lambda e: 0.0, tail=(1.0, -1.0)), ValueError, "tail"),
        (lambda: hs.Profile.from_rule(3, sigma=1.0), TypeError, "rule"),
        (lambda: hs.Profile.from_rule(lambda e, d: 1.0, sigma=0.0), ValueError, "sigma"),
        (lambda: hs.Profile(lambda e: math.exp(-e)).to_json(), hs.Unsupported, "function"),
        (lambda: hs.Profile(lambda e: 1.0 if e < 0.1 else 0.0).mu(), hs.Unsupported, "refined_profile"),
    ],
)
def test_bad_claims(make, error, words):
    with pytest.raises(error, match=words):
        make()


# clip and reify


def test_a_head_guarantee_is_made_a_whole_one():
    """The noise alone is epsilon_head-DP, so beyond the head delta is 0; within it nothing was lost."""
    head = hs.ApproxDP(epsilon=1.0, delta=1e-6).head_mu(epsilon=2.0)
    drawn = conversion.clip_and_reify([0.2, 7.0], 0.0, 1.0, epsilon_head=head.epsilon, rng=hs.InsecureSeed(1))
    assert drawn.shape == (2,)
    step, decay = conversion.reify.grid_and_decay(0.0, 1.0, head.epsilon, 2)
    assert decay * round(1 / step) * 2 <= head.epsilon  # what the noise gives away, the rounding of the range counted


# figures


@pytest.mark.parametrize("name", ["g1", "g2", "g3", "g4", "g5"])
def test_figures(name):
    data, draw = FIGURES[name]
    for key, values in data().items():
        assert isinstance(values, np.ndarray), key
        assert np.isfinite(values).all(), key
    figure = draw()
    assert figure.axes


def test_the_figures_show_what_the_paper_says():
    first = paper_g.g1_data()
    assert first["SGD refined"][0] == pytest.approx(0.64669, abs=1e-5)
    assert (first["SGD refined"] <= first["SGD naive"] + 1e-12).all()
    second = paper_g.g2_data()
    assert second["SGD"][0] == pytest.approx(1.856357, abs=1e-6)
    for width in paper_g.STAIRS:
        assert (second[f"G- {width:g}"] <= second["G"] + 1e-12).all()
        assert (second[f"G+ {width:g}"] >= second["G"] - 1e-12).all()
    fifth = paper_g.g5_data()
    assert fifth["GDP 1"] == pytest.approx(np.ones_like(fifth["GDP 1"]), rel=1e-9)
    assert fifth["GDP 0.1"][0] == pytest.approx(0.096, abs=5e-4)


def test_our_own_figure():
    data = paper_g.dpsgd_data(sigma=1.5, rate=0.05, steps=200, delta=1e-4)
    inside = slice(1, -1)
    assert (data["claim"][inside] <= data["run"][inside] + 1e-9).all()
    assert (data["mu curve"] <= data["run"] + 2.0 * float(data["delta"])).all()


def test_axes_can_be_given():
    from matplotlib.figure import Figure

    own = Figure()
    assert paper_g.g3(own.subplots()) is own
    with pytest.raises(BadValue, match="panels"):
        paper_g.g1(own.subplots())
    assert paper_g.transform_plot(hs.Laplace(scale=1.0), [0.0, 0.5]).axes
    assert paper_g.transform_plot(lambda e: 0.1, [0.0, 0.5]).axes
