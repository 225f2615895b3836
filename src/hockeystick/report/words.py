"""A run in words: what its parts are, how batches are drawn, which data sets are neighbours.

It names kinds of parts by their classes' names, so that what a command prints of a run imports none of the others, NumPy neither.
"""

from typing import Any, NamedTuple

from ..checks import given
from ..mechanism.claim import ZCDP
from ..mechanism.noise import AdditiveNoise
from ..mechanism.release import Mechanism, Release
from ..neighbours import Relation
from ..sampling.base import Sampled
from .numbers import down_text, up_text

RELATIONS = {
    "add-or-remove": "data sets that differ by one record added or removed",
    "add": "data sets of which the second has one record more",
    "remove": "data sets of which the second has one record less",
    "replace": "data sets that differ by one record replaced by another",
    "zero-out": "data sets that differ by one record replaced by one that contributes nothing",
}

FAMILIES = {
    "Gaussian": "Gaussian noise of standard deviation {sigma}",
    "Laplace": "Laplace noise of scale {scale}",
    "DiscreteGaussian": "discrete Gaussian noise of sigma {sigma}",
    "DiscreteGaussianVector": "discrete Gaussian noise of sigma {sigma} on vectors of squared norm {squared_norm}",
    "DiscreteLaplace": "discrete Laplace noise of scale {scale}",
    "RandomizedResponse": "randomised response of epsilon {epsilon}",
    "Exponential": "a selection by the exponential mechanism, epsilon {epsilon}",
    "PureDP": "anything {epsilon}-DP",
    "ApproxDP": "anything ({epsilon}, {delta})-DP",
    "GDP": "anything {mu}-GDP",
    "ZCDP": "anything {rho}-zCDP",
    "GaussianMixture": "Gaussian noise of standard deviation {sigma} at a random distance",
    "Pair": "a pair of distributions of its own",
    "StoredMasses": "stored masses of {source}, an upper claim with the rounding of that library",
    "DensityPair": "the densities {p} against {q}",
    "Published": "something seen with probability {probability} with the record, and never without it",
    "MatrixMechanism": "Gaussian noise of standard deviation {sigma} behind a strategy matrix",
    "RDP": "anything with the given Rényi curve",
    "Profile": "anything with the given profile",
}


class Part(NamedTuple):
    """One distinct part of a run."""

    release: str
    uses: int
    words: str
    sampler: str


def parts(release: Release) -> list[Part]:
    """What each part of a run is."""
    return [_part(mechanism, count) for mechanism, count in release.parts]


def _part(mechanism: Mechanism, count: int) -> Part:
    kind: Any = mechanism
    if type(mechanism).__name__ == "GroupedRun":
        inner = parts(kind.run)
        words = "; ".join(f"{one.uses:,} uses of {one.words}" if one.uses > 1 else one.words for one in inner)
        samplers = "; ".join(dict.fromkeys(one.sampler for one in inner))
        return Part(repr(mechanism), count, f"{words}, for {_group(kind.size)}", samplers)
    if type(mechanism).__name__ == "Banded":
        (one,) = parts(kind.base)
        bands = f"in {kind.iterations:,} iterations, noise correlated by a matrix of {kind.bands} bands, groups of records by id"
        return Part(repr(mechanism), count, f"{one.words}, {bands}", f"{one.sampler} of a group")
    if isinstance(mechanism, Sampled):
        _, sampler = scheme(mechanism)
        inner = parts(mechanism.base)
        words = " and ".join(one.words if one.uses == 1 else f"{one.uses} times {one.words}" for one in inner)
        return Part(repr(mechanism), count, f"{words}, on {sampler}", sampler)
    words = FAMILIES.get(type(mechanism).__name__, "")
    named = words.format(**{name: _exact(one) for name, one in mechanism._parameters().items()}) if words else repr(mechanism)
    if isinstance(mechanism, ZCDP) and mechanism.xi:
        named = f"anything ({given(mechanism.xi)}, {given(mechanism.claimed_rho)})-zCDP"
    if type(mechanism).__name__ == "MatrixMechanism":
        apart = f", {'exactly' if kind.exactly else 'at least'} {kind.separation} apart" if kind.participations > 1 else ""
        steps = f"{kind.participations} of {kind.strategy.iterations:,} steps{apart}"
        named += f" ({kind.strategy.form}), each record in at most {steps}"
    if isinstance(mechanism, AdditiveNoise) and mechanism.sensitivity != 1.0:
        named += f" on a sensitivity of {given(mechanism.sensitivity)}"
    return Part(repr(mechanism), count, named, "all records")


