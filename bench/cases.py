"""The published cases: what is asked of everyone, as plain data.

A use is (kind, level, rate, times): kind "gaussian" (level: sigma over the sensitivity), "laplace" (scale over the sensitivity)
or "pure" (epsilon of randomised response), on a Poisson sample of that rate (1: all records), so many times.
"""

from dataclasses import dataclass, replace
from typing import Any

Use = tuple[str, float, float, int]


@dataclass(frozen=True)
class Case:
    """`ask` is "epsilon" (at delta), "calibrate" (the sigma for epsilon at delta), "sweep" (epsilon at 100 settings) or "first"
    (epsilon, in a new process, with the import)."""

    name: str
    group: str
    uses: tuple[Use, ...]
    delta: float
    ask: str = "epsilon"
    epsilon: float = 0.0  # the target of a calibration

    def moved(self, factor: float) -> "Case":
        """The same with numbers that no process has seen: the noise, or the target, times a factor close to 1."""
        uses = tuple((kind, level * factor, rate, times) for kind, level, rate, times in self.uses)
        return replace(self, uses=uses, epsilon=self.epsilon * factor)

    def plain(self) -> dict[str, Any]:
        return {**vars(self), "uses": [list(use) for use in self.uses]}

    @classmethod
    def of(cls, plain: dict[str, Any]) -> "Case":
        return cls(**{**plain, "uses": tuple(tuple(use) for use in plain["uses"])})


def _sgd(rate: float, sigma: float, steps: int) -> tuple[Use, ...]:
    return (("gaussian", sigma, rate, steps),)


def _training(group: str, rate: float, sigma: float, steps: int, delta: float) -> Case:
    return Case(f"q={rate:.4g} sigma={sigma:g} T={steps:g} delta={delta:g}", group, _sgd(rate, sigma, steps), delta)


ROW = (256 / 60_000, 1.1, 3510)
SWEEP = tuple(("gaussian", 0.7 + 0.15 * j, 1e-3 * 1.5**i, 1000) for i in range(10) for j in range(10))
MANY = (
    *(("gaussian", 10.0 + 50.0 * i / 49.0, 1.0, 1) for i in range(50)),
    ("laplace", 5.0, 1.0, 20),
    ("gaussian", ROW[1], ROW[0], ROW[2]),
)

CASES = (
    Case("sigma=1 T=1 delta=1e-05", "Gaussian", _sgd(1.0, 1.0, 1), 1e-5),
    Case("sigma=20 T=1000 delta=1e-06", "Gaussian", _sgd(1.0, 20.0, 1000), 1e-6),
    Case("sigma=20 T=1000 delta=1e-13", "Gaussian", _sgd(1.0, 20.0, 1000), 1e-13),
    _training("DP-SGD", 0.001, 4.0, 10**5, 1e-5),
    _training("DP-SGD", 0.01, 1.1, 10**4, 1e-5),
    _training("DP-SGD", *ROW, 1e-5),
    _training("DP-SGD", 1e-3, 0.6, 10**5, 1e-6),
    _training("DP-SGD", 1e-4, 0.4, 10**6, 1e-8),
    _training("DP-SGD", 0.5, 10.0, 1000, 1e-10),
    _training("DP-SGD", 0.2, 20.0, 2000, 1e-7),
    _training("DP-SGD, extreme", 1e-6, 0.5, 10**7, 1e-9),
    _training("DP-SGD, extreme", 0.9, 30.0, 5000, 1e-6),
    _training("DP-SGD, extreme", 0.1, 100.0, 10**6, 1e-6),
    _training("DP-SGD, extreme", 1e-3, 50.0, 10**9, 1e-6),
    _training("small delta", 0.01, 2.0, 50_000, 1e-12),
    _training("small delta", 0.01, 2.0, 4500, 1e-15),
    _training("small delta", 0.01, 1.0, 1000, 1e-15),
    _training("small delta", 0.01, 1.0, 1000, 1e-30),
    Case("Laplace(10) T=1000 delta=1e-06", "other noise", (("laplace", 10.0, 1.0, 1000),), 1e-6),
    Case("randomised response 0.1 T=1000 delta=1e-06", "other noise", (("pure", 0.1, 1.0, 1000),), 1e-6),
    Case("50 Gaussians, 20 Laplaces, DP-SGD", "heterogeneous", MANY, 1e-6),
    Case("Laplace(1) T=1 delta=1e-06", "small T", (("laplace", 1.0, 1.0, 1),), 1e-6),
    Case("Laplace(0.5) T=4 delta=1e-06", "small T", (("laplace", 0.5, 1.0, 4),), 1e-6),
    _training("small T", 0.001, 0.5, 1, 1e-6),
    _training("small T", 0.01, 1.0, 4, 1e-6),
    _training("small T", 0.001, 0.5, 100, 1e-6),
    Case("sigma for epsilon=1, q=0.004267 T=3510 delta=1e-05", "calibration", _sgd(*ROW), 1e-5, "calibrate", 1.0),
    Case("sigma for epsilon=8, q=0.01 T=1e+04 delta=1e-06", "calibration", _sgd(0.01, 1.0, 10**4), 1e-6, "calibrate", 8.0),
    Case("10 rates x 10 sigmas, T=1000 delta=1e-06", "sweep", SWEEP, 1e-6, "sweep"),
    Case("import and q=0.004267 sigma=1.1 T=3510 delta=1e-05", "first call", _sgd(*ROW), 1e-5, "first"),
)
