"""A report in LaTeX: paragraphs and tables for any document class."""

import re
import unicodedata

from .render import Section

_ROWS = 12
"""The most rows of a table: pages break between tables."""
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
    "√": r"$\surd$",
    "≤": r"$\le$",
    "²": r"$^2$",
    "–": "--",
    "—": "---",
    "‘": "`",
    "’": "'",
    "“": "``",
    "”": "''",
    "„": r"\quotedblbase{}",
    "…": r"\dots{}",
    "ß": r"\ss{}",
    "ø": r"\o{}",
    "Ø": r"\O{}",
    "æ": r"\ae{}",
    "Æ": r"\AE{}",
    "œ": r"\oe{}",
    "ł": r"\l{}",
    "Ł": r"\L{}",
}
_ACCENTS = {
    "\u0300": "`",
    "\u0301": "'",
    "\u0302": "^",
    "\u0303": "~",
    "\u0304": "=",
    "\u0306": "u",
    "\u0307": ".",
    "\u0308": '"',
    "\u030a": "r",
    "\u030b": "H",
    "\u030c": "v",
    "\u0327": "c",
}


def _letter(letter: str) -> str:
    """A letter for LaTeX; one that it has no command for stays as it is."""
    if letter.isascii() or letter in _TEX:
        return _TEX.get(letter, letter)
    plain, *marks = list(unicodedata.normalize("NFD", letter))
    if len(marks) == 1 and marks[0] in _ACCENTS and plain.isascii():
        return f"\\{_ACCENTS[marks[0]]}{{{plain}}}"
    return letter


def escaped(value: str) -> str:
    """Text for LaTeX; powers of ten as mathematics.

    >>> print(escaped("δ = 1e-05 & more"))
    $\\delta$ = $10^{-5}$ \\& more
    """
    plain = "".join(map(_letter, value.replace("--", "-\0-"))).replace("\0", "{}")  # two hyphens, no dash

    def power(match: "re.Match[str]") -> str:
        head = "" if match[1] == "1" else f"{match[1]}\\cdot "
        return f"${head}10^{{{int(match[2])}}}$"

    return re.sub(r"(?<![\w.])(\d+(?:\.\d+)?)e([+-]?\d+)\b", power, plain)


def latex(found: list[Section]) -> str:
    """Paragraphs and tables, for any document class; no package is needed."""
    lines = ["% made by hockeystick"]
    for section in found:
        lines.append(f"\\subsection*{{{escaped(section.title)}}}")
        lines += [f"{{\\sloppy {_breakable(paragraph)}\\par}}\n" for paragraph in section.paragraphs]
        for first in range(0, len(section.rows), _ROWS):
            lines += _table(section.rows[first : first + _ROWS])
    return "\n".join(lines)


def _table(rows: list[tuple[str, str, str]]) -> list[str]:
    """A table of at most a few rows, so that pages can break between them; a row without a third cell has a wide second one."""
    wide = not any(how for _, _, how in rows)
    columns = r"p{.19\linewidth}p{.76\linewidth}" if wide else r"p{.19\linewidth}p{.3\linewidth}p{.42\linewidth}"
    lines = []
    for name, value, how in rows:
        second = _cell(value) if wide or how else rf"\multicolumn{{2}}{{@{{}}p{{.76\linewidth}}@{{}}}}{{{_cell(value)}}}"
        cells = [_cell(name), second, *([_cell(how)] if how and not wide else [])]
        lines.append(" & ".join(cells) + r" \tabularnewline")  # \\ ends a line of ragged text
    return [
        r"{\medskip\renewcommand{\arraystretch}{1.25}",
        rf"\noindent\begin{{tabular}}{{@{{}}{columns}@{{}}}}",
        r"\hline",
        *lines,
        r"\hline",
        r"\end{tabular}\par}",
        "",
    ]


def _cell(value: str) -> str:
    return f"\\raggedright {_breakable(value)}"


def _breakable(value: str) -> str:
    """Text for LaTeX whose long words, such as descriptions of releases, may be broken after their signs."""
    words = (
        re.sub(r"([(),=:]|\.(?=[a-z]))(?=\S)", r"\1\\allowbreak{}", word) if len(word) > 16 else word for word in value.split(" ")
    )
    marked = " ".join(words).replace("\\allowbreak{}", "\1")
    return escaped(marked).replace("\1", r"\allowbreak{}")
