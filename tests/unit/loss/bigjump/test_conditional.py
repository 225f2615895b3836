"""Sparse DP-SGD between the normal bulk and the single large loss: the large step integrated over."""

import math

import numpy as np
import pytest
from scipy.special import erfcx, ndtr

import hockeystick as hs
from hockeystick.loss.bigjump.cells import Thresholds
from hockeystick.loss.bigjump.conditional import ConditionalBigJump, ConditionalGuide, conditional_epsilon, conditional_log_delta
from hockeystick.loss.contour.contour import Contour, Saddle
from hockeystick.loss.contour.vectorised import contour_ends, equally_spaced_contour_ends
from hockeystick.loss.lattice.refine import lattice_epsilon, lattice_log_delta
from hockeystick.loss.protocol import Inconclusive


def _gaussian(y: np.ndarray, mu: float) -> np.ndarray:
    """delta of Gaussian noise, to about fourteen digits however small."""
    a = y / mu - mu / 2
    with np.errstate(all="ignore"):
        mills = [math.sqrt(math.pi / 2) * erfcx(one / math.sqrt(2)) for one in (a, a + mu)]
        far = np.exp(-0.5 * a * a) / math.sqrt(2 * math.pi) * (mills[0] - mills[1])
        near = ndtr(-a) - np.exp(np.minimum(y, 0.0)) * ndtr(-(a + mu))
    return np.where(a > -5, far, near)


def _truth(rate: float, sigma: float, wide: float, epsilon: float) -> float:
    """log delta of two sampled steps and a Gaussian one, by the trapezoidal rule in two dimensions."""
    step = 0.02 * min(1.0, sigma)
    z = np.arange(-12.0, 22.0 + 2.0 / sigma, step)
    loss = np.log1p(rate * np.expm1((z - 0.5 / sigma) / sigma))
    weight = step * np.exp(-0.5 * z * z + loss) / math.sqrt(2 * math.pi)
    return math.log(sum(w * (weight @ _gaussian(epsilon - one - loss, 1.0 / wide)) for w, one in zip(weight, loss, strict=True)))


@pytest.mark.parametrize(
    ("rate", "sigma", "wide", "epsilon"),
    [(1.6e-5, 0.9, 13.0, 0.965), (2.6e-3, 1.48, 19.4, 1.453), (1.2e-2, 2.09, 6.8, 1.799), (4.4e-4, 0.95, 5.0, 1.43)],
)
def test_two_steps_and_a_gaussian(rate: float, sigma: float, wide: float, epsilon: float) -> None:
    """The large step carries all of delta, two thirds, half, next to nothing; whatever the threshold, the truth lies within."""
    run = (hs.Gaussian(sigma=sigma).poisson(rate=rate) * 2 + hs.Gaussian(sigma=wide))._run("remove")
    truth = _truth(rate, sigma, wide, epsilon)
    guide = ConditionalGuide(run, epsilon, truth)
    for share in (1.0, 0.6):
        high = guide.thresholds.high * share
        guide._set(Thresholds(0.0, high, 0.0, guide.upper_width * high))
        guide.saddle = Saddle.of_epsilon(guide, epsilon)
        found = ConditionalBigJump(guide)
        low, high = found.lower(epsilon), found.upper(epsilon)
        assert low - 1e-12 <= truth <= high + 1e-12
        assert high - low < 5e-5


CASES = {
    "bulk and one step": (3.81058496350151e-4, 2.693209498397513, 18825, 7.469908926161582e-82),
    "smaller still": (2.1514284145760618e-4, 2.8061717913908417, 20142, 3.9868348888681546e-97),
    "drawn often": (1.7148691477224715e-06, 1.9376196401880386, 930409722, 3.045313878868472e-91),
}


@pytest.mark.parametrize("name", CASES)
def test_epsilon_at_the_edge_is_close(name: str) -> None:
    """These were known to within a tenth, and worse."""
    rate, sigma, steps, delta = CASES[name]
    run = hs.Gaussian(sigma=sigma).poisson(rate=rate) * steps
    found = run.epsilon_bounds(delta)
    assert found.width <= 2e-6 * found.upper
    back = run.log_delta_bounds(found.upper)
    assert back.lower <= math.log(delta) * (1.0 - 1e-15)
    assert back.width < 1e-3


def test_the_engine_agrees_with_the_closer_one() -> None:
    """Where steps that are parted tell more, what is integrated over agrees."""
    run = (hs.Gaussian(sigma=1.1).poisson(rate=1e-3) * 3000)._run("remove")
    best = (hs.Gaussian(sigma=1.1).poisson(rate=1e-3) * 3000).epsilon_bounds(1e-30, neighbours="remove")
    low, high = conditional_epsilon(run, math.log(1e-30), 1e-13)
    assert low <= best.upper
    assert best.lower <= high
    ends = conditional_log_delta(run, best.upper)
    assert ends[0] <= math.log(1e-30) + 1e-9
    assert ends[1] >= math.log(1e-30) - 1e-3


def test_what_it_does_not_serve() -> None:
    for run in (hs.Laplace(scale=2.0) * 5, hs.ApproxDP(epsilon=1.0, delta=1e-6)):
        with pytest.raises(Inconclusive):
            conditional_epsilon(run._run("remove"), -20.0, 1e-13)
        with pytest.raises(Inconclusive):
            conditional_log_delta(run._run("remove"), 1.0)


