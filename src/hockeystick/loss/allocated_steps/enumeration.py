"""How often each of finitely many values occurs in several draws: all the ways, and their multinomial masses.

Ways of less than e^-720 are left out, whole families of them at a time (docs/mathematics/allocation-steps.md, Lemma 51).
"""

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ...numerics.binomial import log_masses
from ...numerics.cancellation_free import Array
from ...numerics.rounding import FUNCTION, UNIT


@dataclass(frozen=True)
class Tuning:
    """None of it enters a proof: what is left out is counted."""

    deep: float = 720.0
    """-log of the mass from which ways are left out: about where doubles end."""


TUNING = Tuning()


class Compositions(NamedTuple):
    """How often each value occurs, a row for each way; log of the masses, a bound of their errors, and of what is left out."""

    counts: npt.NDArray[np.int64]
    log_mass: Array
    error: float
    log_omitted: float


@lru_cache(maxsize=8)
def _log_factorials(most: int) -> tuple[Array, float]:
    """log n! for n up to `most`, and a bound of the errors: the sums are exact but for one rounding, their terms are not."""
    found = [0.0]
    total = lost = 0.0
    for log in np.log(np.arange(1.0, most + 1.0)).tolist():
        after = total + log
        lost += (total - after) + log if total >= log else (log - after) + total  # what the addition rounded off, exactly
        total = after
        found.append(total + lost)
    return np.array(found), found[-1] * (FUNCTION + 4.0 * UNIT)


@lru_cache(maxsize=16)
def compositions(log_mass: tuple[float, ...], draws: int, most: int, lift: float = 0.0) -> Compositions | None:
    """All ways, or None if there are more than `most`.  `lift` is log of how much more a way may weigh under another law."""
    if len(log_mass) == 1:
        size = draws * abs(log_mass[0]) * UNIT * 2.0
        return Compositions(np.array([[draws]]), np.array([draws * log_mass[0]]), size, -math.inf)
    if len(log_mass) == 2:
        return _two(log_mass, draws) if draws < most else None
    factorials, off = _log_factorials(draws)
    tails = np.logaddexp.accumulate(np.array(log_mass[::-1]))[::-1].tolist()
    counts: npt.NDArray[np.int64] = np.zeros((1, 0), dtype=np.int64)
    left = np.array([draws])
    value: Array = factorials[draws:]
    sizes: Array = factorials[draws:]
    omitted = 0
    for place, log in enumerate(log_mass):
        last = place == len(log_mass) - 1
        ways = np.ones(left.size, dtype=np.int64) if last else left + 1
        if int(ways.sum()) > 8 * most:
            return None
        rows = np.repeat(np.arange(left.size), ways)
        taken = left[rows] if last else np.arange(rows.size) - np.repeat(np.cumsum(ways) - ways, ways)
        left = left[rows] - taken
        value, sizes = value[rows] + (taken * log - factorials[taken]), sizes[rows] + (taken * abs(log) + factorials[taken])
        rest = 0.0 if last else tails[place + 1]
        # the whole family: what is left goes anywhere among the others
        family = value + left * rest - factorials[left]
        kept = family > -TUNING.deep - lift
        omitted += int((~kept).sum())
        counts = np.concatenate((counts[rows][kept], taken[kept, None]), axis=1)
        left, value, sizes = left[kept], value[kept], sizes[kept]
        if value.size > most:
            return None
    error = float(sizes.max()) * 8.0 * UNIT + (len(log_mass) + 2) * off
    return Compositions(counts, value, error, math.log(omitted) - TUNING.deep + 1e-6 if omitted else -math.inf)


def _two(log_mass: tuple[float, ...], draws: int) -> Compositions:
    """Of two values: binomial masses of many draws, to nearly full accuracy."""
    heads: Any = np.arange(draws + 1)
    size = log_mass[1] - log_mass[0]
    found, error = log_masses(draws, abs(size), 0, draws)
    if size < 0.0:
        found, error = found[::-1], error[::-1]
    # of the odds, and of masses that sum to less than 1
    total, largest = float(np.logaddexp(log_mass[0], log_mass[1])), max(map(abs, log_mass))
    mean = draws / (1.0 + math.exp(min(-size, 700.0)))
    off = error + np.abs(heads - mean) * (4.0 * UNIT * largest) + draws * (2.0 * FUNCTION + 4.0 * UNIT * largest)
    ways = np.stack((draws - heads, heads), axis=1)
    return Compositions(ways, found + draws * total, float(off.max()), -math.inf)
