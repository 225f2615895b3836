"""Tails of log-concave densities from their values: they contain the truth, closely; what is not so is refused."""

import math
from fractions import Fraction as F

import numpy as np
import pytest
import scipy.stats as st

import hockeystick as hs
from hockeystick.loss.own.log_concave import LogConcave
from hockeystick.loss.own.polygon import ONE

INF = math.inf


@pytest.mark.parametrize(
    ("frozen", "support"),
    [
        (st.norm(3.0, 0.1), (-INF, INF)),
        (st.laplace(-2.0, 5.0), (-INF, INF)),
        (st.expon(scale=3.0), (0.0, INF)),
        (st.beta(2.0, 3.0), (0.0, 1.0)),
        (st.truncnorm(-0.5, 2.0), (-0.5, 2.0)),
        (st.norm(3e4, 1.0), (-INF, INF)),
    ],
    ids=["norm", "laplace", "expon", "beta", "truncnorm", "far"],
)
def test_tails_contain_the_truth(frozen, support):
    line = LogConcave("p", frozen.logpdf, support, 1e-12)
    deep = [1e-30, 1e-9] if support[0] == -INF else []
    x = frozen.ppf([*deep, 0.01, 0.3, 0.5, 0.9, 0.999])
    tails = line.tails(x)
    for place, at in enumerate(x.tolist()):
        for (low, high), truth in ((tails.below, frozen.cdf(at)), (tails.above, frozen.sf(at))):
            ends = float(F(low[place], ONE)), float(F(high[place], ONE))
            assert ends[0] * (1 - 1e-12) <= truth <= ends[1] * (1 + 1e-12)
            assert ends[1] - ends[0] <= 2e-6 * truth + 1e-300
    below, above = line.guides(x)
    assert np.allclose(np.exp(above), frozen.sf(x), rtol=0.1)
    assert np.allclose(np.exp(below[-3:]), frozen.cdf(x[-3:]), rtol=0.1)


def test_what_is_not_so_is_refused():
    x = np.array([0.0, 1.0])
    with pytest.raises(hs.Unsupported, match="not logarithmically concave"):
        LogConcave("p", st.t(3).logpdf, (-50.0, 50.0), 1e-12).tails(x)
    with pytest.raises(hs.BadValue, match="integrates to between"):
        LogConcave("p", lambda x: st.norm.logpdf(x) + 0.001, (-INF, INF), 1e-12).tails(x)
    with pytest.raises(hs.Unsupported, match="no point is found"):
        LogConcave("p", lambda x: np.full(np.shape(x), -INF), (0.0, 1.0), 1e-12).tails(x)
