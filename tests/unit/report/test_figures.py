"""The papers' figures: the numbers behind the curves, what the captions claim, and that they are drawn."""

import sys

import numpy as np
import pytest

import hockeystick as hs
from hockeystick import conversion
from hockeystick.report import figures


@pytest.fixture(scope="module")
def numbers():
    return {name: figures.data(name) for name in figures.FIGURES}


@pytest.fixture(scope="module")
def drawn():
    return {name: figures.draw(name) for name in figures.FIGURES}


def test_numbers_are_finite_arrays(numbers):
    for found in numbers.values():
        for values in found.values():
            assert isinstance(values, np.ndarray)
            assert np.all(np.isfinite(values))
            assert np.all(values >= 0.0)


def at(found, name, x, axis):
    (place,) = np.flatnonzero(found[axis] == x)
    return found[name][place]


def test_a1_is_theorem_3_above_theorem_4(numbers):
    for order, epsilon in ((2, 1), (5, 1), (10, 2)):
        pair = f"order {order}, epsilon {epsilon}"
        exact = numbers["a1"][f"theorem 3, {pair}"]
        assert np.all(numbers["a1"][f"theorem 4, {pair}"] <= exact * (1 + 1e-12))
        assert np.all(exact <= numbers["a1"][f"both directions, {pair}"] * (1 + 1e-12))
        assert np.all(np.diff(exact) > 0.0)


def test_a2_meets_the_reference(numbers):
    """SEEDS, answer (a)."""
    found = numbers["a2"]
    for count, classic, lemma, best, exact in (
        (1, 0.241176, 0.177507, 0.177498, 0.160042),
        (100, 2.524263, 2.165716, 2.165712, 1.993091),
        (1000, 8.837136, 8.078360, 8.078359, 7.511276),
    ):
        values = [at(found, name, count, "count") for name in ("moments accountant", "lemma 2", "theorem 3", "exact")]
        assert values == pytest.approx([classic, lemma, best, exact], abs=6e-7)


def test_a3_meets_the_reference(numbers):
    """SEEDS, answer (b)."""
    last = {name: values[-1] for name, values in numbers["a3"].items()}
    assert last["epochs"] == 1000
    assert last["moments accountant"] == pytest.approx(1.759947, abs=6e-7)
    assert last["lemma 2"] == pytest.approx(1.478927, abs=6e-7)
    assert last["exact curve, theorem 3"] == pytest.approx(1.0303, abs=1e-4)
    assert last["exact"] == pytest.approx(0.942886, abs=6e-7)


def test_s1_is_ordered(numbers):
    found = numbers["s1"]
    assert np.all(found["laplace"] <= found["optimal"] * (1 + 1e-9))
    assert np.all(found["optimal"] <= np.minimum(found["basic"], found["concentrated"]) * (1 + 1e-9))
    assert np.all(found["concentrated"] <= found["advanced"])
    assert at(found, "optimal", 100, "count") == pytest.approx(4.774567588108, rel=1e-12)


def test_s2_is_ordered(numbers):
    found = numbers["s2"]
    assert np.all(found["exact"] <= np.minimum(found["analytic"], found["limit"]) * (1 + 1e-12))
    whole = np.array([at(found, "exact", order, "order") for order in found["whole order"]])
    assert np.allclose(whole, found["theorem 34"], rtol=1e-10)


def test_captions_state_what_we_compute(drawn):
    def caption(name):
        (text,) = drawn[name].texts
        return " ".join(text.get_text().split())

    assert "0.758776" in caption("a2")
    assert "102, 124, 144 more rounds" in caption("a2")
    assert "184, 228, 271" in caption("a2")
    assert "332.8 epochs" in caption("a3")
    assert "488.4 by Lemma 2" in caption("a3")
    assert "1113.2 by exact composition" in caption("a3")
    assert f"exact value is {hs.Gaussian(sigma=1.0).poisson(rate=0.05).rdp(3.0):.4f}" in caption("s2")
    assert "1.80091-GDP and SGD 1.85636-GDP" in caption("g2")
    assert f"{conversion.pure_to_gdp(4.0):.4f}-GDP (Theorem 5.1)" in caption("g3")
    assert "4.7576" in caption("dpsgd")
    assert f"optimal {conversion.optimal_composition_epsilon([(0.1, 0.0, 250)], 1e-6):.3f}" in caption("s1")


def test_curves_can_be_told_apart(drawn):
    """No two lines of the same dashes and colour, so that they can be told in grey as well."""
    for name, figure in drawn.items():
        for axes in figure.axes:
            looks = [
                (line.get_color(), str(line.get_linestyle()), line.get_linewidth())
                for line in axes.get_lines()
                if line.get_label()[0] != "_"
            ]
            assert len(set(looks)) == len(looks)
            if name not in ("a1", "g1", "g2", "g3"):  # several families of curves
                assert len({(style, width) for _, style, width in looks}) == len(looks)


def test_drawn_on_given_axes():
    from matplotlib.figure import Figure

    figure = Figure()
    axes = figure.subplots()
    assert figures.draw("a1", axes) is figure
    assert len(axes.get_lines()) == 11
    assert not figure.texts


def test_saved(tmp_path, monkeypatch):
    monkeypatch.setattr(figures, "FIGURES", {"a1": figures.FIGURES["a1"]})
    (path,) = figures.save(tmp_path / "new", format="svg")
    assert path.read_text(encoding="utf-8").startswith("<?xml")


def test_errors(monkeypatch):
    with pytest.raises(hs.BadValue, match="allowed: a1, a2"):
        figures.data("b7")
    with pytest.raises(hs.BadValue, match="allowed: a1, a2"):
        figures.draw("a4")
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(hs.MissingExtra, match="pip install 'matplotlib>="):
        figures.draw("a1")
