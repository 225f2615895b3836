"""Reference values of composition, sampling and groups (Steinke 2022): data/golden_s.json."""

import json
from types import SimpleNamespace

import pytest
from mpmath import mp

from hockeystick import conversion
from places import DATA

ROWS = json.loads((DATA / "golden_s.json").read_text())["values"]
CLOSE = 1e-12  # what rounding the decimal inputs may change


@pytest.fixture(autouse=True)
def _digits():
    with mp.workdps(80):
        yield


def number(given):
    return [number(one) for one in given] if isinstance(given, list) else given if "optimal" in given else float(given)


@pytest.mark.parametrize("row", ROWS, ids=[row["id"] for row in ROWS])
def test_the_reference_value_is_met(row):
    inputs = {name: number(given) for name, given in row["inputs"].items()}
    scope = {"hs": SimpleNamespace(conversion=conversion), "__builtins__": {"int": int}, **inputs}
    assert eval(row["call"], scope) == pytest.approx(float(row["value"]), rel=CLOSE, abs=0.0)
