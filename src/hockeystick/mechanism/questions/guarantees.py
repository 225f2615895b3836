"""What a release guarantees: epsilon, delta and the privacy profile."""

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, overload

from ... import checks
from ... import loss as losses
from ...bounds import Bounds
from ...checks import LARGE_DELTA
from ...loss.tolerance import Interval, converged
from ...neighbours import STATED, Relation
from ...numerics.rounding import exp_ends
from .asked import Asked
from .entries import each

if TYPE_CHECKING:
    from ...bounds import Array, Floats
    from ...loss.composed import ComposedLoss
    from ...loss.engines.compiled import CoreAnswer
    from ...loss.engines.engine import Proof

Question = Callable[["ComposedLoss", list[float]], list[Interval]]


class Guarantees(Asked):
    """The questions of (epsilon, delta)-DP."""

    @overload
    def epsilon(self, delta: float, neighbours: Relation = STATED) -> float: ...
    @overload
    def epsilon(self, delta: "Floats", neighbours: Relation = STATED) -> "Array": ...
    def epsilon(self, delta: Any, neighbours: Relation = STATED) -> Any:
        """The smallest epsilon >= 0 for which the release is (epsilon, delta)-DP: a certified upper bound.

        Parameters
        ----------
        delta : float or array_like
            From 0 to 1; well below one over the number of records, else `LargeDelta` warns.
        neighbours : Relation, optional
            The neighbouring relation; by default the one that the release states.

        Returns
        -------
        float or ndarray
            The upper end of `epsilon_bounds`, rounded up; inf if no epsilon holds at this delta.

        Raises
        ------
        BadType
            If delta is no number and no array of numbers, or neighbours no text.
        BadValue
            If delta is outside [0, 1], or neighbours no relation.
        Unsupported
            If no theorem covers a part of the release under this relation.

        Examples
        --------
        >>> import hockeystick as hs
        >>> round(hs.Gaussian(sigma=1.0).epsilon(delta=1e-5), 6)
        4.377178
        """
        return self._epsilons(delta, neighbours, True).upper

    @overload
    def epsilon_bounds(self, delta: float, neighbours: Relation = STATED) -> Bounds[float]: ...
    @overload
    def epsilon_bounds(self, delta: "Floats", neighbours: Relation = STATED) -> "Bounds[Array]": ...
    def epsilon_bounds(self, delta: Any, neighbours: Relation = STATED) -> Bounds[Any]:
        """Both ends of `epsilon`.

        Parameters
        ----------
        delta : float or array_like
            From 0 to 1; well below one over the number of records, else `LargeDelta` warns.
        neighbours : Relation, optional
            The neighbouring relation; by default the one that the release states.

        Returns
        -------
        Bounds
            The certified ends, floats or arrays as delta is.

        Raises
        ------
        BadType
            If delta is no number and no array of numbers, or neighbours no text.
        BadValue
            If delta is outside [0, 1], or neighbours no relation.
        Unsupported
            If no theorem covers a part of the release under this relation.

        Examples
        --------
        >>> import hockeystick as hs
        >>> bounds = hs.Gaussian(sigma=1.0).epsilon_bounds(delta=1e-5)
        >>> print(f"{bounds.lower:.10f} <= epsilon <= {bounds.upper:.10f}")
        4.3771780957 <= epsilon <= 4.3771780957
        """
        return self._epsilons(delta, neighbours)

    @overload
    def delta(self, epsilon: float, neighbours: Relation = STATED) -> float: ...
    @overload
    def delta(self, epsilon: "Floats", neighbours: Relation = STATED) -> "Array": ...
    def delta(self, epsilon: Any, neighbours: Relation = STATED) -> Any:
        """The smallest delta for which the release is (epsilon, delta)-DP: a certified upper bound.

        Parameters
        ----------
        epsilon : float or array_like
            Any finite number; it may be negative, then delta >= 1 - e^epsilon.
        neighbours : Relation, optional
            The neighbouring relation; by default the one that the release states.

        Returns
        -------
        float or ndarray
            The upper end of `delta_bounds`, from 0 to 1, rounded up.

        Raises
        ------
        BadType
            If epsilon is no number and no array of numbers, or neighbours no text.
        BadValue
            If epsilon is not finite, or neighbours no relation.
        Unsupported
            If no theorem covers a part of the release under this relation.

        Examples
        --------
        >>> import hockeystick as hs
        >>> round(hs.Laplace(scale=2.0).delta(epsilon=0.25), 6)
        0.117503
        """
        return self._deltas(epsilon, neighbours, upper_only=True).upper

    @overload
    def delta_bounds(self, epsilon: float, neighbours: Relation = STATED) -> Bounds[float]: ...
    @overload
    def delta_bounds(self, epsilon: "Floats", neighbours: Relation = STATED) -> "Bounds[Array]": ...
    def delta_bounds(self, epsilon: Any, neighbours: Relation = STATED) -> Bounds[Any]:
        """Both ends of `delta`.

        Parameters
        ----------
        epsilon : float or array_like
            Any finite number; it may be negative, then delta >= 1 - e^epsilon.
        neighbours : Relation, optional
            The neighbouring relation; by default the one that the release states.

        Returns
        -------
        Bounds
            The certified ends, floats or arrays as epsilon is.

        Raises
        ------
        BadType
            If epsilon is no number and no array of numbers, or neighbours no text.
        BadValue
            If epsilon is not finite, or neighbours no relation.
        Unsupported
            If no theorem covers a part of the release under this relation.
        """
        return self._deltas(epsilon, neighbours)

    @overload
    def log_delta_bounds(self, epsilon: float, neighbours: Relation = STATED) -> Bounds[float]: ...
    @overload
    def log_delta_bounds(self, epsilon: "Floats", neighbours: Relation = STATED) -> "Bounds[Array]": ...
    def log_delta_bounds(self, epsilon: Any, neighbours: Relation = STATED) -> Bounds[Any]:
        """Both ends of log delta(epsilon), for deltas below the smallest double.

        Parameters
        ----------
        epsilon : float or array_like
            Any finite number.
        neighbours : Relation, optional
            The neighbouring relation; by default the one that the release states.

        Returns
        -------
        Bounds
            The certified ends of the natural logarithm; -inf where delta is 0.

        Raises
        ------
        BadType
            If epsilon is no number and no array of numbers, or neighbours no text.
        BadValue
            If epsilon is not finite, or neighbours no relation.
        Unsupported
            If no theorem covers a part of the release under this relation.

        Examples
        --------
        >>> import hockeystick as hs
        >>> hs.Gaussian(sigma=1.0).log_delta_bounds(epsilon=100.0).upper < -4900
        True
        """
        return self._log_deltas(epsilon, neighbours)

    def profile(self, epsilons: "float | Floats", neighbours: Relation = STATED) -> "Array":
        """The privacy profile: an upper bound of delta for each epsilon.

        Parameters
        ----------
        epsilons : array_like
            Any finite numbers; one number counts as an array of one.
        neighbours : Relation, optional
            The neighbouring relation; by default the one that the release states.

        Returns
        -------
        ndarray
            The deltas, rounded up, in the shape of the epsilons.

        Raises
        ------
        BadType
            If epsilons are no numbers, or neighbours no text.
        BadValue
            If an epsilon is not finite, or neighbours no relation.
        Unsupported
            If no theorem covers a part of the release under this relation.
        """
        import numpy as np

        return self.delta(np.atleast_1d(np.asarray(epsilons)), neighbours)

    def advantage(self, neighbours: Relation = STATED) -> float:
        """delta(0), the total variation distance: how far an attacker's true-positive rate can exceed the false-positive rate.

        Parameters
        ----------
        neighbours : Relation, optional
            The neighbouring relation; by default the one that the release states.

        Returns
        -------
        float
            A certified upper bound, from 0 to 1, rounded up.

        Raises
        ------
        BadType
            If neighbours is no text.
        BadValue
            If neighbours is no relation.
        Unsupported
            If no theorem covers a part of the release under this relation.

        Examples
        --------
        >>> import hockeystick as hs
        >>> round(hs.Gaussian(sigma=1.0).advantage(), 6)
        0.382925
        """
        return float(self.delta(0.0, neighbours))

    def _epsilons(self, delta: Any, neighbours: Relation, upper_only: bool = False) -> Bounds[Any]:
        """Both ends of epsilon; only the upper end is sure to be close if the lower one would cost more."""
        if type(delta) is float and 0.0 < delta < 1.0:
            answer = self._directly(delta, neighbours)
            if answer:
                low, high = answer[0], answer[1]
                if converged(low, high):
                    return Bounds(low, high)
            run, proof = self._proved(delta, neighbours, answer, upper_only)
            return Bounds(proof.low, proof.high, run.tight)

        def ask(run: "ComposedLoss", deltas: list[float]) -> list[Interval]:
            return losses.epsilon_intervals(run, deltas, upper_only=upper_only)

        found = self._answered(ask, neighbours, "delta", delta, checks.probability)
        self._heed(delta)
        return found

    def _directly(self, delta: float, neighbours: Relation) -> "CoreAnswer":
        """Both ends of epsilon of a single part, if the compiled core or a closed form has them."""
        parts, answer = self.parts, None
        if len(parts) == 1:
            ((mechanism, count),) = parts
            answer = mechanism._direct(self._orders(neighbours), count, delta)
        if delta > LARGE_DELTA or self._counts_records or (answer is None and any(one._counts_records for one, _ in parts)):
            self._heed(delta)
        return answer

    def _proved(self, delta: float, neighbours: Relation, answer: "CoreAnswer", upper_only: bool) -> "tuple[ComposedLoss, Proof]":
        """The composed run, and what the engines prove of its epsilon beside the direct answer."""
        from ...loss.engines.driver import epsilon_proof

        run = self._run(neighbours)
        if answer is not None:
            run.core_answers["epsilon", delta] = answer
        return run, epsilon_proof(run, delta, upper_only)

    def _epsilon_proof(self, delta: float, neighbours: Relation) -> "tuple[Bounds[float], Proof]":
        """`epsilon_bounds`, and which engines proved its ends."""
        answer = self._directly(delta, neighbours) if 0.0 < delta < 1.0 else None
        run, proof = self._proved(delta, neighbours, answer, False)
        return Bounds(proof.low, proof.high, run.tight), proof

    def _deltas(self, epsilon: Any, neighbours: Relation, upper_only: bool = False) -> Bounds[Any]:
        """Both ends of delta; likewise."""
        found = self._log_deltas(epsilon, neighbours, upper_only)
        return Bounds(*exp_ends(found.lower, found.upper), found.tight)

    def _log_deltas(self, epsilon: Any, neighbours: Relation, upper_only: bool = False) -> Bounds[Any]:
        """Both ends of log delta; likewise."""
        known: dict[tuple[str, float], CoreAnswer] = {}
        if type(epsilon) is float and abs(epsilon) < math.inf and len(parts := self.parts) == 1:
            ((mechanism, count),) = parts
            ends = mechanism._direct_log_delta(self._orders(neighbours), count, epsilon)
            if ends and ends[0] <= ends[1]:
                return Bounds(ends[0], ends[1])
            if ends is not None:
                known["log delta", epsilon] = ends

        def ask(run: "ComposedLoss", epsilons: list[float]) -> list[Interval]:
            run.core_answers.update(known)
            return losses.log_delta_intervals(run, epsilons, upper_only=upper_only)

        return self._answered(ask, neighbours, "epsilon", epsilon, _any_real)

    def _answered(
        self, ask: Question, neighbours: Relation, name: str, value: Any, check: Callable[[str, Any], float]
    ) -> Bounds[Any]:
        """Ask of a number, or of each entry of an array."""
        run = self._run(neighbours)
        low, high = each(name, value, check, lambda number: ask(run, [number])[0], lambda numbers: ask(run, numbers))
        return Bounds(low, high, run.tight)


def _any_real(name: str, value: Any) -> float:
    return checks.real(name, value, "a finite number")
