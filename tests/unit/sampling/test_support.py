"""What is refused, and the table of what is answered."""

import doctest

import pytest

import hockeystick as hs
from hockeystick.sampling import support
from places import ROOT
from sampled_cases import GAUSSIAN


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: GAUSSIAN.without_replacement(batch=11, examples=10), ["batch is 11", "with_replacement"]),
        (lambda: GAUSSIAN.without_replacement(batch=1, examples=0), ["examples", "0"]),
        (lambda: GAUSSIAN.with_replacement(draws=3, examples=1), ["examples is 1"]),
        (lambda: GAUSSIAN.full_pass(by="luck"), ["'luck'", "position"]),
        (lambda: GAUSSIAN.poisson(0.5).without_replacement(batch=1, examples=2), ["sample of a sample"]),
        (lambda: (GAUSSIAN + hs.Laplace(scale=1.0)).with_replacement(draws=1, examples=2), ["joint loss"]),
        (lambda: hs.Exponential(epsilon=1.0).with_replacement(draws=2, examples=9).delta(1.0), ["groups", "without replacement"]),
        (
            lambda: hs.Profile(lambda e: max(0.0, 0.5 - e)).poisson(rate=0.1).delta(1.0, neighbours="replace"),
            ["profiles", "add-or-remove"],
        ),
        (lambda: hs.GDP(mu=1.0, neighbours="replace").poisson(rate=0.1), ["add-or-remove"]),
    ],
)
def test_refusals_say_what_to_do(call, words):
    with pytest.raises((hs.BadValue, hs.Unsupported)) as raised:
        call()
    for word in words:
        assert word in str(raised.value)


def test_the_table_is_what_the_code_says():
    page = (ROOT / "docs" / "sampling.md").read_text(encoding="utf-8")
    assert page.split("<!-- table -->\n")[1].split("\n<!-- end -->")[0] == support.table()


def test_the_examples_of_the_page():
    failed, tried = doctest.testfile(str(ROOT / "docs" / "sampling.md"), module_relative=False)
    assert tried > 8
    assert failed == 0
