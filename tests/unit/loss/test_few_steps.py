"""delta of few steps, to nine decimal places in every scheme."""

import numpy as np
import pytest

import hockeystick as hs

CASES = {
    "a replaced record in Poisson samples": (hs.Gaussian(sigma=0.4398).poisson(rate=1 / 6) * 4, "replace", 0.0),
    "drawn with replacement": (hs.Gaussian(sigma=1.5055).with_replacement(4, 4) * 5, "remove", 0.0),
    "little noise, where nearly all is lost": (
        hs.Gaussian(sigma=0.37325).without_replacement(batch=1, examples=2) * 5,
        "add",
        0.0,
    ),
    "Poisson samples": (hs.Gaussian(sigma=0.9).poisson(rate=0.2) * 3, "remove", 1.3),
}


def _by_convolution(run, epsilon: float, step: float = 5e-4, size: int = 1 << 20) -> float:
    """delta on a fine grid with the mean of every cell kept: off by about the square of the step."""
    ((loss, count),) = run.terms
    edges = np.arange(-40.0, 40.0, step)
    log_p, log_q, _ = loss.masses(edges)
    p = np.exp(log_p[1:-1])
    with np.errstate(invalid="ignore"):
        mean = np.where(p > 0.0, log_p[1:-1] - log_q[1:-1], edges[:-1])
    place = np.clip((mean - edges[0]) / step, 0.0, edges.size - 1.0)
    left = place.astype(int)
    law = np.bincount(left, p * (1.0 - (place - left)), size) + np.bincount(left + 1, p * (place - left), size)
    masses = np.fft.irfft(np.fft.rfft(law) ** count, size)
    loss_of = count * edges[0] + step * np.arange(size)
    return float(masses @ np.maximum(-np.expm1(np.minimum(epsilon - loss_of, 0.0)), 0.0))


@pytest.mark.parametrize("name", CASES)
def test_nine_decimal_places(name: str) -> None:
    release, neighbours, epsilon = CASES[name]
    found = release.delta_bounds(epsilon, neighbours=neighbours)
    assert found.width <= 1e-9
    truth = _by_convolution(release._run(neighbours), epsilon)
    assert found.lower - 2e-8 <= truth <= found.upper + 2e-8
