"""Steps that say which of several samples was drawn: the contour, the masses and the core."""

import math

import numpy as np
import pytest

import hockeystick as hs
from hockeystick.loss.sampled.gaussian import Guide, SampledGaussianLoss
from hockeystick.loss.sampled.quadrature import SampledStep
from hockeystick.loss.sampled.revealed import RevealedLoss, revealed_parts
from hockeystick.numerics.trapezoid import Cells

WEIGHTS = 0.7, 0.1


def sampled(rate: float, removal: bool, sigma: float = 1.0) -> SampledGaussianLoss:
    shape = SampledStep(sigma, rate)
    return SampledGaussianLoss(shape, (removal,), Guide(shape))


def revealed(removal: bool, weights: tuple[float, float] = WEIGHTS) -> RevealedLoss:
    return RevealedLoss.of((sampled(0.1, removal), sampled(0.6, removal)), weights, 1e-15)


def transform(removal: bool, w: complex) -> complex:
    """By a rule of its own."""
    y = np.linspace(-12.0, 14.0, 20_001)
    base = np.exp(-0.5 * y * y) / math.sqrt(2.0 * math.pi) * (y[1] - y[0])
    total = 1.0 - sum(WEIGHTS)
    for weight, rate in zip(WEIGHTS, (0.1, 0.6), strict=True):
        ratio = 1.0 - rate + rate * np.exp(y - 0.5)
        total += weight * complex((base * ratio ** (1.0 + w if removal else -w)).sum())
    return total


@pytest.mark.parametrize("removal", [True, False])
def test_the_slice(removal):
    loss, c = revealed(removal), 2.5
    line = loss.slice(c, 6.0, 50)
    step, nodes = 0.7, 12
    values, errors = line.values(step, nodes)
    truth = np.array([transform(removal, c + 1j * step * k) for k in range(nodes)])
    found = np.exp(values[0])
    assert (np.abs(found - truth) <= (errors[0] + 1e-12) * np.abs(truth)).all()
    assert float(errors.max()) < 1e-10
    points = np.array([2.5, 4.0, 6.0])
    above = line.cumulant_above(points)[0]
    exact = np.array([math.log(transform(removal, s).real) for s in points])
    assert (above >= exact - 1e-13).all()
    assert (above <= exact + 1e-4).all()
    cells = Cells(0.05)
    decay = line.decay(cells)[0]
    for place in range(0, cells.left.size - 1, 7):
        for u in np.linspace(cells.left[place], cells.left[place + 1], 3):
            if u < 60.0:
                fall = -math.log(abs(transform(removal, c + 1j * u)) / transform(removal, c).real)
                assert decay[place] <= fall + 1e-10
    assert float(decay.max()) > 0.1


@pytest.mark.parametrize("removal", [True, False])
def test_masses_and_the_closed_form(removal):
    loss = revealed(removal)
    edges = np.linspace(-2.0, 2.5, 41)
    masses = loss.masses(edges)
    assert math.isclose(float(np.exp(masses.log_p).sum()), 1.0, rel_tol=1e-12)
    assert math.isclose(float(np.exp(masses.log_q).sum()), 1.0, rel_tol=1e-12)
    for epsilon in (-0.5, 0.0, 0.4):
        closed = loss.closed(epsilon)
        parts = [one.closed(epsilon) for one in loss.losses]
        known = sum(w * math.exp(one.value) for w, one in zip(WEIGHTS, parts, strict=True))
        known += (1.0 - sum(WEIGHTS)) * max(0.0, -math.expm1(epsilon))
        assert abs(closed.value - math.log(known)) <= closed.error + 1e-14
    assert loss.cumulant_bound(3.0) >= math.log(transform(removal, 3.0).real) - 1e-12
    value, error = loss.mean()
    assert value > 0.0
    assert error < 1e-10 * value
    k0, k1, k2 = loss.expand(3.0)
    assert math.isclose(k0, math.log(transform(removal, 3.0).real), rel_tol=1e-4)
    assert k1 > 0.0
    assert k2 > 0.0


def test_a_faint_rest_goes_to_the_first_part():
    loss = revealed(True, (0.9, 0.1 - 1e-12))
    assert loss.nothing == 0.0
    assert math.isclose(sum(loss.weights), 1.0, rel_tol=1e-15)


def test_what_the_core_is_given():
    run = (hs.Gaussian(1.1).truncated_poisson(rate=0.01, cap=60, examples=4000) * 300)._run("zero-out")
    first = run.variants("dominating")[0].terms[0][0]
    given, removals = revealed_parts(first)
    assert removals == (True, False)
    assert given[:2] == (1.1, 0.01)
    assert given[4] > 0.01
    assert revealed_parts(sampled(0.1, True)) is None
    second = run.variants("dominating")[1].terms[0][0]
    assert revealed_parts(second) is None  # it has no contour


def test_large_cumulants():
    """Where e^K is no double."""
    loss = RevealedLoss.of((sampled(0.1, True, 0.2), sampled(0.6, True, 0.2)), WEIGHTS, 1e-15)
    line = loss.slice(8.0, 9.0, 2)
    values, errors = line.values(0.1, 3)
    assert float(values.real.max()) > 300.0
    assert float(errors.max()) < 1e-6
    assert float(line.cumulant_above(np.array([8.0]))[0, 0]) >= float(values[0, 0].real) - 1e-9


@pytest.mark.parametrize("relation", ["zero-out", "add-or-remove"])
@pytest.mark.parametrize(
    ("rate", "cap", "examples", "count"), [(0.01, 60, 4000, 300), (0.1, 20, 128, 50), (1e-3, 30, 20_000, 5000)]
)
def test_the_core_and_numpy_agree(relation, rate, cap, examples, count, monkeypatch):
    from hockeystick.loss.engines import compiled, first

    run = hs.Gaussian(1.1).truncated_poisson(rate=rate, cap=cap, examples=examples) * count
    found = run.epsilon_bounds(1e-6, relation), run.delta_bounds([0.5, 1.0], relation)
    if compiled.core is None:
        pytest.skip("there is no core")
    for module in (compiled, first):
        monkeypatch.setattr(module, "core", None)
    again = run.epsilon_bounds(1e-6, relation), run.delta_bounds([0.5, 1.0], relation)
    assert again[0].upper == pytest.approx(found[0].upper, rel=1e-7)
    assert again[0].lower == pytest.approx(found[0].lower, rel=1e-7)
    assert again[1].upper == pytest.approx(found[1].upper, rel=1e-6)
