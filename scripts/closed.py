"""Conversions and closed forms against the formulas themselves in ball arithmetic: one random input at a time.

Each check names what is asked, and what must not be negative: a function of nothing that is evaluated with more and more bits
until its ball tells the sign.  The optimal Rényi conversion is judged by the two ends of the least cumulant that allows
(epsilon, delta): a pair of two-point distributions from above, weak duality from below
(tests/unit/conversion/test_optimal_rdp.py).
"""

import math
import random
from collections.abc import Callable, Iterator
from typing import Any

from flint import arb, ctx

import hockeystick as hs
from hockeystick import conversion as c

BITS = (160, 500, 1600, 5000)
Sign = Callable[[], arb]  # must not be negative
Case = dict[str, Any]


def spread(rng: random.Random, low: float, high: float) -> float:
    return 10.0 ** rng.uniform(low, high)


def some_delta(rng: random.Random, corner: bool) -> float:
    """Corners: about the smallest that doubles can add to 1, about the smallest double that has all its bits, near 1."""
    if corner:
        return rng.choice((1e-16 * spread(rng, -1, 1), spread(rng, -305, -295), 1.0 - spread(rng, -12, -1), spread(rng, -9, -4)))
    return rng.choice((spread(rng, -12, -0.01), spread(rng, -100, -0.01), spread(rng, -300, -0.01)))


def decided(sign: Sign) -> str:
    """'holds', 'violated' or 'undecided'."""
    for bits in BITS:
        ctx.prec = bits
        value = sign()
        if value >= 0:
            return "holds"
        if value < 0:
            return "violated"
    return "undecided"


# ---------------------------------------------------------------- formulas in balls


def tail(x: arb) -> arb:
    """P(N > x)."""
    return (x / arb(2).sqrt()).erfc() / 2


def gaussian_delta(mu: Any, epsilon: Any) -> arb:
    """delta_mu(epsilon) as a ball."""
    mu, e = arb(mu), arb(epsilon)
    return tail(e / mu - mu / 2) - e.exp() * tail(e / mu + mu / 2)


def sampled_delta(q: float, sigma: float, epsilon: float, order: str) -> arb:
    """delta of one Poisson-sampled Gaussian step: the mixture against the noise alone ('remove'), or the reverse."""
    rate, noise, e = arb(q), arb(sigma), arb(epsilon)
    if order == "add":
        if not (-e).exp() > 1 - rate:
            return arb(0)
        return 1 - e.exp() + e.exp() * sampled_delta(q, sigma, -epsilon, "remove")
    y = noise**2 * ((e.exp() - 1 + rate) / rate).log() + arb(0.5)
    return rate * tail((y - 1) / noise) + (1 - rate - e.exp()) * tail(y / noise)


def _lift(t: arb, s: arb) -> arb:
    return ((1 + t) / t * (-t * s).expm1() / (-(1 + t) * s).expm1()).log()


def _ratio(t: arb, x: arb) -> arb:
    """The s with s - lift(s) = x, a point."""
    s = (x + x.min((1 / t).log1p())).mid()
    for _ in range(200):
        slope = t / (t * s).expm1() - (1 + t) / ((1 + t) * s).expm1()
        step = ((s - _lift(t, s) - x) / (1 - slope)).mid()
        s = (s - step).mid()
        if not abs(step) > (abs(s) + 1) * arb(2) ** (30 - ctx.prec):
            break
    return s


