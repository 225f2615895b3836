"""Releases as events of dp_accounting."""

from collections.abc import Iterable
from fractions import Fraction
from math import comb, exp
from typing import Any

from dp_accounting import dp_event as events
from dp_accounting.dp_event import DpEvent

from ...errors import BadType, Unsupported
from ...mechanism.claim import GDP, ZCDP
from ...mechanism.discrete import DiscreteLaplace
from ...mechanism.gaussian import Gaussian
from ...mechanism.laplace import Laplace
from ...mechanism.matrix.release import MatrixMechanism
from ...mechanism.mixture import GaussianMixture
from ...mechanism.noise import AdditiveNoise
from ...mechanism.release import Mechanism, Release
from ...mechanism.response import RandomizedResponse
from ...neighbours import DEFAULT, STATED, Relation, Stated
from ...numerics.rounding import FUNCTION, down, up
from ...sampling.banded import Banded
from ...sampling.base import Sampled
from ...sampling.fixed_size import WithoutReplacement, WithReplacement
from ...sampling.full_pass import FullPass
from ...sampling.group import GroupedPoisson
from ...sampling.poisson import Poisson
from .amounts import ratio_down
from .meanings import relation_of


def to_dp_event(release: Release, neighbours: Any = STATED) -> DpEvent:
    """The event that describes a release, to be accounted for under this relation (that which the release states).

    Parameters
    ----------
    release : Release
        What to describe.
    neighbours : Relation or dp_accounting.NeighboringRelation, optional
        The relation that the event is accounted for under; by default the one that the release states.

    Returns
    -------
    dp_accounting.DpEvent
        The event, never more private than the release.

    Raises
    ------
    BadType
        If release is no release, or neighbours no relation of either kind.
    BadValue
        If neighbours is no relation of events.
    Unsupported
        If a part has no event, or no theorem covers it under this relation.

    Examples
    --------
    >>> import hockeystick as hs
    >>> to_dp_event(hs.Gaussian(sigma=2.0, sensitivity=0.5).poisson(rate=0.1) * 3)
    SelfComposedDpEvent(event=PoissonSampledDpEvent(sampling_probability=0.1,
                                                    event=GaussianDpEvent(noise_multiplier=4.0)), count=3)
    """
    if not isinstance(release, Release):
        raise BadType(f"release is {release!r}; allowed: a release such as Gaussian(sigma=2.0) * 3.")
    relation = release.stated if isinstance(neighbours, Stated) else relation_of(neighbours)
    release._run(relation)
    return _joined(release.parts, relation)


def _joined(parts: Iterable[tuple[Mechanism, int]], relation: Relation) -> DpEvent:
    """One event for all parts.

    >>> _joined([(Gaussian(sigma=2.0), 3)], "add-or-remove")
    SelfComposedDpEvent(event=GaussianDpEvent(noise_multiplier=2.0), count=3)
    """
    found = []
    for mechanism, count in parts:
        one = _event(mechanism, relation)
        found.append(one if count == 1 else events.SelfComposedDpEvent(one, count))
    if len(found) == 1:
        return found[0]
    return events.ComposedDpEvent(found) if found else events.NoOpDpEvent()


