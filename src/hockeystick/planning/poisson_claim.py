"""By how much an epsilon of Poisson sampling is off, at least, where the data were shuffled."""

from typing import NamedTuple

from ..errors import BadType, Unsupported
from ..mechanism.release import Release, compose
from ..neighbours import STATED, Relation, Stated, checked
from ..numerics.rounding import down
from ..sampling.full_pass import FullPass


class PoissonClaim(NamedTuple):
    """What Poisson sampling would promise, what shuffled passes surely exceed, and by how much the claim is off at least."""

    claimed: float
    at_least: float
    off_by: float

    def __str__(self) -> str:
        from ..report.numbers import down_text, up_text

        said, least = f"Poisson sampling at this rate would have epsilon {up_text(self.claimed, 4)}", down_text(self.at_least, 4)
        if not self.off_by:
            return f"{said}; whether that holds for shuffled passes is not known (epsilon is {least} at least)"
        return (
            f"{said}, which does not hold for shuffled passes: their epsilon is {least} at least, and the claim is off by "
            f"at least {down_text(self.off_by, 4)}"
        )


def poisson_claim(run: Release, delta: float, neighbours: Relation = STATED) -> PoissonClaim:
    """By how much the epsilon of Poisson sampling, claimed for a run of shuffled passes, is off at least.

    Many training loops shuffle the data and report the epsilon of Poisson sampling of rate 1/steps.  No theorem supports that;
    this compares it with a certified lower end of the epsilon of the shuffled passes.

    Parameters
    ----------
    run : Release
        A run with shuffled passes that know their steps, such as `dpsgd(sampler="shuffle", ...)`; other parts stay what they are.
    delta : float
        From 0 to 1.
    neighbours : {"zero-out", "replace"}, optional
        The neighbouring relation; by default the one that the run states.

    Returns
    -------
    PoissonClaim
        `claimed`, `at_least` and `off_by` (0 if nothing is proved); printed, a sentence.

    Raises
    ------
    BadType
        If run is no release, delta no number, or neighbours no text.
    BadValue
        If delta is outside [0, 1], or neighbours no relation.
    Unsupported
        If no part is a shuffled pass of known steps, or the relation is not covered.

    Examples
    --------
    >>> import hockeystick as hs
    >>> run = hs.dpsgd(examples=60_000, batch=256, sigma=1.1, epochs=15, sampler="shuffle", neighbours="zero-out")
    >>> claim = hs.poisson_claim(run, delta=1e-5)
    >>> round(claim.claimed, 2), round(claim.at_least, 2), round(claim.off_by, 2)
    (1.13, 6.0, 4.87)
    """
    if not isinstance(run, Release):
        raise BadType(f"run is {run!r}; allowed: a release such as dpsgd(sampler='shuffle', ...).")
    asked = run.stated if isinstance(neighbours, Stated) else checked(neighbours)
    parts, found = [], False
    for mechanism, count in run.parts:
        if isinstance(mechanism, FullPass) and mechanism.by == "shuffle" and mechanism.steps is not None:
            parts.append(mechanism.base.poisson(1.0 / mechanism.steps) * (count * mechanism.steps))
            found = True
        else:
            parts.append(mechanism * count)
    if not found:
        raise Unsupported(
            f"{run!r} has no shuffled passes of known steps, of which the claim is made.  Use dpsgd(sampler='shuffle', "
            "examples=, batch=, ...), or .full_pass(by='shuffle', steps=)."
        )
    claimed = float(compose(parts).epsilon(delta, neighbours=asked))
    at_least = float(run.epsilon_bounds(delta, neighbours=asked).lower)
    return PoissonClaim(claimed, at_least, max(0.0, down(at_least - claimed)) if at_least > claimed else 0.0)


def claimed_as_poisson(release: Release, delta: float, neighbours: Relation) -> list[str]:
    """What a report says of the epsilon that is usually claimed for shuffled passes, where there are any."""
    try:
        return [f"Caution: {poisson_claim(release, delta, neighbours)}."] if delta else []
    except Unsupported:
        return []
