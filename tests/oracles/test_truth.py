"""Known values: the tables of the design notes, closed forms in mpmath, and sums that need no contour."""

import math
from decimal import Decimal

import numpy as np
import pytest
from mpmath import mp, mpf

import hockeystick as hs
import oracle

pytestmark = pytest.mark.usefixtures("arithmetic")

CLOSE = 1e-12


def sampled(q: float, sigma: float, count: int) -> hs.Gaussian:
    return hs.Gaussian(sigma=sigma).poisson(rate=q) * count


def meets(found: hs.Bounds, digits: str, relative: float = CLOSE) -> None:
    """The ends contain a printed truth, up to half a unit of its last digit; the upper one meets it to `relative`."""
    truth, half = float(digits), 0.5 * 10.0 ** Decimal(digits).as_tuple().exponent
    assert found.lower <= truth + half
    assert found.upper >= truth - half
    assert found.lower >= truth * (1.0 - 1e-9) - half
    assert found.upper <= truth + max(half, relative * truth)


ROW_THREE = (256 / 60_000, 1.1, 3510)


@pytest.mark.parametrize(
    ("q", "sigma", "count", "delta", "digits"),
    [
        (0.001, 4.0, 100_000, 1e-5, "0.268670955787"),
        (0.01, 1.1, 10_000, 1e-5, "5.19258344588"),  # mpmath and balls say 5.192583445883
        (*ROW_THREE, 1e-5, "1.13286332188"),
        (1e-3, 0.6, 100_000, 1e-6, "6.96084388422"),
        (1e-4, 0.4, 10**6, 1e-8, "18.8423513175"),
        (0.5, 10.0, 1000, 1e-10, "10.9752596608"),
        (0.01, 1.0, 1000, 1e-15, "4.8545377506"),
        (0.01, 1.0, 1000, 1e-30, "9.34189563271"),
        (0.01, 1.0, 1000, 1e-30, "9.34189563270507"),
        (0.2, 20.0, 2000, 1e-7, "2.21261883049"),
        (0.01, 2.0, 50_000, 1e-12, "8.83515607"),
        (0.01, 2.0, 4500, 1e-15, "2.85146362350295"),
    ],
)
def test_sampled_gaussian_noise(q, sigma, count, delta, digits):
    meets(sampled(q, sigma, count).epsilon_bounds(delta=delta), digits)


@pytest.mark.parametrize(
    ("count", "digits"),
    [(1500, "1.655353471724124793520"), (3048, "2.346484786693136546843"), (4500, "2.851463623502952877914")],
)
def test_the_published_twenty_digits(count, digits):
    found = sampled(0.01, 2.0, count).epsilon_bounds(delta=1e-15, neighbours="remove")
    truth = float(digits)
    blur = 1e-15 * truth  # q = .01 and delta = 1e-15 are rounded to doubles
    assert found.lower - blur <= truth <= found.upper + blur
    assert found.lower == pytest.approx(truth, rel=CLOSE)
    assert found.upper == pytest.approx(truth, rel=CLOSE)


@pytest.mark.parametrize(
    ("mu", "delta", "digits"),
    [
        (math.sqrt(1000) / 20, 1e-6, "8.306225"),
        (math.sqrt(1000) / 20, 1e-9, "10.3213136"),
        (math.sqrt(1000) / 20, 1e-12, "11.9920911"),
        (2.0, 1e-6, "10.9971512"),
        (2.0, 1e-9, "13.5347722"),
        (2.0, 1e-12, "15.6411258"),
    ],
)
def test_gaussian_noise(mu, delta, digits):
    meets(hs.GDP(mu=mu).epsilon_bounds(delta=delta), digits)


def test_composed_gaussian_noise():
    many = hs.Gaussian(sigma=20.0) * 1000
    meets(many.epsilon_bounds(delta=1e-6), "8.306225")
    meets(many.epsilon_bounds(delta=1e-13), "12.4976")


