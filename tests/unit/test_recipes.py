"""Recipes against laws of their own: quadratic losses, enumerated partitions, binomial mixtures, certificates of contraction."""

import math

import numpy as np
import pytest
from scipy.stats import binom, norm

import hockeystick as hs
from hockeystick import recipes


def test_adaptive_clipping_is_one_gaussian_sum():
    run = recipes.adaptive_clipping(sigma=1.1, count_sigma=12.8, rate=0.004, steps=3500)
    joint = (1.1**-2 + (2.0 * 12.8) ** -2) ** -0.5
    same = hs.Gaussian(sigma=joint).poisson(rate=0.004) * 3500
    for relation in ("add-or-remove", "zero-out", "replace"):
        assert run.epsilon(1e-5, relation) == pytest.approx(same.epsilon(1e-5, relation), rel=1e-9)


def _mixture_delta(weights, sigma, epsilon, remove):
    """delta of sum w_k N(k) against N(0), by the place where the ratio is e^epsilon."""
    x = np.linspace(-12.0 * sigma, len(weights) + 12.0 * sigma, 400_001)
    present = sum(w * norm.pdf(x, k, sigma) for k, w in enumerate(weights))
    absent = norm.pdf(x, 0.0, sigma)
    p, q = (present, absent) if remove else (absent, present)
    return float(np.maximum(p - math.exp(epsilon) * q, 0.0).sum() * (x[1] - x[0]))


@pytest.mark.parametrize(("rate", "pieces"), [(0.1, 3), (0.9, 5)])
def test_microbatches_are_binomial_mixtures(rate, pieces):
    run = recipes.microbatches(sigma=2.0, rate=rate, microbatches=pieces, steps=1)
    weights = binom.pmf(np.arange(pieces + 1), pieces, rate)
    for order in ("remove", "add"):
        truth = _mixture_delta(weights, 2.0, 0.5, order == "remove")
        assert run.delta(0.5, order) == pytest.approx(truth, rel=1e-6)
    more = recipes.microbatches(sigma=4.0, rate=rate, microbatches=pieces, steps=50)
    same = (hs.Gaussian(sigma=4.0).poisson(rate=rate) * 50).group(pieces)
    assert more.epsilon(1e-6) == pytest.approx(same.epsilon(1e-6), rel=1e-5)


def test_user_level_is_the_group_with_its_words():
    run = hs.Gaussian(sigma=4.0).poisson(rate=0.01) * 1000
    people = recipes.user_level(run, records=3)
    assert people.epsilon(1e-6) == run.group(3).epsilon(1e-6)
    assert "at most 3 records" in people.statement
    trained = recipes.user_level(hs.dpsgd(examples=1000, batch=10, steps=5, sigma=2.0, sampler="poisson"), records=2)
    assert trained.notes[-1].startswith("Neighbours:")
    assert recipes.user_level(hs.Laplace(3.0).poisson(rate=0.1) * 3, records=2).statement.endswith("groups of 2 records.")


@pytest.mark.parametrize("noise", [hs.Gaussian(sigma=3.0), hs.Laplace(scale=3.0, sensitivity=2.0)])
@pytest.mark.parametrize("partitions", [1, 3])
def test_thresholded_counts_bound_every_split_of_the_partitions(noise, partitions):
    """j partitions of the person alone: an event that tells, and the noise of the others, of which `changed` change."""
    cut, least = 14.0, noise.sensitivity
    run = recipes.thresholded(noise, threshold=cut, partitions=partitions)
    tail = norm.sf((cut - least) / 3.0) if isinstance(noise, hs.Gaussian) else 0.5 * math.exp(-(cut - least) / 3.0)
    for alone in range(partitions + 1):
        shown, changed = 1.0 - (1.0 - tail) ** alone, partitions - alone
        rest = {
            hs.Gaussian: hs.Gaussian(3.0, sensitivity=least * math.sqrt(max(changed, 1))),
            hs.Laplace: hs.Laplace(3.0, sensitivity=least * max(changed, 1)),
        }[type(noise)]
        for epsilon in (0.3, 1.0, 2.5):
            shift = math.log1p(-shown)
            inner = [rest.delta_bounds(epsilon + sign * shift).lower if changed else 0.0 for sign in (-1.0, 1.0)]
            assert shown + (1.0 - shown) * inner[0] <= run.delta(epsilon, "remove") * (1.0 + 1e-9)
            assert inner[1] <= run.delta(epsilon, "add") * (1.0 + 1e-9)
    assert not run.epsilon_bounds(0.5).tight
    assert run.delta(50.0) == pytest.approx(1.0 - (1.0 - tail) ** partitions, rel=1e-9)


def test_far_thresholds_leave_the_noise():
    noise = hs.Gaussian(sigma=3.0)
    assert recipes.thresholded(noise, threshold=1e6).epsilon(1e-6) == pytest.approx(noise.epsilon(1e-6), rel=1e-9)
    assert recipes.thresholded(hs.Laplace(1.0), threshold=1e6).epsilon(1e-6) == pytest.approx(hs.Laplace(1.0).epsilon(1e-6))


