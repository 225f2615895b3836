"""Runs of every mechanism and claim against exact laws: does every interval hold the truth?

`python scripts/truth_all.py` makes tests/data/truth_all.json anew; `scripts/campaign.py` tries random ones.  Each run asks for
epsilon_bounds and for log_delta_bounds.  The oracles are those of tests/exact.py; none uses the contour.
holds: balls decide that the truth lies within.  consistent: the oracle is a sandwich wider than the interval, and meets it.
undecided: no oracle was affordable, or balls too wide.  Intervals wider than promised are marked "wide".
"""

import itertools
import json
import math
import random
import sys
from fractions import Fraction
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "scripts")]

from flint import arb  # noqa: E402

import exact  # noqa: E402
import hockeystick as hs  # noqa: E402
from progress import bar  # noqa: E402

STORED = ROOT / "tests" / "data" / "truth_all.json"
POINTS = 4096


# ---------------------------------------------------------------- cases


def log_uniform(rng, low, high):
    return 10 ** rng.uniform(math.log10(low), math.log10(high))


def whole(rng, most):
    return int(log_uniform(rng, 1, most + 0.999))


ATOMIC = ("response", "pure", "approx", "dlaplace", "dgauss")
SMOOTH = ("laplace", "gaussian", "gdp")


def random_part(rng, mixed=False):
    """One mechanism with its count, as far as an oracle can follow."""
    kind = rng.choice(ATOMIC + ATOMIC + SMOOTH)
    part = {"kind": kind}
    if rng.random() < 0.5:
        part["rate"] = log_uniform(rng, 1e-4, 0.9)
    rate = "rate" in part
    if kind in ("response", "pure", "approx"):
        part["epsilon"] = log_uniform(rng, 0.01, 5)
        if kind == "response":
            part["categories"] = rng.choice((2, 2, 3, 4, 6, 10))
        if kind == "approx":
            part["delta"] = log_uniform(rng, 1e-30, 1e-2)
        two = kind == "pure" or part.get("categories") == 2 or (kind == "approx" and not rate)
        most = 10**6 if two else (500 if rate else 20_000)
    elif kind == "dlaplace":
        part.update(scale=log_uniform(rng, 0.3, 50), sensitivity=rng.randint(1, 5))
        most = (10**6 if part["sensitivity"] == 1 else 100) if rate else 100_000 // part["sensitivity"]
    elif kind == "dgauss":
        part.update(sigma=log_uniform(rng, 0.3, 50), sensitivity=rng.randint(1, 5))
        most = 60 if rate else max(2, min(500, int(2000 / part["sigma"])))
    elif kind == "laplace":
        part.update(scale=log_uniform(rng, 0.3, 50), sensitivity=rng.choice((1.0, 1.0, rng.uniform(1, 5))))
        most = 100 if rate or rng.random() < 0.3 else 12
    else:
        if kind == "gdp":
            part["mu"] = log_uniform(rng, 0.02, 3)
        else:
            part.update(sigma=log_uniform(rng, 0.3, 50), sensitivity=rng.choice((1.0, rng.uniform(1, 5))))
        most = rng.choice((1, 100)) if rate else 10**6
    part["count"] = whole(rng, min(most, 40) if mixed else most)
    return part


def random_case(rng):
    draw = rng.random()
    delta = log_uniform(rng, 1e-60, 0.1) if rng.random() < 0.4 else log_uniform(rng, 1e-12, 0.1)
    case = {"delta": delta, "stretch": rng.choice((rng.uniform(0.2, 1.3), rng.uniform(0.9, 1.1), -rng.random()))}
    if draw < 0.06:
        case["parts"] = [{"kind": "exponential", "epsilon": log_uniform(rng, 0.01, 5), "count": whole(rng, 10**4)}]
        if rng.random() < 0.3:
            case["parts"][0]["count"] = 1
        return case
    if draw < 0.11:
        case["parts"] = [{"kind": "zcdp", "rho": log_uniform(rng, 1e-4, 5), "count": whole(rng, 100)}]
        return case
    if draw < 0.14:
        orders = sorted(rng.uniform(1.1, 60) for _ in range(rng.randint(1, 6)))
        values = sorted(log_uniform(rng, 1e-3, 2) for _ in orders)
        case["parts"] = [{"kind": "rdp", "orders": orders, "values": values, "count": whole(rng, 20)}]
        return case
    if draw < 0.16:
        case["parts"] = [{"kind": "profile", "scale": log_uniform(rng, 0.5, 10), "count": rng.randint(1, 8)}]
        return case
    mixed = draw < 0.36
    case["parts"] = [random_part(rng, mixed) for _ in range(rng.randint(2, 3) if mixed else 1)]
    if all("rate" not in part for part in case["parts"]):
        if rng.random() < 0.15 and all(part["kind"] != "approx" for part in case["parts"]):
            case["neighbours"] = "replace"
    elif rng.random() < 0.3:
        case["neighbours"] = rng.choice(("add", "remove"))
    return case


