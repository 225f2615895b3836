"""What each event of dp_accounting means, in our words."""

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from dp_accounting import dp_event as events
from dp_accounting.dp_event import DpEvent
from dp_accounting.privacy_accountant import NeighboringRelation

from ... import checks
from ...errors import BadType, BadValue, Unsupported
from ...mechanism.claim import ZCDP, ApproxDP, PureDP
from ...mechanism.discrete import DiscreteLaplace
from ...mechanism.gaussian import Gaussian
from ...mechanism.laplace import Laplace
from ...mechanism.mixture import GaussianMixture
from ...mechanism.release import Mechanism, Release, joined
from ...mechanism.response import RandomizedResponse
from ...mechanism.training import Training
from ...neighbours import DEFAULT, Relation, checked, orders
from ...numerics.rounding import FUNCTION, UNIT, up
from ...sampling.poisson import Poisson
from .amounts import product_up, ratio_down, thinned

Parts = tuple[tuple[Mechanism, int], ...]
RELATIONS: dict[Any, Relation] = {
    NeighboringRelation.ADD_OR_REMOVE_ONE: "add-or-remove",
    NeighboringRelation.REPLACE_ONE: "replace",
    NeighboringRelation.REPLACE_SPECIAL: "zero-out",
}


class NonPrivate(Exception):
    """An event that gives no privacy at all was found; the message is the event."""


class EventRefused(Unsupported):
    """An event for which there is no theorem here, or none under the relation asked for."""

    def __init__(self, event: DpEvent, why: str) -> None:
        super().__init__(f"{type(event).__name__} is not accounted for: {why}")
        self.event = event


def from_dp_event(event: DpEvent, neighbours: Any = DEFAULT) -> Release:
    """The release that an event describes, for a relation: ours ("replace") or theirs (REPLACE_ONE).

    Questions are answered for that relation unless they name another.  Refused: what has no guarantee (`NonPrivateDpEvent`, no
    noise), and what no theorem here covers.

    Parameters
    ----------
    event : dp_accounting.DpEvent
        The event.
    neighbours : Relation or dp_accounting.NeighboringRelation, default "add-or-remove"
        The neighbouring relation, "add-or-remove", "replace" or "zero-out" in our words.

    Returns
    -------
    Release
        What the event describes, never more private than it.

    Raises
    ------
    BadType
        If neighbours is neither, or a parameter of the event no number.
    BadValue
        If neighbours is no relation of events, or a parameter is out of its range.
    Unsupported
        If the event has no guarantee, or no theorem here covers it.

    Examples
    --------
    >>> import dp_accounting as dp
    >>> from_dp_event(dp.SelfComposedDpEvent(dp.GaussianDpEvent(2.0), 3))
    Gaussian(sigma=2.0) * 3
    """
    relation = relation_of(neighbours)
    try:
        release = joined(parts_of(event, relation))
    except NonPrivate as found:
        raise Unsupported(
            f"{found} gives no privacy at all, which no release describes; HockeystickAccountant answers infinity for it."
        ) from None
    if relation == DEFAULT:
        return release
    return Training(release, relation, ("From an event of dp_accounting.", f"Neighbours: {relation}."))


def relation_of(neighbours: Any) -> Relation:
    """The relation in our words."""
    if isinstance(neighbours, NeighboringRelation):
        return RELATIONS[neighbours]
    relation = checked(neighbours)
    if relation not in RELATIONS.values():
        raise BadValue(f"neighbours is {relation!r}; allowed with events: {', '.join(RELATIONS.values())}.")
    return relation


def parts_of(event: DpEvent, relation: Relation, within: str | None = None) -> Parts:
    """The mechanisms of an event and how often each is used; `within` names the sampler around it.

    `NonPrivate` if it gives no privacy, but only where all of it is understood.

    >>> parts_of(events.ComposedDpEvent([events.GaussianDpEvent(2.0), events.NoOpDpEvent()]), "replace")
    ((Gaussian(sigma=2.0), 1),)
    """
    if type(event) is events.SelfComposedDpEvent:
        times = checks.count("count", event.count)
        return tuple((one, used * times) for one, used in parts_of(event.event, relation, within)) if times else ()
    if type(event) is events.ComposedDpEvent:
        found: list[tuple[Mechanism, int]] = []
        open_to_all = None
        for one in event.events:
            try:
                found += parts_of(one, relation, within)
            except NonPrivate as error:
                open_to_all = error
        if open_to_all:
            raise open_to_all
        return tuple(found)
    if not isinstance(event, DpEvent):
        raise BadType(f"event is {event!r}; allowed: a DpEvent of dp_accounting.")
    return _translated(event, relation, within)


