"""Pictures of a run (need the extra `plot`): each returns a matplotlib figure, to be saved as PNG, SVG or PDF.

Colours survive printing and colour blindness, and no two curves have the same dashes.  What is certified is drawn as a band
between both ends, also between the points that were asked (`band`); mostly they are so close that the band is a line.
"""

import math
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from ..conversion.gdp import gdp_tradeoff
from ..errors import BadType, BadValue, HockeystickError
from ..mechanism.release import Release
from ..neighbours import STATED, Relation
from ..numerics.cancellation_free import Array
from ..planning.rdp_accountant import RDPAccountant
from .band import band
from .drawing import (
    BETWEEN,
    by_renyi,
    certified_profile,
    checked_relation,
    claimed,
    cut,
    floor_of,
    log_scale,
    plain_ticks,
    shade,
    short,
)
from .figures.style import BLACK, BLUE, GREY, ORANGE, OURS, PAPER, canvas, curve, finish
from .numbers import down_text, given, up_text

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_POINTS = 60
_FALLING = {"drawstyle": "steps-post"}  # what falls is nowhere above its last value
DOT = {"color": ORANGE, "markeredgecolor": BLACK, "markersize": 8.0, "zorder": 4.0}
_MU_DELTA = 1e-10


def profile(release: Release, delta: float, axes: Any = None, neighbours: Relation = STATED) -> "Figure":
    """delta against epsilon, on a logarithmic scale, with the certified band and the epsilon at `delta`.

    Parameters
    ----------
    release : Release
        What is drawn.
    delta : float
        The delta of the marked epsilon.
    axes : matplotlib.axes.Axes, optional
        Where to draw; by default on a figure of its own.
    neighbours : Relation, optional
        The neighbouring relation; by default the one that the release states.

    Returns
    -------
    matplotlib.figure.Figure
        The figure.

    Raises
    ------
    BadType
        If release is no release, or delta no number.
    BadValue
        If delta is out of its range, or neighbours no relation.
    Unsupported
        If no theorem covers a part of the release under this relation.
    MissingExtra
        If matplotlib is not installed.
    """
    relation = checked_relation(release, neighbours)
    chosen = float(release.epsilon(delta, relation))
    most = 2.0 * chosen if 0.0 < chosen < math.inf else 4.0
    floor = floor_of(release, most, delta, relation)
    drawn = certified_profile(release, most, floor, relation)
    figure, axes = canvas(
        axes, f"The privacy profile of {short(release)} ({relation}); no point of the curve is below the truth."
    )
    axes.set_yscale("log")
    axes.set_xlim(0.0, most)
    axes.set_ylim(floor, 2.0)
    shade(axes, drawn, log_scale(floor), floor)
    curve(axes, drawn.points, np.maximum(drawn.upper, floor / 10.0), {**OURS, **_FALLING}, "delta(epsilon), upper end")
    if 0.0 < chosen < math.inf and delta > 0.0:
        axes.plot([0.0, chosen, chosen], [delta, delta, floor / 10.0], color=GREY, linestyle=":", linewidth=1.2)
        axes.plot([chosen], [delta], "o", **DOT, label=f"epsilon = {up_text(chosen, 5)} at delta = {given(delta)}")
    finish(axes, "Privacy profile", "epsilon", "delta", "upper right")
    return figure


