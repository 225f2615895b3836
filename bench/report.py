"""The results as Markdown and as one picture."""

import math
from pathlib import Path
from typing import Any

from .verdicts import OURS


def number(text: str) -> str:
    """Nine digits of an answer."""
    value = float(text)
    return "inf" if math.isinf(value) else f"{value:.9g}"


def time_of(seconds: float) -> str:
    """In a unit that fits."""
    return f"{1e3 * seconds:.3g} ms" if seconds < 1.0 else f"{seconds:.3g} s"


def side(row: dict[str, Any]) -> str:
    """Where the answer lies, in a word."""
    if row["below"]:
        return "**below the truth**" if len(row["answers"]) == 1 else f"**{row['below']} below the truth**"
    return "no finite answer" if row["away"] is None else "above" if row["away"] > 1e-12 else "the truth"


def _row(peer: str, row: dict[str, Any], rounds: int) -> str:
    if "answers" not in row:
        return f"| {peer} | | | | | {'failed: ' + row['failed'] if 'failed' in row else 'not asked: ' + row['skipped']} |"
    answer = number(row["answers"][0][1]) if len(row["answers"]) == 1 else f"{len(row['answers'])} answers"
    ratio = f"{row['ratio']:.3g}" if "ratio" in row else ""
    few = "" if row["rounds"] >= rounds else f" (median of {row['rounds']})"
    return f"| {peer} | {time_of(row['seconds'])}{few} | {ratio} | {answer} | {row['digits']:.1f} | {side(row)} |"


def unmet(results: dict[str, Any]) -> str:
    """The bars that do not hold, first of all."""
    text = "Every bar holds on every case measured."
    if results["unmet"]:
        text = "Bars that do not hold:\n\n" + "\n".join(f"* {line}" for line in results["unmet"])
    if results["unmet cold"]:
        text += (
            "\n\nIn each turn other questions come before the one that is compared. The first of them finds the caches as the "
            "other processes left them, which tells on answers of some microseconds. Bars that would not hold if that one were "
            "compared:\n\n" + "\n".join(f"* {line}" for line in results["unmet cold"])
        )
    return text


def tables(results: dict[str, Any]) -> str:
    """A table for each case."""
    parts = []
    for name, case in results["cases"].items():
        truth = f" The truth: {number(case['truth'][0][1])}" if case["truth"] else " The truth is known for each setting"
        source = "in ball arithmetic" if case["by"] == "balls" else "by our own certified interval"
        rows = "\n".join(_row(peer, row, results["rounds"]) for peer, row in case["rows"].items())
        head = "| accountant | time | times ours | answer | certified digits | |\n|---|---|---|---|---|---|"
        parts.append(f"### {case['group']}: {name}\n\n{truth.strip()}, {source}.\n\n{head}\n{rows}")
    return "\n\n".join(parts)


def setting(results: dict[str, Any]) -> str:
    """Where, when, with what."""
    peers = ", ".join(f"{name} {one['version']}" for name, one in results["peers"].items())
    missing = f" Not installed, so skipped: {', '.join(results['missing'])}." if results["missing"] else ""
    means = "; ".join(
        f"{kind} class: {results['means'][key]:.3g} times"
        for key, kind in (("loss", "PLD and PRV"), ("rdp", "Rényi"))
        if key in results["means"]
    )
    note = f"\n\n**{results['note']}**" if results.get("note") else ""
    return (
        f"{results['date']}, {results['machine']}, Python {results['python']}, NumPy {results['numpy']}, "
        f"SciPy {results['scipy']}; {peers}.{missing} "
        f"Geometric mean of the ratios of time: {means or 'none measured'}.{note}"
    )


def markdown(results: dict[str, Any]) -> str:
    """The whole report."""
    return f"# Against the peers\n\n{unmet(results)}\n\n{setting(results)}\n\n{tables(results)}\n"


def picture(results: dict[str, Any], path: Path) -> None:
    """Time of every answer by case; crosses are below the truth."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    names = list(results["cases"])
    peers = [OURS, *results["peers"]]
    figure, axes = plt.subplots(figsize=(10.0, 1.6 + 0.3 * len(names)))
    for place, peer in enumerate(peers):
        colour = "black" if peer == OURS else f"C{(place - 1) % 10}"
        for below, marker in ((False, "o"), (True, "x")):
            points = [
                (row["seconds"], len(names) - 1 - y)
                for y, name in enumerate(names)
                if "answers" in (row := results["cases"][name]["rows"].get(peer, {})) and bool(row["below"]) is below
            ]
            if points:
                axes.scatter(*zip(*points, strict=True), marker=marker, color=colour, s=40 if peer == OURS else 28, zorder=3)
        axes.scatter([], [], marker="o", color=colour, label=peer)
    axes.scatter([], [], marker="x", color="grey", label="below the truth")
    axes.set_xscale("log")
    axes.set_yticks(range(len(names)), [f"{results['cases'][name]['group']}: {name}" for name in reversed(names)], fontsize=7)
    axes.set_xlabel("seconds for one answer, one core")
    axes.grid(axis="both", alpha=0.3)
    axes.legend(fontsize=7, loc="upper left", bbox_to_anchor=(1.0, 1.0))
    figure.savefig(path, dpi=110, bbox_inches="tight", metadata={"Software": None})
    plt.close(figure)
