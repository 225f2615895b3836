"""The big-jump identity, on runs whose every outcome is listed: both ends hold, and close where jumps are never taken back."""

import itertools
import math

import pytest
from mpmath import mp, mpf

from hockeystick.loss.bigjump.identity import BigJumpIdentity, lift_of

# values, with their masses under P and Q: two small losses and a large one
STEP = [(-0.1, 0.4), (0.15, 0.0), (6.0, 0.0)]


def step(large: float) -> list[tuple[mpf, mpf, mpf]]:
    """(z, p, q) with q of the large loss given; the other two make both laws whole."""
    z0, z1, z2 = (mpf(z) for z, _ in STEP)
    q2 = mpf(large)
    p2 = q2 * mp.exp(z2)
    # q0 + q1 = 1 - q2 and q0 e^z0 + q1 e^z1 = 1 - p2
    q1 = ((1 - p2) - (1 - q2) * mp.exp(z0)) / (mp.exp(z1) - mp.exp(z0))
    q0 = 1 - q2 - q1
    return [(z0, q0 * mp.exp(z0), q0), (z1, q1 * mp.exp(z1), q1), (z2, p2, q2)]


class Listed:
    """log delta of the outcomes without a large loss, exactly."""

    def __init__(self, law: list[tuple[mpf, mpf, mpf]], count: int) -> None:
        self.outcomes = [
            (mp.fsum(z for z, _, _ in some), mp.fprod(p for _, p, _ in some)) for some in itertools.product(law[:2], repeat=count)
        ]

    def _value(self, epsilon: float) -> float:
        total = mp.fsum(p * -mp.expm1(epsilon - z) for z, p in self.outcomes if z > epsilon)
        return float(mp.log(total)) if total else -math.inf

    def estimate(self, epsilon: float) -> tuple[float, float]:
        return max(self._value(epsilon), -1e3), -1.0

    lower = upper = _value


class Enumerated(BigJumpIdentity):
    """Q(S < eps, some) from the list of outcomes."""

    pace = 1.0

    def __init__(self, large: float, count: int, lift: float = 0.0) -> None:
        self.law, self.count, self.lift = step(large), count, lift
        self.remainder = Listed(self.law, count)
        p, q = (float(self.law[2][place] * mp.exp(mpf(lift))) for place in (1, 2))
        self.set_large([(p, q, count, 1e-15)])

    def outcomes(self):
        for some in itertools.product(range(3), repeat=self.count):
            yield (
                2 in some,
                mp.fsum(self.law[i][0] for i in some),
                mp.fprod(self.law[i][1] for i in some),
                mp.fprod(self.law[i][2] for i in some),
            )

    def compensation(self, epsilon: float) -> float:
        below = mp.fsum(q for large, z, _, q in self.outcomes() if large and z < epsilon)
        return float(below * mp.exp(mpf(self.lift))) * (1.0 + 1e-12)

    def delta(self, epsilon: float) -> mpf:
        return mp.fsum(p * -mp.expm1(epsilon - z) for _, z, p, _ in self.outcomes() if z > epsilon)


@pytest.fixture(autouse=True)
def _digits():
    with mp.workdps(60):
        yield


@pytest.mark.parametrize("large", [1e-4, 1e-9])
@pytest.mark.parametrize("count", [1, 2, 5])
def test_some_are_counted_as_they_are(large, count):
    run = Enumerated(large, count)
    for value, place in ((run.p, 1), (run.q, 2)):
        truth = 1 - (1 - run.law[2][place]) ** count
        assert abs(mpf(value) - truth) <= run.large_error * truth
    assert run.large_error < 1e-13


@pytest.mark.parametrize("large", [1e-4, 1e-9])
@pytest.mark.parametrize("count", [1, 2, 5])
@pytest.mark.parametrize("epsilon", [0.0, 0.2, 0.5, 2.0, 5.9, 6.05, 9.0])
def test_both_ends_hold_for_every_epsilon(large, count, epsilon):
    run = Enumerated(large, count)
    truth = run.delta(epsilon)
    assert mp.exp(mpf(run.lower(epsilon))) <= truth <= mp.exp(mpf(run.upper(epsilon)))
    if epsilon < 5.0:  # no jump is taken back
        assert run.upper(epsilon) - run.lower(epsilon) < 1e-12
        assert run.estimate(epsilon)[0] == pytest.approx(float(mp.log(truth)), abs=1e-9)


@pytest.mark.parametrize("count", [1, 3])
def test_what_is_no_double_is_lifted(count):
    """Jumps of probability 1e-330, in units of e^-lift."""
    run = Enumerated(mpf("1e-330"), count, lift=lift_of(-755.0))
    for epsilon in (1.0, 4.0):
        truth = mp.log(run.delta(epsilon))
        assert run.lower(epsilon) <= truth <= run.upper(epsilon)
        assert run.upper(epsilon) - run.lower(epsilon) < 1e-10


def test_the_lift():
    assert lift_of(-10.0) == lift_of(-500.0) == 0.0
    assert lift_of(-800.0) == 300.0


def test_far_out_nothing_is_proved_from_below():
    assert Enumerated(1e-9, 2).lower(601.0) == -math.inf