def _best_v(order: float, epsilon: float, delta: float) -> arb:
    """The v of the best pair, roughly: any v gives valid ends, the best one close ones."""
    ctx.prec = 160
    t, e, d = arb(order) - 1, arb(epsilon), arb(delta)

    def share(s: arb) -> arb:
        return d * (-s).expm1() / (-_lift(t, s)).expm1()

    if delta < 1e-40:
        return 2 * d if order * epsilon < 1e-12 else share(_ratio(t, e)).mid()

    def gap(y: arb) -> arb:
        s = _ratio(t, e + y.exp().log1p())
        return (-((-y).exp().log1p()) - share(s).log()).mid()

    least, most = min(2.0, order) * delta * 0.99, max(2.0, order) * delta * 1.01
    low = arb(least / 2).log() if least >= 1 else arb(least / (1 - least)).log() - 1
    high = arb(most / (1 - most)).log() + 1 if most < 0.9 else 60 + 60 / t
    low, high = low.mid(), high.mid()
    f_low, f_high, y = gap(low), gap(high), low
    for k in range(120):
        y = ((low * f_high - high * f_low) / (f_high - f_low) if k % 3 else (low + high) / 2).mid()
        f = gap(y)
        if abs(f) < arb(2) ** -80 or high - low < arb(2) ** -60:
            break
        low, f_low, high, f_high = (low, f_low, y, f) if f > 0 else (y, f, high, f_high)
    return y.exp().log1p().mid()


def least_cumulant(order: float, epsilon: float, delta: float) -> tuple[arb, arb]:
    """Both ends of (order - 1) gamma, gamma the largest for which (order, gamma)-Rényi DP implies (epsilon, delta)-DP."""
    if delta == 0.0:
        return arb(0), arb(0)
    if arb(order) * arb(delta) >= 1:
        ctx.prec = 400
        closed = (arb(order) - 1) * (arb(epsilon) - (-arb(delta)).log1p())
        return closed, closed
    v = _best_v(order, epsilon, delta)
    ctx.prec = 300 + int(7.0 * -math.log10(delta)) + int(8.0 * abs(math.log10(order - 1.0)))
    a, e, d = arb(order), arb(epsilon), arb(delta)
    t = a - 1
    s = _ratio(t, e + v)
    near = (abs(s) + 1) * arb(2) ** (60 - ctx.prec)
    if not ((s - near) - _lift(t, s - near) < e + v < (s + near) - _lift(t, s + near)):
        return arb(0, 1) / 0, arb(0, 1) / 0
    s = s + near * arb(0, 1)
    u = s - v
    rise = 1 - a * (-t * v).exp() + t * (-a * v).exp()
    lower = (a * d * (t * u).exp() * -(-t * s).expm1() - rise).log1p()
    s = s.mid()
    p = (-v).expm1() / (-s).expm1()
    q = (p - d) * (-e).exp()
    upper = (p**a * q**-t + (1 - p) ** a * (1 - q) ** -t).log() if q > 0 and p < 1 else t * (e - (-d).log1p())
    return lower, upper


# ---------------------------------------------------------------- checks: (what was asked, what must not be negative)


def theorem_3(rng: random.Random, corner: bool) -> Iterator[tuple[Case, str]]:
    """The optimal Rényi conversion in its three directions."""
    order = 1.0 + (rng.choice((spread(rng, -9, -6), spread(rng, 5, 6), 1.0)) if corner else spread(rng, -2, 3))
    delta = min(some_delta(rng, corner), 1.0 - 1e-9)
    if corner and rng.random() < 0.3:
        delta = (1.0 - spread(rng, -13, 0)) / order
    epsilon = rng.choice((0.0, spread(rng, -12, 4), spread(rng, -3, 1.5)))
    budget = float(c.rdp_budget(order, epsilon, delta))
    gamma = budget if budget > 1e-290 and rng.random() < 0.7 else spread(rng, -6, 2)
    asked = [("rdp_budget", budget, epsilon, delta)]
    if gamma * (order - 1.0) > 1e-270:
        asked.append(("rdp_to_epsilon", gamma, float(c.rdp_to_epsilon(order, gamma, delta)), delta))
        found = float(c.rdp_to_delta(order, gamma, epsilon))
        if 1e-290 < found < 1.0:
            asked.append(("rdp_to_delta", gamma, epsilon, found))
    for name, value, e, d in asked:
        low, high = least_cumulant(order, e, d)
        needed = (arb(order) - 1) * arb(value)
        verdict = "holds" if needed <= low or value == 0.0 else "violated" if needed > high else "undecided"
        yield {"ask": name, "order": order, "gamma": value, "epsilon": e, "delta": d}, verdict


