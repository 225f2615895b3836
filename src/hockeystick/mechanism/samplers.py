"""The same release on a sample of the data, and for groups of records."""

from typing import TYPE_CHECKING, Literal, cast

from .questions.asked import Asked

if TYPE_CHECKING:
    from ..sampling.allocation import Allocated
    from ..sampling.banded import Banded
    from ..sampling.fixed_size import WithoutReplacement, WithReplacement
    from ..sampling.full_pass import FullPass
    from ..sampling.poisson import Poisson
    from ..sampling.truncated import TruncatedPoisson
    from .release import Release


class Samplers(Asked):
    """What a release becomes on a sample, or for a group."""

    def poisson(self, rate: float) -> "Poisson":
        """The same on a Poisson sample: every record takes part independently with probability `rate`.

        On a composition, one sample feeds all parts.

        Parameters
        ----------
        rate : float
            The probability, from 0 to 1.

        Returns
        -------
        Poisson
            The sampled step, a release by itself.

        Raises
        ------
        BadType
            If rate is no real number.
        BadValue
            If rate is outside [0, 1].
        Unsupported
            If several parts other than Gaussian noise would share one sample, a part is sampled already, or a claim is made for
            another relation than add-or-remove.

        Examples
        --------
        >>> import hockeystick as hs
        >>> step = hs.Gaussian(sigma=1.1).poisson(rate=0.01)
        >>> round((step * 10_000).epsilon(delta=1e-5), 6)
        5.192583
        """
        from ..sampling.poisson import Poisson

        return Poisson(cast("Release", self), rate)

    def truncated_poisson(self, rate: float, cap: int, examples: int) -> "TruncatedPoisson":
        """The same on a Poisson sample of which at most `cap` records are kept, drawn uniformly: batches of a static shape.

        Parameters
        ----------
        rate : float
            The probability that a record is drawn, from 0 to 1.
        cap : int
            How many records are kept at most, from 0 up.
        examples : int
            The number of records (of the larger data set), from 1 to 1e9.

        Returns
        -------
        TruncatedPoisson
            The sampled step, a release by itself.

        Raises
        ------
        BadType
            If a number is of another type.
        BadValue
            If rate is outside [0, 1], or cap or examples is no whole number in its range.
        Unsupported
            If several parts other than Gaussian noise would share one sample, a part is sampled already, or a claim is made for
            another relation than add-or-remove, or by its Rényi curve or profile.

        Examples
        --------
        >>> import hockeystick as hs
        >>> step = hs.Gaussian(sigma=1.1).truncated_poisson(rate=256 / 60_000, cap=320, examples=60_000)
        >>> round((step * 3510).epsilon(delta=1e-5, neighbours="zero-out"), 6)
        1.13317
        """
        from ..sampling.truncated import TruncatedPoisson

        return TruncatedPoisson(cast("Release", self), rate, cap, examples)

    def without_replacement(self, batch: int, examples: int) -> "WithoutReplacement":
        """The same on a batch of `batch` out of `examples` records, drawn anew and uniformly, without replacement.

        Parameters
        ----------
        batch : int
            The size of the batch, from 0 to `examples`.
        examples : int
            The number of records of the larger data set, from 1 up.

        Returns
        -------
        WithoutReplacement
            The sampled step, a release by itself.

        Raises
        ------
        BadType
            If batch or examples is no number.
        BadValue
            If one is no whole number in its range.
        Unsupported
            If several parts other than Gaussian noise would share one sample, or a part is sampled already.

        Examples
        --------
        >>> import hockeystick as hs
        >>> run = hs.Gaussian(sigma=2.0).without_replacement(batch=100, examples=10_000) * 1000
        >>> round(run.epsilon(delta=1e-6, neighbours="remove"), 6)
        2.124515
        """
        from ..sampling.fixed_size import WithoutReplacement

        return WithoutReplacement(cast("Release", self), batch, examples)

    def with_replacement(self, draws: int, examples: int) -> "WithReplacement":
        """The same on `draws` records, each drawn uniformly from all `examples`, so that one may come several times.

        Parameters
        ----------
        draws : int
            The number of draws, from 0 up.
        examples : int
            The number of records of the larger data set, from 2 up.

        Returns
        -------
        WithReplacement
            The sampled step, a release by itself.

        Raises
        ------
        BadType
            If draws or examples is no number.
        BadValue
            If one is no whole number in its range.
        Unsupported
            If several parts other than Gaussian noise would share one sample, or a part is sampled already.

        Examples
        --------
        >>> import hockeystick as hs
        >>> run = hs.Gaussian(sigma=2.0).with_replacement(draws=100, examples=10_000) * 1000
        >>> round(run.epsilon(delta=1e-6, neighbours="remove"), 4)
        2.2419
        """
        from ..sampling.fixed_size import WithReplacement

        return WithReplacement(cast("Release", self), draws, examples)

    def full_pass(self, by: Literal["shuffle", "position", "id"], steps: int | None = None) -> "FullPass":
        """The same on every batch of a pass in which each record comes once.

        Parameters
        ----------
        by : {"shuffle", "position", "id"}
            What puts a record into its batch: a random permutation, its place, or something that other records have no part in.
        steps : int, optional
            Into how many batches a shuffled pass is cut, from 1 up: then its answers have a lower end.

        Returns
        -------
        FullPass
            The whole pass, a release by itself.

        Raises
        ------
        BadType
            If by is no text, or steps no number.
        BadValue
            If by is another text, or steps no whole number from 1 up or given with another `by`.
        Unsupported
            If several parts other than Gaussian noise would share one sample, or a part is sampled already.

        Examples
        --------
        >>> import hockeystick as hs
        >>> epoch = hs.Gaussian(sigma=4.0).full_pass(by="shuffle")
        >>> round((epoch * 10).epsilon(delta=1e-5, neighbours="replace"), 6)
        7.511276
        """
        from ..sampling.full_pass import FullPass

        return FullPass(cast("Release", self), by, steps)

    def allocated(self, steps: int, kept: int = 1, times: int = 1) -> "Allocated":
        """An epoch of random allocation (balls and bins): every record takes part in one of `steps` steps, drawn uniformly.

        Each record draws by itself.  Repeated (`* epochs`), every epoch draws afresh.

        Parameters
        ----------
        steps : int
            The number of steps of an epoch, from 1 up.
        kept : int, default 1
            For how many epochs one draw serves.
        times : int, default 1
            In how many different steps of an epoch a record takes part; for more than one the answer is a bound.

        Returns
        -------
        Allocated
            The epoch (with `kept`: so many of them), a release by itself.

        Raises
        ------
        BadType
            If an argument is no number.
        BadValue
            If one is no whole number in its range, or times exceeds steps.
        Unsupported
            If it is neither Gaussian or Laplace noise nor of finitely many values, or sampled already.

        Examples
        --------
        >>> import hockeystick as hs
        >>> epoch = hs.Gaussian(sigma=1.426215).allocated(steps=100)
        >>> round((epoch * 10).epsilon(delta=1e-5), 6)
        0.942732
        """
        from ..sampling.allocation import Allocated

        return Allocated(cast("Release", self), steps, kept, times)

    def banded(self, bands: int, iterations: int) -> "Banded":
        """A run of `iterations` such steps whose noise is correlated by a lower triangular matrix of `bands` bands.

        Records are split by id into `bands` groups that take turns; sampling is inside a group, and the noise multiplier is
        relative to the largest column norm of the matrix.

        Parameters
        ----------
        bands : int
            The bands of the matrix, the diagonal counted, from 1 up.
        iterations : int
            The steps of the run, at least as many as bands.

        Returns
        -------
        Banded
            The whole run, a release by itself.

        Raises
        ------
        BadType
            If bands or iterations is no number.
        BadValue
            If one is no whole number in its range.
        Unsupported
            If the step is anything else than Gaussian noise, sampled or not.

        Examples
        --------
        >>> import hockeystick as hs
        >>> run = hs.Gaussian(sigma=2.0).poisson(rate=0.1).banded(bands=4, iterations=1000)
        >>> round(run.epsilon(delta=1e-6), 6)
        4.278067
        """
        from ..sampling.banded import Banded

        return Banded(cast("Release", self), bands, iterations)

    def group(self, size: int) -> "Release":
        """The same for groups: `size` records are added, removed, replaced or zeroed out together.

        Parameters
        ----------
        size : int
            The number of records of a group, from 1 up.

        Returns
        -------
        Release
            The release for groups; by a tight analysis where all parts have one, else by group privacy.

        Raises
        ------
        BadType
            If size is no number.
        BadValue
            If size is no whole number from 1 up.
        Unsupported
            If a sampled group is too large for its mixture to be listed.

        Examples
        --------
        >>> import hockeystick as hs
        >>> round(hs.Gaussian(sigma=6.0).group(size=3).epsilon(delta=1e-5), 6)
        1.993091
        """
        from ..sampling.group import grouped

        return grouped(cast("Release", self), size)
