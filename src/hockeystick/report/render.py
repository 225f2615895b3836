"""What a report says, as one list of sections, and that as text and as Markdown; `page` and `latex` write it, too."""

import decimal
import math
import re
import textwrap
from typing import TYPE_CHECKING, Any, NamedTuple

from ..mechanism.training import Training
from .answers import current_version, listed
from .methods import steps
from .numbers import down_text, given, up_text
from .words import neighbouring

if TYPE_CHECKING:
    from .report import Report


class Section(NamedTuple):
    """A title, rows of (what, value, how it is known), and paragraphs."""

    title: str
    rows: list[tuple[str, str, str]]
    paragraphs: list[str]


def sections(report: "Report") -> list[Section]:
    """What a report says, in order."""
    how, epsilon, delta = report.methods, report.epsilon, report.delta
    ends = f"{down_text(epsilon['lower'], 10)} to {up_text(epsilon['upper'], 10)}"
    main = [
        (f"epsilon at delta = {given(report.at)}", up_text(epsilon["upper"]), how["epsilon"]),
        ("certified between", ends, "attained" if epsilon["tight"] else "an upper bound; it may be more than is needed"),
    ]
    if "refused" not in delta:
        main.append(
            (
                f"delta at epsilon = {given(delta['epsilon'])}",
                up_text(delta["upper"]),
                "in the same way; this is the epsilon of the statement",
            )
        )
    about = report.about
    return [
        Section(about.title or about.name or "Privacy report", _facts(report), [report.statement]),
        Section("What it means", [], report.meaning),
        Section("What is released", releases(report), [f"Relation: {report.neighbours}, {_relation(report)}."]),
        Section("Epsilon and delta", main, [report.basis]),
        Section(
            "Profile",
            [
                (f"delta({given(point)})", up_text(high), f"at least {down_text(low)}")
                for point, low, high in zip(*(report.profile[name] for name in ("epsilon", "lower", "upper")), strict=True)
            ],
            [],
        ),
        Section("Gaussian DP", *_mu(report.mu, how["mu"])),
        Section("Rényi DP", *_renyi(report.renyi, how["renyi"], report.basis)),
        Section("Attacks", *_attacks(report.attacks, how["attacks"])),
        Section("Assumptions", [], report.assumptions),
        *([Section("Notes", [], list(about.notes))] if about.notes else []),
        Section("Provenance", provenance(report), []),
        Section("Sources", [(f"[{key}]", text, "") for key, text in report.citations.items()], []),
    ]


def _relation(report: "Report") -> str:
    return neighbouring(report.release, report.neighbours)


def _facts(report: "Report") -> list[tuple[str, str, str]]:
    """What people said of the run; the unit of privacy in any case."""
    about = report.about
    unit = about.unit or "not stated (one record)"
    stated = [
        ("data set", about.dataset),
        ("unit of privacy", unit),
        ("purpose", about.purpose),
        ("date", about.date),
        ("author", about.author),
    ]
    return [(name, value, "") for name, value in stated if value]


def releases(report: "Report") -> list[tuple[str, str, str]]:
    """One row a release: its name or how often it is used, what it is, what it is for and what it rests on."""
    relation = report.neighbours
    if not report.about.entries:
        return [(f"{one.uses:,} x", one.release, f"{one.words}; {one.theorem}") for one in steps(report.release, relation)]
    rows = []
    for place, entry in enumerate(report.about.entries, 1):
        parts = steps(entry.release, relation)
        theorems = "; ".join(dict.fromkeys(one.theorem for one in parts))
        rest = [entry.purpose, *entry.notes, theorems]
        rows.append((entry.name or f"release {place}", listed(parts), ". ".join(one.rstrip(".") for one in rest if one)))
    return rows


def provenance(report: "Report") -> list[tuple[str, str, str]]:
    """What made the numbers, and how they are computed again."""
    run = report.release.run if isinstance(report.release, Training) else report.release
    delta = format(decimal.Decimal(repr(report.at)), "f")  # as a command takes it, also where documents write powers of ten
    again = f"hockeystick report '{run!r}' --delta {delta} --neighbours {report.neighbours}"
    return [
        ("software", f"hockeystick {current_version()}", "both ends of every number are certified: docs/mathematics.md"),
        ("again", again, "or from the JSON form of this report, which is a run file"),
        *((f"method of {name}", words, "") for name, words in report.methods.items()),
    ]


