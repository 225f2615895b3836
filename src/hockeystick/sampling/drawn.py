"""Samples that are drawn, and what is released of them: the sum of the records' contributions, or what a query makes of them."""

import math
from abc import abstractmethod
from collections.abc import Callable, Mapping, Sized
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from .. import checks
from ..errors import BadType, BadValue, Unsupported
from ..mechanism.discrete import DiscreteGaussian, DiscreteLaplace
from ..mechanism.gaussian import Gaussian
from ..mechanism.laplace import Laplace
from ..mechanism.release import Mechanism, Release
from ..mechanism.response import RandomizedResponse
from .base import Sampled

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from ..draws.source import InsecureSeed

Query = Callable[[Any], Any]


def release_of(
    step: Release, records: Any, places: Any, rng: "InsecureSeed | None", query: Query | None, expected: float | None
) -> Any:
    """The base's release of the records at these places, some perhaps several times."""
    parts = step.parts
    if len(parts) > 1 or parts[0][1] > 1:
        raise Unsupported(
            f"one sample that feeds {step!r} is not released: it has an answer for each part.  Merge Gaussian parts into one "
            "Gaussian, or draw the sample with .sample() and release each part of it."
        )
    mechanism = parts[0][0]
    if query is not None:
        if expected is not None:
            raise BadValue("expected and query are given; allowed: one of them.  Divide inside the query.")
        if not callable(query):
            raise BadType(f"query is {query!r}; allowed: a function of the sample.")
        answer = query(_chosen(records, places))
        if isinstance(mechanism, RandomizedResponse) and getattr(answer, "ndim", isinstance(answer, Sized)):
            raise BadType(
                f"the query makes a {type(answer).__name__} of the sample; allowed for {mechanism!r}: one category.  An "
                "answer for each record would tell how many are drawn, which epsilon does not count."
            )
        return mechanism.release(answer, rng)
    found = _noisy_sum(mechanism, records, places, rng)
    return found if expected is None else found / checks.positive("expected", expected)


class Batches(Sampled):
    """Batches of a fixed size, of `examples` records."""

    examples: int

    def release(
        self, value: Any, rng: "InsecureSeed | None" = None, query: Query | None = None, expected: float | None = None
    ) -> Any:
        """A batch of the records is drawn, and released by the base, exactly as epsilon counts it.

        Parameters
        ----------
        value : array_like or sequence
            The records, `examples` of them: numbers, rows of an array, or anything that the query takes.
        rng : InsecureSeed, optional
            Where the randomness comes from: the operating system, unless tests or figures need a seed.
        query : callable, optional
            What the base releases, a function of the sample (an array of an array, a table of a table, else a list), which one
            record moves as the base says; for `RandomizedResponse` one category.  By default the sum of the sampled records,
            numbers or rows: each is clipped to the sensitivity of the noise (Gaussian: 2-norm, Laplace: 1-norm) and rounded
            towards 0, far below the noise, and added up exactly.
        expected : float, optional
            A public number by which the noisy sum is divided, such as the size that a sample is expected to have: the
            subsampled mean.

        Returns
        -------
        number or ndarray
            The release: which records were drawn stays unsaid.

        Raises
        ------
        BadType
            If value is no sequence, holds something else than the base takes, or query is no function.
        BadValue
            If a number is not finite, there are not as many records as `examples` says, or both query and expected are given.
        Unsupported
            If the base has several parts, or needs a query.

        Examples
        --------
        >>> import hockeystick as hs
        >>> hs.Gaussian(sigma=4.0).without_replacement(batch=5, examples=100).release([[0.6, 0.8]] * 100, expected=5).shape
        (2,)
        """
        given = length_of(value)
        if given != self.examples:
            raise BadValue(f"{given} records are given; allowed: {self.examples}, the examples of {self!r}.")
        return release_of(self.base, value, self.sample(rng), rng, query, expected)

    def sample(self, rng: "InsecureSeed | None" = None) -> "npt.NDArray[np.int64]":
        """Which of the `examples` records are in a batch, exactly as epsilon counts it.

        Parameters
        ----------
        rng : InsecureSeed, optional
            Where the randomness comes from: the operating system, unless tests or figures need a seed.

        Returns
        -------
        ndarray of int
            Places from 0, in increasing order without replacement, else in the order of the draws.

        Raises
        ------
        BadType
            If rng is no InsecureSeed.

        Examples
        --------
        >>> import hockeystick as hs
        >>> len(hs.Gaussian(sigma=1.0).without_replacement(batch=5, examples=100).sample())
        5
        """
        from ..draws.source import words_of

        return self._drawn_places(words_of(rng))

    @abstractmethod
    def _drawn_places(self, words: Any) -> "npt.NDArray[np.int64]": ...


