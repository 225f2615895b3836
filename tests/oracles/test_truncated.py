"""Truncated Poisson sampling against all batches enumerated, binomial sums in many digits, and published figures."""

import math

import mpmath
import pytest

import hockeystick as hs
from truncated_batches import worst

ROUNDING = 1e-12  # of the oracle


@pytest.mark.parametrize("relation", ["zero-out", "replace", "add-or-remove"])
@pytest.mark.parametrize(
    ("records", "rate", "cap", "sigma", "epsilon"),
    [(4, 0.5, 2, 1.0, 0.5), (5, 0.3, 2, 0.6, 1.0), (5, 0.8, 3, 2.0, 0.1), (3, 0.05, 1, 0.5, 2.0), (4, 0.9, 1, 1.0, 0.0)],
)
def test_no_data_of_few_records_exceeds_the_bound(records, rate, cap, sigma, epsilon, relation):
    step = hs.Gaussian(sigma).truncated_poisson(rate=rate, cap=cap, examples=records)
    found = step.delta_bounds(epsilon, relation)
    truth = worst(records, rate, cap, sigma, math.exp(epsilon), relation)
    assert found.lower - ROUNDING <= truth <= found.upper + ROUNDING
    assert truth >= 0.15 * found.upper  # so that this says something


def test_the_lower_end_is_that_of_a_poisson_sample_of_the_kept_share():
    step = hs.Gaussian(1.0).truncated_poisson(rate=0.5, cap=2, examples=4)
    kept = sum(math.comb(3, k) * 0.5**4 * min(1.0, 2.0 / (k + 1)) for k in range(4))
    poisson = hs.Gaussian(1.0).poisson(rate=kept)
    for relation in ("zero-out", "replace", "add-or-remove"):
        assert step.delta_bounds(0.3, relation).lower == pytest.approx(poisson.delta_bounds(0.3, relation).lower, rel=1e-9)


FIGURES = [  # cap, epsilon zeroed out; dp_accounting 0.6.0 says so much
    (320, 1.133170, 1.16110),
    (300, 1.162547, 2.39448),
]


@pytest.mark.parametrize(("cap", "known", "published"), FIGURES)
def test_known_figures(cap, known, published):
    run = hs.Gaussian(1.1).truncated_poisson(rate=256 / 60_000, cap=cap, examples=60_000) * 3510
    found = run.epsilon_bounds(1e-5, "zero-out")
    assert found.upper == pytest.approx(known, abs=1e-6)
    assert found.upper < published
    assert found.lower >= run.epsilon_bounds(1e-5, "zero-out").lower > 1.13


def test_a_cap_that_no_batch_reaches_and_ends_of_the_rate():
    step = hs.Gaussian(1.0)
    for relation in ("zero-out", "replace", "add-or-remove"):
        whole = step.truncated_poisson(rate=0.2, cap=10, examples=10)
        assert whole.epsilon(1e-6, relation) == pytest.approx(step.poisson(rate=0.2).epsilon(1e-6, relation), rel=1e-12)
        every = step.truncated_poisson(rate=1.0, cap=3, examples=10)
        fixed = step.without_replacement(batch=3, examples=10)
        assert every.epsilon_bounds(1e-6, relation) == fixed.epsilon_bounds(1e-6, relation)
        assert step.truncated_poisson(rate=0.0, cap=3, examples=10).epsilon(1e-6, relation) == 0.0
        assert step.truncated_poisson(rate=0.2, cap=0, examples=10).epsilon(1e-6, relation) == 0.0
        # far above the mean nothing is cut, far below nearly everything is
        seldom = step.truncated_poisson(rate=0.01, cap=200, examples=5000) * 20
        assert seldom.epsilon(1e-6, relation) == pytest.approx((step.poisson(rate=0.01) * 20).epsilon(1e-6, relation), rel=5e-6)
        assert (step.truncated_poisson(rate=0.9, cap=20, examples=5000) * 20).epsilon(1e-6, relation) < 5.0


def shares(records: int, rate: float, cap: int) -> dict[str, mpmath.mpf]:
    """The weights and rates of Lemma 53 and of Lemma 55 as sums over how many others are drawn."""
    q = mpmath.mpf(rate)

    def chance(k: int) -> mpmath.mpf:
        return mpmath.binomial(records - 1, k) * q**k * (1 - q) ** (records - 1 - k)

    b = [chance(k) for k in range(records)]
    displaced = sum(q * b[k] * cap / mpmath.mpf(k + 1) for k in range(cap, records))
    inside, outside = q * b[cap - 1] + displaced, (1 - q) * b[cap - 1]
    few, full = sum(b[: cap - 1], mpmath.mpf(0)), sum(b[cap:], mpmath.mpf(0))
    return {
        "small": few,
        "edge": inside + outside,
        "edge rate": inside / (inside + outside),
        "full": full,
        "full rate": displaced / full,
        "rate": few * q + inside,
    }


@pytest.mark.parametrize(
    ("records", "rate", "cap"),
    [
        (2, 0.3, 1),
        (5, 1e-6, 4),
        (40, 0.5, 12),
        (40, 0.5, 30),
        (300, 0.01, 1),
        (300, 0.01, 9),
        (300, 0.999999, 299),
        (300, 0.9, 250),
    ],
)
def test_weights_are_rounded_outwards_and_close(records, rate, cap):
    from hockeystick.numerics.truncation import truncation

    with mpmath.workdps(60):
        known, found = shares(records, rate, cap), truncation(records, rate, cap)
        near = 1 + mpmath.mpf(4 * found.error + 1e-15)
        above = {
            "edge": found.edge.weight,
            "edge rate": found.edge.rate,
            "full": found.full.weight,
            "full rate": found.full.rate,
        }
        for name, one in above.items():
            assert min(known[name], 1) <= mpmath.mpf(one) <= known[name] * near + mpmath.mpf("1e-280") or one == 1.0, name
        total = mpmath.mpf(found.small.weight) + found.edge.weight
        assert known["small"] + known["edge"] <= total + mpmath.mpf(2.0**-53)
        assert total <= 1 + mpmath.mpf(2.0**-53)
        assert known["rate"] / near <= mpmath.mpf(found.rate) <= known["rate"]
        assert found.error < 1e-9