def laplace_profile(a):
    return lambda x: 0.0 if x >= a else -math.expm1((x - a) / 2.0)


def mechanism(part):
    """The library's."""
    match part["kind"]:
        case "response":
            one = hs.RandomizedResponse(part["epsilon"], part["categories"])
        case "pure":
            one = hs.PureDP(part["epsilon"])
        case "approx":
            one = hs.ApproxDP(part["epsilon"], part["delta"])
        case "dlaplace":
            one = hs.DiscreteLaplace(part["scale"], part["sensitivity"])
        case "dgauss":
            one = hs.DiscreteGaussian(part["sigma"], part["sensitivity"])
        case "laplace":
            one = hs.Laplace(part["scale"], part["sensitivity"])
        case "gaussian":
            one = hs.Gaussian(part["sigma"], part["sensitivity"])
        case "gdp":
            one = hs.GDP(part["mu"])
        case "exponential":
            one = hs.Exponential(part["epsilon"])
        case "zcdp":
            one = hs.ZCDP(part["rho"])
        case "rdp":
            one = hs.RDP(orders=tuple(part["orders"]), values=tuple(part["values"]))
        case "profile":
            one = hs.Profile(laplace_profile(1.0 / part["scale"]))
    return one.poisson(rate=part["rate"]) if "rate" in part else one


def built(case):
    """The release that a case describes."""
    return hs.compose([mechanism(part) * part["count"] for part in case["parts"]])


def step(part, order, level):
    """The oracle's."""
    twice = 2 if order == "replace" else 1
    match part["kind"]:
        case "response":
            one = exact.response(part["epsilon"], part["categories"])
        case "pure":
            one = exact.replaced(part["epsilon"]) if order == "replace" else exact.response(part["epsilon"])
        case "approx":
            one = exact.response(part["epsilon"], 2, part["delta"])
        case "dlaplace":
            one = exact.discrete_laplace(part["scale"], part["sensitivity"] * twice)
        case "dgauss":
            depth = 50 - math.log(level) + math.log(part["count"])
            one = exact.discrete_gaussian(part["sigma"], part["sensitivity"] * twice, depth)
        case "laplace" | "profile":
            one = exact.laplace(arb(part.get("sensitivity", 1.0)) * twice / arb(part["scale"]))
        case "gaussian":
            one = exact.gaussian((arb(part["sensitivity"]) * twice / arb(part["sigma"])) ** 2)
        case "gdp":
            one = exact.gaussian((arb(part["mu"]) * twice) ** 2)
    return exact.sampled(one, part["rate"], order) if "rate" in part else one


class Truth:
    """delta(epsilon) as the largest of the ordered pairs' balls."""

    def __init__(self, case, level):
        exact.ctx.prec = exact.BITS
        relation = case.get("neighbours", "add-or-remove")
        orders = ("remove", "add") if relation == "add-or-remove" else (relation,)
        if all("rate" not in part for part in case["parts"]):
            orders = orders[:1]  # symmetric
        self.runs = []
        for order in orders:
            steps = [(step(part, order, level), part["count"]) for part in case["parts"]]
            self.runs.append(exact.Run(steps, level, POINTS))
        self.sandwich = any(run.way == "sandwich" for run in self.runs)
        self.ways = sorted({run.way for run in self.runs})

    def delta(self, epsilon):
        found = [run.delta(epsilon) for run in self.runs]
        return found[0] if len(found) == 1 else found[0].max(found[1])