def _event(mechanism: Mechanism, relation: Relation) -> DpEvent:
    if isinstance(mechanism, AdditiveNoise) and mechanism.replace_sensitivity not in (None, 2.0 * mechanism.sensitivity):
        raise _refuse(mechanism, "a replaced record moves the answers of events by twice the sensitivity.")
    match mechanism:
        case Gaussian():
            return events.GaussianDpEvent(ratio_down(mechanism.sigma, mechanism.sensitivity))
        case GDP() if mechanism.neighbours == DEFAULT and relation != "zero-out":  # to which group privacy carries it
            mu = mechanism.claimed_mu
            return events.GaussianDpEvent(ratio_down(1.0, mu)) if mu else events.NoOpDpEvent()
        case Laplace():
            return events.LaplaceDpEvent(ratio_down(mechanism.scale, mechanism.sensitivity))
        case DiscreteLaplace():
            scale = mechanism.scale
            fall = 1.0 / scale
            fall = up(fall) if Fraction(fall) * Fraction(scale) < 1 else fall
            return events.DiscreteLaplaceDpEvent(fall, int(mechanism.sensitivity))
        case RandomizedResponse():
            return _response(mechanism, relation)
        case GaussianMixture() if relation != "replace":
            return events.MixtureOfGaussiansDpEvent(mechanism.sigma, list(mechanism.moves), list(mechanism.weights))
        case ZCDP() if mechanism.neighbours == relation or (mechanism.neighbours, relation) == ("replace", "zero-out"):
            return events.ZCDpEvent(mechanism.claimed_rho, mechanism.xi)
        case MatrixMechanism():
            moved = mechanism.strategy.sensitivity(mechanism.participations, mechanism.separation, mechanism.exactly).upper
            return events.GaussianDpEvent(ratio_down(mechanism.sigma, up(moved * mechanism.sensitivity)))
        case Banded():
            return _joined([(mechanism.base.parts[0][0], mechanism._rounds)], relation)
        case Sampled():
            return _sampled_event(mechanism, relation)
    raise _refuse(mechanism, f"no event says that for {relation}.")


def _sampled_event(mechanism: Sampled, relation: Relation) -> DpEvent:
    match mechanism:
        case Poisson():
            return events.PoissonSampledDpEvent(mechanism.rate, _joined(mechanism.base.parts, relation))
        case WithoutReplacement():
            inner = _joined(mechanism.base.parts, relation)
            return events.SampledWithoutReplacementDpEvent(mechanism.examples, mechanism.batch, inner)
        case WithReplacement():
            inner = _joined(mechanism.base.parts, relation)
            return events.SampledWithReplacementDpEvent(mechanism.examples, mechanism.draws, inner)
        case FullPass() if relation != DEFAULT:
            return _tree(mechanism)
        case GroupedPoisson() if relation != "replace":
            return _group(mechanism)
    raise _refuse(mechanism, f"no event says that for {relation}.")


def _response(mechanism: RandomizedResponse, relation: Relation) -> DpEvent:
    """p = k / (e^epsilon + k - 1), rounded down; a null record of dp_accounting answers uniformly."""
    if relation != "replace" and not (relation == "zero-out" and mechanism.null):
        raise _refuse(mechanism, "its event is for REPLACE_ONE, and for REPLACE_SPECIAL if a null record answers uniformly.")
    k, epsilon = mechanism.categories, mechanism.one_epsilon
    fade = exp(-epsilon)
    noise = min(1.0, k * fade / (1.0 + (k - 1) * fade) * (1.0 - 4.0 * FUNCTION)) if epsilon else 1.0
    return events.RandomizedResponseDpEvent(noise, k)


def _tree(mechanism: FullPass) -> DpEvent:
    """A pass with the same Gaussian noise l times: a tree of l levels."""
    (only, levels), *more = mechanism.base.parts
    if more or not isinstance(only, Gaussian) or levels > 1000:
        raise _refuse(mechanism, "a pass is an event for one kind of Gaussian noise only.")
    inner: Any = _event(only, "zero-out")
    return events.SingleEpochTreeAggregationDpEvent(inner.noise_multiplier, 2 ** (levels - 1))


def _group(mechanism: GroupedPoisson) -> DpEvent:
    """Binomial weights; those of moves are rounded up, the rest down."""
    (only, used), *more = mechanism.base.parts
    if more or used > 1 or not isinstance(only, Gaussian):
        raise _refuse(mechanism, "a sampled group is an event for one Gaussian noise only.")
    size, rate = mechanism.size, Fraction(mechanism.rate)
    weights = [up(float(comb(size, k) * rate**k * (1 - rate) ** (size - k))) for k in range(1, size + 1)]
    rest = max(0.0, down(float(1 - sum(map(Fraction, weights)))))
    return events.MixtureOfGaussiansDpEvent(only.sigma, [k * only.sensitivity for k in range(size + 1)], [rest, *weights])


def _refuse(mechanism: Mechanism, why: str) -> Unsupported:
    return Unsupported(f"{mechanism!r} has no event of dp_accounting: {why}  Keep it with to_json.")
