"""The true answers of the published cases: `python -m bench.truths` (the environment of the tests) writes bench/truths.json.

In ball arithmetic along another contour (tests/oracle.py) or from closed forms and exact laws; where no oracle tells enough
digits, our own certified interval, and the file says so.  The answers are [lower, upper] in decimal digits.
"""

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from .cases import CASES, Case

ROOT = Path(__file__).resolve().parent.parent
STORED = Path(__file__).parent / "truths.json"
Ends = list[str]


def known() -> dict[str, dict[str, Any]]:
    """By the name of a case: {"by": ..., "answers": [[lower, upper], ...]}."""
    return json.loads(STORED.read_text(encoding="utf-8"))


def found(case: Case) -> dict[str, Any]:
    """The truths of one case."""
    if case.ask == "calibrate":
        return {"by": "balls", "answers": [_sigma(case)]}
    if case.ask == "sweep":
        rows = [_epsilon(Case(case.name, case.group, (use,), case.delta)) for use in case.uses]
        return {"by": "balls" if all(row[0] == "balls" for row in rows) else "our interval", "answers": [row[1] for row in rows]}
    by, ends = _epsilon(case)
    return {"by": by, "answers": [ends]}


def _epsilon(case: Case) -> tuple[str, Ends]:
    """Enclosed where delta, in balls, is above the target on one side and below it on the other."""
    from flint import arb

    from .peers import OURS

    ((low, high),) = OURS.answers(case)
    profile = _profile(case, high)
    goal = arb(case.delta)
    if profile is not None:
        middle, gap = 0.5 * (low + high), max(0.5 * (high - low), 1e-15 * high)
        for wider in (1.0, 2.0, 4.0):
            ends = middle - wider * gap, middle + wider * gap
            if profile(ends[0]) > goal > profile(ends[1]):
                return "balls", _narrowed(profile, goal, *ends)
    return "our interval", [repr(low), repr(high)]


def _narrowed(profile: Callable[[Any], Any], goal: Any, low: float, high: float) -> Ends:
    """A few secant steps of log delta, then both ends."""
    from flint import arb

    a, b = arb(low), arb(high)
    for _ in range(3):
        fa, fb = (profile(a) / goal).log().mid(), (profile(b) / goal).log().mid()
        root = ((a * fb - b * fa) / (fb - fa)).mid()
        for part in (1e-9, 1e-6, 1e-3):
            near = arb(part) * (b - a)
            left, right = (root - near).mid(), (root + near).mid()
            if profile(left) > goal > profile(right):
                a, b = left, right
                break
        else:
            break
    return [a.lower().str(25, radius=False), b.upper().str(25, radius=False)]


def _profile(case: Case, near: float) -> Callable[[Any], Any] | None:
    """delta(epsilon) in balls close to an epsilon: both orders, the larger."""
    from flint import arb, ctx

    import closed
    import exact
    import oracle
    from hockeystick.loss.contour.contour import Saddle

    from .peers import _release

    ctx.prec = 400
    uses = case.uses
    if len(uses) == 1 and uses[0][0] == "gaussian" and uses[0][2] == 1.0:
        return lambda e: closed.gaussian_delta(arb(uses[0][3]).sqrt() / arb(uses[0][1]), e)
    if len(uses) == 1 and uses[0][3] == 1:
        kind, level, rate, _ = uses[0]
        if kind == "laplace":
            return lambda e: (-((arb(e) - 1 / arb(level)) / 2).expm1()).max(arb(0))
        return lambda e: closed.sampled_delta(rate, level, e, "remove").max(closed.sampled_delta(rate, level, e, "add"))
    if len(uses) == 1 and uses[0][0] == "pure":
        run = exact.Run([(exact.response(uses[0][1]), uses[0][3])])
        return lambda e: run.delta(e)
    if len(uses) == 1 and uses[0][0] == "laplace" and uses[0][3] <= 12:
        return lambda e: exact._pieces(1 / arb(uses[0][1]), uses[0][3], float(e.mid()) if isinstance(e, arb) else e)
    contours = []
    for order in ("remove", "add"):
        parts = []
        square = sum((n / arb(level) ** 2 for kind, level, rate, n in uses if kind == "gaussian" and rate == 1.0), arb(0))
        if square > 0:
            parts.append(oracle.Part("gaussian", square.sqrt(), 0.0, 1))
        for kind, level, rate, n in uses:
            if kind == "laplace":
                parts.append(oracle.Part("laplace", 1 / arb(level), 0.0, n))
            elif rate < 1.0:
                parts.append(oracle.Part(order, level, rate, n))
        hint = Saddle.of_epsilon(_release(uses)._run(order), near)
        try:
            contours.append(oracle.Contour(parts, near, hint.c, hint.width, hint.log_delta))
        except oracle.Undecided:
            return None
    return lambda e: contours[0].log_delta(e).exp().max(contours[1].log_delta(e).exp())


def _sigma(case: Case) -> Ends:
    """Both ends of the smallest sigma, by bisecting decimals about our own until the balls tell no more."""
    from .peers import OURS

    _, _, rate, steps = case.uses[0]
    ((_, ours),) = OURS.answers(case)

    def enough(sigma: float) -> bool | None:
        """delta(epsilon) <= delta with this sigma?"""
        from flint import arb

        trial = Case(case.name, case.group, (("gaussian", sigma, rate, steps),), case.delta)
        profile = _profile(trial, case.epsilon)
        if profile is None:
            return None
        value = profile(case.epsilon)
        return True if value <= arb(case.delta) else False if value > arb(case.delta) else None

    low, high = ours * (1.0 - 2e-9), ours * (1.0 + 1e-12)
    if enough(low) is not False or enough(high) is not True:
        raise ArithmeticError(f"our sigma {ours!r} of {case.name} is not the truth")
    for _ in range(24):
        middle = 0.5 * (low + high)
        told = enough(middle)
        if told is None:
            break
        low, high = (low, middle) if told else (middle, high)
    return [repr(low), repr(high)]


def main() -> None:
    sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "scripts"), str(ROOT / "src")]
    from progress import bar

    rows = {}
    for place, case in enumerate(CASES):
        bar(place, len(CASES), case.name)
        rows[case.name] = found(case)
    STORED.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")
    bar(len(CASES), len(CASES), "done")
    for name, row in rows.items():
        if row["by"] != "balls":
            print(f"by our interval: {name}")


if __name__ == "__main__":
    main()
