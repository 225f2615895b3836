"""Divergences of finite pairs to any accuracy: sums of powers of fractions in decimal arithmetic, with counted rounding.

docs/mathematics/own.md, section 16.
"""

from collections.abc import Callable
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal, getcontext, localcontext
from fractions import Fraction

from ...numerics.rounding import LARGEST, down, up
from .finite import FiniteLoss

_DIGITS, _MOST_DIGITS = 40, 5000
_CLOSE = Decimal("1e-17")  # relative: less than a double can tell
Sum = tuple[Decimal, Decimal]
"""A value and a bound of its error."""


def _decimal(value: Fraction) -> Decimal:
    """To the digits of the context; what is longer is cut far behind them."""
    top, bottom = value.numerator, value.denominator
    spare = 4 * getcontext().prec + 64
    cut, left_out = max(top.bit_length() - spare, 0), max(bottom.bit_length() - spare, 0)
    found = Decimal(top >> cut) / Decimal(bottom >> left_out)
    return found * Decimal(2) ** (cut - left_out) if cut != left_out else found


def _ends(ask: Callable[[int], Sum]) -> tuple[float, float]:
    """Both ends as doubles, from values at more and more digits."""
    digits = _DIGITS
    while True:
        with localcontext(Context(prec=digits, Emax=MAX_EMAX, Emin=MIN_EMIN)):
            value, error = ask(digits)
            if error <= _CLOSE * abs(value) or digits > _MOST_DIGITS:
                return down(min(float(value - error), LARGEST)), up(float(value + error))
        digits *= 2


def _log_power_sum(loss: FiniteLoss, order: Fraction, digits: int) -> Sum:
    """log of the sum of p^order q^(1-order), and a bound of its error."""
    alpha, unit = _decimal(order), Decimal(10) ** (1 - digits)
    total, reach = Decimal(0), Decimal(1)
    for p, q in loss.masses_by_ratio:
        log_p, log_q = _decimal(p).ln(), _decimal(q).ln()
        reach = max(reach, abs(log_p), abs(log_q))
        total += (alpha * log_p + (1 - alpha) * log_q).exp()
    # each logarithm is off by a few units of its own size and of its argument's, each exponential by its exponent's error
    off = unit * (8 * (1 + abs(alpha) + abs(1 - alpha)) * (reach + 1) + len(loss.masses_by_ratio) + 8)
    value = total.ln()
    return value, 2 * off + 4 * unit * (1 + abs(value))


def renyi_ends(loss: FiniteLoss, order: Fraction) -> tuple[float, float]:
    """Both ends of the Rényi divergence of an order above 1, where P has no mass of its own."""

    def ask(digits: int) -> Sum:
        value, error = _log_power_sum(loss, order, digits)
        share = _decimal(order - 1)
        return value / share, error / share * 2

    return _ends(ask)


def chi_ends(loss: FiniteLoss, order: Fraction) -> tuple[float, float]:
    """Both ends of (E_Q (P/Q)^order - 1) / (order - 1) for an order above 1, where P has no mass of its own."""

    def ask(digits: int) -> Sum:
        log_sum, error = _log_power_sum(loss, order, digits)
        share, total = _decimal(order - 1), log_sum.exp()
        return (total - 1) / share, 2 * total * (error + Decimal(10) ** (2 - digits)) / share

    return _ends(ask)


def kl_ends(loss: FiniteLoss) -> tuple[float, float]:
    """Both ends of E Z, where P has no mass of its own."""

    def ask(digits: int) -> Sum:
        unit = Decimal(10) ** (1 - digits)
        total = size = Decimal(0)
        for p, q in loss.masses_by_ratio:
            term = _decimal(p) * (_decimal(p).ln() - _decimal(q).ln())
            total, size = total + term, size + _decimal(p) * (abs(_decimal(p).ln()) + abs(_decimal(q).ln()) + 2)
        return total, unit * (8 + len(loss.masses_by_ratio)) * size

    return _ends(ask)


def log_ends(value: Fraction) -> tuple[float, float]:
    """Both ends of the logarithm of a positive fraction."""

    def ask(digits: int) -> Sum:
        found = _decimal(value).ln()
        return found, Decimal(10) ** (1 - digits) * (2 + 2 * abs(found))

    return (0.0, 0.0) if value == 1 else _ends(ask)


def at_most_exp(value: Fraction, epsilon: Fraction) -> bool:
    """Whether a fraction is at most e^epsilon: exactly, since the two are equal at epsilon 0 only (Lindemann)."""
    if value <= 0 or epsilon == 0:
        return value <= 1
    digits = _DIGITS
    while True:
        with localcontext(Context(prec=digits, Emax=MAX_EMAX, Emin=MIN_EMIN)):
            found, wanted = _decimal(value).ln(), _decimal(epsilon)
            slack = Decimal(10) ** (1 - digits) * (4 + 4 * abs(found) + 4 * abs(wanted))
            if abs(found - wanted) > slack:
                return found < wanted
        digits *= 2
