"""The figures of Asoodeh, Liao, Calmon, Kosut and Sankar, A Better Bound Gives a Hundred Rounds (ISIT 2020) [AL20]."""

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from ...conversion import (
    rdp_budget,
    rdp_budget_closed,
    rdp_budget_two_sided,
    zcdp_budget_classic,
    zcdp_budget_closed,
    zcdp_to_epsilon,
    zcdp_to_epsilon_classic,
    zcdp_to_epsilon_closed,
)
from ...mechanism.gaussian import Gaussian
from ...numerics.cancellation_free import Array
from ...planning.rdp_accountant import RDPAccountant
from ...planning.rounds import rounds
from .style import BLACK, BLUE, GREY, OURS, PAPER, RED, canvas, curve, finish

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

PAPER_NAME = "Asoodeh et al. 2020"
PAIRS = ((2.0, 1.0), (5.0, 1.0), (10.0, 2.0))
"""(order, epsilon): the paper does not name its three pairs."""

DELTA = 1e-5
SIGMA = 20.0  # of Figure 2
NOISE, RATE, EPOCH = 4.0, 0.001, 1000  # of Figure 3
ROUNDS, LAST_ROUND = 1000, 1150  # where the paper's axis of Figure 2 ends, and ours, so that all that is shown is inside
LAST_EPOCH = 1200  # of Figure 3; the paper's ends at 1000, too


def a1_data() -> dict[str, Array]:
    """The largest Rényi value that still implies (epsilon, delta): Theorem 3, Theorem 4, and for both directions."""
    delta = np.geomspace(1e-6, 0.9, 121)
    found: dict[str, Array] = {"delta": delta}
    for order, epsilon in PAIRS:
        pair = f"order {order:g}, epsilon {epsilon:g}"
        found[f"theorem 3, {pair}"] = rdp_budget(order, epsilon, delta)
        found[f"theorem 4, {pair}"] = rdp_budget_closed(order, epsilon, delta)
        found[f"both directions, {pair}"] = rdp_budget_two_sided(order, epsilon, delta)
    return found


def a1(axes: "Axes | None" = None) -> "Figure":
    """Theorem 3 against the closed form of Theorem 4."""
    found = a1_data()
    delta = found["delta"]
    pairs = [f"order {order:g}, epsilon {epsilon:g}" for order, epsilon in PAIRS]
    loss = max(float(np.max(1.0 - found[f"theorem 4, {pair}"] / found[f"theorem 3, {pair}"])) for pair in pairs)
    caption = (
        "Solid: the exact optimum (Theorem 3).  Dotted: the paper's closed form (Theorem 4), up to "
        f"{100.0 * loss:.0f}% below it.  Dashed: the optimum when the bound is known to hold in both directions, which is more "
        "for large delta.  The paper does not name its three pairs; these are ours."
    )
    figure, axes = canvas(axes, caption)
    dotted, dashed = {"linestyle": (0, (1, 1.3)), "linewidth": 2.2}, {"linestyle": "--", "linewidth": 1.2}
    for (order, epsilon), colour in zip(PAIRS, (BLACK, BLUE, RED), strict=True):
        pair = f"order {order:g}, epsilon {epsilon:g}"
        label = f"order {order:g}, ε = {epsilon:g}: exact (Theorem 3)"
        curve(axes, delta, found[f"theorem 3, {pair}"], {"color": colour, "linewidth": 2.2}, label)
        curve(axes, delta, found[f"theorem 4, {pair}"], {"color": colour, **dotted})
        curve(axes, delta, found[f"both directions, {pair}"], {"color": colour, **dashed})
    curve(axes, delta[:0], delta[:0], {"color": GREY, **dotted}, "likewise, by Theorem 4")
    curve(axes, delta[:0], delta[:0], {"color": GREY, **dashed}, "likewise, both directions known")
    axes.set_xscale("log")
    axes.set_ylim(0.0, 4.5)
    finish(
        axes,
        f"{PAPER_NAME}, Figure 1: the Rényi budget of (ε, δ)",
        "δ",
        "largest Rényi value γ that implies (ε, δ)-DP",
        "upper left",
    )
    return figure


def a2_data() -> dict[str, Array]:
    """epsilon of Gaussian noise of 20, used `count` times, at delta 1e-5."""
    count = np.unique(np.round(np.concatenate((np.arange(1, 20), np.linspace(20, LAST_ROUND, 114))))).astype(float)
    rho = count / (2.0 * SIGMA**2)
    step = Gaussian(sigma=SIGMA)
    return {
        "count": count,
        "moments accountant": zcdp_to_epsilon_classic(rho, DELTA),
        "lemma 2": zcdp_to_epsilon_closed(rho, DELTA),
        "theorem 3": zcdp_to_epsilon(rho, DELTA),
        "exact": np.array([(step * int(one)).epsilon(DELTA) for one in count]),
    }


