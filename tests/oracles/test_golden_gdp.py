"""Reference values of the partial order and of Gaussian DP (GDPT): data/golden_g.json."""

import json
import math

import pytest
from mpmath import mp

import hockeystick as hs
from gdp_cases import number, sgd
from places import DATA

ROWS = json.loads((DATA / "golden_g.json").read_text())["values"]
CLOSE = 1e-12  # what rounding the decimal inputs may change


@pytest.fixture(autouse=True)
def _digits():
    with mp.workdps(80):
        yield


@pytest.mark.parametrize("row", ROWS, ids=[row["id"] for row in ROWS])
def test_the_reference_value_is_met(row):
    inputs = {name: number(text) for name, text in row["inputs"].items()}
    found = eval(row["call"], {"hs": hs, "math": math, "sgd": sgd, **inputs})
    assert found == pytest.approx(float(row["value"]), rel=CLOSE, abs=0.0)
