"""Mechanisms whose answer changes with the record, whichever relation is asked: epsilon is for one change."""

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from .. import checks
from .. import loss as losses
from ..errors import BadValue
from ..loss.engines.compiled import CoreAnswer, response_epsilon
from ..neighbours import RECORD_IN_P, Order
from .release import Mechanism

if TYPE_CHECKING:
    from ..draws.source import InsecureSeed


def epsilon_at_most(name: str, value: Any, most: float = 600.0) -> float:
    """An epsilon whose exponential is an ordinary double."""
    return checks.at_most(name, checks.non_negative(name, value), most)


@dataclass(frozen=True, repr=False, init=False)
class RandomizedResponse(Mechanism):
    """One of `categories` answers: the true one with weight e^epsilon, each other with weight 1.

    The pair is exact and the same for every relation; but with null="uniform" a record that is zeroed out answers any of the
    categories, each equally likely, which is less of a change.

    Parameters
    ----------
    epsilon : float
        The epsilon of one change, from 0 to 600.
    categories : int, default 2
        How many answers there are, from 2 up.
    null : "uniform", optional
        What a record that is zeroed out answers; by default one of the categories.

    Raises
    ------
    BadType
        If epsilon or categories is no real number.
    BadValue
        If a parameter is out of its range.

    Examples
    --------
    >>> round((RandomizedResponse(epsilon=0.1) * 1000).epsilon(delta=1e-6), 6)
    19.344671
    >>> round((RandomizedResponse(epsilon=0.1, null="uniform") * 1000).epsilon(delta=1e-6, neighbours="zero-out"), 6)
    8.296029
    """

    one_epsilon: float  # of one change; `epsilon` is the question
    categories: int
    null: str | None

    def __init__(self, epsilon: float, categories: int = 2, null: str | None = None) -> None:
        if null not in (None, "uniform"):
            raise BadValue(f"null is {null!r}; allowed: None (a null record is one of the categories) or 'uniform'.")
        object.__setattr__(self, "one_epsilon", epsilon_at_most("epsilon", epsilon))
        object.__setattr__(self, "categories", checks.count("categories", categories, least=2))
        object.__setattr__(self, "null", null)

    def release(self, value: Any, rng: "InsecureSeed | None" = None) -> Any:
        """An answer instead of each category: the true one with weight e^epsilon, each other with weight 1, exactly.

        Parameters
        ----------
        value : int or array_like
            The category, from 0 to categories - 1; an array has those of several people, each of whom has this epsilon.  How
            many they are is seen, so their number is taken as public: ask with neighbours="replace", a person whose answer
            changes, not one who comes or goes.
        rng : InsecureSeed, optional
            Where the randomness comes from: the operating system, unless tests or figures need a seed.

        Returns
        -------
        int or ndarray
            The answers, in the shape of value.

        Raises
        ------
        BadType
            If value holds something else than numbers, or rng is no InsecureSeed.
        BadValue
            If one is no category.

        Examples
        --------
        >>> RandomizedResponse(epsilon=1.0, categories=5).release(3) in range(5)
        True
        """
        from ..draws.choices import Response  # Lemma 37
        from ..draws.source import words_of
        from ..draws.values import places, shaped

        truths, shape = places("value", value, self.categories)
        return shaped(Response(self.one_epsilon, self.categories - 1).all(truths, words_of(rng)), shape)

    def _parameters(self) -> dict[str, Any]:
        more: dict[str, Any] = {"categories": self.categories} if self.categories > 2 else {}
        return {"epsilon": self.one_epsilon, **more, **({"null": self.null} if self.null else {})}

    def _pair_loss(self, wanted: tuple[Order, ...]) -> "losses.Loss | None":
        from ..loss.pairs.ordered import ordered_pairs

        if not self.one_epsilon:
            return None
        if self._erased(wanted):
            return ordered_pairs(
                [losses.UniformResponseLoss(self.one_epsilon, self.categories, one in RECORD_IN_P) for one in wanted]
            )
        return losses.ResponseLoss(self.one_epsilon, self.categories)

    def _direct(self, wanted: tuple[Order, ...], count: int, delta: float) -> CoreAnswer:
        return None if self.categories > 2 or self._erased(wanted) else response_epsilon(self.one_epsilon, count, delta)

    def _erased(self, wanted: tuple[Order, ...]) -> bool:
        return self.null is not None and wanted[0] in ("erase", "restore")


