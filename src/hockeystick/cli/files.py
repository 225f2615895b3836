"""A run described in a TOML or JSON file, or by expressions on the command line."""

import json
import re
import sys
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from ..checks import count, distinct, probability, refuse_unknown
from ..errors import BadValue, HockeystickError
from ..mechanism.release import Release, compose
from ..mechanism.training import Training
from ..neighbours import DEFAULT, checked
from ..planning.dpsgd import dpsgd, ours
from .expression import release

if TYPE_CHECKING:
    from ..report.about import About

EXAMPLE = """\
# a run for hockeystick: hockeystick compose run.toml (also report, plot, explain, rounds)
neighbours = "add-or-remove"         # optional: the relation; the command line wins
delta = 1e-6                         # optional: where epsilon is asked; the command line wins
steps = ["Laplace(scale=50) * 2"]    # expressions, as on the command line

# for the report, all optional: name, title, dataset, unit, author, date, purpose, notes
title = "Visits in 2025"
unit = "one patient with all visits"

[[step]]                             # one expression and how often; any number of these
release = "Gaussian(sigma=20)"
count = 10
name = "visits by month"             # optional, for the report, as are purpose and notes
purpose = "planning of beds"

[[dpsgd]]                            # a training run, with the options of hockeystick dpsgd; any number of these
examples = 60000
batch = 256
sigma = 1.1
epochs = 1
sampler = "poisson"
"""
_DPSGD = ("sigma", "sampler", "examples", "batch", "rate", "epochs", "steps", "neighbours", "accumulation", "cap")


class _Read(NamedTuple):
    """What one argument says: what is released, its settings, and what people say of the run and of each release."""

    release: Release
    settings: dict[str, Any]
    said: dict[str, Any]
    entries: list[dict[str, Any]]


def run_of(described: Sequence[str], neighbours: str | None = None, delta: float | None = None) -> tuple[Release, dict[str, Any]]:
    """All that is described, joined, and the settings of the files: `neighbours`, `delta`, and `about`, for the report.

    Training runs of a file are for `neighbours` if given, else for the relation of the file, unless they say their own.
    Files may differ in what the command line gives.
    """
    (run,), settings = runs_of([described], neighbours, delta)
    return run, settings


def runs_of(
    groups: Sequence[Sequence[str]], neighbours: str | None = None, delta: float | None = None
) -> tuple[list[Release], dict[str, Any]]:
    """Several runs, each joined of what is described, and the settings of all of their files, which must agree."""
    if not all(groups):
        raise BadValue("nothing is described; give a release such as 'Gaussian(sigma=2) * 3', or a .toml or .json file.")
    if [one for described in groups for one in described].count("-") > 1:
        raise BadValue(
            "- is given more than once, and standard input can be read once; give one -, and the rest as files or releases."
        )
    settings: dict[str, Any] = {}
    wins = {"neighbours": neighbours, "delta": delta}
    read = [[_read(one, neighbours) for one in described] for described in groups]
    found = [one for described in read for one in described]
    for one in found:
        for name, value in one.settings.items():
            if wins[name] is None and settings.get(name, value) != value:
                raise BadValue(f"the files differ in {name}: {settings[name]!r} and {value!r}.")
        settings |= one.settings
    if neighbours is None and "neighbours" in settings:
        for one in found:
            own = one.settings.get("neighbours", one.release.stated)
            if isinstance(one.release, Training) and own != settings["neighbours"]:
                raise BadValue(f"the files differ in neighbours: {settings['neighbours']!r} and {own!r}.")
    if (about := _about(found)) is not None:
        settings["about"] = about
    runs = [[one.release for one in described] for described in read]
    return [parts[0] if len(parts) == 1 else compose(parts) for parts in runs], settings


def _about(found: list[_Read]) -> "About | None":
    """What the files say of the run, if they do; where several say something else, both, but for the unit of privacy."""
    entries = [entry for one in found for entry in one.entries]
    if not any(one.said for one in found) and not any(len(entry) > 1 for entry in entries):
        return None
    from ..portable import ANNOTATIONS
    from ..report.about import About, Entry

    each = [About(**one.said) for one in found if one.said]
    said: dict[str, Any] = {}
    for name in ANNOTATIONS:
        values = list(dict.fromkeys(value for one in each if (value := getattr(one, name))))
        if len(values) > 1 and name == "unit":
            raise BadValue(f"the files differ in unit, the unit of privacy: {', '.join(map(repr, values))}.")
        if values:
            said[name] = sum(values, ()) if name == "notes" else max(values) if name == "date" else "; ".join(values)
    return About(**said, entries=[Entry(**entry) for entry in entries])


def _read(one: str, neighbours: str | None) -> _Read:
    if one == "-":
        return _standard_input(sys.stdin.read(), neighbours)
    if one.endswith((".toml", ".json")):
        return _file(Path(one), neighbours)
    if re.fullmatch(r"[\w./\\~-]*\.[a-z]\w*", one):
        raise BadValue(f"{one!r} is neither a file that ends in .toml or .json nor a release such as 'Gaussian(sigma=2) * 3'.")
    made = release(one)
    return _Read(made, {}, {}, [{"release": made}])


