"""The papers' figures: the numbers behind the curves, what the captions claim, and that they are drawn."""

import re
import sys

import numpy as np
import pytest

import hockeystick as hs
from hockeystick import conversion
from hockeystick.report import figures
from hockeystick.report.figures import paper_g
from seen import covered


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
    last = {name: at(numbers["a3"], name, 1000, "epochs") for name in numbers["a3"]}
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


def test_titles_name_authors_and_year_and_no_letter_stands_for_a_paper(drawn):
    papers = {"a": "Asoodeh et al. 2020", "s": "Steinke 2022", "g": "Liu et al. 2021"}
    for name, figure in drawn.items():
        first = figure.axes[0].get_title(loc="left")
        if name != "dpsgd":
            assert first.startswith(f"{papers[name[0]]}, Figure {name[1]}:")
        legends = [words.get_text() for axes in figure.axes for words in axes.get_legend().get_texts()]
        for text in (first, *legends, *(words.get_text() for words in figure.texts)):
            assert not re.search(r"\b[Pp]aper [AGS]\b|\b[AGS],? (Theorem|Lemma|Eq|Prop|Coroll)", text), text


def test_captions_say_which_parameters_are_ours(drawn):
    for name in ("a1", "g1", "g2", "g3", "g4", "g5", "s1"):
        assert re.search(r"(is|are) ours", " ".join(drawn[name].texts[0].get_text().split())), name


def test_what_is_told_lies_inside_the_axes(drawn):
    """a2's bar for epsilon 8, a3's 1113 epochs, g1's crossing at 14.28, the limit of g4."""
    bars = [line for line in drawn["a2"].axes[0].get_lines() if len(set(line.get_ydata())) == 1 and len(line.get_xdata()) == 2]
    assert [line.get_ydata()[0] for line in bars] == [6.0, 7.0, 8.0]
    assert max(line.get_xdata()[1] for line in bars) < drawn["a2"].axes[0].get_xlim()[1]
    dots = [line.get_xdata()[0] for line in drawn["a3"].axes[0].get_lines() if line.get_marker() == "o"]
    assert [round(one) for one in dots] == [333, 488, 1113]
    assert max(dots) < drawn["a3"].axes[0].get_xlim()[1]
    right = drawn["g1"].axes[1]
    assert right.get_xlim()[1] > paper_g.overtaken(4.0) == pytest.approx(14.28, abs=0.005)
    assert "above 4-GDP from 14.28" in " ".join(drawn["g1"].texts[0].get_text().split())
    refined = figures.data("g1")
    (after,) = np.flatnonzero(refined["epsilon"] == 16.0)
    (before,) = np.flatnonzero(refined["epsilon"] == 4.0)
    assert refined["ICEA refined"][after] > refined["4-GDP"][after]
    assert refined["ICEA refined"][before] < refined["4-GDP"][before]
    limits = [line for line in drawn["g4"].axes[1].get_lines() if line.get_label().startswith("the limit")]
    assert [line.get_ydata()[0] for line in limits] == [pytest.approx(0.5**0.5)]
    for text in (text for figure in drawn.values() for axes in figure.axes for text in axes.texts):
        low, high = text.axes.get_xlim()
        assert low <= text.xy[0] <= high


def test_legends_cover_nothing(drawn):
    for name, figure in drawn.items():
        assert not list(covered(figure)), name


def test_titles_and_captions_can_be_left_out():
    whole, bare = figures.draw("a1"), figures.draw("a1", title=False, caption=False)
    assert bare.axes[0].get_title(loc="left") == "" == bare.texts[0].get_text()
    assert whole.get_size_inches()[1] - bare.get_size_inches()[1] > 0.8
    for figure in (whole, bare):
        height = figure.axes[0].get_position().height * figure.get_size_inches()[1]
        assert height == pytest.approx(whole.axes[0].get_position().height * whole.get_size_inches()[1])
    panels = figures.draw("g3", title=True, caption=False)
    assert panels.axes[0].get_title(loc="left")
    assert not any(words.get_text() for words in panels.texts)
    with pytest.raises(hs.BadType, match="a figure of matplotlib's"):
        figures.trimmed("a1")


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
