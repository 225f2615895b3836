"""Mechanisms that run: what goes in, what comes out, and what is refused."""

import math
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest

import hockeystick as hs
from hockeystick.draws.choices import poisson_sample, shuffled, subset
from random_words import chance
from twins import pure

SEED = hs.InsecureSeed
LEAST = 1e-9  # the chance of a chi-square that fails by accident
GAUSSIAN = hs.Gaussian(sigma=2.0)
NOISES = (GAUSSIAN, hs.Laplace(scale=2.0), hs.DiscreteLaplace(scale=2.0), hs.DiscreteGaussian(sigma=2.0))


@pytest.mark.parametrize("noise", NOISES, ids=repr)
def test_numbers_give_numbers_and_arrays_arrays(noise):
    whole = isinstance(noise, hs.DiscreteLaplace | hs.DiscreteGaussian)
    more = {"disjoint": True} if isinstance(noise, hs.DiscreteGaussian) else {}
    for value in (3, np.int8(3), np.float32(3.0), 3.0, np.array(3)):
        assert type(noise.release(value)) is (int if whole else float) or isinstance(value, np.ndarray)
    for value in ([1, 2, 3], np.zeros((2, 3), dtype=np.int16), np.zeros((0, 2)), [[1.0], [2.0]], np.arange(6)[::2]):
        found = noise.release(value, **more)
        assert found.shape == np.shape(value)
        assert found.dtype == (np.int64 if whole else np.float64)
    frozen = np.zeros(3)
    frozen.flags.writeable = False
    assert noise.release(frozen, **more).shape == (3,)
    assert not frozen.any()


@pytest.mark.parametrize("noise", NOISES, ids=repr)
def test_what_goes_in_is_not_rounded(noise):
    for wrong, error in (
        (math.nan, hs.BadValue),
        ([1.0, math.inf], hs.BadValue),
        (np.array([-math.inf]), hs.BadValue),
        (None, hs.BadType),
        ("3", hs.BadType),
        (True, hs.BadType),
        ([1.0, False], hs.BadType),
        (np.array([True]), hs.BadType),
        (1j, hs.BadType),
        ([[1.0], [1.0, 2.0]], hs.BadType),
        (Fraction(1, 3), hs.BadValue),
    ):
        with pytest.raises(error, match="value"):
            noise.release(wrong)
    with pytest.raises(hs.BadType, match="rng"):
        noise.release(0, rng=np.random.default_rng(1))
    if isinstance(noise, hs.DiscreteLaplace | hs.DiscreteGaussian):
        for wrong in (0.5, [1.0, 2.5], 2.0**60):
            with pytest.raises(hs.BadValue, match="whole number"):
                noise.release(wrong)
        assert abs(noise.release(10**40) - 10**40) < 1000
    else:
        for wrong in (2**53 + 1, [2**60 + 1, 0.5], np.array([2**53 + 1]), 10**400):
            with pytest.raises(hs.BadValue, match="double"):
                noise.release(wrong)
        assert noise.release(2**60) > 2.0**59


def test_one_discrete_gaussian_is_for_one_number():
    noise = hs.DiscreteGaussian(sigma=2.0)
    with pytest.raises(hs.Unsupported, match="disjoint=True"):
        noise.release([1, 2])
    assert noise.release([1]).shape == (1,)


@pytest.mark.parametrize(
    "run",
    [
        GAUSSIAN * 2,
        GAUSSIAN + hs.Laplace(scale=1.0),
        hs.compose([]),
        hs.PureDP(epsilon=1.0),
        hs.GDP(mu=1.0),
        hs.RDP(orders=(2.0,), values=(0.1,)),
        hs.Profile(claims=((1.0, 1e-6),)),
        hs.GaussianMixture(sigma=2.0, moves=(0, 1), weights=(0.5, 0.5)),
        GAUSSIAN.full_pass(by="id"),
        GAUSSIAN.poisson(rate=0.1).group(2),
        GAUSSIAN.without_replacement(batch=1, examples=10).group(2),
        hs.Shuffled(hs.RandomizedResponse(epsilon=1.0), count=10),
        hs.dpsgd(examples=100, batch=10, sigma=1.0, steps=2, sampler="poisson"),
    ],
    ids=repr,
)
def test_what_is_not_run_says_what_to_do(run):
    with pytest.raises(hs.Unsupported, match=r"is not released: .*\. +Release "):
        run.release(1.0)