# ---------------------------------------------------------------- verdicts


def joined(verdicts):
    for worst in ("violated", "undecided", "consistent"):
        if worst in verdicts:
            return worst
    return "holds"


def at_least(value, bound, loose):
    """value >= bound?"""
    if value >= bound:
        return "holds"
    if value < bound:
        return "violated"
    return "consistent" if loose else "undecided"


def exact_infinite(case):
    """P(Z = infinity) of the removal, or of both orders, as a fraction."""
    masses = []
    for part in case["parts"]:
        if part["kind"] == "approx":
            if "rate" not in part:
                masses.append((Fraction(part["delta"]), part["count"]))
            elif case.get("neighbours") != "add":
                masses.append((Fraction(part["delta"]) * Fraction(part["rate"]), part["count"]))
    return exact.infinite_mass(masses) if masses and sum(n for _, n in masses) < 5000 else None


def verdict_epsilon(case, bounds, truth):
    delta = arb(case["delta"])
    mass = exact_infinite(case)
    if math.isinf(bounds.lower):
        if mass is not None:
            return "holds" if Fraction(case["delta"]) < mass else "violated"
        return at_least(truth.delta(1e300 if truth.sandwich else 1e6), delta, False)
    if math.isinf(bounds.upper):  # nothing is claimed
        return at_least(truth.delta(bounds.lower), delta, truth.sandwich) if bounds.lower > 0.0 else "holds"
    verdicts = [at_least(delta, truth.delta(bounds.upper), truth.sandwich)]
    if bounds.lower > 0.0:
        verdicts.append(at_least(truth.delta(bounds.lower), delta, truth.sandwich))
    return joined(verdicts)


def verdict_delta(epsilon, bounds, truth):
    found = truth.delta(epsilon)
    verdicts = ["holds"]  # delta is between 0 and 1
    if bounds.lower > -math.inf:
        verdicts.append(at_least(found, arb(bounds.lower).exp(), truth.sandwich))
    if bounds.upper < 0.0:
        most = arb(bounds.upper).exp() if bounds.upper > -math.inf else exact.ZERO
        verdicts.append(at_least(most, found, truth.sandwich))
    return joined(verdicts)


LARGE = 650.0  # (order - 1) times a divergence, beyond which `optimal_delta` says nothing


def best_order(curve, epsilon):
    """The least optimal single-order conversion (Asoodeh et al. 2020, Theorem 3) at this epsilon, over many orders."""
    import numpy as np

    best = (1.0, 2.0)
    for place in np.concatenate((np.geomspace(1e-3, 1.0, 15), np.geomspace(1.0, 1e4, 40)[1:])):
        best = min(best, (optimal_delta(1 + float(place), curve(1 + float(place)), epsilon), 1 + float(place)))
    span = 0.5
    for _ in range(7):
        orders = [1 + (best[1] - 1) * math.exp(span * x / 6) for x in range(-6, 7)]
        best = min([best, *((optimal_delta(a, curve(a), epsilon), a) for a in orders)])
        span /= 5
    return best[0]


def optimal_delta(order, value, epsilon):
    """sup of E_Q (X - e^eps)+ over likelihood ratios X with E_Q X^order <= e^{(order-1) value}: two values x < 1 < y suffice."""
    cap = (order - 1) * value
    if not cap < LARGE:
        return 1.0

    def gain(x):
        """For a given lower value, the Q-mass w of the upper one and y follow from the two moments."""

        def moment(log_y):
            y = math.exp(log_y)
            return (1 - x) / (y - x) * math.expm1(order * log_y) + (1 - (1 - x) / (y - x)) * math.expm1(order * math.log(x))

        low, high = 0.0, min(700.0 / order, 700.0)
        if moment(high) < math.expm1(cap):
            low = high
        for _ in range(80):
            middle = 0.5 * (low + high)
            low, high = (middle, high) if moment(middle) < math.expm1(cap) else (low, middle)
        y = math.exp(high)
        return (1 - x) / (y - x) * (y - math.exp(epsilon)) if y > 1.0 else 0.0

    points = [math.exp(-math.exp(-30.0 + 0.35 * i)) for i in range(101)]
    best = max(range(len(points)), key=lambda i: gain(points[i]))
    left, right = -30.0 + 0.35 * max(0, best - 1), -30.0 + 0.35 * (best + 1)
    found = gain(points[best])
    for _ in range(45):
        a, b = left + 0.382 * (right - left), left + 0.618 * (right - left)
        one, two = gain(math.exp(-math.exp(a))), gain(math.exp(-math.exp(b)))
        found = max(found, one, two)
        left, right = (left, b) if one > two else (a, right)
    return max(found, 0.0)


