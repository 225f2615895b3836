"""Finer and finer lattices: answers, which lattices are kept, and what is out of their scale."""

import math

import pytest

import hockeystick as hs
from hockeystick.loss.engines.closed import closed_form
from hockeystick.loss.lattice.refine import TUNING, few_steps, lattice_epsilon, lattice_log_delta
from hockeystick.loss.pairs.gaussian import gaussian_log_delta
from hockeystick.loss.protocol import Care, Inconclusive


def test_epsilon_of_gaussian_noise_and_back():
    run, log_delta = (hs.Gaussian(sigma=1.0) * 4)._run("remove"), math.log(1e-6)
    low, high = lattice_epsilon(run, log_delta, 1e-14)
    assert gaussian_log_delta(2.0, low).high >= log_delta >= gaussian_log_delta(2.0, high).low
    assert high - low < 1e-5 * high
    below, above = lattice_log_delta(run, 9.0, Care.ONE)
    truth = gaussian_log_delta(2.0, 9.0)
    assert below <= truth.high
    assert above >= truth.low


def test_below_a_floor_nothing_is_brought_closer():
    run, log_delta = (hs.Gaussian(sigma=1.0) * 4)._run("remove"), math.log(1e-6)
    near, far = lattice_epsilon(run, log_delta, 1e-14), lattice_epsilon(run, log_delta, 1e-14, floor=100.0)
    assert far[0] <= near[1] <= 100.0
    assert far[1] >= near[0]


def test_lattices_are_kept_and_serve_the_epsilons_near_them():
    run = (hs.Gaussian(sigma=1.0) * 4)._run("remove")
    first = lattice_log_delta(run, 5.0)
    kept = list(run.lattices)
    assert kept
    assert lattice_log_delta(run, 5.0) == first
    assert run.lattices == kept
    for epsilon in (0.5, 2.0, 9.0, 12.0, 15.0):
        lattice_log_delta(run, epsilon)
    assert sum(one.size for one in run.lattices) <= TUNING.max_points_kept


def test_few_steps_are_not_many():
    assert few_steps((hs.Laplace(scale=1.0) * TUNING.few_steps)._run("remove"))
    assert not few_steps((hs.Laplace(scale=1.0) * (TUNING.few_steps + 1))._run("remove"))


@pytest.mark.parametrize("release", [hs.Gaussian(sigma=1e-9), hs.Gaussian(sigma=1e12) * 2], ids=repr)
def test_what_is_out_of_scale_is_left_to_others(release):
    run = release._run("remove")
    assert closed_form(run, 0.0) is not None
    with pytest.raises(Inconclusive):
        lattice_epsilon(run, -20.0, 1e-14)
    with pytest.raises(Inconclusive):
        lattice_log_delta(run, 1.0)