def _translated(event: DpEvent, relation: Relation, within: str | None) -> Parts:
    """Of an event that is made of no others, or draws a sample for them."""
    translate = (_NEWER | _MEANINGS).get(type(event).__name__)
    if translate is None or type(event).__module__ != events.__name__:
        raise EventRefused(event, "its meaning is not known.  Describe it by the events that it consists of.")
    try:
        parts = translate(event, relation, within).parts
        if within is None:
            for mechanism, _ in parts:
                mechanism._pair_loss(orders(relation))  # refused where there is no proof
    except EventRefused:
        raise
    except AttributeError as error:
        raise EventRefused(event, f"its fields are not those that are known ({error}).") from None
    except Unsupported as error:
        raise EventRefused(event, str(error)) from None
    return parts


_NOTHING = joined(())


def _no_op(event: Any, relation: Relation, within: str | None) -> Release:
    return _NOTHING


def _non_private(event: Any, relation: Relation, within: str | None) -> Release:
    raise NonPrivate(repr(event))


def _gaussian(event: Any, relation: Relation, within: str | None) -> Release:
    """||v_i|| <= C and noise of s: sigma = s / C in units of C, so that a replacement moves by 2."""
    return Gaussian(sigma=_noise("noise_multiplier", event.noise_multiplier, event))


def _laplace(event: Any, relation: Relation, within: str | None) -> Release:
    return Laplace(scale=_noise("noise_multiplier", event.noise_multiplier, event))


def _discrete_laplace(event: Any, relation: Relation, within: str | None) -> Release:
    """P(x) proportional to e^{-a|x|}: scale 1/a."""
    fall = _noise("noise_parameter", event.noise_parameter, event)
    return DiscreteLaplace(scale=ratio_down(1.0, fall), sensitivity=checks.count("sensitivity", event.sensitivity, least=1))


def _response(event: Any, relation: Relation, within: str | None) -> Release:
    """Any of k buckets with probability p, else the true one: e^epsilon = 1 + k (1 - p) / p."""
    noise = checks.real("noise_parameter", event.noise_parameter, "a probability from 0 to 1")
    if not 0.0 <= noise <= 1.0:
        raise BadValue(f"noise_parameter is {noise}; allowed: a probability from 0 to 1.")
    buckets = checks.count("num_buckets", event.num_buckets, least=1)
    if within not in (None, "fixed size") or (within is None and relation == DEFAULT):
        raise EventRefused(
            event,
            "it answers for a record that is there, and what it answers for none is not said.  Ask for REPLACE_ONE or "
            "REPLACE_SPECIAL, without Poisson sampling.",
        )
    if buckets == 1 or noise == 1.0:
        return _NOTHING
    if noise == 0.0:
        raise NonPrivate(repr(event))
    exact = buckets * (1 - Fraction(noise)) / Fraction(noise)
    if exact > Fraction(10) ** 300:
        raise BadValue(f"noise_parameter is {noise}; allowed: 0, or at least 1e-300 times the number of buckets.")
    odds = float(exact)
    epsilon = up(math.log1p(odds) * (1.0 + 2.0 * FUNCTION) + UNIT * odds / (1.0 + odds))
    return RandomizedResponse(epsilon=epsilon, categories=buckets, null="uniform")


def _mixture(event: Any, relation: Relation, within: str | None) -> Release:
    if relation == "replace" or within not in (None, "Poisson"):
        raise EventRefused(
            event,
            "it states the two outputs with and without the record; of a replaced record it says nothing.  Ask for "
            "ADD_OR_REMOVE_ONE or REPLACE_SPECIAL, or describe a hockeystick.GaussianMixture.",
        )
    moves, weights = checks.listed("sensitivities", event.sensitivities), checks.listed("sampling_probs", event.sampling_probs)
    moved = any(move and weight for move, weight in zip(moves, weights, strict=False))
    sigma = checks.non_negative("standard_deviation", event.standard_deviation)
    if sigma == 0.0 and moved:
        raise NonPrivate(repr(event))
    mixture = GaussianMixture(sigma=sigma or 1.0, moves=tuple(moves), weights=tuple(weights))
    return mixture if moved else _NOTHING


def _zcdp(event: Any, relation: Relation, within: str | None) -> Release:
    """A claim for the relation that is asked."""
    claim = ZCDP(rho=event.rho, xi=event.xi, neighbours=relation)
    return claim if claim.claimed_rho or claim.xi else _NOTHING


def _tree(event: Any, relation: Relation, within: str | None) -> Release:
    """Every record comes into one leaf of one tree, so into as many nodes as the deepest tree has levels: ceil(log2(steps + 1)).

    All nodes together are Gaussian noise on a vector that the record moves by sqrt(levels) C, or 2 sqrt(levels) C if it is
    replaced (Kairouz, McMahan, Song, Thakkar, Thakurta and Xu 2021, arXiv:2103.00039, appendix D).  Records that come or go
    move the others to other leaves.
    """
    counts = event.step_counts
    counts = checks.listed("step_counts", counts) if not isinstance(counts, int | float) else [counts]
    if not counts:
        raise BadValue("step_counts is empty; allowed: a whole number, or several.")
    levels = max(checks.count("step_counts", one) for one in counts).bit_length()
    return (_gaussian(event, relation, within) * levels).full_pass(by="position") if levels else _NOTHING


