"""Truncated Poisson sampling of few records by enumeration of all batches: the laws of the noisy sum, and their hockey sticks."""

import itertools
import math
from collections import defaultdict

Law = dict[float, float]  # a mixture of normal laws: the weight of each mean


def kept(records: int, rate: float, cap: int) -> dict[tuple[int, ...], float]:
    """The probability of every batch."""
    found: dict[tuple[int, ...], float] = defaultdict(float)
    for size in range(records + 1):
        for drawn in itertools.combinations(range(records), size):
            chance = rate**size * (1.0 - rate) ** (records - size)
            batches = [drawn] if size <= cap else list(itertools.combinations(drawn, cap))
            for batch in batches:
                found[batch] += chance / len(batches)
    return found


def law(batches: dict[tuple[int, ...], float], contributions: tuple[float, ...]) -> Law:
    """Of the sum of the contributions in the batch, before the noise."""
    found: Law = defaultdict(float)
    for batch, chance in batches.items():
        found[math.fsum(contributions[one] for one in batch)] += chance
    return found


def hockey_stick(p: Law, q: Law, sigma: float, a: float) -> float:
    """The integral of (p - a q)_+: signs on a fine scale, ends by bisection, masses by the error function."""

    def density(y: float) -> float:
        value = 0.0
        for mean, weight in p.items():
            value += weight * math.exp(-0.5 * ((y - mean) / sigma) ** 2)
        for mean, weight in q.items():
            value -= a * weight * math.exp(-0.5 * ((y - mean) / sigma) ** 2)
        return value

    def below(y: float) -> float:
        value = 0.0
        for mean, weight in p.items():
            value += weight * math.erfc((mean - y) / sigma / math.sqrt(2.0))
        for mean, weight in q.items():
            value -= a * weight * math.erfc((mean - y) / sigma / math.sqrt(2.0))
        return 0.5 * value

    means = [*p, *q]
    low, high = min(means) - 9.0 * sigma, max(means) + 9.0 * sigma
    steps = max(60, math.ceil((high - low) / (0.15 * sigma)))
    places = [low + (high - low) * step / steps for step in range(steps + 1)]
    signs = [density(y) > 0.0 for y in places]
    ends = [low - 30.0 * sigma] if signs[0] else []
    for left, right, one, two in zip(places, places[1:], signs, signs[1:], strict=False):
        if one != two:
            for _ in range(48):
                middle = 0.5 * (left + right)
                left, right = (middle, right) if (density(middle) > 0.0) == one else (left, middle)
            ends.append(left)
    ends += [high + 30.0 * sigma] if signs[-1] else []
    return math.fsum(below(right) - below(left) for left, right in zip(ends[::2], ends[1::2], strict=True))


def worst(records: int, rate: float, cap: int, sigma: float, a: float, relation: str, record: float = 1.0) -> float:
    """The largest hockey stick in both orders, over what the others contribute (-1, 0 or 1 each)."""
    batches = kept(records, rate, cap)
    fewer = kept(records - 1, rate, cap)
    found = 0.0
    for others in itertools.combinations_with_replacement((-1.0, 0.0, 1.0), records - 1):
        one = law(batches, (*others, record))
        if relation == "add-or-remove":
            two = law(fewer, others)
        else:
            two = law(batches, (*others, -record if relation == "replace" else 0.0))
        found = max(found, hockey_stick(one, two, sigma, a), hockey_stick(two, one, sigma, a))
    return found
