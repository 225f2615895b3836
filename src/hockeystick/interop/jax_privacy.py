"""JAX Privacy's configurations of banded matrix factorisation (BandMF), read by their fields: the package is not needed.

Its events are those of dp_accounting: `interop.dp_accounting.from_dp_event`.  Its matrices: `hs.Strategy.of`.
"""

import math
from typing import Any

from .. import checks
from ..errors import BadType, BadValue, Unsupported
from ..mechanism.gaussian import Gaussian
from ..mechanism.matrix.entries import real_array
from ..mechanism.release import Release
from ..mechanism.training import Training
from ..neighbours import DEFAULT, Relation
from ..numerics.rounding import down

_FIELDS = ("iterations", "strategy", "noise_multiplier")
_RELATIONS: dict[str, Relation] = {
    "ADD_OR_REMOVE_ONE": "add-or-remove",
    "REPLACE_ONE": "replace",
    "REPLACE_SPECIAL": "zero-out",
}


def from_bandmf(config: Any) -> Release:
    """The run that a configuration of JAX Privacy describes: `BandMFConfig`, or in version 2.0 `BandMFExecutionPlanConfig`.

    The noise multiplier, the bands (the coefficients of `strategy`), iterations, and the rate of sampling inside the groups
    (`sampling_prob`, or `expected_participations * bands / iterations`), with `truncated_batch_size` truncated Poisson sampling.

    Questions are answered for its relation: that of its accountant (2.0), else zero-out if `num_examples` is given and
    add-or-remove if it is not.  A plan of 2.0 doubles its noise for REPLACE_ONE, and so does the release.  With
    `column_normalize` the noise counts relative to the columns that are really used, whose norm is 1.

    Parameters
    ----------
    config : BandMFConfig or BandMFExecutionPlanConfig
        The configuration, or an object with its fields.

    Returns
    -------
    Release
        The whole run.

    Raises
    ------
    BadType
        If a field is missing, or of another type.
    BadValue
        If the noise is not known yet, or a field is out of its range.
    Unsupported
        If batches are truncated and groups are not of one size, or records may be added in groups of a fixed size.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> from_bandmf(SimpleNamespace(
    ...     iterations=1000, strategy=[0.8, 0.5, 0.3], noise_multiplier=2.0, expected_participations=10
    ... )).run
    Gaussian(sigma=2.0).poisson(rate=0.03).banded(bands=3, iterations=1000)
    """
    missing = [name for name in _FIELDS if not hasattr(config, name)]
    if missing or not (hasattr(config, "sampling_prob") or hasattr(config, "expected_participations")):
        raise BadType(
            f"config is {config!r}, without {', '.join(missing) or 'sampling_prob or expected_participations'}; allowed: a "
            "BandMFConfig or BandMFExecutionPlanConfig of JAX Privacy."
        )
    if config.noise_multiplier is None:
        raise BadValue(
            "noise_multiplier is None: the noise is not known yet.  Calibrate first: config.calibrate(epsilon=..., delta=...), "
            "or in version 2.0 read config.plan.dp_event with hockeystick.interop.dp_accounting.from_dp_event."
        )
    iterations = checks.count("iterations", config.iterations, least=1)
    strategy = real_array("strategy", config.strategy, 1).tolist()
    if not strategy or not all(map(math.isfinite, strategy)) or strategy[0] == 0.0:
        raise BadValue(f"strategy is {strategy}; allowed: finite Toeplitz coefficients, the first of them not 0.")
    relation, truncated = _relation(config), getattr(config, "truncated_batch_size", None)
    step = Gaussian(sigma=_sigma(config, strategy, relation))
    rate = _rate(config, len(strategy), iterations)
    base: Any = step.poisson(rate=rate)
    if truncated is not None:
        cap = checks.count("truncated_batch_size", truncated, least=1)
        records = checks.count("num_examples", getattr(config, "num_examples", None), least=len(strategy))
        base = step.truncated_poisson(rate=rate, cap=cap, examples=records // len(strategy))
    run: Release = base.banded(bands=len(strategy), iterations=iterations)
    return Training(run, relation, (f"Neighbours: {relation}.",))


def _relation(config: Any) -> Relation:
    """The relation of a configuration; refused where its groups do not go with it."""
    fixed = getattr(config, "num_examples", None) is not None
    accountant = getattr(config, "accountant", None)
    relation: Relation = "zero-out" if fixed else DEFAULT
    if accountant is not None:
        name = getattr(getattr(accountant, "neighboring_relation", None), "name", None)
        if name not in _RELATIONS:
            raise BadType(f"the relation of accountant is {name!r}; allowed: {', '.join(_RELATIONS)}.")
        relation = _RELATIONS[name]
    split = getattr(getattr(config, "partition_type", None), "name", None)
    equal = fixed and accountant is None if split is None else split == "EQUAL_SPLIT"
    if equal and relation == DEFAULT:
        raise Unsupported(
            "groups of equal size change with the number of records, so that adding or removing one has no theorem.  Use "
            "partition_type INDEPENDENT, or REPLACE_SPECIAL."
        )
    if getattr(config, "truncated_batch_size", None) is not None and not equal:
        raise Unsupported(
            "truncated batches need groups of a size that is known; allowed: partition_type EQUAL_SPLIT, with num_examples."
        )
    return relation


def _sigma(config: Any, strategy: list[float], relation: Relation) -> float:
    """The noise over the clipping norm and over the largest norm of a column that is really used, from below."""
    sigma = checks.positive("noise_multiplier", config.noise_multiplier)
    if relation == "replace":
        sigma *= 2.0
    if getattr(config, "column_normalize", False):
        norm = down(down(math.sqrt(down(math.fsum(down(one * one) for one in strategy)))))
        sigma = down(sigma * min(1.0, norm)) if norm < 1.0 else sigma
    return sigma


def _rate(config: Any, bands: int, iterations: int) -> float:
    """The rate inside a group, to the double that JAX Privacy draws with."""
    if hasattr(config, "sampling_prob"):
        return checks.rate("sampling_prob", config.sampling_prob)
    participations = checks.non_negative("expected_participations", config.expected_participations)
    return checks.rate("expected_participations * bands / iterations", participations * bands / iterations)
