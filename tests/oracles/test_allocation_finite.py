"""Random allocation of finite pairs against all outcomes of an epoch, listed with exact fractions."""

import math
from collections import Counter
from fractions import Fraction
from itertools import product

import mpmath
import numpy as np
import pytest

import hockeystick as hs


def merged(masses):
    """(B, A) masses by their ratio; what either has alone."""
    by_ratio, alone = Counter(), [Fraction(0), Fraction(0)]
    for b, a in masses:
        if not a:
            alone[0] += b
        elif not b:
            alone[1] += a
        else:
            by_ratio[b / a] += a
    found = [(ratio * a, a) for ratio, a in by_ratio.items()]
    return [*found, (alone[0], Fraction(0)), (Fraction(0), alone[1])]


def listed(p, q, steps):
    """Every outcome of an epoch with its mass under the mean over j of Q..P..Q (P at j) and under Q^T."""
    for outcome in product(range(len(p)), repeat=steps):
        a = math.prod(q[x] for x in outcome)
        b = sum(math.prod(p[x] if i == j else q[x] for i, x in enumerate(outcome)) for j in range(steps))
        yield Fraction(b) / steps, Fraction(a)


def composed(epoch, epochs):
    found = epoch
    for _ in range(epochs - 1):
        found = merged((b * bb, a * aa) for b, a in found for bb, aa in epoch)
    return found


def deltas(masses, level):
    return sum(max(b - level * a, 0) for b, a in masses), sum(max(a - level * b, 0) for b, a in masses)


def masses(rng, count):
    """Random ones, some of them zero or equal."""
    while True:
        drawn = [int(x) for x in rng.integers(0, 6, count)]
        if sum(drawn):
            return [Fraction(x, sum(drawn)) for x in drawn]


def settings(count):
    rng = np.random.default_rng(29)
    found = []
    while len(found) < count:
        size, steps, epochs = int(rng.integers(2, 4)), int(rng.integers(1, 6)), int(rng.integers(1, 3))
        p, q = masses(rng, size), masses(rng, size)
        if p != q and any(x and y for x, y in zip(p, q, strict=True)):
            found.append((p, q, min(steps, 4) if size == 3 else steps, epochs))
    return found


def test_every_delta_of_random_pairs():
    for p, q, steps, epochs in settings(40):
        run = hs.Pair(p, q).allocated(steps=steps) * epochs
        truth = composed(merged(listed(p, q, steps)), epochs)
        for level in (Fraction(1), Fraction(9, 8), Fraction(5, 2)):
            epsilon = math.log(float(level))
            for relation, delta in zip(("remove", "add"), deltas(truth, level), strict=True):
                found = run.delta_bounds(epsilon, relation)
                where = (p, q, steps, epochs, level, relation, delta, found)
                assert found.lower <= float(delta) * (1.0 + 1e-14) + 1e-300, where
                assert float(delta) * (1.0 - 1e-14) <= found.upper + 1e-15, where
                assert found.upper - found.lower <= 1e-8 * found.upper + 1e-12, where


def test_a_kept_draw_is_one_epoch_of_the_composed_step():
    p, q = (Fraction(1, 2), Fraction(1, 4), Fraction(1, 4)), (Fraction(1, 4), Fraction(1, 4), Fraction(1, 2))
    both = [[x * y for x in one for y in one] for one in (p, q)]
    truth = merged(listed(*both, 2))
    run = hs.Pair(p, q).allocated(steps=2, kept=2)
    for level in (Fraction(1), Fraction(3, 2)):
        for relation, delta in zip(("remove", "add"), deltas(truth, level), strict=True):
            found = run.delta_bounds(math.log(float(level)), relation)
            assert found.lower <= float(delta) * (1.0 + 1e-14)
            assert float(delta) <= found.upper * (1.0 + 1e-14)


def response_delta(epsilon, delta, steps, level, removal):
    """Of the pair of (epsilon, delta)-DP: over how many answers were each value, in high precision."""
    with mpmath.workdps(60):
        e, d = mpmath.e ** mpmath.mpf(epsilon), mpmath.mpf(delta)
        q = [d, (1 - d) * e / (1 + e), (1 - d) / (1 + e)]  # of the ratios 0, 1/e, e
        total = d if removal else mpmath.mpf(0)
        for none in range(steps + 1):
            for high in range(steps - none + 1):
                low = steps - none - high
                ways = mpmath.binomial(steps, none) * mpmath.binomial(steps - none, high)
                mass = ways * q[0] ** none * q[1] ** low * q[2] ** high
                mean = (low / e + high * e) / steps
                total += mass * max(mean - level if removal else 1 - level * mean, 0)
        return total


@pytest.mark.parametrize(("epsilon", "delta", "steps"), [(1.0, 0.0, 64), (0.3, 1e-6, 40), (5.0, 1e-3, 12), (40.0, 0.0, 9)])
def test_claims_and_responses_by_their_values(epsilon, delta, steps):
    run = (hs.ApproxDP(epsilon, delta) if delta else hs.RandomizedResponse(epsilon)).allocated(steps=steps)
    for asked in (0.0, 0.05, 0.4):
        for relation in ("remove", "add"):
            truth = response_delta(epsilon, delta, steps, mpmath.e ** mpmath.mpf(asked), relation == "remove")
            found = run.delta_bounds(asked, relation)
            assert found.lower <= truth <= found.upper, (asked, relation)
            assert found.upper - found.lower <= 1e-9 * found.upper


def test_largest_losses():
    assert hs.RandomizedResponse(0.7).allocated(steps=20).epsilon(0.0) == pytest.approx(0.7, rel=1e-14)
    assert (hs.PureDP(0.7).allocated(steps=20, kept=3) * 4).epsilon(0.0) == pytest.approx(8.4, rel=1e-14)
    assert hs.ApproxDP(0.7, 1e-6).allocated(steps=20).epsilon(1e-7) == math.inf


def test_renyi_divergences_of_whole_orders():
    """E L^2 = 1 + chi^2 / T, whatever the step."""
    high = 1.0 / (1.0 + math.exp(-1.0))
    squares = high * math.e + (1.0 - high) / math.e - 1.0  # the sum of p^2/q, less 1
    for step, chi in ((hs.RandomizedResponse(1.0), squares), (hs.Pair(("2/3", "1/3"), ("1/2", "1/2")), 1.0 / 9.0)):
        for steps in (1, 7, 100):
            truth = math.log1p(chi / steps)
            assert step.allocated(steps=steps).rdp(2.0, "remove") == pytest.approx(truth, rel=1e-9)


def test_one_step_is_the_step_itself():
    for step in (hs.RandomizedResponse(0.8, 3), hs.DiscreteLaplace(2.0, 2), hs.Pair(("2/3", "1/3"), ("1/2", "1/2"))):
        for relation in ("remove", "add"):
            one, other = step.allocated(steps=1).delta_bounds(0.1, relation), step.delta_bounds(0.1, relation)
            assert one.lower <= other.upper
            assert other.lower <= one.upper
            assert math.isclose(one.upper, other.upper, rel_tol=1e-12)
