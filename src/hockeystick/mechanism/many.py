"""One question asked of many releases: sampled Gaussian runs are answered together, the others one by one."""

import math
from collections.abc import Callable, Iterator, Sequence
from functools import partial

import numpy as np

from ..bounds import Bounds
from ..errors import HockeystickError
from ..loss.answers.batch import Runs, sampled_epsilons
from ..loss.composed import ComposedLoss
from ..loss.sampled.gaussian import SampledGaussianLoss
from ..neighbours import STATED, Relation
from .release import Release

_FEW = 4  # runs that are not worth answering together


def epsilons(releases: Sequence[Release], delta: float, neighbours: Relation = STATED) -> Iterator[Callable[[], Bounds[float]]]:
    """For each release, in order, what gives its `epsilon_bounds` at this delta or raises its error.

    >>> import hockeystick as hs
    >>> runs = [hs.Gaussian(sigma=sigma).poisson(rate=0.01) * 1000 for sigma in (0.8, 1.0, 1.2, 1.4)]
    >>> [round(bounds().upper, 6) for bounds in epsilons(runs, 1e-6)]
    [3.706185, 2.124515, 1.49946, 1.172541]
    """
    groups: dict[tuple[bool, ...], list[tuple[int, SampledGaussianLoss, int]]] = {}
    if 0.0 < delta < 1.0 and len(releases) >= _FEW:
        for place, release in enumerate(releases):
            loss, count = sampled(release, neighbours)
            if loss is not None:
                groups.setdefault(loss.removals, []).append((place, loss, count))
    found: dict[int, Bounds[float]] = {}
    for removals, group in groups.items():
        if len(group) >= _FEW:
            low, high = sampled_epsilons(_runs(group, math.log(delta)), removals)
            ends = zip(group, low.tolist(), high.tolist(), strict=True)
            found |= {place: Bounds(least, most, True) for (place, *_), least, most in ends if not math.isnan(least)}

    def answer(place: int) -> Bounds[float]:
        if place not in found:
            return releases[place].epsilon_bounds(delta, neighbours)
        releases[place]._heed(delta)
        return found[place]

    return (partial(answer, place) for place in range(len(releases)))


def _runs(group: list[tuple[int, SampledGaussianLoss, int]], log_delta: float) -> Runs:
    noise, error, rate = (
        np.array([getattr(loss.shape, name) for _, loss, _ in group]) for name in ("noise", "noise_error", "rate")
    )
    return Runs(noise, error, rate, np.array([float(count) for *_, count in group]), np.full(len(group), log_delta))


def sampled(release: Release, neighbours: Relation) -> tuple[SampledGaussianLoss | None, int]:
    """The loss of the release and its count, if it is one sampled Gaussian step repeated."""
    try:
        run: ComposedLoss = release._run(neighbours)
    except HockeystickError:
        return None, 0  # the error is raised when it is asked by itself
    if len(run.terms) == 1:
        loss, count = run.terms[0]
        if isinstance(loss, SampledGaussianLoss) and count > 1:
            return loss, count
    return None, 0
