"""Targets of calibration, and a run to be calibrated."""

import hockeystick as hs


def dpsgd(sigma, rate=0.01, steps=1000):
    return hs.Gaussian(sigma=sigma).poisson(rate=rate) * steps


TARGETS = [
    {"epsilon": 1.0, "delta": 1e-5},
    {"epsilon": 0.05, "delta": 1e-6},
    {"mu": 0.5},
    {"mu": 0.5, "delta": 1e-6},
    {"rho": 0.02},
    {"advantage": 0.1},
    {"tpr": 0.02, "fpr": 0.01},
    {"bayes_risk": 0.35, "prior": 0.4},
]
