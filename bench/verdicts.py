"""What the numbers say: digits, the side of the truth, ratios, and which bars do not hold.

Certified digits are those that an upper end shares with the truth, -log10 of the relative distance, at most 16; an end below the
truth is no bound and has none.  The bars: never below the truth; more certified digits than the peer (or at least 12); at least
50 times as fast as PLD- and PRV-class answers on each case and 500 times in the geometric mean, at least 10 times as fast as
Rényi-class answers.  An answer from the central limit theorem is no bound: its time has no bar.
"""

import math
import statistics
from fractions import Fraction
from typing import Any

OURS = "hockeystick"
BARS = {"loss": 50.0, "rdp": 10.0}
MEAN = 500.0
ENOUGH = 12.0  # digits: more of them say nothing
_EXACT = 16.0
_ROUNDING = Fraction(1, 10**12)  # an answer of a peer so little below is not held against it
Ends = list[str]


def distance(upper: str, truth: Ends) -> tuple[float, bool]:
    """Relative distance of an upper end from the truth, the safe side of its interval, and whether it is below it."""
    found = float(upper)
    low, high = Fraction(truth[0]), Fraction(truth[1])
    if math.isinf(found):
        return math.inf, False
    end = Fraction(upper)
    scale = abs(high) or Fraction(1)
    if end < low:
        return float((high - end) / scale), True
    return float(max(end - low, Fraction(0)) / scale), False


def digits(away: float) -> float:
    """-log10, from 0 to 16."""
    return _EXACT if away <= 0.0 else min(_EXACT, max(0.0, -math.log10(away)))


def judged(row: dict[str, Any], truths: list[Ends], strict: bool) -> dict[str, Any]:
    """The worst of a row's answers: certified digits, how far off, and how many are below the truth."""
    found = [distance(ends[1], truth) for ends, truth in zip(row["answers"], truths, strict=True)]
    below = sum(is_below and (strict or away > _ROUNDING) for away, is_below in found)
    worst = max(away for away, _ in found)
    return {"away": worst if worst < math.inf else None, "below": below, "digits": 0.0 if below else digits(worst)}


def completed(results: dict[str, Any], truths: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """The results with ratios, digits and sides, and with `unmet`: the bars that do not hold, in words; `unmet cold`: those of
    time that would not, with the first question of each turn in place of the second."""
    unmet: list[str] = []
    cold: list[str] = []  # times that would not do if the first questions of the turns were compared
    ratios: dict[str, list[float]] = {}
    for name, case in results["cases"].items():
        rows = case["rows"]
        truth = truths[name]
        case["truth"], case["by"] = truth["answers"] if len(truth["answers"]) == 1 else [], truth["by"]
        ours = rows[OURS]
        if "seconds" not in ours:
            unmet.append(f"{name}: hockeystick {ours.get('failed') or ours.get('skipped')}")
            continue
        for peer, row in rows.items():
            if "answers" not in row:
                continue
            row |= judged(row, truth["answers"], peer == OURS)
            if peer != OURS:
                row["ratio"], row["cold ratio"] = row["seconds"] / ours["seconds"], row["cold"] / ours["cold"]
        if ours["below"]:
            unmet.append(f"{name}: hockeystick is below the truth")
        for peer, row in rows.items():
            if peer == OURS or "ratio" not in row:
                continue
            kind = results["peers"][peer]["kind"]
            if kind in BARS:
                ratios.setdefault(kind, []).append(row["ratio"])
                for ratio, lines in ((row["ratio"], unmet), (row["cold ratio"], cold)):
                    if ratio < BARS[kind]:
                        lines.append(f"{name}: {ratio:.3g} times as fast as {peer}, not {BARS[kind]:g}")
            if ours["digits"] <= row["digits"] and ours["digits"] < ENOUGH:
                unmet.append(f"{name}: {ours['digits']:.1f} certified digits, {peer} has {row['digits']:.1f}")
    results["means"] = {kind: statistics.geometric_mean(found) for kind, found in ratios.items()}
    if results["means"].get("loss", math.inf) < MEAN:
        unmet.insert(
            0, f"all cases: {results['means']['loss']:.3g} times as fast as PLD and PRV in the geometric mean, not {MEAN:g}"
        )
    results["unmet"], results["unmet cold"] = unmet, [line for line in cold if line not in unmet]
    return results
