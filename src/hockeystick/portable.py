"""Descriptions as JSON text and back; docs/run.schema.json is the schema, for other tools to replay them."""

import json
import math
from pathlib import Path
from typing import Any

from . import checks
from .checks import refuse_unknown
from .errors import BadType, BadValue, Unsupported
from .mechanism.claim import GDP, RDP, ZCDP, ApproxDP, PureDP
from .mechanism.discrete import DiscreteGaussian, DiscreteLaplace
from .mechanism.gaussian import Gaussian
from .mechanism.laplace import Laplace
from .mechanism.matrix.release import MatrixMechanism
from .mechanism.matrix.strategy import Strategy
from .mechanism.mixture import GaussianMixture
from .mechanism.own.densities import DensityPair
from .mechanism.own.pair import Pair
from .mechanism.own.published import Published
from .mechanism.own.stored import StoredMasses
from .mechanism.profile import Profile
from .mechanism.release import Composition, Mechanism, Release, joined
from .mechanism.response import Exponential, RandomizedResponse
from .mechanism.training import Training
from .mechanism.vector import DiscreteGaussianVector
from .neighbours import checked
from .sampling.allocation import Allocated
from .sampling.banded import Banded
from .sampling.fixed_size import WithoutReplacement, WithReplacement
from .sampling.full_pass import FullPass
from .sampling.group import GroupedPoisson, GroupedRun, grouped
from .sampling.poisson import Poisson
from .sampling.shuffled import Shuffled
from .sampling.truncated import TruncatedPoisson

VERSION = 1
ANNOTATIONS = ("name", "title", "dataset", "unit", "author", "date", "purpose", "notes")
"""What people may say of a run beside it, for its report."""
_KINDS: dict[str, tuple[type[Mechanism], tuple[str, ...]]] = {
    "gaussian": (Gaussian, ("sigma", "sensitivity", "replace_sensitivity")),
    "laplace": (Laplace, ("scale", "sensitivity", "replace_sensitivity")),
    "discrete-gaussian": (DiscreteGaussian, ("sigma", "sensitivity", "replace_sensitivity")),
    "discrete-gaussian-vector": (DiscreteGaussianVector, ("sigma", "squared_norm", "neighbours")),
    "discrete-laplace": (DiscreteLaplace, ("scale", "sensitivity", "replace_sensitivity")),
    "randomized-response": (RandomizedResponse, ("epsilon", "categories", "null")),
    "gaussian-mixture": (GaussianMixture, ("sigma", "moves", "weights")),
    "matrix": (
        MatrixMechanism,
        ("strategy", "sigma", "participations", "separation", "exactly", "sensitivity", "replace_sensitivity"),
    ),
    "exponential": (Exponential, ("epsilon",)),
    "gdp": (GDP, ("mu", "neighbours")),
    "pure-dp": (PureDP, ("epsilon", "neighbours")),
    "approx-dp": (ApproxDP, ("epsilon", "delta", "neighbours")),
    "zcdp": (ZCDP, ("rho", "neighbours", "xi")),
    "rdp": (RDP, ("orders", "values", "neighbours")),
    "profile": (Profile, ("claims", "tail", "neighbours")),
    "pair": (Pair, ("p", "q", "neighbours")),
    "published": (Published, ("probability",)),
    "poisson": (Poisson, ("base", "rate")),
    "without-replacement": (WithoutReplacement, ("base", "batch", "examples")),
    "with-replacement": (WithReplacement, ("base", "draws", "examples")),
    "full-pass": (FullPass, ("base", "by", "steps")),
    "truncated-poisson": (TruncatedPoisson, ("base", "rate", "cap", "examples")),
    "allocated": (Allocated, ("base", "steps", "kept", "times")),
    "banded": (Banded, ("base", "bands", "iterations")),
    "shuffled": (Shuffled, ("local", "count")),
    "grouped-poisson": (GroupedPoisson, ("base", "rate", "size")),
}


