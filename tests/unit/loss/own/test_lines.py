"""Doubles in order, the search among them, and what is seen of wrong functions."""

import math
from fractions import Fraction as F

import numpy as np
import pytest
import scipy.stats as st

import hockeystick as hs
from hockeystick.loss.own.lines import Distribution, Flipped, evaluated, last_where, ordered, unordered
from hockeystick.loss.own.polygon import ONE

INF = math.inf


def line(frozen, **other):
    parts = {"logpdf": frozen.logpdf, "cdf": frozen.cdf, "sf": frozen.sf, **other}
    low, high = frozen.support()
    return Distribution("p", support=(float(low), float(high)), accuracy=1e-12, **parts)


def test_doubles_in_order():
    x = np.array([-INF, -2.0, -5e-324, 0.0, 5e-324, 1.0, 1e300])
    assert (np.diff(ordered(x)) > 0).all()
    assert (unordered(ordered(x)) == x).all()
    found = last_where(lambda x: x <= np.array([-3.0, 0.1, 1e-320]), 3, -INF, INF)
    assert found.tolist() == [-3.0, 0.1, 1e-320]


def test_tails_contain_the_truth_and_flip():
    one = line(st.expon(scale=2.0))
    x = np.array([0.0, 0.5, 30.0])
    tails = one.tails(x)
    for place, at in enumerate(x.tolist()):
        truth = F(math.exp(-at / 2.0)) * ONE
        assert tails.above[0][place] <= truth <= tails.above[1][place] <= truth * (1 + F(3, 10**12)) + ONE // 10**290
        assert tails.below[0][place] <= ONE - tails.above[0][place]
    turned = Flipped(one).tails(-x[::-1])
    assert turned.below[0] == tails.above[0][::-1]
    assert turned.above[1] == tails.below[1][::-1]
    assert Flipped(one).support == (-INF, 0.0)


def test_functions_of_one_number_serve():
    assert evaluated("p", lambda x: math.exp(x), np.array([0.0, 1.0]), "the density").tolist() == [1.0, math.e]
    with pytest.raises(hs.BadType, match="fails"):
        evaluated("p", lambda x: "a", np.array([0.0]), "the density")
    with pytest.raises(hs.BadValue, match="nan at"):
        evaluated("p", lambda x: x * math.nan, np.array([0.0]), "the density")


def test_wrong_functions_are_seen():
    norm = st.norm()
    x = np.linspace(-9.0, 9.0, 200)
    line(norm).tails(x)
    with pytest.raises(hs.Unsupported, match="lost its digits"):
        line(norm, sf=lambda x: 1.0 - norm.cdf(x)).tails(x)
    with pytest.raises(hs.BadValue, match="do not fit"):
        line(norm, logpdf=st.norm(scale=3.0).logpdf).tails(x)
    with pytest.raises(hs.BadValue, match="add up"):
        line(norm, sf=st.norm(loc=1e-6).sf).tails(x)
    with pytest.raises(hs.BadValue, match=r"outside \[0, 1\]"):
        line(norm, cdf=lambda x: 2.0 * norm.cdf(x)).tails(x)