def verdict_claim(case):
    """Claims that are not one pair: what is known of them must not be contradicted."""
    (part,) = case["parts"]
    run, delta, count = built(case), case["delta"], part["count"]
    bounds = run.epsilon_bounds(delta)
    match part["kind"]:
        case "exponential":
            e, verdicts, reached = part["epsilon"], [], exact.ZERO
            if count == 1:  # one use: the closed form is the truth

                def one(x):
                    a, x = arb(e), arb(x)
                    return exact.ZERO if x >= a else ((a / 2).exp() - (x / 2).exp()) ** 2 / (a.exp() - 1)

                verdicts = [at_least(arb(delta), one(bounds.upper), False)]
                if bounds.lower > 0:  # what a shift attains: at most the truth
                    verdicts.append(at_least(one(bounds.lower), arb(delta), False))
                return joined(verdicts), bounds
            shares, known = [n / 240 for n in range(1, 240)] + [1 - 10.0 ** (-n / 4) for n in range(6, 50)], []
            for _ in range(5):  # nearer and nearer to the best shift: a sawtooth, of which several teeth may be the highest
                for share in shares:
                    member = exact.Run([(exact.shift(e, share), count)], delta / 10)
                    verdicts.append(at_least(arb(delta), member.delta(bounds.upper), False))
                    at = member.delta(bounds.lower)
                    known.append((share, float(at.log()) if at > 0 else -1e9))
                    reached = reached.max(at)
                known.sort()
                teeth = sorted(range(len(known)), key=lambda n: -known[n][1])[:6]
                sides = [(known[max(0, n - 1)][0], known[min(len(known) - 1, n + 1)][0]) for n in teeth]
                shares = [left + (right - left) * n / 12 for left, right in sides for n in range(1, 12)]
            if bounds.lower > 0:
                verdicts.append(at_least(reached * (1 + arb(2e-2)), arb(delta), False))  # a sawtooth between the shifts tried
            return joined(verdicts), bounds
        case "zcdp":
            rho = part["rho"] * count
            gaussian = exact.Run([(exact.gaussian(2 * arb(part["rho"])), count)], delta / 10)
            verdicts = [at_least(arb(delta), gaussian.delta(bounds.upper), False)]
            if bounds.lower > 0:
                verdicts.append(at_least(gaussian.delta(bounds.lower), arb(delta), False))
            if delta > 1e-12 and 1e-300 < bounds.upper < 300:
                found = best_order(lambda a: a * rho, bounds.upper)
                verdicts.append("holds" if delta * (1 - 1e-4) <= found <= delta * (1 + 1e-6) else f"order {found / delta}")
            return joined(verdicts) if all(v in ("holds", "violated") for v in verdicts) else verdicts[-1], bounds
        case "rdp":
            if not (delta > 1e-12 and bounds.upper < 300):
                return "undecided", bounds
            points = [(1.0, 0.0)] + [(a, (a - 1) * v * count) for a, v in zip(part["orders"], part["values"], strict=True)]
            if points[-1][1] >= LARGE:  # the oracle knows nothing of the last order, which may be the best
                return "undecided", bounds

            def curve(a):
                for (left, y0), (right, y1) in itertools.pairwise(points):
                    if left <= a <= right:
                        return min(y0 + (a - left) / (right - left) * (y1 - y0), (a - 1) * y1 / (right - 1)) / (a - 1)
                return math.inf

            found = min([best_order(curve, bounds.upper), *(optimal_delta(a, curve(a), bounds.upper) for a in part["orders"])])
            if bounds.upper < 1e-300:
                return "holds" if found <= delta * (1 + 1e-6) else f"order {found / delta}", bounds
            return "holds" if delta * (1 - 1e-3) <= found <= delta * (1 + 1e-6) else f"order {found / delta}", bounds
    truth = Truth(case, delta / 10)  # profile: that of Laplace noise
    verdicts = [at_least(arb(delta), truth.delta(bounds.upper), False)]
    if bounds.lower > 0:
        verdicts.append(at_least(truth.delta(bounds.lower), arb(delta), False))
    return joined(verdicts), bounds


