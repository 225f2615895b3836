"""The figures of Liu, Sun, Jiang and Kong, Gaussian Differential Privacy Transformation (2021) [GDPT], and one of our own.

`g1_data()` returns the curves of Figure 1 as arrays, `g1()` draws them; likewise `g2` to `g5` and `dpsgd`.  The paper's examples
are Laplace noise with sensitivity / scale = 2 (erratum G-E11), "SGD", sigma = 2 by the rule sigma = (2 / eps) sqrt(log(1/delta)),
and "ICEA", m = 20 > 10 log(4 / (eps delta)).  Parameters that the paper does not give are chosen here: they stand at the top.
"""

import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ...conversion import amplify_profile, gdp_to_delta, gdp_transform, refined_profile
from ...conversion._kernels.gaussian_ends import mu_ends
from ...conversion.tradeoff import approx_tradeoff
from ...errors import BadValue
from ...mechanism.gaussian import Gaussian
from .style import BLUE, GREEN, GREY, ORANGE, OURS, PURPLE, RED, below_panels, finish, matplotlib_figure

Data = dict[str, Any]

PAPER_NAME = "Liu et al. 2021"
POINTS = 161
LAST = 16.0  # of Figure 1's right panel; the paper's ends at 4, before ICEA has crossed 4-GDP
STAIRS = (0.5, 0.25, 0.1)  # D in Figure 2
PURE = (0.5, 1.0, 2.0, 4.0)  # epsilon in Figure 3
RATES = (1.0, 0.5, 0.2, 0.1, 0.05)  # gamma in Figures 4 and 5
MU = 1.0  # in Figure 5
_ICEA = 4.0 * math.exp(-2.0)
_COLOURS = (BLUE, RED, GREEN, PURPLE, ORANGE, GREY)
_DASHES: tuple[Any, ...] = ("-", "--", "-.", ":", (0, (6, 1.5, 1, 1.5, 1, 1.5)))


def laplace_profile(epsilon: float, ratio: float = 2.0) -> float:
    """delta of Laplace noise, sensitivity / scale = ratio."""
    return max(0.0, -math.expm1((epsilon - ratio) / 2.0))


def sgd_profile(epsilon: float) -> float:
    """The naive profile of the paper's second example."""
    return math.exp(-epsilon * epsilon)


def icea_profile(epsilon: float) -> float:
    """The naive profile of the paper's third example."""
    return min(1.0, _ICEA / epsilon) if epsilon > 0.0 else 1.0


@functools.cache
def _refined() -> dict[str, Callable[[Any], Any]]:
    return {"SGD": refined_profile(sgd_profile), "ICEA": refined_profile(icea_profile)}


def _grid(last: float, *ends: float) -> Any:
    """Epsilons up to the last; close together before the `ends`, where a transform falls steeply to 0."""
    near = [end * (1.0 - np.geomspace(1e-9, 0.05, 24)) for end in ends]
    return np.unique(np.concatenate((np.linspace(0.0, last, POINTS), *near, [end * (1.0 + 1e-9) for end in ends])))


def _values(function: Callable[[float], float], epsilons: Any) -> Any:
    return np.array([function(float(epsilon)) for epsilon in epsilons])


def g1_data() -> Data:
    """Figure 1: naive and refined profiles, and profiles of GDP."""
    epsilons = np.union1d(_grid(4.0), _grid(LAST))
    refined = _refined()
    return {
        "epsilon": epsilons,
        "Laplace": _values(laplace_profile, epsilons),
        "SGD naive": _values(sgd_profile, epsilons),
        "SGD refined": refined["SGD"](epsilons),
        "ICEA naive": _values(icea_profile, epsilons),
        "ICEA refined": refined["ICEA"](epsilons),
        **{f"{mu}-GDP": gdp_to_delta(float(mu), epsilons) for mu in (1, 2, 4)},
    }


def overtaken(mu: float) -> float:
    """The epsilon from which ICEA's profile is above that of mu-GDP."""
    above = 40.0 * mu  # where the profile of mu-GDP is far below
    below = mu  # after the crossing from above, before the last one
    refined = _refined()["ICEA"]
    for _ in range(60):
        middle = 0.5 * (below + above)
        inside = float(refined(middle)) < float(gdp_to_delta(mu, middle))
        below, above = (middle, above) if inside else (below, middle)
    return above


