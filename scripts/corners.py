"""Random inputs of the campaign, anywhere and in the corners where two engines meet or doubles end.

Corners: q T around 1, sigma around 0.4, delta around 1e-16, 1e-300 and next to 1, huge counts, few steps, thousands of different
parts.  Each function takes a generator of random numbers and whether a corner is wanted.
"""

import math
import random
from typing import Any

import truth
import truth_all
import truth_mu

Case = dict[str, Any]


def spread(rng: random.Random, low: float, high: float) -> float:
    return 10.0 ** rng.uniform(low, high)


def edge_delta(rng: random.Random) -> float:
    """About the rounding of 1, about the end of the doubles, or an ordinary one."""
    return rng.choice((1e-16 * spread(rng, -1, 1), spread(rng, -305, -295), spread(rng, -9, -4), spread(rng, -60, -10)))


def training(rng: random.Random, corner: bool) -> Case:
    """DP-SGD, mixed or not: for the contour, and where it hands over to the lattice."""
    if not corner:
        return truth.random_case(rng)
    case = truth.random_case(rng)
    where = rng.choice(("sparse", "little noise", "huge", "few", "many parts", "delta"))
    case["delta"] = edge_delta(rng)
    if where == "sparse":  # a record is drawn about once
        case["rate"] = spread(rng, -6, -1)
        case["steps"] = max(1, round(spread(rng, -0.7, 0.7) / case["rate"]))
        case["sigma"] = spread(rng, -0.4, 0.5)
    elif where == "little noise":
        case.update(rate=spread(rng, -5, -1), sigma=0.4 * spread(rng, -0.1, 0.1), steps=int(spread(rng, 1, 7)))
    elif where == "huge":
        case.update(rate=spread(rng, -6, 0), steps=int(spread(rng, 9, 12)))
        case["sigma"] = case["rate"] * math.sqrt(case["steps"]) / spread(rng, -1, 1)
    elif where == "few":
        case.update(rate=spread(rng, -3, 0), sigma=spread(rng, -0.5, 1), steps=rng.randint(1, 40))
    elif where == "many parts":
        size, smaller = rng.randint(1000, 4000), rng.randint(20, 200)
        low, least = math.sqrt(size) * spread(rng, -0.3, 1), math.sqrt(smaller) * spread(rng, -0.3, 1)
        case["gaussians"] = [low, low * (1.0 + spread(rng, -6, 1)), size]
        case["laplaces"] = [least, least * (1.0 + spread(rng, -6, 1)), smaller]
        case["delta"] = max(case["delta"], 1e-60)
    return case


def mechanisms(rng: random.Random, corner: bool) -> Case:
    """Every mechanism and claim: for the lattice and the sums of signs."""
    case = truth_all.random_case(rng)
    if not corner:
        return case
    case["delta"] = max(edge_delta(rng), 1e-80) if rng.random() < 0.7 else case["delta"]
    part = case["parts"][0]
    if "rate" in part and rng.random() < 0.7:
        part["rate"] = min(0.9, spread(rng, -0.7, 0.7) / part["count"])
    if part["kind"] == "gaussian" and rng.random() < 0.7:
        part.update(sigma=0.4 * spread(rng, -0.1, 0.1), sensitivity=1.0)
    if len(case["parts"]) == 1 and "rate" not in part and part["kind"] in ("pure", "response", "dlaplace"):
        two = part["kind"] == "pure" or part.get("categories") == 2 or part.get("sensitivity") == 1
        if two and rng.random() < 0.5:
            part["count"] = int(spread(rng, 5, 6.3))
    if rng.random() < 0.15:
        case["delta"] = 1.0 - spread(rng, -14, -1)
        if part["kind"] == "pure":
            part["epsilon"] = spread(rng, 0, 1.7)
    return case


def guarantees(rng: random.Random, corner: bool) -> Case:
    """For mu and trade-off curves."""
    case = truth_mu.random_case(rng)
    if corner and "sigma" in case:
        case["delta"] = 1e-16 * spread(rng, -1, 1)
        if rng.random() < 0.5:
            case["rate"] = min(0.9, spread(rng, 0.3, 1.5) / case["steps"])
        else:
            case["sigma"] = 0.4 * spread(rng, -0.05, 0.4)
    elif corner:
        case["delta"] = max(1e-30, edge_delta(rng))
    return case
