"""Releases and bounds in notebooks, as text and as pictures."""

import re

import numpy as np
import pytest

import hockeystick as hs


def rows(page):
    return [re.findall(r"<td[^>]*>(?:<b>)?(.*?)(?:</b>)?</td>", row) for row in re.findall(r"<tr>(.*?)</tr>", page)]


def test_a_release_is_a_table_of_its_parts():
    run = hs.dpsgd(examples=60_000, batch=256, sigma=1.1, epochs=1, sampler="poisson") + hs.Laplace(scale=50.0) * 2
    page = run._repr_html_()
    assert [row[0] for row in rows(page)] == ["uses", "235", "2"]
    for words in ("Laplace noise of scale 50", "add-or-remove", "235 steps"):
        assert words in page
    assert "&lt;lambda&gt;" in hs.Profile(lambda _: 1e-6)._repr_html_()
    assert rows(hs.compose([])._repr_html_()) == [["uses", "what", "sample"]]


def test_bounds_are_a_table_rounded_outwards():
    page = hs.Bounds(1.23456789012345, 1.23456789012346)._repr_html_()
    assert rows(page) == [["at least", "at most"], ["1.23456789", "1.234567891"]]
    many = hs.Bounds(np.zeros(30), np.full(30, np.inf), tight=False)._repr_html_()
    assert len(rows(many)) == 21
    for words in ("The first 20 of 30", "infinity", "may be more than is needed"):
        assert words in many


def test_bounds_as_text():
    assert str(hs.Bounds(1.0, 2.0)) == "1 <= truth <= 2"
    assert str(hs.Bounds(0.1, 0.1, tight=False)).startswith("0.1 <= truth <= 0.1000000001, the upper end not known")
    assert str(hs.Bounds(np.array([1.0, 2.0]), np.array([1.5, 2.5]))) == "lower [1. 2.], upper [1.5 2.5]"
    assert repr(hs.Bounds(1.0, 2.0)) == "Bounds(lower=1.0, upper=2.0, tight=True)"


def test_a_run_draws_itself():
    run = hs.Gaussian(sigma=2.0) * 3
    for kind in ("profile", "tradeoff"):
        (axes,) = run.plot(delta=1e-6, kind=kind).axes
        assert axes.get_xlabel()
    with pytest.raises(hs.BadValue, match="did you mean tradeoff"):
        run.plot(delta=1e-6, kind="trade-off")
    with pytest.raises(hs.BadType, match="kind is 3"):
        run.plot(delta=1e-6, kind=3)
