"""The tail of the profile: its bound, and from where on it is below that of Gaussian noise."""

import pytest

import hockeystick as hs
from hockeystick.conversion._kernels.normals import stick
from hockeystick.loss.answers.gdp_tail import tails

RUNS = {
    "sampled": hs.Gaussian(sigma=2.0).poisson(rate=0.2) * 3 + hs.Laplace(scale=4.0),
    "mixed": hs.Gaussian(sigma=2.0) + hs.PureDP(epsilon=0.5) * 2,
    "discrete": hs.DiscreteGaussian(sigma=3.0) * 4,
    "zcdp": hs.ZCDP(rho=0.2),
    "sampled discrete": hs.DiscreteGaussian(sigma=3.0).poisson(rate=0.3) * 2,
}


@pytest.mark.parametrize("name", RUNS)
def test_the_bound_of_the_tail_holds(name):
    run = RUNS[name]._run("add-or-remove")
    found = tails(run if run.exact else run.variants("dominating")[0])
    for epsilon in (0.5, 3.0, 8.0, 30.0):
        lower = RUNS[name].log_delta_bounds(epsilon).lower
        assert max(tail.log_bound(epsilon) for tail in found) >= lower


@pytest.mark.parametrize("name", RUNS)
def test_beyond_the_proof_delta_is_below(name):
    run = RUNS[name]._run("add-or-remove")
    for tail in tails(run if run.exact else run.variants("dominating")[0]):
        for mu in (tail.limit * 1.001, tail.limit * 1.1, tail.limit * 2.0):
            if not mu > 0.0:
                continue
            start = tail.dominated_from(mu, 0.1)
            assert start < 1e7
            for factor in (1.0, 1.01, 1.5, 3.0, 10.0):
                if tail.square:
                    value, error, _ = stick(mu, start * factor)
                    assert tail.log_bound(start * factor) <= value + error


def test_tails_of_renyi_claims():
    """rho c (c + 1) + xi c, and two mixtures with a common part, are no lighter than the pairs that obey them."""
    claim = tails(hs.ZCDP(rho=1e-6, xi=4.0)._run("add-or-remove").variants("dominating")[0])[0]
    assert claim.top_loss >= 4.0
    replaced = tails(hs.ZCDP(rho=0.5).poisson(rate=0.9)._run("replace").variants("dominating")[0])[0]
    for epsilon in (4.0, 10.0, 40.0):
        member = (hs.Gaussian(sigma=1.0).poisson(rate=0.9)).log_delta_bounds(epsilon, "replace")
        assert replaced.log_bound(epsilon) >= member.lower
