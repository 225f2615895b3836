"""The errors of tests: what one Rényi divergence allows, and the conjugate of a trade-off curve."""

import math
from collections.abc import Callable
from itertools import pairwise

from ...numerics.rounding import FUNCTION, UNIT, exp_down, up


def renyi_error(order: float, gamma: float, alpha: float) -> float:
    """The smallest type-II error that a Rényi divergence in both directions allows, rounded down."""
    if alpha == 1.0 or gamma == math.inf:
        return 0.0
    if alpha == 0.0:
        return 1.0  # a finite divergence: the laws have the same null sets
    yes, no = math.log(alpha), math.log1p(-alpha)
    budget = (order - 1.0) * gamma * (1.0 + 4.0 * UNIT)

    def excluded(log_beta: float) -> bool:
        """Whether a test with this second error is surely against the claim, in one direction or the other."""
        caught = math.log(-math.expm1(log_beta)) if log_beta < 0.0 else -math.inf
        size = abs(yes) + abs(no) + abs(caught) + abs(log_beta)
        slack = (2.0 * order * FUNCTION) * (size + 4.0)
        for p, q in (((caught, log_beta), (yes, no)), ((yes, no), (caught, log_beta))):
            terms = [order * one + (1.0 - order) * other for one, other in zip(p, q, strict=True)]
            total = max(terms) + math.log1p(math.exp(min(terms) - max(terms)))
            if total > budget + slack:
                return True
        return False

    low, high = -745.0, no  # 1 - alpha is what a blind test has
    if not excluded(low):
        return 0.0
    while True:
        middle = 0.5 * (low + high)
        if not low < middle < high or high - low < 1e-16 * abs(low):
            return exp_down(low)
        low, high = (middle, high) if excluded(middle) else (low, middle)


def conjugate(f: Callable[[float], float], weight: float) -> float:
    """An upper bound of max 1 - f(a) - weight a over 0 <= a <= 1/weight."""
    last = min(1.0, 1.0 / weight)
    points = [(a, f(a)) for a in (0.0, *(last * 2.0**-k for k in range(30, 0, -3)), last)]
    for _ in range(120):
        best = max(1.0 - beta - weight * a for a, beta in points)
        bound, place = 0.0, 0.0
        for i, ((a1, b1), (a2, b2)) in enumerate(pairwise(points)):
            candidates = [a1, a2]
            left = (b1 - points[i - 1][1]) / (a1 - points[i - 1][0]) if i > 0 else -math.inf
            right = (points[i + 2][1] - b2) / (points[i + 2][0] - a2) if i + 2 < len(points) else 0.0
            if left > -math.inf and left != right:
                cross = (b2 - b1 + left * a1 - right * a2) / (left - right)
                candidates += [cross] if a1 < cross < a2 else []
            for a in candidates:
                floor = max(b1 + left * (a - a1) if left > -math.inf else 0.0, b2 + right * (a - a2), 0.0)
                floor = max(floor, b1 if a == a1 else 0.0)
                bound, place = max((bound, place), (1.0 - floor - weight * a, a if a1 < a < a2 else 0.5 * (a1 + a2)))
        if bound <= best + 1e-12 * best + 1e-16 or any(place == a for a, _ in points):
            break
        points = sorted([*points, (place, f(place))])
    return min(1.0, max(0.0, up(bound, 16.0 * UNIT)))
