import pytest

import hockeystick as hs

STEP = hs.Gaussian(sigma=1.0)


@pytest.mark.parametrize(
    ("make", "error", "words"),
    [
        (lambda: STEP.allocated(steps=0), hs.BadValue, "steps"),
        (lambda: STEP.allocated(steps=2.5), hs.HockeystickError, "steps"),
        (lambda: STEP.allocated(steps=3, times=4), hs.BadValue, "at most steps"),
        (lambda: STEP.allocated(steps=3, kept=0), hs.BadValue, "kept"),
        (lambda: STEP.allocated(steps=10**7), hs.BadValue, "at most"),
        (lambda: STEP.poisson(rate=0.1).allocated(steps=3), hs.Unsupported, "sample of a sample"),
        (lambda: hs.GDP(mu=1.0, neighbours="replace").allocated(steps=3), hs.Unsupported, "add-or-remove"),
        (lambda: STEP.allocated(steps=3).epsilon(1e-5, "replace"), hs.Unsupported, "no theorem"),
    ],
)
def test_what_is_refused_is_said(make, error, words):
    with pytest.raises(error, match=words):
        make()


def test_parts_of_gaussian_noise_share_an_allocation():
    both = (hs.Gaussian(sigma=2.0) + hs.GDP(mu=0.5)).allocated(steps=10)
    one = hs.Gaussian(sigma=2.0**0.5).allocated(steps=10)
    assert both.epsilon(1e-6) == pytest.approx(one.epsilon(1e-6), rel=1e-8)


def test_it_is_composed_with_everything_else():
    run = STEP.allocated(steps=30) * 2 + hs.Laplace(scale=3.0) + hs.Gaussian(sigma=2.0).poisson(rate=0.05) * 20
    found = run.epsilon_bounds(1e-6)
    assert found.upper - found.lower <= 1e-7 * found.upper
    assert found.upper > (STEP.allocated(steps=30) * 2).epsilon(1e-6)


def test_relations_and_text():
    epoch = STEP.allocated(steps=8, kept=2)
    assert repr(epoch * 3) == "Gaussian(sigma=1.0).allocated(steps=8, kept=2) * 3"
    assert epoch.epsilon_bounds(1e-5, "zero-out") == epoch.epsilon_bounds(1e-5)
    assert epoch.epsilon(1e-5, "add") < epoch.epsilon(1e-5, "remove") == epoch.epsilon(1e-5)
    assert hs.from_json(epoch.to_json()) == epoch


@pytest.mark.parametrize(
    ("step", "words"),
    [
        (hs.GDP(mu=1.0), "a null record differ"),
        (hs.RandomizedResponse(epsilon=1.0, null="uniform"), "a null record differ"),
        (hs.PureDP(epsilon=1.0), "a null record differ"),
    ],
    ids=["GDP", "response", "PureDP"],
)
def test_a_null_record_is_none_only_of_noise(step, words):
    epoch = step.allocated(steps=4)
    assert epoch.epsilon(1e-6) < step.epsilon(1e-6)
    with pytest.raises(hs.Unsupported, match=words):
        epoch.epsilon(1e-6, "zero-out")
    noise = hs.DiscreteLaplace(scale=2.0).allocated(steps=4)
    assert noise.epsilon(1e-6, "zero-out") == noise.epsilon(1e-6)


def test_steps_of_few_values_are_composed_with_everything_else():
    run = hs.RandomizedResponse(1.0).allocated(steps=16) * 4 + STEP.allocated(steps=30) + STEP.poisson(rate=0.01) * 50
    found = run.epsilon_bounds(1e-6)
    assert found.upper - found.lower <= 1e-6 * found.upper
    assert found.tight
    assert hs.from_json(run.to_json()) == run


def test_laplace_noise_beside_others():
    epoch = hs.Laplace(scale=2.0).allocated(steps=12)
    run = epoch + STEP.poisson(rate=0.01) * 50
    found = run.epsilon_bounds(1e-6)
    assert found.upper - found.lower <= 1e-5 * found.upper
    assert found.tight
    assert hs.from_json(run.to_json()) == run
    assert epoch.epsilon(1e-6, "zero-out") == epoch.epsilon(1e-6)
    assert epoch.epsilon_bounds(1e-6, "remove").upper < epoch.epsilon_bounds(1e-6, "add").lower
    with pytest.raises(hs.Unsupported, match="draw afresh"):
        hs.Laplace(scale=2.0).allocated(steps=12, kept=2)
    with pytest.raises(hs.Unsupported, match="no theorem"):
        epoch.epsilon(1e-6, "replace")
