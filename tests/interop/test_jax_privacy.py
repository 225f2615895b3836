"""JAX Privacy, and TF Privacy's events: the example trains on the CPU; its events are accounted for or refused by name."""

import os
import subprocess
import sys

import dp_accounting as dp
import pytest

import hockeystick as hs
from hockeystick.interop.dp_accounting import HockeystickAccountant, from_dp_event, to_dp_event
from places import ROOT


def test_the_example_runs(tmp_path):
    """Noise calibrated and every step composed by our accountant, under an account; the plan's event and the peer agree."""
    environment = {**os.environ, "JAX_PLATFORMS": "cpu", "PYTHONPATH": str(ROOT / "src")}
    command = [sys.executable, str(ROOT / "examples" / "jax_privacy_training.py"), str(tmp_path / "ledger.db")]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    rows = dict(line.rsplit(maxsplit=1) for line in done.stdout.splitlines())
    found = {name.strip(): float(value) for name, value in rows.items()}
    assert found["accuracy"] > 0.9
    assert found["steps under the account"] == 60
    with hs.Ledger(tmp_path / "ledger.db") as ledger:
        (entry,) = [one for one in ledger.account("2026").log() if one["kind"] == "commit"]
    assert entry["actor"] == "bob"
    assert found["epsilon, step by step"] == found["epsilon of the plan"] <= 2.0
    assert found["epsilon by dp_accounting"] == pytest.approx(found["epsilon of the plan"], abs=1e-4)
    run = hs.Gaussian(sigma=found["noise multiplier"]).poisson(rate=0.05) * 60
    assert run.epsilon(1e-5, "zero-out") == pytest.approx(found["epsilon of the plan"], abs=1e-5)  # printed to six places
    best = hs.calibrate(lambda s: hs.Gaussian(sigma=s).poisson(rate=256 / 60_000) * 3510, epsilon=1.0, delta=1e-5)
    assert found["noise for epsilon = 1"] == pytest.approx(best, abs=2e-6)


@pytest.mark.filterwarnings("ignore")
def test_the_events_of_jax_privacy():
    from jax_privacy.experimental import accounting

    step = hs.Gaussian(sigma=2.0)
    cases = [
        (accounting.dpsgd_event(2.0, 100, sampling_prob=0.1), step.poisson(rate=0.1) * 100),
        (accounting.amplified_bandmf_event(2.0, 100, num_bands=3, sampling_prob=0.1), step.poisson(rate=0.1) * 34),
        (
            accounting.fixed_dpsgd_event(2.0, 100, dataset_size=1000, batch_size=10),
            step.without_replacement(batch=10, examples=1000) * 100,
        ),
        (
            accounting.fixed_dpsgd_event(2.0, 100, dataset_size=1000, batch_size=10, replace=True),
            step.with_replacement(draws=10, examples=1000) * 100,
        ),
    ]
    for event, release in cases:
        assert from_dp_event(event) == release
        for relation in dp.NeighboringRelation:
            assert HockeystickAccountant(relation).supports(event)
    cut = accounting.truncated_dpsgd_event(2.0, 100, sampling_prob=0.1, num_examples=1000, truncated_batch_size=120)
    assert from_dp_event(cut) == step.truncated_poisson(rate=0.1, cap=120, examples=1000) * 100


@pytest.mark.filterwarnings("ignore")
def test_banded_noise_is_below_what_jax_privacy_proves():
    from jax_privacy.experimental import accounting

    for relation, theirs, sigma, iterations, bands, rate in (
        ("zero-out", dp.NeighboringRelation.REPLACE_SPECIAL, 2.0, 100, 3, 0.1),
        ("add-or-remove", dp.NeighboringRelation.ADD_OR_REMOVE_ONE, 0.9, 500, 16, 0.02),
    ):
        event = accounting.amplified_bandmf_event(sigma, iterations, num_bands=bands, sampling_prob=rate)
        run = hs.Gaussian(sigma=sigma).poisson(rate=rate).banded(bands=bands, iterations=iterations)
        assert to_dp_event(run) == event
        known = dp.pld.PLDAccountant(theirs).compose(event).get_epsilon(1e-6)
        assert known * (1.0 - 1e-3) <= run.epsilon(1e-6, relation) <= known


