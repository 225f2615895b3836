"""Each row of the migration tables: the same call in both libraries, side by side (skipped where the peer is not installed).

A row says how their answer lies to ours: "same" (to 1e-6 or a tolerance), "above" (a bound that is looser), "around" (an interval
that holds the truth).
"""

import math
import warnings
from collections.abc import Callable
from typing import NamedTuple

import pytest

import hockeystick as hs

pytestmark = pytest.mark.filterwarnings("ignore")

DELTA = 1e-5
SGD = hs.Gaussian(sigma=1.1).poisson(rate=0.01) * 200


class Row(NamedTuple):
    name: str
    theirs: Callable
    ours: Callable
    relation: str = "same"
    tolerance: float = 1e-6


def check(row):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs, ours = row.theirs(), row.ours()
    if row.relation == "same":
        assert float(theirs) == pytest.approx(ours, rel=row.tolerance)
    elif row.relation == "above":
        assert ours <= theirs <= (1.0 + row.tolerance) * ours
    else:
        low, estimate, high = theirs
        assert low <= ours.lower <= ours.upper <= high
        assert low <= estimate <= high
        assert high - low < row.tolerance


# prv_accountant


def prv_rows():
    prv = pytest.importorskip("prv_accountant")
    from prv_accountant.dpsgd import DPSGDAccountant

    def accountant(variables, counts):
        return prv.PRVAccountant(prvs=variables, max_self_compositions=counts, eps_error=0.01, delta_error=DELTA / 1000)

    def epsilon(variable, count):
        return lambda: accountant([variable], [count]).compute_epsilon(DELTA, [count])

    sampled = prv.PoissonSubsampledGaussianMechanism(noise_multiplier=1.1, sampling_probability=0.01)
    gaussian, laplace = prv.GaussianMechanism(noise_multiplier=20.0), prv.LaplaceMechanism(mu=0.05)
    approximate = prv.ApproximateDPMechanism(epsilon=0.1, delta=1e-7)
    two = hs.Gaussian(sigma=20.0) * 100 + hs.Laplace(scale=20.0) * 100
    trained = DPSGDAccountant(
        noise_multiplier=1.1, sampling_probability=0.01, max_steps=200, eps_error=0.01, delta_error=DELTA / 1000
    )
    return [
        Row("sampled Gaussian", epsilon(sampled, 200), lambda: SGD.epsilon_bounds(DELTA), "around", 0.03),
        Row("Gaussian", epsilon(gaussian, 100), lambda: (hs.Gaussian(sigma=20.0) * 100).epsilon_bounds(DELTA), "around", 0.03),
        Row("Laplace", epsilon(laplace, 100), lambda: (hs.Laplace(scale=20.0) * 100).epsilon_bounds(DELTA), "around", 0.03),
        Row(
            "pure DP",
            epsilon(prv.PureDPMechanism(eps=0.1), 100),
            lambda: (hs.PureDP(epsilon=0.1) * 100).epsilon_bounds(DELTA),
            "around",
            0.03,
        ),
        Row(
            "approximate DP",
            epsilon(approximate, 20),
            lambda: (hs.ApproxDP(epsilon=0.1, delta=1e-7) * 20).epsilon_bounds(DELTA),
            "around",
            0.03,
        ),
        Row(
            "both",
            lambda: accountant([gaussian, laplace], [100, 100]).compute_epsilon(DELTA, [100, 100]),
            lambda: two.epsilon_bounds(DELTA),
            "around",
            0.03,
        ),
        Row(
            "delta", lambda: accountant([sampled], [200]).compute_delta(0.5, [200]), lambda: SGD.delta_bounds(0.5), "around", 1e-4
        ),
        Row(
            "DP-SGD",
            lambda: trained.compute_epsilon(DELTA, 200),
            lambda: hs.dpsgd(sigma=1.1, rate=0.01, steps=200, sampler="poisson").epsilon_bounds(DELTA),
            "around",
            0.03,
        ),
    ]


# autodp


