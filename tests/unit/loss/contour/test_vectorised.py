"""One contour at many epsilons: the numbers that it has one by one."""

import numpy as np
import pytest

import hockeystick as hs
from hockeystick.loss.contour.contour import Contour, Saddle
from hockeystick.loss.contour.vectorised import contour_ends, equally_spaced_contour_ends, estimates, markov_log_deltas

DPSGD = hs.Gaussian(sigma=1.1).poisson(rate=0.01) * 10_000


def test_the_arrays_of_a_contour_are_its_numbers() -> None:
    run = DPSGD._run("add-or-remove")
    contour = Contour(run, Saddle.of_epsilon(run, 5.0))
    assert contour.evaluate(every_pair=True)
    epsilons = np.linspace(3.5, 6.5, 13)
    low, high = contour_ends(contour, epsilons)
    value, slope, _ = estimates(contour, epsilons)
    for place, epsilon in enumerate(epsilons.tolist()):
        assert low[place] == pytest.approx(contour.lower(epsilon), abs=1e-13)
        assert high[place] == pytest.approx(contour.upper(epsilon), abs=1e-13)
        one = contour.estimate(epsilon)
        assert value[place] == pytest.approx(one[0], abs=1e-13)
        assert slope[place] == pytest.approx(one[1], rel=1e-9)


def test_epsilons_in_equal_steps_and_the_real_axis() -> None:
    run = DPSGD._run("add-or-remove")
    contour = Contour(run, Saddle.of_epsilon(run, 5.0))
    markov = markov_log_deltas(contour, np.array([4.0, 5.0, 6.5]))
    assert markov.tolist() == pytest.approx([contour.markov_log_delta(one) for one in (4.0, 5.0, 6.5)], abs=1e-12)
    assert contour.evaluate(every_pair=True)
    epsilons = 6.0 - 0.01 * np.arange(150.0)
    low, high = equally_spaced_contour_ends(contour, epsilons)
    wide_low, wide_high = contour_ends(contour, epsilons)
    assert np.all(low <= wide_high)
    assert np.all(wide_low <= high)
    assert np.all(high - low <= wide_high - wide_low + 1e-11)