def renyi_formulas(rng: random.Random, corner: bool) -> Iterator[tuple[Case, str]]:
    """The classical conversions of one order."""
    order = 1.0 + (rng.choice((spread(rng, -12, -6), spread(rng, 5, 8))) if corner else spread(rng, -3, 3))
    gamma, delta = spread(rng, -12, 3), min(some_delta(rng, corner), 1.0 - 1e-12)
    epsilon = rng.choice((0.0, spread(rng, -6, 2), gamma * rng.uniform(0.0, 3.0)))

    def t() -> arb:
        return arb(order) - 1

    def log_zeta() -> arb:  # of (1 - 1/order)^(order - 1) / order
        return -t() * (1 / t()).log1p() - t().log1p()

    def improved() -> arb:
        return arb(gamma) + (log_zeta() - arb(delta).log()) / t()

    def tangent() -> arb:
        return ((t() * arb(gamma)).expm1() / (arb(order) * arb(delta))).log1p() / t()

    def closed() -> arb:
        if arb(order) * arb(delta) >= 1:
            return arb(gamma) + (-arb(delta)).log1p()
        return improved().min(tangent())

    case = {"order": order, "gamma": gamma, "epsilon": epsilon, "delta": delta}
    for name, truth, upper in (
        ("rdp_to_epsilon_classic", lambda: arb(gamma) - arb(delta).log() / t(), c.rdp_to_epsilon_classic(order, gamma, delta)),
        ("rdp_to_epsilon_improved", improved, c.rdp_to_epsilon_improved(order, gamma, delta)),
        ("rdp_to_epsilon_closed", closed, c.rdp_to_epsilon_closed(order, gamma, delta)),
        (
            "rdp_to_delta_classic",
            lambda: (t() * (arb(gamma) - arb(epsilon))).exp().min(arb(1)),
            c.rdp_to_delta_classic(order, gamma, epsilon),
        ),
        (
            "rdp_to_delta_improved",
            lambda: (t() * (arb(gamma) - arb(epsilon)) + log_zeta()).exp().min(arb(1)),
            c.rdp_to_delta_improved(order, gamma, epsilon),
        ),
    ):
        yield {"ask": name, **case, "found": float(upper)}, _at_least(upper, truth)


def _at_least(found: float, truth: Sign) -> str:
    """found >= truth?"""
    return "holds" if found == math.inf else decided(lambda: arb(float(found)) - truth())


def _at_most(found: float, truth: Sign) -> str:
    return "holds" if found == -math.inf else decided(lambda: truth() - arb(float(found)))


def concentrated(rng: random.Random, corner: bool) -> Iterator[tuple[Case, str]]:
    """zCDP."""
    rho, delta, epsilon = spread(rng, -8, 2), min(some_delta(rng, corner), 1.0 - 1e-12), spread(rng, -6, 3)

    def log() -> arb:
        return -arb(delta).log()

    r, e = (lambda: arb(rho)), (lambda: arb(epsilon))
    case = {"rho": rho, "epsilon": epsilon, "delta": delta}
    up = [
        ("zcdp_to_epsilon_classic", lambda: r() + 2 * (r() * log()).sqrt(), c.zcdp_to_epsilon_classic(rho, delta)),
        ("pure_to_zcdp", lambda: e() ** 2 / 2, c.pure_to_zcdp(epsilon)),
        ("pure_to_zcdp_tight", lambda: e() * (e() / 2).tanh(), c.pure_to_zcdp_tight(epsilon)),
    ]
    if epsilon > rho:
        up.append(
            ("zcdp_to_delta_classic", lambda: (-((e() - r()) ** 2) / (4 * r())).exp(), c.zcdp_to_delta_classic(rho, epsilon))
        )
    for name, truth, found in up:
        yield {"ask": name, **case, "found": float(found)}, _at_least(found, truth)
    budget = c.zcdp_budget_classic(epsilon, delta)
    truth = lambda: ((log() + e()).sqrt() - log().sqrt()) ** 2  # noqa: E731
    yield {"ask": "zcdp_budget_classic", **case, "found": float(budget)}, _at_most(budget, truth)


