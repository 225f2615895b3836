"""What an attacker can do with a release: Gaussian DP, the trade-off curve of tests, and what follows from it."""

import math
from abc import abstractmethod
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from .. import checks
from ..bounds import Bounds
from ..errors import BadValue
from ..neighbours import DEFAULT, STATED, checked
from ..numerics.rounding import FUNCTION, SMALLEST, UNIT, down, exp_down, exp_up, up
from .entries import each
from .made import Made

if TYPE_CHECKING:
    from ..conversion.best_test import Errors
    from ..loss.composed import ComposedLoss
    from .gaussian_dp import GaussianDP, HeadGDP
    from .release import Mechanism

Ends = tuple[float, float]

_REVERSED = {"add": "remove", "remove": "add"}


class Attacks(metaclass=Made):
    """The questions of this kind that can be asked of any release."""

    @property
    @abstractmethod
    def parts(self) -> "tuple[tuple[Mechanism, int], ...]":
        """The distinct mechanisms and how often each is used."""

    @abstractmethod
    def _run(self, neighbours: str) -> "ComposedLoss": ...

    @abstractmethod
    def _meant(self, neighbours: str) -> str:
        """The relation that a question is about."""

    # Gaussian DP

    def mu(self, delta: Any = None, neighbours: str = STATED) -> Any:
        """The smallest mu for which the release is mu-GDP: a certified upper bound, inf if there is none.

        With `delta`, the smallest mu with delta(eps) <= max(delta_mu(eps), delta) for every eps >= 0: mu-GDP up to that delta.
        Sampled Gaussian noise keeps the tail of the unsampled one, so without `delta` its sampling does not count.  GDP knows
        no direction: add, remove and add-or-remove have the same mu.

        >>> import hockeystick as hs
        >>> run = hs.Gaussian(sigma=9.4).poisson(rate=0.328) * 2000
        >>> round(run.mu(), 6), round(run.mu(delta=1e-5), 6)
        (4.757591, 1.567427)
        """
        return self.mu_bounds(delta, neighbours=neighbours).upper

    def mu_bounds(self, delta: Any = None, tolerance: float = 1e-9, neighbours: str = STATED) -> Bounds:
        """Both ends of `mu`, `tolerance` apart where the profile is known that well and 600 evaluations suffice.

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

    def gdp(self, delta: float | None = None, tolerance: float = 1e-9, neighbours: str = STATED) -> "GaussianDP":
        """`mu_bounds` together with where it is reached, and why, or why there is no mu.

        >>> import hockeystick as hs
        >>> hs.ApproxDP(epsilon=1.0, delta=1e-6).gdp().reason.partition(",")[0]
        'with a positive probability the loss is infinite'
        """
        from ..loss.answers.gdp import gaussian_dp
        from .gaussian_dp import GaussianDP

        run = self._both(neighbours)
        level = 0.0 if delta is None else _delta("delta", delta)
        found = gaussian_dp(run, level, checks.positive("tolerance", tolerance))
        if found.lower < found.upper == math.inf and level == 0.0 and sum(count for _, count in self.parts) > 1:
            ends = [(one.gdp(None, tolerance, neighbours).mu.upper, count) for one, count in self.parts]
            total = up(math.sqrt(math.fsum(count * mu * mu for mu, count in ends)) * (1.0 + 8.0 * UNIT))
            if total < math.inf:
                found = found._replace(upper=total, reason="each part has its mu, and their squares add")
        return GaussianDP(Bounds(found.lower, found.upper, run.tight), level, found.epsilon, found.reason, found.evaluations)

    def head_mu(self, epsilon: float, tolerance: float = 1e-9, neighbours: str = STATED) -> "HeadGDP":
        """The smallest mu with delta(eps) <= delta_mu(eps) for eps up to `epsilon` only: no guarantee of GDP (paper G, 4.1).

        >>> import hockeystick as hs
        >>> head = hs.ApproxDP(epsilon=1.0, delta=1e-6).head_mu(epsilon=5.0)
        >>> print(f"{head.mu.upper:.4f} {head.residual:.0e}")
        1.2320 1e-06
        """
        from ..loss.answers.gdp import gaussian_head
        from .gaussian_dp import HeadGDP

        point = checks.positive("epsilon", epsilon)
        run = self._both(neighbours)
        found, log = gaussian_head(run, point, checks.positive("tolerance", tolerance))
        return HeadGDP(Bounds(found.lower, found.upper, run.tight), point, exp_up(log, 1.0))

    def regret(self, delta: Any = None, neighbours: str = STATED) -> Any:
        """How far the curve of `mu(delta)` is from the release: the smallest k with f(x + k) - k <= G_mu(x), rounded up.

        f is the trade-off curve.  Small where mu says all that there is to say.

        >>> import hockeystick as hs
        >>> run = hs.Gaussian(sigma=9.4).poisson(rate=0.328) * 2000
        >>> round(run.regret(delta=1e-10), 6)
        0.001265
        """
        return self.regret_bounds(delta, neighbours=neighbours).upper

    def regret_bounds(self, delta: Any = None, tolerance: float = 1e-8, neighbours: str = STATED) -> Bounds:
        """Both ends of `regret`."""
        from ..loss.answers.gdp_regret import regret_ends

        tolerance = checks.positive("tolerance", tolerance)
        forward, backward, run = self._profiles(neighbours)

        def ends(level: float) -> Ends:
            mu = self.gdp(level or None, neighbours=neighbours).mu.upper
            return regret_ends(forward, backward, mu, tolerance)

        lower, upper = (ends(0.0)) if delta is None else each("delta", delta, _delta, ends)
        return Bounds(lower, upper, run.tight)

    def gdp_transform(self, epsilon: Any, neighbours: str = STATED) -> Any:
        """G(epsilon), the mu at which delta_mu(epsilon) is delta(epsilon), rounded up (paper G, Definition 4.1).

        >>> import hockeystick as hs
        >>> print(hs.Gaussian(sigma=2.0).gdp_transform([0.0, 10.0]).round(9))
        [0.5 0.5]
        """
        from ..loss.answers.gdp import mu_ends
        from ..loss.engines.driver import log_delta_proof
        from ..loss.protocol import Care, Side

        run = self._both(neighbours)

        def ends(point: float) -> Ends:
            value = mu_ends(point, log_delta_proof(run, point, Care.MANY, Side.UPPER).high)[1]
            return value, value

        return each("epsilon", epsilon, checks.non_negative, ends)[1]

    # tests

    def tradeoff(self, alpha: Any, neighbours: str = STATED) -> Any:
        """The smallest type-II error of any test with type-I error alpha: a certified lower bound.

        The null hypothesis is that the record is absent, so alpha is the false-positive rate.  For one order ("remove") it is
        the curve f of that pair, for "add" its inverse, for add-or-remove the convex hull of the smaller of the two.

        >>> import hockeystick as hs
        >>> round(hs.Gaussian(sigma=0.5).tradeoff(alpha=0.5), 9)
        0.022750132
        """
        return self.tradeoff_bounds(alpha, neighbours).lower

    def tradeoff_bounds(self, alpha: Any, neighbours: str = STATED) -> Bounds:
        """Both ends of `tradeoff`: the upper one is what a randomised threshold test attains."""
        test, exact = self._test(neighbours)
        return Bounds(*each("alpha", alpha, _error_rate, lambda one: test(one).beta), exact)

    def tpr(self, fpr: Any, neighbours: str = STATED) -> Any:
        """The largest true-positive rate of an attack with this false-positive rate: a certified upper bound.

        >>> import hockeystick as hs
        >>> round((hs.Gaussian(sigma=1.1).poisson(rate=256 / 60_000) * 3510).tpr(fpr=1e-3), 6)
        0.002605
        """
        return self.tpr_bounds(fpr, neighbours).upper

    def tpr_bounds(self, fpr: Any, neighbours: str = STATED) -> Bounds:
        """Both ends of `tpr`."""
        test, exact = self._test(neighbours)
        return Bounds(*each("fpr", fpr, _error_rate, lambda one: test(one).tpr), exact)

    def bayes_risk(self, prior: Any, neighbours: str = STATED) -> Any:
        """The least probability of error of an attacker who holds the record present with probability `prior`, rounded down.

        prior * (1 - delta(eps)) at eps = log((1 - prior) / prior).

        >>> import hockeystick as hs
        >>> round(hs.Gaussian(sigma=1.0).bayes_risk(prior=0.5), 9)
        0.308537539
        """
        return self.bayes_risk_bounds(prior, neighbours).lower

    def bayes_risk_bounds(self, prior: Any, neighbours: str = STATED) -> Bounds:
        """Both ends of `bayes_risk`."""
        from ..loss.answers.tradeoff import rest_ends

        forward, backward, run = self._profiles(neighbours)
        forward, backward = rest_ends(run, forward), rest_ends(self._reversed(neighbours), backward)

        def ends(p: float) -> Ends:
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

    def posterior(self, prior: Any, fpr: Any, neighbours: str = STATED) -> Any:
        """P(present | accused) for the best attack with this false-positive rate, rounded up.

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
        test, _ = self._test(neighbours)
        found = []
        for p, rate in zip(priors.ravel().tolist(), rates.ravel().tolist(), strict=True):
            p, rate = _error_rate("prior", p), _error_rate("fpr", rate)
            right = p * test(rate).tpr[1]
            wrong = (1.0 - p) * rate
            share = 1.0 if wrong == 0.0 and right > 0.0 else right / max(right + wrong, SMALLEST)
            found.append(min(1.0, up(share * (1.0 + 8.0 * UNIT))) if right > 0.0 else 0.0)
        return np.array(found).reshape(priors.shape) if priors.ndim else found[0]

    # how they are answered

    def _both(self, neighbours: str) -> "ComposedLoss":
        """The run of both orders: mu-GDP of one is mu-GDP of the other."""
        relation = checked(self._meant(neighbours))
        return self._run(DEFAULT if relation in ("add", "remove") else relation)

    def _profiles(
        self, neighbours: str, curve: bool = False
    ) -> "tuple[Callable[[float], Ends], Callable[[float], Ends], ComposedLoss]":
        """log delta of the relation's pair, that of the reversed one, and the run; closer if a curve is wanted."""
        from ..loss.answers.gdp import profile_ends
        from ..loss.protocol import Care

        run, care = self._run(neighbours), Care.CURVE if curve else Care.MANY
        forward = profile_ends(run, care)
        meant = self._meant(neighbours)
        return forward, profile_ends(self._reversed(neighbours), care) if meant in _REVERSED else forward, run

    def _reversed(self, neighbours: str) -> "ComposedLoss":
        """The run of the reversed pairs."""
        meant = self._meant(neighbours)
        return self._run(_REVERSED.get(meant, meant))

    def _rough_tpr(self, fpr: float, neighbours: str = STATED) -> float:
        """`tpr` as a search needs it: sooner, and less close where it is next to 1."""
        return self._test(neighbours, relative=False)[0](_error_rate("fpr", fpr)).tpr[1]

    def _test(self, neighbours: str, relative: bool = True) -> "tuple[Callable[[float], Errors], bool]":
        """The best test of each level, and whether some mechanism attains what it does."""
        from ..loss.answers.tradeoff import tester

        forward, backward, run = self._profiles(neighbours, relative)
        return tester(run, self._reversed(neighbours), forward, backward, relative), run.tight


def _delta(name: str, value: Any) -> float:
    allowed = "a probability from 0 to below 1"
    number = checks.real(name, value, allowed)
    if not 0.0 <= number < 1.0:
        raise BadValue(f"{name} is {number}; allowed: {allowed}.")
    return number


def _error_rate(name: str, value: Any) -> float:
    allowed = "a probability from 0 to 1"
    number = checks.real(name, value, allowed)
    if not 0.0 <= number <= 1.0:
        raise BadValue(f"{name} is {number}; allowed: {allowed}.")
    return number
