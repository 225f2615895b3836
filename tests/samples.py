"""Releases that the law suite and others run over."""

import math
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

import hockeystick as hs

SAMPLED = {
    "sampled": hs.Gaussian(sigma=1.1).poisson(rate=0.01) * 1000,
    "sampled-often": hs.Gaussian(sigma=10.0).poisson(rate=0.5) * 300,
    "sampled-seldom": hs.Gaussian(sigma=0.8).poisson(rate=1e-4) * 100_000,
    "sampled-little-noise": hs.Gaussian(sigma=0.5).poisson(rate=0.02) * 200,
    "allocated": hs.Gaussian(sigma=3.0).allocated(steps=3) * 20,
    "sampled-once": hs.Gaussian(sigma=0.7).poisson(rate=0.2),
    "sampled-sum": (hs.Gaussian(sigma=2.0) + hs.GDP(mu=0.3) * 2).poisson(rate=0.05) * 400,
    "mixed-with-sampled": hs.Gaussian(sigma=2.0).poisson(rate=0.1) * 50 + hs.Laplace(scale=4.0) * 5 + hs.GDP(mu=0.2),
    "two-rates": hs.Gaussian(sigma=1.0).poisson(rate=0.01) * 500 + hs.Gaussian(sigma=1.5).poisson(rate=0.03) * 200,
}
UNSAMPLED = {
    "gaussian": hs.Gaussian(sigma=1.0),
    "gaussian-wide": hs.Gaussian(sigma=60.0, sensitivity=3.0) * 400,
    "gdp": hs.GDP(mu=0.5),
    "laplace": hs.Laplace(scale=2.0),
    "laplace-many": hs.Laplace(scale=10.0) * 1000,
    "laplace-few": hs.Laplace(scale=1.0) * 3,
    "mixed": hs.Gaussian(sigma=3.0) * 4 + hs.Laplace(scale=5.0) * 20,
    "rate-one": hs.Gaussian(sigma=2.0).poisson(rate=1.0) * 7,
}
DISCRETE = {
    "response": hs.RandomizedResponse(epsilon=0.7),
    "response-many": hs.RandomizedResponse(epsilon=0.1) * 1000,
    "response-categories": hs.RandomizedResponse(epsilon=0.8, categories=5) * 12,
    "discrete-gaussian": hs.DiscreteGaussian(sigma=3.0, sensitivity=2) * 10,
    "discrete-gaussian-narrow": hs.DiscreteGaussian(sigma=0.6),
    "discrete-laplace": hs.DiscreteLaplace(scale=4.0, sensitivity=3) * 8,
    "pure": hs.PureDP(epsilon=0.5) * 20,
    "approximate": hs.ApproxDP(epsilon=0.4, delta=1e-9) * 6,
    "mixed-lattices": hs.PureDP(epsilon=0.3) * 5 + hs.DiscreteLaplace(scale=2.0) * 3,
    "pair": hs.Pair(("1/2", "1/4", "1/8", "1/8"), ("1/3", "1/3", "2/9", "1/9")) * 12,
    "mixed-with-claims": hs.Gaussian(sigma=2.0) * 3 + hs.ApproxDP(epsilon=0.2, delta=1e-10) + hs.PureDP(epsilon=0.1) * 2,
}
DRAWN = {
    "sampled-laplace": hs.Laplace(scale=1.0).poisson(rate=0.1) * 10,
    "sampled-laplace-once": hs.Laplace(scale=1.0).poisson(rate=0.1),
    "sampled-response": hs.RandomizedResponse(epsilon=1.0, categories=4).poisson(rate=0.1) * 10,
    "sampled-pure": hs.PureDP(epsilon=1.0).poisson(rate=0.05) * 50,
    "sampled-approximate": hs.ApproxDP(epsilon=1.0, delta=1e-8).poisson(rate=0.1) * 10,
    "sampled-pair": hs.Pair(("1/2", "3/10", "1/5", 0), ("2/5", "1/3", "4/15", 0)).poisson(rate=0.1) * 20,
    "sampled-discrete-gaussian": hs.DiscreteGaussian(sigma=1.0).poisson(rate=0.02) * 40,
    "allocated-response": hs.RandomizedResponse(epsilon=1.0).allocated(steps=3) * 5,
    "allocated-approximate": hs.ApproxDP(epsilon=1.0, delta=1e-8).allocated(steps=2) * 2,
    "allocated-pair": hs.Pair(("1/2", "3/10", "1/5"), ("2/5", "1/3", "4/15")).allocated(steps=2, kept=2),
    "allocated-discrete-laplace": hs.DiscreteLaplace(scale=1.5, sensitivity=2).allocated(steps=3),
    "sampled-discrete-laplace": hs.DiscreteLaplace(scale=1.5, sensitivity=2).poisson(rate=0.1) * 5,
}
LOOSE = {
    "exponential": hs.Exponential(epsilon=1.0) * 10,
    "zcdp": hs.ZCDP(rho=0.1) * 3,
    "zcdp-shifted": hs.ZCDP(rho=0.05, xi=0.02) * 3,
    "renyi": hs.RDP(orders=(1.5, 4.0, 16.0), values=(0.02, 0.05, 0.2)) * 2,
    "renyi-with-others": hs.ZCDP(rho=0.05) + hs.Gaussian(sigma=3.0).poisson(rate=0.1) * 20 + hs.ApproxDP(epsilon=0.1, delta=1e-9),
    "truncated": hs.Gaussian(sigma=2.0).truncated_poisson(rate=0.1, cap=16, examples=100) * 20,
    "sampled-zcdp": hs.ZCDP(rho=0.3).poisson(rate=0.05) * 10,
}
FREE = {
    "nothing": hs.compose([]),
    "rate-zero": hs.Gaussian(sigma=1.0).poisson(rate=0.0) * 10,
    "no-mu": hs.GDP(mu=0.0),
}
ALL = {**UNSAMPLED, **SAMPLED, **DISCRETE, **DRAWN, **LOOSE, **FREE}

