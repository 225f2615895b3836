"""A pass over all records."""

import pytest

import hockeystick as hs
from sampled_cases import GAUSSIAN


def test_a_pass_is_one_step():
    for by in ("shuffle", "position", "id"):
        run = GAUSSIAN.full_pass(by=by) * 5
        for relation in ("replace", "zero-out"):
            assert run.epsilon(1e-6, relation) == (GAUSSIAN * 5).epsilon(1e-6, relation)
            assert run.epsilon_bounds(1e-6, relation).tight is (by != "shuffle")
    assert (GAUSSIAN.full_pass(by="id") * 5).epsilon(1e-6) == (GAUSSIAN * 5).epsilon(1e-6)


@pytest.mark.parametrize("by", ["shuffle", "position"])
@pytest.mark.parametrize("relation", ["add-or-remove", "add", "remove"])
def test_a_pass_refuses_add_and_remove(by, relation):
    with pytest.raises(hs.Unsupported, match="zero-out"):
        GAUSSIAN.full_pass(by=by).epsilon(1e-6, neighbours=relation)


def test_the_lower_end_of_a_shuffled_pass():
    epoch = hs.Gaussian(sigma=1.1).full_pass(by="shuffle", steps=235) * 15
    zeroed, replaced = epoch.epsilon_bounds(1e-5, "zero-out"), epoch.epsilon_bounds(1e-5, "replace")
    assert 5.999 < zeroed.lower < 6.0
    # what all sums of such data tell is what random allocation tells at this distance
    twice = (hs.Gaussian(sigma=0.55).allocated(steps=235) * 15).epsilon(1e-5, "add-or-remove")
    assert 0.9 * twice < replaced.lower <= twice
    assert replaced.upper == (hs.Gaussian(sigma=1.1) * 15).epsilon(1e-5, "replace")
    assert (hs.Gaussian(sigma=1.1).full_pass(by="shuffle") * 15).epsilon_bounds(1e-5, "zero-out").lower == 0.0
    for relation in ("zero-out", "replace"):
        whole = hs.Gaussian(2.0).full_pass(by="shuffle", steps=1).epsilon_bounds(1e-5, relation)
        assert whole.lower == pytest.approx(whole.upper, rel=1e-9)
        assert epoch.delta_bounds(3.0, relation).lower > 1e-3


@pytest.mark.parametrize(
    ("given", "error", "words"),
    [
        ({"by": "shuffle", "steps": 0}, hs.BadValue, ["steps", "0"]),
        ({"by": "shuffle", "steps": "4"}, hs.BadType, ["steps"]),
        ({"by": "id", "steps": 4}, hs.BadValue, ["steps", "'id'", "shuffle"]),
    ],
)
def test_steps_of_a_pass(given, error, words):
    with pytest.raises(error) as raised:
        GAUSSIAN.full_pass(**given)
    for word in words:
        assert word in str(raised.value)


def test_the_claim_of_poisson_sampling():
    run = hs.dpsgd(examples=60_000, batch=256, sigma=1.1, epochs=15, sampler="shuffle", neighbours="zero-out")
    claim = hs.poisson_claim(run, 1e-5)
    assert claim.claimed == (hs.Gaussian(1.1).poisson(rate=1 / 235) * 3525).epsilon(1e-5)
    assert claim.at_least == run.epsilon_bounds(1e-5).lower
    assert claim.off_by <= claim.at_least - claim.claimed < claim.off_by + 1e-12
    assert "off by at least 4.8" in str(claim)
    assert any("off by at least 4.8" in said for said in run.report(1e-5).assumptions)
    quiet = hs.dpsgd(examples=1000, batch=500, sigma=50.0, epochs=1, sampler="shuffle", neighbours="zero-out")
    assert hs.poisson_claim(quiet, 1e-5).off_by == 0.0
    assert "not known" in str(hs.poisson_claim(quiet, 1e-5))
    with pytest.raises(hs.Unsupported, match="shuffled passes"):
        hs.poisson_claim(GAUSSIAN, 1e-5)
    with pytest.raises(hs.BadType, match="release"):
        hs.poisson_claim(3, 1e-5)


def test_a_pass_that_did_not_come_to_its_end_has_no_lower_end():
    numbers = {"examples": 1000, "batch": 10, "sigma": 1.0, "sampler": "shuffle", "neighbours": "zero-out"}
    half, known = hs.Gaussian(1.0).full_pass(by="shuffle"), hs.Gaussian(1.0).full_pass(by="shuffle", steps=100)
    assert hs.dpsgd(**numbers, epochs=2.5).run == known * 2 + half
    assert hs.dpsgd(**numbers, steps=250).run == known * 2 + half
    assert hs.dpsgd(**numbers, steps=30).run == half
    assert hs.dpsgd(**numbers, epochs=3).run == known * 3
