"""Gaussian noise at a random distance, and (xi, rho)-zCDP: against their definitions in many digits, and against relatives."""

import math

import mpmath as mp
import pytest

import hockeystick as hs

CASES = [
    (2.0, (0, 1, 2), (0.81, 0.18, 0.01)),
    (1.0, (0, 1, 2), (0.2, 0.6, 0.2)),
    (0.05, (0, 0.1, 5), (0.5, 0.3, 0.2)),  # a far component
    (1.0, (0, 3), (1e-12, 1 - 1e-12)),
    (1.0, (0, 10, 100), (0.9, 0.05, 0.05)),
    (3.0, (0, 1, 1.5, 2), (0.99, 0.005, 0.004, 0.001)),
]


def truth(epsilon, sigma, moves, weights, order):
    """delta of one step: a half-line in the output, found by bisection in 50 digits."""
    total = mp.fsum(map(mp.mpf, weights))
    pairs = [(mp.mpf(w) / total, mp.mpf(m) / mp.mpf(sigma)) for m, w in zip(moves, weights, strict=True)]
    e = mp.mpf(epsilon)

    def log_ratio(y):
        return mp.log(mp.fsum(w * mp.exp(m * y - m * m / 2) for w, m in pairs))

    def right(y):
        return mp.fsum(w * mp.ncdf(m - y) for w, m in pairs)

    def left(y):
        return mp.fsum(w * mp.ncdf(y - m) for w, m in pairs)

    def right_of_opposite(y):
        return mp.fsum(w * mp.ncdf(-m - y) for w, m in pairs)

    rise = {"remove": log_ratio, "add": lambda y: log_ratio(y), "replace": lambda y: log_ratio(y) - log_ratio(-y)}[order]
    target = -e if order == "add" else e
    low, high = mp.mpf(-500), mp.mpf(500)
    if order == "add" and rise(low) >= target:
        return mp.mpf(0)
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if rise(middle) < target else (low, middle)
    if order == "remove":
        return right(low) - mp.exp(e) * mp.ncdf(-low)
    if order == "add":
        return mp.ncdf(low) - mp.exp(e) * left(low)
    return right(low) - mp.exp(e) * right_of_opposite(low)


@pytest.mark.parametrize(("sigma", "moves", "weights"), CASES, ids=repr)
@pytest.mark.parametrize("order", ["remove", "add", "replace"])
def test_one_step(sigma, moves, weights, order):
    mechanism = hs.GaussianMixture(sigma, moves, weights)
    with mp.workdps(50):
        for epsilon in (0.1, 1.0, 3.0):
            both, exact = mechanism.delta_bounds(epsilon, order), truth(epsilon, sigma, moves, weights, order)
            if exact < mp.mpf(10) ** -40:  # bisection says no more
                assert both.upper < 1e-20
                continue
            assert both.lower <= exact <= both.upper
            assert both.width <= 1e-6 * exact


@pytest.mark.parametrize("neighbours", ["add-or-remove", "replace"])
def test_the_relatives(neighbours):
    """One component in a coin: the sampled Gaussian; a group in Poisson samples: binomial weights; one move: a Gaussian."""
    coin = hs.GaussianMixture(1.1, (0, 1), (0.75, 0.25)) * 20
    sampled = (hs.Gaussian(1.1).poisson(rate=0.25) * 20).epsilon_bounds(1e-6, neighbours)
    both = coin.epsilon_bounds(1e-6, neighbours)
    assert both.lower <= sampled.upper
    assert sampled.lower <= both.upper
    assert both.width < 1e-4
    group = (hs.Gaussian(2.0).poisson(rate=0.25).group(size=3) * 5).epsilon_bounds(1e-6, neighbours)
    weights = tuple(math.comb(3, k) * 0.25**k * 0.75 ** (3 - k) for k in range(4))
    several = (hs.GaussianMixture(2.0, (0, 1, 2, 3), weights) * 5).epsilon_bounds(1e-6, neighbours)
    assert several.upper == pytest.approx(group.upper, rel=1e-9)
    alone = hs.GaussianMixture(2.0, (3,), (1,)) * 5
    assert alone.epsilon(1e-6, neighbours) == (hs.Gaussian(2.0, sensitivity=3.0) * 5).epsilon(1e-6, neighbours)
    assert hs.GaussianMixture(2.0, (0, 5), (1, 0)).epsilon(0.0, neighbours) == 0.0