def _exact(value: Any) -> Any:
    """A parameter as it is: a rounded one would be another mechanism."""
    return given(value) if isinstance(value, float) else value


def _group(size: int) -> str:
    return f"groups of {size} records that come, go or change together"


def scheme(mechanism: Any) -> tuple[str, str]:
    """The name of the sampling scheme, as in docs/sampling.md, and the scheme in words."""
    kind = type(mechanism).__name__
    if kind == "Poisson":
        return "Poisson", f"a Poisson sample of rate {given(mechanism.rate)}"
    if kind == "TruncatedPoisson":
        return "truncated Poisson", (
            f"a Poisson sample of rate {given(mechanism.rate)} of {mechanism.examples} records, "
            f"at most {mechanism.cap} of them kept"
        )
    if kind == "WithoutReplacement":
        return "without replacement", f"a batch of {mechanism.batch} of {mechanism.examples} records, without replacement"
    if kind == "WithReplacement":
        return "with replacement", f"{mechanism.draws} draws from {mechanism.examples} records, with replacement"
    if kind == "FullPass":
        by = mechanism.by
        return ("a shuffled pass" if by == "shuffle" else f"a pass by {by}"), f"every batch of a pass by {by}"
    if kind == "Allocated":
        often = "one" if mechanism.times == 1 else f"{mechanism.times}"
        kept = f", one draw for {mechanism.kept} epochs" if mechanism.kept > 1 else ""
        return "random allocation", f"batches of an epoch of {mechanism.steps} steps, each record in {often} of them{kept}"
    if kind == "Banded":
        return "banded noise", f"a group of the records in turn, noise correlated by {mechanism.bands} bands"
    if kind == "GroupedPoisson":
        return "group", f"a Poisson sample of rate {given(mechanism.rate)}, for {_group(mechanism.size)}"
    if kind == "Shuffled":
        return "shuffled reports", f"the shuffled reports of {mechanism.reports:,} people"
    return kind, f"a sample ({mechanism!r})"


def hypotheses(release: Release) -> list[str]:
    """What correlated noise rests on beside the sampling: a sentence for each such part."""
    found = []
    for mechanism, _ in release.parts:
        kind: Any = mechanism
        if type(mechanism).__name__ == "Banded":
            found.append(
                f"The noise is correlated by a lower triangular matrix of {kind.bands} bands; the records are split into as many "
                "groups by something in which others have no part (their id), which take turns; the noise is relative to the "
                "largest column norm of the matrix times the clipping norm; rates and sizes are those within a group."
            )
        if type(mechanism).__name__ == "MatrixMechanism":
            moved = kind.strategy.sensitivity(kind.participations, kind.separation, kind.exactly)
            found.append(
                "Row i of C x + z is released once the steps of its columns are over; in which steps a record takes part depends "
                "neither on others nor on what was released.  The strategy's sensitivity for these patterns lies between "
                f"{down_text(moved.lower, 7)} and {up_text(moved.upper, 7)}."
            )
    return found


def group_size(release: Release) -> int:
    """How many records the neighbours of a run differ by."""
    grouped: Any = release
    if type(release).__name__ == "GroupedRun":
        return int(grouped.size)
    return max((one.size for one, _ in grouped.parts if type(one).__name__ == "GroupedPoisson"), default=1)


def neighbouring(release: Release, neighbours: Relation) -> str:
    """Which data sets count as neighbours, in words."""
    size = group_size(release)
    return RELATIONS[neighbours] + (f", where for one record stands a group of up to {size} together" if size > 1 else "")