@pytest.mark.parametrize("contraction", [0.0, 0.3, 0.9, 0.999999999, 1.0])
@pytest.mark.parametrize("steps", [1, 2, 50])
def test_a_quadratic_loss_attains_the_last_iterate(contraction, steps):
    """x -> c x + s + noise on the line: mean and variance in closed form."""
    mean = sum(contraction**k for k in range(steps))
    spread = sum(contraction ** (2 * k) for k in range(steps))
    mu = recipes.last_iterate(sigma=2.0, steps=steps, contraction=contraction).run.claimed_mu
    assert mu >= mean / math.sqrt(spread) / 2.0 * (1.0 - 1e-15)
    assert mu == pytest.approx(mean / math.sqrt(spread) / 2.0, rel=1e-12)


@pytest.mark.parametrize(
    ("contraction", "batches", "steps"), [(0.9, 4, 20), (0.5, 2, 6), (0.99, 10, 95), (1.0, 3, 12), (0.9, 7, 5)]
)
def test_batches_in_turn_have_a_certificate_and_bound_quadratic_losses(contraction, batches, steps):
    mu = recipes.last_iterate(sigma=1.0, steps=steps, contraction=contraction, batches=batches).run.claimed_mu
    epochs = -(-steps // batches)
    last = batches * epochs
    # shifts a of Lemma 61: all of the record's move in the last step, before that in proportion to c^(last - 1 - k)
    shape = [contraction ** (last - 1 - k) if k >= batches else 0.0 for k in range(1, last)]
    needed = sum(contraction ** (last - 1 - batches * e) for e in range(1, epochs))
    scale = needed / sum(x * x for x in shape) if epochs > 1 else 0.0
    shifts = [*(scale * x for x in shape), 1.0]
    apart = 0.0
    for k, shift in enumerate(shifts, 1):
        apart = contraction * apart + (1.0 if k % batches == 0 else 0.0) - shift
        assert apart >= -1e-12
    assert apart == pytest.approx(0.0, abs=1e-12)
    assert mu == pytest.approx(math.sqrt(sum(x * x for x in shifts)), rel=1e-9)
    for place in range(batches):
        uses = [k for k in range(1, steps + 1) if k % batches == place]
        mean = sum(contraction ** (steps - k) for k in uses)
        spread = sum(contraction ** (2 * (steps - k)) for k in range(1, steps + 1))
        assert mean / math.sqrt(spread) <= mu * (1.0 + 1e-12)


def test_recipes_are_written_read_and_reported():
    from hockeystick.cli.expression import release

    for run, words in (
        (recipes.adaptive_clipping(sigma=1.1, count_sigma=10.0, rate=0.01, steps=10), "1905.03871|Andrew et al."),
        (recipes.microbatches(sigma=2.0, rate=0.01, microbatches=4, steps=10), "2310.15526"),
        (recipes.thresholded(hs.Gaussian(sigma=10.0), threshold=60.0, partitions=4), "Lemma 60a"),
        (recipes.last_iterate(sigma=4.0, steps=100, contraction=0.9), "2403.00278"),
    ):
        assert hs.from_json(run.to_json()) == run
        assert any(word in run.statement for word in words.split("|"))
        assert "Assumed: " in run.statement
    assert "Assumed: for every data set" in " ".join(run.report(1e-6).to_text().split())
    assert release("recipes.last_iterate(sigma=4, steps=100, contraction=0.9)") == recipes.last_iterate(4.0, 100, 0.9)


@pytest.mark.parametrize(
    ("make", "error", "words"),
    [
        (lambda: recipes.last_iterate(sigma=1.0, steps=10, contraction=1.1), hs.BadValue, "expand"),
        (lambda: recipes.last_iterate(sigma=1.0, steps=10, contraction=math.nan), hs.BadValue, "contraction"),
        (lambda: recipes.last_iterate(sigma=0.0, steps=10, contraction=0.5), hs.BadValue, "sigma"),
        (lambda: recipes.last_iterate(sigma=1.0, steps=0, contraction=0.5), hs.BadValue, "steps"),
        (lambda: recipes.adaptive_clipping(sigma=1.0, count_sigma=9.0, rate=0.1, steps=0), hs.BadValue, "steps"),
        (lambda: recipes.microbatches(sigma=1.0, rate=0.1, microbatches=2, steps=0), hs.BadValue, "steps"),
        (lambda: recipes.thresholded(hs.Gaussian(1.0), threshold=0.5), hs.BadValue, "threshold"),
        (lambda: recipes.thresholded(hs.GDP(1.0), threshold=5.0), hs.Unsupported, "Gaussian"),
        (lambda: recipes.thresholded(2.0, threshold=5.0), hs.BadType, "noise"),
        (lambda: recipes.thresholded(hs.Gaussian(1.0), 5.0).epsilon(1e-6, "replace"), hs.Unsupported, "replacement"),
        (lambda: recipes.microbatches(sigma=1.0, rate=1.5, microbatches=2, steps=1), hs.BadValue, "rate"),
        (lambda: recipes.microbatches(sigma=1.0, rate=0.5, microbatches=0, steps=1), hs.BadValue, "microbatches"),
        (lambda: recipes.adaptive_clipping(sigma=1.0, count_sigma=-1.0, rate=0.5, steps=1), hs.BadValue, "sigma"),
        (lambda: recipes.user_level("run", records=2), hs.BadType, "run"),
    ],
)
def test_what_is_refused_is_said(make, error, words):
    with pytest.raises(error, match=words):
        make()