def test_batches_of_a_fixed_size_are_poisson_samples_of_twice_the_distance():
    """As JAX Privacy has it for adding and removing a record; exact here, too (SampledWithoutReplacementDpEvent)."""
    fixed = HockeystickAccountant().compose(dp.SampledWithoutReplacementDpEvent(1024, 16, dp.GaussianDpEvent(2.0)), 100)
    poisson = HockeystickAccountant().compose(dp.PoissonSampledDpEvent(16 / 1024, dp.GaussianDpEvent(1.0)), 100)
    assert fixed.get_epsilon(1e-6) == poisson.get_epsilon(1e-6)


def test_the_events_of_tf_privacy():
    """What its queries put into the ledger: Gaussian sums in Poisson samples, and trees for DP-FTRL."""
    dpsgd = dp.SelfComposedDpEvent(dp.PoissonSampledDpEvent(0.01, dp.GaussianDpEvent(1.1)), 1000)
    assert from_dp_event(dpsgd) == hs.Gaussian(sigma=1.1).poisson(rate=0.01) * 1000
    tree = dp.SelfComposedDpEvent(dp.SingleEpochTreeAggregationDpEvent(8.83, 1600), 5)  # one tree an epoch
    accountant = HockeystickAccountant(dp.NeighboringRelation.REPLACE_SPECIAL).compose(tree)
    assert accountant.get_epsilon(1e-6) == (hs.Gaussian(sigma=8.83) * 55).epsilon(1e-6)  # 11 levels
    assert not HockeystickAccountant().supports(tree)
    # one sample that feeds a sum and a count
    both = dp.PoissonSampledDpEvent(0.01, dp.ComposedDpEvent([dp.GaussianDpEvent(1.2), dp.GaussianDpEvent(10.0)]))
    ours = HockeystickAccountant().compose(both, 100).get_epsilon(1e-6)
    assert ours < dp.rdp.RdpAccountant().compose(both, 100).get_epsilon(1e-6)
    merged = dp.PoissonSampledDpEvent(0.01, dp.GaussianDpEvent((1.2**-2 + 10.0**-2) ** -0.5))
    assert ours == pytest.approx(dp.pld.PLDAccountant().compose(merged, 100).get_epsilon(1e-6), rel=1e-3)


@pytest.mark.filterwarnings("ignore")
def test_sensitivities_of_matrices_are_at_most_those_of_jax_privacy():
    """Which computes in single precision; its objects are read, too."""
    import jax.numpy as jnp
    import numpy as np
    from jax_privacy.matrix_factorization import banded, buffered_toeplitz, sensitivity, toeplitz

    single = 1.0 + 1e-5
    tree = hs.MatrixMechanism(hs.Strategy.tree(1024), sigma=10.0, participations=1)
    assert to_dp_event(tree).noise_multiplier == pytest.approx(10.0 / 11.0**0.5)
    matrix = np.tril(np.random.default_rng(3).normal(size=(40, 40)))
    ours = hs.Strategy.of(jnp.array(matrix))
    theirs = sensitivity.get_min_sep_sensitivity_upper_bound(jnp.array(matrix), 7, 4)
    assert 0.5 * theirs < ours.sensitivity(4, 7).upper <= theirs * single
    assert ours.sensitivity(4, 10, exactly=True).upper == pytest.approx(
        sensitivity.fixed_epoch_sensitivity(jnp.array(matrix), 4), rel=1e-5
    )
    single_use = float(sensitivity.single_participation_sensitivity(jnp.array(matrix)))
    assert ours.sensitivity(1).upper == pytest.approx(single_use, rel=1e-5)
    root = toeplitz.optimal_max_error_strategy_coefs(64)
    known = toeplitz.minsep_sensitivity_squared(root, 10, 5) ** 0.5
    assert hs.Strategy.of(root, iterations=64).sensitivity(5, 10).upper == pytest.approx(float(known), rel=1e-5)
    normed = banded.ColumnNormalizedBanded.default(30, 4)
    bands = hs.Strategy.of(normed).sensitivity(3, 8)
    assert bands.upper == pytest.approx(float(banded.minsep_sensitivity_squared(normed, 8, 3, n=30)) ** 0.5, rel=1e-5)
    blt = buffered_toeplitz.BufferedToeplitz.build((0.9, 0.5), (0.3, 0.2), dtype=jnp.float32)
    np.testing.assert_allclose(hs.Strategy.of(blt, iterations=6).matrix(), blt.materialize(6), rtol=1e-6)
    streamed = hs.Strategy.of(blt.as_streaming_matrix(), iterations=6)
    np.testing.assert_allclose(streamed.matrix(), blt.materialize(6), rtol=1e-6)
