"""Errors as one clear message and an exit code that scripts can use."""

import sys
from typing import Any

from ..errors import HockeystickError, Unreachable

BAD_INPUT, OVER, DISAGREEMENT = 2, 3, 4


class Disagreement(HockeystickError):
    """Our own engines contradict each other."""


def _ours(option: str) -> str | None:
    """What an option with a name of another library is here."""
    if not option.startswith("--"):
        return None
    from ..planning.dpsgd import ours

    return ours(option.removeprefix("--"))


def explain(error: BaseException) -> int:
    """Writes to standard error what went wrong and returns the exit code; errors that are not ours are raised again."""
    if hasattr(error, "exit_code") and hasattr(error, "show"):  # click's own: an unknown option, a missing argument
        shown: Any = error
        if near := getattr(error, "possibilities", None):  # in the words that a misspelt command has
            shown.message = f"{shown.message.rstrip('.')}. Did you mean {', '.join(map(repr, near))}?"
            shown.possibilities = None
        shown.show(file=sys.stderr)
        if ours := _ours(str(getattr(error, "option_name", "") or "")):
            sys.stderr.write(f"Here it is {ours}.\n")
        return int(shown.exit_code)
    if hasattr(error, "exit_code"):
        return int(error.exit_code)
    if type(error).__name__ == "Abort" or isinstance(error, KeyboardInterrupt):
        sys.stderr.write("stopped.\n")
        return 130
    if isinstance(error, HockeystickError):
        sys.stderr.write(f"hockeystick: {error}\n")
        if isinstance(error, Disagreement):
            return DISAGREEMENT
        return OVER if isinstance(error, Unreachable) else BAD_INPUT
    if isinstance(error, OSError):
        which = f": {error.filename}" if error.filename is not None else ""
        sys.stderr.write(f"hockeystick: {error.strerror or error}{which}\n")
        return BAD_INPUT
    raise error
