"""Random calibrations of every parameter to every target: `python scripts/calibrations.py 100 [SEED [MINUTES]]`.

Each answer must meet its target, and one part in 1e8 (whole numbers: one) toward more loss must not.  Prints what fails, and how
many evaluations were needed.  Where the interval of the measure is wider than 1e-9, the second demand is not made, and counted.
"""

import math
import random
import sys
import time
from collections import Counter
from collections.abc import Callable
from typing import Any

import hockeystick as hs
from hockeystick.planning.target import Target
from progress import bar

Maker = Callable[[Any], hs.Gaussian]


def _parameters(r: random.Random) -> dict[str, tuple[Maker, Any]]:
    rate, steps = 10 ** r.uniform(-2.5, -0.5), round(10 ** r.uniform(2, 4))
    sigma, scale = 10 ** r.uniform(0.3, 1.3), 10 ** r.uniform(0, 1.5)
    return {
        "sigma": (lambda s: hs.Gaussian(sigma=s) * steps, None),
        "sigma, sampled": (lambda s: hs.Gaussian(sigma=s).poisson(rate=rate) * steps, None),
        "rate": (lambda q: hs.Gaussian(sigma=sigma).poisson(rate=q) * steps, None),
        "steps": (lambda n: hs.Gaussian(sigma=10 * sigma).poisson(rate=rate) * n, 1),
        "sensitivity": (lambda s: hs.Gaussian(sigma=sigma, sensitivity=s), None),
        "scale": (lambda b: hs.Laplace(scale=b), None),
        "epsilon": (lambda e: hs.PureDP(epsilon=e) * round(scale), None),
        "examples": (lambda n: hs.Gaussian(sigma=sigma).without_replacement(batch=10, examples=n) * 100, 1000),
    }


def _targets(r: random.Random) -> list[dict[str, float]]:
    prior, fpr = r.uniform(0.2, 0.8), 10 ** r.uniform(-3, -1)
    return [
        {"epsilon": 10 ** r.uniform(-1, 1), "delta": 10 ** r.uniform(-8, -4)},
        {"mu": 10 ** r.uniform(-1, 0.5), "delta": 1e-6},
        {"rho": 10 ** r.uniform(-2, 0.5)},
        {"advantage": r.uniform(0.02, 0.6)},
        {"tpr": fpr + (1 - fpr) * r.uniform(0.01, 0.5), "fpr": fpr},
        {"bayes_risk": min(prior, 1 - prior) * r.uniform(0.3, 0.95), "prior": prior},
    ]


def main(times: int, seed: int = 0, slow: bool = True, minutes: float = math.inf) -> int:
    """How many failed, of so many of each parameter and target, or as many as the time allows."""
    found: Counter[str] = Counter()
    r, begin, done = random.Random(seed), time.monotonic(), 0
    while done < times and time.monotonic() - begin < 60.0 * minutes:
        targets = _targets(r)
        for name, (make, start) in _parameters(r).items():
            for words in targets:
                if not slow and "mu" in words:
                    continue
                found["asked"] += 1
                found[_outcome(name, make, start, words)] += 1
        done += 1
        if times > 1:
            bar(done, times, ", ".join(f"{count} {word}" for word, count in found.items()))
    print(f"{done} of each parameter and target:", dict(found))
    return found["FAILED"]


def _outcome(name: str, make: Maker, start: Any, words: dict[str, float]) -> str:
    target = Target.of(**words)
    began = time.perf_counter()
    try:
        value = hs.calibrate(make, start, **words)
    except hs.Unreachable:
        return "unreachable"
    took = time.perf_counter() - began
    if took > 10.0:
        print(f"slow, {took:.1f} s: {name} {words}", flush=True)
    if not target.holds(make(value)):
        print(f"NOT MET: {name} {words} {value!r}", flush=True)
        return "FAILED"
    around = [value - 1, value + 1] if type(value) is int else [value * (1 - 1e-8), value * (1 + 1e-8)]
    if any(_beyond(target, make, one) for one in around):
        return "met, and no less"
    print(f"not the best: {name} {words} {value!r}", flush=True)
    return "met, not the best"


def _beyond(target: Target, make: Maker, value: Any) -> bool:
    try:
        return not target.holds(make(value))
    except hs.BadValue:
        return True


if __name__ == "__main__":
    chosen = [float(word) for word in sys.argv[1:]] + [100.0, 0.0, math.inf][len(sys.argv) - 1 :]
    raise SystemExit(main(int(chosen[0]), int(chosen[1]), minutes=chosen[2]) > 0)
