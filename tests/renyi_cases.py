"""Shared by the tests of Rényi conversions: random arguments, and bounds that lie closely above their truth."""

import random

CLOSE = 5e-14


def cases(seed, count):
    rng = random.Random(seed)
    for _ in range(count):
        order = rng.choice([1.0 + 10.0 ** rng.uniform(-9, 6), 1.0 + 10.0 ** rng.uniform(-2, 3), 2.0, 1.0 + 1e-9, 1e6])
        epsilon = rng.choice([0.0, 10.0 ** rng.uniform(-12, 4), 10.0 ** rng.uniform(-3, 1.5)])
        small = 10.0 ** -rng.choice([rng.uniform(0, 12), rng.uniform(0, 300)])
        close = (1.0 - 10.0 ** -rng.uniform(0, 13)) / order
        delta = rng.choice([small, small, close, 1.0 - 10.0 ** -rng.uniform(0, 9)])
        yield order, epsilon, min(max(delta, 1e-300), 1.0 - 1e-9)


def check_up(found, truth, scale=None):
    assert truth <= found <= truth + CLOSE * (abs(truth) if scale is None else scale)
