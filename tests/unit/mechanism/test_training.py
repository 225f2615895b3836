"""DP-SGD as a training run: its sampler, its relation, its statement."""

import pytest

import hockeystick as hs


def test_dpsgd_of_every_sampler():
    numbers = {"examples": 60_000, "batch": 256, "sigma": 1.1, "epochs": 15}
    step = hs.Gaussian(sigma=1.1)
    assert hs.dpsgd(**numbers, sampler="without-replacement") == step.without_replacement(batch=256, examples=60_000) * 3516
    assert hs.dpsgd(**numbers, sampler="balls-and-bins") == step.allocated(steps=235) * 15
    begun = hs.dpsgd(examples=1000, batch=300, sigma=1.0, steps=9, sampler="balls-and-bins")
    assert begun == hs.Gaussian(sigma=1.0).allocated(steps=4) * 3
    assert "3 epochs of 4 steps: 9 steps, rounded up" in begun.statement
    assert hs.dpsgd(**numbers, sampler="with-replacement") == step.with_replacement(draws=256, examples=60_000) * 3516
    run = hs.dpsgd(**numbers, sampler="shuffle", neighbours="replace")
    assert run.parts == ((step.full_pass(by="shuffle", steps=235), 15),)
    assert run.epsilon(1e-5) == (step * 15).epsilon(1e-5, neighbours="replace")
    assert run.epsilon(1e-5, neighbours="zero-out") == (step * 15).epsilon(1e-5)
    steps = hs.dpsgd(examples=1000, batch=300, sigma=1.0, steps=7, sampler="cyclic", neighbours="replace")
    assert steps.parts[0][1] == 3  # three batches of 300 to a pass at least
    assert hs.dpsgd(examples=1000, batch=300, sigma=1.0, steps=7, sampler="hashed").parts[0][1] == 3


def test_dpsgd_keeps_its_relation():
    first = hs.dpsgd(rate=0.01, sigma=1.0, steps=10, sampler="poisson", neighbours="replace")
    second = hs.dpsgd(rate=0.02, sigma=2.0, steps=10, sampler="poisson", neighbours="replace")
    plain = hs.Gaussian(sigma=1.0).poisson(rate=0.01) * 10
    assert first.epsilon(1e-6) == plain.epsilon(1e-6, neighbours="replace") != plain.epsilon(1e-6)
    assert first.epsilon(1e-6, neighbours="add-or-remove") == plain.epsilon(1e-6)
    assert first != plain
    both = first + second
    assert both.stated == "replace"
    assert first.statement.splitlines()[0] in both.statement
    assert second.statement.splitlines()[1] in both.statement
    assert (hs.Laplace(scale=1.0) + first).stated == hs.compose([hs.Laplace(scale=1.0), first]).stated == "replace"
    assert sum([first, second]).stated == "replace"
    with pytest.raises(hs.BadValue, match="one relation"):
        first + hs.dpsgd(rate=0.01, sigma=1.0, steps=10, sampler="poisson")
    again = hs.from_json(first.to_json())
    assert (again, again.statement) == (first, first.statement)


def test_dpsgd_accumulation_is_one_larger_batch():
    run = hs.dpsgd(examples=60_000, batch=64, accumulation=4, sigma=1.1, epochs=15, sampler="poisson")
    assert run == hs.dpsgd(examples=60_000, batch=256, sigma=1.1, epochs=15, sampler="poisson")
    assert "Accumulation: 4" in run.statement