def _mu(mu: dict[str, Any], how: str) -> tuple[list[tuple[str, str, str]], list[str]]:
    if "refused" in mu:
        return [], [mu["refused"]]
    near = [
        (f"mu up to delta = {given(mu['delta'])}", up_text(mu["upper"]), how),
        ("regret", up_text(mu["regret"], 3), "how far its curve is from the run; small: mu says it all, [G25]"),
    ]
    everywhere = ("mu at every epsilon", up_text(mu["everywhere"]), mu["reason"])
    return [*(near if math.isfinite(mu["upper"]) else []), everywhere], []


def _renyi(renyi: dict[str, Any], how: str, basis: str) -> tuple[list[tuple[str, str, str]], list[str]]:
    if "refused" in renyi:
        return [], [renyi["refused"]]
    return [
        ("best order", down_text(renyi["order"]), "the order whose conversion gives the least epsilon"),
        ("Rényi divergence there", up_text(renyi["value"]), "exact, rounded up"),
        ("epsilon by that order", up_text(renyi["epsilon"]), how),
    ], [basis]


def _attacks(attacks: dict[str, Any], how: str) -> tuple[list[tuple[str, str, str]], list[str]]:
    if "refused" in attacks:
        return [], [attacks["refused"]]
    rows = [("advantage", up_text(attacks["advantage"]), "true-positive rate minus false-positive rate, at most")]
    for rate, reached in zip(attacks["fpr"], attacks["tpr"], strict=True):
        rows.append(
            (f"tpr at fpr = {given(rate)}", up_text(reached), f"so the type-II error is at least {down_text(1.0 - reached)}")
        )
    rows.append(("Bayes risk at prior 1/2", down_text(attacks["bayes_risk"]), "the least probability of error of a guess"))
    rows.append(("posterior", up_text(attacks["posterior"]), "that an accused record is there: prior 1/2, fpr = 0.001"))
    return rows, [f"By the {how}."]


def text(found: list[Section], width: int = 88) -> str:
    """Aligned columns where there is room, else one below the other."""
    lines: list[str] = []
    for section in found:
        lines += ["", section.title, "-" * len(section.title)]
        for paragraph in section.paragraphs:
            lines += textwrap.wrap(paragraph, width) or [""]
        first = max((len(row[0]) for row in section.rows), default=0)
        second = max((len(row[1]) for row in section.rows), default=0)
        for name, value, how in section.rows:
            if first + second + 30 <= width:
                head = f"{name:<{first}}  {value:<{second}}  "
                lines += textwrap.wrap(how, width, initial_indent=head, subsequent_indent=" " * len(head)) or [head.rstrip()]
            else:
                lines += textwrap.wrap(f"{name}  {value}", width, subsequent_indent="  ")
                lines += textwrap.wrap(how, width, initial_indent="    ", subsequent_indent="    ")
    return "\n".join(lines[1:]) + "\n"


def markdown(found: list[Section]) -> str:
    """Headings, paragraphs, and tables."""
    lines: list[str] = []
    for level, section in enumerate(found):
        lines += [f"{'#' if level == 0 else '##'} {for_markdown(section.title)}", ""]
        for paragraph in map(for_markdown, section.paragraphs):
            lines += [f"* {paragraph}" if len(section.paragraphs) > 1 else paragraph]
        if section.paragraphs:
            lines.append("")
        if section.rows:
            lines += ["| | | |", "|---|---|---|"]
            lines += [f"| {' | '.join(map(for_markdown, row))} |" for row in section.rows] + [""]
    return "\n".join(lines)


_SIGNS = re.compile(r"[\\`|~]|\*(?=\S)|(?<=\S)\*|(?<![^\W_])_|_(?![^\W_])|(?<=\])[(\[:]|^[#>*+-]|^\d+(?=[.)](?:\s|$))")
"""What would mean something to a reader of Markdown; a sign with spaces around it, as in a * b, does not."""


def for_markdown(text: str) -> str:
    """Text in which no tag, link, emphasis, heading or column of Markdown begins: what people say of a run is shown, not obeyed.

    >>> print(for_markdown("R&D <script>alert(1)</script> [here](javascript:run) | Gaussian(sigma=2.0) * 3"))
    R&D &lt;script>alert(1)&lt;/script> [here]\\(javascript:run) \\| Gaussian(sigma=2.0) * 3
    """
    marked = _SIGNS.sub(lambda found: f"{found[0]}\\" if found[0].isdigit() else f"\\{found[0]}", text)
    return re.sub(r"&(?=#?\w+;)", "&amp;", marked).replace("<", "&lt;")
