"""Random finite pairs, composed and sampled, against exact enumeration in fractions.

    python scripts/truth_pairs.py [pairs] [seed]        500 pairs by default; prints every violation and how wide the widest was

The oracle enumerates all products of the pair's outcomes by counts, in fractions, and compares with e^epsilon as an interval of
fractions from a series of its own: no logarithm, and no code of the library.
"""

import itertools
import math
import random
import sys
from fractions import Fraction

import hockeystick as hs

Law = dict[Fraction, tuple[Fraction, Fraction]]
"""p and q of the outcomes by their likelihood ratio; None stands for what p has alone."""


def exp_ends(x: Fraction) -> tuple[Fraction, Fraction]:
    """Fractions on both sides of e^x, about 1e-40 apart relative to it: the series of a small part of x, squared."""
    halvings = max(0, math.ceil(math.log2(abs(float(x)) + 1e-300)) + 4)
    small, term, total = x / 2**halvings, Fraction(1), Fraction(1)
    for k in range(1, 40):
        term = term * small / k
        total += term
    off = abs(term)
    low, high = total - off, total + off
    for _ in range(halvings):
        low, high = low * low, high * high
        low = Fraction(math.floor(low * 2**220), 2**220)
        high = Fraction(math.ceil(high * 2**220), 2**220)
    return low, high


def delta_ends(p: list[Fraction], q: list[Fraction], steps: int, epsilon: float) -> tuple[Fraction, Fraction]:
    """Both ends of the sum of (p - e^epsilon q)+ over all sequences of so many outcomes."""
    below, above = exp_ends(Fraction(epsilon))
    low = high = Fraction(0)
    for counts in _compositions(steps, len(p)):
        ways = math.factorial(steps) // math.prod(math.factorial(n) for n in counts)
        first = ways * math.prod((x**n for x, n in zip(p, counts, strict=True)), start=Fraction(1))
        second = ways * math.prod((x**n for x, n in zip(q, counts, strict=True)), start=Fraction(1))
        low += max(Fraction(0), first - above * second)
        high += max(Fraction(0), first - below * second)
    return low, high


def _compositions(steps: int, parts: int):
    for bars in itertools.combinations(range(steps + parts - 1), parts - 1):
        ends = [-1, *bars, steps + parts - 1]
        yield [after - before - 1 for before, after in itertools.pairwise(ends)]


def drawn(rng: random.Random) -> tuple[list[Fraction], list[Fraction]]:
    """Two distributions: masses of like and unlike sizes, equal ones, and outcomes that only one of them has."""
    size = rng.randint(2, 5)
    found = []
    for _ in range(2):
        spread = rng.choice((1.0, 1.0, 3.0, 12.0))
        masses = [Fraction(rng.randint(1, 1000)) * Fraction(10) ** -round(rng.uniform(0.0, spread)) for _ in range(size)]
        if rng.random() < 0.3:
            masses[rng.randrange(size)] = Fraction(0)
        found.append([one / sum(masses) for one in masses])
    p, q = found
    if rng.random() < 0.3:  # nearly the same
        share = Fraction(1, 10 ** rng.randint(1, 9))
        p = [share * one + (1 - share) * other for one, other in zip(p, q, strict=True)]
    return (p, q) if any(one and other for one, other in zip(p, q, strict=True)) and p != q else drawn(rng)


def checked(rng: random.Random) -> tuple[list[str], float]:
    """One random pair, by itself and on a sample, at some epsilons: what is wrong, and the widest interval of delta."""
    p, q = drawn(rng)
    pair, steps = hs.Pair(p, q), rng.randint(1, 6)
    rate = rng.choice((1.0, rng.uniform(0.01, 0.9)))
    run = (pair if rate == 1.0 else pair.poisson(rate)) * steps
    share = Fraction(rate)
    mixed = [share * one + (1 - share) * other for one, other in zip(p, q, strict=True)]
    laws = {"remove": (mixed, q), "add": (q, mixed)}
    wrong, widest = [], 0.0
    for epsilon in (0.0, rng.uniform(-1.0, 1.0), rng.expovariate(0.5)):
        for order, (first, second) in laws.items():
            low, high = delta_ends(first, second, steps, epsilon)
            found = run.delta_bounds(epsilon, neighbours=order)
            if not (Fraction(found.lower) <= high and low <= Fraction(found.upper)):
                wrong.append(f"{run!r} {order} delta({epsilon!r}): {found} against {float(low)!r}")
            if high > Fraction(1, 10**12):
                widest = max(widest, found.width / float(high))
    for delta in (1e-2, 1e-5, 10.0 ** rng.uniform(-12, -1)):
        for order, (first, second) in laws.items():
            ends = run.epsilon_bounds(delta, neighbours=order)
            if ends.upper < 600.0 and delta_ends(first, second, steps, ends.upper)[0] > Fraction(delta):
                wrong.append(f"{run!r} {order} epsilon({delta!r}): {ends} is too low")
            before = math.nextafter(ends.lower, 0.0)
            if 0.0 < ends.lower < 600.0 and delta_ends(first, second, steps, before)[1] < Fraction(delta):
                wrong.append(f"{run!r} {order} epsilon({delta!r}): {ends} is too high")
    return wrong, widest


def main(words: list[str]) -> int:
    pairs, seed = (int(words[0]) if words else 500), (int(words[1]) if len(words) > 1 else 1)
    rng, wrong, widest = random.Random(seed), [], 0.0
    for _ in range(pairs):
        found, width = checked(rng)
        wrong += found
        widest = max(widest, width)
    print("\n".join(wrong))
    print(f"{pairs} pairs, {len(wrong)} violations; the widest interval of delta: {widest:.2g} of delta")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