def g1(axes: Any = None) -> Any:
    """Draw Figure 1 (left: refinement; right: against 1-, 2- and 4-GDP, far enough to see them crossed)."""
    data, (figure, left, right) = g1_data(), _panels(axes)
    x = data["epsilon"]
    for colour, name in zip(_COLOURS[1:], ("SGD", "ICEA"), strict=False):
        left.plot(x, data[f"{name} naive"], "--", color=colour, label=f"{name} (naive)")
        left.plot(x, data[f"{name} refined"], color=colour, label=f"{name} (refined)")
    left.plot(x, data["Laplace"], color=_COLOURS[0], label="Laplace")
    left.set_xlim(0.0, 4.0)
    least = 1e-4
    for colour, name in zip(_COLOURS, ("Laplace", "SGD refined", "ICEA refined"), strict=False):
        right.plot(x, np.maximum(data[name], least / 10.0), color=colour, label=name.removesuffix(" refined"))
    for style, mu in zip((":", "--", "-."), (1, 2, 4), strict=True):
        right.plot(x, data[f"{mu}-GDP"], style, color="#777777", label=f"{mu}-GDP")
    crossed = {mu: overtaken(float(mu)) for mu in (2, 4)}
    for mu, place in crossed.items():
        height = float(gdp_to_delta(float(mu), place))
        right.plot([place], [height], "o", color=_COLOURS[2], markersize=5.0, zorder=4.0)
        right.annotate(f"{place:.2f}", (place, height), xytext=(3, 5), textcoords="offset points", fontsize=9)
    right.set_yscale("log")
    right.set_ylim(least, 2.0)
    right.set_xlim(0.0, LAST)
    caption = (
        f"Laplace noise (sensitivity / scale = 2), and the paper's SGD and ICEA by their noise rules.  Refined by the partial "
        f"order, δ(0) falls from 1 to {data['SGD refined'][0]:.4f} (SGD) and {data['ICEA refined'][0]:.4f} (ICEA).  SGD lies "
        f"above 1-GDP at 0 and below 2-GDP everywhere; ICEA is above 2-GDP from ε = {crossed[2]:.2f} and above 4-GDP from "
        f"{crossed[4]:.2f}, and further out above every curve of GDP.  The range and the logarithmic scale are ours."
    )
    titles = f"{PAPER_NAME}, Figure 1: profiles, naive and refined", "Against Gaussian DP"
    return _finish(figure, (left, right), "ε", "δ", titles, caption if axes is None else "", ("best", "lower right"))


def g2_data() -> Data:
    """Figure 2: the transforms of the three examples, and the staircases of Theorem 4.6 for the Laplace example."""
    epsilons, stairs = _grid(10.0, 2.0), np.linspace(0.0, 2.0, 401)
    refined = _refined()
    found: Data = {
        "epsilon": epsilons,
        "Laplace": gdp_transform(laplace_profile)(epsilons),
        "SGD": gdp_transform(refined["SGD"])(epsilons),
        "ICEA": gdp_transform(refined["ICEA"])(epsilons),
        "stairs": stairs,
        "G": gdp_transform(laplace_profile)(stairs),
    }
    for width in STAIRS:
        left = np.floor(stairs / width + 1e-9) * width
        found[f"G+ {width:g}"] = np.array([mu_ends(x + width, laplace_profile(x))[1] for x in left])
        found[f"G- {width:g}"] = np.array([mu_ends(x, laplace_profile(x + width))[0] for x in left])
    return found


def g2(axes: Any = None) -> Any:
    """Draw Figure 2."""
    data, (figure, left, right) = g2_data(), _panels(axes)
    for colour, name in zip(_COLOURS, ("Laplace", "SGD", "ICEA"), strict=False):
        left.plot(data["epsilon"], data[name], color=colour, label=name)
    left.axhline(math.sqrt(0.5), color="#bbbbbb", linewidth=0.8)
    left.annotate("SGD tends to $\\sqrt{1/2}$", (6.2, math.sqrt(0.5)), xytext=(0, 4), textcoords="offset points", fontsize=8)
    for colour, width in zip(_COLOURS, STAIRS, strict=False):
        for sign, style in (("+", "-"), ("-", "--")):
            right.step(data["stairs"], data[f"G{sign} {width:g}"], style, where="post", color=colour, linewidth=1.0)
        right.plot([], [], color=colour, label=f"D = {width:g} (G⁺ solid, G⁻ dashed)")
    right.plot(data["stairs"], data["G"], color="black", linewidth=1.4, label="G, Laplace")
    caption = (
        f"Laplace noise is {data['Laplace'][0]:.5f}-GDP and SGD {data['SGD'][0]:.5f}-GDP, both reached at ε = 0; ICEA is not "
        f"GDP, its transform grows without bound.  Right: the staircases of Theorem 4.6 (steps at multiples of D, as corrected) "
        f"enclose the transform of Laplace noise; the paper does not name its D, these are ours."
    )
    titles = f"{PAPER_NAME}, Figure 2: transforms of the examples", "Staircases around the transform"
    return _finish(figure, (left, right), "ε", "μ", titles, caption if axes is None else "")