def autodp_rows():
    zoo = pytest.importorskip("autodp.mechanism_zoo")
    from autodp.transformer_zoo import AmplificationBySampling, Composition

    def composed(mechanism, count):
        return Composition()([mechanism], [count])

    gaussian, laplace, p = zoo.GaussianMechanism(sigma=2.0), zoo.LaplaceMechanism(b=2.0), 0.7
    response = hs.RandomizedResponse(epsilon=math.log(p / (1 - p)), categories=2)
    step = AmplificationBySampling(PoissonSampling=True)(zoo.GaussianMechanism(sigma=1.1), 0.01, improved_bound_flag=True)
    return [
        Row("Gaussian", lambda: gaussian.get_approxDP(DELTA), lambda: hs.Gaussian(sigma=2.0).epsilon(DELTA)),
        Row(
            "exact Gaussian",
            lambda: zoo.ExactGaussianMechanism(sigma=2.0).get_approxDP(DELTA),
            lambda: hs.Gaussian(sigma=2.0).epsilon(DELTA),
        ),
        Row("Laplace", lambda: laplace.get_approxDP(DELTA), lambda: hs.Laplace(scale=2.0).epsilon(DELTA)),
        Row(
            "response",
            lambda: composed(zoo.RandresponseMechanism(p=p), 100).get_approxDP(DELTA),
            lambda: (response * 100).epsilon(DELTA),
            "above",
            0.05,
        ),
        Row(
            "pure DP",
            lambda: composed(zoo.PureDP_Mechanism(eps=0.1), 100).get_approxDP(DELTA),
            lambda: (hs.PureDP(epsilon=0.1) * 100).epsilon(DELTA),
            "above",
            0.1,
        ),
        Row(
            "zCDP", lambda: zoo.zCDP_Mechanism(rho=0.1).get_approxDP(DELTA), lambda: hs.ZCDP(rho=0.1).epsilon(DELTA), "above", 0.1
        ),
        Row("sampled", lambda: composed(step, 200).get_approxDP(DELTA), lambda: SGD.epsilon(DELTA), "above", 0.6),
        Row(
            "DP-SGD",
            lambda: zoo.NoisySGD_Mechanism(prob=0.01, sigma=1.1, niter=200).get_approxDP(DELTA),
            lambda: hs.dpsgd(sigma=1.1, rate=0.01, steps=200, sampler="poisson").epsilon(DELTA),
            "above",
            0.6,
        ),
        Row("Rényi, Gaussian", lambda: gaussian.get_RDP(8), lambda: hs.Gaussian(sigma=2.0).rdp(8)),
        Row("Rényi, Laplace", lambda: laplace.get_RDP(8), lambda: hs.Laplace(scale=2.0).rdp(8)),
        Row("Rényi, sampled", lambda: step.get_RDP(8), lambda: SGD.rdp(8) / 200),
        Row("trade-off", lambda: gaussian.get_fDP(0.1), lambda: hs.Gaussian(sigma=2.0).tradeoff(0.1)),
    ]


# riskcal


def riskcal_rows():
    pytest.importorskip("riskcal")
    from riskcal import analysis
    from riskcal.accountants import CTDAccountant
    from riskcal.calibration.dpsgd import find_noise_multiplier_for_err_rates

    accountant = CTDAccountant()
    for _ in range(200):
        accountant.step(noise_multiplier=1.1, sample_rate=0.01)
    run = hs.dpsgd(sigma=1.1, rate=0.01, steps=200, sampler="poisson")
    return [
        Row("epsilon", lambda: accountant.get_epsilon(delta=DELTA), lambda: run.epsilon(DELTA), "above", 1e-4),
        Row("advantage", lambda: accountant.get_advantage(), lambda: run.advantage(), "above", 1e-4),
        Row("beta", lambda: accountant.get_beta(alpha=0.1), lambda: run.tradeoff(0.1), "same", 1e-3),
        Row(
            "Bayes risk",
            lambda: analysis.get_bayes_risk_from_pld(accountant.get_pld(), 0.4),
            lambda: run.bayes_risk(0.4),
            "same",
            1e-4,
        ),
        Row("beta of GDP", lambda: analysis.get_beta_from_gdp(1.0, 0.1), lambda: hs.GDP(mu=1.0).tradeoff(0.1)),
        Row("advantage of GDP", lambda: analysis.get_advantage_from_gdp(1.0), lambda: hs.GDP(mu=1.0).advantage()),
        Row(
            "beta of a claim",
            lambda: analysis.get_beta_from_adp(1.0, DELTA, 0.1),
            lambda: hs.ApproxDP(epsilon=1.0, delta=DELTA).tradeoff(0.1),
        ),
        Row(
            "error rates",
            lambda: find_noise_multiplier_for_err_rates(
                alpha=0.1, beta=0.8, sample_rate=0.1, num_steps=10, grid_step=1e-2, noise_max=8.0
            ),
            lambda: hs.calibrate(lambda s: hs.Gaussian(sigma=s).poisson(rate=0.1) * 10, fpr=0.1, tpr=0.2),
            "same",
            0.02,
        ),
    ]


@pytest.mark.parametrize("rows", [prv_rows, autodp_rows, riskcal_rows], ids=["prv_accountant", "autodp", "riskcal"])
def test_the_rows(rows):
    for row in rows():
        check(row)
