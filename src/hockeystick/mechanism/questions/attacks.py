"""What an attacker can do with a release: the trade-off curve of tests, and what follows from it."""

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, overload

from ... import checks
from ...bounds import Bounds
from ...errors import BadValue
from ...loss.tolerance import Interval
from ...neighbours import STATED, Relation
from ...numerics.rounding import FUNCTION, SMALLEST, UNIT, down, exp_down, exp_up, up
from .entries import each
from .guarantees import Guarantees
from .pairs import Pairs

if TYPE_CHECKING:
    from ...bounds import Array, Floats
    from ...conversion._kernels.best_test import Errors


class Attacks(Pairs, Guarantees):
    """The questions of what an attacker can reach."""

    @overload
    def tradeoff(self, alpha: float, neighbours: Relation = STATED) -> float: ...
    @overload
    def tradeoff(self, alpha: "Floats", neighbours: Relation = STATED) -> "Array": ...
    def tradeoff(self, alpha: Any, neighbours: Relation = STATED) -> Any:
        """The smallest type-II error of any test with type-I error alpha: a certified lower bound.

        The null hypothesis is that the record is absent, so alpha is the false-positive rate.  For one order ("remove") it is
        the curve f of that pair, for "add" its inverse, for add-or-remove the convex hull of the smaller of the two.

        Parameters
        ----------
        alpha : float or array_like
            The type-I error, from 0 to 1.
        neighbours : Relation, optional
            The neighbouring relation; by default the one that the release states.

        Returns
        -------
        float or ndarray
            The lower end of `tradeoff_bounds`, rounded down.

        Raises
        ------
        BadType
            If alpha is no number and no array of numbers, or neighbours no text.
        BadValue
            If alpha is outside [0, 1], or neighbours no relation.
        Unsupported
            If no theorem covers a part of the release under this relation.

        Examples
        --------
        >>> import hockeystick as hs
        >>> round(hs.Gaussian(sigma=0.5).tradeoff(alpha=0.5), 9)
        0.022750132
        """
        return self._tradeoff(alpha, neighbours, safe_only=True).lower

    @overload
    def tradeoff_bounds(self, alpha: float, neighbours: Relation = STATED) -> Bounds[float]: ...
    @overload
    def tradeoff_bounds(self, alpha: "Floats", neighbours: Relation = STATED) -> "Bounds[Array]": ...
    def tradeoff_bounds(self, alpha: Any, neighbours: Relation = STATED) -> Bounds[Any]:
        """Both ends of `tradeoff`: the upper one is what a randomised threshold test attains.

        Parameters
        ----------
        alpha : float or array_like
            The type-I error, from 0 to 1.
        neighbours : Relation, optional
            The neighbouring relation; by default the one that the release states.

        Returns
        -------
        Bounds
            The certified ends of the type-II error, floats or arrays as alpha is.

        Raises
        ------
        BadType
            If alpha is no number and no array of numbers, or neighbours no text.
        BadValue
            If alpha is outside [0, 1], or neighbours no relation.
        Unsupported
            If no theorem covers a part of the release under this relation.
        """
        return self._tradeoff(alpha, neighbours)

    @overload
    def tpr(self, fpr: float, neighbours: Relation = STATED) -> float: ...
    @overload
    def tpr(self, fpr: "Floats", neighbours: Relation = STATED) -> "Array": ...
    def tpr(self, fpr: Any, neighbours: Relation = STATED) -> Any:
        """The largest true-positive rate of an attack with this false-positive rate: a certified upper bound.

        Parameters
        ----------
        fpr : float or array_like
            The false-positive rate, from 0 to 1.
        neighbours : Relation, optional
            The neighbouring relation; by default the one that the release states.

        Returns
        -------
        float or ndarray
            The upper end of `tpr_bounds`, rounded up.

        Raises
        ------
        BadType
            If fpr is no number and no array of numbers, or neighbours no text.
        BadValue
            If fpr is outside [0, 1], or neighbours no relation.
        Unsupported
            If no theorem covers a part of the release under this relation.

        Examples
        --------
        >>> import hockeystick as hs
        >>> round((hs.Gaussian(sigma=1.1).poisson(rate=256 / 60_000) * 3510).tpr(fpr=1e-3), 6)
        0.002605
        """
        return self._tpr(fpr, neighbours, safe_only=True).upper

    @overload
    def tpr_bounds(self, fpr: float, neighbours: Relation = STATED) -> Bounds[float]: ...
    @overload
    def tpr_bounds(self, fpr: "Floats", neighbours: Relation = STATED) -> "Bounds[Array]": ...
    def tpr_bounds(self, fpr: Any, neighbours: Relation = STATED) -> Bounds[Any]:
        """Both ends of `tpr`.

        Parameters
        ----------
        fpr : float or array_like
            The false-positive rate, from 0 to 1.
        neighbours : Relation, optional
            The neighbouring relation; by default the one that the release states.

        Returns
        -------
        Bounds
            The certified ends of the true-positive rate, floats or arrays as fpr is.

        Raises
        ------
        BadType
            If fpr is no number and no array of numbers, or neighbours no text.
        BadValue
            If fpr is outside [0, 1], or neighbours no relation.
        Unsupported
            If no theorem covers a part of the release under this relation.
        """
        return self._tpr(fpr, neighbours)

    @overload
    def bayes_risk(self, prior: float, neighbours: Relation = STATED) -> float: ...
    @overload
    def bayes_risk(self, prior: "Floats", neighbours: Relation = STATED) -> "Array": ...
    def bayes_risk(self, prior: Any, neighbours: Relation = STATED) -> Any:
        """The least probability of error of an attacker who holds the record present with probability `prior`, rounded down.

        prior * (1 - delta(eps)) at eps = log((1 - prior) / prior).

        Parameters
        ----------
        prior : float or array_like
            The probability that the record is present, from 0 to 1.
        neighbours : Relation, optional
            The neighbouring relation; by default the one that the release states.

        Returns
        -------
        float or ndarray
            The lower end of `bayes_risk_bounds`, rounded down.

        Raises
        ------
        BadType
            If prior is no number and no array of numbers, or neighbours no text.
        BadValue
            If prior is outside [0, 1], or neighbours no relation.
        Unsupported
            If no theorem covers a part of the release under this relation.

        Examples
        --------
        >>> import hockeystick as hs
        >>> round(hs.Gaussian(sigma=1.0).bayes_risk(prior=0.5), 9)
        0.308537539
        """
        return self._bayes_risk(prior, neighbours, safe_only=True).lower

    @overload
    def bayes_risk_bounds(self, prior: float, neighbours: Relation = STATED) -> Bounds[float]: ...
    @overload
    def bayes_risk_bounds(self, prior: "Floats", neighbours: Relation = STATED) -> "Bounds[Array]": ...
    def bayes_risk_bounds(self, prior: Any, neighbours: Relation = STATED) -> Bounds[Any]:
        """Both ends of `bayes_risk`.

        Parameters
        ----------
        prior : float or array_like
            The probability that the record is present, from 0 to 1.
        neighbours : Relation, optional
            The neighbouring relation; by default the one that the release states.

        Returns
        -------
        Bounds
            The certified ends of the probability of error, floats or arrays as prior is.

        Raises
        ------
        BadType
            If prior is no number and no array of numbers, or neighbours no text.
        BadValue
            If prior is outside [0, 1], or neighbours no relation.
        Unsupported
            If no theorem covers a part of the release under this relation.
        """
        return self._bayes_risk(prior, neighbours)

    @overload
    def posterior(self, prior: float, fpr: float, neighbours: Relation = STATED) -> float: ...
    @overload
    def posterior(self, prior: "Floats", fpr: "float | Floats", neighbours: Relation = STATED) -> "Array": ...
    @overload
    def posterior(self, prior: float, fpr: "Floats", neighbours: Relation = STATED) -> "Array": ...
    def posterior(self, prior: Any, fpr: Any, neighbours: Relation = STATED) -> Any:
        """P(present | accused) for the best attack with this false-positive rate, rounded up; at 0, the limit of small rates.

        Parameters
        ----------
        prior : float or array_like
            The probability that the record is present, from 0 to 1.
        fpr : float or array_like
            The false-positive rate, from 0 to 1.
        neighbours : Relation, optional
            The neighbouring relation; by default the one that the release states.

        Returns
        -------
        float or ndarray
            A certified upper bound, rounded up, of the shape that prior and fpr broadcast to.

        Raises
        ------
        BadType
            If prior or fpr is no number and no array of numbers, or neighbours no text.
        BadValue
            If prior or fpr is outside [0, 1], their shapes do not broadcast, or neighbours is no relation.
        Unsupported
            If no theorem covers a part of the release under this relation.

        Examples
        --------
        >>> import hockeystick as hs
        >>> run = hs.Gaussian(sigma=1.1).poisson(rate=256 / 60_000) * 3510
        >>> round(run.posterior(prior=0.5, fpr=1e-3), 5)
        0.72264
        """
        import numpy as np

        try:
            priors, rates = np.broadcast_arrays(*(np.asarray(value, dtype=object) for value in (prior, fpr)))
        except ValueError:
            raise BadValue("prior and fpr have shapes that do not fit; allowed: shapes that NumPy can broadcast.") from None
        test, _ = self._test(neighbours, safe_only=True)
        found = []
        for p, rate in zip(priors.ravel().tolist(), rates.ravel().tolist(), strict=True):
            p, rate = _error_rate("prior", p), _error_rate("fpr", rate)
            right = p * test(rate).tpr[1]
            wrong = (1.0 - p) * rate
            if right > 0.0:
                share = 1.0 if wrong == 0.0 else right / max(right + wrong, SMALLEST)
            else:  # the limit of small rates, where the likelihood ratio is e^(largest loss)
                share = p / (p + (1.0 - p) * math.exp(-self.epsilon(0.0, neighbours))) if p > 0.0 else 0.0
            found.append(min(1.0, up(share * (1.0 + 8.0 * UNIT))) if share > 0.0 else 0.0)
        return np.array(found).reshape(priors.shape) if priors.ndim else found[0]

    def _tradeoff(self, alpha: Any, neighbours: Relation, safe_only: bool = False) -> Bounds[Any]:
        test, exact = self._test(neighbours, safe_only=safe_only)
        return Bounds(*each("alpha", alpha, _error_rate, lambda one: test(one).beta), exact)

    def _tpr(self, fpr: Any, neighbours: Relation, safe_only: bool = False) -> Bounds[Any]:
        test, exact = self._test(neighbours, safe_only=safe_only)
        return Bounds(*each("fpr", fpr, _error_rate, lambda one: test(one).tpr), exact)

    def _bayes_risk(self, prior: Any, neighbours: Relation, safe_only: bool = False) -> Bounds[Any]:
        from ...loss.answers.tradeoff import complement_ends

        forward, backward, run = self._profiles(neighbours, safe_only=safe_only)
        forward, backward = complement_ends(run, forward), complement_ends(self._reversed(neighbours), backward)

        def ends(p: float) -> Interval:
            if p in (0.0, 1.0):
                return 0.0, 0.0
            point = math.log1p(-p) - math.log(p)
            slack = 4.0 * FUNCTION * (abs(point) + abs(math.log(p)) + abs(math.log1p(-p)))
            # prior times 1 - delta(eps), which for eps < 0 is e^eps (1 - delta'(-eps))
            profile, share, size = (forward, p, point) if point >= 0.0 else (backward, 1.0 - p, -point)
            least = exp_down(profile(max(0.0, size - slack))[0])
            most = exp_up(profile(size + slack)[1], 1.0)
            return max(0.0, down(share * least * (1.0 - 4.0 * UNIT))), up(share * most * (1.0 + 4.0 * UNIT))

        return Bounds(*each("prior", prior, _error_rate, ends), run.tight)

    def _rough_tpr(self, fpr: float, neighbours: Relation = STATED) -> float:
        """`tpr` as a search needs it: sooner, and less close where it is next to 1."""
        return self._test(neighbours, relative=False, safe_only=True)[0](_error_rate("fpr", fpr)).tpr[1]

    def _test(
        self, neighbours: Relation, relative: bool = True, safe_only: bool = False
    ) -> "tuple[Callable[[float], Errors], bool]":
        """The best test of each level, and whether some mechanism attains what it does."""
        from ...loss.answers.tradeoff import best_tests

        forward, backward, run = self._profiles(neighbours, relative, safe_only)
        return best_tests(run, self._reversed(neighbours), forward, backward, relative), run.tight


def _error_rate(name: str, value: Any) -> float:
    allowed = "a probability from 0 to 1"
    number = checks.real(name, value, allowed)
    if not 0.0 <= number <= 1.0:
        raise BadValue(f"{name} is {number}; allowed: {allowed}.")
    return number
