"""What a type checker knows of the public names: floats for numbers, arrays for arrays.  Checked by mypy, never run."""

from typing import Any, assert_type

import numpy as np
from numpy.typing import NDArray

import hockeystick as hs
from hockeystick import conversion
from hockeystick.mechanism.questions.gaussian_dp import GaussianDP
from hockeystick.report.report import Report

Array = NDArray[np.float64]


def examples() -> None:
    one: float = 1e-5
    several: list[float] = [1e-6, 1e-5]
    array: Array = np.array(several)
    run = hs.Gaussian(sigma=1.1).poisson(rate=0.01) * 1000

    # questions of a release
    assert_type(run.epsilon(one), float)
    assert_type(run.epsilon(0), float)
    assert_type(run.epsilon(delta=array), Array)
    assert_type(run.epsilon(delta=several, neighbours="replace"), Array)
    assert_type(run.epsilon_bounds(one), hs.Bounds[float])
    assert_type(run.epsilon_bounds(array), hs.Bounds[Array])
    assert_type(run.epsilon_bounds(one).upper, float)
    assert_type(run.epsilon_bounds(array).width, Array)
    assert_type(run.delta(one), float)
    assert_type(run.delta(array), Array)
    assert_type(run.delta_bounds(one).lower, float)
    assert_type(run.log_delta_bounds(array).lower, Array)
    assert_type(run.profile(several), Array)
    assert_type(run.advantage(), float)
    assert_type(run.rdp(2.5), float)
    assert_type(run.rdp(array), Array)
    assert_type(run.mu(), float)
    assert_type(run.mu(one), float)
    assert_type(run.mu(delta=array), Array)
    assert_type(run.mu_bounds(one), hs.Bounds[float])
    assert_type(run.gdp(one), GaussianDP)
    assert_type(run.gdp(one).mu.upper, float)
    assert_type(run.regret(one), float)
    assert_type(run.gdp_transform(several), Array)
    assert_type(run.tradeoff(one), float)
    assert_type(run.tradeoff_bounds(array), hs.Bounds[Array])
    assert_type(run.tpr(one), float)
    assert_type(run.tpr(fpr=array), Array)
    assert_type(run.bayes_risk(prior=0.5), float)
    assert_type(run.bayes_risk(prior=several), Array)
    assert_type(run.posterior(prior=0.5, fpr=one), float)
    assert_type(run.posterior(prior=0.5, fpr=array), Array)
    assert_type(run.report(one), Report)
    lower, _ = run.epsilon_bounds(one)
    assert_type(lower, float)

    # releases
    assert_type(hs.Gaussian(sigma=1.0).poisson(rate=0.1), hs.Poisson)
    assert_type(hs.Gaussian(sigma=1.0).without_replacement(batch=1, examples=10), hs.WithoutReplacement)
    assert_type(hs.Gaussian(sigma=1.0).full_pass(by="id"), hs.FullPass)
    run.epsilon(one, neighbours="nearby")  # type: ignore[call-overload]
    run.epsilon("1e-5")  # type: ignore[arg-type]
    hs.PureDP(epsilon=1.0, neighbours="swap")  # type: ignore[arg-type]
    hs.Gaussian(sigma=1.0).full_pass(by="chance")  # type: ignore[arg-type]

    # planning
    assert_type(hs.calibrate(lambda sigma: hs.Gaussian(sigma=sigma), epsilon=1.0, delta=one), float)
    assert_type(hs.rounds(run, epsilon=1.0, delta=one), int)
    assert_type(hs.RDPAccountant().compose(run).epsilon(one), float)
    assert_type(hs.RDPAccountant().compose(run).epsilon(array), Array)
    assert_type(hs.sweep(lambda sigma: hs.Gaussian(sigma=sigma), {"sigma": [1.0]}, epsilon_at_delta=1e-6), dict[str, list[Any]])

    # formulas
    assert_type(conversion.zcdp_to_epsilon(rho=0.5, delta=one), float)
    assert_type(conversion.zcdp_to_epsilon(0.5, array), Array)
    assert_type(conversion.rdp_to_epsilon(2.0, 0.5, one), float)
    assert_type(conversion.rdp_to_epsilon(2.0, 0.5, array), Array)
    assert_type(conversion.group_approx(1.0, one, 3), tuple[float, float])
    assert_type(conversion.group_approx(1.0, array, 3), tuple[Array, Array])
    assert_type(conversion.rdp_curve_to_epsilon(lambda order: order / 2, one), tuple[float, float])
    assert_type(conversion.rdp_curve_to_epsilon(lambda order: order / 2, array), tuple[Array, Array])
    assert_type(conversion.amplify_rdp(2.0, 0.1, lambda order: order / 2), float)
    assert_type(conversion.amplify_rdp(array, 0.1, lambda order: order / 2), Array)
    assert_type(conversion.refined_profile(lambda epsilon: 0.5)(1.0), float)
    assert_type(conversion.refined_profile(lambda epsilon: 0.5)(array), Array)
    assert_type(conversion.implies(1.0, 0.1, 0.4, 0.4), bool)
    assert_type(conversion.optimal_composition_delta([(0.1, 0.0)], 0.05), float)
    assert_type(conversion.optimal_composition_delta([(0.1, 0.0)], several), Array)
