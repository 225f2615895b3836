"""The figures of Steinke, Composition of Differential Privacy & Privacy Amplification by Subsampling (2022) [S22]."""

import math
from typing import TYPE_CHECKING

import numpy as np

from ...conversion import (
    amplify_rdp,
    amplify_rdp_analytic,
    amplify_rdp_large_order,
    optimal_composition_epsilon,
    zcdp_to_epsilon_classic,
    zcdp_to_epsilon_improved,
)
from ...mechanism.gaussian import Gaussian
from ...mechanism.laplace import Laplace
from ...numerics.cancellation_free import Array
from .style import OURS, PAPER, canvas, curve, finish

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

EPSILON, DELTA = 0.1, 1e-6  # of Figure 1
RATE, RHO = 0.05, 0.5  # of Figure 2


def s1_data() -> dict[str, Array]:
    """epsilon of k uses of 0.1-DP at delta 1e-6."""
    count = np.concatenate((np.arange(1.0, 30.0), np.arange(30.0, 251.0, 5.0)))
    rho = 0.5 * count * EPSILON**2
    laplace, gaussian = Laplace(scale=1.0 / EPSILON), Gaussian(sigma=math.sqrt(200.0))
    return {
        "count": count,
        "basic": count * EPSILON,
        "advanced": zcdp_to_epsilon_classic(rho, DELTA),
        "concentrated": zcdp_to_epsilon_improved(rho, DELTA),
        "optimal": np.array([optimal_composition_epsilon([(EPSILON, 0.0, int(one))], DELTA) for one in count]),
        "gaussian": np.array([(gaussian * int(one)).epsilon(DELTA) for one in count]),
        "laplace": np.array([(laplace * int(one)).epsilon(DELTA) for one in count]),
    }


def s1(axes: "Axes | None" = None) -> "Figure":
    """Composition: what each theorem gives, and what Laplace noise really costs."""
    found = s1_data()
    last = {name: values[-1] for name, values in found.items()}
    caption = (
        "k algorithms of 0.1-DP each, δ = 1e-6.  The optimal curve (Kairouz, Oh, Viswanath) is exact for what is only known "
        "to be 0.1-DP; the thick curve is the exact answer for Laplace noise that is 0.1-DP, the thin one for Gaussian noise "
        f"of the same variance, 200.  The Laplace curve is ours.  "
        f"At k = {last['count']:.0f}: advanced {last['advanced']:.3f}, concentrated "
        f"{last['concentrated']:.3f}, optimal {last['optimal']:.3f}, Laplace noise "
        f"{last['laplace']:.3f}, Gaussian noise {last['gaussian']:.3f}."
    )
    figure, axes = canvas(axes, caption)
    curve(axes, found["count"], found["basic"], PAPER[3], "basic (Theorem 1)")
    curve(axes, found["count"], found["advanced"], PAPER[0], "advanced (Theorem 18)")
    curve(axes, found["count"], found["concentrated"], PAPER[1], "concentrated DP (Proposition 14)")
    curve(axes, found["count"], found["optimal"], PAPER[2], "optimal (exact for 0.1-DP)")
    curve(axes, found["count"], found["gaussian"], PAPER[4], "Gaussian noise (Corollary 10)")
    curve(axes, found["count"], found["laplace"], OURS, "Laplace noise, exact (ours)")
    axes.set_xlim(0.0, 250.0)
    axes.set_ylim(0.0, 12.0)
    finish(axes, "Steinke 2022, Figure 1: composition of 0.1-DP", "k", "ε", "lower right")
    return figure


def s2_data() -> dict[str, Array]:
    """Rényi values of Poisson sampling at rate 0.05 of a 0.5-zCDP algorithm, by order."""
    order = np.arange(1.125, 30.0625, 0.125)
    whole = np.arange(2.0, 31.0)

    def base(order: float) -> float:
        return RHO * order

    return {
        "order": order,
        "whole order": whole,
        "unamplified": RHO * order,
        "theorem 34": np.array([amplify_rdp(one, RATE, base) for one in whole]),
        "analytic": np.array([amplify_rdp_analytic(one, RATE, base) for one in order]),
        "limit": np.array([amplify_rdp_large_order(one, RATE, base) for one in order]),
        "exact": Gaussian(sigma=1.0).poisson(rate=RATE).rdp(order),
    }


def s2(axes: "Axes | None" = None) -> "Figure":
    """Amplification by subsampling: the theorems' bounds, and the divergence of sampled Gaussian noise at every real order."""
    found = s2_data()
    (at,) = np.flatnonzero(found["order"] == 3.0).tolist()
    caption = (
        "Poisson sampling at rate 0.05 of a 0.5-zCDP algorithm.  Dots: Theorem 34 at whole orders, attained by Gaussian noise of "
        "σ = 1, whose divergence we compute at every real order (thick).  The analytic bound and the limit are proved for any "
        f"algorithm; at order 3 they give {found['analytic'][at]:.4f} and {found['limit'][at]:.4f}, the exact value is "
        f"{found['exact'][at]:.4f}."
    )
    figure, axes = canvas(axes, caption)
    curve(axes, found["order"], found["unamplified"], PAPER[3], "unamplified")
    curve(axes, found["order"], found["analytic"], PAPER[0], "analytic (Proposition 41)")
    curve(axes, found["order"], found["limit"], PAPER[1], "limit (Proposition 42)")
    curve(axes, found["order"], found["exact"], OURS, "exact, every real order (ours)")
    dots = {"color": PAPER[2]["color"], "linestyle": "none", "marker": "o", "markersize": 5.0, "zorder": 4.0}
    curve(axes, found["whole order"], found["theorem 34"], dots, "exact (Theorem 34)")
    axes.set_yscale("log")
    axes.set_xlim(1.0, 30.0)
    axes.set_ylim(1e-3, 30.0)
    finish(axes, "Steinke 2022, Figure 2: amplification by subsampling", "Rényi order", "Rényi divergence", "lower right")
    return figure
