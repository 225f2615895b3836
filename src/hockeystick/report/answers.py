"""What a report says of a run: each answer is computed when it is first shown."""

import math
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from ..checks import large_delta
from ..errors import HockeystickError
from ..mechanism.claim import GDP
from ..mechanism.gaussian import Gaussian
from ..mechanism.release import Release
from ..mechanism.training import Training
from ..neighbours import Relation, orders
from ..planning.poisson_claim import claimed_as_poisson
from ..planning.rdp_accountant import RDPAccountant
from .about import About
from .methods import cited, engine, keyed, steps
from .numbers import down_text, given, rounded_up, up_text
from .plain import meaning
from .words import hypotheses, neighbouring

if TYPE_CHECKING:
    from ..bounds import Bounds
    from ..loss.engines.engine import Proof

_RATES = (1e-4, 1e-3, 1e-2, 0.1)
_REGRET = 1e-3
_MEANT = (
    "This holds against any attacker, whatever else is known, and for every record by itself; for several records together the "
    "numbers are larger.",
)
_ASSUMED = (
    "The noise is drawn as stated, from an exact sampler or one whose flaws are accounted for elsewhere.",
    "What is released beyond the described steps (hyper-parameters, evaluations on the same data) is not counted.",
)


@dataclass(frozen=True)
class Answers:
    """The answers for one run at one delta, with what they rest on.

    Parameters
    ----------
    release : Release
        What the answers are about.
    at : float
        The delta of the answers.
    neighbours : Relation
        The neighbouring relation.
    mu_delta : float
        The delta up to which mu is given.
    about : About, default About()
        What people say of the run.
    """

    release: Release
    at: float
    neighbours: Relation
    mu_delta: float
    about: About = field(default_factory=About)

    @cached_property
    def _proved(self) -> "tuple[Bounds[float], Proof]":
        return self.release._epsilon_proof(self.at, self.neighbours)

    @cached_property
    def epsilon(self) -> dict[str, Any]:
        """Both ends of epsilon at delta.

        Returns
        -------
        dict of str
            `delta`, `lower`, `upper` and `tight`.
        """
        bounds, _ = self._proved
        return {"delta": self.at, "lower": bounds.lower, "upper": bounds.upper, "tight": bounds.tight}

    @cached_property
    def delta(self) -> dict[str, Any]:
        """Both ends of delta at the epsilon of the statement.

        Returns
        -------
        dict of str
            `epsilon`, `lower`, `upper` and `tight`; `refused` with the reason if no epsilon is finite.
        """
        point = rounded_up(self.epsilon["upper"], 3)
        if math.isinf(point):
            return {"refused": "no epsilon is finite at this delta."}
        bounds = self.release.delta_bounds(point, self.neighbours)
        return {"epsilon": point, "lower": bounds.lower, "upper": bounds.upper, "tight": bounds.tight}

    @cached_property
    def profile(self) -> dict[str, Any]:
        """Both ends of delta on a grid of epsilons.

        Returns
        -------
        dict of str
            `epsilon`, `lower` and `upper`, a list each.
        """
        most = self.epsilon["upper"]
        points = np.linspace(0.0, 2.0 * most if 0.0 < most < math.inf else 10.0, 9)
        points = np.array([float(f"{point:.4g}") for point in points])
        bounds = self.release.delta_bounds(points, self.neighbours)
        return {"epsilon": points.tolist(), "lower": bounds.lower.tolist(), "upper": bounds.upper.tolist()}

    @cached_property
    def mu(self) -> dict[str, Any]:
        """Gaussian DP up to a delta with its regret, and without one with the reason.

        Returns
        -------
        dict of str
            `delta`, `lower`, `upper`, `regret`, `everywhere` and `reason`, or `refused` with the reason.
        """

        def found() -> dict[str, Any]:
            everywhere = self.release.gdp(None, neighbours=self.neighbours)
            near = self.release.gdp(self.mu_delta, 1e-6, self.neighbours)
            regret = self.release.regret_bounds(self.mu_delta, _REGRET, self.neighbours)
            whole = _plainer_mu(self.release, everywhere.mu.upper, self.neighbours)
            return {
                "delta": self.mu_delta,
                "lower": near.mu.lower,
                "upper": min(near.mu.upper, whole),
                "regret": regret.upper,
                "everywhere": whole,
                "reason": keyed(everywhere.reason),
            }

        return _tried(found)

    @cached_property
    def renyi(self) -> dict[str, Any]:
        """The order whose conversion gives the least epsilon, and that epsilon.

        Returns
        -------
        dict of str
            `order`, `value` and `epsilon`, or `refused` with the reason.
        """

        def found() -> dict[str, Any]:
            plain = self.release.run if isinstance(self.release, Training) else self.release
            accountant = RDPAccountant(neighbours=self.neighbours).compose(plain)
            order = float(accountant.order(delta=self.at))
            return {"order": order, "value": float(accountant.rdp(order)), "epsilon": float(accountant.epsilon(self.at))}

        return _tried(found) if self.at > 0.0 else {"refused": "a single order says nothing at delta 0."}

    @cached_property
    def attacks(self) -> dict[str, Any]:
        """What an attacker who must tell the neighbours apart can reach.

        Returns
        -------
        dict of str
            `advantage`, `fpr`, `tpr`, `tpr_lower`, `tradeoff`, `bayes_risk` and `posterior`, or `refused` with the reason.
        """

        def found() -> dict[str, Any]:
            tpr = self.release.tpr_bounds(np.array(_RATES), self.neighbours)
            return {
                "advantage": self.release.advantage(self.neighbours),
                "fpr": list(_RATES),
                "tpr": tpr.upper.tolist(),
                "tpr_lower": tpr.lower.tolist(),
                "tradeoff": [max(0.0, 1.0 - one) for one in tpr.upper.tolist()],
                "bayes_risk": float(self.release.bayes_risk(0.5, self.neighbours)),
                "posterior": float(self.release.posterior(0.5, 1e-3, self.neighbours)),
            }

        return _tried(found)

    @cached_property
    def methods(self) -> dict[str, str]:
        """The theorem or the method behind each number.

        Returns
        -------
        dict of str to str
            For `epsilon`, `mu`, `renyi` and `attacks`.
        """
        return {
            "epsilon": engine(self.release, self.neighbours, self._proved[1]),
            "mu": "the supremum of the transformed profile, [GDPT] section 4; up to a delta and its regret, [G25]",
            "renyi": "exact Rényi curves at all real orders; the optimal conversion of one order, [AL20] Theorem 3",
            "attacks": "trade-off curve of the composed pair, [DRS22]; advantage is delta(0), [S22] Proposition 7",
        }

    @cached_property
    def assumptions(self) -> list[str]:
        """What the answers rest on.

        Returns
        -------
        list of str
            A sentence each.
        """
        stated = list(self.release._notes_for(self.neighbours)) if isinstance(self.release, Training) else []
        samplers = {one.sampler for one in steps(self.release, self.neighbours)} - {"all records"}
        drawn = [f"Batches are drawn as stated ({one}); other ways of drawing have other answers." for one in sorted(samplers)]
        if not stated or self.neighbours != self.release.stated:
            stated.append(f"Neighbours ({self.neighbours}): {neighbouring(self.release, self.neighbours)}.")
        large = large_delta(self.at, self.release._records)
        return [
            *([f"Caution: {large}"] if large else ()),
            *claimed_as_poisson(self.release, self.at, self.neighbours),
            *stated,
            *drawn,
            *hypotheses(self.release),
            *self.release._assumed,
            *_ASSUMED,
        ]

    @cached_property
    def statement(self) -> str:
        """Sentences for a paper or a data release.

        Returns
        -------
        str
            A paragraph, its numbers rounded to the safe side.
        """
        found = self.epsilon
        if math.isinf(found["upper"]):
            return f"No epsilon is guaranteed at δ = {given(self.at)} for {neighbouring(self.release, self.neighbours)}."
        lines = [
            f"The release is (ε, δ)-differentially private with ε = {up_text(found['upper'], 3)} and δ = {given(self.at)} for "
            f"{neighbouring(self.release, self.neighbours)} ({self.neighbours}).",
            f"One record is {self.about.unit}." if self.about.unit else "What one record stands for was not stated.",
            f"It consists of {listed(steps(self.release, self.neighbours))}.",
            f"Sampling: {self.sampler}.",
            _exact_epsilon(down_text(found["lower"]), up_text(found["upper"]))
            + (", and is attained." if found["tight"] else "; the upper end is proved, and may be more than is needed."),
        ]
        mu = self.mu
        if "refused" not in mu and math.isfinite(mu["upper"]):
            upper, regret = up_text(mu["upper"], 4), up_text(mu["regret"], 2)
            lines.append(f"It is μ-GDP up to δ = {given(mu['delta'])} with μ = {upper} (regret {regret}).")
        if "refused" not in self.attacks:
            lines.append(
                f"No attack with a false-positive rate of 0.1% finds a record with a true-positive rate above "
                f"{up_text(100.0 * self.attacks['tpr'][1], 3)}%."
            )
        ground = ", given what is stated of its parts (see the assumptions)" if self.release._assumed else ""
        lines.append(f"Computed with hockeystick {current_version()}; every bound is certified{ground}.")
        return "  ".join(lines)

    @cached_property
    def sampler(self) -> str:
        """How the records of each release are drawn.

        Returns
        -------
        str
            The schemes in words.
        """
        drawn = dict.fromkeys(one.sampler for one in steps(self.release, self.neighbours))
        if set(drawn) <= {"all records"}:
            return "none, every release uses all records"
        return "; ".join("all records, without sampling" if one == "all records" else one for one in drawn)

    @cached_property
    def basis(self) -> str:
        """What an epsilon of this report holds for: without it the number means nothing.

        Returns
        -------
        str
            Delta, relation, unit and sampler.
        """
        unit = self.about.unit or "not stated (one record)"
        relation = f"{neighbouring(self.release, self.neighbours)} ({self.neighbours})"
        return f"At delta = {given(self.at)}, for {relation}; unit of privacy: {unit}; sampling: {self.sampler}."

    @cached_property
    def meaning(self) -> list[str]:
        """What the guarantee means, in plain words.

        Returns
        -------
        list of str
            A sentence each; one that says so if nothing is guaranteed, or attacks cannot be bounded.
        """
        if math.isinf(self.epsilon["upper"]):
            return [f"At delta = {given(self.at)} nothing is guaranteed: no epsilon is finite."]
        try:
            words = meaning(self.release, self.epsilon["upper"], self.at, self.neighbours).words
        except HockeystickError as error:
            words = [keyed(str(error))]
        return [*words, *_MEANT]

    @cached_property
    def citations(self) -> dict[str, str]:
        """The sources of what was used, by the keys of the bibliography.

        Returns
        -------
        dict of str to str
            The keys with the sources.
        """
        reasons = (part.get(name, "") for part in (self.mu, self.renyi, self.attacks) for name in ("reason", "refused"))
        return cited(*self.methods.values(), *reasons, *(one.theorem for one in steps(self.release, self.neighbours)))


