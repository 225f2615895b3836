"""What a budget promises: planned lines in any order, and a reserve that is drawn from in view of all outputs.

docs/mathematics/filters.md: Lemma 62 (the basket and the reserve), Lemma 63 (its kinds), Lemma 64 (Rényi orders).
"""

import math
from abc import abstractmethod
from fractions import Fraction
from typing import Literal, get_args

from .. import checks
from ..conversion.optimal_rdp import rdp_to_epsilon
from ..errors import BadValue, Unsupported
from ..mechanism.claim import GDP, PureDP
from ..mechanism.release import Release, compose
from ..neighbours import Relation
from ..numerics.rounding import up
from . import costs
from .amounts import double, exact, float_up, root_up

Kind = Literal["gdp", "pure", "renyi"]
KINDS: tuple[Kind, ...] = get_args(Kind)


class Promises:
    """The promises of a reserve."""

    limit: Fraction
    slack: Fraction
    kind: Kind
    order: float | None
    neighbours: Relation

    @property
    @abstractmethod
    def _covered(self) -> Fraction:
        """All that the capacity can hold of the measure that adds up."""

    def promise(self, plan: Release | None = None, delta: float = 0.0) -> float:
        """epsilon at delta of all that can happen: planned lines in any order, and the reserve, chosen in view of all outputs.

        Parameters
        ----------
        plan : Release, optional
            The planned lines with their counts; by default none.
        delta : float, default 0.0
            The delta of the promise, at least the slack.

        Returns
        -------
        float
            A certified upper end (Lemmas 62 to 64).

        Raises
        ------
        BadType
            If plan is no release, or delta no number.
        BadValue
            If delta is below the slack, or no probability, or plan is stated for another relation.
        Unsupported
            If a line of the plan is known by its Rényi divergences only and there is a slack, or by its profile only.
        """
        lines = self._checked_plan(plan)
        level = self._delta_beside_slack(delta)
        if self.kind == "renyi":
            assert self.order is not None
            divergence = costs.renyi(lines, self.order, self.neighbours)
            if divergence == math.inf or not level:
                return math.inf
            total = float_up(Fraction(divergence) + self._covered)
            return float(rdp_to_epsilon(self.order, total, level)) if total <= 1e100 else math.inf
        return self._with_reserve(lines, self._covered_limit).epsilon(level, self.neighbours)

    def promise_delta(self, plan: Release | None = None, epsilon: float = 0.0) -> float:
        """delta at epsilon of all that can happen, the slack included.

        Parameters
        ----------
        plan : Release, optional
            The planned lines with their counts; by default none.
        epsilon : float, default 0.0
            The epsilon of the promise, from 0 up.

        Returns
        -------
        float
            A certified upper end; at most 1.

        Raises
        ------
        BadType
            If plan is no release, or epsilon no number.
        BadValue
            If epsilon is negative, or plan is stated for another relation.
        Unsupported
            As for `promise`, and for reserves of kind "renyi", which promise an epsilon.
        """
        if self.kind == "renyi":
            raise Unsupported("a reserve of one Rényi order promises an epsilon at a delta; ask `promise`.")
        found = self._with_reserve(self._checked_plan(plan), self._covered_limit).delta(epsilon, self.neighbours)
        return min(1.0, float_up(Fraction(found) + self.slack))

    @property
    def _covered_limit(self) -> float:
        return root_up(self._covered) if self.kind == "gdp" else float_up(self._covered) if self.kind == "renyi" else self._pure

    @property
    def _pure(self) -> float:
        """epsilon as it was written: the shortest decimal of the double is the limit, or the double is above."""
        near = float(self.limit)
        return near if exact("limit", near) >= self.limit else up(near)

    def _with_reserve(self, lines: Release, limit: float) -> Release:
        """The lines and a release that stands for a reserve of this limit."""
        if not limit:
            return lines
        claim = GDP(limit, self.neighbours) if self.kind == "gdp" else PureDP(limit, self.neighbours)
        return compose([lines, claim])

    def _delta_beside_slack(self, delta: float) -> float:
        """The delta of a promise less the slack, rounded down."""
        left = exact("delta", checks.probability("delta", delta)) - self.slack
        if left < 0:
            raise BadValue(f"delta is {delta}, below the slack, {float(self.slack):g}; allowed: a larger delta, or less slack.")
        return double(left)

    def _checked_plan(self, plan: Release | None) -> Release:
        """The planned lines, if the theorem covers them beside this reserve."""
        lines = compose([]) if plan is None else costs.plain("plan", plan, self.neighbours)
        if self.slack and costs.known_by_renyi_only(lines, self.neighbours):
            raise Unsupported(
                f"{lines!r} has a line that is known by its Rényi divergences only, and the reserve has a slack: Lemma 62 needs "
                "a dominating pair for each line, and no theorem here adds deltas to Rényi divergences.  Use slack=0, or plan "
                "the mechanism itself instead of the claim."
            )
        return lines
