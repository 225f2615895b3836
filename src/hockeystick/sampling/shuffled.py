"""Reports that are randomised one by one and then shuffled."""

import math
from dataclasses import dataclass
from typing import Any

from .. import checks
from ..errors import BadType, BadValue
from ..loss.pairs.bracketed import BracketedLoss
from ..loss.pairs.renyi import RenyiLoss
from ..loss.pairs.shuffled import BystanderLoss, CloneLoss
from ..mechanism.claim import PureDP
from ..mechanism.release import Release
from ..mechanism.response import RandomizedResponse
from ..neighbours import Order, same_size
from ..numerics.rounding import FUNCTION, UNIT
from .base import Sampled

MOST = 10**9
_STEEP = 600.0  # an epsilon of a report from which on nothing is gained


@dataclass(frozen=True, repr=False, init=False)
class Shuffled(Sampled):
    """`count` people each send a report of `local` about their own record; only the shuffled reports are seen.

    `local` must have a largest loss epsilon0 when its record is replaced (a claim says so best with neighbours="replace").
    Each of the others' reports is, with probability e^-epsilon0, drawn like a fair mixture of the two reports in question: a
    clone (Feldman, McMillan and Talwar 2021, arXiv:2012.12803, section 3).  For randomised response the clones are
    2/(e^epsilon0 + categories - 1) of the others, and the answer is none of the two in question with the rest of the
    probability; proofs in docs/mathematics.md, Lemma 29.  The general theorems of their 2022 paper are not used: an erratum
    restricts them.  One symmetric pair, so rounds compose.  Not above `local` by itself.

    The lower end: what an attacker learns who counts one answer of randomised response, for that and for PureDP; else 0.

    Parameters
    ----------
    local : Release
        What each person sends: randomised response, noise or a claim with a largest loss.
    count : int
        How many reports are shuffled, from 1 to 1e9.

    Raises
    ------
    BadType
        If local is no release, or count no number.
    BadValue
        If count is no whole number in its range.
    Unsupported
        If local is made of samples (other refusals come with the question).

    Examples
    --------
    >>> bounds = Shuffled(RandomizedResponse(epsilon=1.0), count=10_000).epsilon_bounds(delta=1e-6, neighbours="replace")
    >>> print(f"{bounds.lower:.3f} {bounds.upper:.3f}")
    0.036 0.043
    """

    local: Release
    reports: int  # `count` is an argument, not a question

    _scheme = "Shuffling"
    _counts_records = True

    def __init__(self, local: Release, count: int) -> None:
        if not isinstance(local, Release):
            raise BadType(f"local is {local!r}; allowed: a release such as RandomizedResponse(epsilon=1.0).")
        reports = checks.count("count", count, least=1)
        if reports > MOST:
            raise BadValue(f"count is {reports}; allowed: at most {MOST}; a smaller count is an upper bound of a larger one.")
        object.__setattr__(self, "local", local)
        object.__setattr__(self, "reports", reports)
        for mechanism, _ in local.parts:
            if isinstance(mechanism, Sampled):
                raise self._refuse(repr(mechanism), "a report is made of one record.  Shuffle the reports of a single mechanism.")

    @property
    def base(self) -> Release:  # type: ignore[override]
        """What each person sends.

        Returns
        -------
        Release
            That is `local`.
        """
        return self.local

    @property
    def _own_records(self) -> int:
        return self.reports

    @property
    def _why_not_run(self) -> str:
        return "reports come from many people.  Release each by its local mechanism, and shuffle them where nobody looks."

    def _parameters(self) -> dict[str, Any]:
        return {"local": self.local, "count": self.reports}

    def _pair_loss(self, wanted: tuple[Order, ...]) -> Any:
        if not same_size(wanted):
            raise self._refuse(
                f"{self.local!r} under add or remove",
                "the number of reports is seen, and the theorem is about a replaced record.  Ask for neighbours='replace' or "
                "'zero-out'.",
            )
        run = self.local._run("replace")
        if not run.terms:
            return None
        tops = [
            one.ceiling
            for one in run.variants("dominating")
            if not any(isinstance(loss, RenyiLoss) for loss, _ in one.terms)
            and not one.has_infinite_loss
            and one.ceiling < math.inf
        ]
        if not tops:
            raise self._refuse(
                repr(self.local),
                "its loss has no largest value, and hiding among clones needs a local guarantee epsilon0 without a delta.  Use "
                "randomised response, Laplace or geometric noise, the exponential mechanism, or PureDP.",
            )
        alone = run.terms[0][0].dominating if len(run.terms) == run.terms[0][1] == 1 else ()
        if self.reports == 1 and alone:
            return self.local.parts[0][0]._pair_loss(wanted)
        top = min(tops)
        if top > _STEEP:
            if alone:
                return BracketedLoss(alone, ())
            raise self._refuse(
                repr(self.local), f"its epsilon is {checks.given(top)}; allowed for several parts: at most {_STEEP:g}."
            )
        members = self._reached() if "replace" in wanted or self._zeroing_is_replacing(wanted) else ()
        return BracketedLoss((*self._clones(top), *alone), members)

    def _clones(self, epsilon: float) -> tuple[CloneLoss, ...]:
        """The pairs that dominate: odds of clones are rounded down."""
        others, found = self.reports - 1, []
        local = self.local
        if isinstance(local, RandomizedResponse):
            more = local.categories - 2.0
            odds = 0.5 * (math.expm1(epsilon) + more)
            share = more / (math.exp(epsilon) + more + 1.0) * (1.0 - 8.0 * FUNCTION)
            found.append(CloneLoss(epsilon, others, _fewer(odds), share))
        if not found or found[0].idle:
            found.append(CloneLoss(epsilon, others, _fewer(math.expm1(epsilon))))
        return tuple(found)

    def _reached(self) -> tuple[BystanderLoss, ...]:
        local = self.local
        if isinstance(local, RandomizedResponse):
            kind = local.one_epsilon, local.categories
        elif isinstance(local, PureDP):
            kind = local.claimed_epsilon, 2
        else:
            return ()
        return BystanderLoss(*kind, self.reports - 1), BystanderLoss(*kind, self.reports - 1, True)

    def __repr__(self) -> str:
        return f"Shuffled({self.local!r}, count={self.reports})"


def _fewer(odds: float) -> float:
    """log of the odds against a clone, rounded up."""
    size = math.log(odds)
    return size + 8.0 * FUNCTION + 4.0 * UNIT * abs(size)
