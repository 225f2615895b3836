"""Many sampled runs in one call of the core: their ends contain the truth, and are those of each run by itself."""

import json
import math

import numpy as np
import pytest

import hockeystick as hs
from hockeystick.loss.answers import batch
from hockeystick.loss.answers.batch import Runs, sampled_epsilons
from hockeystick.mechanism.many import epsilons
from hockeystick.native import core
from places import DATA
from twins import pure

needs_core = pytest.mark.skipif(core is None, reason="the core was not compiled: there was no C compiler")

TRUTHS = json.loads((DATA / "truth.json").read_text())


def _runs(noise, rate, count, delta) -> Runs:
    noise, rate, count, delta = (np.array(one, dtype=float) for one in np.broadcast_arrays(noise, rate, count, delta))
    return Runs(noise.ravel(), np.zeros(noise.size), rate.ravel(), count.ravel(), np.log(delta.ravel()))


@needs_core
def test_the_truth_lies_between_the_ends():
    plain = [one for one in TRUTHS if not {"gaussian", "laplace"} & set(one) and 0.0 < one["rate"] < 1.0 and one["steps"] > 1]
    names = ("sigma", "rate", "steps", "delta")
    low, high = sampled_epsilons(_runs(*([one[name] for one in plain] for name in names)), (True, False))
    answered = 0
    for one, least, most in zip(plain, low, high, strict=True):
        if not math.isnan(least):
            answered += 1
            truth = float(one["epsilon"])
            assert least <= truth * (1.0 + 4e-16), one
            assert most >= truth * (1.0 - 4e-16), one
    assert answered >= 10


@needs_core
@pytest.mark.parametrize("removals", [(True, False), (True,), (False,)])
def test_agrees_with_single_runs(removals):
    relation = {(True, False): "add-or-remove", (True,): "remove", (False,): "add"}[removals]
    random = np.random.default_rng(11)
    noise, rate = random.uniform(0.5, 5.0, 40), 10.0 ** random.uniform(-3.0, -0.1, 40)
    count, delta = np.floor(10.0 ** random.uniform(2.5, 6.0, 40)), 10.0 ** -random.uniform(1.0, 40.0, 40)
    noise *= np.sqrt(np.maximum(1.0, count * rate * rate / 100.0))  # epsilons of about 1 to 100
    low, high = sampled_epsilons(_runs(noise, rate, count, delta), removals)
    assert np.isfinite(low).sum() > 20
    for place in np.nonzero(np.isfinite(low))[0]:
        run = hs.Gaussian(sigma=noise[place]).poisson(rate=rate[place]) * int(count[place])
        one = run.epsilon_bounds(delta=float(delta[place]), neighbours=relation)
        assert low[place] <= one.upper
        assert one.lower <= high[place]
        assert high[place] - low[place] <= 1e-9 * high[place]


@needs_core
def test_the_company_does_not_matter():
    """The loop over the ordinary answers tells the same, to the last bit."""
    releases = [hs.Gaussian(sigma=sigma).poisson(rate=0.01) * 5000 for sigma in np.linspace(0.7, 3.0, 30)]
    low, high = sampled_epsilons(_runs(np.linspace(0.7, 3.0, 30), 0.01, 5000.0, 1e-6), (True, False))
    assert np.isfinite(low).all()
    alone = [release.epsilon_bounds(delta=1e-6) for release in releases]
    assert [(one.lower, one.upper) for one in alone] == list(zip(low.tolist(), high.tolist(), strict=True))
    assert [answer() for answer in epsilons(releases, 1e-6)] == alone


def test_without_the_core_each_is_asked_by_itself():
    releases = [hs.Gaussian(sigma=sigma).poisson(rate=0.01) * 500 for sigma in np.linspace(0.7, 3.0, 6)]
    with pure():
        ends = sampled_epsilons(_runs(np.linspace(0.7, 3.0, 6), 0.01, 500.0, 1e-6), (True, False))
        together = [answer() for answer in epsilons(releases, 1e-6)]
        alone = [release.epsilon_bounds(1e-6) for release in releases]
    assert np.isnan(ends).all()
    assert together == alone


@needs_core
def test_what_is_hard_is_left_out_without_a_sound():
    hard = [
        (1e-6, 0.1, 10, 1e-5),
        (1e6, 1e-12, 10**12, 1e-300),
        (0.3, 0.999999, 2, 0.5),
        (1.0, 1e-9, 3, 1e-9),
        (50.0, 0.5, 2, 1e-3),
    ]
    low, high = sampled_epsilons(_runs(*zip(*hard, strict=True)), (True, False))
    for place, (noise, rate, count, delta) in enumerate(hard):
        if np.isfinite(low[place]):
            one = (hs.Gaussian(sigma=noise).poisson(rate=rate) * count).epsilon_bounds(delta=delta)
            assert low[place] <= one.upper
            assert one.lower <= high[place]
    assert (np.isnan(low) == np.isnan(high)).all()


@needs_core
def test_a_whole_grid_is_answered_together():
    """A saddle that one run of many took for lost cost all of its neighbours their answers."""
    rate, noise = np.meshgrid(np.geomspace(1e-3, 0.1, 10), np.linspace(0.8, 5.0, 14))
    low, high = sampled_epsilons(_runs(noise, rate, 1000.0, 1e-6), (True, False))
    answered = np.isfinite(low)
    assert answered.mean() > 0.7
    assert (high - low)[answered].max() < 1e-8
    low, _ = sampled_epsilons(_runs([3.7077, 2.0], [0.0046416, 0.02], 1000.0, 1e-6), (True, False))
    assert np.isfinite(low).all()


def test_ends_that_contradict_each_other_are_no_answer(monkeypatch: pytest.MonkeyPatch):
    class Wrong:
        def epsilons(self, *given):
            low, high = given[-2:]
            low[:], high[:] = [1.0, 2.0], [1.5, 1.0]

    monkeypatch.setattr(batch, "core", Wrong())
    low, high = sampled_epsilons(_runs([1.0, 1.1], 0.01, 100, 1e-6), (True, False))
    assert (low[0], high[0]) == (1.0, 1.5)
    assert np.isnan([low[1], high[1]]).all()