@pytest.mark.parametrize("twin", ["as installed", "pure"])
def test_responses_and_selections_have_their_law(twin):
    size = 20_000 if twin == "as installed" else 3000

    def check():
        answers = hs.RandomizedResponse(epsilon=1.5, categories=4).release(np.full(size, 2))
        weights = np.exp(1.5 * (np.arange(4) == 2))
        assert chance(np.bincount(answers, minlength=4), size * weights / weights.sum()) > LEAST
        scores, weights = [3.0, 5.0, 4.5], np.exp([-2.0 / 2, 0.0, -0.5 / 2])
        count = size // 10
        chosen = Counter(hs.Exponential(epsilon=1.0).release(scores) for _ in range(count))
        assert chance([chosen[i] for i in range(3)], count * weights / weights.sum()) > LEAST
        weights = weights**4  # monotone and half the sensitivity
        chosen = Counter(hs.Exponential(epsilon=1.0).release(scores, sensitivity=0.5, monotone=True) for _ in range(count))
        assert chance([chosen[i] for i in range(3)], count * weights / weights.sum()) > LEAST
        p, q = math.exp(-1.0), math.exp(-0.25)
        taken = np.array([p * (1 / 3 + (1 - q) / 6), 0.0, q * (1 / 3 + (1 - p) / 6)])
        taken[1] = 1.0 - taken.sum()
        chosen = Counter(hs.permute_and_flip(scores, epsilon=1.0) for _ in range(count))
        assert chance([chosen[i] for i in range(3)], count * taken) > LEAST

    if twin == "pure":
        with pure():
            check()
    else:
        check()


def test_permute_and_flip_is_as_private_as_it_says():
    """The exact probabilities for neighbouring scores, in fractions of a weight of 2: epsilon is reached, never exceeded."""

    def law(scores, base):
        """Weights base^(score - best), in all orders."""
        p = [Fraction(base) ** (score - max(scores)) for score in scores]
        first, second = (p[0] + p[0] * (1 - p[1])) / 2, (p[1] + p[1] * (1 - p[0])) / 2
        return first, second

    worst = Fraction(0)
    for score in range(-3, 4):
        for move in (-1, 0, 1):
            for other in (-1, 0, 1):
                one, two = law((score, 0), 2), law((score + move, other), 2)
                worst = max(worst, *(a / b for a, b in zip(one, two, strict=True)))
    assert worst == 4  # base^(2 sensitivity)


def test_bad_selections():
    for call, error in (
        (lambda: hs.Exponential(epsilon=1.0).release([]), hs.BadValue),
        (lambda: hs.Exponential(epsilon=1.0).release([1.0, math.nan]), hs.BadValue),
        (lambda: hs.Exponential(epsilon=1.0).release([1.0, -math.inf]), hs.BadValue),
        (lambda: hs.Exponential(epsilon=1.0).release([[1.0]]), hs.BadValue),
        (lambda: hs.Exponential(epsilon=1.0).release(["a"]), hs.BadType),
        (lambda: hs.Exponential(epsilon=1.0).release([1.0], sensitivity=0.0), hs.BadValue),
        (lambda: hs.permute_and_flip([1.0], epsilon=-1.0), hs.BadValue),
        (lambda: hs.permute_and_flip(3.0, epsilon=1.0), hs.BadValue),
        (lambda: hs.RandomizedResponse(epsilon=1.0).release(2), hs.BadValue),
        (lambda: hs.RandomizedResponse(epsilon=1.0).release([0, -1]), hs.BadValue),
        (lambda: hs.RandomizedResponse(epsilon=1.0).release(0.5), hs.BadValue),
        (lambda: hs.RandomizedResponse(epsilon=1.0).release("yes"), hs.BadType),
    ):
        with pytest.raises(error, match=r"\w"):
            call()
    assert hs.Exponential(epsilon=0.0).release([1.0, 2.0]) in (0, 1)
    assert hs.Exponential(epsilon=600.0).release([1e308, -1e308, 10**400]) == 2
    assert hs.RandomizedResponse(epsilon=600.0, categories=3).release([[0, 1], [2, 0]]).tolist() == [[0, 1], [2, 0]]


