"""The picture at the head of the README: what accountants report, against the truth.

`python -m bench.pictures` draws docs/accuracy.png from bench/results/bench.json.
"""

import json
import math
from pathlib import Path
from typing import Any

from .harness import ROOT
from .verdicts import OURS

PICTURE = ROOT / "docs" / "accuracy.png"
SHOWN = (
    "q=0.004267 sigma=1.1 T=3510 delta=1e-05",
    "q=0.01 sigma=1.1 T=10000 delta=1e-05",
    "q=0.001 sigma=0.6 T=100000 delta=1e-06",
    "q=0.0001 sigma=0.4 T=1e+06 delta=1e-08",
    "q=0.5 sigma=10 T=1000 delta=1e-10",
    "q=0.1 sigma=100 T=1e+06 delta=1e-06",
    "q=0.01 sigma=2 T=50000 delta=1e-12",
    "q=0.01 sigma=1 T=1000 delta=1e-30",
    "sigma=20 T=1000 delta=1e-13",
)
"""Cases of `bench/cases.py`: the first two are everyday ones, the others long, heavily sampled, or of a small delta."""

MARKERS = {
    "dp_accounting PLD": ("o", "#0072b2"),
    "dp_accounting RDP": ("o", "#e69f00"),
    "prv_accountant": ("s", "#0072b2"),
    "Opacus PRV": ("D", "#0072b2"),
    "Opacus RDP": ("D", "#e69f00"),
    "autodp": ("^", "#e69f00"),
    "Opacus GDP": ("D", "#cc79a7"),
    "fourier-accountant": ("v", "#0072b2"),
}
"""By what they follow: blue the distribution of the loss, orange Rényi divergences, purple a central limit theorem."""
LEAST, MOST = 1e-13, 3.0


def deviations(results: dict[str, Any]) -> dict[str, dict[str, float]]:
    """By case and accountant, how far its epsilon is from the truth, as a share of it; infinity if it reports that."""
    found: dict[str, dict[str, float]] = {}
    for name in SHOWN:
        case = results["cases"][name]
        truth = float(case["truth"][0][1])
        answers = {peer: row["answers"][0][1] for peer, row in case["rows"].items() if "answers" in row}
        found[name] = {peer: float(told) / truth - 1.0 for peer, told in answers.items() if peer in (OURS, *MARKERS)}
    return found


def named(case: str) -> str:
    """A case in words."""
    words = dict(word.split("=") for word in case.split())
    steps = f"{float(words['T']):,.0f} steps"
    rate = f"rate {words['q']}, " if "q" in words else "no sampling, "
    return f"{rate}σ {words['sigma']}, {steps}, δ {words['delta']}"


def accuracy(results: dict[str, Any], path: Path) -> None:
    """Each accountant's deviation from the truth, case by case; what is left of the middle promises too much."""
    from matplotlib.figure import Figure

    found = deviations(results)
    figure = Figure(figsize=(10.0, 5.3))
    axes = figure.add_axes((0.335, 0.225, 0.65, 0.64))
    axes.set_xscale("symlog", linthresh=LEAST, linscale=0.5)
    axes.set_xlim(-MOST, MOST * 6.0)
    axes.axvspan(-MOST, -LEAST, color="#d55e00", alpha=0.13, linewidth=0.0)
    axes.axvline(0.0, color="#000000", linewidth=1.0, zorder=1.0)
    for place, values in enumerate(found.values()):
        y = len(found) - 1 - place
        for peer, value in values.items():
            if peer == OURS:
                axes.plot(value, y, "*", color="#000000", markersize=15.0, zorder=4.0)
                continue
            marker, colour = MARKERS[peer]
            at = value if math.isfinite(value) else MOST * 3.0
            face = colour if value >= 0.0 else "#ffffff"
            axes.plot(at, y, marker, color=colour, markerfacecolor=face, markersize=7.0, markeredgewidth=1.6, zorder=3.0)
            if not math.isfinite(value):
                axes.annotate("∞", (at, y), xytext=(7, 0), textcoords="offset points", va="center", fontsize=10)
    axes.set_yticks(range(len(found)), [named(case) for case in reversed(found)], fontsize=9.5)
    axes.set_ylim(-0.6, len(found) - 0.4)
    places = [10.0**power for power in (-9, -6, -3, 0)]
    axes.set_xticks(
        [*(-one for one in reversed(places)), 0.0, *places],
        [*("−100%", "−0.1%", "−10⁻⁶", "−10⁻⁹"), "truth", *("10⁻⁹", "10⁻⁶", "0.1%", "100%")],
        fontsize=9.5,
    )
    axes.minorticks_off()
    axes.grid(visible=True, color="#dddddd", linewidth=0.6)
    axes.set_axisbelow(True)
    for side in ("top", "right", "left"):
        axes.spines[side].set_visible(False)
    axes.tick_params(length=0)
    axes.set_xlabel("reported epsilon, against the true one", fontsize=10.5)
    top = len(found) - 0.25
    axes.text(-1e-7, top, "promises more privacy than there is", ha="center", va="bottom", fontsize=10, color="#b04a00")
    axes.text(1e-7, top, "safe, and the further the more wasteful", ha="center", va="bottom", fontsize=10, color="#444444")
    handles = [axes.plot([], [], "*", color="#000000", markersize=13.0, label=OURS)[0]]
    for peer, (marker, colour) in MARKERS.items():
        handles.append(axes.plot([], [], marker, color=colour, markersize=7.0, label=peer)[0])
    figure.legend(handles=handles, loc="lower center", ncols=5, fontsize=9.5, frameon=False, handletextpad=0.3)
    figure.text(0.012, 0.945, "What accountants report for DP-SGD, against the true epsilon", fontsize=12.5, weight="bold")
    figure.savefig(path, dpi=150, metadata={"Software": None})


def main() -> None:
    """Draw it anew."""
    results = json.loads((Path(__file__).parent / "results" / "bench.json").read_text(encoding="utf-8"))
    accuracy(results, PICTURE)


if __name__ == "__main__":
    main()
