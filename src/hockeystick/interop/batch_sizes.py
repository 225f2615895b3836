"""Whether the sizes of batches can be those of Poisson samples."""

import math


class Sizes:
    """The sizes of batches since the start, as long as there are at most two.

    Whatever two sizes came first, a Poisson sample of n records at rate q has one of them with probability at most
    p = 2 max_k P(Bin(n, q) = k), independently of the others.  The second size came at one of m places, so that m samples have at
    most two sizes with probability at most m p^(m-2).
    """

    def __init__(self) -> None:
        self.seen: list[int] = []
        self.count, self._log_repeats, self.varied = 0, 0.0, False

    @property
    def log_chance(self) -> float:
        """log of how likely so few sizes are under Poisson sampling, from above."""
        return math.log(max(self.count, 1)) + self._log_repeats

    def see(self, size: int, expected: float, rate: float) -> None:
        """Take note of a batch, by its size, the expected one, and the sampling rate."""
        self.count += 1
        if size in self.seen:
            self._log_repeats += min(0.0, math.log(2.0) + _log_most_likely(expected, rate))
        elif len(self.seen) < 2:
            self.seen.append(size)
        else:
            self.varied = True


def _log_most_likely(expected: float, rate: float) -> float:
    """log max_k P(Bin(n, rate) = k) where n rate is about `expected`."""
    if not 0.0 < rate < 1.0:
        return 0.0
    n = round(expected / rate)
    k = min(math.floor((n + 1) * rate), n)
    ways = math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)
    return ways + k * math.log(rate) + (n - k) * math.log1p(-rate)
