"""The best pair that some mechanism attains, among the shifts of a bounded range."""

import math

import pytest

import hockeystick as hs
from hockeystick.loss.engines.attained import best_member


def run(release):
    return release._run("remove")


def test_of_a_claim_with_one_member_it_is_that_member():
    asked = []

    def lower(one) -> float:
        asked.append(one)
        return 3.0

    assert best_member(run(hs.ZCDP(rho=0.1) * 3), lower) == 3.0
    assert [repr(loss) for one in asked for loss, _ in one.terms] == ["GaussianLoss(square=0.6000000000000001)"]


@pytest.mark.parametrize("best", [0.5, 0.31, 0.9, 0.999])
def test_the_best_shift_is_found_where_there_is_one_peak(best):
    """The larger loss of a shifted pair is its share of epsilon."""
    at = 2.0 * best

    def lower(one) -> float:
        ((loss, _),) = one.terms
        return -abs(loss.ceiling - at)

    assert best_member(run(hs.Exponential(epsilon=2.0) * 5), lower) > -2e-3


def test_no_shift_exceeds_what_covers_prove():
    release = hs.Exponential(epsilon=1.0) * 10
    bounds = release.epsilon_bounds(1e-6)
    for share in (0.05, 0.3, 0.5, 0.8, 0.95):
        shifted = run(release).shifted(share)
        assert shifted is not None
        assert shifted.ceiling == pytest.approx(10.0 * share)
        assert math.isfinite(bounds.upper)
