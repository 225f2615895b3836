"""Symmetric pairs over half the noise: their losses, tails and the error of Gauss's rule on panels, against many digits."""

import numpy as np
import pytest
from mpmath import mp, mpf

from hockeystick.loss.sampled.quadrature import SampledStep
from hockeystick.loss.sampled.symmetric_quadrature import PanelNodes, SymmetricPair

SHAPES = [SampledStep(2.0, 0.01), SampledStep(0.7, 0.3), SampledStep(9.0, 1e-5)]
LINES = [SymmetricPair(shape, replace_one) for shape in SHAPES for replace_one in (True, False)]


@pytest.fixture(autouse=True)
def _digits():
    with mp.workdps(25):
        yield


def exact_parts(line: SymmetricPair, v) -> tuple[mpf, mpf]:
    """F and G by their definitions."""
    q, m = mpf(line.shape.rate), 1 / mpf(line.shape.noise)
    if line.replace_one:
        return tuple(mp.log(1 - q + q * mp.exp(sign * m * v - m * m / 2)) for sign in (1, -1))
    return mp.log(1 - q + q * mp.exp(m * v)), mpf(0)


def integrand(line: SymmetricPair, c: float):
    start = mpf(0) if line.replace_one else 1 / (2 * mpf(line.shape.noise))

    def term(v):
        f, g = exact_parts(line, v)
        return mp.npdf(v + start) * (mp.exp((1 + c) * f - c * g) + mp.exp((1 + c) * g - c * f))

    return term


@pytest.mark.parametrize("line", LINES, ids=repr)
def test_the_loss_to_nearly_full_accuracy(line):
    places = np.concatenate(([0.0], np.geomspace(1e-12, 400.0, 60)))
    mp.dps = 60
    found, (f, g) = line.loss(places), line.parts(places)
    for place, v in enumerate(places.tolist()):
        truth_f, truth_g = exact_parts(line, mpf(v))
        assert abs(found[place] - (truth_f - truth_g)) <= mpf(1e-13) * (truth_f - truth_g)
        assert abs(f[place] - truth_f) <= mpf(1e-14) * (1 + abs(truth_f))
        assert abs(g[place] - truth_g) <= mpf(1e-14)
    assert (np.diff(found) > 0.0).all()


@pytest.mark.parametrize("line", LINES, ids=repr)
def test_the_shares_are_the_slopes(line):
    for v in (0.1, 1.0, 7.0):
        one, two = line.shares(np.array([v]))
        m = 1 / mpf(line.shape.noise)
        assert float(mp.diff(lambda x: exact_parts(line, x)[0], mpf(v)) / m) == pytest.approx(float(one[0]), rel=1e-9)
        assert float(-mp.diff(lambda x: exact_parts(line, x)[1], mpf(v)) / m) == pytest.approx(float(two[0]), rel=1e-9, abs=1e-30)


@pytest.mark.parametrize("line", LINES, ids=repr)
@pytest.mark.parametrize("c", [-0.6, 0.0, 0.5, 8.0])
def test_what_lies_beyond_an_end_is_bounded(line, c):
    term = integrand(line, c)
    for v in (3.0, 8.0):
        truth = mp.quad(term, [v, v + 1, v + 3, v + 8, v + 20, v + 60])
        bound = line.log_tail(c, v)
        assert mp.log(truth) <= bound
        if v > (1.0 + c) / line.shape.noise:
            assert bound <= mp.log(truth) + 6 + mpf(c) * mpf(0.7)


@pytest.mark.parametrize("line", LINES, ids=repr)
@pytest.mark.parametrize("c", [-0.6, 0.5, 8.0])
@pytest.mark.parametrize("count", [4, 6])
def test_the_rule_errs_less_than_its_bound(line, c, count):
    """Few nodes on each panel, so that there is an error to see."""
    edges = np.array([0.0, 1.0, 2.5, 4.0])
    bounds = line.ellipses(edges).log_rule(c, 0.0, count)
    nodes = PanelNodes(line, edges, -np.inf, count)
    terms = np.exp(nodes.log_p + c * nodes.z) + np.exp(nodes.log_q - c * nodes.z)
    term = integrand(line, c)
    for panel in range(3):
        truth = mp.quad(term, [edges[panel], edges[panel + 1]])
        found = mpf(float(terms[panel * count : (panel + 1) * count].sum()))
        assert abs(found - truth) <= mp.exp(mpf(float(bounds[panel]))) + mpf(1e-13) * truth


@pytest.mark.parametrize("line", LINES, ids=repr)
def test_nodes_are_a_law_and_its_mirror(line):
    """What is not on the two halves is at 0: the masses of P add up to 1."""
    edges = np.linspace(0.0, 14.0, 20)
    f, g = (exact_parts(line, mpf(0)) for _ in range(2))
    assert f == g
    q, m = mpf(line.shape.rate), 1 / mpf(line.shape.noise)
    middle = mpf(0) if line.replace_one else (1 - q) * (mp.ncdf(m / 2) - mp.ncdf(-m / 2))
    nodes = PanelNodes(line, edges, float(mp.log(middle)) if middle else -np.inf)
    z, log_p, log_q, _, _ = nodes.atoms
    assert np.array_equal(z, -z[::-1])
    assert np.array_equal(log_p, log_q[::-1])
    assert float(np.exp(log_p).sum()) == pytest.approx(1.0, abs=1e-12)
