"""Shared by the tests of composition and sampling: curves, random pairs, and bounds that lie closely above their truth."""

from mpmath import mp, mpf

SHARP = 2e-14  # the certified margins


def zcdp(rho):
    return lambda order: rho * order


def above(value, truth, most=SHARP):
    """Not below the truth, and at most `most` above it (or two subnormal steps)."""
    assert mpf(value) >= truth * (1 - mpf(1e-60))  # what 80 digits may have added
    assert mpf(value) <= truth * (1 + mpf(most)) + 2 * mpf(5e-324)


def spread(rng, low, high):
    return 10.0 ** rng.uniform(low, high)


def renyi(first, second, order):
    """D_order of two lists of probabilities."""
    return mp.log(mp.fsum(a**order * b ** (1 - order) for a, b in zip(first, second, strict=True))) / (order - 1)


def pair(rng):
    size = rng.randrange(2, 5)
    both = []
    for _ in range(2):
        weights = [mpf(spread(rng, -3, 0)) for _ in range(size)]
        both.append([weight / mp.fsum(weights) for weight in weights])
    return both


def both_ways(first, second):
    """The curve of a pair for adding or removing: the larger direction."""
    return lambda order: float(max(renyi(first, second, mpf(order)), renyi(second, first, mpf(order))) * (1 + mpf(1e-15)))


def mixed(first, second, rate):
    return [mpf(rate) * a + (1 - mpf(rate)) * b for a, b in zip(first, second, strict=True)]
