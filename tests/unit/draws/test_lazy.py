"""Numbers of which digits are drawn as needed: every stream of digits, tried one by one."""

import math
from fractions import Fraction

import pytest
from mpmath import mp

from hockeystick.draws.choices import Response, one_selection
from hockeystick.draws.lazy import Exponential, Uniform, below, bernoulli, bernoulli_exp, coin
from hockeystick.draws.noise import discrete_laplace
from random_words import Few, law


def holds(found, left, expected, most_left):
    """Each probability is between what was decided and that and what was left."""
    assert sum(found.values()) + left == 1
    assert left < most_left
    for drawn, probability in expected.items():
        low = found.get(drawn, Fraction(0))
        assert mp.mpf(low.numerator) / low.denominator <= probability, drawn
        high = low + left
        assert probability <= mp.mpf(high.numerator) / high.denominator, drawn


@pytest.mark.parametrize(
    ("exponent", "bits", "depth"),
    [
        (Fraction(1, 3), 1, 15),
        (Fraction(1, 2), 2, 7),
        (Fraction(1), 2, 7),
        (Fraction(5, 3), 2, 7),
        (Fraction(1, 1000), 3, 5),
    ],
)
def test_bernoulli_exp_by_all_streams_of_digits(exponent, bits, depth):
    found, left = law(lambda digits: bernoulli_exp(exponent, Few(digits, bits)), bits, depth)
    yes = mp.exp(-mp.mpf(exponent.numerator) / exponent.denominator)
    holds(found, left, {True: yes, False: 1 - yes}, 0.35)


def test_no_digit_is_drawn_for_certainty():
    assert bernoulli_exp(Fraction(0), Few([], 1))


@pytest.mark.parametrize("probability", [Fraction(0), Fraction(1), Fraction(1, 3), Fraction(3, 8), Fraction(1e-3)])
def test_bernoulli_by_all_streams_of_digits(probability):
    found, left = law(lambda digits: bernoulli(probability, Few(digits, 1)), 1, 12)
    assert found.get(True, 0) <= probability <= found.get(True, 0) + left
    assert left <= Fraction(1, 2**12)


@pytest.mark.parametrize("bits", [1, 2, 3])
@pytest.mark.parametrize("bound", [1, 2, 3, 5, 8])
def test_whole_numbers_by_all_streams_of_digits(bits, bound):
    found, left = law(lambda digits: below(bound, Few(digits, bits)), bits, 12 // bits)
    assert set(found) == set(range(bound))
    assert len(set(found.values())) == 1
    assert left < 0.3


def test_discrete_laplace_by_all_streams_of_digits():
    found, left = law(lambda digits: discrete_laplace(Fraction(2, 3), Few(digits, 2)), 2, 7)
    r = mp.exp(-mp.mpf(3) / 2)
    holds(found, left, {z: (1 - r) / (1 + r) * r ** abs(z) for z in range(-3, 4)}, 0.65)


@pytest.mark.parametrize(("epsilon", "others"), [(0.0, 2), (0.3, 1), (1.0, 2), (2.5, 4)])
def test_responses_by_all_streams_of_digits(epsilon, others):
    answers = Response(epsilon, others)
    found, left = law(lambda digits: answers.one(1, Few(digits, 2)), 2, 7)
    total = mp.exp(epsilon) + others
    expected = {z: (mp.exp(epsilon) if z == 1 else 1) / total for z in range(others + 1)}
    holds(found, left, expected, 0.55)
    lies = [one for answer, one in found.items() if answer != 1]
    assert len(set(lies)) == 1


@pytest.mark.parametrize("again", [True, False])
def test_selections_by_all_streams_of_digits(again):
    exponents = [Fraction(1, 2), Fraction(0), Fraction(2)]
    found, left = law(lambda digits: one_selection(exponents, again, Few(digits, 2)), 2, 7)
    p = [mp.exp(-0.5), mp.mpf(1), mp.exp(-2)]
    if again:
        expected = {i: p[i] / mp.fsum(p) for i in range(3)}
    else:  # the first that is taken, in each of the six orders
        orders = [(0, 1, 2), (0, 2, 1), (1, 0, 2), (1, 2, 0), (2, 0, 1), (2, 1, 0)]
        expected = dict.fromkeys(range(3), mp.mpf(0))
        for order in orders:
            before = mp.mpf(1)
            for i in order:
                expected[i] += before * p[i] / 6
                before *= 1 - p[i]
    holds(found, left, expected, 0.55)


def test_digits_are_compared_one_by_one():
    digits = Few([1, 0, 2, 1, 3], 2)
    one, other = Uniform(digits), Uniform(digits)
    assert other.less(one)
    two, three = Uniform(Few([2, 1, 0], 2)), Uniform(Few([2, 1, 3], 2))
    assert two.less(three)
    assert two.size == three.size == 6
    assert coin(Few([2], 2))
    assert not coin(Few([1], 2))


def test_multiples_are_rounded_down():
    for sign, size, expected in ((1, 4, 3), (-1, 6, -3)):
        one = Exponential(Few([1, 2, 3, 0], 2))  # 2 is not below 1, so the fraction is 0.13... in base 4
        assert (one.low, one.size) == (1, 2)
        assert one.times(Fraction(20, 3), 4, Fraction(1, 4), sign) == expected
        assert one.size == size
        assert math.floor(0.25 + sign * 20 / 3 * 7 / 16) == expected
