"""The stored masses of dp_accounting's privacy loss distributions, as an upper claim.

docs/mathematics/densities.md, Lemma 72.
"""

from importlib.metadata import version
from typing import Any

import numpy as np
from dp_accounting.pld import pld_pmf, privacy_loss_distribution

from ...errors import BadType, Unsupported
from ...mechanism.own.stored import Stored, StoredMasses
from ...neighbours import DEFAULT, Relation

_ALLOWED = "a PrivacyLossDistribution of dp_accounting, or one of its PLDPmf"


def from_pld(pld: Any, neighbours: Relation = DEFAULT) -> StoredMasses:
    """A pessimistic privacy loss distribution of dp_accounting as a release: an upper claim, without a lower end.

    It composes, is sampled and reported like any other release.  Its upper ends are as true as what dp_accounting stored, whose
    rounding is not certified; reports say so.

    Parameters
    ----------
    pld : PrivacyLossDistribution or PLDPmf
        What dp_accounting computed: of both orders, or one law of a removal, whose pair then gives the other order, too.
    neighbours : {"add-or-remove", "replace", "zero-out"}, default "add-or-remove"
        The relation that it was computed for.

    Returns
    -------
    StoredMasses
        The release.

    Raises
    ------
    BadType
        If pld is neither, or its masses are stored in a way that is not known.
    BadValue
        If its masses are no probabilities, or the relation is no relation.
    Unsupported
        If it is an optimistic estimate, all of its mass is at an infinite loss, or the relation is symmetric and the orders
        differ.

    Examples
    --------
    >>> from dp_accounting.pld import privacy_loss_distribution
    >>> theirs = privacy_loss_distribution.from_laplace_mechanism(2.0)
    >>> run = from_pld(theirs) * 10
    >>> round(run.epsilon(delta=1e-6), 3), round(theirs.self_compose(10).get_epsilon_for_delta(1e-6), 3)
    (4.999, 4.999)
    """
    source = f"dp_accounting {version('dp-accounting')}"
    if isinstance(pld, pld_pmf.PLDPmf):
        return StoredMasses(_read(pld), None, neighbours, source)
    if not isinstance(pld, privacy_loss_distribution.PrivacyLossDistribution):
        raise BadType(f"pld is {pld!r} ({type(pld).__name__}); allowed: {_ALLOWED}.")
    one, other = pld._pmf_remove, pld._pmf_add
    if other is one:
        return StoredMasses(_read(one), None, neighbours, source, symmetric=True)
    return StoredMasses(_read(one), _read(other), neighbours, source)


def _read(law: Any) -> Stored:
    """The masses of one order."""
    if not law._pessimistic_estimate:
        raise Unsupported(
            "pld is an optimistic estimate, which bounds nothing from above; make it with pessimistic_estimate=True, the default."
        )
    infinite, step = float(law._infinity_mass), float(law._discretization)
    if isinstance(law, pld_pmf.DensePLDPmf):
        return Stored(step, int(law._lower_loss), np.asarray(law._probs, dtype=np.float64), infinite)
    if not isinstance(law, pld_pmf.SparsePLDPmf):
        raise BadType(f"the masses of {type(law).__name__} are stored in a way that is not known; allowed: {_ALLOWED}.")
    known = {int(place): float(mass) for place, mass in law._loss_probs.items()}
    if not known:
        raise Unsupported("all of the mass is at an infinite loss: delta is 1 at every epsilon.")
    first = min(known)
    masses = np.zeros(max(known) - first + 1)
    for place, mass in known.items():
        masses[place - first] += mass
    return Stored(step, first, masses, infinite)
