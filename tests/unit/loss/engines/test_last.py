"""The engines that are asked last: each proves one end, held against all of them."""

import math

import hockeystick as hs
from hockeystick.loss.engines.driver import epsilon_proof, finite, log_delta_proof
from hockeystick.loss.engines.engine import Proof, Question
from hockeystick.loss.engines.first import epsilon_question
from hockeystick.loss.engines.last import BoundedPart, BoundedPartSoon, RenyiCurve, SingleSteps, Unsampled

RUN = (hs.Gaussian(sigma=2.0).poisson(rate=0.3) * 3 + hs.RandomizedResponse(epsilon=0.4) * 2)._run("remove")
EPSILON, DELTA = epsilon_question(math.log(1e-6)), Question("log delta", 1.0)
TRUTH, LOG_TRUTH = epsilon_proof(RUN, 1e-6), log_delta_proof(RUN, 1.0)
NOTHING, ALL = Proof(0.0, math.inf), Proof(-math.inf, 0.0)


def test_the_run_without_its_sampling_is_an_upper_bound():
    found = Unsampled().epsilon(RUN, EPSILON, NOTHING, finite)
    assert found is not None
    assert found.low == 0.0
    assert found.high > TRUTH.high
    assert found.high_by == ("unsampled run",)
    below = Unsampled().log_delta(RUN, DELTA, ALL, finite)
    assert below is not None
    assert below.high > LOG_TRUTH.high
    plain = (hs.Gaussian(sigma=2.0) * 3)._run("remove")
    assert Unsampled().epsilon(plain, EPSILON, NOTHING, finite) is None


def test_single_steps_bound_from_below():
    low, high = SingleSteps().epsilon(RUN, EPSILON, NOTHING, finite)
    assert 0.0 < low <= TRUTH.high
    assert high == math.inf
    assert SingleSteps().log_delta(RUN, DELTA, ALL, finite)[0] <= LOG_TRUTH.high


def test_the_renyi_curve_bounds_from_above():
    found = RenyiCurve().epsilon(RUN, EPSILON, NOTHING, finite)
    assert found is not None
    assert found[0] == 0.0
    assert TRUTH.low <= found[1] < 2.0 * TRUTH.high
    assert RenyiCurve().log_delta(RUN, DELTA, ALL, finite)[1] >= LOG_TRUTH.low
    assert not RenyiCurve().applies(RUN, EPSILON._replace(at=-800.0))


def test_bounded_losses_beside_others():
    for engine in (BoundedPart(), BoundedPartSoon()):
        assert engine.applies(RUN, EPSILON)
        low, high = engine.epsilon(RUN, EPSILON, NOTHING, finite)
        assert low <= TRUTH.high
        assert high >= TRUTH.low
    assert BoundedPartSoon().epsilon(RUN, EPSILON, NOTHING, finite)[0] == 0.0
    found = BoundedPart().log_delta(RUN, DELTA, ALL, finite)
    assert found is not None
    assert found.high >= LOG_TRUTH.low
    assert not BoundedPart().applies((hs.Gaussian(sigma=2.0) * 3)._run("remove"), EPSILON)
