"""The trade-off curve of a run."""

import math
from collections.abc import Callable

import numpy as np

from ..conversion.gdp import error_ends
from ..conversion.tradeoff import Errors, Profile, best_test
from ..numerics.rounding import down, up
from .composed import ComposedLoss
from .gaussian import SQUARE_ERROR, GaussianLoss
from .gdp import kinks, mu_ends
from .renyi import RenyiLoss


def tester(run: ComposedLoss, forward: Profile, backward: Profile) -> Callable[[float], Errors]:
    """The best test of each level from 0 to 1 for a run; `forward` and `backward` are its profiles in the two orders."""
    corners = kinks(run)
    tops = [single.ceiling for single in run.singles()] if run.exact else []
    corners = np.unique(np.concatenate((corners, -corners, [end for top in tops if top < 1e9 for end in (top, -top)])))
    alone = run.terms[0][0] if len(run.terms) == 1 else None
    mu = math.sqrt(alone.square) if isinstance(alone, GaussianLoss) else 0.0
    guess: list[float] = []

    def test(alpha: float) -> Errors:
        if mu or not run.terms or alpha == 1.0:  # in closed form
            return Errors(*error_ends(mu * (1.0 - SQUARE_ERROR), mu * (1.0 + SQUARE_ERROR), alpha))
        if alpha == 0.0:
            return _surely(run)
        if not guess:
            guess.append(_about(run, forward))
        if run.exact:
            return best_test(forward, backward, alpha, guess[0], corners)
        # the best bound, and the best that it may be, are two different profiles
        safe, member = (best_test(_end(forward, end), _end(backward, end), alpha, guess[0], corners) for end in (1, 0))
        beta = safe.beta[0], max(safe.beta[0], member.beta[1])
        return Errors(beta, (min(member.tpr[0], safe.tpr[1]), safe.tpr[1]))

    return test


def _end(profile: Profile, end: int) -> Profile:
    """One end of a profile as if it were the profile."""

    def value(epsilon: float) -> tuple[float, float]:
        known = profile(epsilon)[end]
        return known, known

    return value


def _about(run: ComposedLoss, forward: Profile) -> float:
    """About the mu of a run: a guide for the search.  Where delta(0) is nearly 1, from the mean of the loss."""
    mu = mu_ends(0.0, forward(0.0)[1])[1]
    if mu < 8.0 or any(isinstance(loss, RenyiLoss) for loss, _ in run.terms) or not run.exact:
        return mu
    return math.sqrt(2.0 * max(run.singles()[0].mean()[0], 0.0))


def _surely(run: ComposedLoss) -> Errors:
    """Without a false accusation only infinite losses tell."""
    mass = max(float(single.infinite()) for one in run.variants("covers")[:1] for single in one.singles())
    if mass == 0.0:
        return Errors((1.0, 1.0), (0.0, 0.0))
    low = max(0.0, down(mass)) if run.exact else 0.0
    return Errors((down(1.0 - up(mass)), up(1.0 - low) if low else 1.0), (low, up(mass)))
