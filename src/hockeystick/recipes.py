"""Runs that people train and release, each with its theorem and its assumptions in the report.

Examples
--------
>>> import hockeystick as hs
>>> run = hs.recipes.last_iterate(sigma=4.0, steps=10_000, contraction=0.99)
>>> round(run.epsilon(delta=1e-6), 3)  # without contraction it would be that of 10,000 Gaussian steps
22.352
"""

import math

from . import checks
from .errors import BadType, BadValue, Unsupported
from .mechanism.claim import GDP
from .mechanism.gaussian import Gaussian
from .mechanism.laplace import Laplace
from .mechanism.mixture import GaussianMixture
from .mechanism.own.published import Published
from .mechanism.release import Release
from .mechanism.training import Training
from .neighbours import DEFAULT, Relation, checked
from .numerics.binomial import weights_up
from .numerics.contraction import ROOM, least_energy
from .numerics.rounding import ERFC, FUNCTION, UNIT, up

__all__ = ["adaptive_clipping", "last_iterate", "microbatches", "thresholded", "user_level"]

_MOST = 500
_FAINTEST = 1e-270  # a bound of whatever is fainter


def adaptive_clipping(sigma: float, count_sigma: float, rate: float, steps: int, neighbours: Relation = DEFAULT) -> Training:
    """DP-SGD whose clipping norm follows a noisy count of unclipped gradients (Andrew et al. 2021, arXiv:1905.03871).

    A step releases the sum of clipped gradients and, of the same batch, the number of gradients that were not clipped, each
    counted as plus or minus one half.  Both are Gaussian sums over one sample, so a step is one sampled Gaussian step of noise
    multiplier (sigma^-2 + (2 count_sigma)^-2)^(-1/2); the next clipping norm is computed from what was released.

    Parameters
    ----------
    sigma : float
        The noise of the gradients' sum over the clipping norm of the step; above 0.
    count_sigma : float
        The standard deviation of the noise on the count; above 0.
    rate : float
        The rate of Poisson sampling, from 0 to 1.
    steps : int
        The number of steps.
    neighbours : Relation, default "add-or-remove"
        The relation that the run is meant for.

    Returns
    -------
    Training
        The run, with its statement.

    Raises
    ------
    BadType
        If a number is none, or neighbours no text.
    BadValue
        If one is out of its range.

    Examples
    --------
    >>> run = adaptive_clipping(sigma=1.1, count_sigma=12.8, rate=0.004, steps=3500)
    >>> round(run.epsilon(delta=1e-5), 4)
    1.0556
    """
    relation = checked(neighbours)
    both = Gaussian(sigma=sigma) + Gaussian(sigma=count_sigma, sensitivity=0.5)
    count = checks.count("steps", steps, least=1)
    notes = (
        f"{count} steps of adaptive clipping.",
        "A step releases a sum of clipped gradients and a count of those that were not clipped, of the same Poisson sample; the "
        "count adds plus or minus one half for a record.",
        "Theorem: both are one Gaussian sum, of the two scaled by their noise (Andrew et al. 2021, section 2); Poisson sampling "
        "of it as of any Gaussian sum.",
        "Assumed: the clipping norm of a step is computed from earlier releases only, and the noise on the gradients is relative "
        "to it.",
        _stated(relation),
    )
    return Training(both.poisson(rate=rate) * count, relation, notes)


def microbatches(sigma: float, rate: float, microbatches: int, steps: int, neighbours: Relation = DEFAULT) -> Training:
    """Gradient accumulation over microbatches that are Poisson-sampled independently; noise comes once for all of them.

    A record takes part in Bin(microbatches, rate) of them, clipped each time: a mixture of Gaussians.  Where the accumulated
    batch is one sample that is cut into pieces, a record comes at most once: that is `dpsgd(accumulation=...)`.

    Parameters
    ----------
    sigma : float
        The noise on the accumulated sum over the clipping norm; above 0.
    rate : float
        The rate of Poisson sampling of one microbatch, from 0 to 1.
    microbatches : int
        How many there are in a step, from 1 to 500.
    steps : int
        The number of steps, each with noise once.
    neighbours : Relation, default "add-or-remove"
        The relation that the run is meant for.

    Returns
    -------
    Training
        The run, with its statement.

    Raises
    ------
    BadType
        If a number is none, or neighbours no text.
    BadValue
        If one is out of its range.

    Examples
    --------
    >>> run = microbatches(sigma=2.0, rate=0.01, microbatches=4, steps=1000)
    >>> round(run.epsilon(delta=1e-6), 4)
    3.2699
    """
    relation, chance = checked(neighbours), checks.rate("rate", rate)
    pieces, count = checks.count("microbatches", microbatches, least=1, most=_MOST), checks.count("steps", steps, least=1)
    step: Release = GaussianMixture(sigma=sigma, moves=tuple(range(pieces + 1)), weights=weights_up(pieces, chance))
    notes = (
        f"{count} steps, each of {pieces} microbatches, every one a Poisson sample of rate {chance} of its own.",
        "Noise: Gaussian, once for the accumulated sum, relative to the clipping norm of one record's gradient in a microbatch.",
        f"Theorem: a record takes part Bin({pieces}, {chance}) times, a mixture of normal laws (Choquette-Choo et al. 2024, "
        "arXiv:2310.15526, Corollary 4.7), weights rounded to more participations.",
        "Assumed: every microbatch is drawn by coins of its own, and the model does not change between the microbatches of a "
        "step, or changes by nothing that is released.",
        _stated(relation),
    )
    return Training(step * count, relation, notes)


