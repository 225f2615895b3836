"""Chi-square of many draws against their exact law, in mpmath; 10^7 of each unless told otherwise.

    python scripts/draws.py [--draws 10000000] [--core 0] [--publish]

Cells with less than 50 expected draws are joined.  A chance below 1e-6 is an error; all chances together should look uniform.
"""

import argparse
import json
import sys
from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
from mpmath import mp

from hockeystick.draws import choices, noise
from hockeystick.draws.source import words_of
from hockeystick.native import draws as loops

RESULTS = Path(__file__).parent.parent / "bench" / "results" / "draws_law.json"
BLOCK = 1_000_000


def chance(counted: Any, expected: Any) -> tuple[float, int]:
    """The probability of a chi-square as large as this, and of how many cells."""
    order = np.argsort(-np.asarray(expected))
    cells: list[list[float]] = []
    ours = theirs = 0.0
    for one in order:
        ours, theirs = ours + counted[one], theirs + expected[one]
        if theirs >= 50.0:
            cells.append([ours, theirs])
            ours = theirs = 0.0
    cells[-1] = [cells[-1][0] + ours, cells[-1][1] + theirs]
    statistic = sum((one - other) ** 2 / other for one, other in cells)
    return float(mp.gammainc(mp.mpf(len(cells) - 1) / 2, mp.mpf(statistic) / 2, mp.inf, regularized=True)), len(cells)


def whole(draw: Callable[[int], Any], weight: Callable[[int], Any], reach: int, size: int) -> tuple[Any, Any]:
    """Counts of whole numbers from -reach to reach, and of all others; and what the law expects."""
    counted = np.zeros(2 * reach + 2)
    for first in range(0, size, BLOCK):
        drawn = draw(min(BLOCK, size - first))
        inside = drawn[np.abs(drawn) <= reach]
        counted[:-1] += np.bincount(inside + reach, minlength=2 * reach + 1)
        counted[-1] += len(drawn) - len(inside)
    weights = [weight(z) for z in range(-reach, reach + 1)]
    total = mp.fsum(weights) + 2 * mp.fsum(weight(z) for z in range(reach + 1, 4 * reach))
    share = [float(one / total) for one in weights]
    return counted, size * np.array([*share, max(0.0, 1.0 - sum(share))])


def real(draw: Callable[[int], Any], below: Callable[[Any], Any], size: int) -> tuple[Any, Any]:
    """Counts between 2001 equally spaced places, and beyond."""
    edges = np.linspace(-9.0, 9.0, 2001)
    counted = np.zeros(len(edges) + 1)
    for first in range(0, size, BLOCK):
        counted += np.bincount(np.searchsorted(edges, draw(min(BLOCK, size - first))), minlength=len(counted))
    share = np.diff([0.0, *(float(below(mp.mpf(x))) for x in edges), 1.0])
    return counted, size * share


def cases(size: int) -> Iterator[tuple[str, Any, Any]]:
    """Names, counts and expectations."""
    for scale in (0.3, 10.0, 77.7):
        exact = Fraction(scale)
        yield (
            f"discrete Laplace {scale}",
            *whole(
                lambda count: noise.discrete_laplaces(exact, count, words_of(None)),  # noqa: B023
                lambda z: mp.exp(-abs(z) / mp.mpf(scale)),  # noqa: B023
                int(30 * scale) + 5,
                size,
            ),
        )
    for sigma in (0.3, 1.0, 10.0, 77.7):
        yield (
            f"discrete Gaussian {sigma}",
            *whole(
                lambda count: noise.discrete_gaussians(sigma, count, words_of(None)),  # noqa: B023
                lambda z: mp.exp(-(mp.mpf(z) ** 2) / (2 * mp.mpf(sigma) ** 2)),  # noqa: B023
                int(9 * sigma) + 5,
                size,
            ),
        )
    for value in (0.0, 1e6 + 0.1):
        for name, draw, below in (
            ("Laplace", noise.laplaces, lambda x: mp.exp(x) / 2 if x < 0 else 1 - mp.exp(-x) / 2),
            ("Gaussian", noise.gaussians, mp.ncdf),
        ):
            yield (
                f"{name} 1.7 on {value}",
                *real(
                    lambda count: (draw(np.full(count, value), 1.7, words_of(None)) - value) / 1.7,  # noqa: B023
                    below,
                    size,
                ),
            )
    for epsilon, categories in ((0.5, 2), (1.0, 5), (4.0, 100)):
        truths = np.full(size, 1, dtype=np.int64)
        answers = choices.Response(epsilon, categories - 1).all(truths, words_of(None))
        weights = np.exp(epsilon * (np.arange(categories) == 1))
        yield (
            f"randomised response {epsilon}, {categories}",
            np.bincount(answers, minlength=categories),
            (size * weights / weights.sum()),
        )
    taken = len(choices.poisson_sample(0.01, size, words_of(None)))
    yield "Poisson sample 0.01", [taken, size - taken], [0.01 * size, 0.99 * size]


def main() -> None:
    """Prints one line for each law; exit code 1 if one is off."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=10_000_000)
    parser.add_argument("--core", type=int, default=1)
    parser.add_argument("--publish", action="store_true")
    given = parser.parse_args()
    if not given.core:
        loops.core = None
    mp.dps = 30
    rows = []
    for name, counted, expected in cases(given.draws):
        found, cells = chance(counted, expected)
        rows.append({"law": name, "draws": given.draws, "cells": cells, "chance": found})
        print(f"{name:34} {given.draws:12,} draws in {cells:5} cells: chance {found:.4g}", flush=True)
    if given.publish:
        RESULTS.write_text(json.dumps({"core": loops.core is not None, "laws": rows}, indent=1) + "\n", encoding="utf-8")
    sys.exit(any(row["chance"] < 1e-6 for row in rows))


if __name__ == "__main__":
    main()
