"""What people say of a run, for its report: a title, the data, the unit of privacy, and what each release is for."""

import datetime
import json
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

from ..checks import refuse_unknown
from ..errors import BadType, BadValue, HockeystickError
from ..mechanism.made import Made
from ..mechanism.release import Release, compose
from ..portable import ANNOTATIONS, from_json

ENTRY_KEYS = ("name", "purpose", "notes")


@dataclass(frozen=True)
class Entry(metaclass=Made):
    """One release of a report, with its name and what it is for.

    Parameters
    ----------
    release : Release
        What is released.
    name : str, optional
        What people call it.
    purpose : str, optional
        What it is for.
    notes : sequence of str, optional
        What else is to be said of it, a sentence each; one text is one note.

    Raises
    ------
    BadType
        If release is no release, or another argument no text.
    BadValue
        If a text holds what cannot be printed.

    Examples
    --------
    >>> import hockeystick as hs
    >>> Entry(hs.Laplace(scale=50.0) * 2, name="Visits", purpose="planning of beds").name
    'Visits'
    """

    release: Release
    name: str = ""
    purpose: str = ""
    notes: Sequence[str] = ()

    def __post_init__(self) -> None:
        if not isinstance(self.release, Release):
            raise BadType(f"release is {self.release!r}; allowed: a release such as Gaussian(sigma=2.0).")
        _clean(self, ENTRY_KEYS)

    def _to_dict(self) -> dict[str, Any]:
        """As plain values; a release that JSON cannot hold is null beside its words."""
        try:
            described = json.loads(self.release.to_json())
        except HockeystickError:
            described = None
        return {**_given(self, ENTRY_KEYS), "release": repr(self.release), "described": described}


@dataclass(frozen=True)
class About(metaclass=Made):
    """What people say of a run: none of it changes a number, all of it stands in the report.

    Parameters
    ----------
    name : str, optional
        A short name of the run.
    title : str, optional
        The title of the report.
    dataset : str, optional
        The data that the releases are about.
    unit : str, optional
        The unit of privacy: what one record stands for, such as "one patient with all visits".
    author : str, optional
        Who answers for the report.
    date : str or datetime.date, optional
        Its day, such as "2026-11-19".
    purpose : str, optional
        What the releases are for.
    notes : sequence of str, optional
        What else is to be said, a sentence each; one text is one note.
    entries : sequence of Entry, optional
        The releases by name; together they must be the run that the report is about.

    Raises
    ------
    BadType
        If an argument is no text, or an entry no `Entry`.
    BadValue
        If date is no day, or a text holds what cannot be printed.

    Examples
    --------
    >>> import hockeystick as hs
    >>> about = hs.About(title="Visits in 2025", unit="one patient with all visits", date="2026-11-19")
    >>> hs.Laplace(scale=50.0).report(delta=0.0, about=about).about.title
    'Visits in 2025'
    """

    name: str = ""
    title: str = ""
    dataset: str = ""
    unit: str = ""
    author: str = ""
    date: str = ""
    purpose: str = ""
    notes: Sequence[str] = ()
    entries: Sequence[Entry] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "date", _day(self.date))
        _clean(self, ANNOTATIONS)
        entries = _listed("entries", self.entries)
        for one in entries:
            if not isinstance(one, Entry):
                raise BadType(f"entries contains {one!r}; allowed: Entry(release, name=..., purpose=...).")
        object.__setattr__(self, "entries", entries)

    def check(self, release: Release) -> None:
        """Raised unless the named releases together are this one: a report lists what was counted.

        Parameters
        ----------
        release : Release
            What the report is about.

        Raises
        ------
        BadValue
            If they are something else.
        """
        named = compose(entry.release for entry in self.entries)
        if self.entries and frozenset(named.parts) != frozenset(release.parts):
            raise BadValue(
                f"the entries together are {named!r}, and the run is {release!r}; allowed: entries that make up the run."
            )

    def to_dict(self) -> dict[str, Any]:
        """What was said, as plain values; what was not is left out.

        Returns
        -------
        dict of str
            Texts and lists; `from_dict` undoes it, but for entries that JSON cannot hold.
        """
        entries = {"entries": [one._to_dict() for one in self.entries]} if self.entries else {}
        return {**_given(self, ANNOTATIONS), **entries}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> "About":
        """What `to_dict` wrote.

        Parameters
        ----------
        data : dict of str
            The keys are the arguments; each entry has its release as `described`.

        Returns
        -------
        About
            The annotations.

        Raises
        ------
        BadType
            If data is no dictionary, or a value of the wrong type.
        BadValue
            If a key is not known, or a release is no description of one.
        """
        if not isinstance(data, Mapping):
            raise BadType(f"about is {data!r}; allowed: a dictionary with the keys {', '.join(ANNOTATIONS)}, entries.")
        refuse_unknown("about", data, (*ANNOTATIONS, "entries"))
        listed = data.get("entries", [])
        if not isinstance(listed, list) or not all(isinstance(one, Mapping) for one in listed):
            raise BadType(f"entries is {listed!r}; allowed: a list of dictionaries.")
        entries = []
        for one in listed:
            refuse_unknown("an entry", one, (*ENTRY_KEYS, "release", "described"))
            entries.append(Entry(from_json(json.dumps(one.get("described"))), **_kept(one, ENTRY_KEYS)))
        return cls(**_kept(data, ANNOTATIONS), entries=tuple(entries))


def _kept(data: Mapping[str, Any], keys: tuple[str, ...]) -> dict[str, Any]:
    return {key: data[key] for key in keys if key in data}


def _given(described: Any, keys: tuple[str, ...]) -> dict[str, Any]:
    values = {key: getattr(described, key) for key in keys}
    return {key: list(value) if isinstance(value, tuple) else value for key, value in values.items() if value}


def _clean(described: Any, keys: tuple[str, ...]) -> None:
    """Each text on one line; notes as a tuple."""
    for field in fields(described):
        value = getattr(described, field.name)
        if field.name == "notes":
            notes = (value,) if isinstance(value, str) else _listed("notes", value)
            object.__setattr__(described, "notes", tuple(one for note in notes if (one := _line("notes", note))))
        elif field.name in keys:
            object.__setattr__(described, field.name, _line(field.name, value))


def _line(name: str, value: Any) -> str:
    if not isinstance(value, str):
        raise BadType(f"{name} is {value!r} ({type(value).__name__}); allowed: a text.")
    line = " ".join(value.split())
    if any(unicodedata.category(letter) in ("Cc", "Cs") for letter in line):
        raise BadValue(f"{name} is {value!r}; allowed: a text without control characters.")
    return line


def _listed(name: str, values: Any) -> tuple[Any, ...]:
    try:
        return tuple(values)
    except TypeError:
        raise BadType(f"{name} is {values!r}; allowed: a sequence.") from None


def _day(value: Any) -> Any:
    """A day as YYYY-MM-DD."""
    if isinstance(value, datetime.datetime):
        return value.date().isoformat()
    if isinstance(value, datetime.date):
        return value.isoformat()
    if isinstance(value, str) and value:
        try:
            return datetime.date.fromisoformat(value.strip()).isoformat()
        except ValueError:
            raise BadValue(f"date is {value!r}; allowed: a day such as 2026-11-19.") from None
    return value