def g3_data() -> Data:
    """Figure 3: the transforms of epsilon-DP and of Laplace noise with the same epsilon."""
    epsilons = _grid(4.0, *PURE)
    found: Data = {"epsilon": epsilons}
    for one in PURE:
        pure = functools.partial(_pure_profile, one)
        found[f"pure {one:g}"] = gdp_transform(pure)(epsilons)
        found[f"Laplace {one:g}"] = gdp_transform(functools.partial(laplace_profile, ratio=one))(epsilons)
    return found


def _pure_profile(guarantee: float, epsilon: float) -> float:
    """The best profile that epsilon-DP implies (Theorem 3.1 with delta = 0)."""
    return max(0.0, -math.expm1(epsilon - guarantee) / (1.0 + math.exp(-guarantee)))


def g3(axes: Any = None) -> Any:
    """Draw Figure 3."""
    data, (figure, only) = g3_data(), _panels(axes, 1)
    for colour, one in zip(_COLOURS, PURE, strict=False):
        inside = data["epsilon"] <= one * (1.0 + 2e-9)  # 0 beyond
        only.plot(data["epsilon"][inside], data[f"pure {one:g}"][inside], color=colour, label=f"{one:g}-DP")
        only.plot(data["epsilon"][inside], data[f"Laplace {one:g}"][inside], "--", color=colour, label=f"Laplace, {one:g}-DP")
    only.set_xlim(right=5.6)
    pure, noise = (", ".join(f"{data[f'{kind} {one:g}'][0]:.4f}" for one in PURE) for kind in ("pure", "Laplace"))
    caption = (
        f"All are largest at ε = 0: {', '.join(f'{one:g}' for one in PURE)}-DP is {pure}-GDP (Theorem 5.1), Laplace noise that "
        f"is so is {noise}-GDP.  The paper does not name its ε; these are ours."
    )
    title = f"{PAPER_NAME}, Figure 3: pure DP, and Laplace noise of the same ε"
    return _finish(figure, (only,), "ε", "μ", (title,), caption if axes is None else "")


def g4_data() -> Data:
    """Figure 4: the transforms of the sampled Laplace and SGD examples."""
    return _amplified({"Laplace": laplace_profile, "SGD": _refined()["SGD"]}, 20.0)


def g5_data() -> Data:
    """Figure 5: the transforms of the sampled ICEA example and of sampled 1-GDP."""
    return _amplified({"ICEA": _refined()["ICEA"], "GDP": functools.partial(gdp_to_delta, MU)}, 6.0)


def _amplified(profiles: dict[str, Callable[[float], float]], last: float) -> Data:
    ends = [math.log1p(rate * math.expm1(2.0)) for rate in RATES] if "Laplace" in profiles else []
    found: Data = {"epsilon": np.union1d(_grid(3.0, *ends), _grid(last))}
    for name, profile in profiles.items():
        for rate in RATES:
            found[f"{name} {rate:g}"] = gdp_transform(amplify_profile(profile, rate))(found["epsilon"])
    return found


def g4(axes: Any = None) -> Any:
    """Draw Figure 4."""
    caption = (
        "Sampling lowers the transform near ε = 0.  Sampled Laplace noise still has a largest loss; sampled SGD tends to √½ at "
        "every rate (thin line), so that its mu falls no further.  The paper does not name its rates; these are ours."
    )
    return _sampled(g4_data(), ("Laplace", "SGD"), axes, 4, caption)


def g5(axes: Any = None) -> Any:
    """Draw Figure 5."""
    caption = (
        f"ICEA is not GDP at any rate.  Sampled {MU:g}-GDP is {MU:g}-GDP and no better: its transform tends to {MU:g} at every "
        f"rate (section 5.3), which is why the mu of a sampled run is given up to a delta.  The rates and that mu are ours."
    )
    return _sampled(g5_data(), ("ICEA", "GDP"), axes, 5, caption)


def _sampled(data: Data, names: tuple[str, str], axes: Any, number: int, caption: str) -> Any:
    figure, *panels = _panels(axes)
    for panel, name in zip(panels, names, strict=True):
        for colour, dashes, rate in zip(_COLOURS, _DASHES, RATES, strict=False):
            found = data[f"{name} {rate:g}"]
            drawn = int((found > 0.0).sum()) + 1  # down to 0, and not along it
            look = {"color": colour, "linestyle": dashes, "linewidth": 1.5 if isinstance(dashes, str) else 1.8}
            panel.plot(data["epsilon"][:drawn], found[:drawn], label=f"rate {rate:g}", **look)
        if name == "Laplace":
            panel.set_xlim(0.0, 2.9)  # for the legend
        limit = {"SGD": math.sqrt(0.5), "GDP": MU}.get(name)
        if limit is not None:
            panel.axhline(limit, color="#777777", linewidth=1.0, zorder=1.0, label="the limit at every rate")
    shown = [f"{MU:g}-GDP" if name == "GDP" else name for name in names]
    titles = f"{PAPER_NAME}, Figure {number}: sampled {shown[0]}", f"Sampled {shown[1]}"
    return _finish(figure, tuple(panels), "ε", "μ", titles, caption if axes is None else "")


