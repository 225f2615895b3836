"""The library's errors.  Each is also the nearest built-in error, so either can be caught.  And its warnings."""

from typing import Any


class HockeystickError(Exception):
    """Base of all errors that the library raises on purpose."""


class BadValue(HockeystickError, ValueError):
    """A parameter has the right type and a value that is not allowed."""


class BadType(HockeystickError, TypeError):
    """A parameter has the wrong type."""


class Unsupported(HockeystickError, ValueError):
    """A question to which no proof gives a sound answer; the message names what is missing."""


class Unreachable(HockeystickError, ValueError):
    """A target that no value of the parameter can reach."""


class OverBudget(Unreachable):
    """What was asked for is beyond the budget.  Where it was to be charged, nothing was; the message says what is left.

    Of a ledger's account, `refusal` has what was asked for and what is left, how many still fit, and the noise that would fit.
    """

    refusal: dict[str, Any] = {}  # noqa: RUF012 (each error has its own)


class MissingExtra(HockeystickError, ImportError):
    """An optional dependency is not installed; the message has the command that installs it."""


class Tampered(HockeystickError, ValueError):
    """Entries of a ledger that are not those that were written; `findings` lists every one that was found."""

    findings: tuple[str, ...] = ()


class NotRead(HockeystickError, RuntimeError):
    """Raised within `account.reserved(...)` to state that the data were not read: the reservation is given back."""


class Unavailable(HockeystickError, OSError):
    """A ledger that did not answer; whether it charged is not known, and the same request with the same key charges once."""

    again = False


class EdgeOrder(UserWarning):
    """The best of a list of Rényi orders is its first or last one, so that orders beyond the list may be better."""


class LargeDelta(UserWarning):
    """A delta at which the guarantee allows that a record is published whole: above one over the number of records."""


_PACKAGES = {  # of the extras in pyproject.toml
    "cli": "'typer>=0.12' 'rich>=13'",
    "dp_accounting": "'dp-accounting>=0.6'",
    "ledger": "'SQLAlchemy>=2.0.40' 'alembic>=1.13'",
    "opacus": "'opacus>=1.6'",
    "plot": "'matplotlib>=3.7'",
    "postgresql": "'SQLAlchemy>=2.0.40' 'alembic>=1.13' 'psycopg[binary]>=3.2'",
}


def remedy(extra: str) -> str:
    """The command that installs what an extra needs: its packages, which works wherever this library came from."""
    return f"pip install {_PACKAGES[extra]}"
