"""The forms of a report: one list of sections, four ways to write it."""

import html as markup
import math
import re
import textwrap
from typing import TYPE_CHECKING, Any, NamedTuple

from .methods import steps
from .numbers import down_text, up_text
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
        (f"epsilon at delta = {report.at:g}", up_text(epsilon["upper"]), how["epsilon"]),
        ("certified between", ends, "attained" if epsilon["tight"] else "an upper bound; it may be more than is needed"),
    ]
    if "refused" not in delta:
        main.append(
            (
                f"delta at epsilon = {delta['epsilon']:g}",
                up_text(delta["upper"]),
                "in the same way; this is the epsilon of the statement",
            )
        )
    return [
        Section("Privacy report", [], [report.statement]),
        Section(
            "What is released",
            [(f"{one.uses:,} x", one.release, f"{one.words}; {one.theorem}") for one in steps(report.release, report.neighbours)],
            [f"Relation: {report.neighbours}, {neighbouring(report.release, report.neighbours)}."],
        ),
        Section("Epsilon and delta", main, []),
        Section(
            "Profile",
            [
                (f"delta({point:g})", up_text(high), f"at least {down_text(low)}")
                for point, low, high in zip(*(report.profile[name] for name in ("epsilon", "lower", "upper")), strict=True)
            ],
            [],
        ),
        Section("Gaussian DP", *_mu(report.mu, how["mu"])),
        Section("Rényi DP", *_renyi(report.renyi, how["renyi"])),
        Section("Attacks", *_attacks(report.attacks, how["attacks"])),
        Section("Assumptions", [], report.assumptions),
        Section("Sources", [(f"[{key}]", text, "") for key, text in report.citations.items()], []),
    ]


def _mu(mu: dict[str, Any], how: str) -> tuple[list[tuple[str, str, str]], list[str]]:
    if "refused" in mu:
        return [], [mu["refused"]]
    near = [
        (f"mu up to delta = {mu['delta']:g}", up_text(mu["upper"]), how),
        ("regret", up_text(mu["regret"], 3), "how far its curve is from the run; small: mu says it all, [G25]"),
    ]
    everywhere = ("mu at every epsilon", up_text(mu["everywhere"]), mu["reason"])
    return [*(near if math.isfinite(mu["upper"]) else []), everywhere], []


def _renyi(renyi: dict[str, Any], how: str) -> tuple[list[tuple[str, str, str]], list[str]]:
    if "refused" in renyi:
        return [], [renyi["refused"]]
    return [
        ("best order", f"{renyi['order']:.6g}", "the order whose conversion gives the least epsilon"),
        ("Rényi divergence there", up_text(renyi["value"]), "exact, rounded up"),
        ("epsilon by that order", up_text(renyi["epsilon"]), how),
    ], []


def _attacks(attacks: dict[str, Any], how: str) -> tuple[list[tuple[str, str, str]], list[str]]:
    if "refused" in attacks:
        return [], [attacks["refused"]]
    rows = [("advantage", up_text(attacks["advantage"]), "true-positive rate minus false-positive rate, at most")]
    for rate, reached in zip(attacks["fpr"], attacks["tpr"], strict=True):
        rows.append((f"tpr at fpr = {rate:g}", up_text(reached), f"so the type-II error is at least {down_text(1.0 - reached)}"))
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
        lines += [f"{'#' if level == 0 else '##'} {section.title}", ""]
        for paragraph in section.paragraphs:
            lines += [f"* {paragraph}" if len(section.paragraphs) > 1 else paragraph]
        if section.paragraphs:
            lines.append("")
        if section.rows:
            lines += ["| | | |", "|---|---|---|"]
            lines += [f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in row)} |" for row in section.rows] + [""]
    return "\n".join(lines)


def html(found: list[Section]) -> str:
    """One div; colours come from the page."""
    parts = ['<div class="hockeystick-report" style="max-width:60em">']
    for level, section in enumerate(found):
        tag = "h2" if level == 0 else "h3"
        parts.append(f"<{tag}>{markup.escape(section.title)}</{tag}>")
        parts += [f"<p>{markup.escape(paragraph)}</p>" for paragraph in section.paragraphs]
        if section.rows:
            parts.append("<table>")
            for name, value, how in section.rows:
                cells = f"<th scope='row' style='text-align:left'>{markup.escape(name)}</th>"
                cells += f"<td style='text-align:left'>{markup.escape(value)}</td>"
                parts.append(f"<tr>{cells}<td style='text-align:left'>{markup.escape(how)}</td></tr>")
            parts.append("</table>")
    return "\n".join([*parts, "</div>"])


_TEX = {
    "\\": r"\textbackslash{}",
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
    "{": r"\{",
    "}": r"\}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"$<$",
    ">": r"$>$",
    "ε": r"$\varepsilon$",
    "δ": r"$\delta$",
    "μ": r"$\mu$",
    "²": r"$^2$",
    "é": r"\'e",
}


def escaped(value: str) -> str:
    """Text for LaTeX; powers of ten as mathematics.

    >>> print(escaped("δ = 1e-05 & more"))
    $\\delta$ = $10^{-5}$ \\& more
    """
    plain = "".join(_TEX.get(letter, letter) for letter in value)

    def power(match: "re.Match[str]") -> str:
        head = "" if match[1] == "1" else f"{match[1]}\\cdot "
        return f"${head}10^{{{int(match[2])}}}$"

    return re.sub(r"(?<![\w.])(\d+(?:\.\d+)?)e([+-]?\d+)\b", power, plain)


def latex(found: list[Section]) -> str:
    """Paragraphs and tables, for any document class; no package is needed."""
    lines = ["% made by hockeystick"]
    for section in found:
        lines.append(f"\\subsection*{{{escaped(section.title)}}}")
        lines += [f"{_breakable(paragraph)}\n" for paragraph in section.paragraphs]
        if section.rows:
            wide = not any(how for _, _, how in section.rows)
            columns = r"p{.19\linewidth}p{.76\linewidth}" if wide else r"p{.19\linewidth}p{.3\linewidth}p{.42\linewidth}"
            lines += [rf"\noindent\begin{{tabular}}{{@{{}}{columns}@{{}}}}", r"\hline"]
            rows = ((f"\\raggedright {_breakable(cell)}" for cell in row[: 2 if wide else 3]) for row in section.rows)
            lines += [" & ".join(cells) + r" \tabularnewline" for cells in rows]  # \\ ends a line of ragged text
            lines += [r"\hline", r"\end{tabular}", ""]
    return "\n".join(lines)


def _breakable(value: str) -> str:
    """Text for LaTeX whose long words, such as descriptions of releases, may be broken after their signs."""
    words = (
        re.sub(r"([(),=:]|\.(?=[a-z]))(?=\S)", r"\1\\allowbreak{}", word) if len(word) > 16 else word for word in value.split(" ")
    )
    marked = " ".join(words).replace("\\allowbreak{}", "\0")
    return escaped(marked).replace("\0", r"\allowbreak{}")