def rounds(release: Release, delta: float, axes: Any = None, neighbours: Relation = STATED, most: int | None = None) -> "Figure":
    """epsilon against how often the release is repeated; a run of one mechanism is taken apart into its uses.

    Parameters
    ----------
    release : Release
        What is drawn.
    delta : float
        The delta of the marked epsilon.
    axes : matplotlib.axes.Axes, optional
        Where to draw; by default on a figure of its own.
    neighbours : Relation, optional
        The neighbouring relation; by default the one that the release states.
    most : int, optional
        The last count; by default twice the uses, at least 100.

    Returns
    -------
    matplotlib.figure.Figure
        The figure.

    Raises
    ------
    BadType
        If release is no release, or delta no number.
    BadValue
        If delta is out of its range, or neighbours no relation.
    Unsupported
        If no theorem covers a part of the release under this relation.
    MissingExtra
        If matplotlib is not installed.
    """
    relation = checked_relation(release, neighbours)
    step, uses = (release.parts[0][0], release.parts[0][1]) if len(release.parts) == 1 else (release, 1)
    last = most if most is not None else max(2 * uses, 100)
    counts = np.unique(np.round(np.geomspace(1, last, _POINTS // 2)).astype(int))
    ends = [(step * int(count)).epsilon_bounds(delta, relation) for count in counts]
    lower, upper = np.array([one.lower for one in ends]), np.array([one.upper for one in ends])
    figure, axes = canvas(
        axes, f"Epsilon of {short(step)}, repeated ({relation}); it is certified at the dots, and the line joins them."
    )
    axes.set_xscale("log")
    plain_ticks(axes.xaxis, 1.0, float(last))
    shown = np.isfinite(upper)
    dots = {**OURS, "marker": ".", "markersize": 7.0}
    if np.any(upper[shown] - lower[shown] > 0.01 * np.max(upper[shown], initial=0.0)):
        axes.fill_between(counts[shown], lower[shown], upper[shown], color=BLUE, alpha=0.35, linewidth=0.0, label=BETWEEN)
    curve(axes, counts[shown], upper[shown], dots, f"epsilon at delta = {given(delta)}")
    accountant = by_renyi(step, counts[shown], delta, relation)
    if accountant is not None:
        curve(axes, counts[shown], accountant, PAPER[0], "by the best Rényi order")
    if uses > 1:
        value = float((step * uses).epsilon(delta, relation))
        axes.plot([uses], [value], "o", **DOT, label=f"{uses:,} rounds: epsilon = {up_text(value, 5)}")
    axes.set_ylim(bottom=0.0)
    finish(axes, "Epsilon against rounds", "rounds", "epsilon", "upper left")
    return figure


def tradeoff(
    release: Release,
    delta: float,
    axes: Any = None,
    neighbours: Relation = STATED,
    claims: Iterable[tuple[float, float]] | None = None,
) -> "Figure":
    """The trade-off curve of tests, with Gaussian DP up to a delta and what the (epsilon, delta) claims alone would allow.

    Parameters
    ----------
    release : Release
        What is drawn.
    delta : float
        The delta of the marked epsilon.
    axes : matplotlib.axes.Axes, optional
        Where to draw; by default on a figure of its own.
    neighbours : Relation, optional
        The neighbouring relation; by default the one that the release states.
    claims : iterable of (epsilon, delta), optional
        The claims to draw; by default epsilon at `delta`.

    Returns
    -------
    matplotlib.figure.Figure
        The figure.

    Raises
    ------
    BadType
        If release is no release, or delta no number.
    BadValue
        If delta is out of its range, or neighbours no relation.
    Unsupported
        If no theorem covers a part of the release under this relation.
    MissingExtra
        If matplotlib is not installed.
    """
    relation = checked_relation(release, neighbours)

    def ask(points: Array) -> tuple[Array, Array]:
        bounds = release.tradeoff_bounds(points, relation)
        return np.asarray(bounds.lower), np.asarray(bounds.upper)

    drawn = band(ask, 0.0, 1.0, lambda errors: errors)
    alphas = drawn.points
    figure, axes = canvas(axes, f"What a test of {short(release)} can reach ({relation}); no test is below the curve.")
    shade(axes, drawn, lambda errors: errors, 0.0)
    curve(axes, alphas, drawn.lower, {**OURS, "drawstyle": "steps-pre"}, "the run, lower end")
    try:
        mu = float(release.mu_bounds(_MU_DELTA, 1e-6, relation).upper)
    except HockeystickError:
        mu = math.inf
    if math.isfinite(mu):
        label = f"{up_text(mu, 4)}-GDP (up to delta = {_MU_DELTA:g})"
        curve(axes, alphas, np.asarray(gdp_tradeoff(mu, alphas)), PAPER[1], label)
    drawn_claims = [(float(release.epsilon(delta, relation)), delta)] if claims is None else list(claims)
    for style, (epsilon, chance) in zip((PAPER[0], PAPER[2], PAPER[3], PAPER[4]), drawn_claims, strict=False):
        places = np.unique(np.append(alphas, (1.0 - chance) / (1.0 + math.exp(min(epsilon, 700.0)))))  # with the kink
        curve(
            axes, places, claimed(places, epsilon, chance), style, f"the claim ({up_text(epsilon, 4)}, {given(chance)})-DP alone"
        )
    curve(axes, alphas, 1.0 - alphas, {"color": GREY, "linestyle": ":", "linewidth": 1.2}, "guessing")
    axes.set_xlim(0.0, 1.0)
    axes.set_ylim(0.0, 1.0)
    finish(axes, "Trade-off curve", "type-I error (false-positive rate)", "type-II error", "upper right")
    return figure


def renyi(release: Release, delta: float, axes: Any = None, neighbours: Relation = STATED) -> "Figure":
    """The Rényi curve, the epsilon that each order gives, and the order that gives the least.

    Parameters
    ----------
    release : Release
        What is drawn.
    delta : float
        The delta of the marked epsilon.
    axes : matplotlib.axes.Axes, optional
        Where to draw; by default on a figure of its own.
    neighbours : Relation, optional
        The neighbouring relation; by default the one that the release states.

    Returns
    -------
    matplotlib.figure.Figure
        The figure.

    Raises
    ------
    BadType
        If release is no release, or delta no number.
    BadValue
        If delta is out of its range, or neighbours no relation.
    Unsupported
        If no theorem covers a part of the release under this relation.
    MissingExtra
        If matplotlib is not installed.
    """
    relation = checked_relation(release, neighbours)
    accountant = RDPAccountant(neighbours=relation).compose(release)
    best, least = float(accountant.order(delta=delta)), float(accountant.epsilon(delta))
    if not math.isfinite(best):
        best = 100.0
    orders = 1.0 + np.geomspace(max((best - 1.0) / 20.0, 1e-3), (best - 1.0) * 20.0, 4 * _POINTS)
    values = np.asarray(accountant.rdp(orders), dtype=float)
    from ..conversion.optimal_rdp import rdp_to_epsilon

    converted = np.asarray(rdp_to_epsilon(orders, values, delta), dtype=float)
    figure, axes = canvas(
        axes, f"Rényi divergences of {short(release)} and what each order proves at delta = {given(delta)} ({relation})."
    )
    axes.set_xscale("log")
    axes.set_yscale("log")
    curve(axes, orders, values, PAPER[1], "Rényi divergence")
    curve(axes, orders, converted, OURS, "epsilon by this order (Asoodeh et al. 2020)")
    axes.plot([best], [least], "o", **DOT, label=f"order {down_text(best, 4)}: epsilon = {up_text(least, 5)}")
    exact = float(release.epsilon(delta, relation))
    if exact > 0.0:
        axes.axhline(exact, color=GREY, linestyle=":", linewidth=1.4, label=f"exact epsilon = {up_text(exact, 5)}")
    near = converted <= 50.0 * max(least, 1e-12)
    across = float(orders[near].min()), float(orders[near].max())
    along = float(values[near].min()) / 2.0, 100.0 * max(least, 1e-12)
    axes.set_xlim(*across)
    axes.set_ylim(*along)
    plain_ticks(axes.xaxis, *across)
    plain_ticks(axes.yaxis, *along)
    finish(axes, "Rényi curve", "order", "divergence, epsilon", "best")
    return figure


def compare(runs: Mapping[str, Release], delta: float, axes: Any = None, neighbours: Relation = STATED) -> "Figure":
    """The profiles of several runs or methods, by their names.

    Parameters
    ----------
    runs : mapping of str to Release
        What is drawn, one to six of them, by their names.
    delta : float
        The delta of the marked epsilon.
    axes : matplotlib.axes.Axes, optional
        Where to draw; by default on a figure of its own.
    neighbours : Relation, optional
        The neighbouring relation; by default the one that the release states.

    Returns
    -------
    matplotlib.figure.Figure
        The figure.

    Raises
    ------
    BadType
        If runs is no mapping of releases, or delta no number.
    BadValue
        If there are too many runs, they state different relations, delta is out of its range, or neighbours is no relation.
    Unsupported
        If no theorem covers a part of the release under this relation.
    MissingExtra
        If matplotlib is not installed.
    """
    if not isinstance(runs, Mapping):
        raise BadType("runs is no mapping; allowed: names with releases, as in {'this': a, 'that': b}.")
    styles, above = (OURS, *PAPER), axes is None
    if not 1 <= len(runs) <= len(styles):
        raise BadValue(f"{len(runs)} runs are given; allowed: 1 to {len(styles)}, which can be told apart.")
    relations = {checked_relation(run, neighbours) for run in runs.values()}
    if len(relations) > 1:
        raise BadValue(
            f"the runs are stated for {' and '.join(sorted(relations))}; compare them for one relation: give neighbours."
        )
    (relation,) = relations
    found = {name: float(run.epsilon(delta, relation)) for name, run in runs.items()}
    finite = [value for value in found.values() if 0.0 < value < math.inf]
    most = 1.25 * max(finite) if finite else 4.0
    floor = delta * 1e-4 if delta else 1e-12
    figure, axes = canvas(
        axes,
        f"Upper ends of delta(epsilon), certified ({relation}): no point of a curve is below the truth.  "
        f"The dots are at delta = {given(delta)}.",
        len(runs),
    )
    axes.set_yscale("log")
    axes.set_xlim(0.0, most)
    axes.set_ylim(floor, 2.0)
    for style, (name, run) in zip(styles, runs.items(), strict=False):
        drawn = certified_profile(run, most, floor, relation)
        label = f"epsilon = {up_text(found[name], 4)}: {cut(name, 52)}"
        curve(axes, drawn.points, np.maximum(drawn.upper, floor / 10.0), {**style, **_FALLING}, label)
        if 0.0 < found[name] < math.inf and delta > 0.0:
            axes.plot([found[name]], [delta], "o", **{**DOT, "color": style["color"], "markersize": 7.0})
    finish(axes, "Comparison", "epsilon", "delta", "above" if above else "best")
    return figure
