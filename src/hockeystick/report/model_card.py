"""A report as a block of a model card, as Hugging Face and others show them."""

import math
from typing import TYPE_CHECKING

from .answers import current_version, listed
from .methods import steps
from .numbers import given, up_text
from .words import neighbouring

if TYPE_CHECKING:
    from .report import Report


def model_card(report: "Report") -> str:
    """Markdown to paste below the card's other sections; the tags go into the card's head."""
    about, epsilon = report.about, report.epsilon["upper"]
    relation = f"{neighbouring(report.release, report.neighbours)} ({report.neighbours})"
    stated = [
        ("Data set", about.dataset),
        ("Unit of privacy", about.unit or "not stated (one record)"),
        ("Neighbouring data sets", relation),
        ("Epsilon", "none is finite" if math.isinf(epsilon) else f"{up_text(epsilon, 3)}, rounded up"),
        ("Delta", given(report.at)),
        ("Sampling", report.sampler),
        ("Mechanisms", listed(steps(report.release, report.neighbours))),
        ("Run", f"`{report.release!r}`"),
        ("Accountant", f"hockeystick {current_version()}; {report.methods['epsilon']}"),
        ("Purpose", about.purpose),
        ("Answered for by", ", ".join(filter(None, [about.author, about.date]))),
    ]
    rows = [f"| {name} | {_cell(value)} |" for name, value in stated if value]
    return "\n".join(
        [
            "<!-- in the head of the card: tags: [differential-privacy] -->",
            "## Differential privacy",
            "",
            _escaped(report.statement),
            "",
            "| | |",
            "|---|---|",
            *rows,
            "",
            "### What it means",
            "",
            *(f"* {_escaped(one)}" for one in report.meaning),
            "",
            "### Assumptions",
            "",
            *(f"* {_escaped(one)}" for one in report.assumptions),
        ]
    )


def _cell(value: str) -> str:
    return _escaped(value).replace("|", "\\|")


def _escaped(value: str) -> str:
    """Text in which no tag begins."""
    return value.replace("<", "&lt;")
