"""docs/accuracy.md from what was measured: `python -m bench.page`.  A test checks that the page is what this gives."""

import json
import math
import statistics
from pathlib import Path
from typing import Any

from . import report
from .harness import ROOT
from .memory import BAR
from .verdicts import OURS

RESULTS = Path(__file__).parent / "results"
TEMPLATE = Path(__file__).parent / "accuracy.md"
PAGE = ROOT / "docs" / "accuracy.md"
NOTHING = "Not measured yet."
CLASSES = {"loss": "the loss's distribution", "rdp": "Rényi divergences", "limit": "a central limit theorem"}
KINDS = {
    "closed": "conversions and closed forms",
    "order": "order of the bounds",
    "contour": "DP-SGD, mixed or not (contour)",
    "lattice": "every mechanism and claim (lattice)",
    "mu": "mu and trade-off curves",
}


def _table(head: list[str], rows: list[list[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _cell(row: dict[str, Any] | None) -> str:
    if row is None or "skipped" in row:
        return ""
    if "failed" in row:
        return "failed"
    return f"{_short(row['ratio'])} x, {'**below**' if row['below'] else format(row['digits'], '.1f')}"


def summary(results: dict[str, Any]) -> str:
    """One row an accountant: how often it is below the truth, how close it is otherwise, how long it takes."""
    rows = []
    for name in (OURS, *results["peers"]):
        given = [case["rows"][name] for case in results["cases"].values() if name in case["rows"]]
        answered = [row for row in given if "answers" in row]
        if not answered:
            continue
        safe = [row["digits"] for row in answered if not row["below"]]
        ratios = [row["ratio"] for row in answered if "ratio" in row]
        times = f"{_short(math.exp(statistics.fmean(map(math.log, ratios))))} x" if ratios else "1"
        below = sum(bool(row["below"]) for row in answered)
        version = f" {results['peers'][name]['version']}" if name in results["peers"] else ""
        kind = CLASSES[results["peers"][name]["kind"]] if name in results["peers"] else "the loss, certified"
        failed = sum("failed" in row for row in given)
        cells = [str(len(answered)), str(failed), f"**{below}**" if below else "0"]
        rows.append([f"{name}{version}", kind, *cells, f"{statistics.median(safe):.1f}" if safe else "", times])
    head = ["accountant", "what it follows", "answered", "failed", "below the truth", "certified digits", "time"]
    return _table(head, rows)


def _short(value: float) -> str:
    """Two digits, without an exponent."""
    near = float(f"{value:.2g}")
    return f"{near:,.0f}" if near >= 10.0 else f"{near:g}"


def bench(results: dict[str, Any]) -> str:
    """One row a case; accountants of a kind together, so that a table fits a page."""
    parts = []
    for kinds, title in (
        (("loss",), "Accountants of the loss's distribution"),
        (("rdp", "limit"), "Rényi accountants, and a limit"),
    ):
        peers = [name for name, one in results["peers"].items() if one["kind"] in kinds]
        if not peers:
            continue
        rows = []
        for name, case in results["cases"].items():
            ours = case["rows"][OURS]
            told = f"{case['group']}: {name}"
            if "seconds" not in ours:
                rows.append([told, "", f"failed: {ours.get('failed')}", *([""] * len(peers))])
                continue
            truth = report.number(case["truth"][0][1]) if case["truth"] else ""
            cells = [_cell(case["rows"].get(peer)) for peer in peers]
            rows.append([told, truth, f"{report.time_of(ours['seconds'])}, {ours['digits']:.1f}", *cells])
        parts.append(f"### {title}\n\n{_table(['case', 'truth', 'ours', *peers], rows)}")
    legend = (
        "Ours: time and certified digits. For every peer: how many times our time it takes, and its certified digits; **below**: "
        "its answer is below the truth; empty: it has no words for the case; failed: an error, no number, or no answer in time "
        "(`make bench` says which)."
    )
    return "\n\n".join([legend, *parts, "![Time of every answer](bench.png)"])


def bars(results: dict[str, Any]) -> str:
    """What was promised beforehand, and what does not hold."""
    return f"{report.unmet(results)}\n\n{report.setting(results)}"


def own(results: dict[str, Any]) -> str:
    """Questions that no peer answers."""
    rows = [[name, f"{value:.3g}"] for name, value in results["milliseconds"].items()]
    some = results["settings"]
    return (
        f"{some['count']} random DP-SGD settings: epsilon's interval takes {some['median']:.3g} ms in the middle and "
        f"{some['95%']:.3g} ms at the 95th percentile. A sweep answers {results['configurations a second in a sweep']:.0f} "
        f"configurations a second on one core. In a new process, modules of Python itself included, "
        f"it takes {results['first answer']:.0f} ms from `import hockeystick` to epsilon of a DP-SGD run.\n\n"
        + _table(["question", "ms"], rows)
    )


def memory(results: dict[str, Any]) -> str:
    """Peaks, the largest first."""
    base = results.get("nothing", {}).get("peak", 0.0)
    asked = [(name, row) for name, row in results.items() if name != "nothing"]
    good = sorted((one for one in asked if "failed" not in one[1]), key=lambda one: -one[1]["peak"])
    rows = [[name, f"{row['peak']:.0f}", f"{row['arrays']:.0f}"] for name, row in good]
    rows += [[name, f"failed: {row['failed']}", ""] for name, row in asked if "failed" in row]
    above = [name for name, row in good if row["peak"] > BAR]
    told = f"The bar of {BAR:.0f} MB does not hold for: {'; '.join(above)}.\n\n" if above else ""
    return told + (
        "Peak memory in MB of a process that asks one question, and how much of it Python and NumPy allocated for that (modules "
        f"loaded on the way included); a process that has only imported NumPy and the library has {base:.0f} MB.\n\n"
        + _table(["question", "process", "allocated"], rows)
    )


def campaign(results: dict[str, Any]) -> str:
    """Counts, violations, the widest interval with its input."""
    rows, wide, bad = [], [], 0
    for kind, words in KINDS.items():
        tally = results["tallies"][kind]
        compared, inputs = tally["comparisons"], tally["inputs"]
        violated = inputs.get("violated", 0) + inputs.get("failed", 0)
        bad += violated
        unknown = sum(inputs.get(one, 0) for one in ("undecided", "no oracle", "too long"))
        rows.append(
            [
                words,
                f"{results['goals'][kind]:,}",
                f"{tally['next']:,}",
                f"{inputs.get('holds', 0):,}",
                f"{inputs.get('consistent', 0):,}",
                f"{unknown:,}",
                f"{violated:,}",
                f"{compared.get('holds', 0) + compared.get('consistent', 0):,}",
            ]
        )
        wide += [[*row, kind] for row in tally["widest"]]
    text = _table(
        ["kind", "goal", "inputs", "hold", "within a sandwich", "not decided", "violated", "comparisons that hold"], rows
    )
    verdict = "No violation is left." if not bad else f"**{bad} violations are left.**"
    for row in results.get("fixed", []):
        verdict += f" Found by it and fixed: number {row['place']} of kind `{row['kind']}`, `{json.dumps(row['case'])}`."
    text = (
        f"{verdict} Truths in ball arithmetic; 'within a sandwich': the oracle's own interval is wider than ours and meets it."
        f"\n\n{text}"
    )
    if wide:
        share, lower, upper, place, case, kind = max(wide, key=lambda row: row[0])
        text += (
            f"\n\nThe widest interval of epsilon relative to its upper end, {share:.2g}, from {lower!r} to {upper!r}, is number "
            f"{place} of kind `{kind}`:\n\n```json\n{json.dumps(case)}\n```"
        )
        decades: dict[str, int] = {}
        for tally in results["tallies"].values():
            for decade, count in tally["decades"].items():
                decades[decade] = decades.get(decade, 0) + count
        ordered = sorted(decades, key=lambda one: math.inf if one == "0" else -float(one))
        total = sum(decades.values())
        text += "\n\n" + _table(
            ["relative width at most", "intervals", "share"],
            [[one, f"{decades[one]:,}", f"{100.0 * decades[one] / total:.2g}%"] for one in reversed(ordered)],
        )
    return text


def text() -> str:
    """The page."""
    page = TEMPLATE.read_text(encoding="utf-8")
    for make, source in (
        (summary, "bench"),
        (bench, "bench"),
        (bars, "bench"),
        (own, "own"),
        (memory, "memory"),
        (campaign, "campaign"),
    ):
        name = make.__name__
        path = RESULTS / f"{source}.json"
        page = page.replace(f"{{{name}}}", make(json.loads(path.read_text(encoding="utf-8"))) if path.exists() else NOTHING)
    return page


def main() -> None:
    PAGE.write_text(text(), encoding="utf-8")


if __name__ == "__main__":
    main()