def test_laplace_noise():
    many = hs.Laplace(scale=10.0) * 1000
    meets(many.epsilon_bounds(delta=1e-6), "18.9502874")
    meets(many.epsilon_bounds(delta=1e-6), "18.9502873675")


def test_a_mixed_run():
    gaussians = hs.compose([hs.Gaussian(sigma=float(sigma)) for sigma in np.linspace(10.0, 60.0, 50)])
    run = gaussians + hs.Laplace(scale=5.0) * 20 + sampled(*ROW_THREE)
    meets(run.epsilon_bounds(delta=1e-6), "4.33984517093")


# closed forms of one step


def shifted(mu: mpf, x: mpf) -> mpf:
    """delta of N(mu, 1) against N(0, 1)."""
    a = x / mu - mu / 2
    return mp.ncdf(-a) - mp.exp(x) * mp.ncdf(-a - mu)


def sampled_once(q: mpf, sigma: mpf, x: mpf, order: str) -> mpf:
    """delta of the mixture (1-q) N(0, s^2) + q N(1, s^2) against N(0, s^2), or the reverse."""
    if order == "add":
        if mp.exp(-x) <= 1 - q:
            return mpf(0)
        return 1 - mp.exp(x) + mp.exp(x) * sampled_once(q, sigma, -x, "remove")
    if mp.exp(x) <= 1 - q:
        return 1 - mp.exp(x)
    y = sigma**2 * mp.log((mp.exp(x) - 1 + q) / q) + mpf("0.5")
    return q * mp.ncdf((1 - y) / sigma) + (1 - q - mp.exp(x)) * mp.ncdf(-y / sigma)


def contains(found: hs.Bounds, truth: mpf) -> None:
    assert mpf(found.lower) <= truth <= mpf(found.upper)


@pytest.mark.parametrize("sigma", [0.05, 0.3, 1.0, 2.5, 40.0, 1e4])
@pytest.mark.parametrize("epsilon", [-3.0, -0.1, 0.0, 1e-6, 0.2, 1.0, 7.0])
def test_one_gaussian_step(sigma, epsilon):
    with mp.workdps(400):
        truth = shifted(1 / mpf(sigma), mpf(epsilon))
        found = hs.Gaussian(sigma=sigma).delta_bounds(epsilon=epsilon)
        contains(found, truth)
        if truth > mpf("1e-300"):
            assert found.upper - found.lower <= 1e-9 * found.upper


@pytest.mark.parametrize("scale", [0.1, 0.7, 1.0, 5.0, 1e3])
@pytest.mark.parametrize("share", [0.0, 1e-3, 0.3, 0.9, 1.0 - 1e-9])
def test_one_laplace_step(scale, share):
    with mp.workdps(50):
        bound = 1 / mpf(scale)
        epsilon = float(share * bound)
        truth = -mp.expm1((mpf(epsilon) - bound) / 2) if epsilon < bound else mpf(0)
        contains(hs.Laplace(scale=scale).delta_bounds(epsilon=epsilon), truth)


@pytest.mark.parametrize("scale", [0.3, 2.0, 8.0])
def test_one_laplace_step_has_its_bound(scale):
    step = hs.Laplace(scale=scale)
    assert step.delta(epsilon=1.01 / scale) == 0.0
    assert step.epsilon(delta=0.0) == pytest.approx(1.0 / scale, rel=1e-14)
    assert step.epsilon(delta=0.0) >= 1.0 / scale


@pytest.mark.parametrize(("q", "sigma"), [(1e-6, 1.0), (0.01, 0.5), (0.01, 4.0), (0.3, 1.0), (0.9, 20.0), (0.999, 0.8)])
@pytest.mark.parametrize("epsilon", [-1.0, -1e-3, 0.0, 1e-4, 0.02, 0.5, 2.0])
@pytest.mark.parametrize("order", ["remove", "add"])
def test_one_sampled_step(q, sigma, epsilon, order):
    with mp.workdps(400):
        truth = sampled_once(mpf(q), mpf(sigma), mpf(epsilon), order)
        found = hs.Gaussian(sigma=sigma).poisson(rate=q).delta_bounds(epsilon=epsilon, neighbours=order)
        contains(found, truth)