def order_of_claims(rng: random.Random, corner: bool) -> Iterator[tuple[Case, str]]:
    """Which claim follows from which; samples, groups, tests."""
    first = spread(rng, -8, 2.5)
    delta = rng.choice((0.0, some_delta(rng, corner)))
    epsilon = first * (1.0 - spread(rng, -13, 0) if corner else rng.uniform(0.0, 1.5))
    e0, d0, e = (lambda: arb(first)), (lambda: arb(delta)), (lambda: arb(epsilon))
    case = {"epsilon0": first, "delta0": delta, "epsilon": epsilon}

    def implied() -> arb:
        return d0() + (1 - d0()) * (-(e() - e0()).expm1() / (1 + (-e0()).exp())) if epsilon < first else d0()

    found = float(c.implied_delta(first, delta, epsilon))
    yield {"ask": "implied_delta", **case, "found": found}, _at_least(found, implied)
    found = float(c.sufficient_delta(first, epsilon, delta))
    if found > -math.inf:
        enough = lambda: d0() - (1 - d0()) * ((e0() - e()).expm1() / (1 + (-e()).exp())) if first > epsilon else d0()  # noqa: E731
        yield {"ask": "sufficient_delta", **case, "found": found}, _at_most(found, enough)
    rate = rng.choice((spread(rng, -12, 0), rng.random()))
    found = c.amplify_approx(first, delta, rate)
    answer = {"ask": "amplify_approx", **case, "rate": rate, "found": [float(x) for x in found]}
    yield answer, _at_least(found[0], lambda: (arb(rate) * e0().expm1()).log1p())
    yield answer, _at_least(found[1], lambda: arb(rate) * d0())
    size = rng.randint(1, 50)
    found = c.group_approx(first, delta, size)
    answer = {"ask": "group_approx", **case, "size": size, "found": [float(x) for x in found]}
    yield answer, _at_least(found[1], lambda: (d0() * sum((k * e0()).exp() for k in range(size))).min(arb(1)))
    alpha = some_delta(rng, corner)
    beta = float(c.approx_tradeoff(first, delta, alpha))
    a = lambda: arb(alpha)  # noqa: E731
    truth = lambda: (1 - d0() - e0().exp() * a()).max((-e0()).exp() * (1 - d0() - a())).max(arb(0))  # noqa: E731
    yield {"ask": "approx_tradeoff", **case, "alpha": alpha, "found": beta}, _at_most(beta, truth)


def gaussian_dp(rng: random.Random, corner: bool) -> Iterator[tuple[Case, str]]:
    """Gaussian DP to and fro."""
    mu = rng.choice((spread(rng, -8, -3), spread(rng, 1, 4))) if corner else spread(rng, -3, 1.5)
    epsilon = max(0.0, mu * (mu / 2.0 + rng.uniform(-2.0, 37.0 if corner else 8.0)))
    delta = some_delta(rng, corner)
    case = {"mu": mu, "epsilon": epsilon, "delta": delta}
    found = float(c.gdp_to_delta(mu, epsilon))
    yield {"ask": "gdp_to_delta", **case, "found": found}, _at_least(found, lambda: gaussian_delta(mu, epsilon))
    found = float(c.gdp_to_log_delta(mu, epsilon))
    yield {"ask": "gdp_to_log_delta", **case, "found": found}, _at_least(found, lambda: gaussian_delta(mu, epsilon).log())
    found = float(c.gdp_to_epsilon(mu, delta))
    yield {"ask": "gdp_to_epsilon", **case, "found": found}, decided(lambda: arb(delta) - gaussian_delta(mu, found))
    if delta < 1.0:
        mu_found = float(c.gdp_mu(epsilon, delta))
        verdict = decided(lambda: gaussian_delta(mu_found, epsilon) - arb(delta)) if mu_found < math.inf else "holds"
        yield {"ask": "gdp_mu", **case, "found": mu_found}, verdict
    alpha = delta
    beta = float(c.gdp_tradeoff(mu, alpha))
    if 0.0 < beta < 1.0:  # Phi^-1(1 - alpha) - mu >= Phi^-1(beta), told by the tail at Phi^-1(beta) + mu
        import scipy.special

        start = float(scipy.special.ndtri(beta))
        yield {"ask": "gdp_tradeoff", **case, "found": beta}, decided(lambda: _quantile(beta, start, mu, alpha))