@dataclass(frozen=True, repr=False, init=False)
class Exponential(Mechanism):
    """The exponential mechanism, or any selection of bounded range `epsilon`.

    With weights e^{epsilon u / (2 sensitivity)}, or e^{epsilon u / sensitivity} for a utility u that only grows (or only falls)
    with a record, log(P/Q) spans at most epsilon (Durfee and Rogers 2019; Dong, Durfee and Rogers
    2020).  Composed, the upper end is the smaller of two proofs (see `hockeystick.loss.exponential`), the lower end what the best
    fixed shift attains.

    Parameters
    ----------
    epsilon : float
        The range of log(P/Q) of one use, from 0 to 600.

    Raises
    ------
    BadType
        If epsilon is no real number.
    BadValue
        If epsilon is out of its range.

    Examples
    --------
    >>> bounds = (Exponential(epsilon=1.0) * 10).epsilon_bounds(delta=1e-5)
    >>> print(f"{bounds.lower:.3f} {bounds.upper:.3f} {bounds.tight}")
    7.105 7.245 False
    """

    one_epsilon: float  # of one use; `epsilon` is the question

    def __init__(self, epsilon: float) -> None:
        object.__setattr__(self, "one_epsilon", epsilon_at_most("epsilon", epsilon))

    def _parameters(self) -> dict[str, Any]:
        return {"epsilon": self.one_epsilon}

    def release(self, value: Any, rng: "InsecureSeed | None" = None, sensitivity: float = 1.0, monotone: bool = False) -> int:
        """The place of one of the scores, chosen with weight e^(epsilon score / (2 sensitivity)), exactly.

        Parameters
        ----------
        value : array_like
            The scores of the candidates, higher for better ones.
        rng : InsecureSeed, optional
            Where the randomness comes from: the operating system, unless tests or figures need a seed.
        sensitivity : float, default 1.0
            How far one record moves a score at most.
        monotone : bool, default False
            Say True if a record that is added moves all scores in the same direction, as counts do; then the weight is
            e^(epsilon score / sensitivity).  It is not true of a record that is replaced.

        Returns
        -------
        int
            The place of the candidate, from 0.

        Raises
        ------
        BadType
            If a score or sensitivity is no real number, monotone no bool, or rng no InsecureSeed.
        BadValue
            If there are no scores, one is not finite, or sensitivity is not above 0.

        Examples
        --------
        >>> Exponential(epsilon=1.0).release([1.0, 1000.0, 3.0])
        1
        """
        return _selected(value, self.one_epsilon, sensitivity, monotone, rng, again=True)

    def _pair_loss(self, wanted: tuple[Order, ...]) -> "losses.Loss | None":
        return losses.BoundedRangeLoss(self.one_epsilon) if self.one_epsilon else None


def permute_and_flip(
    scores: Any, epsilon: float, sensitivity: float = 1.0, monotone: bool = False, rng: "InsecureSeed | None" = None
) -> int:
    """A candidate chosen by permute-and-flip (McKenna and Sheldon 2020): epsilon-DP, never worse than the exponential mechanism.

    Candidates come in random order; each is taken with probability e^(epsilon (score - best) / (2 sensitivity)).  That is
    epsilon-DP, but not of bounded range: count it as `PureDP(epsilon)`, not as `Exponential(epsilon)` (docs/mathematics.md,
    section 17).

    Parameters
    ----------
    scores : array_like
        The scores of the candidates, higher for better ones.
    epsilon : float
        The epsilon of one choice, from 0 to 600.
    sensitivity : float, default 1.0
        How far one record moves a score at most.
    monotone : bool, default False
        Say True if a record that is added moves all scores in the same direction, as counts do: without the 2, then.  It is
        not true of a record that is replaced.
    rng : InsecureSeed, optional
        Where the randomness comes from: the operating system, unless tests or figures need a seed.

    Returns
    -------
    int
        The place of the candidate, from 0.

    Raises
    ------
    BadType
        If a score, epsilon or sensitivity is no real number, monotone no bool, or rng no InsecureSeed.
    BadValue
        If there are no scores, one is not finite, epsilon is out of its range, or sensitivity is not above 0.

    Examples
    --------
    >>> permute_and_flip([1.0, 1000.0, 3.0], epsilon=1.0)
    1
    """
    return _selected(scores, epsilon_at_most("epsilon", epsilon), sensitivity, monotone, rng, again=False)


def _selected(scores: Any, epsilon: float, sensitivity: float, monotone: bool, rng: "InsecureSeed | None", again: bool) -> int:
    from ..draws.choices import Exponents, selection
    from ..draws.source import words_of
    from ..draws.values import scores as checked

    exact = checked("scores", scores)
    weight = (
        Fraction(epsilon)
        / Fraction(checks.positive("sensitivity", sensitivity))
        / (1 if checks.flag("monotone", monotone) else 2)
    )
    return selection(Exponents(exact, weight), again, words_of(rng))
