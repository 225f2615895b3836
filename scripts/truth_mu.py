"""mu, mu(delta) and trade-off curves of random runs against ball arithmetic.

    python scripts/truth_mu.py --runs 200 --seed 1

For each run: delta(eps) <= delta_mu(eps) with mu = upper, at our maximiser and at 32 random epsilons; delta(eps) >= delta_mu(eps)
with mu = lower at the maximiser; delta(eps) <= max(delta_mu(eps), d) for mu(delta=d); and, for each order, the trade-off curve
and the profile are duals: f(alpha) >= 1 - delta(eps) - e^eps alpha at random epsilons, and equal at the best to 1e-9.  The truth
of delta is that of `tests/exact.py` (laws, binomial sums, sandwiches), or for DP-SGD that of `tests/oracle.py`.
"""

import argparse
import json
import math
import random
import sys
from pathlib import Path

from flint import arb, ctx

import hockeystick as hs

ROOT = Path(__file__).parent.parent
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "scripts")]

import truth  # noqa: E402
import truth_all  # noqa: E402

import exact  # noqa: E402
import oracle  # noqa: E402

EPSILONS = 32


def gaussian_delta(mu, epsilon):
    """delta_mu(epsilon) as a ball."""
    mu, e = arb(mu), arb(epsilon)
    root = arb(2).sqrt()
    return ((e / mu - mu / 2) / root).erfc() / 2 - e.exp() * ((e / mu + mu / 2) / root).erfc() / 2


def random_case(rng):
    if rng.random() < 0.25:  # DP-SGD, mixed or not
        case = {
            "rate": 10 ** rng.uniform(-2.5, -0.05),
            "sigma": 10 ** rng.uniform(-0.1, 1.2),
            "steps": int(10 ** rng.uniform(1.5, 5)),
        }
        if rng.random() < 0.3:
            case["laplace"] = [10 ** rng.uniform(0.3, 1.5), rng.randint(1, 20)]
        if rng.random() < 0.3:
            case["gaussian"] = 10 ** rng.uniform(0, 1.5)
        case["delta"] = 10 ** rng.uniform(-12, -3)
        return case
    while True:
        case = truth_all.random_case(rng)
        case.pop("neighbours", None)
        kinds = {part["kind"] for part in case["parts"]}
        if kinds <= set(truth_all.ATOMIC + truth_all.SMOOTH) and all(part["count"] <= 300 for part in case["parts"]):
            return case


class Exact:
    """delta of each order from the laws themselves."""

    def __init__(self, case):
        self.release = truth_all.built(case)
        self.truths = {}
        for order in ("remove", "add"):
            found = truth_all.Truth({**case, "neighbours": order}, 1e-40)
            self.truths[order] = found
        self.loose = any(found.sandwich for found in self.truths.values())

    def delta(self, order, epsilon):
        return self.truths[order].delta(epsilon)


class Contours:
    """delta of each order along another contour."""

    loose = False

    def __init__(self, case):
        self.case, self.release = case, truth.built(case)

    def delta(self, order, epsilon):
        if epsilon >= self.release._run(order).ceiling:
            return arb(0)
        try:
            return truth.contour(self.case, order, epsilon).log_delta(epsilon).exp()
        except (oracle.Undecided, hs.loss.noise.TooFine, ValueError, ZeroDivisionError):
            return arb(0.5, 0.5)  # nothing is known