@pytest.mark.parametrize(
    ("given", "error", "words"),
    [
        ({"sampler": "shuffle", "examples": 10, "batch": 2, "epochs": 1}, hs.Unsupported, ["zero-out", "replace"]),
        ({"sampler": "without-replacement", "rate": 0.1, "steps": 1}, hs.BadValue, ["fixed size", "examples and batch"]),
        ({"sampler": "without-replacement", "examples": 10, "batch": 11, "steps": 1}, hs.BadValue, ["11", "10"]),
        ({"sampler": "poisson", "examples": 10, "batch": 6, "accumulation": 2, "steps": 1}, hs.BadValue, ["12", "10"]),
        ({"sampler": "poisson", "rate": 0.6, "accumulation": 2, "steps": 1}, hs.BadValue, ["1.2", "accumulation"]),
        ({"sampler": "truncated-poisson", "rate": 0.1, "steps": 1}, hs.Unsupported, ["truncated-poisson", "poisson"]),
        ({"sampler": "b-min-sep", "rate": 0.1, "steps": 1}, hs.Unsupported, ["b-min-sep", "cyclic"]),
        ({"sampler": "balls-in-bins", "rate": 0.1, "steps": 1}, hs.BadValue, ["balls-in-bins", "'balls-and-bins'?"]),
        ({"sampler": "random-allocation", "rate": 0.1, "steps": 1}, hs.BadValue, ["mean 'balls-and-bins'?"]),
        ({"sampler": "balls-and-bins", "rate": 0.1, "steps": 1}, hs.BadValue, ["examples and batch"]),
        ({"sampler": "balls-and-bins", "examples": 9, "batch": 0, "steps": 1}, hs.BadValue, ["batch is 0"]),
        ({"sampler": "poisson", "rate": 0.1, "steps": 1, "neighbours": "swap"}, hs.BadValue, ["swap"]),
        ({"sampler": "poisson", "rate": 0.1, "steps": 1, "accumulation": 0}, hs.BadValue, ["accumulation"]),
    ],
)
def test_dpsgd_refuses_what_does_not_fit(given, error, words):
    with pytest.raises(error) as raised:
        hs.dpsgd(sigma=1.0, **given)
    for word in words:
        assert word in str(raised.value)


def test_what_is_made_of_a_stated_run_keeps_its_relation():
    run = hs.dpsgd(examples=6000, batch=60, sigma=2.0, steps=50, sampler="poisson", neighbours="replace")
    fixed = hs.dpsgd(examples=6000, batch=60, sigma=2.0, steps=50, sampler="without-replacement", neighbours="replace")
    whole = hs.dpsgd(examples=6000, batch=60, sigma=9.0, epochs=2, sampler="shuffle", neighbours="replace")
    other = hs.Gaussian(sigma=9.0)
    made = (whole + other, other + whole, hs.compose([other, whole]), whole * 2, whole.group(2), run * 2, fixed.group(2))
    for one in made:
        assert one.stated == "replace"
    for one in made[:5]:
        assert one.epsilon(1e-6) == one.epsilon(1e-6, neighbours="replace")
    for question in ("mu", "regret"):
        assert getattr(whole, question)(delta=1e-4) == getattr(whole, question)(delta=1e-4, neighbours="replace")
    assert whole.tpr(1e-3) == whole.tpr(1e-3, neighbours="replace")
    assert whole.bayes_risk(0.5) == whole.bayes_risk(0.5, neighbours="replace")
    assert hs.rounds(whole, epsilon=2.0, delta=1e-5) == hs.rounds(whole, epsilon=2.0, delta=1e-5, neighbours="replace")
    with pytest.raises(hs.BadValue, match="stated for neighbours='replace'"):
        hs.RDPAccountant().compose(run)


def test_joined_phases_are_told_one_by_one():
    a, b = (hs.dpsgd(rate=0.01, sigma=sigma, steps=100, sampler="poisson") for sigma in (1.1, 1.5))
    assert (a + a).statement.count("100 steps, as given.") == 2
    told = (a * 2 + b).notes
    assert [note for note in told if note.startswith("Phase")] == ["Phase 1:", "Phase 2:"]
    assert told.index("All of this 2 times.") < told.index("Phase 2:")
    assert told[-1].startswith("Neighbours:")
    assert ((a + b) * 2).statement.count("All of this 2 times.") == 2
    assert (a + hs.compose([])).notes == a.notes
    assert hs.from_json((a + b).to_json()).statement == (a + b).statement
    assert (a + b).parts == (b + a).parts[::-1]