def user_level(run: Release, records: int) -> Release:
    """The same run for people instead of records, where nobody has more than so many records.

    Parameters
    ----------
    run : Release
        The run for one record.
    records : int
        The largest number of records of one person, from 1 up: surplus ones are dropped before the run, person by person.

    Returns
    -------
    Release
        The run for groups: `run.group(records)`, with a statement.

    Raises
    ------
    BadType
        If run is no release, or records no number.
    BadValue
        If records is no whole number from 1 up.
    Unsupported
        If a sampled group is too large for its mixture to be listed.

    Examples
    --------
    >>> import hockeystick as hs
    >>> run = user_level(hs.Gaussian(sigma=4.0).poisson(rate=0.01) * 1000, records=3)
    >>> round(run.epsilon(delta=1e-6), 3)
    1.037
    """
    if not isinstance(run, Release):
        raise BadType(f"run is {run!r}; allowed: a release such as Gaussian(sigma=4.0).poisson(rate=0.01) * 1000.")
    found, most = run.group(records), checks.count("records", records, least=1)
    if not found.parts or type(found).__name__ == "GroupedRun":  # the end of a description
        return found
    notes = (
        *(getattr(run, "notes", ())),
        f"Unit: one person with at most {most} records, all of which come, go or change together.",
        "Theorem: noise at the group's distance; under Poisson sampling, where each record has its own coin, binomial mixtures "
        "(Ganesh 2024, arXiv:2401.10294).",
        "Assumed: surplus records of a person are dropped before the run, by a rule that looks at that person only.",
        *(() if isinstance(run, Training) else (_stated(run.stated),)),
    )
    return Training(found, run.stated, _last(notes), getattr(run, "examples", None))


def thresholded(noise: Release, threshold: float, partitions: int = 1) -> Training:
    """Noisy counts of the partitions that are there, published where they reach a threshold (partition selection).

    One person contributes to at most `partitions` partitions, at most `noise.sensitivity` to each.  A partition that is only
    there because of this person is published with a small probability, which is a delta of its own; of all others the noise
    answers.  Upper bound: both are counted in full, though a partition is one or the other (docs/mathematics/matrix.md,
    Lemma 60a; the idea of Korolova et al. 2009, and Desfontaines et al. 2022, arXiv:2006.03684).

    Parameters
    ----------
    noise : Gaussian or Laplace
        The noise on one partition; its sensitivity is the most that one person adds to one partition.
    threshold : float
        A noisy count is published if it is at least so large; at least the sensitivity.
    partitions : int, default 1
        To how many partitions one person contributes at most.

    Returns
    -------
    Training
        The release for add-or-remove, with its statement.

    Raises
    ------
    BadType
        If noise is no release, or a number none.
    BadValue
        If one is out of its range.
    Unsupported
        If noise is neither Gaussian nor Laplace noise.

    Examples
    --------
    >>> import hockeystick as hs
    >>> run = thresholded(hs.Gaussian(sigma=10.0), threshold=60.0, partitions=4)
    >>> round(run.epsilon(delta=1e-6), 4)
    0.8344
    """
    if not isinstance(noise, Release):
        raise BadType(f"noise is {noise!r}; allowed: Gaussian(sigma=...) or Laplace(scale=...).")
    if not isinstance(noise, Gaussian | Laplace):
        raise Unsupported(f"counts with {noise!r} are not thresholded: allowed: Gaussian(sigma=...) or Laplace(scale=...).")
    most, least = checks.count("partitions", partitions, least=1), noise.sensitivity
    cut = checks.real("threshold", threshold, "a finite number")
    if cut < least:
        raise BadValue(f"threshold is {cut}; allowed: at least the sensitivity, {least}: below it one person is mostly seen.")
    if isinstance(noise, Gaussian):
        whole: Release = Gaussian(sigma=noise.sigma, sensitivity=up(least * math.sqrt(most) * (1.0 + 4.0 * UNIT)))
        far = math.nextafter(cut - least, 0.0) / noise.sigma * (1.0 - 4.0 * UNIT)
        one = 0.5 * math.erfc(far / math.sqrt(2.0) * (1.0 - 4.0 * UNIT)) * (1.0 + 2.0 * ERFC) if far < 38.0 else _FAINTEST
    else:
        whole = Laplace(scale=noise.scale, sensitivity=up(least * most))
        one = 0.5 * math.exp(-math.nextafter(cut - least, 0.0) / noise.scale * (1.0 - 4.0 * UNIT)) * (1.0 + 2.0 * FUNCTION)
    one = min(0.5, max(one, _FAINTEST))
    shown = min(1.0, up(-math.expm1(most * math.log1p(-one)) * (1.0 + 8.0 * FUNCTION)))  # 1 - (1 - p)^partitions
    notes = (
        f"Noisy counts, published where they reach {cut}.",
        f"One person adds at most {least} to each of at most {most} partitions.",
        f"Theorem: the noise at that distance, and an event of probability {checks.given(shown)} that a partition with this "
        "person alone is published (hockeystick, Lemma 60a): an upper bound.",
        "Assumed: noise is drawn for each partition by itself; a partition in which nobody is, is not published; which "
        "partitions a person keeps depends on that person only.",
        _stated(DEFAULT),
    )
    return Training(whole + Published(probability=shown), DEFAULT, notes)


