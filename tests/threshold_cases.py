"""A sampled Gaussian step with soft thresholds, and integrals over its noise by Gauss's rule on short panels."""

import math

import numpy as np
from scipy.special import ndtr

from hockeystick.loss.bigjump.cells import Thresholds
from hockeystick.loss.sampled.quadrature import SampledStep

SHAPE, THRESHOLDS = SampledStep(0.8, 1e-5), Thresholds(0.02, 0.15, 0.0016, 0.0045)


def nodes(panels):
    """Gauss's rule on short panels of the noise: the weights of the normal law, and x."""
    place, weight = np.polynomial.legendre.leggauss(12)
    edges = np.linspace(-14.0, 22.0, panels + 1)
    half = 0.5 * (edges[1] - edges[0])
    z = (edges[:-1, None] + half * (1.0 + place)).ravel()
    normal = np.exp(-0.5 * z * z) / math.sqrt(2.0 * math.pi)
    return np.tile(half * weight, panels) * normal, SHAPE.rate * np.expm1(z / SHAPE.noise - 0.5 / SHAPE.noise**2)


WEIGHT, X = nodes(12_000)


def integral(values):
    """Over the noise, of values at the nodes."""
    return (WEIGHT * values).sum()


def nu(x):
    return ndtr((x - THRESHOLDS.high) / THRESHOLDS.high_width)


def kept(x):
    return ndtr((THRESHOLDS.high - x) / THRESHOLDS.high_width)


def middle(x):
    """kappa - nu."""
    low = ndtr((x - THRESHOLDS.low) / THRESHOLDS.low_width) - nu(x)
    return np.where(x < 0.05, low, kept(x) - ndtr((THRESHOLDS.low - x) / THRESHOLDS.low_width))


def power(k, x):
    """e^{kL}, as far as it matters."""
    return np.exp(np.minimum(np.log1p(x), 700.0 / abs(k.real)) * k)
