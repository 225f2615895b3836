"""From two densities to two finite pairs: closer with more cells, and in order."""

import math
from fractions import Fraction as F

import pytest
import scipy.stats as st

import hockeystick as hs
from hockeystick.loss.own import cells
from hockeystick.loss.own.cells import Range, bracketed
from hockeystick.loss.own.lines import Distribution

INF = math.inf


def line(name, frozen):
    return Distribution(name, frozen.logpdf, frozen.cdf, frozen.sf, tuple(map(float, frozen.support())), 1e-12)


def pair(p, q, stated=(-INF, INF)):
    return bracketed(line("p", p), line("q", q), Range(*stated))


def gap(loss, level):
    return loss.upper.hockey_stick(level) - loss.lower.hockey_stick(level)


def test_four_times_the_cells_are_sixteen_times_closer(monkeypatch):
    found = []
    for count in (100, 400):
        monkeypatch.setattr(cells, "TUNING", cells.Tuning(cells=count))
        loss = pair(st.logistic(1.0), st.logistic(0.0))
        found.append(max(gap(loss, F(k, 10)) for k in (5, 9, 10, 13, 20)))
        assert all(gap(loss, F(k, 16)) >= 0 for k in range(1, 60))
    assert found[1] < found[0] / 8


def test_ends_of_the_losses(monkeypatch):
    monkeypatch.setattr(cells, "TUNING", cells.Tuning(cells=200))
    free, stated = pair(st.logistic(1.0), st.logistic(0.0)), pair(st.logistic(1.0), st.logistic(0.0), (-1.0, 1.0))
    assert 0 < free.upper.infinite_mass < F(1, 10**15)
    assert free.ceiling == INF
    assert stated.ceiling == pytest.approx(1.0, abs=1e-9)
    assert stated.upper.infinite_mass == 0 == stated.upper.infinite_mass_under_q
    cut = pair(st.truncexpon(b=2.0), st.truncexpon(b=4.0, scale=0.5))  # both on [0, 2], above 0 at both ends
    assert cut.upper.infinite_mass == 0
    with pytest.raises(hs.BadValue, match="no loss is outside of"):
        pair(st.logistic(1.0), st.logistic(0.0), (-1.0, 0.9))
    with pytest.raises(hs.Unsupported, match="share no outcome"):
        pair(st.uniform(2.0, 1.0), st.uniform(0.0, 1.0))