def last_iterate(sigma: float, steps: int, contraction: float, batches: int = 1, neighbours: Relation = "replace") -> Training:
    """Noisy gradient descent of which only the last iterate is released, where every step is a contraction.

    Each step maps x to f(x) + noise, f depending on the data, and possibly projects onto a convex set; f is Lipschitz with the
    factor `contraction` for every data set.  For losses that are m-strongly convex and M-smooth and a step size eta that is
    max(|1 - eta m|, |1 - eta M|).  Clipping gradients breaks it unless no gradient is longer than the clipping norm.  It is no
    model of deep networks.

    The result is mu-GDP (Bok, Su and Altschuler 2024, arXiv:2403.00278; proof: docs/mathematics/matrix.md, Lemma 61); for all
    data in each step some quadratic loss attains it.

    Parameters
    ----------
    sigma : float
        The noise of one step over how far one record moves that step (for a mean of n gradients that differ by at most L: the
        noise on the mean times n / L); above 0.
    steps : int
        The steps, all of them.
    contraction : float
        The Lipschitz factor of a step, from 0 to 1.
    batches : int, default 1
        Into how many batches, taken in turn, the data are split: 1 is all data in each step.
    neighbours : Relation, default "replace"
        The relation for which sigma is meant; with batches, records keep their batch.

    Returns
    -------
    Training
        The claim mu-GDP, with its statement.

    Raises
    ------
    BadType
        If a number is none, or neighbours no text.
    BadValue
        If one is out of its range.

    Examples
    --------
    >>> round(last_iterate(sigma=4.0, steps=10_000, contraction=0.9).run.claimed_mu, 6)
    1.089725
    """
    relation, noise = checked(neighbours), checks.positive("sigma", sigma)
    count, turns = checks.count("steps", steps, least=1), checks.count("batches", batches, least=1)
    factor = checks.real("contraction", contraction, "a number from 0 to 1")
    if not 0.0 <= factor <= 1.0:
        raise BadValue(f"contraction is {factor}; allowed: a number from 0 to 1 (steps that expand are not covered).")
    mu = up(math.sqrt(least_energy(factor, count, turns)) / noise * (1.0 + ROOM))
    turn = "on all data" if turns == 1 else f"on {turns} batches in turn, a record always in the same"
    notes = (
        f"{count} steps {turn}; only the last iterate is released.",
        f"Theorem: mu = {mu!r} by shifted interpolation (Bok, Su and Altschuler 2024, arXiv:2403.00278; hockeystick, Lemma 61).",
        f"Assumed: for every data set each step is Lipschitz with factor {factor} (strongly convex and smooth losses; no "
        "clipping that acts), the start does not depend on the data, and nothing else of the run is released.",
        _stated(relation),
    )
    return Training(GDP(mu=mu, neighbours=relation), relation, notes)


def _stated(relation: Relation) -> str:
    return f"Neighbours: {relation}."


def _last(notes: tuple[str, ...]) -> tuple[str, ...]:
    """With the relation at the end."""
    return tuple(sorted(notes, key=lambda note: note.startswith("Neighbours:")))
