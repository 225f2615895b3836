"""Pictures: they are drawn, labelled and saved; what they show is what the run says."""

import io
import re

import numpy as np
import pytest

import hockeystick as hs
from hockeystick.report import figures, plots
from hockeystick.report.band import band
from hockeystick.report.drawing import cut
from hockeystick.report.figures.style import trimmed
from seen import covered

RUN = hs.Gaussian(sigma=1.1).poisson(rate=0.01) * 1000
DRAWN = {
    "profile": lambda: plots.profile(RUN, 1e-5),
    "rounds": lambda: plots.rounds(hs.Gaussian(sigma=5.0) * 10, 1e-5),
    "tradeoff": lambda: plots.tradeoff(hs.Gaussian(sigma=2.0), 1e-5, claims=[(1.0, 1e-5), (2.0, 1e-7)]),
    "renyi": lambda: plots.renyi(RUN, 1e-5),
    "compare": lambda: plots.compare({"sampled": RUN, "plain": hs.Gaussian(sigma=3.0), "pure": hs.PureDP(epsilon=1.0)}, 1e-5),
    "report": lambda: RUN.report(1e-5).plot(),
}


@pytest.mark.parametrize("name", DRAWN)
def test_drawn(name):
    figure = DRAWN[name]()
    (axes,) = figure.axes
    assert axes.get_xlabel()
    assert axes.get_ylabel()
    assert axes.get_title(loc="left")
    labels = [text.get_text() for text in axes.get_legend().get_texts()]
    assert all(labels)
    assert len(set(labels)) == len(labels)
    curves = [line for line in axes.get_lines() if line.get_linestyle() != "None" and not line.get_label().startswith("_")]
    looks = [(line.get_color(), str(line.get_linestyle()), line.get_linewidth()) for line in curves]
    assert len(set(looks)) == len(looks)
    for form in ("png", "svg", "pdf"):
        target = io.BytesIO()
        figure.savefig(target, format=form)
        assert len(target.getvalue()) > 2000