def dpsgd_data(sigma: float = 9.4, rate: float = 0.328, steps: int = 2000, delta: float = 1e-5) -> Data:
    """Our own: the trade-off curve of a DP-SGD run, the curve of its mu up to delta, and that of its (epsilon, delta)."""
    run = Gaussian(sigma=sigma).poisson(rate=rate) * steps
    alpha = np.concatenate(([0.0], np.geomspace(1e-6, 0.2, 45), np.linspace(0.22, 1.0, 40)))
    mu, epsilon = run.mu(delta=delta), run.epsilon(delta=delta)
    from ...conversion.gdp import gdp_tradeoff

    return {
        "alpha": alpha,
        "run": run.tradeoff(alpha),
        "mu curve": gdp_tradeoff(mu, alpha),
        "claim": approx_tradeoff(epsilon, delta, alpha),
        "mu": np.array(mu),
        "regret": np.array(run.regret(delta=delta)),
        "epsilon": np.array(epsilon),
        "delta": np.array(delta),
        "tail mu": np.array(run.mu()),
    }


def dpsgd(axes: Any = None) -> Any:
    """Draw it: linear, and with the attacker's rates on logarithmic scales."""
    data, (figure, left, right) = dpsgd_data(), _panels(axes)
    names = {
        "run": "the run",
        "mu curve": f"{float(data['mu']):.4f}-GDP (up to δ = {float(data['delta']):g}, regret {float(data['regret']):.1g})",
        "claim": f"({float(data['epsilon']):.3f}, {float(data['delta']):g})-DP",
    }
    looks: tuple[dict[str, Any], ...] = (
        OURS,
        {"color": ORANGE, "linestyle": "--", "zorder": 4.0},
        {"color": BLUE, "linestyle": ":"},
    )
    for (key, label), look in zip(names.items(), looks, strict=True):
        left.plot(data["alpha"], data[key], label=label, **look)
        right.loglog(data["alpha"][1:], 1.0 - data[key][1:], label=label, **look)
    left.plot([0, 1], [1, 0], color="#cccccc", linewidth=0.8)
    right.plot([1e-6, 1], [1e-6, 1], color="#cccccc", linewidth=0.8)
    caption = (
        f"2000 steps of noise σ = 9.4 at rate 0.328.  The run and its mu curve cannot be told apart; its (ε, δ) says far less of "
        f"tests.  Without the δ its mu would be {float(data['tail mu']):.4f}, that of no sampling at all."
    )
    titles = "Trade-off curve of a DP-SGD run", "Attack rates"
    labels = "type-I error α (false positives)", "type-II error β (false negatives)"
    figure = _finish(figure, (left, right), *labels, titles, caption if axes is None else "")
    right.set_xlabel("false-positive rate")
    right.set_ylabel("true-positive rate")
    return figure


def transform_plot(profile: Any, epsilons: Any, axes: Any = None) -> Any:
    """The transform G of a release, or of a function epsilon -> delta, over some epsilons."""
    transformed = profile.gdp_transform(epsilons) if hasattr(profile, "gdp_transform") else gdp_transform(profile)(epsilons)
    figure, only = _panels(axes, 1)
    only.plot(np.asarray(epsilons), transformed, color=_COLOURS[0], label="G")
    return _finish(figure, (only,), "ε", "μ", ("Gaussian DP transform",))


def _panels(axes: Any, count: int = 2) -> Any:
    """The figure and its panels, made unless they are given."""
    if axes is not None:
        given = list(np.atleast_1d(np.asarray(axes, dtype=object)).ravel())
        if len(given) != count:
            raise BadValue(f"axes has {len(given)} panels; allowed: {count}, or None.")
        return (given[0].figure, *given)
    figure = matplotlib_figure(figsize=(6.0 * count if count > 1 else 7.2, 5.2), layout="constrained")
    return (figure, *np.atleast_1d(figure.subplots(1, count)))


def _finish(
    figure: Any,
    panels: tuple[Any, ...],
    x: str,
    y: str,
    titles: tuple[str, ...],
    caption: str = "",
    legends: tuple[str, ...] = (),
) -> Any:
    for panel, title, legend in zip(panels, titles, legends or ("best",) * len(panels), strict=True):
        finish(panel, title, x, y, legend)
    below_panels(figure, caption, len(panels))
    return figure


FIGURES: dict[str, tuple[Callable[..., Data], Callable[..., Any]]] = {
    "g1": (g1_data, g1),
    "g2": (g2_data, g2),
    "g3": (g3_data, g3),
    "g4": (g4_data, g4),
    "g5": (g5_data, g5),
    "dpsgd": (dpsgd_data, dpsgd),
}
