"""The fixed script whose instructions are counted (`bench/instructions.py` runs it under callgrind).

Each case is first done twice, so that what is loaded or remembered once does not count, then once more on new numbers within
`PyRun_SimpleString`, a function of Python that nothing else calls: callgrind counts within it and writes its numbers when it
ends.
"""

import ctypes
import gc
from collections.abc import Callable

import numpy as np

import hockeystick as hs
from hockeystick import conversion


def _sgd(rate: float, sigma: float, steps: int) -> hs.Gaussian:
    return hs.Gaussian(sigma=sigma).poisson(rate=rate) * steps


def _many(x: float) -> object:
    noises = hs.compose([hs.Gaussian(sigma=x * (10.0 + 50.0 * i / 49.0)) for i in range(50)])
    return (noises + hs.Laplace(scale=5.0 * x) * 20 + _sgd(256 / 60000, 1.1, 3510)).epsilon_bounds(1e-6)


CASES: dict[str, Callable[[float], object]] = {  # of a factor close to 1
    "Gaussian noise": lambda x: (hs.Gaussian(sigma=20.0 * x) * 1000).epsilon_bounds(1e-6),
    "DP-SGD": lambda x: _sgd(256 / 60000, 1.1 * x, 3510).epsilon_bounds(1e-5),
    "DP-SGD, little noise": lambda x: _sgd(1e-4, 0.4 * x, 10**6).epsilon_bounds(1e-8),
    "DP-SGD, delta": lambda x: _sgd(0.01, 2.0 * x, 4500).delta_bounds(3.0),
    "DP-SGD, replace": lambda x: _sgd(0.01, 1.1 * x, 10**4).epsilon_bounds(1e-5, neighbours="replace"),
    "DP-SGD, 100 steps": lambda x: _sgd(0.001, 0.5 * x, 100).epsilon_bounds(1e-6),
    "Laplace noise x 1000": lambda x: (hs.Laplace(scale=10.0 * x) * 1000).epsilon_bounds(1e-6),
    "Laplace noise x 4": lambda x: (hs.Laplace(scale=0.5 * x) * 4).epsilon_bounds(1e-6),
    "randomised response x 1000": lambda x: (hs.RandomizedResponse(epsilon=0.1 * x) * 1000).epsilon_bounds(1e-6),
    "71 parts": _many,
    "Laplace x 70, exponential x 3": lambda x: (hs.Laplace(2.0 * x) * 70 + hs.Exponential(1.0 * x) * 3).epsilon(1e-6),
    "exponential mechanism x 10": lambda x: (hs.Exponential(1.0 * x) * 10).epsilon(1e-6),
    "calibration": lambda x: hs.calibrate(lambda s: _sgd(256 / 60000, s, 3510), epsilon=1.0 * x, delta=1e-5),
    "profile of 200": lambda x: _sgd(0.01, 1.1 * x, 10**4).profile(np.linspace(0.0, 8.0, 200)),
    "sweep of 25": lambda x: hs.sweep(
        lambda rate, sigma: _sgd(rate, sigma, 1000),
        {"rate": [1e-3, 2e-3, 5e-3, 1e-2, 2e-2], "sigma": [0.8 * x, x, 1.2 * x, 1.5 * x, 2.0 * x]},
        progress=False,
        epsilon_at_delta=1e-6,
    ),
    "mu(delta)": lambda x: _sgd(0.01, 1.1 * x, 10**4).mu(delta=1e-5),
    "100 Rényi conversions": lambda x: [conversion.rdp_to_epsilon(2.0 + 0.1 * i, 0.5 * x, 1e-5) for i in range(100)],
}


def done(name: str) -> None:
    """What is counted."""
    CASES[name](1.0)


def main() -> None:
    gc.disable()
    for name, run in CASES.items():
        run(1.000101)
        run(1.000102)
        ctypes.pythonapi.PyRun_SimpleString(f"done({name!r})".encode())


if __name__ == "__main__":
    main()
