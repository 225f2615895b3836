"""Where random bits come from: the operating system, or, under a name that says so, a seed.

A draw is a function of the random words that it reads, one after the other, and of nothing else: a word that has been read is
never read again, and whoever needs more digits of a number reads more words.
"""

import hashlib
import os
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from .. import checks
from ..errors import BadType

Block = npt.NDArray[np.uint32]
_LEAST = 32  # words that are fetched at once: a few draws
_HASHED = 1 << 16  # bytes of one call of the hash


class Words:
    """Random words of 32 bits, in order; `fetch(size)` has so many further random bytes."""

    bits = 32

    def __init__(self, fetch: Callable[[int], bytes]) -> None:
        self._fetch = fetch
        self._block: Block = np.empty(0, dtype=np.uint32)
        self._read = 0

    def next(self) -> int:
        """The next word."""
        if self._read == len(self._block):
            self.ahead(_LEAST)
        self._read += 1
        return int(self._block[self._read - 1])

    def ahead(self, count: int) -> Block:
        """The words that have not been read yet, `count` of them at least."""
        unread = self._block[self._read :]
        if len(unread) < count:
            fresh = np.frombuffer(self._fetch(4 * (count - len(unread))), dtype="<u4").astype(np.uint32, copy=False)
            unread = np.concatenate((unread, fresh)) if len(unread) else fresh
            self._block, self._read = unread, 0
        return unread

    def skip(self, count: int) -> None:
        """So many words have been read."""
        self._read += count


class InsecureSeed:
    """Randomness from a seed, for tests and for figures that can be drawn again: it protects nobody.

    Whoever knows or guesses the seed can take the noise off.  Draws go on where the last ones ended; the same seed gives the
    same draws on every machine, with the compiled core and without.  Not for several threads at once.

    Parameters
    ----------
    seed : int
        A whole number from 0 to 2^53.

    Raises
    ------
    BadType
        If seed is no number.
    BadValue
        If seed is no whole number in its range.

    Examples
    --------
    >>> import hockeystick as hs
    >>> noise = hs.DiscreteLaplace(scale=10.0)
    >>> noise.release(100, rng=hs.InsecureSeed(7)) == noise.release(100, rng=hs.InsecureSeed(7))
    True
    """

    def __init__(self, seed: int) -> None:
        self._seed = checks.count("seed", seed)
        self._bytes, self._calls = b"", 0
        self._words = Words(self._hashed)

    def _hashed(self, size: int) -> bytes:
        """SHAKE-256 of the seed and of the number of the call."""
        parts, length = [self._bytes], len(self._bytes)
        while length < size:
            text = f"hockeystick InsecureSeed {self._seed} {self._calls}".encode()
            parts.append(hashlib.shake_256(text).digest(_HASHED))
            self._calls, length = self._calls + 1, length + _HASHED
        whole = b"".join(parts)
        self._bytes = whole[size:]
        return whole[:size]

    def __repr__(self) -> str:
        return f"InsecureSeed({self._seed})"


def words_of(rng: Any) -> Words:
    """The random words of a call: fresh ones of the operating system, of which none is kept, or those of a seed."""
    if rng is None:
        return Words(os.urandom)
    if isinstance(rng, InsecureSeed):
        return rng._words
    raise BadType(
        f"rng is {rng!r} ({type(rng).__name__}); allowed: None, for the operating system's randomness, or, for tests and figures "
        "only, hs.InsecureSeed(7)."
    )
