"""What a finite pair is made of, exactly, to be inspected and drawn from: tests, the decomposition, the simulator."""

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import lcm
from typing import TYPE_CHECKING

from ...errors import BadValue

if TYPE_CHECKING:
    from ...draws.source import InsecureSeed

Law = Mapping[Hashable, Fraction]
"""A distribution: each outcome with its mass, exactly."""


def draw(law: Law, rng: "InsecureSeed | None" = None) -> Hashable:
    """One outcome of a distribution, exactly by its masses."""
    from ...draws.lazy import below
    from ...draws.source import words_of

    whole = lcm(*(mass.denominator for mass in law.values()))
    place = below(whole, words_of(rng))
    for outcome, mass in law.items():
        place -= mass.numerator * (whole // mass.denominator)
        if place < 0:
            return outcome
    raise AssertionError("the masses of a law sum to 1")


@dataclass(frozen=True)
class BestTest:
    """The most powerful test of its false-positive rate: it says P where p/q is above a threshold (Neyman and Pearson).

    Steinke 2022, Lemma 4, with the threshold in [0, inf] and a coin at the threshold: without it the lemma's two inequalities
    hold with the threshold counted on both sides.

    Parameters
    ----------
    threshold : Fraction
        The likelihood ratio p/q at which a coin decides.
    coin : Fraction
        The probability of saying P at the threshold.
    says_p : mapping
        The probability of saying P for each outcome.
    fpr : Fraction
        Q(says P), the false-positive rate.
    tpr : Fraction
        P(says P), the true-positive rate; no test of this false-positive rate has a larger one.
    """

    threshold: Fraction
    coin: Fraction
    says_p: Law
    fpr: Fraction
    tpr: Fraction

    def says(self, outcome: Hashable, rng: "InsecureSeed | None" = None) -> bool:
        """Whether the test says P of an outcome.

        Parameters
        ----------
        outcome : hashable
            One of the outcomes of the pair.
        rng : InsecureSeed, optional
            For draws that can be repeated, as in tests; by default the operating system's randomness.

        Returns
        -------
        bool
            True for P.

        Raises
        ------
        BadType
            If rng is neither None nor an `InsecureSeed`.
        BadValue
            If the pair has no such outcome.
        """
        if outcome not in self.says_p:
            raise BadValue(f"outcome is {outcome!r}; allowed: one of {', '.join(map(repr, self.says_p))}.")
        chance = self.says_p[outcome]
        return bool(draw({True: chance, False: 1 - chance}, rng))


@dataclass(frozen=True)
class Decomposition:
    """P = (1 - delta) P' + delta P'' and Q = (1 - delta) Q' + delta Q'' with e^-epsilon Q' <= P' <= e^epsilon Q'.

    Steinke 2022, Lemma 23, by its proof (with the last weight delta_1, which is printed 1 - delta_1).

    Parameters
    ----------
    level : Fraction
        The most that p_common/q_common and its inverse may be: at most e^epsilon.
    delta : Fraction
        The weight of the rest.
    p_common, q_common : mapping
        P' and Q', within a factor of `level` of each other at every outcome.
    p_rest, q_rest : mapping
        P'' and Q'', of which nothing is known.
    """

    level: Fraction
    delta: Fraction
    p_common: Law
    q_common: Law
    p_rest: Law
    q_rest: Law

    def simulator(self) -> "Simulator":
        """Both distributions as what is made of randomised response.

        Returns
        -------
        Simulator
            Steinke 2022, Corollary 24, for e^epsilon = `level`.
        """
        p, q, level = self.p_common, self.q_common, self.level
        if level == 1:
            first = second = dict(p)
        else:
            first = {one: (level * p[one] - q[one]) / (level - 1) for one in p}
            second = {one: (level * q[one] - p[one]) / (level - 1) for one in p}
        return Simulator(level, self.delta, first, second, self.p_rest, self.q_rest)


@dataclass(frozen=True)
class Simulator:
    """A pair as post-processing of (epsilon, delta)-DP randomised response: F(R(0)) has the law P, F(R(1)) the law Q.

    R(b) is (b, "bottom") with probability delta, (b, "top") with (1 - delta) level / (level + 1), else (1 - b, "top").  F draws
    from `first` for (0, "top"), from `second` for (1, "top"), and from `p_rest` or `q_rest` for (0, "bottom") or (1, "bottom"):
    the text after Corollary 24 of Steinke 2022 has top and bottom the wrong way round (erratum S-E2).

    Parameters
    ----------
    level : Fraction
        e^epsilon of the randomised response.
    delta : Fraction
        Its delta.
    first, second : mapping
        A and B of the corollary.
    p_rest, q_rest : mapping
        P'' and Q''.
    """

    level: Fraction
    delta: Fraction
    first: Law
    second: Law
    p_rest: Law
    q_rest: Law

    def response(self, b: int, rng: "InsecureSeed | None" = None) -> tuple[int, str]:
        """A draw of the randomised response R(b).

        Parameters
        ----------
        b : {0, 1}
            0 for P, 1 for Q.
        rng : InsecureSeed, optional
            For draws that can be repeated, as in tests; by default the operating system's randomness.

        Returns
        -------
        tuple of (int, str)
            The bit, and "top" or "bottom".

        Raises
        ------
        BadType
            If rng is neither None nor an `InsecureSeed`.
        BadValue
            If b is neither 0 nor 1.
        """
        _check_bit(b)
        told, kept = Fraction(self.delta), 1 - self.delta
        law: dict[Hashable, Fraction] = {
            (b, "bottom"): told,
            (b, "top"): kept * self.level / (self.level + 1),
            (1 - b, "top"): kept / (self.level + 1),
        }
        found = draw(law, rng)
        assert isinstance(found, tuple)
        return found[0], found[1]

    def process(self, response: tuple[int, str], rng: "InsecureSeed | None" = None) -> Hashable:
        """A draw of F, which knows the response only.

        Parameters
        ----------
        response : tuple of (int, str)
            What `response` returned.
        rng : InsecureSeed, optional
            For draws that can be repeated, as in tests; by default the operating system's randomness.

        Returns
        -------
        hashable
            An outcome of the pair.

        Raises
        ------
        BadType
            If rng is neither None nor an `InsecureSeed`.
        BadValue
            If it is no response.
        """
        if response not in ((0, "top"), (1, "top"), (0, "bottom"), (1, "bottom")):
            raise BadValue(f"response is {response!r}; allowed: what `response` returns, such as (0, 'top').")
        bit, kind = response
        laws = (self.first, self.second) if kind == "top" else (self.p_rest, self.q_rest)
        return draw(laws[bit], rng)

    def draw(self, b: int, rng: "InsecureSeed | None" = None) -> Hashable:
        """F(R(b)): an outcome drawn from P for 0, from Q for 1.

        Parameters
        ----------
        b : {0, 1}
            0 for P, 1 for Q.
        rng : InsecureSeed, optional
            For draws that can be repeated, as in tests; by default the operating system's randomness.

        Returns
        -------
        hashable
            An outcome of the pair.

        Raises
        ------
        BadType
            If rng is neither None nor an `InsecureSeed`.
        BadValue
            If b is neither 0 nor 1.
        """
        return self.process(self.response(b, rng), rng)

    def law(self, b: int) -> dict[Hashable, Fraction]:
        """The law of F(R(b)), exactly: that of P for 0, of Q for 1.

        Parameters
        ----------
        b : {0, 1}
            0 for P, 1 for Q.

        Returns
        -------
        dict
            Each outcome with its mass.

        Raises
        ------
        BadValue
            If b is neither 0 nor 1.
        """
        _check_bit(b)
        near, far = (self.first, self.second) if b == 0 else (self.second, self.first)
        rest = self.p_rest if b == 0 else self.q_rest
        kept, total = 1 - self.delta, self.level + 1
        return {one: kept * (self.level * near[one] + far[one]) / total + self.delta * rest[one] for one in near}


def _check_bit(b: int) -> None:
    if b not in (0, 1):
        raise BadValue(f"b is {b!r}; allowed: 0 for p, 1 for q.")


def decomposed(p: Law, q: Law, levels: tuple[Fraction, Fraction], level: Fraction, delta: Fraction) -> Decomposition:
    """The decomposition at those levels of the two orders at which their hockey sticks are min(delta, total variation)."""
    common, rest = [], []
    for one, other, cap in ((p, q, levels[0]), (q, p, levels[1])):
        capped = {outcome: min(mass, cap * other[outcome]) for outcome, mass in one.items()}
        kept = sum(capped.values(), Fraction(0))
        inner = {outcome: mass / kept for outcome, mass in capped.items()} if kept else dict(p)
        lost = 1 - kept
        beyond = {outcome: one[outcome] - capped[outcome] for outcome in one}
        # of delta, what the capped law does not lose stays with it
        outer = {outcome: ((delta - lost) * inner[outcome] + beyond[outcome]) / delta for outcome in one} if delta else inner
        common.append(inner)
        rest.append(outer)
    return Decomposition(level, delta, common[0], common[1], rest[0], rest[1])
