"""A loss between bounds: rows, single pairs, and what is said of one that differs by rounding only."""

import pytest

import hockeystick as hs
from hockeystick.loss.composed import composed
from hockeystick.loss.pairs.bracketed import BracketedLoss, rounded
from hockeystick.loss.pairs.gaussian import GaussianLoss
from hockeystick.loss.pairs.laplace import LaplaceLoss
from hockeystick.loss.pairs.ordered import ordered_pairs

WORSE, BETTER = GaussianLoss(1.0), GaussianLoss(0.9)
TWO = ordered_pairs([LaplaceLoss(0.5), LaplaceLoss(0.6)])


def test_what_it_says_is_said_of_the_first_cover():
    loss = BracketedLoss((WORSE, TWO), (BETTER,))
    assert loss.ceiling == WORSE.ceiling
    assert loss.cumulant_bound(2.0) == WORSE.cumulant_bound(2.0)
    assert loss.closed(0.3) == WORSE.closed(0.3)
    with pytest.raises(AttributeError):
        loss.__missing__  # noqa: B018


def test_rows_are_the_most_and_single_takes_one_of_each():
    loss = BracketedLoss((WORSE, TWO), (BETTER,), tight=True)
    assert loss.rows == 2
    for row in range(2):
        assert loss.ordered_pair(row) == BracketedLoss((WORSE, TWO.losses[row]), (BETTER,), tight=True)


def test_equal_ends_are_no_bracket():
    assert rounded(WORSE, GaussianLoss(1.0)) is WORSE
    assert rounded(WORSE, BETTER) == BracketedLoss((WORSE,), (BETTER,), tight=True)


def test_composed_it_lies_between_its_ends():
    """Every variant of dominating losses is above every variant of members."""
    run = composed([(BracketedLoss((WORSE,), (BETTER,)), 3), (LaplaceLoss(0.2), 2)])
    (cover,), (member,) = run.variants("dominating"), run.variants("members")
    assert not run.exact
    assert dict(cover.terms)[GaussianLoss(3.0)] == 1
    assert cover.expand(1.0)[0] > member.expand(1.0)[0]


def test_a_claim_is_bracketed_by_its_cover_and_its_member():
    bounds = (hs.ZCDP(rho=0.05) * 3).epsilon_bounds(1e-6)
    attained = (hs.Gaussian(sigma=(1 / 0.1) ** 0.5) * 3).epsilon(1e-6)
    assert bounds.lower == pytest.approx(attained, rel=1e-6)
    assert bounds.lower < bounds.upper
