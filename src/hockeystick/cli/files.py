"""A run described in a TOML or JSON file, or by expressions on the command line."""

import json
import re
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ..errors import BadValue, HockeystickError
from ..mechanism.release import Release, compose
from ..neighbours import DEFAULT
from ..planning.dpsgd import dpsgd
from .expression import release

EXAMPLE = """\
# a run for hockeystick: hockeystick compose run.toml (also report, plot, explain, rounds)
neighbours = "add-or-remove"         # optional: the relation; the command line wins
delta = 1e-6                         # optional: where epsilon is asked; the command line wins
steps = ["Laplace(scale=50) * 2"]    # expressions, as on the command line

[[step]]                             # one expression and how often; any number of these
release = "Gaussian(sigma=20)"
count = 10

[[dpsgd]]                            # a training run, with the options of hockeystick dpsgd; any number of these
examples = 60000
batch = 256
sigma = 1.1
epochs = 1
sampler = "poisson"
"""
_KEYS = ("neighbours", "delta", "steps", "step", "dpsgd")
_DPSGD = ("sigma", "sampler", "examples", "batch", "rate", "epochs", "steps", "neighbours", "accumulation")


def run_of(described: Sequence[str], neighbours: str | None = None) -> tuple[Release, dict[str, Any]]:
    """All that is described, joined, and the settings (`neighbours`, `delta`) of the files.

    Training runs of a file are for `neighbours` if given, else for the relation of the file, unless they say their own.
    """
    if not described:
        raise BadValue("nothing is described; give a release such as 'Gaussian(sigma=2) * 3', or a .toml or .json file.")
    settings: dict[str, Any] = {}
    parts = []
    for one in described:
        if one.endswith((".toml", ".json")):
            part, more = _file(Path(one), neighbours)
            for name, value in more.items():
                if settings.get(name, value) != value:
                    raise BadValue(f"the files differ in {name}: {settings[name]!r} and {value!r}.")
            settings |= more
            parts.append(part)
        elif re.fullmatch(r"[\w./\\~-]*\.[a-z]\w*", one):
            raise BadValue(
                f"{one!r} is neither a file that ends in .toml or .json nor a release such as 'Gaussian(sigma=2) * 3'."
            )
        else:
            parts.append(release(one))
    return parts[0] if len(parts) == 1 else compose(parts), settings


def _file(path: Path, neighbours: str | None) -> tuple[Release, dict[str, Any]]:
    text = path.read_text(encoding="utf-8", errors="replace")
    try:
        data = tomllib.loads(text) if path.suffix == ".toml" else json.loads(text)
    except (ValueError, RecursionError) as error:
        raise BadValue(f"{path} is not {path.suffix[1:].upper()}: {error}.") from None
    try:
        if isinstance(data, dict) and ("hockeystick" in data or isinstance(data.get("release"), dict)):  # made by to_json
            from ..portable import from_json  # which knows every kind of release

            return from_json(text), {}
        return _described(data, neighbours)
    except HockeystickError as error:
        raise type(error)(f"{path}: {error}") from None


def _described(data: Any, neighbours: str | None) -> tuple[Release, dict[str, Any]]:
    if not isinstance(data, dict):
        raise BadValue(f"a table is needed; its keys: {', '.join(_KEYS)}.")
    _refuse_unknown("the file", data, _KEYS)
    parts: list[Release] = []
    for one in _tables(data, "dpsgd"):
        _refuse_unknown("dpsgd", one, _DPSGD)
        if "sigma" not in one or "sampler" not in one:
            raise BadValue("dpsgd needs sigma and sampler, and examples and batch or rate, and epochs or steps.")
        meant = neighbours if neighbours is not None else data.get("neighbours", DEFAULT)
        parts.append(dpsgd(**{"neighbours": meant, **one}))
    steps = data.get("steps", [])
    if not isinstance(steps, list) or not all(isinstance(one, str) for one in steps):
        raise BadValue('steps is no list of texts; an example: steps = ["Gaussian(sigma=2) * 3"].')
    parts += [release(one) for one in steps]
    for one in _tables(data, "step"):
        _refuse_unknown("step", one, ("release", "count"))
        if not isinstance(one.get("release"), str):
            raise BadValue('a step needs a release, such as release = "Gaussian(sigma=2)".')
        parts.append(release(one["release"]) * one.get("count", 1))
    if not parts:
        raise BadValue("nothing is described; give steps, [[step]] or [[dpsgd]].")
    settings = {name: data[name] for name in ("neighbours", "delta") if name in data}
    return parts[0] if len(parts) == 1 else compose(parts), settings


def _tables(data: dict[str, Any], name: str) -> list[dict[str, Any]]:
    found = data.get(name, [])
    listed = [found] if isinstance(found, dict) else found
    if not isinstance(listed, list) or not all(isinstance(one, dict) for one in listed):
        raise BadValue(f"{name} is no table; write [[{name}]] and its values below.")
    return listed


def _refuse_unknown(what: str, data: dict[str, Any], allowed: tuple[str, ...]) -> None:
    unknown = sorted(set(data) - set(allowed))
    if unknown:
        raise BadValue(f"{what} has unknown keys {', '.join(unknown)}; allowed: {', '.join(allowed)}.")