def _poisson(event: Any, relation: Relation, within: str | None) -> Release:
    rate = checks.rate("sampling_probability", event.sampling_probability)
    if rate == 0.0:
        return _NOTHING
    base = _inner(event, relation, within, "Poisson")
    if not base.parts:
        return _NOTHING
    (only, used), *more = base.parts
    if not more and used == 1 and isinstance(only, Poisson):  # a coin for each of two coins
        return Poisson(only.base, min(1.0, product_up(rate, only.rate)))
    if not more and used == 1 and isinstance(only, GaussianMixture):
        return thinned(only, rate)
    return base.poisson(rate)


def _without_replacement(event: Any, relation: Relation, within: str | None) -> Release:
    if not checks.count("sample_size", event.sample_size):
        return _NOTHING
    base = _inner(event, relation, within, "fixed size")
    return base.without_replacement(batch=event.sample_size, examples=event.source_dataset_size) if base.parts else _NOTHING


def _with_replacement(event: Any, relation: Relation, within: str | None) -> Release:
    if not checks.count("sample_size", event.sample_size):
        return _NOTHING
    base = _inner(event, relation, within, "fixed size")
    return base.with_replacement(draws=event.sample_size, examples=event.source_dataset_size) if base.parts else _NOTHING


def _truncated(event: Any, relation: Relation, within: str | None) -> Release:
    rate, cap = checks.rate("sampling_probability", event.sampling_probability), event.truncated_batch_size
    records = checks.count("dataset_size", event.dataset_size)
    if rate == 0.0 or not records or not checks.count("truncated_batch_size", cap):
        return _NOTHING
    return _gaussian(event, relation, within).truncated_poisson(rate=rate, cap=cap, examples=records)


def _allocated(event: Any, relation: Relation, within: str | None) -> Release:
    """Every record takes part in `num_selected` of `num_steps` steps, drawn uniformly."""
    selected = checks.count("num_selected", event.num_selected)
    base = _inner(event, relation, within, "random allocation")
    return base.allocated(steps=event.num_steps, times=selected) if selected and base.parts else _NOTHING


def _epsilon_delta(event: Any, relation: Relation, within: str | None) -> Release:
    """A claim for the relation that is asked."""
    return ApproxDP(epsilon=event.epsilon, delta=event.delta, neighbours=relation)


def _permute_and_flip(event: Any, relation: Relation, within: str | None) -> Release:
    """epsilon-DP, and not of bounded range."""
    return PureDP(epsilon=event.epsilon, neighbours=relation)


def _repeat_and_select(event: Any, relation: Relation, within: str | None) -> Release:
    raise EventRefused(
        event,
        "the theorems on choosing the best of a random number of runs (Papernot and Steinke 2022) are not there.  Run it a fixed "
        "number of times and account for all of them with SelfComposedDpEvent.",
    )


def _unsupported(event: Any, relation: Relation, within: str | None) -> Release:
    raise EventRefused(event, "it says of itself that it is not supported.")


_MEANINGS: dict[str, Callable[[Any, Relation, str | None], Release]] = {
    "NoOpDpEvent": _no_op,
    "NonPrivateDpEvent": _non_private,
    "UnsupportedDpEvent": _unsupported,
    "GaussianDpEvent": _gaussian,
    "LaplaceDpEvent": _laplace,
    "DiscreteLaplaceDpEvent": _discrete_laplace,
    "RandomizedResponseDpEvent": _response,
    "MixtureOfGaussiansDpEvent": _mixture,
    "ZCDpEvent": _zcdp,
    "SingleEpochTreeAggregationDpEvent": _tree,
    "PoissonSampledDpEvent": _poisson,
    "SampledWithoutReplacementDpEvent": _without_replacement,
    "SampledWithReplacementDpEvent": _with_replacement,
    "TruncatedSubsampledGaussianDpEvent": _truncated,
    "RepeatAndSelectDpEvent": _repeat_and_select,
}


_NEWER: dict[str, Callable[[Any, Relation, str | None], Release]] = {
    "RandomAllocationDpEvent": _allocated,
    "EpsilonDeltaDpEvent": _epsilon_delta,
    "PermuteAndFlipDpEvent": _permute_and_flip,
}
"""Events of versions later than 0.6.0, known by name and fields."""


def _inner(event: Any, relation: Relation, within: str | None, scheme: str) -> Release:
    """What a sampler draws for; a claim of the whole relation stays one."""
    inside = scheme if within in (None, scheme) else "both"
    return joined(parts_of(event.event, relation, inside))


def _noise(name: str, value: Any, event: DpEvent) -> float:
    number = checks.non_negative(name, value)
    if number == 0.0:
        raise NonPrivate(repr(event))
    return number
