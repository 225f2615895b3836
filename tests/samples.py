"""Releases that the law suite and others run over."""

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
FREE = {
    "nothing": hs.compose([]),
    "rate-zero": hs.Gaussian(sigma=1.0).poisson(rate=0.0) * 10,
    "no-mu": hs.GDP(mu=0.0),
}
ALL = {**UNSAMPLED, **SAMPLED, **FREE}

DELTAS = (0.1, 1e-3, 1e-6, 1e-12, 1e-40)
EPSILONS = (-2.0, -0.3, 0.0, 0.05, 0.3, 0.8, 1.5, 3.0, 6.0, 12.0)


@contextmanager
def strict() -> Iterator[None]:
    """Every warning, and every floating-point surprise but underflow, is an error."""
    with warnings.catch_warnings(), np.errstate(all="raise", under="ignore"):
        warnings.simplefilter("error")
        yield
