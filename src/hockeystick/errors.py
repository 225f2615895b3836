"""The library's errors.  Each is also the nearest built-in error, so either can be caught.  And its warnings."""


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
    """What was asked for is beyond the budget.  Where it was to be charged, nothing was; the message says what is left."""


class MissingExtra(HockeystickError, ImportError):
    """An optional dependency is not installed; the message has the command that installs it."""


class EdgeOrder(UserWarning):
    """The best of a list of Rényi orders is its first or last one, so that orders beyond the list may be better."""


class LargeDelta(UserWarning):
    """A delta at which the guarantee allows that a record is published whole: above one over the number of records."""


_PACKAGES = {  # of the extras in pyproject.toml
    "cli": "'typer>=0.12' 'rich>=13'",
    "dp_accounting": "'dp-accounting>=0.6'",
    "opacus": "'opacus>=1.6'",
    "plot": "'matplotlib>=3.7'",
}


def remedy(extra: str) -> str:
    """The command that installs what an extra needs: its packages, which works wherever this library came from."""
    return f"pip install {_PACKAGES[extra]}"
