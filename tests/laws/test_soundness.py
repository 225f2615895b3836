"""A fixed sample of scripts/soundness.py, of which `make campaign` tries 10,000."""

import pytest

import soundness


@pytest.mark.parametrize(("kind", "count"), [("conversions", 400), ("compositions", 150), ("mechanisms", 60), ("curves", 120)])
def test_no_violation(kind, count):
    assert [found for seed in range(count) for found in soundness.violations(kind, seed)] == []


def test_a_violation_would_be_seen():
    assert soundness.ordered("", [1.0, 2.0, 2.0 - 1e-9])
    assert soundness.ordered("", [float("nan"), 1.0])
    assert not soundness.ordered("", [1.0, 1.0, 2.0])