@pytest.mark.parametrize(("q", "sigma", "order"), [(0.01, 1.0, 2.5), (0.2, 0.6, 1.2), (0.5, 5.0, 30.0), (1e-4, 2.0, 8.0)])
def test_the_renyi_divergence_of_a_sampled_step(q, sigma, order):
    with mp.workdps(40):
        s, rate, a = mpf(sigma), mpf(q), mpf(order)

        def ratio(y: mpf) -> mpf:
            return 1 - rate + rate * mp.exp((2 * y - 1) / (2 * s * s))

        def moment(power: mpf) -> mpf:
            places = [mpf(k) * s for k in range(-14, 15, 2)] + [a + mpf(k) * s for k in (16, 24)]
            return mp.quad(lambda y: mp.npdf(y / s) / s * ratio(y) ** power, sorted(places))

        step = hs.Gaussian(sigma=sigma).poisson(rate=q)
        for neighbours, power in (("remove", a), ("add", 1 - a)):
            truth = mp.log(moment(power)) / (a - 1)
            found = mpf(step.rdp(order=order, neighbours=neighbours))
            assert truth * (1 - mpf("1e-25")) <= found <= truth * (1 + mpf(CLOSE))


# sums that need no contour


@pytest.mark.parametrize("scale", [0.4, 1.0, 3.0, 10.0])
@pytest.mark.parametrize("count", [1, 2, 3, 5, 8, 12])
def test_a_few_laplace_steps(scale, count):
    run = hs.Laplace(scale=scale) * count
    ratio = 1.0 / scale
    for share in (0.02, 0.3, 0.7, 0.97):
        epsilon = share * ratio * count
        ball = oracle.laplace_delta(ratio, count, epsilon)
        blur = 1e-15 * max(1.0, ratio * count) if ratio * scale != 1.0 else 0.0  # 1/scale was rounded
        found = run.delta_bounds(epsilon=epsilon)
        assert not ball.lower() > found.upper * (1.0 + blur) + blur * float(ball.mid())
        assert not ball.upper() < found.lower * (1.0 - blur)


@pytest.mark.parametrize("order", ["remove", "add"])
@pytest.mark.parametrize(("q", "sigma"), [(0.1, 1.0), (0.5, 2.0), (0.02, 0.7), (0.9, 3.0)])
@pytest.mark.parametrize("epsilon", [0.0, 0.1, 0.8])
def test_two_sampled_steps(q, sigma, epsilon, order):
    """delta_2(eps) = E_P[delta_1(eps - Z)], an integral over one step's noise."""
    with mp.workdps(30):
        s, rate, x = mpf(sigma), mpf(q), mpf(epsilon)

        def part(y: mpf) -> mpf:
            ratio = 1 - rate + rate * mp.exp((2 * y - 1) / (2 * s * s))
            weight = mp.npdf(y / s) / s
            loss = mp.log(ratio)
            if order == "remove":
                return weight * ratio * sampled_once(rate, s, x - loss, order)
            return weight * sampled_once(rate, s, x + loss, order)

        bend = mp.exp(x) / (1 - rate) if order == "remove" else mp.exp(-x) / (1 - rate)  # where the inner closed form changes
        places = [mpf(k) * s for k in (-14, -9, -6, -4, -2, 0, 2, 4, 6, 9, 14)] + [1 + mpf(k) * s for k in (0, 14)]
        if bend > 1 - rate:
            places.append(s * s * mp.log((bend - 1 + rate) / rate) + mpf("0.5"))
        truth, error = mp.quad(part, sorted(places), error=True, maxdegree=8)
        assert error < mpf("1e-15")
        found = (hs.Gaussian(sigma=sigma).poisson(rate=q) * 2).delta_bounds(epsilon=epsilon, neighbours=order)
        slack = max(10 * error, mpf("1e-18"))
        assert mpf(found.lower) - slack <= truth <= mpf(found.upper) + slack
