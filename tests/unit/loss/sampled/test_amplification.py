"""What Poisson sampling does to a pair: closed forms and masses, against the definitions in many digits."""

import itertools
import math

import numpy as np
import pytest
from mpmath import mp, mpf

from hockeystick.loss.pairs.discrete import ResponseLoss
from hockeystick.loss.pairs.gaussian import gaussian_log_delta
from hockeystick.loss.pairs.laplace import LaplaceLoss
from hockeystick.loss.protocol import ZERO_DELTA
from hockeystick.loss.sampled.amplification import sampled_closed, sampled_masses

RATES = [1e-6, 0.03, 0.5, 0.97]
EPSILONS = [-3.0, -0.2, -1e-6, 0.0, 1e-6, 0.02, 0.4, 2.0, 9.0]
MU = 1.7


@pytest.fixture(autouse=True)
def _digits():
    with mp.workdps(60):
        yield


def tail(x) -> mpf:
    return mp.ncdf(-x)


def gaussian_delta(rate: float, removal: bool, epsilon: float) -> mpf:
    """P(Z > eps) - e^eps Q(Z > eps), the event an interval of the noise y."""
    q, m, e = mpf(rate), mpf(MU), mp.exp(mpf(epsilon))
    mixed = lambda y: (1 - q) * tail(y) + q * tail(y - m)  # noqa: E731
    if removal:  # the mixture against N(0): log(1 - q + q e^{my - m^2/2}) > eps
        inside = (e - 1 + q) / q
        if inside <= 0:
            return 1 - e
        y = mp.log(inside) / m + m / 2
        return mixed(y) - e * tail(y)
    inside = (1 / e - 1 + q) / q  # N(0) against the mixture: y below
    if inside <= 0:
        return mpf(0)
    y = mp.log(inside) / m + m / 2
    return (1 - tail(y)) - e * (1 - mixed(y))


@pytest.mark.parametrize("rate", RATES)
@pytest.mark.parametrize("removal", [True, False])
@pytest.mark.parametrize("epsilon", EPSILONS)
def test_one_sampled_step_of_gaussian_noise(rate, removal, epsilon):
    found = sampled_closed(lambda inner: gaussian_log_delta(MU, inner), rate, removal, epsilon)
    truth = gaussian_delta(rate, removal, epsilon)
    if found == ZERO_DELTA:
        assert truth == 0
    elif found is not None:
        assert mp.exp(mpf(found.low)) <= truth <= mp.exp(mpf(found.high))
        assert found.high - found.low < 1e-9 + 1e-19 * abs(found.slope)  # the slope is steep next to the largest loss
    else:
        assert abs(mp.exp(mpf(epsilon)) - (1 - mpf(rate) if removal else 1 / (1 - mpf(rate)))) < mpf(1e-5)


@pytest.mark.parametrize("rate", RATES)
@pytest.mark.parametrize("removal", [True, False])
def test_the_slope_is_that_of_log_delta(rate, removal):
    for epsilon in (-0.2, 0.01, 0.3):
        ends = [sampled_closed(lambda inner: gaussian_log_delta(MU, inner), rate, removal, epsilon + h) for h in (-1e-5, 0, 1e-5)]
        if None in ends or ZERO_DELTA in ends:
            continue
        assert ends[1].slope == pytest.approx((ends[2].value - ends[0].value) / 2e-5, rel=1e-3)


def test_the_worst_pair_of_a_claim():
    """By hand: P = (e/(1+e), 1/(1+e)) for eps_0 = 1, q = 1/2; the mixture is 1/2 for both, and
    delta(0) = 1/2 - 1/(1+e) where a record is removed or added."""
    base, truth = ResponseLoss(1.0).closed, mpf(1) / 2 - 1 / (1 + mp.e)
    for removal in (True, False):
        found = sampled_closed(base, 0.5, removal, 0.0)
        assert mp.exp(mpf(found.low)) <= truth <= mp.exp(mpf(found.high))
    # the largest loss: log((1 + e)/2) of a removal, log(2 e/(1 + e)), which is less, of an addition
    top = float(mp.log((1 + mp.e) / 2))
    assert sampled_closed(base, 0.5, True, top + 1e-9) == ZERO_DELTA
    assert sampled_closed(base, 0.5, False, top + 1e-9) == ZERO_DELTA
    assert sampled_closed(base, 0.5, True, top - 1e-3).value > -20.0


@pytest.mark.parametrize("rate", RATES)
@pytest.mark.parametrize("removal", [True, False])
def test_masses_of_sampled_laplace_noise(rate, removal):
    """Between edges, P and Q from the distribution functions of the noise."""
    a, q = mpf(0.8), mpf(rate)
    base = LaplaceLoss(0.8)
    sign = 1 if removal else -1
    top = mp.log(1 - q + q * mp.exp(a)) if removal else -mp.log(1 - q + q * mp.exp(-a))
    bottom = mp.log(1 - q + q * mp.exp(-a)) if removal else -mp.log(1 - q + q * mp.exp(a))
    edges = np.array([float(bottom + share * (top - bottom)) for share in (0.011, 0.13, 0.37, 0.61, 0.93)])
    log_p, log_q, error = sampled_masses(base, rate, removal, edges)

    def below(y) -> mpf:
        return mp.exp(y) / 2 if y < 0 else 1 - mp.exp(-y) / 2

    def up_to(edge) -> tuple[mpf, mpf]:
        """P and Q of losses up to the edge: z = 2y - a of the noise, moved by a where the record is in."""
        inner = mp.log((mp.exp(sign * mpf(edge)) - 1 + q) / q)  # the plain loss
        y = (inner + a) / 2
        plain, mixed = below(y), (1 - q) * below(y) + q * below(y - a)
        return (mixed, plain) if removal else (1 - plain, 1 - mixed)

    sums = [(mpf(0), mpf(0)), *(up_to(float(edge)) for edge in edges), (mpf(1), mpf(1))]
    for place, (one, two) in enumerate(itertools.pairwise(sums)):
        off = mpf(float(np.broadcast_to(error, log_p.shape)[place])) + mpf(1e-9)  # the edges may have slipped
        assert abs(mpf(float(log_p[place])) - mp.log(two[0] - one[0])) <= off
        assert abs(mpf(float(log_q[place])) - mp.log(two[1] - one[1])) <= off


@pytest.mark.parametrize("removal", [True, False])
def test_mass_that_the_other_output_lacks_goes_to_the_floor(removal):
    """An (eps, 1/10)-claim: what only one output has lies at log(1 - q), or at -log(1 - q)."""
    rate, lone = 0.3, 0.1
    base = ResponseLoss(0.4, 2, lone)
    floor = math.log1p(-rate) if removal else -math.log1p(-rate)
    edges = np.array([floor - 1e-3, floor + 1e-3])
    log_p, log_q, _ = sampled_masses(base, rate, removal, edges, lone)
    plain, mixed = (log_q, log_p) if removal else (log_p, log_q)
    assert plain[1] == pytest.approx(math.log(lone), abs=1e-12)
    assert mixed[1] == pytest.approx(math.log(lone * (1.0 - rate)), abs=1e-12)
    assert math.fsum(np.exp(plain).tolist()) == pytest.approx(1.0, abs=1e-12)