def test_values():
    one = hs.GaussianMixture(2, [2, 0, 1, 1], [0.2, 0.5, 0.2, 0.1])
    assert one == hs.GaussianMixture(2.0, (0.0, 1.0, 2.0), (0.5, 0.2 + 0.1, 0.2))
    assert eval(repr(one), {"GaussianMixture": hs.GaussianMixture}) == one
    assert hs.from_json(one.to_json()) == one
    assert "random distance" in one.report(delta=1e-5).statement


@pytest.mark.parametrize(
    ("arguments", "name"),
    [
        ((0.0, (0, 1), (0.5, 0.5)), "sigma"),
        ((1.0, (0, -1), (0.5, 0.5)), "move"),
        ((1.0, (0, 1), (0.5, 0.4)), "add up"),
        ((1.0, (0, 1), (0.5, -0.5)), "weight"),
        ((1.0, (0, 1), (0.5,)), "as many"),
        ((1.0, (), ()), "at least one"),
        ((1.0, 3, (1,)), "moves"),
        ((1.0, (0, 1e5), (0.5, 0.5)), "at most"),
        ((1.0, tuple(range(1001)), (1 / 1001,) * 1001), "at most 1000"),
        ((1.0, (0, "1"), (0.5, 0.5)), "move"),
    ],
    ids=repr,
)
def test_bad_values(arguments, name):
    with pytest.raises((hs.BadValue, hs.BadType), match=name):
        hs.GaussianMixture(*arguments)


def test_components_that_all_move_are_refused():
    with pytest.raises(hs.Unsupported, match=r"sensitivity=2\.0"):
        hs.GaussianMixture(1.0, (1, 2), (0.5, 0.5))


@pytest.mark.parametrize("scale", [0.7, 2.0])
@pytest.mark.parametrize("moves", [(1, 1), (1, 2), (2, 2), (1, 1, 1)])
def test_vectors_of_laplace_noise_are_no_worse_than_one_coordinate(scale, moves):
    """The exact law of the sum of the coordinates' losses, by listing; as an event of dp_accounting has it."""

    def losses(move):  # of discrete Laplace noise: (move - 2 x) / scale, with the masses under P
        fall = math.exp(-1.0 / scale)
        inner = {move - 2 * x: (1.0 - fall) / (1.0 + fall) * fall**x for x in range(1, move)}
        return {move: 1.0 / (1.0 + fall), **inner, -move: fall**move / (1.0 + fall)}

    total = {0: 1.0}
    for move in moves:
        total = _added(total, losses(move))
    bound = hs.DiscreteLaplace(scale, sensitivity=sum(moves))
    for epsilon in (0.0, 0.3, 0.9, 1.7):
        listed = math.fsum(p * max(0.0, -math.expm1(epsilon - z / scale)) for z, p in total.items())
        assert listed <= bound.delta(epsilon)


def _added(one, two):
    found = {}
    for a, p in one.items():
        for b, q in two.items():
            found[a + b] = found.get(a + b, 0.0) + p * q
    return found


def test_shifted_concentrated_dp():
    """D_a <= xi + rho a: about xi above what rho alone has; rho = 0 is pure DP."""
    plain = hs.ZCDP(rho=0.1)
    shifted = hs.ZCDP(rho=0.1, xi=0.3)
    for delta in (1e-9, 1e-5, 1e-2):
        assert plain.epsilon(delta) + 0.2 < shifted.epsilon(delta) < plain.epsilon(delta) + 0.31
        assert shifted.epsilon(delta) <= hs.RDP(curve=lambda order: 0.3 + 0.1 * order).epsilon(delta) * (1 + 1e-9)
    assert shifted.rdp(3.0) == pytest.approx(0.6, rel=1e-12)
    assert (hs.ZCDP(rho=0.0, xi=0.5) * 10).epsilon(1e-6) == (hs.PureDP(0.5) * 10).epsilon(1e-6)
    assert shifted.epsilon_bounds(1e-5).lower == plain.epsilon_bounds(1e-5).lower  # which Gaussian noise attains
    for one in (plain, shifted):
        assert hs.from_json(one.to_json()) == one
    with pytest.raises(hs.Unsupported, match="replace"):
        shifted.epsilon(1e-5, "replace")
    with pytest.raises(hs.BadValue, match="xi"):
        hs.ZCDP(rho=0.1, xi=-0.1)
    assert "(0.3, 0.1)-zCDP" in shifted.report(delta=1e-5).statement
