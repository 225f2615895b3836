"""How much Gaussian DP a release has: mu, the regret of it, and the transformed profile."""

import math
from typing import TYPE_CHECKING, Any, overload

from ... import checks
from ...bounds import Bounds
from ...errors import BadValue
from ...loss.tolerance import Interval
from ...neighbours import STATED, Relation
from ...numerics.rounding import UNIT, exp_up, up
from .entries import each
from .pairs import Pairs

if TYPE_CHECKING:
    from ...bounds import Array, Floats
    from .gaussian_dp import GaussianDP, HeadGDP


class GaussianQuestions(Pairs):
    """The questions of Gaussian DP."""

    @overload
    def mu(self, delta: float | None = None, neighbours: Relation = STATED) -> float: ...
    @overload
    def mu(self, delta: "Floats", neighbours: Relation = STATED) -> "Array": ...
    def mu(self, delta: Any = None, neighbours: Relation = STATED) -> Any:
        """The smallest mu for which the release is mu-GDP: a certified upper bound, inf if there is none.

        With `delta`, the smallest mu with delta(eps) <= max(delta_mu(eps), delta) for every eps >= 0: mu-GDP up to that delta.
        Sampled Gaussian noise keeps the tail of the unsampled one, so without `delta` its sampling does not count.  GDP knows
        no direction: add, remove and add-or-remove have the same mu.

        Parameters
        ----------
        delta : float or array_like, optional
            From 0 to below 1; by default 0, that is mu-GDP at every epsilon.
        neighbours : Relation, optional
            The neighbouring relation; by default the one that the release states.

        Returns
        -------
        float or ndarray
            The upper end of `mu_bounds`, rounded up; inf if no mu holds.

        Raises
        ------
        BadType
            If delta is no number and no array of numbers, or neighbours no text.
        BadValue
            If delta is outside [0, 1), or neighbours no relation.
        Unsupported
            If no theorem covers a part of the release under this relation.

        Examples
        --------
        >>> import hockeystick as hs
        >>> run = hs.Gaussian(sigma=9.4).poisson(rate=0.328) * 2000
        >>> round(run.mu(), 6), round(run.mu(delta=1e-5), 6)
        (4.757591, 1.567427)
        """
        return self.mu_bounds(delta, neighbours=neighbours).upper

    @overload
    def mu_bounds(self, delta: float | None = None, tolerance: float = 1e-9, neighbours: Relation = STATED) -> Bounds[float]: ...
    @overload
    def mu_bounds(self, delta: "Floats", tolerance: float = 1e-9, neighbours: Relation = STATED) -> "Bounds[Array]": ...
    def mu_bounds(self, delta: Any = None, tolerance: float = 1e-9, neighbours: Relation = STATED) -> Bounds[Any]:
        """Both ends of `mu`, `tolerance` apart where the profile is known that well and 600 evaluations suffice.

        Parameters
        ----------
        delta : float or array_like, optional
            From 0 to below 1; by default 0, that is mu-GDP at every epsilon.
        tolerance : float, default 1e-9
            The width to reach, above 0.
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
            If delta is outside [0, 1), tolerance not above 0, or neighbours no relation.
        Unsupported
            If no theorem covers a part of the release under this relation.

        Examples
        --------
        >>> import hockeystick as hs
        >>> bounds = hs.Laplace(scale=2.0).mu_bounds()
        >>> print(f"{bounds.upper:.8f}", bounds.width <= 1e-9)
        0.56176432 True
        """
        tolerance = checks.positive("tolerance", tolerance)
        if delta is None:
            return self.gdp(None, tolerance, neighbours).mu
        exact = self._both(neighbours).tight
        lower, upper = each("delta", delta, _delta, lambda one: tuple(self.gdp(one, tolerance, neighbours).mu))
        return Bounds(lower, upper, exact)

    def gdp(self, delta: float | None = None, tolerance: float = 1e-9, neighbours: Relation = STATED) -> "GaussianDP":
        """`mu_bounds` together with where it is reached, and why, or why there is no mu.

        Parameters
        ----------
        delta : float, optional
            From 0 to below 1; by default 0, that is mu-GDP at every epsilon.
        tolerance : float, default 1e-9
            The width to reach, above 0.
        neighbours : Relation, optional
            The neighbouring relation; by default the one that the release states.

        Returns
        -------
        GaussianDP
            Both ends of mu, where the supremum is reached, and the reason.

        Raises
        ------
        BadType
            If delta or tolerance is no number, or neighbours no text.
        BadValue
            If delta is outside [0, 1), tolerance not above 0, or neighbours no relation.
        Unsupported
            If no theorem covers a part of the release under this relation.

        Examples
        --------
        >>> import hockeystick as hs
        >>> hs.ApproxDP(epsilon=1.0, delta=1e-6).gdp().reason.partition(",")[0]
        'with a positive probability the loss is infinite'
        """
        from ...loss.answers.gdp import gaussian_dp
        from .gaussian_dp import GaussianDP

        run = self._both(neighbours)
        level = 0.0 if delta is None else _delta("delta", delta)
        self._heed(level)
        found = gaussian_dp(run, level, checks.positive("tolerance", tolerance))
        if found.lower < found.upper == math.inf and level == 0.0 and sum(count for _, count in self.parts) > 1:
            ends = [(one.gdp(None, tolerance, neighbours).mu.upper, count) for one, count in self.parts]
            total = up(math.sqrt(math.fsum(count * mu * mu for mu, count in ends)) * (1.0 + 8.0 * UNIT))
            if total < math.inf:
                found = found._replace(upper=total, reason="each part has its mu, and their squares add")
        return GaussianDP(Bounds(found.lower, found.upper, run.tight), level, found.epsilon, found.reason, found.evaluations)

    def head_mu(self, epsilon: float, tolerance: float = 1e-9, neighbours: Relation = STATED) -> "HeadGDP":
        """The smallest mu with delta(eps) <= delta_mu(eps) for eps up to `epsilon` only: no guarantee of GDP.

        Liu et al. 2021, section 4.1.  Beyond `epsilon` the mechanism may have any delta up to `residual`: its profile can be
        above that of mu-GDP, and is below it everywhere only if it is epsilon-DP as well (erratum G-E6: section 4.2 has it
        reversed).

        Parameters
        ----------
        epsilon : float
            The end of the head, above 0.
        tolerance : float, default 1e-9
            The width to reach, above 0.
        neighbours : Relation, optional
            The neighbouring relation; by default the one that the release states.

        Returns
        -------
        HeadGDP
            Both ends of that mu, and the delta that is left at `epsilon`, rounded up.

        Raises
        ------
        BadType
            If epsilon or tolerance is no number, or neighbours no text.
        BadValue
            If epsilon or tolerance is not above 0, or neighbours no relation.
        Unsupported
            If no theorem covers a part of the release under this relation.

        Examples
        --------
        >>> import hockeystick as hs
        >>> head = hs.ApproxDP(epsilon=1.0, delta=1e-6).head_mu(epsilon=5.0)
        >>> print(f"{head.mu.upper:.4f} {head.residual:.0e}")
        1.2320 1e-06
        """
        from ...loss.answers.gdp import gaussian_head
        from .gaussian_dp import HeadGDP

        point = checks.positive("epsilon", epsilon)
        run = self._both(neighbours)
        found, log = gaussian_head(run, point, checks.positive("tolerance", tolerance))
        return HeadGDP(Bounds(found.lower, found.upper, run.tight), point, exp_up(log, 1.0))

    @overload
    def regret(self, delta: float | None = None, neighbours: Relation = STATED) -> float: ...
    @overload
    def regret(self, delta: "Floats", neighbours: Relation = STATED) -> "Array": ...
    def regret(self, delta: Any = None, neighbours: Relation = STATED) -> Any:
        """How far the curve of `mu(delta)` is from the release: the smallest k with f(x + k) - k <= G_mu(x), rounded up.

        f is the trade-off curve.  Small where mu says all that there is to say.

        Parameters
        ----------
        delta : float or array_like, optional
            From 0 to below 1: that of `mu`.
        neighbours : Relation, optional
            The neighbouring relation; by default the one that the release states.

        Returns
        -------
        float or ndarray
            The upper end of `regret_bounds`, rounded up.

        Raises
        ------
        BadType
            If delta is no number and no array of numbers, or neighbours no text.
        BadValue
            If delta is outside [0, 1), or neighbours no relation.
        Unsupported
            If no theorem covers a part of the release under this relation.

        Examples
        --------
        >>> import hockeystick as hs
        >>> run = hs.Gaussian(sigma=9.4).poisson(rate=0.328) * 2000
        >>> round(run.regret(delta=1e-10), 6)
        0.001265
        """
        return self.regret_bounds(delta, neighbours=neighbours).upper

    @overload
    def regret_bounds(
        self, delta: float | None = None, tolerance: float = 1e-8, neighbours: Relation = STATED
    ) -> Bounds[float]: ...
    @overload
    def regret_bounds(self, delta: "Floats", tolerance: float = 1e-8, neighbours: Relation = STATED) -> "Bounds[Array]": ...
    def regret_bounds(self, delta: Any = None, tolerance: float = 1e-8, neighbours: Relation = STATED) -> Bounds[Any]:
        """Both ends of `regret`.

        Parameters
        ----------
        delta : float or array_like, optional
            From 0 to below 1: that of `mu`.
        tolerance : float, default 1e-8
            The width to reach, above 0.
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
            If delta is outside [0, 1), tolerance not above 0, or neighbours no relation.
        Unsupported
            If no theorem covers a part of the release under this relation.
        """
        from ...loss.answers.gdp_regret import regret_ends

        tolerance = checks.positive("tolerance", tolerance)
        forward, backward, run = self._profiles(neighbours)

        def ends(level: float) -> Interval:
            mu = self.gdp(level or None, neighbours=neighbours).mu.upper
            return regret_ends(forward, backward, mu, tolerance)

        lower, upper = (ends(0.0)) if delta is None else each("delta", delta, _delta, ends)
        return Bounds(lower, upper, run.tight)

    @overload
    def gdp_transform(self, epsilon: float, neighbours: Relation = STATED) -> float: ...
    @overload
    def gdp_transform(self, epsilon: "Floats", neighbours: Relation = STATED) -> "Array": ...
    def gdp_transform(self, epsilon: Any, neighbours: Relation = STATED) -> Any:
        """G(epsilon), the mu at which delta_mu(epsilon) is delta(epsilon), rounded up (Liu et al. 2021, Definition 4.1).

        Parameters
        ----------
        epsilon : float or array_like
            From 0 up.
        neighbours : Relation, optional
            The neighbouring relation; by default the one that the release states.

        Returns
        -------
        float or ndarray
            An upper bound of that mu, rounded up; inf where delta(epsilon) is 1.

        Raises
        ------
        BadType
            If epsilon is no number and no array of numbers, or neighbours no text.
        BadValue
            If epsilon is negative or not finite, or neighbours no relation.
        Unsupported
            If no theorem covers a part of the release under this relation.

        Examples
        --------
        >>> import hockeystick as hs
        >>> print(hs.Gaussian(sigma=2.0).gdp_transform([0.0, 10.0]).round(9))
        [0.5 0.5]
        """
        from ...loss.answers.gdp import mu_ends
        from ...loss.engines.driver import log_delta_proof

        run = self._both(neighbours)

        def ends(point: float) -> Interval:
            value = mu_ends(point, log_delta_proof(run, point, upper_only=True).high)[1]
            return value, value

        return each("epsilon", epsilon, checks.non_negative, ends)[1]


def _delta(name: str, value: Any) -> float:
    allowed = "a probability from 0 to below 1"
    number = checks.real(name, value, allowed)
    if not 0.0 <= number < 1.0:
        raise BadValue(f"{name} is {number}; allowed: {allowed}.")
    return number
