"""What an engine is, if it proves nothing, and what a proof and a question are."""

import pytest

import hockeystick as hs
from hockeystick.loss.engines.engine import Engine, Proof, Question
from hockeystick.loss.protocol import Care, Inconclusive


class Silent(Engine):
    """Proves nothing."""

    name, method = "silent", "nothing"


def test_an_engine_proves_nothing_unless_it_says_how():
    run = hs.Gaussian(sigma=1.0)._run("remove")
    assert Silent().applies(run, Question("epsilon", -5.0))
    for ask in (Silent().epsilon, Silent().log_delta):
        with pytest.raises(Inconclusive):
            ask(run, Question("epsilon", -5.0), Proof(0.0, 1.0), lambda *given: pytest.fail("the driver was asked"))


def test_a_proof_is_two_ends_and_who_proved_them():
    proof = Proof(1.0, 2.0, ("a",), ("b", "c"))
    assert proof.ends == (1.0, 2.0)
    assert proof.sound
    assert Proof(1.0, 2.0).low_by == ()


def test_one_question_is_asked_with_all_care():
    assert Question("log delta", 1.0).care is Care.ONE
    assert Question("epsilon", -5.0).floor == 0.0