def a2(axes: "Axes | None" = None) -> "Figure":
    """Gaussian noise composed: the moments accountant, Lemma 2, and the exact answer."""
    found = a2_data()
    gaps = [_more_rounds(epsilon) for epsilon in (6.0, 7.0, 8.0)]
    (last,) = np.flatnonzero(found["count"] == ROUNDS).tolist()
    classic, lemma, exact = (float(found[name][last]) for name in ("moments accountant", "lemma 2", "exact"))
    caption = (
        f"Gaussian noise of σ = 20, δ = 1e-5.  At 1000 rounds, where the paper's axis ends, Lemma 2 saves {classic - lemma:.6f} "
        f"of epsilon (the paper says 0.75), the exact answer {classic - exact:.6f}.  Within ε = 6, 7, 8 Lemma 2 allows "
        f"{', '.join(str(more) for more, _ in gaps)} more rounds than the moments accountant (the paper says 100 for any "
        f"ε above 6), the exact answer {', '.join(str(all_) for _, all_ in gaps)}.  Theorem 3 at the best order differs "
        f"from Lemma 2 by {np.max(found['lemma 2'] - found['theorem 3']):.0e} at most."
    )
    figure, axes = canvas(axes, caption)
    curve(axes, found["count"], found["moments accountant"], PAPER[0], "moments accountant (Eq. 23)")
    curve(axes, found["count"], found["lemma 2"], PAPER[1], "the paper's bound (Lemma 2)")
    curve(axes, found["count"], found["exact"], OURS, "exact (ours)")
    for epsilon, (by_lemma, by_exact) in zip((6.0, 7.0, 8.0), gaps, strict=True):
        start = _classic_rounds(epsilon)
        axes.plot([start, start + by_exact], [epsilon, epsilon], color=GREY, linewidth=1.0, zorder=1.0)
        text = f"+{by_lemma} or +{by_exact} rounds"
        axes.annotate(text, (start, epsilon), xytext=(-6, 3), textcoords="offset points", ha="right", fontsize=9)
    axes.set_xlim(0.0, LAST_ROUND)
    axes.set_ylim(0.0, 10.0)
    finish(axes, f"{PAPER_NAME}, Figure 2: Gaussian noise, composed", "rounds", "ε", "lower right")
    return figure


def _classic_rounds(epsilon: float) -> int:
    return math.floor(float(zcdp_budget_classic(epsilon, DELTA)) * 2.0 * SIGMA**2)


def _more_rounds(epsilon: float) -> tuple[int, int]:
    """How many rounds more than the moments accountant Lemma 2 allows, and the exact answer."""
    classic = _classic_rounds(epsilon)
    better = math.floor(float(zcdp_budget_closed(epsilon, DELTA)) * 2.0 * SIGMA**2)
    return better - classic, rounds(Gaussian(sigma=SIGMA), epsilon, DELTA) - classic


def _step() -> Any:
    return Gaussian(sigma=NOISE).poisson(rate=RATE)


def a3_data() -> dict[str, Array]:
    """epsilon of noisy SGD (rate 0.001, noise 4) at delta 1e-5, by epochs of 1000 steps."""
    epochs = np.unique(np.append(np.round(np.geomspace(1.0, LAST_EPOCH, 60)), 1000.0))
    rho = epochs * EPOCH * RATE**2 / ((1.0 - RATE) * NOISE**2)
    step = _step()
    return {
        "epochs": epochs,
        "moments accountant": zcdp_to_epsilon_classic(rho, DELTA),
        "lemma 2": zcdp_to_epsilon_closed(rho, DELTA),
        "exact curve, theorem 3": np.array([RDPAccountant().compose(step, int(one) * EPOCH).epsilon(DELTA) for one in epochs]),
        "exact": np.array([(step * (int(one) * EPOCH)).epsilon(DELTA) for one in epochs]),
    }


def a3(axes: "Axes | None" = None) -> "Figure":
    """Noisy SGD: the paper's two curves, the exact Rényi curve converted optimally, and the exact composition."""
    found = a3_data()
    per_epoch = (1.0 - RATE) * NOISE**2 / (RATE**2 * EPOCH)
    classic, better = (float(budget(1.0, DELTA)) * per_epoch for budget in (zcdp_budget_classic, zcdp_budget_closed))
    exact = rounds(_step(), 1.0, DELTA) / EPOCH
    caption = (
        f"Rate 0.001, σ = 4, δ = 1e-5.  Within ε = 1: {classic:.1f} epochs by the moments accountant, {better:.1f} by "
        "Lemma 2 (both with ρ = q²/((1-q)σ²), Abadi et al., whose range of validity the paper leaves below 24 epochs), "
        f"{exact:.1f} by exact composition.  The larger part of the gain is the exact Rényi curve in place of ρ.  "
        "The paper's axis ends at 1000."
    )
    figure, axes = canvas(axes, caption)
    curve(axes, found["epochs"], found["moments accountant"], PAPER[0], "moments accountant (Eq. 23)")
    curve(axes, found["epochs"], found["lemma 2"], PAPER[1], "the paper's bound (Lemma 2)")
    curve(axes, found["epochs"], found["exact curve, theorem 3"], PAPER[2], "exact Rényi curve (ours), by Theorem 3")
    curve(axes, found["epochs"], found["exact"], OURS, "exact composition (ours)")
    axes.axhline(1.0, color=GREY, linewidth=1.0, zorder=1.0)
    for epochs, style, beside in ((classic, PAPER[0], (-26, 5)), (better, PAPER[1], (-26, 5)), (exact, OURS, (3, -13))):
        axes.plot([epochs], [1.0], "o", color=style["color"], markersize=5.0, zorder=4.0)
        axes.annotate(f"{epochs:.0f}", (epochs, 1.0), xytext=beside, textcoords="offset points", fontsize=9)
    axes.set_xlim(0.0, LAST_EPOCH)
    axes.set_ylim(0.0, 2.0)
    finish(axes, f"{PAPER_NAME}, Figure 3: noisy SGD", "epochs of 1000 steps", "ε", "lower right")
    return figure
