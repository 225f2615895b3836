"""The kink of a refined profile (Liu et al. 2021, appendix B)."""

import math

import mpmath as mp
import pytest

import hockeystick as hs
from hockeystick import conversion


def _sgd(epsilon):
    return math.exp(-epsilon * epsilon)


def _icea(epsilon):
    return min(1.0, 4.0 * math.exp(-2.0) / epsilon) if epsilon else 1.0


@pytest.mark.parametrize(
    ("profile", "smooth", "start"),
    [(_sgd, lambda x: mp.exp(-x * x), 1.2), (_icea, lambda x: 4 * mp.exp(-2) / x, 1.2)],
)
def test_it_is_the_stationary_point_of_the_papers_examples(profile, smooth, start):
    """delta' + e^x (1 - delta + delta') = 0, as appendix B has it."""
    with mp.workdps(40):
        root = mp.findroot(lambda x: mp.diff(smooth, x) + mp.exp(x) * (1 - smooth(x) + mp.diff(smooth, x)), start)
        epsilon, delta = conversion.refined_kink(profile)
        assert abs(epsilon - root) < 1e-7
        assert delta == profile(epsilon)
    refined = conversion.refined_profile(profile)
    for x in (0.0, 0.3, 1.0):
        assert refined(x) == pytest.approx(conversion.implied_delta(epsilon, delta, x), rel=1e-12)
    assert refined(1.3) == pytest.approx(profile(1.3), rel=1e-12)


def test_a_profile_that_cannot_be_refined_has_its_kink_at_zero():
    epsilon, delta = conversion.refined_kink(lambda x: max(0.0, -math.expm1((x - 2.0) / 2.0)))
    assert 0.0 <= epsilon < 1e-7
    assert delta == pytest.approx(-math.expm1(-1.0))
    with pytest.raises(hs.BadType, match="profile is 1"):
        conversion.refined_kink(1)
    with pytest.raises(hs.BadValue, match="from 0 to 1"):
        conversion.refined_kink(lambda x: 2.0)