def test_evenly_spaced_epsilons():
    """The tables of a Fourier sum tell what single epsilons do."""
    run = (hs.Gaussian(sigma=1.1).poisson(rate=0.01) * 1000)._run("remove")
    contour = Contour(run, Saddle.of_epsilon(run, 1.5))
    assert contour.evaluate()
    epsilons = np.linspace(2.5, 0.5, 4001)
    plain, even = contour_ends(contour, epsilons), equally_spaced_contour_ends(contour, epsilons)
    near = (epsilons > 1.2) & (epsilons < 1.8)
    assert (plain[0] <= even[1]).all()
    assert (even[0] <= plain[1]).all()
    assert (even[1] - even[0])[near].max() < 1e-9


@pytest.mark.parametrize("run", [hs.Gaussian(sigma=0.9).poisson(rate=1e-4) * 5, hs.Laplace(scale=2.0) * 7])
def test_a_lattice_at_many_epsilons(run):
    single = run._run("remove")
    lattice_log_delta(single, 0.5)
    lattice = single.lattices[0]
    epsilons = np.linspace(0.51, 0.49, 41)
    low, high = lattice.log_deltas(epsilons, epsilons, np.arange(-6, 7))
    for epsilon, one, two in zip(epsilons, low, high, strict=True):
        ends = lattice.log_delta(epsilon)
        assert one <= ends[1]
        assert ends[0] <= two
        assert two == pytest.approx(ends[1], abs=1e-9)
        assert one == pytest.approx(ends[0], abs=1e-6)


def test_beside_the_largest_loss_of_laplace_steps():
    """A little beyond it the bulk of a sparse run decides, and one large step: nothing but both together is close."""
    run = hs.Gaussian(sigma=0.6407521444501797).poisson(rate=3.4948037388395365e-06) * 65990 + hs.Laplace(1.3576137314208878) * 4
    bounds = run.epsilon_bounds(1.026899821921707e-10)
    assert bounds.width < 1e-7 * bounds.upper
    low, high = lattice_epsilon(run._run("remove"), math.log(1.026899821921707e-10), 1e-12)
    assert low <= bounds.upper
    assert bounds.lower <= high


def test_a_record_drawn_thousands_of_times():
    """Large jumps are split off, as the transform does not fall; the truth is a cut transform (scripts/truth_sparse.py)."""
    bounds = (hs.Gaussian(6.3).poisson(2.7e-6) * 3_100_000_000).epsilon_bounds(4.4e-250, neighbours="remove")
    assert bounds.width < 1e-12
    assert bounds.lower <= 0.8057371176499379549 <= bounds.upper


def test_tiny_epsilons():
    """c is so large there that the curvature of the integrand counts as much as K."""
    run = hs.Gaussian(sigma=23.7).poisson(rate=1.9e-6) * 310_230
    bounds = run.epsilon_bounds(5.5e-8)
    assert bounds.width < 1e-9 * bounds.upper
    assert run.delta_bounds(bounds.upper).lower <= 5.5e-8 <= run.delta_bounds(bounds.lower).upper


@pytest.mark.parametrize(
    ("rate", "sigma", "steps", "delta", "width"),
    [
        (6.6e-5, 2.36, 12392, 1.7e-53, 5e-6),
        (0.0132, 9.6, 26, 5.3e-303, 5e-6),
        (1.6e-3, 6.1, 36, 8.3e-301, 5e-6),
        (1.2e-6, 75.0, 7_053_845, 3.6e-305, 1e-9),
        (4.9e-5, 0.856, 58502, 8.3e-299, 1e-9),
        (2.5e-3, 2.93, 744, 4.2e-304, 1e-9),
    ],
)
def test_far_out(rate, sigma, steps, delta, width):
    """Where one large step, or several, decide: close, and within what the lattice proves by itself."""
    step = hs.Gaussian(sigma=sigma).poisson(rate=rate)
    bounds = (step * steps).epsilon_bounds(delta, neighbours="remove")
    assert bounds.width < width * bounds.upper
    low, high = lattice_epsilon((step * steps)._run("remove"), math.log(delta), 1e-12)
    assert low <= bounds.upper
    assert bounds.lower <= high


def test_a_lower_end_is_not_the_difference_of_large_numbers():
    """Far from the epsilon that it was made for next to nothing is known; the truth is an integral of the closed form."""
    steps = (1.6490140542415903e-06, 17.962797179556304), (3.176873009048961e-05, 2.202544933837579)
    one, two = (hs.Gaussian(sigma).poisson(rate) for rate, sigma in steps)
    found = ConditionalBigJump(ConditionalGuide((one + two)._run("remove"), 0.0012917385637999594, -27.955342945277735))
    assert found.lower(0.001486001572064051) <= -50.757153384253882 <= found.upper(0.001486001572064051)


@pytest.mark.parametrize(
    ("run", "delta"),
    [
        (hs.Gaussian(5.925672702973802).poisson(2.6401595252217826e-06) * 25, 2.310598439808693e-73),
        (
            hs.Gaussian(0.6233048308433841).poisson(0.02182725565860578)
            + hs.Gaussian(0.3220991503989082).poisson(1.5726747561419846e-05),
            1.3770958416975975e-287,
        ),
        (hs.Gaussian(sigma=5.368423126874215).poisson(rate=0.0016811131135568294) * 40, 9.247466112779575e-07),
    ],
)
def test_no_warnings_and_no_overflow(run, delta):
    """Warnings are errors here: 1 + (phi - 1) may be 0, epsilons that are tried large."""
    bounds = run.epsilon_bounds(delta, neighbours="remove")
    assert bounds.width < 1e-3 * bounds.upper