def inside(figure):
    """Whether captions, titles and legends lie within the figure."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    renderer = FigureCanvasAgg(figure).get_renderer()
    whole = figure.bbox
    parts = [*figure.texts, *(one.get_legend() for one in figure.axes if one.get_legend()), *(one.title for one in figure.axes)]
    boxes = [one.get_window_extent(renderer) for one in parts]
    return all(whole.x0 <= one.x0 and one.x1 <= whole.x1 and whole.y0 <= one.y0 and one.y1 <= whole.y1 for one in boxes)


@pytest.mark.parametrize("name", DRAWN)
def test_no_caption_or_legend_is_cut_off_or_covers_anything(name):
    figure = DRAWN[name]()
    assert inside(figure)
    assert not list(covered(figure))


def test_without_title_and_caption():
    figure = trimmed(plots.profile(RUN, 1e-5), title=False, caption=False)
    assert inside(figure)
    assert not any(words.get_text() for words in figure.texts)
    assert figure.axes[0].get_title(loc="left") == ""


def test_long_captions_of_the_papers_figures_are_not_cut_off():
    for name in ("a1", "a2", "s1", "g3"):
        assert inside(figures.draw(name)), name
    run = hs.Gaussian(sigma=1.1).poisson(rate=256 / 60_000) * 3516 + hs.Laplace(scale=12.5) * 20
    names = {f"{run!r} + PureDP(epsilon={n})": hs.Gaussian(sigma=2.0 + n) for n in range(6)}
    assert inside(plots.compare(names, 1e-5))


def drawn(axes, label):
    """What a stepped line shows at any place."""
    line = next(one for one in axes.get_lines() if label in one.get_label())
    points, values = (np.asarray(one, dtype=float) for one in line.get_data())
    before = line.get_drawstyle() == "steps-pre"
    assert before or line.get_drawstyle() == "steps-post"
    return lambda x: values[np.searchsorted(points, x, side="left") if before else np.searchsorted(points, x, side="right") - 1]


CURVES = [
    RUN,
    hs.Gaussian(sigma=1.0) * 3,
    hs.RandomizedResponse(epsilon=1.03) * 5,
    hs.ApproxDP(epsilon=0.5, delta=1e-7),
    hs.ZCDP(rho=0.04),
    hs.Laplace(scale=0.8) * 2,
]


@pytest.mark.parametrize("run", CURVES, ids=repr)
def test_no_point_of_a_profile_is_below_the_truth(run):
    """Also between the points that were asked, where a chord on a logarithmic axis would be."""
    for name, figure in (("delta(epsilon)", plots.profile(run, 1e-5)), ("this", plots.compare({"this": run}, 1e-5))):
        (axes,) = figure.axes
        shown, (least, most) = drawn(axes, name), axes.get_xlim()
        places = np.concatenate([np.random.default_rng(1).uniform(least, most, 60), [run.epsilon(1e-5)]])
        truth, floor = run.delta_bounds(places), axes.get_ylim()[0]
        assert np.all(shown(places) >= truth.lower)
        seen = truth.upper > floor  # no farther above it than half a percent of the axis, but for a jump
        far = np.log(shown(places)[seen] / truth.upper[seen]) > 0.005 * np.log(2.0 / floor)
        assert np.count_nonzero(far) <= 1


@pytest.mark.parametrize(
    "run", [RUN, hs.RandomizedResponse(epsilon=1.03) * 5, hs.ApproxDP(epsilon=1.0, delta=0.01) * 3], ids=repr
)
def test_no_test_is_below_the_tradeoff_curve(run):
    (axes,) = plots.tradeoff(run, 1e-1).axes
    places = np.random.default_rng(2).uniform(0.0, 1.0, 60)
    truth, shown = run.tradeoff_bounds(places), drawn(axes, "the run")(places)
    assert np.all(shown <= truth.upper)
    assert np.all(shown >= truth.lower - 0.005)


def test_a_band_of_a_wide_interval_holds():
    def ask(x):
        return 0.9 * np.exp(-x), np.exp(-x)

    found = band(ask, 0.0, 5.0, lambda y: y)
    for factor in (0.9, 0.95, 1.0):
        truth = factor * np.exp(-found.points)
        assert np.all(found.lower <= truth * (1 + 1e-15))
        assert np.all(truth <= found.upper * (1 + 1e-15))
    assert found.apart(lambda y: y) > 0.05


def test_a_comparison_is_for_one_relation_and_tells_long_names_apart():
    swapped = hs.dpsgd(examples=1000, batch=10, epochs=3, sigma=4.0, sampler="shuffle", neighbours="zero-out")
    with pytest.raises(hs.BadValue, match="stated for add-or-remove and zero-out; compare them for one relation"):
        plots.compare({"a": RUN, "b": swapped}, 1e-5)
    plots.compare({"a": RUN, "b": swapped}, 1e-5, neighbours="replace")
    names = [f"{'Gaussian(sigma=1.1) + ' * 5}Laplace(scale={n})" for n in (1, 2)]
    (axes,) = plots.compare(dict.fromkeys(names, hs.Gaussian(sigma=2.0)), 1e-5).axes
    labels = [text.get_text() for text in axes.get_legend().get_texts()]
    assert len(set(labels)) == 2


def test_on_given_axes():
    from matplotlib.figure import Figure

    figure = Figure()
    axes = figure.add_subplot()
    assert plots.profile(hs.Gaussian(sigma=2.0), 1e-5, axes=axes) is figure


def test_runs_without_an_epsilon_or_a_mu():
    for run in (hs.ApproxDP(epsilon=0.5, delta=1e-3), hs.PureDP(epsilon=1.0), hs.compose([])):
        plots.profile(run, 1e-5)
    plots.tradeoff(hs.ApproxDP(epsilon=0.5, delta=1e-6), 1e-5)
    with pytest.raises(hs.BadType):
        plots.profile(3, 1e-5)
    with pytest.raises(hs.BadType):
        plots.compare([RUN], 1e-5)
    with pytest.raises(hs.BadValue):
        plots.compare({}, 1e-5)
    with pytest.raises(hs.BadValue):
        plots.profile(RUN, 1e-5, neighbours="friends")


@pytest.mark.parametrize("most", range(24, 80))
def test_a_text_is_cut_between_words_and_numbers(most):
    """`* 1000` was once cut to `* 100`."""
    text = "Gaussian(sigma=1.25).poisson(rate=0.001) * 1000 + Laplace(scale=125.5) * 12345 + GDP(mu=0.75) * 31"
    shown = cut(text, most)
    assert len(shown) <= most
    for end in shown.split("..."):
        assert text.startswith(end) or text.endswith(end)
    whole = set(re.findall(r"[\w.]+", text))
    assert set(re.findall(r"[\w.]+", shown.replace("...", " "))) <= whole
