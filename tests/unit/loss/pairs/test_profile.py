"""Privacy profiles turned into pairs: exact for claims, from above and below for functions."""

import math

import pytest
from mpmath import mp, mpf

import hockeystick as hs
from hockeystick.loss.pairs.discrete import ResponseLoss
from hockeystick.loss.pairs.profile import ProfileLoss, claims_loss


def test_one_claim_is_its_worst_pair():
    assert claims_loss(((0.5, 1e-5),)) == ResponseLoss(0.5, 2, 1e-5)
    assert claims_loss(((0.0, 0.0),)) is None
    assert claims_loss(((1.0, 0.1), (0.0, 0.0))) is None


def hull(claims: tuple[tuple[float, float], ...], epsilon: float) -> mpf:
    """The lower convex hull in x = e^epsilon of the claims, of (0, 1), and of what they say of the other order, by all chords."""
    points = [(mpf(0), mpf(1))]
    for one, delta in claims:
        x = mp.exp(mpf(one))
        points += [(x, mpf(delta)), (1 / x, 1 - 1 / x + mpf(delta) / x)]
    points.append((mpf(10) ** 30, min(y for _, y in points)))  # it falls no further
    at = mp.exp(mpf(epsilon))
    chords = [y0 + (y1 - y0) * (at - x0) / (x1 - x0) for x0, y0 in points for x1, y1 in points if x0 <= at <= x1 and x0 < x1]
    return min([*chords, *(y for x, y in points if x == at)])


@pytest.mark.parametrize(
    "claims",
    [
        ((0.3, 1e-2), (1.0, 1e-5)),
        ((0.1, 0.2), (0.5, 0.05), (2.0, 0.0)),
        ((0.5, 0.1), (0.6, 0.0999), (1.0, 1e-9)),
        ((0.0, 0.3), (1.0, 0.1)),
    ],
    ids=str,
)
def test_several_claims_are_their_lower_hull(claims):
    loss = claims_loss(claims)
    infinite = float(loss.infinite_mass)
    with mp.workdps(40):
        for epsilon in (0.0, 0.05, 0.2, 0.3, 0.55, 0.9, 1.0, 1.5):
            found = loss.closed(epsilon)
            finite = math.exp(found.value) if found.value > -math.inf else 0.0
            assert finite + infinite == pytest.approx(float(hull(claims, epsilon)), rel=1e-10, abs=1e-14)
        for epsilon, delta in claims:
            assert math.exp(loss.closed(epsilon).low) + infinite <= delta * (1.0 + 1e-12)


@pytest.mark.parametrize("release", [hs.Gaussian(sigma=1.0), hs.Laplace(scale=0.8) * 3, hs.PureDP(epsilon=0.4) * 5], ids=repr)
def test_a_function_lies_between_its_pairs(release):
    """The convex minorant of the samples from above, tangents from below."""
    loss = ProfileLoss(lambda epsilons: [release.delta(epsilon) for epsilon in epsilons])
    (cover,), (member,) = loss.dominating, loss.members
    for epsilon in (0.0, 0.13, 0.7, 1.9, 3.1):
        truth = release.delta_bounds(epsilon)
        ends = []
        for pair, name in ((cover, "high"), (member, "low")):
            found = getattr(pair.closed(epsilon), name)
            ends.append((math.exp(found) if found > -math.inf else 0.0) + float(pair.infinite_mass))
        assert ends[1] <= truth.upper * (1.0 + 1e-9) + 1e-300
        assert truth.lower * (1.0 - 1e-9) <= ends[0]
        assert ends[0] - ends[1] <= 5e-4 * ends[0] + 1e-12


def test_a_step_is_no_convex_function():
    """Where it is not convex only its fall is believed: the member stays below, the cover takes the hull."""
    step = ProfileLoss(lambda epsilons: [0.5 if epsilon < 1.0 else 0.0 for epsilon in epsilons])
    (cover,), (member,) = step.dominating, step.members
    assert step.vanishes
    assert 0.99 < cover.ceiling <= 1.02
    assert math.exp(member.closed(0.5).low) <= math.exp(cover.closed(0.5).high) < 0.5


def test_a_function_that_grows_is_none():
    loss = ProfileLoss(lambda epsilons: [min(1.0, 0.1 * epsilon) for epsilon in epsilons])
    with pytest.raises(hs.BadValue, match="never grows"):
        loss.dominating  # noqa: B018


def test_masses_are_differences_of_slopes():
    """By hand: (0, 3/10) and (log 2, 1/10), so (-log 2, 11/20) of the other order: slopes -9/10, -1/2, -1/5, 0 in e^epsilon."""
    loss = claims_loss(((0.0, 0.3), (math.log(2.0), 0.1)))
    z, log_p, log_q, _, _ = loss.atoms
    assert z == pytest.approx([-math.log(2.0), 0.0, math.log(2.0)], abs=1e-15)
    assert [math.exp(one) for one in log_q] == pytest.approx([0.4, 0.3, 0.2], rel=1e-12)
    assert [math.exp(one) for one in log_p] == pytest.approx([0.2, 0.3, 0.4], rel=1e-12)
    assert float(loss.infinite_mass) == pytest.approx(0.1, rel=1e-12)
    assert float(loss.infinite_mass_under_q) == pytest.approx(0.1, rel=1e-12)
