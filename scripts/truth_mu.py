"""mu, mu(delta) and trade-off curves of random runs against ball arithmetic (`scripts/campaign.py mu`).

For each run: delta(eps) <= delta_mu(eps) with mu = upper, at our maximiser and at 32 random epsilons; delta(eps) >= delta_mu(eps)
with mu = lower at the maximiser; delta(eps) <= max(delta_mu(eps), d) for mu(delta=d); and, for each order, the trade-off curve
and the profile are duals: f(alpha) >= 1 - delta(eps) - e^eps alpha at random epsilons, and equal at the best (which the library
may tell: a wrong one would fail) to 1e-9.  "Loose" counts errors whose two ends are a millionth of the smaller error apart or
more; an upper end that is far above the dual is counted, too (delta is known no better there).

The truth of delta is that of `tests/exact.py` (laws, binomial sums, sandwiches), or for DP-SGD that of `tests/oracle.py`.
"""

import math
import sys
from pathlib import Path

from flint import arb, ctx
from scipy.special import ndtri

ROOT = Path(__file__).parent.parent
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "scripts")]

import exact  # noqa: E402
import oracle  # noqa: E402
import truth  # noqa: E402
import truth_all  # noqa: E402
from closed import gaussian_delta  # noqa: E402
from hockeystick.loss.protocol import Inconclusive  # noqa: E402

EPSILONS = 32
MOST = 60  # steps of a part other than DP-SGD's


def random_case(rng, most=3):
    if rng.random() < 0.25:  # DP-SGD, mixed or not
        case = {
            "rate": 10 ** rng.uniform(-2.5, -0.05),
            "sigma": 10 ** rng.uniform(-0.1, 1.2),
            "steps": int(10 ** rng.uniform(0.7, 5)),
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
        if len(case["parts"]) > most:
            continue
        kinds = {part["kind"] for part in case["parts"]}
        if kinds <= set(truth_all.ATOMIC + truth_all.SMOOTH) and all(part["count"] <= MOST for part in case["parts"]):
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
        self.laid = {"remove": [], "add": []}  # contours, and the epsilons they were made for

    def delta(self, order, epsilon):
        if epsilon >= self.release._run(order).ceiling:
            return arb(0)
        near = sorted(self.laid[order], key=lambda one: abs(one[0] - epsilon))[:2]
        for _, contour in near:  # one contour serves a neighbourhood: the ball tells
            found = contour.log_delta(epsilon)
            if found.is_finite() and found.rad() < 1e-14:
                return found.exp()
        try:
            contour = truth.contour(self.case, order, epsilon)
        except (oracle.Undecided, Inconclusive, ValueError, ZeroDivisionError):
            return arb(0.5, 0.5)  # nothing is known
        self.laid[order].append((epsilon, contour))
        found = contour.log_delta(epsilon).exp()
        return found if found.is_finite() else arb(0.5, 0.5)


def judged(case, rng, points=EPSILONS):
    """A list of what is violated, and the numbers of comparisons that were decided and not, and of loose curves."""
    ctx.prec = exact.BITS
    known = Contours(case) if "sigma" in case else Exact(case)
    run, bad, counts = known.release, [], [0, 0, 0, 0]

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
            (lower, upper), _, place = run._test(order)[0](alpha)
            counts[2] += upper - lower > 1e-6 * min(upper, 1.0 - upper) > 0.0
            best = best_epsilon(run, alpha, place)
            for epsilon in [*epsilons[:4], best]:
                check(f"tradeoff upper {order} {alpha} {epsilon}", line(known, order, alpha, epsilon), arb(upper))
            if not known.loose:  # a sandwich is too wide to decide this
                dual = line(known, order, alpha, best) + arb(1e-9)
                check(f"tradeoff lower {order} {alpha}", arb(lower), dual)
                counts[3] += not arb(upper) <= dual
    return bad, counts


def line(known, order, alpha, epsilon):
    """1 - delta(eps) - e^eps alpha in balls."""
    x = arb(epsilon).exp()
    if epsilon >= 0.0:
        return 1 - known.delta(order, epsilon) - x * arb(alpha)
    return x * (1 - arb(alpha) - known.delta({"remove": "add", "add": "remove"}[order], -epsilon))


def best_epsilon(run, alpha, found):
    """Where the library has the largest of these."""
    if not math.isnan(found):
        return found
    mu = run.mu()  # Gaussian noise alone
    return -mu * float(ndtri(alpha)) - 0.5 * mu * mu
