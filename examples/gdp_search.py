"""The three algorithms of Liu, Sun, Jiang and Kong 2021 (appendix D), beside `head_mu`, which replaces them.

    python examples/gdp_search.py

They look for the smallest mu for which a profile is (epsilon_h, mu)-head GDP, to within 1/c, by two staircases
over a grid.  They run here with the paper's own parameters and with the corrections of docs/errata.md (G-E2,
G-E4, G-E5, G-E16, G-E18): x_i = i D, the staircases the other way round, both searches begun at mu_t,
n = ceil(c epsilon_h sqrt(8 pi)) + 1 cells instead of ceil(sqrt(8 c pi epsilon_h)) + 1, and the neighbour of the
shuffled cell, not the next one of the shuffle.  The work is counted in evaluations of the profile and in
comparisons with delta_mu.
"""

import itertools
import math
import random
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from hockeystick.conversion import gdp_mu, gdp_to_delta, head_mu

Profile = Callable[[float], float]

RATIO = 2.0  # sensitivity / scale of the Laplace noise whose profile is measured
HEAD = 2.0  # beyond RATIO its delta is 0: the head is everything
PRECISIONS = (2, 5, 10, 20, 50)


@dataclass
class Search:
    """Algorithms 1 to 3 for one profile."""

    profile: Profile
    values: dict[float, float] = field(default_factory=dict)
    compared: int = 0

    def delta(self, epsilon: float) -> float:
        if epsilon not in self.values:
            self.values[epsilon] = self.profile(epsilon)
        return self.values[epsilon]

    def allows(self, mu: float, epsilon: float, delta: float) -> bool:
        """Whether delta_mu(epsilon) >= delta, which is whether mu is at least mu_GDP(epsilon, delta)."""
        self.compared += 1
        return gdp_to_delta(mu, epsilon) >= delta

    def bisect(self, epsilon: float, delta: float, most: float, width: float) -> tuple[float, float]:
        """Algorithm 1: mu_GDP(epsilon, delta) to within the width."""
        if not self.allows(most, epsilon, delta):
            raise ValueError(f"mu_max is {most}, which is no upper bound of mu at epsilon {epsilon} (erratum G-E16)")
        low, high = 0.0, most
        while high - low > width:
            mu = 0.5 * (low + high)
            low, high = (low, mu) if self.allows(mu, epsilon, delta) else (mu, high)
        return low, high

    def staircases(
        self, cells: Iterable[int], step: float, head: float, most: float, width: float, skip: bool
    ) -> tuple[float, float]:
        """Algorithm 2, and with `skip` Algorithm 3: cells that cannot raise what was found are not searched."""
        low = high = 0.0
        for i in cells:
            left, right = i * step, (i + 1) * step
            if not skip or not self.allows(high, right, self.delta(left)):
                high = max(high, self.bisect(right, self.delta(left), most, width)[1])
            if left <= head and (not skip or not self.allows(low, left, self.delta(right))):
                low = max(low, self.bisect(left, self.delta(right), most, width)[0])
        return low, high


def laplace(epsilon: float) -> float:
    """delta of Laplace noise."""
    return max(0.0, -math.expm1((epsilon - RATIO) / 2.0))


def printed_cells(c: int, head: float) -> int:
    """n as the paper prints it: too few (erratum G-E5)."""
    return math.ceil(math.sqrt(8.0 * c * math.pi * head)) + 1


def cells(c: int, head: float) -> int:
    """n for which the staircases are 1 / (2 c) apart at most."""
    return math.ceil(c * head * math.sqrt(8.0 * math.pi)) + 1


def searched(c: int, number: int, skip: bool) -> tuple[tuple[float, float], Search]:
    """Both ends of mu from so many cells, and what they took."""
    search = Search(laplace)
    step = HEAD / (number - 1)
    order = list(range(number + 1))
    if skip:
        random.Random(1).shuffle(order)  # noqa: S311
    most = gdp_mu(HEAD, laplace(0.0)) + 1.0  # above every mu of the head, as mu_GDP rises in both arguments
    return search.staircases(order, step, HEAD, most, 0.5 / c, skip), search


def row(c: str, cells: str, low: float, high: float, asks: int, compared: str, name: str) -> str:
    return f"{c:>4}  {cells:>5}  [{low:.6f}, {high:.6f}]  {high - low:8.2g}  {asks:6d}  {compared:>11}  {name}"


def main() -> None:
    print(f"Laplace noise, sensitivity / scale {RATIO:g}, head [0, {HEAD:g}]: mu to within 1/c")
    print(f"{'c':>4}  {'cells':>5}  {'interval':>20}  {'wide':>8}  {'asks':>6}  {'comparisons':>11}  by")
    ways = (("Algorithm 2, n as printed", printed_cells, False), ("Algorithm 2", cells, False), ("Algorithm 3", cells, True))
    for c, (name, number, skip) in itertools.product(PRECISIONS, ways):
        (low, high), search = searched(c, number(c, HEAD), skip)
        verdict = ", too wide" if high - low > 1.0 / c else ""
        print(row(str(c), str(number(c, HEAD)), low, high, len(search.values), str(search.compared), name + verdict))
    search = Search(laplace)
    bounds = head_mu(search.delta, HEAD, tolerance=1e-9)
    print(row("", "", bounds.lower, bounds.upper, len(search.values), "-", "head_mu"))


if __name__ == "__main__":
    main()
