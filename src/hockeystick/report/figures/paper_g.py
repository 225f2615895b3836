"""The figures of G, "Gaussian Differential Privacy Transformation", redrawn, and one of our own.

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
from ...conversion.gdp import mu_ends
from ...conversion.tradeoff import approx_tradeoff
from ...errors import BadValue
from ...mechanism.gaussian import Gaussian
from .style import BLUE, GREEN, GREY, ORANGE, PURPLE, RED, finish, matplotlib_figure

Data = dict[str, Any]

POINTS = 161
STAIRS = (0.5, 0.25, 0.1)  # D in Figure 2
PURE = (0.5, 1.0, 2.0, 4.0)  # epsilon in Figure 3
RATES = (1.0, 0.5, 0.2, 0.1, 0.05)  # gamma in Figures 4 and 5
MU = 1.0  # in Figure 5
_ICEA = 4.0 * math.exp(-2.0)
_COLOURS = (BLUE, RED, GREEN, PURPLE, ORANGE, GREY)


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


def _grid(last: float) -> Any:
    return np.linspace(0.0, last, POINTS)


def _values(function: Callable[[float], float], epsilons: Any) -> Any:
    return np.array([function(float(epsilon)) for epsilon in epsilons])


def g1_data() -> Data:
    """Figure 1: naive and refined profiles, and profiles of GDP."""
    epsilons = _grid(4.0)
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


def g1(axes: Any = None) -> Any:
    """Draw Figure 1 (left: refinement; right: against 1-, 2- and 4-GDP)."""
    data, (figure, left, right) = g1_data(), _panels(axes)
    x = data["epsilon"]
    for colour, name in zip(_COLOURS[1:], ("SGD", "ICEA"), strict=False):
        left.plot(x, data[f"{name} naive"], "--", color=colour, label=f"{name} (naive)")
        left.plot(x, data[f"{name} refined"], color=colour, label=f"{name} (refined)")
    left.plot(x, data["Laplace"], color=_COLOURS[0], label="Laplace")
    for colour, name in zip(_COLOURS, ("Laplace", "SGD refined", "ICEA refined"), strict=False):
        right.plot(x, data[name], color=colour, label=name.removesuffix(" refined"))
    for style, mu in zip((":", "--", "-."), (1, 2, 4), strict=True):
        right.plot(x, data[f"{mu}-GDP"], style, color="#777777", label=f"{mu}-GDP")
    return _finish(figure, (left, right), "epsilon", "delta", ("Profiles, naive and refined", "Against Gaussian DP"))


def g2_data() -> Data:
    """Figure 2: the transforms of the three examples, and the staircases of Theorem 4.6 for the Laplace example."""
    epsilons, stairs = _grid(10.0), np.linspace(0.0, 2.0, 401)
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
    return _finish(figure, (left, right), "epsilon", "mu", ("Transforms of the examples", "Staircases around the transform"))


def g3_data() -> Data:
    """Figure 3: the transforms of epsilon-DP and of Laplace noise with the same epsilon."""
    epsilons = _grid(4.0)
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
        only.plot(data["epsilon"], data[f"pure {one:g}"], color=colour, label=f"{one:g}-DP")
        only.plot(data["epsilon"], data[f"Laplace {one:g}"], "--", color=colour, label=f"Laplace, {one:g}-DP")
    only.set_xlim(right=5.6)
    return _finish(figure, (only,), "epsilon", "mu", ("Pure DP and Laplace noise of the same epsilon",))


def g4_data() -> Data:
    """Figure 4: the transforms of the sampled Laplace and SGD examples."""
    return _amplified({"Laplace": laplace_profile, "SGD": _refined()["SGD"]}, 6.0)


def g5_data() -> Data:
    """Figure 5: the transforms of the sampled ICEA example and of sampled 1-GDP."""
    return _amplified({"ICEA": _refined()["ICEA"], "GDP": functools.partial(gdp_to_delta, MU)}, 6.0)


def _amplified(profiles: dict[str, Callable[[float], float]], last: float) -> Data:
    found: Data = {"epsilon": _grid(last)}
    for name, profile in profiles.items():
        for rate in RATES:
            found[f"{name} {rate:g}"] = gdp_transform(amplify_profile(profile, rate))(found["epsilon"])
    return found


def g4(axes: Any = None) -> Any:
    """Draw Figure 4."""
    return _sampled(g4_data(), ("Laplace", "SGD"), axes)


def g5(axes: Any = None) -> Any:
    """Draw Figure 5."""
    return _sampled(g5_data(), ("ICEA", "GDP"), axes)


def _sampled(data: Data, names: tuple[str, str], axes: Any) -> Any:
    figure, *panels = _panels(axes)
    for panel, name in zip(panels, names, strict=True):
        for colour, rate in zip(_COLOURS, RATES, strict=False):
            panel.plot(data["epsilon"], data[f"{name} {rate:g}"], color=colour, label=f"rate {rate:g}")
    titles = tuple(f"Sampled {f'{MU:g}-GDP' if name == 'GDP' else name}" for name in names)
    return _finish(figure, tuple(panels), "epsilon", "mu", titles)


def dpsgd_data(sigma: float = 9.4, rate: float = 0.328, steps: int = 2000, delta: float = 1e-5) -> Data:
    """Our own: the trade-off curve of a DP-SGD run, the curve of its mu up to delta, and that of its (epsilon, delta)."""
    run = Gaussian(sigma=sigma).poisson(rate=rate) * steps
    alpha = np.concatenate(([0.0], np.geomspace(1e-6, 0.02, 25), np.linspace(0.03, 1.0, 50)))
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
    }


def dpsgd(axes: Any = None) -> Any:
    """Draw it: linear, and with the attacker's rates on logarithmic scales."""
    data, (figure, left, right) = dpsgd_data(), _panels(axes)
    names = {
        "run": "the run",
        "mu curve": f"{float(data['mu']):.4f}-GDP (up to delta = {float(data['delta']):g}, regret {float(data['regret']):.1g})",
        "claim": f"({float(data['epsilon']):.3f}, {float(data['delta']):g})-DP",
    }
    for (key, label), colour, style in zip(names.items(), _COLOURS, ("-", "--", ":"), strict=False):
        left.plot(data["alpha"], data[key], style, color=colour, label=label)
        right.loglog(data["alpha"][1:], 1.0 - data[key][1:], style, color=colour, label=label)
    left.plot([0, 1], [1, 0], color="#cccccc", linewidth=0.8)
    right.plot([1e-6, 1], [1e-6, 1], color="#cccccc", linewidth=0.8)
    figure = _finish(figure, (left, right), "type-I error alpha", "type-II error beta", ("Trade-off curve", "Attack rates"))
    right.set_xlabel("false-positive rate")
    right.set_ylabel("true-positive rate")
    return figure


