"""The fallback engines: which runs each is for, and the inversion of epsilons."""

import math

import pytest

import hockeystick as hs
from hockeystick.loss.engines.driver import finite, log_delta_proof
from hockeystick.loss.engines.engine import Proof, Question
from hockeystick.loss.engines.fallbacks import BigJump, BigJumpAtoms, ConditionalJump, FromEpsilons, Smoothing
from hockeystick.loss.engines.first import epsilon_question
from hockeystick.loss.protocol import Care

QUESTION = epsilon_question(math.log(1e-6))


@pytest.mark.parametrize(
    ("release", "engines"),
    [
        (hs.Gaussian(sigma=0.8).poisson(rate=1e-4) * 10_000, {BigJump, ConditionalJump}),
        (hs.PureDP(epsilon=1.0).poisson(rate=1e-3) * 200, {BigJumpAtoms, Smoothing}),
        (hs.DiscreteGaussian(sigma=3.0, sensitivity=2) * 100, {Smoothing}),
        (hs.Gaussian(sigma=3.0) + hs.Laplace(scale=5.0) * 20, set()),
    ],
    ids=["sparse", "sparse atoms", "atoms", "density"],  # a set has no order of its own
)
def test_which_runs_each_is_for(release, engines):
    run = release._run("remove")
    assert {one for one in (BigJump, ConditionalJump, BigJumpAtoms, Smoothing) if one().applies(run, QUESTION)} == engines


def test_delta_from_epsilons():
    """Of few steps near the largest loss; the driver is asked for epsilons only."""
    run = (hs.Laplace(scale=1.0) * 3 + hs.PureDP(epsilon=0.5))._run("remove")
    question = Question("log delta", 3.2)
    assert FromEpsilons().applies(run, question)
    assert not FromEpsilons().applies(run, question._replace(care=Care.CURVE))
    assert not FromEpsilons().applies(run, question._replace(at=-0.1))
    asked = []

    def ask(one, what):
        asked.append(what)
        return finite(one, what)

    low, high = FromEpsilons().log_delta(run, question, Proof(-math.inf, -0.5), ask)
    truth = log_delta_proof(run, 3.2)
    assert low <= truth.high
    assert truth.low <= high < -0.5
    assert {what.asks for what in asked} == {"epsilon"}
