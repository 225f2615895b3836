"""Hockey sticks of two densities with a monotone ratio, by ball arithmetic; shares no code with the library."""

import itertools

from flint import acb, arb, ctx

LOGARITHMS = {
    "norm": lambda x, m: -((x - m) ** 2) / 2 - (2 * acb.pi()).sqrt().log(),
    "logistic": lambda x, m: -(x - m) - 2 * (1 + (m - x).exp()).log(),
    "gumbel": lambda x, m: (m - x) - (m - x).exp(),
    "expon": lambda x, scale: -x / scale - acb(scale).log(),
    "beta": lambda x, a, b: (
        (acb(a) - 1) * x.log() + (acb(b) - 1) * (1 - x).log() + acb(a + b).lgamma() - acb(a).lgamma() - acb(b).lgamma()
    ),
    "truncated": lambda x, m: m * x - (((acb(m)).exp() - (-acb(m)).exp()) / m).log(),  # proportional to e^{mx} on [-1, 1]
}
"""Logarithms of densities at complex points."""


def hockey_stick(log_p, log_q, level, low, high):
    """Both ends of the integral of (p - level q)+ over [low, high], p/q growing: where little else lies."""
    ctx.prec = 120
    left, right = low, high  # any place near the crossing is a test, so a bound from below; how near it is, is counted above
    while True:
        middle = 0.5 * (left + right)
        if not left < middle < right:
            break
        if float((log_p(acb(middle)) - log_q(acb(middle)) - acb(level).log()).real.mid()) > 0.0:
            right = middle
        else:
            left = middle
    edges = [right + (high - right) * (i / 16) for i in range(17)]
    value = arb(0)
    for a, b in itertools.pairwise(edges):
        if a < b:
            value += acb.integral(lambda x, _: log_p(x).exp() - level * log_q(x).exp(), a, b).real
    near = (log_p(acb(right)).exp().real + level * log_q(acb(right)).exp().real) * (right - left) * 4
    return value, value + abs(near) + arb("1e-25")


def exponentials(scale, count, epsilon):
    """delta of `count` exponential variables of this scale, above 1, against scale 1, and of the other order.

    The sum T is sufficient, and has a gamma law: Z = T (1 - 1/scale) - count log(scale).
    """
    ctx.prec = 120
    s, n, factor = arb(scale), arb(count), arb(epsilon).exp()

    def above(x):
        return x.gamma_upper(n, 1) if x > 0 else arb(1)

    first = (arb(epsilon) + n * s.log()) / (1 - 1 / s)
    second = (n * s.log() - arb(epsilon)) / (1 - 1 / s)
    removed = above(first / s) - factor * above(first)
    added = (1 - above(second)) - factor * (1 - above(second / s)) if second > 0 else arb(0)
    return removed, added