def transform_plot(profile: Any, epsilons: Any, axes: Any = None) -> Any:
    """The transform G of a release, or of a function epsilon -> delta, over some epsilons."""
    transformed = profile.gdp_transform(epsilons) if hasattr(profile, "gdp_transform") else gdp_transform(profile)(epsilons)
    figure, only = _panels(axes, 1)
    only.plot(np.asarray(epsilons), transformed, color=_COLOURS[0], label="G")
    return _finish(figure, (only,), "epsilon", "mu", ("Gaussian DP transform",))


def _panels(axes: Any, count: int = 2) -> Any:
    """The figure and its panels, made unless they are given."""
    if axes is not None:
        given = list(np.atleast_1d(np.asarray(axes, dtype=object)).ravel())
        if len(given) != count:
            raise BadValue(f"axes has {len(given)} panels; allowed: {count}, or None.")
        return (given[0].figure, *given)
    figure = matplotlib_figure(figsize=(6.0 * count if count > 1 else 7.2, 4.6), layout="constrained")
    return (figure, *np.atleast_1d(figure.subplots(1, count)))


def _finish(figure: Any, panels: tuple[Any, ...], x: str, y: str, titles: tuple[str, ...]) -> Any:
    for panel, title in zip(panels, titles, strict=True):
        finish(panel, title, x, y)
    return figure


FIGURES: dict[str, tuple[Callable[..., Data], Callable[..., Any]]] = {
    "g1": (g1_data, g1),
    "g2": (g2_data, g2),
    "g3": (g3_data, g3),
    "g4": (g4_data, g4),
    "g5": (g5_data, g5),
    "dpsgd": (dpsgd_data, dpsgd),
}