INFINITE = {
    "approximate": 6e-9,
    "mixed-with-claims": 1e-10,
    "sampled-approximate": 1e-8,
    "allocated-approximate": 2e-8,
    "renyi-with-others": 1e-9,
}
"""About the probability of an infinite loss: below it epsilon is infinite."""
BOUNDED = {
    "laplace": 0.5,
    "laplace-many": 100.0,
    "laplace-few": 3.0,
    "response": 0.7,
    "response-many": 100.0,
    "response-categories": 9.6,
    "discrete-laplace": 6.0,
    "pure": 10.0,
    "mixed-lattices": 3.0,
    "pair": 12.0 * math.log(16.0 / 9.0),
    "sampled-pair": 20.0 * -math.log(0.9 + 0.1 * 0.75),
    "sampled-laplace": 10.0 * math.log1p(0.1 * math.expm1(1.0)),
    "sampled-laplace-once": math.log1p(0.1 * math.expm1(1.0)),
    "sampled-response": 10.0 * math.log1p(0.1 * math.expm1(1.0)),
    "sampled-pure": 50.0 * math.log1p(0.05 * math.expm1(1.0)),
    "allocated-response": 5.0,
    "allocated-pair": 2.0 * math.log(4.0 / 3.0),
    "allocated-discrete-laplace": 2.0 / 1.5,
    "sampled-discrete-laplace": 5.0 * math.log1p(0.1 * math.expm1(2.0 / 1.5)),
    "exponential": 10.0,
    **dict.fromkeys(FREE, 0.0),
}
"""The largest loss, where there is one."""

DELTAS = (0.1, 1e-3, 1e-6, 1e-12, 1e-40)
EPSILONS = (-2.0, -0.3, 0.0, 0.05, 0.3, 0.8, 1.5, 3.0, 6.0, 12.0)


@contextmanager
def strict() -> Iterator[None]:
    """Every warning, and every floating-point surprise but underflow, is an error."""
    with warnings.catch_warnings(), np.errstate(all="raise", under="ignore"):
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", hs.LargeDelta)  # on purpose
        yield
