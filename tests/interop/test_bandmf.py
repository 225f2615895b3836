"""JAX Privacy's configurations of banded noise: those of 2.0 as they are, those of later versions by their fields."""

import math
from types import SimpleNamespace

import numpy as np
import pytest

import hockeystick as hs
from hockeystick.interop.jax_privacy import from_bandmf


def config(**changed):
    """The fields of BandMFConfig (JAX Privacy 2.2) with their defaults."""
    fields = {
        "iterations": 1000,
        "expected_participations": 10.0,
        "strategy": np.array([0.8, 0.5, 0.3, 0.1]),
        "noise_multiplier": 2.0,
        "l2_clip_norm": 1.0,
        "rescale_to_unit_norm": True,
        "normalize_by": 1.0,
        "truncated_batch_size": None,
        "num_examples": None,
        "column_normalize": False,
    }
    return SimpleNamespace(**(fields | changed))


def banded(step, bands=4, iterations=1000):
    return step.banded(bands=bands, iterations=iterations)


def test_a_config_of_later_versions():
    step = hs.Gaussian(sigma=2.0)
    found = from_bandmf(config())
    assert found.run == banded(step.poisson(rate=0.04))
    assert found.stated == "add-or-remove"
    assert found.epsilon(1e-6) == (step.poisson(rate=0.04) * 250).epsilon(1e-6)
    public = from_bandmf(config(num_examples=4003))
    assert public.run == found.run
    assert public.epsilon(1e-6) == found.run.epsilon(1e-6, "zero-out")
    cut = from_bandmf(config(num_examples=4003, truncated_batch_size=60))
    assert cut.run == banded(step.truncated_poisson(rate=0.04, cap=60, examples=1000))
    assert cut.stated == "zero-out"
    assert from_bandmf(config(iterations=7, strategy=[1.0], expected_participations=7)).run == banded(
        step.poisson(rate=1.0), 1, 7
    )


def test_normalized_columns_count_as_they_are():
    """Their noise is scaled by the norm of the coefficients, and the columns by its inverse."""
    small = from_bandmf(config(strategy=[0.3, 0.4], column_normalize=True)).run.parts[0][0]
    assert 1.0 - 1e-15 < small.base.base.sigma <= 1.0  # 2 * 0.5
    assert from_bandmf(config(strategy=[0.3, 0.4])).run.parts[0][0].base.base.sigma == 2.0
    assert from_bandmf(config(strategy=[3.0, 4.0], column_normalize=True)).run.parts[0][0].base.base.sigma == 2.0


@pytest.mark.parametrize(
    ("changed", "error", "words"),
    [
        ({"noise_multiplier": None}, hs.BadValue, "Calibrate first"),
        ({"noise_multiplier": 0.0}, hs.BadValue, "noise_multiplier"),
        ({"noise_multiplier": math.nan}, hs.BadValue, "noise_multiplier"),
        ({"noise_multiplier": "2"}, hs.BadType, "noise_multiplier"),
        ({"iterations": 0}, hs.BadValue, "iterations"),
        ({"iterations": 3}, hs.BadValue, "expected_participations|bands"),
        ({"expected_participations": 251.0}, hs.BadValue, "expected_participations"),
        ({"expected_participations": -1.0}, hs.BadValue, "expected_participations"),
        ({"strategy": []}, hs.BadValue, "strategy"),
        ({"strategy": [0.0, 1.0]}, hs.BadValue, "strategy"),
        ({"strategy": [1.0, math.inf]}, hs.BadValue, "strategy"),
        ({"strategy": np.eye(3)}, hs.BadType, "strategy"),
        ({"strategy": "tree"}, hs.BadType, "strategy"),
        ({"truncated_batch_size": 60}, hs.Unsupported, "EQUAL_SPLIT"),
        ({"truncated_batch_size": 0, "num_examples": 4000}, hs.BadValue, "truncated_batch_size"),
        ({"truncated_batch_size": 60, "num_examples": 3}, hs.BadValue, "num_examples"),
    ],
)
def test_what_is_refused(changed, error, words):
    with pytest.raises(error, match=words):
        from_bandmf(config(**changed))


def test_what_is_no_config():
    for bad in (None, 7, SimpleNamespace(iterations=3), SimpleNamespace(iterations=3, strategy=[1.0], noise_multiplier=1.0)):
        with pytest.raises(hs.BadType, match="BandMFConfig"):
            from_bandmf(bad)


@pytest.mark.filterwarnings("ignore")
def test_the_configs_of_the_installed_version():
    """The release is what their plan's event says, for each relation."""
    dp = pytest.importorskip("dp_accounting")
    pytest.importorskip("jax_privacy")
    from jax_privacy.batch_selection import PartitionType
    from jax_privacy.experimental import execution_plan

    from hockeystick.interop.dp_accounting import from_dp_event

    relations = dp.NeighboringRelation
    coefficients = np.array([0.8, 0.5, 0.3])

    def made(relation, **changed):
        given = {"iterations": 100, "strategy": coefficients, "epsilon": None, "delta": None, "noise_multiplier": 2.0}
        given |= {"sampling_prob": 0.1, "accountant": dp.pld.PLDAccountant(relation)} | changed
        return execution_plan.BandMFExecutionPlanConfig(**given)

    apart = made(relations.ADD_OR_REMOVE_ONE, partition_type=PartitionType.INDEPENDENT)
    zero = made(relations.REPLACE_SPECIAL)
    cut = made(relations.REPLACE_SPECIAL, truncated_batch_size=50, num_examples=1000)
    for one, relation in ((apart, "add-or-remove"), (zero, "zero-out"), (cut, "zero-out")):
        found = from_bandmf(one)
        assert found.stated == relation
        assert found.epsilon(1e-6) == from_dp_event(one.plan.dp_event, relation).epsilon(1e-6)
    assert from_bandmf(cut).run == banded(
        hs.Gaussian(sigma=2.0).truncated_poisson(rate=0.1, cap=50, examples=333), bands=3, iterations=100
    )
    replaced = made(relations.REPLACE_ONE)
    assert replaced.plan.clipped_grad(lambda one: one).sensitivity(relations.REPLACE_ONE) == 2.0
    assert from_bandmf(replaced).run == banded(hs.Gaussian(sigma=4.0).poisson(rate=0.1), bands=3, iterations=100)
    fixed = SimpleNamespace(**{**vars(apart), "partition_type": PartitionType.EQUAL_SPLIT})
    with pytest.raises(hs.Unsupported, match="INDEPENDENT"):
        from_bandmf(fixed)
