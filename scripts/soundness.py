"""Soundness on random inputs: the order of the bounds, and the exact answer below each of them (`scripts/campaign.py order`).

Conversions: optimal (Asoodeh et al. 2020, Theorem 3) <= its Lemma 1 <= Balle et al. <= classic, for epsilon and delta.
Composition: optimal <= basic, advanced, and concentrated DP.  Mechanisms: the exact answer <= their Rényi curve converted in
each way, and what is known of them otherwise.  Upper ends are rounded up, so an order may fail by rounding: SLACK of the larger
number.
"""

import math
import random
from itertools import pairwise

import hockeystick as hs
from hockeystick import conversion as c

SLACK = 3e-13


def spread(rng, low, high):
    return 10.0 ** rng.uniform(low, high)


def ordered(what, values, slack=SLACK, scale=0.0):
    """Violations of values[0] <= values[1] <= ..."""
    return [
        f"{what}: {values}"
        for one, two in pairwise(values)
        if not one <= two + slack * (abs(two) + scale) or math.isnan(one) or math.isnan(two)
    ]


def conversions(rng):
    """One (order, gamma, delta), and an epsilon."""
    order = 1.0 + spread(rng, -9, 6)
    gamma = spread(rng, -12, 2)
    delta = rng.choice((spread(rng, -300, 0), spread(rng, -12, 0), 1.0 - spread(rng, -9, 0)))
    delta = min(max(delta, 1e-300), 1.0 - 1e-9)
    epsilon = rng.choice((0.0, spread(rng, -6, 2), gamma * rng.uniform(0.0, 3.0)))
    place = (order, gamma, delta, epsilon)
    found = [
        float(convert(order, gamma, delta))
        for convert in (c.rdp_to_epsilon, c.rdp_to_epsilon_closed, c.rdp_to_epsilon_improved, c.rdp_to_epsilon_classic)
    ]
    wrong = ordered(f"epsilon at {place}", found, scale=gamma)
    found = [
        float(convert(order, gamma, epsilon)) for convert in (c.rdp_to_delta, c.rdp_to_delta_improved, c.rdp_to_delta_classic)
    ]
    wrong += ordered(f"delta at {place}", found)
    budgets = [float(f(order, epsilon, delta)) for f in (c.rdp_budget_closed, c.rdp_budget, c.rdp_budget_two_sided)]
    wrong += ordered(f"gamma at {place}", budgets, scale=epsilon)
    rho = gamma
    found = [
        float(f(rho, delta))
        for f in (c.zcdp_to_epsilon, c.zcdp_to_epsilon_closed, c.zcdp_to_epsilon_improved, c.zcdp_to_epsilon_classic)
    ]
    return wrong + ordered(f"zCDP at {place}", found, slack=1e-9, scale=rho)


def compositions(rng):
    """One list of (epsilon, delta), and a delta."""
    size = spread(rng, -3, 0.5)
    parts = [
        (size * rng.uniform(0.1, 1.0), rng.choice((0.0, spread(rng, -12, -7))), rng.choice((1, 1, 2, 10)))
        for _ in range(rng.randrange(1, 7))
    ]
    epsilon, least = c.basic_composition(parts)
    delta = min(0.5, least + spread(rng, -12, -1))
    place = (parts, delta)
    best = c.optimal_composition_epsilon(parts, delta)
    wrong = ordered(f"optimal, basic at {place}", [best, epsilon])
    wrong += ordered(f"optimal, advanced at {place}", [best, c.advanced_composition(parts, delta)])
    if not any(part[1] for part in parts):
        rho = math.fsum(c.pure_to_zcdp_tight(e) * n for e, _, n in parts)
        wrong += ordered(f"optimal, concentrated at {place}", [best, c.zcdp_to_epsilon(rho, delta)], slack=1e-9)
    x = rng.uniform(0.0, 1.0) * epsilon
    wrong += ordered(
        f"delta, implied at {place}", [c.optimal_composition_delta(parts, x), min(1.0, least + _pure(parts, x))], slack=1e-11
    )
    return wrong


def _pure(parts, x):
    """delta(x) of epsilon-DP with the sum of the epsilons (Liu et al. 2021, Theorem 3.1)."""
    return c.implied_delta(c.basic_composition([(e, 0.0, n) for e, _, n in parts])[0], 0.0, x)


