"""Pictures: they are drawn, labelled and saved; what they show is what the run says."""

import io

import numpy as np
import pytest

import hockeystick as hs
from hockeystick.report import plots

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


def test_the_profile_is_the_profile():
    (axes,) = plots.profile(RUN, 1e-5).axes
    line = next(one for one in axes.get_lines() if one.get_label().startswith("delta"))
    points, values = line.get_data()
    assert np.array_equal(values, RUN.profile(points))


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
