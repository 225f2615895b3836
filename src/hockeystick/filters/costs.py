"""What a release costs in the measure of each filter: certified upper ends, as exact fractions."""

import math
from fractions import Fraction

from .. import checks
from ..errors import BadType, BadValue
from ..loss.pairs.gaussian import GaussianLoss
from ..mechanism.claim import GDP, ZCDP, PureDP
from ..mechanism.gaussian import Gaussian
from ..mechanism.laplace import Laplace
from ..mechanism.release import Mechanism, Release, joined
from ..mechanism.response import Exponential, RandomizedResponse
from ..mechanism.training import Training
from ..neighbours import DEFAULT, Relation, checked, orders
from ..numerics.rounding import SQUARE_ERROR
from ..planning.concentrated import rho_of
from .amounts import exact

BOTH_WAYS: tuple[Relation, ...] = (DEFAULT, "replace", "zero-out")


def relation(neighbours: object) -> Relation:
    """A relation that does not say which of the two data sets has the record."""
    found = checked(neighbours)
    if found not in BOTH_WAYS:
        raise BadValue(
            f"neighbours is {found!r}; allowed for a budget: {', '.join(BOTH_WAYS)}, which speak of both orders of a pair."
        )
    return found


def plain(name: str, release: object, neighbours: Relation) -> Release:
    """The parts of a release that is meant for this relation; those of a run of training without its words."""
    if not isinstance(release, Release):
        raise BadType(f"{name} is {release!r}; allowed: a release such as Gaussian(sigma=2.0).")
    if release.stated not in (DEFAULT, neighbours):
        raise BadValue(
            f"{name} is stated for neighbours={release.stated!r}, the budget for {neighbours!r}; "
            "allowed: a release for the relation of the budget."
        )
    if isinstance(release, Training):
        return joined(release.parts)
    return release


def squared_mu(release: Release, delta: float, neighbours: Relation) -> Fraction | float:
    """mu^2 with delta(eps) <= delta_mu(eps) + delta for every real eps, in both orders; inf if there is none."""
    squares = [(_one_square(mechanism, neighbours), count) for mechanism, count in release.parts]
    if all(square is not None for square, _ in squares):
        return sum((square * count for square, count in squares if square is not None), Fraction(0))
    run = release._both(neighbours)
    if not run.terms:
        return Fraction(0)
    if len(run.terms) == 1 and isinstance(loss := run.terms[0][0], GaussianLoss):  # (it is one term whatever the counts)
        return Fraction(loss.square) * run.terms[0][1] * (1 + Fraction(SQUARE_ERROR))
    found = float(release.mu_bounds(delta or None, neighbours=neighbours).upper)
    if 0.0 < found < 1e-5:  # where 1e-9, the width of the first answer, is much
        found = min(found, float(release.mu_bounds(delta or None, max(1e-4 * found, 1e-14), neighbours).upper))
    return Fraction(found) ** 2 if found < math.inf else math.inf


def _one_square(mechanism: Mechanism, neighbours: Relation) -> Fraction | None:
    """mu^2 from the parameters as they were written, where that is a formula."""
    if isinstance(mechanism, Gaussian):
        moved = mechanism._moved(orders(neighbours)[0])
        return (exact("sensitivity", moved) / exact("sigma", mechanism.sigma)) ** 2
    if isinstance(mechanism, GDP) and mechanism.neighbours == neighbours:
        return exact("mu", mechanism.claimed_mu) ** 2
    return None


def pure_epsilon(release: Release, delta: float, neighbours: Relation) -> Fraction | float:
    """epsilon at this delta; at 0 the sum of those of the parts, from parameters as they were written where that is a formula."""
    if delta:
        found = release.epsilon(delta, neighbours)
        return Fraction(found) if found < math.inf else math.inf
    total = Fraction(0)
    for mechanism, count in release.parts:
        one = _one_epsilon(mechanism, neighbours)
        if one == math.inf:
            return math.inf
        total += count * Fraction(one)
    return total


def _one_epsilon(mechanism: Mechanism, neighbours: Relation) -> Fraction | float:
    if isinstance(mechanism, Laplace):
        moved = mechanism._moved(orders(neighbours)[0])
        return exact("sensitivity", moved) / exact("scale", mechanism.scale)
    if isinstance(mechanism, PureDP) and mechanism.neighbours == neighbours:
        return exact("epsilon", mechanism.claimed_epsilon)
    if isinstance(mechanism, Exponential) or (isinstance(mechanism, RandomizedResponse) and mechanism.null is None):
        return exact("epsilon", mechanism.one_epsilon)
    return mechanism.rdp(math.inf, neighbours)


def renyi(release: Release, order: float, neighbours: Relation) -> Fraction | float:
    """The Rényi divergence of an order; inf if there is none."""
    total = Fraction(0)
    for mechanism, count in release.parts:
        if (square := _one_square(mechanism, neighbours)) is not None:
            total += count * Fraction(order) * square / 2
            continue
        found = (mechanism * count).rdp(order, neighbours)
        if found == math.inf:
            return math.inf
        total += Fraction(found)
    return total


def rho(release: Release, neighbours: Relation) -> Fraction | float:
    """The rho of zCDP; inf if there is none."""
    total, rest = Fraction(0), []
    for mechanism, count in release.parts:
        if (square := _one_square(mechanism, neighbours)) is not None:
            total += count * square / 2
        elif isinstance(mechanism, ZCDP) and mechanism.neighbours == neighbours and not mechanism.xi:
            total += count * exact("rho", mechanism.claimed_rho)
        else:
            rest.append((mechanism, count))
    found = rho_of(joined(rest), neighbours) if rest else 0.0
    return total + Fraction(found) if found < math.inf else math.inf


def known_by_renyi_only(release: Release, neighbours: Relation) -> bool:
    """Whether some bound of it goes by Rényi divergences that no pair is known to have, instead of composed pairs."""
    run = release._run(neighbours)
    bounds = [one for order in (run, *run.ordered_pairs()) for one in order.variants("dominating")]
    return any(not single.has_transform for one in bounds for single in (one, *one.ordered_pairs()))


def order_of(value: object) -> float:
    """A Rényi order above 1, and finite."""
    number = checks.real("order", value, "a finite number above 1")
    if number <= 1.0:
        raise BadValue(f"order is {number}; allowed: a finite number above 1.")
    return number