def _mechanism(rng):
    """A mechanism, and the rho of zCDP that it is known to have (or None), and its epsilon (or inf)."""
    kind = rng.randrange(8)
    if kind == 0:
        sigma = spread(rng, -0.5, 2)
        return hs.Gaussian(sigma=sigma), 0.5 / sigma**2, math.inf
    if kind == 1:
        return hs.Gaussian(sigma=spread(rng, -0.2, 1)).poisson(rate=spread(rng, -3, -0.3)), None, math.inf
    epsilon = spread(rng, -2, 0.3)
    if kind == 2:
        return hs.Laplace(scale=1.0 / epsilon), c.pure_to_zcdp_tight(epsilon), epsilon
    if kind == 3:
        return hs.RandomizedResponse(epsilon=epsilon), c.pure_to_zcdp_tight(epsilon), epsilon
    if kind == 4:
        return hs.PureDP(epsilon=epsilon), c.pure_to_zcdp_tight(epsilon), epsilon
    if kind == 5:
        return hs.DiscreteLaplace(scale=1.0 / epsilon), c.pure_to_zcdp_tight(epsilon), epsilon
    if kind == 6:
        sigma = spread(rng, 0.2, 1.2)
        return hs.DiscreteGaussian(sigma=sigma), 0.5 / sigma**2, math.inf
    return hs.Exponential(epsilon=epsilon), None, epsilon


def mechanisms(rng):
    """One mechanism, used so often, at one delta: exact <= every bound."""
    step, rho, epsilon = _mechanism(rng)
    count = rng.choice((1, 2, 5, 20, 100))
    delta = spread(rng, -12, -2)
    run = step * count
    bounds = run.epsilon_bounds(delta)
    accountant = hs.RDPAccountant().compose(run)
    order = accountant.order(delta=delta)
    value = accountant.rdp(order)
    place = f"{run!r} at {delta}"
    converted = [c.rdp_to_epsilon(order, value, delta), c.rdp_to_epsilon_improved(order, value, delta)]
    wrong = ordered(f"exact, Rényi: {place}", [bounds.lower, *converted])
    known = [count * epsilon] if epsilon < math.inf else []
    if rho is not None:
        known.append(float(c.zcdp_to_epsilon(count * rho, delta)))
    if epsilon < math.inf:
        known.append(c.optimal_composition_epsilon([(epsilon, 0.0, count)], delta))
    for bound in known:
        wrong += ordered(f"exact, known: {place}", [bounds.lower, bound], slack=1e-12)
        wrong += ordered(f"upper end, known: {place}", [bounds.upper, bound], slack=1e-5)
    return wrong


def curves(rng):
    """One mechanism or claim, sampled or not, in one relation: delta is nowhere above what its Rényi divergence implies."""
    step = _mechanism(rng)[0] if rng.random() < 0.6 else hs.ApproxDP(epsilon=spread(rng, -2, 0.3), delta=spread(rng, -20, -1))
    if rng.random() < 0.7 and "poisson" not in repr(step):
        step = step.poisson(rate=spread(rng, -4, 0))
    run = step * rng.choice((1, 2, 5, 20))
    neighbours = rng.choice(("add", "remove", "replace", "add-or-remove"))
    order = 1.0 + spread(rng, -2, 5)
    try:
        value = run.rdp(order, neighbours=neighbours)
    except hs.Unsupported:
        return []
    if value == math.inf:
        return []
    delta = spread(rng, -40, -1)
    epsilon = run.epsilon_bounds(delta, neighbours=neighbours).lower  # where delta is at least this, if it is not 0
    if not 0.0 < epsilon < math.inf:
        return []
    implied = c.rdp_to_delta(order, value, epsilon)
    return ordered(f"delta, Rényi of order {order}: {run!r}, {neighbours}", [delta, implied], slack=1e-9)


KINDS = {"conversions": conversions, "compositions": compositions, "mechanisms": mechanisms, "curves": curves}


def violations(kind, seed):
    """Of one random input."""
    return KINDS[kind](random.Random(f"{kind} {seed}"))
