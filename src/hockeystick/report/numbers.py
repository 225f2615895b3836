"""Numbers as text, rounded to the safe side."""

import decimal
import math

from ..checks import given as given


def up_text(value: float, digits: int = 6) -> str:
    """At most `digits` significant digits, never below the value.

    >>> up_text(1.13286332187), up_text(2.0), up_text(1.23456789e-7, 3)
    ('1.13287', '2', '1.24e-07')
    """
    return _text(value, digits, decimal.ROUND_CEILING)


def down_text(value: float, digits: int = 6) -> str:
    """At most `digits` significant digits, never above the value.

    >>> down_text(1.13286332187), down_text(0.30853753872598690)
    ('1.13286', '0.308537')
    """
    return _text(value, digits, decimal.ROUND_FLOOR)


def rounded_up(value: float, digits: int) -> float:
    """A number of few digits that is not below the value.

    >>> rounded_up(1.13286, 3)
    1.14
    """
    return max(float(up_text(value, digits)), value) if math.isfinite(value) else value


def _text(value: float, digits: int, rounding: str) -> str:
    if not math.isfinite(value):
        return "infinity" if value > 0.0 else "-infinity"
    with decimal.localcontext(decimal.Context(prec=digits, rounding=rounding, Emin=-5000, Emax=5000)):
        near = +decimal.Decimal(value)
    if near == 0:
        return "0"
    if -5 <= near.adjusted() < 12:
        shown = f"{near:f}"
        return shown.rstrip("0").rstrip(".") if "." in shown else shown
    mantissa, _, exponent = f"{near:e}".partition("e")
    mantissa = mantissa.rstrip("0").rstrip(".") if "." in mantissa else mantissa
    return f"{mantissa}e{int(exponent):+03d}"
