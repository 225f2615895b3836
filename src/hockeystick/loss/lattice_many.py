"""What a lattice tells at many epsilons at once."""

import numpy as np
import numpy.typing as npt

from ..numerics.rounding import FUNCTION, UNIT
from ..numerics.series import Array
from .lattice import Lattice
from .lattice_window import Window

_NEAR = np.arange(-6, 7)  # cells around an epsilon, where the attacker's threshold may lie


def lattice_ends(lattice: Lattice, lower: Array, upper: Array) -> tuple[Array, Array]:
    """Lower ends of log delta at some epsilons, and upper ones at others; what is not known is infinite."""
    with np.errstate(all="ignore"):
        high = np.log(_at(lattice.high, lattice.delta_up, upper - lattice.slip)) + lattice.scale_up
        high = np.logaddexp(np.where(np.isfinite(high), high, np.inf), lattice.log_lost)
        known = np.nan_to_num(_at(lattice.low, lattice.delta_down, lower + lattice.sag), nan=0.0)
        places = _place(lattice.low, lower)[:, None] + _NEAR
        within = (places >= 0) & (places < lattice.head_down.size)
        places = np.where(within, places, 0)
        pay = np.exp(lower - lattice.centre) * (1.0 + 8.0 * FUNCTION + 2.0 * UNIT * (np.abs(lower) + abs(lattice.centre)))
        best = np.where(within, lattice.head_down[places] - pay[:, None] * lattice.tail_up[places], 0.0)
        low = np.log(np.fmax(np.nan_to_num(best, nan=0.0).max(axis=1), known)) + lattice.scale_down
    slack = 8.0 * UNIT * (abs(lattice.scale_up) + abs(lattice.scale_down) + 8.0) + 8.0 * FUNCTION
    return np.where(np.isfinite(low), low - slack, -np.inf), high + slack


def _place(window: Window, epsilons: Array) -> npt.NDArray[np.int64]:
    """Of the point at or before each epsilon."""
    found = np.ceil((epsilons - window.offset) / window.step) - window.begin - 1
    places: npt.NDArray[np.int64] = np.clip(found, -2, window.size + 1).astype(np.int64)
    return places


def _at(window: Window, deltas: Array, epsilons: Array) -> Array:
    """`Window.at` for many epsilons; no number where it is not known."""
    place = _place(window, epsilons)
    points = window.offset + window.step * (window.begin + place)
    place += (epsilons > points + window.step).astype(np.int64) - (epsilons <= points).astype(np.int64)
    known = (place >= 0) & (place < deltas.size - 1)
    place = np.where(known, place, 0)
    left = window.offset + window.step * (window.begin + place)
    share = np.clip(np.exp(epsilons - left - window.step) * np.expm1(left - epsilons) / np.expm1(-window.step), 0.0, 1.0)
    found: Array = np.where(known, deltas[place] + share * (deltas[place + 1] - deltas[place]), np.nan)
    return found