def length_of(records: Any) -> int:
    """How many records there are, which have places from 0."""
    allowed = "allowed: the records, a sequence or an array with a row for each."
    try:
        found = len(records)
    except TypeError:
        raise BadType(f"value is {records!r}; {allowed}") from None
    if isinstance(records, Mapping) or not hasattr(records, "__getitem__"):  # such as a dictionary or a set
        raise BadType(f"value is a {type(records).__name__}, which has no places; {allowed}  Give list(...) of its records.")
    return found


def _chosen(records: Any, places: Any) -> Any:
    """The sample: an array of an array, a table of a table, else a list."""
    if hasattr(records, "iloc"):  # pandas: [...] goes by labels, of which several records may have the same
        return records.iloc[places]
    if hasattr(records, "dtype"):
        return records[places]
    return [records[place] for place in places.tolist()]


def _noisy_sum(mechanism: Mechanism, records: Any, places: Any, rng: "InsecureSeed | None") -> Any:
    import numpy as np

    from ..draws.contributions import clipped_sum, noisy_sum
    from ..draws.values import reals

    kinds = Gaussian, Laplace, DiscreteGaussian, DiscreteLaplace
    if not isinstance(mechanism, kinds):
        raise Unsupported(
            f"{mechanism!r} of a sample takes what a query makes of it: release(records, query=function), a function of the "
            "records that are drawn."
        )
    if mechanism.replace_sensitivity not in (None, 2.0 * mechanism.sensitivity):
        raise Unsupported(
            f"the sum of clipped records moves by up to twice the sensitivity where one is replaced, {mechanism!r} says less.  "
            "Leave replace_sensitivity out, or give a query."
        )
    if not isinstance(mechanism, Gaussian | Laplace):
        return _whole_sum(mechanism, records, places, rng)
    rows, shape = reals("value", records)
    table = rows.reshape(len(records), math.prod(shape[1:]) if shape else 1)  # also where there are none
    times = np.bincount(places, minlength=len(table))
    spread = mechanism.sigma if isinstance(mechanism, Gaussian) else mechanism.scale
    norm = 2 if isinstance(mechanism, Gaussian) else 1
    total, grid = clipped_sum(table[times > 0], times[times > 0], mechanism.sensitivity, norm, spread)
    found = noisy_sum(total, grid, lambda values: mechanism.release(values, rng), spread)
    return found.reshape(shape[1:]) if shape is not None and len(shape) > 1 else found.tolist()[0]


def _whole_sum(mechanism: DiscreteGaussian | DiscreteLaplace, records: Any, places: Any, rng: "InsecureSeed | None") -> Any:
    """The sum of whole numbers, one for each record, clipped; an error does not depend on which are drawn."""
    from ..draws.values import wholes

    numbers, shape = wholes("value", records)
    if shape is not None and len(shape) > 1:
        raise Unsupported("records of whole numbers have one number each.  For rows give a query, or use Gaussian or Laplace.")
    most = int(Fraction(mechanism.sensitivity))
    return mechanism.release(sum(max(-most, min(most, one)) for one in numbers[places].tolist()), rng)
