"""Reference values of Asoodeh et al. (ISIT 2020): data/golden_a.json."""

import json
import math
from fractions import Fraction

import mpmath as mp
import pytest

import hockeystick.conversion as conversion
from places import DATA
from renyi_cases import CLOSE

ROWS = json.loads((DATA / "golden_a.json").read_text(encoding="utf-8"))["values"]


@pytest.fixture(autouse=True)
def _digits():
    with mp.workdps(60):
        yield


class _Package:
    conversion = conversion


def asked(call, inputs):
    return eval(call, {"hs": _Package, "math": math}, dict(inputs))


def numbers(row):
    return {k: [float(x) for x in v] if isinstance(v, list) else float(v) for k, v in row["inputs"].items()}


def blur(row):
    """By how much the answer may move since decimal inputs, and arithmetic on them in the call, are rounded."""
    inputs = numbers(row)
    centre, moved = asked(row["call"], inputs), 0.0
    arithmetic = any(sign in row["call"] for sign in ("*", "/"))
    for name, value in inputs.items():
        if isinstance(value, list) or name not in row["call"]:
            continue
        if arithmetic or Fraction(row["inputs"][name]) != Fraction(value):
            for towards in (-math.inf, math.inf):
                moved += abs(asked(row["call"], {**inputs, name: math.nextafter(value, towards)}) - centre)
    return moved + (4.0 * 2.0**-53 * abs(centre) if arithmetic or "eps_list" in inputs else 0.0)


@pytest.mark.parametrize("row", ROWS, ids=[row["id"] for row in ROWS])
def test_reference_value(row):
    truth, found = float(row["value"]), asked(row["call"], numbers(row))
    if row["kind"] == "integer":
        assert found == int(row["value"])
        return
    allowed = blur(row)
    assert abs(found - truth) <= CLOSE * abs(truth) + allowed
    if "asymptotic" in row["call"]:
        return
    slip = allowed + 2.0**-52 * abs(truth)  # the reference is rounded to a double as well
    assert found <= truth + slip if "budget" in row["call"] else found >= truth - slip