def test_samples_are_samples():
    step = GAUSSIAN.poisson(rate=0.3)
    sizes = [len(step.sample(50)) for _ in range(300)]
    assert abs(np.mean(sizes) - 15.0) < 6.0 * math.sqrt(50 * 0.21 / 300)
    assert GAUSSIAN.poisson(rate=1.0).sample(5).tolist() == list(range(5))
    assert GAUSSIAN.poisson(rate=0.0).sample(5).tolist() == []
    batch = GAUSSIAN.without_replacement(batch=4, examples=9)
    assert all(len(set(batch.sample().tolist())) == 4 for _ in range(50))
    assert GAUSSIAN.without_replacement(batch=9, examples=9).sample().tolist() == list(range(9))
    words = SEED(5)._words
    count = Counter(tuple(subset(2, 5, words).tolist()) for _ in range(3000))
    assert len(count) == 10
    assert chance(list(count.values()), [300.0] * 10) > LEAST
    orders = Counter(tuple(shuffled(3, words)) for _ in range(3000))
    assert len(orders) == 6
    assert chance(list(orders.values()), [500.0] * 6) > LEAST
    assert shuffled(0, words) == []
    assert len(GAUSSIAN.with_replacement(draws=7, examples=3).sample()) == 7
    assert len(poisson_sample(1e-300, 1000, words)) == 0
    assert step.sample(50, SEED(1)).tolist() == step.sample(50, SEED(1)).tolist()
    with pytest.raises(hs.BadValue, match="examples"):
        step.sample(-1)


def test_what_is_released_of_a_sample():
    quiet = hs.Gaussian(sigma=1e-9)
    rows = np.tile([[0.6, 0.8], [3.0, 4.0], [0.0, -0.5]], (10, 1))  # the second is clipped
    found = quiet.poisson(rate=1.0).release(rows)
    assert found == pytest.approx([12.0, 11.0], abs=1e-7)
    assert quiet.poisson(rate=1.0).release(rows, expected=30) == pytest.approx([0.4, 11.0 / 30], abs=1e-7)
    assert quiet.without_replacement(batch=30, examples=30).release(rows) == pytest.approx([12.0, 11.0], abs=1e-7)
    assert quiet.poisson(rate=1.0).release([0.5, 7.0, -0.25]) == pytest.approx(1.25, abs=1e-7)
    assert hs.Laplace(scale=1e-9).poisson(rate=1.0).release([[2.0, 2.0]]) == pytest.approx([0.5, 0.5], abs=1e-7)
    assert quiet.poisson(rate=1.0).release(np.zeros((4, 2, 3))).shape == (2, 3)
    assert quiet.poisson(rate=0.0).release([]) == pytest.approx(0.0, abs=1e-7)
    assert hs.DiscreteLaplace(scale=0.01).poisson(rate=1.0).release([1, 5, -1, 1]) == 2
    draws = quiet.with_replacement(draws=50, examples=2).release([1.0, 0.0])
    assert 5.0 < draws < 45.0
    assert draws == pytest.approx(round(draws), abs=1e-7)
    assert hs.RandomizedResponse(epsilon=600.0).poisson(rate=1.0).release(["a", "b"], query=lambda sample: len(sample) - 1) == 1
    assert hs.Exponential(epsilon=600.0).poisson(rate=1.0).release(rows, query=lambda sample: sample.sum(axis=0)) == 1
    one, other = (GAUSSIAN.poisson(rate=0.5).release(rows, SEED(2)) for _ in range(2))
    assert np.array_equal(one, other)


