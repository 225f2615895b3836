"""The transform of one large step, and bounds of E e^{-sY}, against plain sums."""

import math

import numpy as np

from hockeystick.loss.allocated.capped import Cap
from hockeystick.loss.allocated.moments import AllocatedStep
from hockeystick.loss.allocated.pieces import Chords, Pieces


def test_chords_are_above_and_close():
    x = np.arange(-12.0, 12.0, 0.001)
    s = np.array([0.01, 0.7, 5.0])
    exact = np.log((np.exp(-s[:, None] * np.exp(0.8 * x - 0.32) - 0.5 * x * x) * (0.001 / math.sqrt(2.0 * math.pi))).sum(axis=1))
    found = Chords(AllocatedStep(0.8, 5)).log_above(s)
    assert np.all(exact - 1e-12 <= found)
    assert np.all(found <= exact + 1e-3)


def test_pieces_are_within_their_error():
    step, cap = AllocatedStep(0.5, 30, 0.0), Cap(5.0, 6.0)
    made = Pieces(step, cap, 3.0, 6.0)
    z = np.array([0.2 + 0.0j, 0.3 + 2.0j])
    x = 3.0 + 3e-5 * (np.arange(100_000) + 0.5)
    density = -np.expm1(-np.exp(6.0 * (x - 5.0))) * np.exp(-0.5 * x * x) * (3e-5 / math.sqrt(2.0 * math.pi))
    exact = np.exp(z[:, None] * np.expm1(0.5 * x - 0.125)) @ density
    value, error = made.values(z, slice(None))
    assert np.all(np.abs(value - exact) <= error + 1e-8 * np.abs(exact))
    assert error[1] <= 1e-10 * abs(exact[0])
