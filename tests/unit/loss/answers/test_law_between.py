"""Moments and tails of a law that is known between two others."""

import math

import pytest
import scipy.stats as st
from scipy.integrate import quad

import hockeystick as hs
from hockeystick.loss.answers.law_between import lies_between
from hockeystick.loss.composed import composed
from hockeystick.loss.own import cells


@pytest.fixture(autouse=True)
def coarse(monkeypatch):
    monkeypatch.setattr(cells, "TUNING", cells.Tuning(cells=500))


def test_moments_and_tails_contain_quadrature():
    p, q = st.logistic(1.0), st.logistic(0.0)
    pair = hs.Pair(p, q, ratio="increasing", losses=(-1.0, 1.0))

    def mean(power):
        return quad(lambda x: p.pdf(x) * (p.logpdf(x) - q.logpdf(x)) ** power, -45.0, 46.0, limit=400)[0]

    first, second = mean(1), mean(2)
    for count in (1, 6):
        law = (pair * count).loss(neighbours="remove")
        for found, truth in ((law.mean(), count * first), (law.variance(), count * (second - first**2))):
            assert found.lower <= truth + 1e-9
            assert truth - 1e-9 <= found.upper
            assert found.width < 2e-3 * count
    law = pair.loss(neighbours="remove")
    for place in (-1.0, 0.5, 2.0):  # Z grows along the line
        z = float(p.logpdf(place) - q.logpdf(place))
        assert law.tail(z).lower <= p.sf(place) <= law.tail(z).upper
        assert law.cdf(z).lower <= p.cdf(place) <= law.cdf(z).upper
        ends = law.quantile(float(p.cdf(place)))
        assert ends.lower <= z + 1e-9
        assert z - 1e-9 <= ends.upper
    assert law.infinite_mass.upper == 0.0
    assert law.support == pytest.approx((-1.0, 1.0), abs=1e-9)
    assert law.reverse().mean().lower <= first <= law.reverse().mean().upper  # the pair is symmetric


def test_what_is_not_bounded_is_said():
    law = hs.Pair(st.expon(scale=2.0), st.expon(), ratio="increasing").loss(neighbours="remove")
    assert law.mean().lower <= 1.0 - math.log(2.0)
    assert law.mean().upper == math.inf
    with pytest.raises(hs.Unsupported, match="State losses="):
        law.variance()


def test_claims_have_no_law():
    assert lies_between(composed([(hs.PureDP(epsilon=1.0)._pair_loss(("remove",)), 2)]))
    assert not lies_between(composed([(hs.ZCDP(rho=1.0)._pair_loss(("remove",)), 2)]))
