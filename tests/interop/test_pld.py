"""Privacy loss distributions of dp_accounting as releases: composed, sampled, of both kinds, and never below what they claim."""

import math

import dp_accounting as dp
import numpy as np
import pytest
from dp_accounting.pld import common, pld_pmf, privacy_loss_distribution

import hockeystick as hs
from hockeystick.interop.dp_accounting import from_pld
from hockeystick.mechanism.own.stored import Stored, StoredMasses

STEP = 1e-2
GAUSSIAN = privacy_loss_distribution.from_gaussian_mechanism(1.0, sampling_prob=0.1, value_discretization_interval=STEP)
LAPLACE = privacy_loss_distribution.from_laplace_mechanism(2.0, value_discretization_interval=STEP)
CLAIM = privacy_loss_distribution.from_privacy_parameters(
    common.DifferentialPrivacyParameters(1.0, 1e-3), value_discretization_interval=STEP
)
OURS = {
    "gaussian": (GAUSSIAN, hs.Gaussian(sigma=1.0).poisson(rate=0.1)),
    "laplace": (LAPLACE, hs.Laplace(scale=2.0)),
    "claim": (CLAIM, hs.ApproxDP(epsilon=1.0, delta=1e-3)),
}


@pytest.mark.parametrize("case", OURS)
def test_upper_ends_are_theirs_and_above_the_truth(case):
    theirs, ours = OURS[case]
    run = from_pld(theirs)
    for count in (1, 9):
        composed = theirs if count == 1 else theirs.self_compose(count)
        for epsilon in (0.0, 0.5, 1.5):
            found = (run * count).delta_bounds(epsilon=epsilon, neighbours="remove")
            assert found.upper == pytest.approx(composed._pmf_remove.get_delta_for_epsilon(epsilon), rel=1e-6, abs=1e-13)
            assert found.upper >= (ours * count).delta_bounds(epsilon=epsilon, neighbours="remove").lower
            assert found.lower <= max(0.0, -math.expm1(epsilon))
            assert not found.tight
        for relation in ("remove", "add"):
            assert (run * count).epsilon(delta=1e-2, neighbours=relation) >= (ours * count).epsilon_bounds(
                delta=1e-2, neighbours=relation
            ).lower


def test_composed_with_ours_and_sampled_by_us():
    run = from_pld(LAPLACE) * 3 + hs.Gaussian(sigma=2.0)
    truth = (hs.Laplace(scale=2.0) * 3 + hs.Gaussian(sigma=2.0)).epsilon_bounds(delta=1e-5)
    assert truth.lower <= run.epsilon(delta=1e-5) <= truth.upper * 1.02
    drawn = (from_pld(LAPLACE).poisson(rate=0.1) * 5).epsilon_bounds(delta=1e-5)
    truth = (hs.Laplace(scale=2.0).poisson(rate=0.1) * 5).epsilon_bounds(delta=1e-5)
    assert drawn.lower == 0.0
    assert truth.lower <= drawn.upper <= truth.upper * 1.05


def test_dense_and_sparse_and_single_laws():
    law = CLAIM._pmf_remove
    sparse = pld_pmf.SparsePLDPmf({-100: 0.25, 100: 0.7}, STEP, 0.05, True)
    for one in (law, sparse, sparse.to_dense_pmf()):
        run = from_pld(one)
        assert run.delta(epsilon=0.5, neighbours="remove") == pytest.approx(one.get_delta_for_epsilon(0.5), rel=1e-9)
    assert from_pld(sparse) == from_pld(sparse.to_dense_pmf())
    # of one law the other order is that of the same pair
    found = from_pld(GAUSSIAN._pmf_remove).epsilon(delta=1e-3, neighbours="add")
    assert found == pytest.approx(from_pld(GAUSSIAN).epsilon(delta=1e-3, neighbours="add"), rel=0.02)
    assert from_pld(sparse).epsilon(delta=0.04) == math.inf


def test_what_is_refused_and_said():
    with pytest.raises(hs.Unsupported, match="optimistic"):
        from_pld(privacy_loss_distribution.from_laplace_mechanism(2.0, pessimistic_estimate=False, use_connect_dots=False))
    with pytest.raises(hs.BadType, match="allowed: a PrivacyLossDistribution"):
        from_pld(dp.GaussianDpEvent(1.0))
    with pytest.raises(hs.Unsupported, match="differ"):
        from_pld(GAUSSIAN, "replace")
    with pytest.raises(hs.Unsupported, match="of a replacement it says nothing"):
        from_pld(LAPLACE).epsilon(delta=1e-5, neighbours="replace")
    assert from_pld(LAPLACE, "replace").epsilon(delta=1e-3, neighbours="replace") < 0.51
    with pytest.raises(hs.Unsupported, match="JSON"):
        from_pld(LAPLACE).to_json()
    for wrong in (np.array([0.5, 0.6]), np.array([math.nan]), np.array([[0.5]]), np.array([2.0])):
        with pytest.raises(hs.BadValue, match="masses of remove"):
            StoredMasses(Stored(STEP, 0, wrong, 0.0))
    with pytest.raises(hs.BadType, match="allowed: Stored"):
        StoredMasses([0.5, 0.5])
    report = from_pld(LAPLACE).report(delta=1e-5)
    assert any("dp_accounting" in words and "not certified" in words for words in report.assumptions)
    assert "given what is stated" in report.statement
