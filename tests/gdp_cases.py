"""Shared by the tests of Gaussian DP: profiles of the paper, and bounds that lie closely above or below their truth."""

import math

from mpmath import mpf

from hockeystick import conversion

SHARP = 1.5e-13  # the certified margins


def laplace(epsilon):
    return max(0.0, -math.expm1(epsilon / 2.0 - 1.0))


sgd = conversion.refined_profile(lambda e: math.exp(-e * e))
icea = conversion.refined_profile(lambda e: min(1.0, 4.0 * math.exp(-2.0) / e) if e > 0.0 else 1.0)
PROFILES = {"laplace": laplace, "sgd": sgd, "icea": icea}


def above(value, truth, most=SHARP):
    """Not below the truth, and at most `most` of it above."""
    truth = mpf(truth)
    assert truth - abs(truth) * mpf(1e-60) <= mpf(value) <= truth + abs(truth) * mpf(most) + 3 * mpf(5e-324)


def number(text):
    return PROFILES[text] if text in PROFILES else float(text)
