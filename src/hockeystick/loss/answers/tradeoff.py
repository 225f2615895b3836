"""The trade-off curve of a run (docs/mathematics.md, section 11): the best test of each level.

Where both errors are tiny, delta is next to 1 and 1 - delta is evaluated by itself (Lemma 7a).
"""

import math
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass

import numpy as np

from ...conversion._kernels.best_test import Errors, Profile, best_test
from ...conversion._kernels.gaussian_ends import error_ends
from ...numerics.cancellation_free import Array
from ...numerics.rounding import FUNCTION, SQUARE_ERROR, down, exp_up, up
from ..composed import ComposedLoss
from ..engines.driver import meet
from ..engines.engine import Proof
from ..pairs.gaussian import GaussianLoss
from ..protocol import Inconclusive
from .complement import log_complement
from .gdp import kinks, mu_ends


@dataclass(frozen=True)
class Tuning:
    """None of it enters a proof."""

    exponents: tuple[float, ...] = tuple(k / 64.0 for k in range(1, 64))
    """The t of Chernoff's bound that are tried; the best of them is near the best of all."""
    large_mu: float = 8.0
    """From here on delta(0) is so near to 1 that the mean of the loss is the better guess of mu."""
    wide: float = 1.1
    """Over the lower end: an upper end of the type-II error that is so much larger is held against Chernoff's bound."""


TUNING = Tuning()


def best_tests(
    run: ComposedLoss, reverse: ComposedLoss, forward: Profile, backward: Profile, relative: bool
) -> Callable[[float], Errors]:
    """The best test of each level from 0 to 1; `forward` and `backward` are the profiles of the run and of the reversed one.

    1 - delta is evaluated by itself only if the type-II error is wanted to `relative` accuracy.
    """
    one, two = _corners(run), _corners(reverse)
    corners = np.unique(np.concatenate((one, -two, -one, two)))  # the last ones are neighbours of the first, where all is tiny
    alone = run.terms[0][0] if len(run.terms) == 1 else None
    mu = math.sqrt(alone.square) if isinstance(alone, GaussianLoss) else 0.0
    guess: list[float] = []
    complements = (complement_ends(run, forward), complement_ends(reverse, backward)) if relative else None

    def test(alpha: float) -> Errors:
        if mu or not run.terms or alpha == 1.0:  # in closed form
            return Errors(*error_ends(mu * (1.0 - SQUARE_ERROR), mu * (1.0 + SQUARE_ERROR), alpha))
        if alpha == 0.0:
            return _of_level_zero(run)
        if not guess:
            guess.append(_guess_mu(run, forward))
        if run.exact:
            found = best_test(forward, backward, alpha, guess[0], corners, complements)
            if found.beta[1] > TUNING.wide * found.beta[0]:
                low, high = meet(Proof(*found.beta), Proof(0.0, _chernoff(run, alpha))).ends
                found = found._replace(beta=(max(low, 0.0), high))
            return found
        # the best bound, and the best that it may be, are two different profiles
        safe, member = (best_test(_end(forward, end), _end(backward, end), alpha, guess[0], corners) for end in (1, 0))
        beta = meet(Proof(safe.beta[0], 1.0), Proof(0.0, member.beta[1]))
        tpr = meet(Proof(0.0, safe.tpr[1]), Proof(member.tpr[0], 1.0))
        return Errors((max(beta.low, 0.0), beta.high), (max(tpr.low, 0.0), tpr.high))

    return test


def _corners(run: ComposedLoss) -> Array:
    """Where the profile may have a kink."""
    tops = [single.ceiling for single in run.ordered_pairs()] if run.exact else []
    return np.append(kinks(run), [top for top in tops if top < 1e9])


def complement_ends(run: ComposedLoss, profile: Profile) -> Profile:
    """log(1 - delta) of a run, evaluated once at each epsilon."""
    known: dict[float, tuple[float, float]] = {}

    def ask(epsilon: float) -> tuple[float, float]:
        if epsilon not in known:
            known[epsilon] = log_complement(run, epsilon, profile(epsilon))
        return known[epsilon]

    return ask


def _chernoff(run: ComposedLoss, alpha: float) -> float:
    """An upper bound of the type-II error, by Chernoff (docs/mathematics.md, section 11).

    f(alpha) = sup (1 - delta(eps) - e^eps alpha) <= sup (e^{K(-t) + t eps} - e^eps alpha), for 0 < t < 1, which is
    (1 - t) (e^{K(-t)} (t/alpha)^t)^{1/(1-t)}.
    """
    best = 1.0
    for single in run.ordered_pairs():
        if not all(loss.has_transform and loss.has_slice for loss, _ in single.terms):
            continue

        def height(value: float, t: float) -> float:
            return math.log1p(-t) + (value + t * (math.log(t) - math.log(alpha))) / (1.0 - t)

        with suppress(Inconclusive):
            t = min(TUNING.exponents, key=lambda t: height(single.expand(-t)[0], t))
            value = float(single.slice(-t, 0.0).cumulant_above(np.array([-t])).max())
            slack = 4.0 * FUNCTION * (abs(value) + t * (abs(math.log(t)) + abs(math.log(alpha))) + 1.0) / (1.0 - t)
            truncated = exp_up(single.log_truncated_mass) if single.log_truncated_mass > -math.inf else 0.0
            best = min(best, up(exp_up(height(value, t) + slack, 1.0) + truncated))
    return best


def _end(profile: Profile, end: int) -> Profile:
    """One end of a profile as if it were the profile."""

    def value(epsilon: float) -> tuple[float, float]:
        known = profile(epsilon)[end]
        return known, known

    return value


def _guess_mu(run: ComposedLoss, forward: Profile) -> float:
    """About the mu of a run, from delta(0), or where that is nearly 1 from the mean of the loss: a guide for the search."""
    mu = mu_ends(0.0, forward(0.0)[1])[1]
    if mu < TUNING.large_mu or not run.has_transform or not run.exact:
        return mu
    return math.sqrt(2.0 * max(run.ordered_pairs()[0].mean()[0], 0.0))


def _of_level_zero(run: ComposedLoss) -> Errors:
    """The test of level 0: without a false accusation only infinite losses are found."""
    mass = max(float(single.infinite_mass()) for one in run.variants("dominating")[:1] for single in one.ordered_pairs())
    if mass == 0.0:
        return Errors((1.0, 1.0), (0.0, 0.0))
    low = max(0.0, down(mass)) if run.exact else 0.0
    return Errors((down(1.0 - up(mass)), up(1.0 - low) if low else 1.0), (low, up(mass)))
