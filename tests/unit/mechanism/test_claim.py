"""Claims for add-or-remove carried to replace-one: the worst pair, attained by a mechanism of three data sets."""

import math

import numpy as np
import pytest
from mpmath import mp, mpf

import hockeystick as hs
from hockeystick.conversion.group import replace_from_add_remove


def worst(epsilon, delta, x):
    """max over s of T(s) - e^x t(s): the largest and smallest chances of an event of chance s on the common neighbour."""
    e, d, a = mp.exp(mpf(epsilon)), mpf(delta), mp.exp(mpf(x))

    def most(s):
        return min(mpf(1), e * s + d, 1 - (1 - d - s) / e)

    first = (1 - d) / (1 + e)
    corners = [mpf(0), mpf(1), d, 1 - d, first, 1 - first, 1 - d - first, d + first]
    return max(most(s) - a * (1 - most(1 - s)) for s in corners if 0 <= s <= 1)


CLAIMS = [(1.0, 0.0), (0.3, 1e-5), (2.0, 0.1), (0.01, 1e-12), (5.0, 0.0), (1.0, 0.4), (200.0, 0.0), (600.0, 1e-30), (1e-40, 0.0)]


@pytest.mark.parametrize(("epsilon", "delta"), CLAIMS)
def test_one_replacement(epsilon, delta):
    mp.dps = 700
    claim = hs.ApproxDP(epsilon=epsilon, delta=delta)
    for share in (-0.5, 0.0, 0.2, 1.0, 1.7, 2.0):
        x = share * epsilon
        truth, bounds = worst(epsilon, delta, x), claim.delta_bounds(x, neighbours="replace")
        truth = mpf(0) if abs(truth) < mpf("1e-500") else truth  # seven hundred digits, less those of e^2 epsilon
        assert bounds.lower <= truth <= bounds.upper
        assert bounds.upper <= float(truth) * (1.0 + 1e-9) + 1e-12 * epsilon
        assert bounds.tight
    mp.dps = 15


@pytest.mark.parametrize("epsilon", [0.2, 1.0, 3.0])
def test_it_is_attained_also_composed(epsilon):
    """Three outputs; the middle law is epsilon-close to both others, and their pair is the one composed."""
    e = math.exp(epsilon)
    common = np.array([1.0, e - 1.0, 1.0]) / (e + 1.0)
    left = common * np.array([e, 1.0 / e, 1.0 / e])
    right = left[::-1]
    assert left.sum() == pytest.approx(1.0)
    for one in (left, right):
        assert np.abs(np.log(one / common)).max() <= epsilon * (1.0 + 1e-12)
    p, q = left, right
    for _ in range(2):
        p, q = np.outer(p, left).ravel(), np.outer(q, right).ravel()
    run = hs.PureDP(epsilon=epsilon) * 3
    for x in (0.0, 0.7 * epsilon, 2.5 * epsilon, 5.0 * epsilon):
        truth = float(np.maximum(p - math.exp(x) * q, 0.0).sum())
        bounds = run.delta_bounds(x, neighbours="replace")
        assert bounds.lower <= truth * (1.0 + 1e-12)
        assert truth <= bounds.upper * (1.0 + 1e-12)
        assert bounds.tight
        assert bounds.width < 1e-9


@pytest.mark.parametrize("count", [1, 5, 100])
@pytest.mark.parametrize(("epsilon", "delta"), [(0.1, 0.0), (1.0, 0.0), (0.5, 1e-9), (2.0, 1e-3)])
def test_never_above_group_privacy_of_two(epsilon, delta, count):
    claim = hs.ApproxDP(epsilon=epsilon, delta=delta) * count
    twice = hs.ApproxDP(*replace_from_add_remove(epsilon, delta), neighbours="replace") * count
    for x in (0.0, 0.5 * epsilon, 1.5 * epsilon * count):
        assert claim.delta(x, "replace") <= twice.delta(x, "replace") * (1.0 + 1e-9)
    for target in (0.3, 1e-2):
        assert claim.epsilon(target, "replace") <= twice.epsilon(target, "replace") * (1.0 + 1e-9)


def test_a_large_epsilon_is_not_lost():
    """Zones as small as e^-epsilon carry most of the mass."""
    for epsilon in (100.0, 200.0, 600.0):
        bounds = hs.PureDP(epsilon=epsilon).poisson(rate=0.5).epsilon_bounds(1e-6, neighbours="replace")
        assert epsilon - 1.0 < bounds.lower <= bounds.upper <= epsilon
    assert hs.PureDP(epsilon=1e-40).poisson(rate=0.5).delta(0.0, neighbours="replace") >= 4e-41


def test_what_promises_nothing_is_refused():
    with pytest.raises(hs.Unsupported, match="replace"):
        hs.ApproxDP(epsilon=1.0, delta=0.5).delta(1.0, neighbours="replace")
    nothing_else = hs.ApproxDP(epsilon=0.0, delta=0.125)
    assert nothing_else.epsilon(0.25, neighbours="replace") == 0.0
    assert nothing_else.epsilon(0.2499, neighbours="replace") == math.inf
