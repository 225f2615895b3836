"""The engines that are asked first, one by one."""

import math

import pytest

import hockeystick as hs
from hockeystick.loss.engines.driver import epsilon_proof, finite, log_delta_proof
from hockeystick.loss.engines.engine import Proof, Question
from hockeystick.loss.engines.first import (
    ClosedForm,
    Compiled,
    ContourAgain,
    ContourIntegral,
    Elementary,
    compiled_log_deltas,
    contour_epsilon,
    contour_log_delta,
    epsilon_question,
)
from hockeystick.native import core

MIXED = (hs.Gaussian(sigma=3.0) * 4 + hs.Laplace(scale=5.0) * 20)._run("add-or-remove")
NOTHING = Proof(0.0, math.inf)


def test_the_core_answers_for_one_mechanism():
    question = epsilon_question(math.log(1e-6))._replace(delta=1e-6)
    assert not Compiled().applies(MIXED, question)
    dpsgd = (hs.Gaussian(sigma=1.1).poisson(rate=0.01) * 1000)._run("add-or-remove")
    assert Compiled().applies(dpsgd, question) is (core is not None)
    assert compiled_log_deltas(MIXED, [1.0, 2.0]) == [None, None]


@pytest.mark.skipif(core is None, reason="the core was not compiled: there was no C compiler")
def test_what_the_core_said_already_is_not_asked_again():
    run = (hs.Gaussian(sigma=1.1).poisson(rate=0.01) * 1000)._run("add-or-remove")
    run.core_answers["epsilon", 1e-6], run.core_answers["log delta", 1.0] = (1.0, 2.0, 1), ()
    question = epsilon_question(math.log(1e-6))._replace(delta=1e-6)
    assert Compiled().epsilon(run, question, NOTHING, finite) == Proof(1.0, 2.0, *[("compiled core", "contour")] * 2)
    assert Compiled().log_delta(run, Question("log delta", 1.0), NOTHING, finite) is None


def test_elementary_bounds_end_a_search_where_nothing_is_lost():
    run = (hs.Gaussian(sigma=1e6).poisson(rate=1e-6) * 10)._run("add-or-remove")
    assert Elementary().epsilon(run, epsilon_question(math.log(0.01)), NOTHING, finite) == (0.0, 0.0)
    assert Elementary().epsilon(MIXED, epsilon_question(math.log(1e-6)), NOTHING, finite) is None


def test_contours_of_both_orders_against_all_engines():
    log_delta = math.log(1e-6)
    low, high = contour_epsilon(MIXED, log_delta, (log_delta - 1e-14, log_delta + 1e-14))
    proof = epsilon_proof(MIXED, 1e-6)
    assert low <= proof.high
    assert proof.low <= high
    below, above = contour_log_delta(MIXED, 3.0)
    other = log_delta_proof(MIXED, 3.0)
    assert below <= other.high
    assert other.low <= above
    assert contour_epsilon(MIXED, log_delta, (log_delta, log_delta), floor=1e9)[0] == 0.0


def test_a_contour_is_not_evaluated_twice():
    question = epsilon_question(-20.0)
    assert ContourIntegral().applies(MIXED, question)
    assert not ContourIntegral().applies(MIXED, question._replace(evaluated=True))
    assert ContourAgain().applies(MIXED, question._replace(evaluated=True))
    assert not ContourAgain().applies(MIXED, question._replace(evaluated=True, most=3.0))


def test_a_closed_form_of_both_orders_is_the_larger_one():
    run = hs.Gaussian(sigma=0.7).poisson(rate=0.2)._run("add-or-remove")
    question = epsilon_question(math.log(1e-3))
    both = ClosedForm().epsilon(run, question, NOTHING, finite)
    singles = [ClosedForm().epsilon(one, question, NOTHING, finite) for one in run.ordered_pairs()]
    assert both == (max(one[0] for one in singles), max(one[1] for one in singles))


def test_a_question_knows_the_rounding_of_its_logarithm():
    question = epsilon_question(-10.0)
    assert question == Question("epsilon", -10.0, question.slack)
    assert 0.0 < question.slack < 1e-13
