"""The history of a training as Opacus writes it: noise multiplier, sample rate, steps."""

import math
from typing import Any

from .. import checks
from ..errors import BadType
from ..mechanism.training import Training
from ..neighbours import Relation, checked
from ..planning.dpsgd import dpsgd

Phase = tuple[float, float, int]


def epsilon_of(phases: list[Phase], delta: float, neighbours: Relation) -> float:
    """Epsilon of all of them; inf if a step had no noise."""
    if bare(phases) and delta < 1.0:
        checked(neighbours)
        return math.inf
    return float(run_of(phases, neighbours).epsilon(delta))


def run_of(phases: list[Phase], neighbours: Relation) -> Training:
    """The run of all of them."""
    runs = [
        dpsgd(sigma=sigma or 1.0, rate=rate, steps=steps or 1, sampler="poisson", neighbours=neighbours) * min(steps, 1)
        for sigma, rate, steps in phases or [(1.0, 0.0, 0)]
    ]
    return sum(runs[1:], start=runs[0])


def bare(phases: list[Phase]) -> bool:
    """Whether a step had no noise."""
    return any(sigma == 0.0 < rate for sigma, rate, _ in phases)


def phase_of(given: Any) -> Phase:
    """An entry of a history, checked."""
    if not isinstance(given, list | tuple) or len(given) != 3:
        raise BadType(f"history has {given!r}; allowed: (noise multiplier, sample rate, steps).")
    sigma, rate, steps = given
    return (
        checks.non_negative("noise_multiplier", sigma),
        checks.rate("sample_rate", rate),
        checks.count("steps", steps),
    )