def test_what_is_not_released_of_a_sample():
    rows = [0.5, 1.0]
    for call, error, words in (
        (lambda: (GAUSSIAN * 2).poisson(rate=0.5).release(rows), hs.Unsupported, "an answer for each part"),
        (lambda: hs.PureDP(epsilon=1.0).poisson(rate=0.5).release(rows), hs.Unsupported, "query=function"),
        (
            lambda: hs.Gaussian(sigma=1.0, replace_sensitivity=1.5).poisson(rate=0.5).release(rows),
            hs.Unsupported,
            "replace_sensitivity",
        ),
        (lambda: hs.DiscreteLaplace(scale=1.0).poisson(rate=1.0).release([[1, 2]]), hs.Unsupported, "one number each"),
        (lambda: GAUSSIAN.poisson(rate=0.5).release(3.0), hs.BadType, "the records"),
        (lambda: GAUSSIAN.poisson(rate=0.5).release([math.nan, 1.0]), hs.BadValue, "nan"),
        (lambda: GAUSSIAN.poisson(rate=0.5).release(rows, expected=0.0), hs.BadValue, "expected"),
        (lambda: GAUSSIAN.poisson(rate=0.5).release(rows, query=sum, expected=2.0), hs.BadValue, "one of them"),
        (lambda: GAUSSIAN.poisson(rate=0.5).release(rows, query=3), hs.BadType, "query"),
        (lambda: GAUSSIAN.poisson(rate=0.5).release(rows, query=lambda sample: math.inf), hs.BadValue, "inf"),
        (lambda: GAUSSIAN.without_replacement(batch=1, examples=3).release(rows), hs.BadValue, "2 records are given; allowed: 3"),
        (lambda: GAUSSIAN.with_replacement(draws=1, examples=3).release(rows), hs.BadValue, "2 records are given; allowed: 3"),
    ):
        with pytest.raises(error, match=words):
            call()


def test_releases_of_the_same_value_differ():
    """The operating system's randomness, without a seed."""
    assert len({GAUSSIAN.release(0.0) for _ in range(20)}) == 20
    assert len(set(hs.Laplace(scale=1.0).release(np.zeros(1000)).tolist())) == 1000


class Labelled:
    """As a pandas Series: `[...]` goes by labels, `iloc` by places."""

    dtype = np.dtype(np.int64)

    def __init__(self, numbers, labels):
        self.iloc, self.labels = np.array(numbers), np.array(labels)

    def __len__(self):
        return len(self.iloc)

    def __array__(self, dtype=None, copy=None):
        return self.iloc.astype(dtype or self.iloc.dtype)

    def __getitem__(self, wanted):
        return np.concatenate([self.iloc[self.labels == one] for one in wanted])


def test_samples_go_by_places():
    series = Labelled([1] * 8, [0, 0, 0, 0, 0, 0, 1, 2])  # no record has the labels 3 to 7
    whole = hs.DiscreteLaplace(scale=0.01)
    found = [whole.poisson(rate=0.05).release(series, SEED(seed)) for seed in range(200)]
    assert found == [whole.poisson(rate=0.05).release([1] * 8, SEED(seed)) for seed in range(200)]
    assert max(found) < 6
    assert whole.poisson(rate=1.0).release(series, query=sum) == 8
    for wrong in ({0: 1, 1: 1}, {0, 1}, {0: 1, 1: 1}.values()):
        for step in (whole.poisson(rate=0.0), whole.without_replacement(batch=1, examples=2)):
            with pytest.raises(hs.BadType, match="no places"):
                step.release(wrong, query=len)


@pytest.mark.parametrize("noise", [hs.DiscreteGaussian(sigma=1.0), hs.DiscreteLaplace(scale=1.0), GAUSSIAN])
def test_all_records_are_checked_also_those_that_are_not_drawn(noise):
    wrong = [1, math.nan] if noise is GAUSSIAN else [1, 2.5]
    with pytest.raises(hs.BadValue, match="value"):
        noise.poisson(rate=0.0).release(wrong)


