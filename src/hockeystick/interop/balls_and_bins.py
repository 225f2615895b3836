"""Batches of random allocation (balls and bins) for any loop that takes lists of positions; nothing of torch is needed.

    loader = torch.utils.data.DataLoader(data, batch_sampler=BallsAndBins(records=len(data), steps=100))

What it draws is what `hs.Gaussian(sigma).allocated(steps=100)` accounts for, for each pass anew.  For Opacus see
`opacus_allocation`, which also counts the passes.
"""

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from .. import checks
from ..draws.source import InsecureSeed, words_of
from ..errors import Unsupported

_MOST_RECORDS = 1 << 40  # positions are sorted in memory


class BallsAndBins:
    """A batch sampler: in each pass every record takes part in one of `steps` batches, drawn uniformly by itself.

    Each pass draws afresh, from the operating system's randomness, and has exactly `steps` batches, empty ones included: an
    empty batch is a step, too, and must be made with its noise.  One pass at a time: once another has begun, the one before
    gives no more batches.

    Parameters
    ----------
    records : int
        The number of records, from 1 up.
    steps : int
        The number of batches of a pass, from 1 up.
    seeded_rng : InsecureSeed, optional
        For tests and figures only: batches that whoever knows the seed knows, too, so that no epsilon holds.

    Raises
    ------
    BadType
        If records or steps is no number, or seeded_rng no `InsecureSeed`.
    BadValue
        If records or steps is no whole number in its range.

    Examples
    --------
    >>> import hockeystick as hs
    >>> batches = list(BallsAndBins(records=5, steps=3, seeded_rng=hs.InsecureSeed(7)))
    >>> len(batches), sorted(sum(batches, []))
    (3, [0, 1, 2, 3, 4])
    """

    def __init__(self, *, records: int, steps: int, seeded_rng: InsecureSeed | None = None) -> None:
        self.records = checks.count("records", records, least=1, most=_MOST_RECORDS)
        self.steps = checks.count("steps", steps, least=1, most=1 << 31)
        words_of(seeded_rng)
        self.seeded_rng = seeded_rng
        self._begun = self._given = 0

    def __len__(self) -> int:
        """The batches of a pass."""
        return self.steps

    def __repr__(self) -> str:
        return f"<BallsAndBins of {self.records} records, {self.steps} batches a pass: {self._begun} begun>"

    @property
    def begun(self) -> int:
        """The passes that were begun since this sampler was made.

        Returns
        -------
        int
            The count.
        """
        return self._begun

    @property
    def given(self) -> int:
        """The batches that the latest pass has given so far.

        Returns
        -------
        int
            The count.
        """
        return self._given

    def __iter__(self) -> Iterator[list[int]]:
        """A new pass; it is drawn, and counts, with its first batch, since a loader may make iterators that it does not use."""
        bins = self._drawn()
        by_bin = np.argsort(bins, kind="stable")
        bins, start = bins[by_bin], 0
        self._begun, self._given = self._begun + 1, 0
        number = self._begun
        for one in range(self.steps):
            if number != self._begun:
                raise Unsupported(
                    f"pass {self._begun} was begun while pass {number} had batches left: those are not given any more, since "
                    "steps of two passes at a time are not accounted for.  Make one pass after the other; evaluate with "
                    "another loader."
                )
            self._given += 1
            end = int(np.searchsorted(bins, one, side="right"))
            yield by_bin[start:end].tolist()
            start = end

    def _drawn(self) -> npt.NDArray[np.int64]:
        """For each record its batch: a random word modulo `steps`; words of the last, incomplete round are drawn again."""
        words = words_of(self.seeded_rng)
        limit = (1 << words.bits) // self.steps * self.steps
        found, count = np.empty(self.records, dtype=np.int64), 0
        while count < self.records:
            missing = self.records - count
            fresh = words.ahead(missing)[:missing].astype(np.int64)
            words.skip(missing)
            good = fresh[fresh < limit]
            found[count : count + len(good)] = good % self.steps
            count += len(good)
        return found
