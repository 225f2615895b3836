"""Theorem 3's epsilon: its time, a call and an element of an array, and its tightness against the peers' conversions.

    .venv-bench/bin/python bench/conversion.py      (the environment that `make bench` sets up)

The peers convert the Rényi curves of their own mechanisms, at their own orders; ours converts the same numbers.  Who is not
installed is named.  Nothing here is a test.
"""

import json
import math
import platform
import time
import warnings

import numpy as np

from hockeystick.conversion import rdp_curve_to_epsilon, rdp_to_epsilon

DELTAS = [1e-3, 1e-5, 1e-6, 1e-9, 1e-12]
CASES = [  # rate, sigma, steps
    (1.0, 1.0, 1),
    (1.0, 20.0, 500),
    (1.0, 5.0, 10),
    (0.01, 1.1, 10_000),
    (256 / 60_000, 1.1, 3_510),
    (0.001, 4.0, 100_000),
    (0.1, 2.0, 50),
    (0.5, 1.0, 3),
]


def times() -> dict[str, float]:
    """The best of several runs, in microseconds."""
    rng = np.random.default_rng(1)
    size = 100_000
    order, gamma = 1.0 + 10.0 ** rng.uniform(-3, 3, size), 10.0 ** rng.uniform(-4, 1, size)
    delta = 10.0 ** rng.uniform(-12, -2, size)
    rows = list(zip(order[:2000].tolist(), gamma[:2000].tolist(), delta[:2000].tolist(), strict=True))

    def alone() -> None:
        for row in rows:
            rdp_to_epsilon(*row)

    def all_at_once() -> None:
        rdp_to_epsilon(order, gamma, delta)

    def best(run: object, count: int) -> float:
        found = math.inf
        for _ in range(7):
            start = time.perf_counter()
            run()  # type: ignore[operator]
            found = min(found, (time.perf_counter() - start) / count * 1e6)
        return found

    single = []
    for row in rows:
        start = time.perf_counter()
        rdp_to_epsilon(*row)
        single.append((time.perf_counter() - start) * 1e6)
    return {
        "a call, mean": best(alone, len(rows)),
        "a call, 99th percentile": float(np.percentile(single, 99)),
        "an element of 1e5": best(all_at_once, size),
    }


def dp_accounting() -> list[tuple[str, float, float]]:
    import dp_accounting as dp
    from dp_accounting.rdp import rdp_privacy_accountant as peer

    found = []
    for rate, sigma, steps in CASES:
        accountant = dp.rdp.RdpAccountant()
        accountant.compose(dp.PoissonSampledDpEvent(rate, dp.GaussianDpEvent(sigma)), steps)
        orders, values = np.asarray(accountant._orders, float), np.asarray(accountant._rdp, float)
        known = dict(zip(orders.tolist(), values.tolist(), strict=True))
        for delta in DELTAS:
            theirs = float(peer.compute_epsilon(orders, values, delta)[0])
            found.append((f"{rate:g}, {sigma}, {steps}, {delta}", rdp_curve_to_epsilon(known.get, delta, list(known))[0], theirs))
    return found


def opacus() -> list[tuple[str, float, float]]:
    from opacus.accountants.analysis import rdp as peer

    orders = [1 + x / 10.0 for x in range(1, 100)] + list(range(12, 64))  # its defaults
    found = []
    for rate, sigma, steps in CASES:
        values = peer.compute_rdp(q=rate, noise_multiplier=sigma, steps=steps, orders=orders)
        known = {float(order): float(value) for order, value in zip(orders, values, strict=True)}
        for delta in DELTAS:
            theirs = float(peer.get_privacy_spent(orders=orders, rdp=values, delta=delta)[0])
            found.append((f"{rate:g}, {sigma}, {steps}, {delta}", rdp_curve_to_epsilon(known.get, delta, list(known))[0], theirs))
    return found


def autodp() -> list[tuple[str, float, float]]:
    from autodp import converter, rdp_bank

    found = []
    curves = [(f"Gaussian {sigma}", lambda a, s=sigma: rdp_bank.RDP_gaussian({"sigma": s}, a)) for sigma in (0.7, 1.0, 5.0, 20.0)]
    curves += [(f"Laplace {scale}", lambda a, b=scale: rdp_bank.RDP_laplace({"b": b}, a)) for scale in (0.5, 2.0, 10.0)]
    curves += [(f"response {p}", lambda a, p=p: rdp_bank.RDP_randresponse({"p": p}, a)) for p in (0.6, 0.9)]
    for name, curve in curves:
        peer = converter.rdp_to_approxdp(curve)
        for delta in DELTAS:
            ours = rdp_curve_to_epsilon(lambda a, curve=curve: max(0.0, float(curve(a))), delta)[0]
            found.append((f"{name}, {delta}", ours, float(peer(delta))))
    return found


def main() -> None:
    print(json.dumps({"machine": platform.processor() or platform.machine(), "microseconds": times()}, indent=1))
    warnings.simplefilter("ignore")
    for name, peer in (("dp_accounting", dp_accounting), ("Opacus", opacus), ("autodp", autodp)):
        try:
            found = peer()
        except ImportError:
            print(f"{name}: not installed")
            continue
        looser = [row for row in found if not row[1] <= max(row[2], 0.0) * (1.0 + 1e-12)]
        gains = sorted((theirs - ours) / theirs for _, ours, theirs in found if theirs > 0.0)
        print(
            f"{name}: {len(found)} inputs, ours looser on {len(looser)}; tighter by {gains[len(gains) // 2]:.2e} in the middle, "
            f"{gains[-1]:.2e} at most"
        )
        for row in looser:
            print("   ", row)


if __name__ == "__main__":
    main()
