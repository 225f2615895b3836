"""A record replaced in a sample: masses of cells, and answers, against high precision."""

import math

import numpy as np
import pytest
from mpmath import mp, mpf

import hockeystick as hs
from hockeystick.loss.sampled.gaussian_mixture import Mixture, MixtureLoss
from hockeystick.loss.sampled.replace_one import ReplaceOneLaplaceLoss
from hockeystick.loss.sampled.symmetrised import SymmetrisedLoss
from sampled_cases import GAUSSIAN, fold, replace_one


@pytest.mark.parametrize(
    "loss",
    [
        replace_one(1.3, 0.2),
        fold(1.3, 2, 10),
        MixtureLoss(Mixture((math.log(0.2), math.log(0.05)), (0.7, 1.4), math.log(0.75))),
        MixtureLoss(Mixture(), Mixture((math.log(0.2), math.log(0.05)), (0.7, 1.4), math.log(0.75))),
        ReplaceOneLaplaceLoss(0.8, 0.3),
    ],
    ids=lambda loss: type(loss).__name__,
)
def test_masses_of_cells(loss):
    """Edges are found by bisection in the noise; masses by distribution functions."""
    mp.dps = 30
    edges = np.array([-0.3, -0.11, -0.02, 0.0, 0.013, 0.2, 0.4])
    log_p, log_q, error = loss.masses(edges)
    error = np.broadcast_to(error, log_p.shape)

    def mixture(weights, cdf):
        return lambda y: mp.fsum(w * cdf(y - m) for w, m in weights)

    def laplace(y):
        return mp.exp(y) / 2 if y < 0 else 1 - mp.exp(-y) / 2

    mirrored = isinstance(loss, SymmetrisedLoss)
    if isinstance(loss, ReplaceOneLaplaceLoss):
        rate, a = mpf(loss.rate), mpf(loss.a)
        p, q = mixture([(1 - rate, 0), (rate, a)], laplace), mixture([(1 - rate, 0), (rate, -a)], laplace)

        def density(weights, y):
            return mp.fsum(w * mp.exp(-abs(y - m)) / 2 for w, m in weights)

        def ratio(y):
            return mp.log(density([(1 - rate, 0), (rate, a)], y) / density([(1 - rate, 0), (rate, -a)], y))
    elif isinstance(loss, SymmetrisedLoss):
        rate, m = mpf(loss.base.shape.rate), 1 / mpf(loss.base.shape.noise)
        p, q = mixture([(1 - rate, 0), (rate, m)], mp.ncdf), mp.ncdf

        def ratio(y):
            return mp.log(1 - rate + rate * mp.exp(m * y - m * m / 2))
    else:
        right = [(mp.exp(mpf(w)), mpf(m)) for w, m in zip(loss.right.log_weights, loss.right.moves, strict=True)]
        left = [(mp.exp(mpf(w)), -mpf(m)) for w, m in zip(loss.left.log_weights, loss.left.moves, strict=True)]
        right.append((1 - mp.fsum(w for w, _ in right), mpf(0)))
        left.append((1 - mp.fsum(w for w, _ in left), mpf(0)))
        p, q = mixture(right, mp.ncdf), mixture(left, mp.ncdf)

        def ratio(y):
            return mp.log(mp.fsum(w * mp.npdf(y - m) for w, m in right) / mp.fsum(w * mp.npdf(y - m) for w, m in left))

    def place(z):
        low, high = mpf(-30), mpf(30)
        for _ in range(110):
            middle_point = (low + high) / 2
            low, high = (middle_point, high) if ratio(middle_point) <= z else (low, middle_point)
        return low

    def below(z):
        """P and Q of Z <= z."""
        if not mirrored:
            y = place(mpf(float(z)))
            return p(y), q(y)
        y = place(abs(mpf(float(z))))
        return (p(y), q(y)) if z >= 0 else (1 - q(y), 1 - p(y))  # mirrored

    tops = [below(z) for z in edges]
    masses = [(b[0] - a[0], b[1] - a[1]) for a, b in zip([(mpf(0), mpf(0)), *tops], [*tops, (mpf(1), mpf(1))], strict=True)]
    for found_p, found_q, off, (true_p, true_q) in zip(log_p, log_q, error, masses, strict=True):
        for found, truth in ((found_p, true_p), (found_q, true_q)):
            if truth < mpf("1e-25"):
                assert found < -50.0
            else:  # the edges may have moved by the slip
                assert abs(mpf(float(found)) - mp.log(truth)) <= off + 1e-11


def true_one(p_tail, q_tail, place):
    """P(Z > eps) - e^eps Q(Z > eps) from tails in the noise."""
    return lambda epsilon: p_tail(place(epsilon)) - mp.exp(epsilon) * q_tail(place(epsilon))


@pytest.mark.parametrize(("sigma", "rate"), [(1.0, 0.2), (0.6, 0.05), (2.5, 0.7)])
def test_two_steps_of_poisson_under_replace(sigma, rate):
    """The worst data set contributes C and -C: its exact delta is met to 1e-9."""
    mp.dps = 20
    q, m = mpf(rate), 1 / mpf(sigma)
    run = hs.Gaussian(sigma=sigma).poisson(rate=rate)

    def ratio(y):
        e = mp.exp(-m * m / 2)
        return mp.log((1 - q + q * e * mp.exp(m * y)) / (1 - q + q * e * mp.exp(-m * y)))

    def place(z):
        low, high = mpf(-60), mpf(60)
        for _ in range(70):
            half = (low + high) / 2
            low, high = (half, high) if ratio(half) <= z else (low, half)
        return low

    def tail(sign):
        return lambda y: (1 - q) * mp.ncdf(-y) + q * mp.ncdf(sign * m - y)

    one = true_one(tail(1), tail(-1), place)
    for epsilon in (mpf("0.3"), mpf("-0.2")):
        single = one(epsilon)
        bounds = run.delta_bounds(float(epsilon), neighbours="replace")
        assert bounds.lower <= single * (1 + mpf("1e-13"))
        assert single <= bounds.upper * (1 + mpf("1e-13"))
        assert bounds.tight
        assert bounds.width < 1e-9
    # two steps: a sum over small squares
    step = 1.0 / 800.0
    y = np.arange(-9.0, 9.0 + 1.0 / sigma, step) + 0.5 * step
    normal = np.exp(-0.5 * y * y)
    forth, back = (rate * np.exp(-0.5 * (y - sign / sigma) ** 2) + (1.0 - rate) * normal for sign in (1.0, -1.0))
    forth, back = forth * (step / math.sqrt(2.0 * math.pi)), back * (step / math.sqrt(2.0 * math.pi))
    truth = sum(float(np.maximum(p * forth - math.exp(0.4) * q * back, 0.0).sum()) for p, q in zip(forth, back, strict=True))
    bounds = (run * 2).delta_bounds(0.4, neighbours="replace")
    assert bounds.lower - 5e-9 <= truth <= bounds.upper + 5e-9
    assert bounds.width < 1e-6 * bounds.upper


def test_poisson_under_replace_to_all_digits():
    step = GAUSSIAN.poisson(rate=0.01)
    for count, delta, epsilon in ((10**4, 1e-6, "4.90739819"), (10**4, 1e-5, "4.39603066"), (10**5, 1e-6, "19.5138705")):
        bounds = (step * count).epsilon_bounds(delta, neighbours="replace")
        digits = len(epsilon.partition(".")[2])
        assert f"{bounds.lower:.{digits}f}" == epsilon == f"{bounds.upper:.{digits}f}"
        assert bounds.tight
