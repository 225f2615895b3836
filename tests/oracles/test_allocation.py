"""Random allocation against lattices in convex order, moments of whole orders, and the published figures."""

import math
from fractions import Fraction

import mpmath
import pytest

import hockeystick as hs
from allocation_lattice import SLACK, delta_between

MOST = 4e-5  # relative width of the lattice, about


@pytest.mark.parametrize("relation", ["remove", "add"])
@pytest.mark.parametrize(
    ("sigma", "steps", "epochs", "h"), [(1.0, 64, 1, 0.02), (1.0, 5, 1, 0.02), (2.0, 20, 1, 0.01), (1.3, 6, 2, 0.02)]
)
def test_delta_lies_between_both_lattices(sigma, steps, epochs, h, relation):
    run = hs.Gaussian(sigma=sigma).allocated(steps=steps) * epochs
    for epsilon in (0.0, 0.4):
        low, high = delta_between(sigma, steps, epochs, epsilon, relation == "remove", h=h, cap_mass=1e-11)
        found = run.delta_bounds(epsilon, relation)
        assert low <= found.upper, (epsilon, low, found)
        assert found.lower <= high, (epsilon, high, found)
        assert found.upper - found.lower <= 1e-7 * found.upper
        assert high - low <= 4e-3 * high + 3.0 * SLACK  # so that this says something


PUBLISHED = [  # steps, epochs, sigma, delta, epsilon when removed and when added: three contours, to the digits shown
    (64, 1, 1.0, 1e-8, 1.798661788, 0.74276159),
    (100, 10, 1.426215, 1e-5, 0.9427317986, 0.92333323),
]


@pytest.mark.parametrize(("steps", "epochs", "sigma", "delta", "removed", "added"), PUBLISHED)
def test_known_figures(steps, epochs, sigma, delta, removed, added):
    run = hs.Gaussian(sigma=sigma).allocated(steps=steps) * epochs
    for relation, known, digits in (("remove", removed, 1e-9), ("add", added, 1e-8)):
        found = run.epsilon_bounds(delta, relation)
        assert found.lower - digits <= known <= found.upper + digits
        assert found.upper - found.lower <= 1e-8 * known


def test_known_deltas():
    epoch = hs.Gaussian(sigma=1.0).allocated(steps=64)
    for epsilon, relation, known in (
        (0.0, "remove", 0.0638386000461),
        (1.0, "remove", 2.6397707951e-6),
        (1.0, "add", 1.05091785e-13),
    ):
        found = epoch.delta_bounds(epsilon, relation)
        assert found.lower * (1.0 - 1e-8) <= known <= found.upper * (1.0 + 1e-8)


def moment(sigma, steps, order):
    """E L^order as a sum over how often each step occurs among `order` draws."""
    with mpmath.workdps(40):
        terms = [mpmath.exp(k * (k - 1) / (2 * mpmath.mpf(sigma) ** 2)) / mpmath.factorial(k) for k in range(order + 1)]
        power = [mpmath.mpf(1)] + [mpmath.mpf(0)] * order
        for _ in range(steps):
            power = [mpmath.fsum(power[i] * terms[m - i] for i in range(m + 1)) for m in range(order + 1)]
        return power[order] * mpmath.factorial(order) / mpmath.mpf(steps) ** order


@pytest.mark.parametrize(("sigma", "steps"), [(1.0, 7), (0.5, 30), (4.0, 20)])
def test_renyi_divergences_of_whole_orders(sigma, steps):
    epoch = hs.Gaussian(sigma=sigma).allocated(steps=steps)
    for order in (2, 3, 6):
        truth = float(mpmath.log(moment(sigma, steps, order))) / (order - 1)
        assert truth * (1.0 - 1e-13) <= epoch.rdp(float(order), "remove") <= truth * (1.0 + 1e-7)


def test_one_step_is_the_step_itself():
    step = hs.Gaussian(sigma=1.3)
    assert (step.allocated(steps=1) * 3).epsilon_bounds(1e-6) == (step * 3).epsilon_bounds(1e-6)
    assert step.allocated(steps=4, times=4).epsilon_bounds(1e-6) == (step * 4).epsilon_bounds(1e-6)


def test_a_kept_draw_is_one_epoch_of_less_noise():
    kept = hs.Gaussian(sigma=2.0).allocated(steps=10, kept=4).epsilon_bounds(1e-6)
    once = hs.Gaussian(sigma=1.0).allocated(steps=10).epsilon_bounds(1e-6)
    assert kept.lower <= once.upper
    assert once.lower <= kept.upper
    assert math.isclose(kept.upper, once.upper, rel_tol=1e-8)


def test_half_of_two_steps_by_hand():
    """delta of one of two steps of very little noise is what telling the steps apart leaves: nothing is gained by an attacker who
    sees the record in one of two places rather than nowhere but all of it."""
    found = hs.Gaussian(sigma=0.3).allocated(steps=2).delta_bounds(0.0, "remove")
    once = hs.Gaussian(sigma=0.3).delta_bounds(0.0)
    assert float(Fraction(1, 2)) * once.lower <= found.upper <= once.upper
