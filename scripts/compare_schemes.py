"""One training run under every way of drawing batches: the table of docs/sampling.md and its picture, docs/schemes.png.

python scripts/compare_schemes.py            # a few seconds; the picture needs matplotlib
"""

from pathlib import Path
from typing import Any, NamedTuple

import hockeystick as hs
from hockeystick.report.numbers import down_text, up_text

DOCS = Path(__file__).resolve().parent.parent / "docs"
PAGE, PICTURE = DOCS / "sampling.md", DOCS / "schemes.png"
BEGIN, END = "<!-- schemes -->\n", "\n<!-- end of schemes -->"
EXAMPLES, BATCH, SIGMA, EPOCHS, DELTA, RELATION = 60_000, 256, 1.1, 15, 1e-5, "zero-out"
STEPS = -(-EXAMPLES // BATCH)  # of an epoch
BANDS = 10


class Row(NamedTuple):
    """A scheme, what it is here, and both ends of epsilon."""

    scheme: str
    what: str
    low: float
    high: float
    tight: bool


def runs() -> dict[str, tuple[str, Any]]:
    """The run under each scheme, and what it says in Python."""
    step, rate, steps = hs.Gaussian(sigma=SIGMA), BATCH / EXAMPLES, STEPS * EPOCHS
    grouped = step.poisson(rate=BANDS * rate).banded(bands=BANDS, iterations=steps)
    return {
        "random allocation, drawn anew each epoch": (f"`.allocated(steps={STEPS})`", step.allocated(steps=STEPS) * EPOCHS),
        "Poisson": ("`.poisson(rate)`", step.poisson(rate=rate) * steps),
        "Poisson, at most 320 a batch": (
            "`.truncated_poisson(rate, cap=320, examples)`",
            step.truncated_poisson(rate=rate, cap=320, examples=EXAMPLES) * steps,
        ),
        "Poisson, at most 300 a batch": (
            "`.truncated_poisson(rate, cap=300, examples)`",
            step.truncated_poisson(rate=rate, cap=300, examples=EXAMPLES) * steps,
        ),
        f"noise correlated by {BANDS} bands, Poisson in {BANDS} groups": (
            f"`.poisson({BANDS} * rate).banded(bands={BANDS}, iterations)`",
            grouped,
        ),
        "fixed size, without replacement": (
            "`.without_replacement(batch, examples)`",
            step.without_replacement(batch=BATCH, examples=EXAMPLES) * steps,
        ),
        "random allocation, drawn once": (
            f"`.allocated(steps={STEPS}, kept={EPOCHS})`",
            step.allocated(steps=STEPS, kept=EPOCHS),
        ),
        "fixed size, with replacement": (
            "`.with_replacement(draws, examples)`",
            step.with_replacement(draws=BATCH, examples=EXAMPLES) * steps,
        ),
        "shuffled passes": (f'`.full_pass(by="shuffle", steps={STEPS})`', step.full_pass(by="shuffle", steps=STEPS) * EPOCHS),
        "passes in a fixed order": ('`.full_pass(by="position")`', step.full_pass(by="position") * EPOCHS),
        "all records in every step": ("no sampler", step * steps),
    }


def row(scheme: str) -> Row:
    what, run = runs()[scheme]
    bounds = run.epsilon_bounds(DELTA, RELATION)
    return Row(scheme, what, bounds.lower, bounds.upper, bounds.tight)


def numbers(one: Row) -> str:
    """Epsilon as the table and the picture have it."""
    high = up_text(one.high, 4)
    return high if one.tight else f"{down_text(one.low, 4)} to {high}" if one.low else f"at most {high}"


def line(one: Row) -> str:
    return f"| {one.scheme} | {one.what} | {numbers(one)} | {'exact' if one.tight else 'between'} |"


def draw(rows: list[Row]) -> None:
    from matplotlib.figure import Figure

    from hockeystick.report.figures.style import BLACK, BLUE, GREY

    figure = Figure(figsize=(8.6, 4.9), layout="constrained")
    axes = figure.add_subplot()
    least = 0.7
    for place, one in enumerate(reversed(rows)):
        if not one.tight:
            known = one.low > 0.0
            axes.plot(
                [one.low if known else least, one.high], [place] * 2, color=BLUE, linewidth=3, solid_capstyle="butt", alpha=0.45
            )
            axes.plot([one.high], [place], marker="|", color=BLUE, markersize=13, markeredgewidth=2)
            if known:
                axes.plot([one.low], [place], marker="|", color=BLUE, markersize=13, markeredgewidth=2)
        else:
            axes.plot([one.high], [place], marker="o", color=BLACK, markersize=7)
        axes.annotate(numbers(one), (one.high, place), (9, 0), textcoords="offset points", va="center", fontsize=9)
    axes.plot([], [], marker="o", color=BLACK, linestyle="", label="exact: some data set attains it")
    axes.plot([], [], color=BLUE, linewidth=3, alpha=0.45, label="the truth lies in between")
    axes.set_xscale("log")
    axes.set_xlim(least, 9000.0)
    axes.set_ylim(-0.6, len(rows) - 0.4)
    axes.set_yticks(range(len(rows)), [one.scheme for one in reversed(rows)], fontsize=9)
    axes.set_xticks([1, 3, 10, 30, 100, 300, 1000], ["1", "3", "10", "30", "100", "300", "1000"])
    axes.grid(axis="x", color=GREY, alpha=0.3)
    axes.set_axisbelow(True)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    axes.set_xlabel(f"epsilon at delta = {DELTA:g}, a record zeroed out")
    axes.set_title(f"{EPOCHS} epochs of {EXAMPLES:,} examples, batches of {BATCH}, noise multiplier {SIGMA}", fontsize=11)
    axes.legend(loc="lower right", fontsize=9, frameon=False, bbox_to_anchor=(1.0, 0.55))
    figure.savefig(PICTURE, dpi=150)


def main() -> None:
    rows = [row(scheme) for scheme in runs()]
    table = "\n".join(["| batches | the step | epsilon | |", "|---|---|---|---|", *map(line, rows)])
    text = PAGE.read_text(encoding="utf-8")
    head, rest = text.split(BEGIN)
    _, tail = rest.split(END)
    PAGE.write_text(head + BEGIN + table + END + tail, encoding="utf-8")
    draw(rows)


if __name__ == "__main__":
    main()
