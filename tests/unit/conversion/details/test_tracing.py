"""The statistic of tracing attacks by enumeration, and the error bound by its inequality."""

import contextlib
import itertools
import math
import random

import pytest
from mpmath import mp, mpf

import hockeystick as hs
from hockeystick import conversion


def by_enumeration(f, n):
    """Steinke 2022, Lemma 26, for a function of n bits: over all of them, integrated over P."""

    def conditional(p):
        correlation = mean = mpf(0)
        for x in itertools.product((0, 1), repeat=n):
            chance = math.prod((p if one else 1 - p) for one in x)
            correlation += chance * (f(x) - p) * (sum(x) - n * p)
            mean += chance * (f(x) - mpf(sum(x)) / n)
        return correlation + mean * mean

    return mp.quad(conditional, [0, 1])


@pytest.mark.parametrize("n", [1, 3, 4])
def test_the_statistic_is_that_of_the_lemma(n):
    rng = random.Random(n)
    table = {x: rng.random() for x in itertools.product((0, 1), repeat=n)}
    answers = [math.fsum(table[x] for x in table if sum(x) == s) / math.comb(n, s) for s in range(n + 1)]
    truth = by_enumeration(table.__getitem__, n)
    found = conversion.tracing_statistic(answers)
    assert found == pytest.approx(float(truth), rel=1e-13)
    assert found >= 1 / 12


def test_statistics_in_closed_form():
    assert conversion.tracing_statistic([0.0, 0.0, 1.0, 1.0]) == pytest.approx(43 / 210, abs=1e-16)
    assert conversion.tracing_statistic([0.5] * 9) == pytest.approx(1 / 12, abs=1e-16)
    assert conversion.tracing_statistic([s / 8 for s in range(9)]) == pytest.approx(1 / 6, abs=1e-16)
    for answers, error in (([0.5], hs.BadValue), ([0.5] * 302, hs.BadValue), ([0.5, 1.5], hs.BadValue), ("01", hs.BadType)):
        with pytest.raises(error):
            conversion.tracing_statistic(answers)


def test_the_sharper_error_obeys_its_inequality_and_no_less_does():
    rng = random.Random(7)
    for _ in range(50):
        n, k = rng.randrange(1, 5000), rng.randrange(1, 10**7)
        epsilon, delta = 10.0 ** rng.uniform(-3, 0.7), rng.choice((0.0, 10.0 ** rng.uniform(-9, -4) / n))
        found = conversion.mean_error_lower_bound_sharp(n, k, epsilon, delta)

        def short(a, n=n, k=k, epsilon=epsilon, delta=delta):
            bracket = max(mpf(0), mpf(1) / 6 - 2 * a * a - 4 * n * mpf(delta))
            return bracket**2 * k / (2 * n**2 * mp.expm1(mpf(epsilon)) ** 2) - a * a - mpf(1) / (6 * n)

        if found:
            assert short(mpf(found)) >= 0 >= short(mpf(found) * (1 + mpf(10) ** -12))
        else:
            assert short(mpf(0)) <= 0
        with contextlib.suppress(hs.Unsupported):
            assert found > conversion.mean_error_lower_bound(n, k, epsilon, delta) or found >= 0.1
    assert conversion.mean_error_lower_bound_sharp(10, 1000, 0.0) == pytest.approx(math.sqrt(1 / 12))
    assert conversion.mean_error_lower_bound_sharp(10, 1000, 1.0, 0.01) == 0.0
    assert conversion.mean_error_lower_bound_sharp(10, 1000, 1e3) == 0.0