def _exact_epsilon(lower: str, upper: str) -> str:
    return f"The exact ε is {upper}" if lower == upper else f"The exact ε lies between {lower} and {upper}"


def _plainer_mu(release: Release, upper: float, relation: Relation) -> float:
    """The mu of plain Gaussian noise with fewer digits, if its exact square still is within it: 0.5, not 0.5000000000000002."""
    shorter, square = float(f"{upper:.12g}") if math.isfinite(upper) else upper, Fraction(0)
    for one, count in release.parts:
        if isinstance(one, Gaussian):
            moved = max(map(one._moved, orders(relation)))
            square += count * (Fraction(moved) / Fraction(one.sigma)) ** 2
        elif isinstance(one, GDP):
            square += count * Fraction(one.claimed_mu) ** 2
        else:
            return upper
    return shorter if shorter < upper and Fraction(shorter) ** 2 >= square else upper


def _tried(found: Any) -> dict[str, Any]:
    try:
        return found()  # type: ignore[no-any-return]
    except HockeystickError as error:
        return {"refused": keyed(str(error))}


def listed(parts: list[Any]) -> str:
    """The parts of a run in one sentence."""
    if not parts:
        return "nothing"
    return "; ".join(f"{one.uses:,} uses of {one.words}" if one.uses > 1 else one.words for one in parts)


def current_version() -> str:
    """The version of the library."""
    from .. import __version__

    return __version__
