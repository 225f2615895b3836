"""A report as a block of a model card, as Hugging Face and others show them."""

import math
from typing import TYPE_CHECKING

from .answers import current_version, listed
from .methods import steps
from .numbers import given, up_text
from .render import for_markdown
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
        ("Run", f"`{report.release!r}`".replace("|", "\\|")),
        ("Accountant", f"hockeystick {current_version()}; {report.methods['epsilon']}"),
        ("Purpose", about.purpose),
        ("Answered for by", ", ".join(filter(None, [about.author, about.date]))),
    ]
    rows = [f"| {name} | {value if name == 'Run' else for_markdown(value)} |" for name, value in stated if value]
    return "\n".join(
        [
            "<!-- in the head of the card: tags: [differential-privacy] -->",
            "## Differential privacy",
            "",
            for_markdown(report.statement),
            "",
            "| | |",
            "|---|---|",
            *rows,
            "",
            "### What it means",
            "",
            *(f"* {for_markdown(one)}" for one in report.meaning),
            "",
            "### Assumptions",
            "",
            *(f"* {for_markdown(one)}" for one in report.assumptions),
        ]
    )