def _standard_input(text: str, neighbours: str | None) -> _Read:
    """What was piped in: JSON begins with a brace, an expression is one line that is no TOML."""
    lines = text.strip().splitlines()
    if not lines:
        raise BadValue(
            "standard input is empty (it is read once); allowed: TOML, JSON, or an expression such as 'Gaussian(sigma=2) * 3'."
        )
    if len(lines) == 1 and not lines[0].startswith("{"):
        try:
            tomllib.loads(text)
        except tomllib.TOMLDecodeError:
            return _read(lines[0], neighbours) if lines[0] != "-" else _parsed(text, "standard input", "toml", neighbours)
    return _parsed(text, "standard input", "json" if text.lstrip().startswith("{") else "toml", neighbours)


def _file(path: Path, neighbours: str | None) -> _Read:
    try:
        text = path.read_text(encoding="utf-8-sig")  # some editors begin a file with a byte-order mark
    except UnicodeDecodeError as error:
        raise BadValue(f"{path} is not UTF-8 (byte {error.start}); save it as UTF-8.") from None
    return _parsed(text, str(path), path.suffix[1:], neighbours)


def _parsed(text: str, path: str, form: str, neighbours: str | None) -> _Read:
    try:
        data = tomllib.loads(text) if form == "toml" else json.loads(text, object_pairs_hook=distinct)
    except BadValue as error:
        raise BadValue(f"{path}: {error}") from None
    except (ValueError, RecursionError) as error:
        raise BadValue(f"{path} is not {form.upper()}: {error}.") from None
    try:
        if isinstance(data, dict) and ("hockeystick" in data or isinstance(data.get("release"), dict)):  # made by to_json
            return _settled(_portable(text, data))
        return _settled(_described(data, neighbours))
    except HockeystickError as error:
        raise type(error)(f"{path}: {error}") from None


def _settled(found: _Read) -> _Read:
    """The same, its relation and its delta checked: to compare those of several files, they must be values."""
    if "neighbours" in found.settings:
        checked(found.settings["neighbours"])
    if "delta" in found.settings:
        probability("delta", found.settings["delta"])
    return found


def _portable(text: str, data: dict[str, Any]) -> _Read:
    """A run that `to_json` wrote, or a report, which has the run inside, and its delta and its relation."""
    from ..portable import ANNOTATIONS, from_json, is_report  # which knows every kind of release
    from ..report.about import About

    made = from_json(text)
    if not is_report(data):
        return _Read(made, {}, _kept(data, ANNOTATIONS), [{"release": made}])
    about = About.from_dict(data.get("about", {}))
    about.check(made)
    epsilon = data.get("epsilon")
    settings = {**_kept(data, ("neighbours",)), **_kept(epsilon if isinstance(epsilon, dict) else {}, ("delta",))}
    said = {name: getattr(about, name) for name in ANNOTATIONS if getattr(about, name)}
    entries = [{name: value for name, value in vars(entry).items() if value} for entry in about.entries]
    return _Read(made, settings, said, entries or [{"release": made}])


def _described(data: Any, neighbours: str | None) -> _Read:
    from ..portable import ANNOTATIONS
    from ..report.about import ENTRY_KEYS

    keys = ("neighbours", "delta", "steps", "step", "dpsgd", *ANNOTATIONS)
    if not isinstance(data, dict):
        raise BadValue(f"a table is needed; its keys: {', '.join(keys)}.")
    refuse_unknown("the file", data, keys)
    entries: list[dict[str, Any]] = []
    for one in _tables(data, "dpsgd"):
        if other := next((name for name in one if ours(name)), None):
            raise BadValue(f"dpsgd has no key {other}: here it is {ours(other)}.")
        refuse_unknown("dpsgd", one, (*_DPSGD, *ENTRY_KEYS))
        if "sigma" not in one or "sampler" not in one:
            raise BadValue("dpsgd needs sigma and sampler, and examples and batch or rate, and epochs or steps.")
        said = data.get("neighbours")
        if said is not None and one.get("neighbours", said) != said:
            raise BadValue(
                f"the file states neighbours = {said!r}, and its dpsgd {one['neighbours']!r}; allowed: one relation for all."
            )
        meant = neighbours if neighbours is not None else data.get("neighbours", DEFAULT)
        entries.append({"release": dpsgd(**{"neighbours": meant, **_kept(one, _DPSGD)}), **_kept(one, ENTRY_KEYS)})
    steps = data.get("steps", [])
    if not isinstance(steps, list) or not all(isinstance(one, str) for one in steps):
        raise BadValue('steps is no list of texts; an example: steps = ["Gaussian(sigma=2) * 3"].')
    entries += [{"release": release(one)} for one in steps]
    for one in _tables(data, "step"):
        refuse_unknown("step", one, ("release", "count", *ENTRY_KEYS))
        if not isinstance(one.get("release"), str):
            raise BadValue('a step needs a release, such as release = "Gaussian(sigma=2)".')
        entries.append(
            {"release": release(one["release"]) * count("count", one.get("count", 1), least=1), **_kept(one, ENTRY_KEYS)}
        )
    if not entries:
        raise BadValue("nothing is described; give steps, [[step]] or [[dpsgd]].")
    parts = [one["release"] for one in entries]
    made = parts[0] if len(parts) == 1 else compose(parts)
    return _Read(made, _kept(data, ("neighbours", "delta")), _kept(data, ANNOTATIONS), entries)


def _kept(data: dict[str, Any], names: Sequence[str]) -> dict[str, Any]:
    return {name: data[name] for name in names if name in data}


def _tables(data: dict[str, Any], name: str) -> list[dict[str, Any]]:
    found = data.get(name, [])
    listed = [found] if isinstance(found, dict) else found
    if not isinstance(listed, list) or not all(isinstance(one, dict) for one in listed):
        raise BadValue(f"{name} is no table; write [[{name}]] and its values below.")
    return listed
