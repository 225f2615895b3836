"""An account as a document: its promise, one row for each release, and what it rests on."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from html import escape
from typing import Any

from ..errors import HockeystickError
from ..mechanism.claim import ApproxDP, PureDP
from ..mechanism.release import Release
from ..report import latex, page, render
from ..report.about import About
from ..report.answers import current_version
from ..report.numbers import given
from ..report.render import Section
from ..report.report import Report
from .chain.entries import Entry
from .datasets import Dataset
from .rows import ASSUMPTIONS, changes, releases, sections
from .state import Charge, State, opened

FORM = 1


@dataclass(frozen=True)
class AccountReport:
    """An account with one row for each release, in all forms that reports have.  Made by `account.report()`.

    Parameters
    ----------
    name : str
        The account.
    dataset : Dataset
        Whose privacy it keeps.
    status : dict of str
        What is promised, taken and left.
    entries : sequence of Entry
        All of its entries.
    """

    name: str
    dataset: Dataset
    status: dict[str, Any]
    entries: Sequence[Entry]

    @cached_property
    def _said(self) -> list[dict[str, Any]]:
        return [one.said() for one in self.entries]

    @cached_property
    def _states(self) -> list[State]:
        """The account after each entry."""
        found = [opened(1, self._said[0])]
        for seq, said in enumerate(self._said[1:], 2):
            found.append(found[-1].after(seq, said))
        return found

    @property
    def statement(self) -> str:
        """The promise in one sentence, for a paper.

        Returns
        -------
        str
            With its epsilon, delta, relation and unit.
        """
        promise = self.status["promise"]
        return (
            f"All releases of the account {self.name}, in whatever order and in view of whatever outputs they were chosen, are "
            f"together (ε, δ)-differentially private with ε = {given(promise['epsilon'])} and δ = {given(promise['delta'])} "
            f"for neighbours by {self.status['neighbours']}; one record is {self.dataset.unit}."
        )

    @property
    def releases(self) -> list[dict[str, Any]]:
        """One row for each release.

        Returns
        -------
        list of dict
            Its key, what it was, how often, who charged it and when, what it took, and what became of it.
        """
        return releases(self.entries, self._states)

    @property
    def _budget(self) -> Report:
        """The promise as a report of the plan, the whole reserve and the slack together, which are one release."""
        terms = self._states[-1].terms
        reserve, delta = terms.reserve, terms.delta
        whole: Release = terms.planned
        if reserve.kind == "renyi":
            whole = ApproxDP(terms.epsilon, delta, terms.neighbours) if delta else PureDP(terms.epsilon, terms.neighbours)
        else:
            whole = reserve._with_reserve(whole, reserve._covered_limit)
            if reserve.slack:  # composed, it adds the slack to a delta of at most that of the promise
                level = float(reserve.slack) * (1.0 + 1e-12) / (1.0 - delta)
                whole = whole + ApproxDP(0.0, level, terms.neighbours)
        return whole.report(delta, terms.neighbours, about=self._about)

    def _meaning(self) -> list[str]:
        promise = self.status["promise"]
        claim = ApproxDP(promise["epsilon"], promise["delta"], self.status["neighbours"])
        return claim.report(promise["delta"], self.status["neighbours"], about=About(unit=self.dataset.unit)).meaning

    @property
    def _about(self) -> About:
        return About(
            title=f"Privacy account {self.name}",
            dataset=f"{self.dataset.name}. {self.dataset.description}" if self.dataset.description else self.dataset.name,
            unit=self.dataset.unit,
            purpose=self.status["purpose"],
            notes=(self.statement,),
        )

    def _sections(self) -> list[Section]:
        return sections(self.status, self.dataset, self.entries, self._states, [self.statement], self._meaning())

    def to_dict(self) -> dict[str, Any]:
        """All of it as plain values.

        Returns
        -------
        dict of str
            Numbers, texts, lists and dictionaries only.
        """
        dataset = {
            name: getattr(self.dataset, name) for name in ("name", "unit", "neighbours", "description", "partition_of", "key")
        }
        return {
            "hockeystick": current_version(),
            "form": FORM,
            "account": self.status,
            "dataset": dataset,
            "statement": self.statement,
            "releases": self.releases,
            "changes": changes(self._said),
            "assumptions": list(ASSUMPTIONS),
        }

    def to_json(self, indent: int | None = 2) -> str:
        """JSON text.

        Parameters
        ----------
        indent : int, optional
            How far lines are indented; None writes one line.

        Returns
        -------
        str
            What `to_dict` has.

        Raises
        ------
        BadValue
            If an entry is no JSON text any more.
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

        Raises
        ------
        BadValue
            If an entry is no JSON text any more.
        """
        return render.text(self._sections(), width)

    def to_markdown(self) -> str:
        """Markdown, with tables.

        Returns
        -------
        str
            The text.
        """
        return render.markdown(self._sections())

    def to_latex(self) -> str:
        """LaTeX for the body of a document, without packages.

        Returns
        -------
        str
            The text.
        """
        return latex.latex(self._sections())

    def to_html(self) -> str:
        """A piece of HTML that needs nothing else; notebooks show it.

        Returns
        -------
        str
            The text.
        """
        return page.html(self._sections())

    def to_page(self) -> str:
        """A whole HTML document, with a picture of the budget over time.

        Returns
        -------
        str
            The text; without matplotlib (the extra `plot`) it says what is not drawn.
        """
        first, meant, *others = self._sections()
        promise = self.status["promise"]
        headline = f"ε = {given(promise['epsilon'])} at δ = {given(promise['delta'])}"
        basis = f"For everything that this account can grant, {self.status['neighbours']}; one record is {self.dataset.unit}."
        words = "What was taken of each planned line and of the reserve, over time."
        try:
            pictures = ["<h2>The budget over time</h2>", page.picture(self.plot(), words)]
        except HockeystickError as error:
            pictures = [f"<p>Not drawn: {escape(str(error))}</p>"]
        maker = f"Made by hockeystick {current_version()}. Numbers are rounded to the safe side."
        return page.document(first, meant, others, headline, basis, pictures, maker)

    def to_registry(self) -> str:
        """A record for the registry of deployments that OpenDP keeps, as YAML; of the whole promise.

        Returns
        -------
        str
            The text; what only people can fill in stands as comments with the questions.
        """
        return self._budget.to_registry()

    def to_model_card(self) -> str:
        """A block for a model card, as Markdown; of the whole promise.

        Returns
        -------
        str
            The text.
        """
        return self._budget.to_model_card()

    def plot(self) -> Any:
        """What was taken of the budget, over time (needs the extra `plot`).

        Returns
        -------
        matplotlib.figure.Figure
            The figure.

        Raises
        ------
        MissingExtra
            If matplotlib is not installed.
        """
        from ..report.figures.budget import budget

        reserve, marks = [], []
        lines: dict[str, list[tuple[str, float]]] = {line.name: [] for line in self._states[-1].terms.plan}
        for state, said in zip(self._states, self._said, strict=True):
            taken: Charge = state.taken
            if state.terms.reserve.capacity:
                reserve.append((said["time"], taken.reserve / state.terms.reserve.capacity))
            for line in state.terms.plan:
                lines[line.name].append((said["time"], taken.lines.get(line.name, 0) / line.count))
            if "terms" in said and said["kind"] == "amend":
                marks.append((said["time"], state.terms.epsilon))
        return budget(self.name, reserve, lines, marks)

    def __str__(self) -> str:
        return self.to_text()

    def _repr_html_(self) -> str:
        return self.to_html()