def to_json(release: Release) -> str:
    """A release, and the relation that it states, as JSON text.

    Parameters
    ----------
    release : Release
        What to describe.

    Returns
    -------
    str
        One line of JSON, with a version.

    Raises
    ------
    BadType
        If a part is of a class that is not of this library.
    Unsupported
        If a part was made from a function, which JSON cannot hold.

    Examples
    --------
    >>> print(to_json(Gaussian(sigma=2.0)))
    {"hockeystick": 1, "neighbours": "add-or-remove", "release": {"kind": "gaussian", "sigma": 2.0}}
    """
    data = {"hockeystick": VERSION, "neighbours": release.stated, "release": _described(release)}
    return json.dumps(data, allow_nan=False)


def from_json(text: str) -> Release:
    """The release that `to_json` described; of a report's JSON, the run that it is about.

    Annotations of a run file (title, data set, notes, ...) are for its report and are not read here.

    Parameters
    ----------
    text : str or bytes
        JSON text made by `to_json`, of a run or of its report.

    Returns
    -------
    Release
        The release, equal to the one that was described.

    Raises
    ------
    BadType
        If text is no text, or holds a value of the wrong type.
    BadValue
        If text is no JSON, of a newer version, or no description of a release.
    Unsupported
        If the release that it describes is one that is refused.

    Examples
    --------
    >>> from_json(to_json(Gaussian(sigma=2.0) * 3))
    Gaussian(sigma=2.0) * 3
    """
    if not isinstance(text, str | bytes):
        raise BadType(f"text is {text!r}; allowed: JSON text made by to_json (of a file: what is in it, path.read_text()).")
    try:
        data = json.loads(text, object_pairs_hook=checks.distinct)
    except BadValue as error:
        raise BadValue(f"text is not one description: {error}") from None
    except (ValueError, RecursionError) as error:
        if _is_path(text):
            raise BadValue(
                f"text is {text!r}, the name of a file; allowed: what is in it, made by to_json: "
                f"from_json(pathlib.Path({text!r}).read_text())."
            ) from None
        raise BadValue(f"text is not JSON ({error}); allowed: text made by to_json.") from None
    if not isinstance(data, dict):
        raise BadValue(f"text is no JSON object but {str(text)[:60]!r}; allowed: text made by to_json.")
    if is_report(data):
        return from_json(json.dumps(inside(data)))
    if "hockeystick" not in data:
        raise BadValue(f"the key 'hockeystick', the version, is missing; allowed: text made by to_json, which has it: {VERSION}.")
    version = data["hockeystick"]
    if type(version) is not int:
        raise BadValue(f"the key 'hockeystick', the version, is {version!r}; allowed: a whole number from 1 to {VERSION}.")
    if not 1 <= version <= VERSION:
        raise BadValue(f"text has version {version}; allowed: 1 to {VERSION}; a newer hockeystick may read it.")
    refuse_unknown("text", data, ("hockeystick", "neighbours", "release", *ANNOTATIONS))
    release = _restored(data.get("release"))
    stated = checked(data.get("neighbours", release.stated))
    if stated == release.stated:
        return release
    if isinstance(release, Training):
        raise BadValue(f"text states neighbours={stated!r}, and its training {release.stated!r}; allowed: one relation.")
    return Training(release, stated, (f"Neighbours: {stated}.",))


def is_report(data: dict[str, Any]) -> bool:
    """Whether it is what a report's `to_json` wrote."""
    return {"form", "described"} <= data.keys()


def inside(report: dict[str, Any]) -> dict[str, Any]:
    """The run that a report is about, as `to_json` wrote it."""
    found = report["described"]
    if not isinstance(found, dict) or is_report(found):
        raise Unsupported(
            f"the report is about {report.get('release')}, which was made from a function, so its JSON does not hold it; "
            "keep the code that made it."
        )
    return found


def _is_path(text: str | bytes) -> bool:
    """Whether the text looks like the name of a file rather than what is in one."""
    if not isinstance(text, str) or len(text) > 4096 or "\n" in text:
        return False
    try:
        return text.endswith((".json", ".toml")) or (text != "" and Path(text).is_file())
    except (OSError, ValueError):  # a name that no file can have
        return False