def _quantile(beta: float, start: float, mu: float, alpha: float) -> arb:
    """P(N > x + mu) - alpha at x = Phi^-1(beta): not negative if beta is at most the truth."""
    x, goal = arb(start), arb(beta)
    for _ in range(12):
        below = tail(-x)
        density = (-x * x / 2).exp() / (2 * arb.pi()).sqrt()
        x = (x - (below - goal) / density / (1 + (below - goal) / density * x / 2)).mid()  # Halley
    near = (abs(x) + goal / ((-x * x / 2).exp())) * arb(2) ** (20 - ctx.prec)
    if not tail(-(x - near)) < goal < tail(-(x + near)):
        return arb(0, 1)
    return tail(x + near * arb(0, 1) + arb(mu)) - arb(alpha)


def noise(rng: random.Random, corner: bool) -> Iterator[tuple[Case, str]]:
    """Both ends of releases with a closed form: Gaussian noise (thousands of parts in corners), one Laplace or sampled step."""
    kind = rng.choice(("gaussian", "laplace", "sampled"))
    delta = min(some_delta(rng, corner), 0.999)
    if kind == "gaussian":
        parts = rng.choice((1, rng.randint(1000, 3000))) if corner and rng.random() < 0.2 else rng.randint(1, 3)
        sigmas = [spread(rng, -1, 3) * math.sqrt(parts) for _ in range(parts)]
        counts = [int(spread(rng, 0, 9 if corner else 3)) for _ in range(parts)]
        run = hs.compose([hs.Gaussian(sigma=s) * n for s, n in zip(sigmas, counts, strict=True)])
        case: Case = {"kind": kind, "sigmas": sigmas[:4], "counts": counts[:4], "parts": parts}

        def truth(epsilon: float) -> arb:
            square = sum((n / arb(s) ** 2 for s, n in zip(sigmas, counts, strict=True)), arb(0))
            return gaussian_delta(square.sqrt(), epsilon)

    elif kind == "laplace":
        scale = spread(rng, -2, 6)
        run, case = hs.Laplace(scale=scale), {"kind": kind, "scale": scale}

        def truth(epsilon: float) -> arb:
            return (-((arb(epsilon) - 1 / arb(scale)) / 2).expm1()).max(arb(0))

    else:
        rate = rng.choice((spread(rng, -12, -4), 1.0 - spread(rng, -9, -1))) if corner else spread(rng, -4, -0.05)
        sigma = 0.4 * spread(rng, -0.1, 0.1) if corner else spread(rng, -1, 2)
        run, case = hs.Gaussian(sigma=sigma).poisson(rate=rate), {"kind": kind, "rate": rate, "sigma": sigma}

        def truth(epsilon: float) -> arb:
            return sampled_delta(rate, sigma, epsilon, "remove").max(sampled_delta(rate, sigma, epsilon, "add"))

    bounds = run.epsilon_bounds(delta)
    asked: Case = {"ask": "epsilon_bounds", **case, "delta": delta, "found": [bounds.lower, bounds.upper]}
    yield asked, decided(lambda: arb(delta) - truth(bounds.upper)) if bounds.upper < math.inf else "holds"
    if bounds.lower > 0.0:
        yield asked, decided(lambda: truth(bounds.lower) - arb(delta))
    epsilon = bounds.upper * rng.uniform(0.0, 1.2) if bounds.upper < math.inf else 1.0
    log = run.log_delta_bounds(epsilon)
    asked = {"ask": "log_delta_bounds", **case, "epsilon": epsilon, "found": [log.lower, log.upper]}
    if log.upper < 0.0:
        above = (lambda: arb(log.upper).exp()) if log.upper > -math.inf else (lambda: arb(0))
        yield asked, decided(lambda: above() - truth(epsilon))
    if log.lower > -math.inf:
        yield asked, decided(lambda: truth(epsilon) - arb(log.lower).exp())


CHECKS = (theorem_3, renyi_formulas, concentrated, order_of_claims, gaussian_dp, noise)