@pytest.mark.parametrize("noise", [hs.DiscreteGaussian(sigma=2.0), hs.DiscreteLaplace(scale=2.0)])
def test_the_kind_of_an_array_says_nothing_of_the_value(noise):
    for value in (2**62 - 1, 2**62, 2**62 + 1, -(2**62) - 1):
        assert noise.release([value]).dtype == np.int64
    assert noise.release([2**64]).dtype == object
    wide = hs.DiscreteLaplace(scale=2.0**62)
    for value in [0, 2**62 + 1] * 50:
        found = wide.release([value])
        assert (found.dtype == np.int64) == (-(2**63) <= found.tolist()[0] < 2**63)


def test_what_is_masked_is_not_released():
    hidden = np.ma.array([1, 2], mask=[False, True])
    for call in (
        lambda: GAUSSIAN.release(hidden),
        lambda: GAUSSIAN.release([hidden, [1, 2]]),
        lambda: GAUSSIAN.release([1.0, np.ma.masked]),
        lambda: hs.DiscreteLaplace(scale=1.0).release(hidden),
        lambda: hs.RandomizedResponse(epsilon=1.0).release(hidden),
        lambda: hs.Exponential(epsilon=1.0).release(hidden),
        lambda: hs.permute_and_flip(hidden, epsilon=1.0),
        lambda: GAUSSIAN.poisson(rate=0.0).release(hidden),
        lambda: hs.DiscreteLaplace(scale=1.0).poisson(rate=0.0).release(hidden),
    ):
        with pytest.raises(hs.BadType, match="masked"):
            call()


@pytest.mark.parametrize("flag", ["no", 1, None])
def test_flags_are_true_or_false(flag):
    for call in (
        lambda: hs.Exponential(epsilon=1.0).release([1.0, 2.0], monotone=flag),
        lambda: hs.permute_and_flip([1.0, 2.0], epsilon=1.0, monotone=flag),
        lambda: hs.DiscreteGaussian(sigma=1.0).release([1, 2], disjoint=flag),
    ):
        with pytest.raises(hs.BadType, match="True or False"):
            call()
    assert hs.DiscreteGaussian(sigma=1.0).release([1, 2], disjoint=np.True_).shape == (2,)


def test_scores_of_several_kinds():
    choose = hs.Exponential(epsilon=600.0).release
    for kind in (np.float16, np.float32, np.longdouble, np.int64, Fraction):
        assert choose([kind(3), 1.0]) == 0
        assert choose([1.0, kind(3), Fraction(1, 3)]) == 1
    assert choose([np.int64(2**62), 0.5, -np.longdouble(0.25)]) == 0
    assert choose(np.array([1.0, 3.0], dtype=np.longdouble)) == 1


def test_what_numpy_cannot_read_is_told():
    class Tensor:
        def __init__(self, error):
            self.error = error

        def __array__(self, dtype=None, copy=None):
            raise self.error

    for error in (RuntimeError("requires grad"), TypeError("BFloat16")):
        for call in (GAUSSIAN.release, hs.DiscreteLaplace(scale=1.0).release, hs.Exponential(epsilon=1.0).release):
            with pytest.raises(hs.BadType, match=f"cannot read.*{error}"):
                call(Tensor(error))


def test_a_response_of_a_sample_is_one_category():
    step = hs.RandomizedResponse(epsilon=1.0).poisson(rate=0.5)
    for query in (lambda sample: sample, np.array, lambda sample: np.array(sample[:1]), lambda sample: "yes"):
        with pytest.raises(hs.BadType, match="one category"):
            step.release([0, 1, 1], query=query)
    assert step.release([0, 1, 1], query=lambda sample: np.array(1)) in (0, 1)


def test_a_table_of_no_records_has_the_width_of_its_rows():
    """An error there would say that nobody is in it."""
    for step in (hs.Gaussian(sigma=2.0), hs.Laplace(scale=2.0)):
        assert step.poisson(rate=0.5).release(np.zeros((0, 3))).shape == (3,)
        assert isinstance(step.poisson(rate=0.5).release([]), float)