def judged(case, rng, points=EPSILONS):
    """A list of what is violated, and the number of comparisons that were decided and not."""
    ctx.prec = exact.BITS
    known = Contours(case) if "sigma" in case else Exact(case)
    run, bad, counts = known.release, [], [0, 0]

    def check(name, left, right):
        """left <= right?"""
        if left <= right:
            counts[0] += 1
        elif left > right:
            bad.append(name)
        else:
            counts[1] += 1

    def worst(epsilon):
        return known.delta("remove", epsilon).max(known.delta("add", epsilon))

    answer = run.gdp(tolerance=1e-6)
    reach = run.epsilon(delta=1e-12)
    if not 0.0 < reach < math.inf:  # the finite losses end there
        reach = min(run._run("add-or-remove").ceiling, 50.0)
    epsilons = [rng.uniform(0.0, 1.2) * reach for _ in range(points)]
    if 0.0 < answer.mu.upper < math.inf:
        for epsilon in [*epsilons, *([answer.epsilon] if answer.epsilon < math.inf else [])]:
            check(f"mu upper {epsilon}", worst(epsilon), gaussian_delta(answer.mu.upper, epsilon))
        if answer.epsilon < math.inf:
            check(f"mu lower {answer.epsilon}", gaussian_delta(answer.mu.lower, answer.epsilon), worst(answer.epsilon))
    level = case["delta"]
    short = run.gdp(delta=level, tolerance=1e-6)
    if 0.0 < short.mu.upper < math.inf:
        for epsilon in [*epsilons[: points // 2], short.epsilon]:
            check(f"mu(delta) upper {epsilon}", worst(epsilon), gaussian_delta(short.mu.upper, epsilon).max(arb(level)))
    for order in ("remove", "add"):
        for _ in range(2):
            alpha = 10 ** rng.uniform(-6, 0) if rng.random() < 0.5 else rng.random()
            beta = run.tradeoff_bounds(alpha, neighbours=order)
            for epsilon in epsilons[:4]:
                line = 1 - known.delta(order, epsilon) - arb(epsilon).exp() * arb(alpha)
                check(f"tradeoff upper {order} {alpha} {epsilon}", line, arb(beta.upper))
            if not known.loose:  # a sandwich is too wide to search on
                dual = best_line(known, order, alpha, reach)
                check(f"tradeoff lower {order} {alpha}", arb(beta.lower), dual + arb(1e-9))
    return bad, counts


def best_line(known, order, alpha, reach):
    """The largest 1 - delta(eps) - e^eps alpha found, by golden sections on the oracle: never above the truth."""
    other = {"remove": "add", "add": "remove"}[order]

    def line(epsilon):
        x = arb(epsilon).exp()
        if epsilon >= 0.0:
            return 1 - known.delta(order, epsilon) - x * arb(alpha)
        return x * (1 - arb(alpha) - known.delta(other, -epsilon))

    low, high = -3.0 * reach, 3.0 * reach
    ratio = 0.5 * (math.sqrt(5.0) - 1.0)
    a, b = high - ratio * (high - low), low + ratio * (high - low)
    fa, fb = line(a), line(b)
    best = fa.max(fb)
    for _ in range(60):
        if fa.mid() > fb.mid():
            high, b, fb = b, a, fa
            a = high - ratio * (high - low)
            fa = line(a)
        else:
            low, a, fa = a, b, fb
            b = low + ratio * (high - low)
            fb = line(b)
        best = best.max(fa).max(fb)
    return best


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--runs", type=int, default=200)
    options.add_argument("--seed", type=int, default=1)
    chosen = options.parse_args()
    rng = random.Random(chosen.seed)
    totals, violated = [0, 0], 0
    for done in range(1, chosen.runs + 1):
        case = random_case(rng)
        try:
            bad, counts = judged(case, rng)
        except exact.TooLarge:
            bad, counts = [], [0, 1]
        totals = [x + y for x, y in zip(totals, counts, strict=True)]
        violated += len(bad)
        for name in bad:
            print(f"\nVIOLATED: {name} {json.dumps(case)}")
        truth.progress(done, chosen.runs, f"holds {totals[0]}, undecided {totals[1]}, violated {violated}")
    print(f"\nholds {totals[0]}, undecided {totals[1]}, violated {violated}")
    return 1 if violated else 0


if __name__ == "__main__":
    sys.exit(main())
