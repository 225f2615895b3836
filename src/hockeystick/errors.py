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


class MissingExtra(HockeystickError, ImportError):
    """An optional dependency is not installed; the message names the extra."""


class EdgeOrder(UserWarning):
    """The best of a list of Rényi orders is its first or last one, so that orders beyond the list may be better."""


class LargeDelta(UserWarning):
    """A delta at which the guarantee allows that a record is published whole: above one over the number of records."""