def _described(release: Release) -> dict[str, Any]:
    if isinstance(release, Training):
        run = _described(release.run)
        known = {} if release.examples is None else {"examples": release.examples}
        return {"kind": "training", "neighbours": release.neighbours, "notes": list(release.notes), **known, "run": run}
    if isinstance(release, Composition):
        uses = [{"count": count, "release": _described(mechanism)} for mechanism, count in release.parts]
        return {"kind": "composition", "parts": uses}
    if isinstance(release, GroupedRun):
        return {"kind": "grouped", "size": release.size, "run": _described(release.run)}
    if type(release) is DensityPair:
        raise _from_function(release)
    if type(release) is StoredMasses:
        raise Unsupported(f"{release!r} is not written as JSON: keep the code that made it, or the file of its masses.")
    for kind, (cls, _) in _KINDS.items():
        if type(release) is cls:
            values = release._parameters()
            if any(callable(value) for value in values.values()):
                raise _from_function(release)
            return {"kind": kind, **{name: _plain(value) for name, value in values.items()}}
    raise BadType(f"{release!r} cannot be written as JSON; allowed: {', '.join(_KINDS)} and their compositions.")


def _plain(value: Any) -> Any:
    """Releases described, infinity as null."""
    if isinstance(value, Release):
        return _described(value)
    if isinstance(value, Strategy):
        return {"form": value.form, "iterations": value.iterations, "numbers": list(value.numbers)}
    if isinstance(value, tuple):
        return [_plain(one) for one in value]
    return None if value == math.inf else value


def _from_function(release: Release) -> Unsupported:
    return Unsupported(
        f"{release!r} was made from a function, which JSON cannot hold; list its values, or keep the code that made it."
    )


def _restored(data: Any) -> Release:
    if not isinstance(data, dict) or "kind" not in data:
        raise BadValue(f"release is {data!r}; allowed: an object with a 'kind'.")
    values = dict(data)
    kind = values.pop("kind")
    if kind == "composition":
        return _restored_composition(values)
    if kind == "grouped":
        refuse_unknown("grouped", values, ("size", "run"))
        return grouped(_restored(values.get("run")), values.get("size"))
    if kind == "training":
        return _restored_training(values)
    if not isinstance(kind, str) or kind not in _KINDS:
        raise BadValue(f"kind is {kind!r}; allowed: composition, training, {', '.join(_KINDS)}.")
    cls, names = _KINDS[kind]
    refuse_unknown(kind, values, names)
    if isinstance(values.get("tail"), list):
        values["tail"] = [math.inf if one is None else one for one in values["tail"]]
    for inner in ("base", "local"):
        if inner in values:
            values[inner] = _restored(values[inner])
    if isinstance(values.get("strategy"), dict):
        refuse_unknown("strategy", values["strategy"], ("form", "iterations", "numbers"))
        values["strategy"] = Strategy(**values["strategy"])
    try:
        return cls(**values)
    except TypeError as error:
        if isinstance(error, BadType):
            raise
        whole = {"base", "local", "moves", "strategy"} & {*names}
        needed = names if whole else names[:2] if kind in ("approx-dp", "rdp", "pair") else names[:1]
        raise BadValue(f"{kind} is incomplete; needed: {', '.join(needed)}.") from None


def _restored_composition(values: dict[str, Any]) -> Release:
    parts = values.get("parts")
    if not isinstance(parts, list) or not all(isinstance(part, dict) for part in parts):
        raise BadValue("a composition needs 'parts', a list of objects with 'count' and 'release'.")
    refuse_unknown("composition", values, ("parts",))
    for part in parts:
        refuse_unknown("a part of a composition", part, ("count", "release"))
    return joined(use for part in parts for use in (_restored(part.get("release")) * part.get("count")).parts)


def _restored_training(values: dict[str, Any]) -> Training:
    refuse_unknown("training", values, ("neighbours", "notes", "examples", "run"))
    notes = values.get("notes")
    if not isinstance(notes, list) or not all(isinstance(note, str) for note in notes):
        raise BadValue("training needs 'notes', a list of texts.")
    examples = None if values.get("examples") is None else checks.count("examples", values["examples"], least=1)
    return Training(_restored(values.get("run")), checked(values.get("neighbours")), tuple(notes), examples)
