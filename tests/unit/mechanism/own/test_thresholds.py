"""Best tests of densities, and their decomposition as functions."""

import math

import numpy as np
import pytest
import scipy.stats as st

import hockeystick as hs
from hockeystick.loss.own import cells

LOGISTIC = st.logistic(1.0), st.logistic(0.0)


@pytest.fixture(autouse=True)
def coarse(monkeypatch):
    monkeypatch.setattr(cells, "TUNING", cells.Tuning(cells=300))


def test_the_best_test_is_a_threshold():
    up = hs.Pair(*LOGISTIC, ratio="increasing")
    down = hs.Pair(st.logistic(-1.0), st.logistic(0.0), ratio="decreasing")
    for fpr in (1e-12, 0.05, 0.9):
        for pair, sign in ((up, 1.0), (down, -1.0)):
            test = pair.best_test(fpr)
            place = sign * test.threshold
            assert test.fpr.lower <= LOGISTIC[1].sf(place) <= test.fpr.upper <= fpr * (1 + 1e-15)
            assert test.tpr.lower <= LOGISTIC[0].sf(place) <= test.tpr.upper
            assert test.fpr.lower > fpr * (1 - 1e-9)
            assert test.says(test.threshold + sign)
            assert not test.says(test.threshold - sign)
    assert up.best_test(0.0).tpr.upper == 0.0
    assert up.best_test(1.0).tpr.lower == 1.0
    for wrong in ({}, {"fpr": 2.0}, {"fpr": 0.1, "like": {}}):
        with pytest.raises(hs.BadValue):
            up.best_test(**wrong)


def test_the_decomposition_gives_the_densities_back():
    pair = hs.Pair(st.expon(scale=2.0), st.expon(), ratio="increasing")
    parts = pair.decomposition(delta=0.05)
    x = np.linspace(0.0, 120.0, 60_001)
    for whole, common, rest in ((pair.p, parts.p_common, parts.p_rest), (pair.q, parts.q_common, parts.q_rest)):
        inner, outer = (np.array([one(float(place)) for place in x[::50]]) for one in (common, rest))
        assert np.allclose(0.95 * inner + 0.05 * outer, whole.pdf(x[::50]), atol=1e-12)
    common = np.array([[one(float(place)) for place in x[::60]] for one in (parts.p_common, parts.q_common)])
    kept = (common > 1e-280).all(axis=0)
    assert np.log(common[0][kept] / common[1][kept]).max() <= math.log(parts.level.upper) + 1e-3
    assert np.trapezoid(common[0], x[::60]) == pytest.approx(1.0, abs=2e-3)
    assert pair.decomposition(delta=0.05, level=parts.level.upper).level == parts.level
    for wrong in ({}, {"delta": 0.0}, {"delta": 0.05, "level": 1.0}, {"delta": 0.05, "level": 2.0, "epsilon": 1.0}):
        with pytest.raises(hs.BadValue):
            pair.decomposition(**wrong)
