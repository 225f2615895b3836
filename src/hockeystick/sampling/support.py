"""What is accounted for: scheme x relation x family, as the code itself answers; printed in docs/sampling.md."""

import math
from collections.abc import Callable

from ..errors import Unsupported
from ..mechanism.claim import RDP, ZCDP, ApproxDP, PureDP
from ..mechanism.discrete import DiscreteGaussian, DiscreteLaplace
from ..mechanism.gaussian import Gaussian
from ..mechanism.laplace import Laplace
from ..mechanism.own.pair import Pair
from ..mechanism.profile import Profile
from ..mechanism.release import Mechanism, Release
from ..mechanism.response import Exponential, RandomizedResponse
from ..neighbours import Relation, orders
from .shuffled import Shuffled

_CLAIMED: tuple[Relation, ...] = ("add-or-remove", "replace")
_CURVE = (2.0, 8.0, 32.0), (0.01, 0.04, 0.16)

FAMILIES: dict[str, Callable[[Relation], Release]] = {
    "Gaussian, GDP": lambda relation: Gaussian(sigma=2.0),
    "Laplace": lambda relation: Laplace(scale=2.0),
    "discrete noise": lambda relation: DiscreteLaplace(scale=2.0),
    "discrete Gaussian": lambda relation: DiscreteGaussian(sigma=2.0),
    "response": lambda relation: RandomizedResponse(epsilon=1.0, categories=3),
    "exponential": lambda relation: Exponential(epsilon=1.0),
    "PureDP": lambda relation: PureDP(epsilon=1.0, neighbours=relation),
    "ApproxDP": lambda relation: ApproxDP(epsilon=1.0, delta=1e-6, neighbours=relation),
    "Profile": lambda relation: Profile(lambda epsilon: max(0.0, 1.0 - math.exp(0.5 * (epsilon - 1.0))), neighbours=relation),
    "Pair": lambda relation: Pair(("2/3", "1/3"), ("1/2", "1/2"), relation),
    "ZCDP": lambda relation: ZCDP(rho=0.1, neighbours=relation),
    "RDP": lambda relation: RDP(*_CURVE, neighbours=relation),
}
SCHEMES: dict[str, Callable[[Release], Mechanism]] = {
    "Poisson": lambda base: base.poisson(rate=0.1),
    "truncated Poisson": lambda base: base.truncated_poisson(rate=0.1, cap=20, examples=128),
    "without replacement": lambda base: base.without_replacement(batch=10, examples=128),
    "with replacement": lambda base: base.with_replacement(draws=10, examples=128),
    "a pass by position": lambda base: base.full_pass(by="position"),
    "a pass by id": lambda base: base.full_pass(by="id"),
    "a shuffled pass": lambda base: base.full_pass(by="shuffle"),
    "random allocation": lambda base: base.allocated(steps=10),
    "banded noise": lambda base: base.poisson(rate=0.1).banded(bands=4, iterations=40),
    "shuffled reports": lambda base: Shuffled(base, count=1000),
}
RELATIONS: tuple[Relation, ...] = ("add-or-remove", "replace", "zero-out")
THEOREMS = {
    ("Poisson", "add-or-remove"): "[ZDW22] Theorem 11, Proposition 30; Rényi: [S22] Theorem 34, 35",
    (
        "Poisson",
        "replace",
    ): "[mathematics](mathematics.md) section 13; response, exponential: [BBG18] joint convexity; Rényi: [S22] 6.7",
    ("Poisson", "zero-out"): "noise: as add-or-remove; others: as replace",
    ("truncated Poisson", "add-or-remove"): "[G25b] as proved in [mathematics](mathematics.md) Lemma 55",
    ("truncated Poisson", "replace"): "[mathematics](mathematics.md) Lemma 53; Gaussian: the better of that and Lemma 55, [G25b]",
    ("truncated Poisson", "zero-out"): "as replace",
    ("without replacement", "add-or-remove"): "[ZDW22] Theorem 11 with the pair of a replacement",
    ("without replacement", "replace"): "[BBG18] sampling without replacement, one symmetric pair; Rényi: [S22] 6.7",
    ("without replacement", "zero-out"): "as replace, with the larger of both distances",
    (
        "with replacement",
        "add-or-remove",
    ): "mixtures, [mathematics](mathematics.md) section 13; others: [BBG18] sampling with replacement",
    ("with replacement", "replace"): "[BBG18] sampling with replacement, one symmetric pair",
    ("with replacement", "zero-out"): "as replace",
    ("a pass by position", "add-or-remove"): "none: boundaries move",
    ("a pass by position", "replace"): "parallel composition",
    ("a pass by position", "zero-out"): "parallel composition",
    ("a pass by id", "add-or-remove"): "parallel composition",
    ("a pass by id", "replace"): "parallel composition",
    ("a pass by id", "zero-out"): "parallel composition",
    ("a shuffled pass", "add-or-remove"): "none: boundaries move",
    ("a shuffled pass", "replace"): "parallel composition, joint convexity",
    ("a shuffled pass", "zero-out"): "parallel composition, joint convexity",
    (
        "random allocation",
        "add-or-remove",
    ): "[C25], [FS25] Theorem 3.1; [mathematics](mathematics.md) sections 18, 18a",
    ("random allocation", "replace"): "none is known",
    ("random allocation", "zero-out"): "noise: as add-or-remove; others: none is known",
    (
        "banded noise",
        "add-or-remove",
    ): "as Poisson, groups by id; [CC23] Theorems 1, 4, 5; [mathematics](mathematics.md) section 20",
    ("banded noise", "replace"): "as Poisson",
    ("banded noise", "zero-out"): "as Poisson",
    ("shuffled reports", "add-or-remove"): "none: the number of reports is seen",
    ("shuffled reports", "replace"): "[FMT21] section 3, [mathematics](mathematics.md) section 13",
    ("shuffled reports", "zero-out"): "as replace",
}


def status(scheme: str, relation: str, family: str) -> str:
    """One of "exact", "bound", and "-" where it is refused.  A claim is made for the relation that serves the scheme best.

    >>> status("without replacement", "replace", "Laplace"), status("a shuffled pass", "add-or-remove", "Laplace")
    ('bound', '-')
    """
    for claimed in _CLAIMED:
        try:
            loss = SCHEMES[scheme](FAMILIES[family](claimed))._pair_loss(orders(relation))
        except Unsupported:
            continue
        return "exact" if loss is None or loss.tight else "bound"
    return "-"


def table() -> str:
    """The whole table in Markdown."""
    rows = [["scheme", "relation", *FAMILIES, "theorem"]]
    rows.append(["---"] * len(rows[0]))
    for scheme in SCHEMES:
        for relation in RELATIONS:
            rows.append(
                [scheme, relation, *(status(scheme, relation, family) for family in FAMILIES), THEOREMS[scheme, relation]]
            )
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)
