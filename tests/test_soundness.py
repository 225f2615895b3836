"""A fixed sample of scripts/soundness.py, which tries 10,000 random inputs of each kind."""

import importlib.util
from pathlib import Path

import pytest

PATH = Path(__file__).parent.parent / "scripts" / "soundness.py"
SPEC = importlib.util.spec_from_file_location("soundness", PATH)
soundness = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(soundness)


@pytest.mark.parametrize(("kind", "count"), [("conversions", 400), ("compositions", 150), ("mechanisms", 60)])
def test_no_violation(kind, count):
    found = []
    for _, found in soundness.violations(kind, 0, count):  # noqa: B007
        pass
    assert found == []


def test_a_violation_would_be_seen():
    assert soundness.ordered("", [1.0, 2.0, 2.0 - 1e-9])
    assert soundness.ordered("", [float("nan"), 1.0])
    assert not soundness.ordered("", [1.0, 1.0, 2.0])
