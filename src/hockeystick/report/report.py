"""Everything that is known of a run at one delta, with what it rests on."""

import json
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..checks import probability
from ..errors import BadType, BadValue, HockeystickError
from ..mechanism.release import Release
from ..neighbours import STATED, Relation, Stated, checked
from . import latex, page, render
from .about import About
from .answers import Answers, current_version
from .methods import steps

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FORM = 2
"""The version of the JSON form; docs/report.schema.json describes it."""


@dataclass(frozen=True)
class Report(Answers):
    """The answers for one run at one delta, as text, JSON, HTML, Markdown or LaTeX, and a statement to paste;
    also as a page to print, a record for a registry of deployments and a block for a model card.

    Made by `run.report(delta)`.  Numbers are rounded to the safe side.

    Parameters
    ----------
    release : Release
        What the report is about.
    at : float
        The delta of the report.
    neighbours : Relation
        The neighbouring relation.
    mu_delta : float
        The delta up to which mu is given.
    about : About, default About()
        What people say of the run.

    Examples
    --------
    >>> import hockeystick as hs
    >>> report = (hs.Gaussian(sigma=1.1).poisson(rate=256 / 60_000) * 3510).report(delta=1e-5)
    >>> report.epsilon["upper"] == (hs.Gaussian(sigma=1.1).poisson(rate=256 / 60_000) * 3510).epsilon(1e-5)
    True
    >>> print(report.statement.partition(".  ")[0].partition("for")[0])
    The release is (ε, δ)-differentially private with ε = 1.14 and δ = 1e-05
    """

    def to_dict(self) -> dict[str, Any]:
        """All of it as plain values; infinities are None.

        Returns
        -------
        dict of str
            Numbers, texts, lists and dictionaries only.
        """
        try:
            described = json.loads(self.release.to_json())
        except HockeystickError:
            described = None
        found: dict[str, Any] = _plain(
            {
                "hockeystick": current_version(),
                "form": FORM,
                "about": self.about.to_dict(),
                "release": repr(self.release),
                "described": described,
                "neighbours": self.neighbours,
                "steps": [one._asdict() for one in steps(self.release, self.neighbours)],
                "epsilon": self.epsilon,
                "delta": self.delta,
                "profile": self.profile,
                "mu": self.mu,
                "renyi": self.renyi,
                "attacks": self.attacks,
                "methods": self.methods,
                "assumptions": self.assumptions,
                "statement": self.statement,
                "meaning": self.meaning,
                "basis": self.basis,
                "citations": self.citations,
            }
        )
        return found

    def to_json(self, indent: int | None = 2) -> str:
        """JSON text.  An infinite value is null.

        Parameters
        ----------
        indent : int, optional
            How far lines are indented; None writes one line.

        Returns
        -------
        str
            The text; docs/report.schema.json describes it.
        """
        return json.dumps(self.to_dict(), indent=indent, ensure_ascii=False, allow_nan=False)

    def to_text(self, width: int = 88) -> str:
        """Plain text, for a terminal.

        Parameters
        ----------
        width : int, default 88
            The most characters of a line.

        Returns
        -------
        str
            The text.
        """
        return render.text(render.sections(self), width)

    def to_markdown(self) -> str:
        """Markdown, with tables.

        Returns
        -------
        str
            The text.
        """
        return render.markdown(render.sections(self))

    def to_html(self) -> str:
        """A piece of HTML that needs nothing else; notebooks show it.

        Returns
        -------
        str
            The text.
        """
        return page.html(render.sections(self))

    def to_page(self) -> str:
        """A whole HTML document, with pictures, that needs nothing else; a browser prints it, also as PDF.

        Returns
        -------
        str
            The text; without matplotlib (the extra `plot`) it says what is not drawn.
        """
        return page.page(self)

    def to_registry(self) -> str:
        """A record for the registry of deployments that OpenDP keeps, as YAML.

        Returns
        -------
        str
            The text; what only people can fill in stands as comments with the questions.
        """
        from .registry import registry

        return registry(self)

    def to_model_card(self) -> str:
        """A block for a model card, such as those of Hugging Face, as Markdown.

        Returns
        -------
        str
            The text.
        """
        from .model_card import model_card

        return model_card(self)

    def to_latex(self) -> str:
        """LaTeX for the body of a document, without packages; its first paragraph is the statement.

        It is ASCII, but for letters of yours that LaTeX has no command for.

        Returns
        -------
        str
            The text.
        """
        return latex.latex(render.sections(self))

    def plot(self) -> "Figure":
        """The profile with its certified band (needs the extra `plot`).

        Returns
        -------
        matplotlib.figure.Figure
            The figure.

        Raises
        ------
        MissingExtra
            If matplotlib is not installed.
        """
        from .plots import profile

        return profile(self.release, self.at, neighbours=self.neighbours)

    def __str__(self) -> str:
        return self.to_text()

    def _repr_html_(self) -> str:
        return self.to_html()


def report(
    release: Release, delta: float, neighbours: Relation = STATED, mu_delta: float = 1e-10, about: About | None = None
) -> Report:
    """The report of a release at one delta.

    Parameters
    ----------
    release : Release
        What the report is about.
    delta : float
        The delta of the report, from 0 to below 1.
    neighbours : Relation, optional
        The neighbouring relation; by default the one that the release states.
    mu_delta : float, default 1e-10
        The delta up to which mu is given; at most `delta` is used.
    about : About, optional
        What people say of the run: title, data set, unit of privacy, and the name and purpose of each release.

    Returns
    -------
    Report
        The answers; each is computed when it is first shown.

    Raises
    ------
    BadType
        If delta or mu_delta is no number, neighbours no text, or about no `About`.
    BadValue
        If delta or mu_delta is no probability, delta is 1, neighbours no relation, or about names other releases than this one.
    Unsupported
        If no theorem covers a part of the release under this relation.

    Examples
    --------
    >>> import hockeystick as hs
    >>> print(report(hs.Laplace(scale=1.0), delta=1e-6).delta["epsilon"])
    1.0
    """
    at = probability("delta", delta)
    if at >= 1.0:
        raise BadValue("delta is 1.0; allowed: a probability from 0 to below 1 (a delta of 1 promises nothing).")
    relation = release.stated if isinstance(neighbours, Stated) else checked(neighbours)
    said = About() if about is None else about
    if not isinstance(said, About):
        raise BadType(f"about is {about!r}; allowed: About(title=..., unit=..., ...).")
    said.check(release)
    most = probability("mu_delta", mu_delta)
    made = Report(release, at, relation, min(most, at) if at else most, said)
    release._heed(at)
    assert made.epsilon is not None  # refused now rather than when it is shown
    return made


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _plain(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(one) for one in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