def promised(case, upper):
    """The width aimed at."""
    (part, *more) = case["parts"]
    lattice = not more and part["kind"] in ATOMIC and part["count"] <= 10**5
    if "rate" in part:
        lattice &= part["kind"] == "pure" or part.get("categories") == 2 or (
            part["kind"] == "dlaplace" and part["sensitivity"] == 1
        )  # fmt: skip
    return (1e-9 * upper + 1e-12) if lattice else (1e-5 * upper + 1e-9)


def examined(case):
    """(verdict for epsilon, verdict for log delta, bounds, truth or None)."""
    if case["parts"][0]["kind"] in ("exponential", "zcdp", "rdp", "profile"):
        found, bounds = verdict_claim(case)
        return found, "none", bounds, None
    run = built(case)
    relation = case.get("neighbours", "add-or-remove")
    bounds = run.epsilon_bounds(case["delta"], neighbours=relation)
    finite = math.isfinite(bounds.upper)
    case["epsilon"] = (bounds.upper if finite and bounds.upper > 0 else 0.5) * case["stretch"]
    log_delta = run.log_delta_bounds(case["epsilon"], neighbours=relation)
    guess = math.exp(max(min(log_delta.upper, log_delta.lower + 5.0), -700.0))
    deep = guess < 1e-75
    level = max(min(case["delta"], case["delta"] if deep else guess) / 10, 1e-90)
    truth = Truth(case, level)
    first = verdict_epsilon(case, bounds, truth)
    second = "undecided" if deep and truth.sandwich else verdict_delta(case["epsilon"], log_delta, truth)
    if finite and bounds.width > promised(case, bounds.upper):
        case["wide"] = bounds.width
    return first, second, bounds, truth


# ---------------------------------------------------------------- stored truths


def enclosed(case, bounds, truth):
    """Ends of epsilon and of log delta from the oracle alone (the library only says where to look)."""
    delta, found = arb(case["delta"]), {}
    if 0 < bounds.lower < bounds.upper < math.inf and not truth.sandwich:
        a, b = arb(bounds.lower), arb(bounds.upper)
        low, high = truth.delta(bounds.lower), truth.delta(bounds.upper)
        if low > high > 0:
            root = float((a + (b - a) * (low.log() - delta.log()) / (low.log() - high.log())).mid())
            for part in (1e-6, 1e-3, 0.1):
                gap = max(part * float(b - a), 4e-15 * root)
                ends = root - gap, root + gap
                if truth.delta(ends[0]) >= delta >= truth.delta(ends[1]):
                    found["epsilon_truth"] = [repr(x) for x in ends]
                    break
    elif truth.sandwich and math.isfinite(bounds.upper):
        for gap in (1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2):
            ends = bounds.lower * (1 - gap), bounds.upper * (1 + gap)
            if (ends[0] <= 0 or truth.delta(ends[0]) >= delta) and delta >= truth.delta(ends[1]):
                found["epsilon_truth"] = [repr(max(0.0, x)) for x in ends]
                break
    value = truth.delta(case["epsilon"])
    if value > 0:
        value = value.log()
        found["log_delta_truth"] = [f"{value.lower().str(25, radius=False)}", f"{value.upper().str(25, radius=False)}"]
    return found


def main(runs=150):
    rng, stored = random.Random(1), []
    while len(stored) < runs:
        case = random_case(rng)
        try:
            first, second, bounds, truth = examined(case)
        except exact.TooLarge:
            continue
        if truth is not None and "violated" not in (first, second):
            found = enclosed(case, bounds, truth)
            if len(found) == 2:
                case.pop("wide", None)
                case.pop("stretch", None)
                stored.append({**case, **found})
        bar(len(stored), runs, "stored")
    STORED.write_text("[\n" + ",\n".join(json.dumps(case) for case in stored) + "\n]\n")


if __name__ == "__main__":
    main()
