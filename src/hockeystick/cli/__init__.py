"""The command `hockeystick` (needs the extra `cli`)."""

import contextlib
import io
import os
import sys
import warnings
from collections.abc import Callable
from typing import Any

from ..errors import EdgeOrder, LargeDelta, remedy

_MISSING = f"the command hockeystick needs typer and rich; {remedy('cli')}."


def main(arguments: list[str] | None = None) -> None:
    """Run the command, with the shell's arguments unless given.

    Exit codes: 0 answered, 2 bad input (of a sweep: in some row), 3 over budget or unreachable.
    """
    try:
        import rich  # noqa: F401
        import typer  # noqa: F401
    except ImportError:
        sys.stderr.write(_MISSING + "\n")
        raise SystemExit(2) from None
    from .app import app

    for stream in (sys.stdout, sys.stderr):  # an epsilon that the terminal cannot show is no reason to fail
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
    said: set[str] = set()

    def on_a_line(message: Warning | str, category: type[Warning], *_place: object) -> None:
        if (words := str(message)) not in said:
            said.add(words)
            sys.stderr.write(f"hockeystick: warning: {words}\n")

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what is meant for programmers
        for category in (EdgeOrder, LargeDelta):
            warnings.simplefilter("always", category)
        warnings.showwarning = on_a_line  # type: ignore[assignment]
        code = _ended(app, arguments)
    raise SystemExit(code)


def _ended(app: Callable[..., Any], arguments: list[str] | None) -> int:
    """The exit code of the command."""
    code: Any
    try:
        code = app(args=arguments, prog_name="hockeystick", standalone_mode=False)
        sys.stdout.flush()
    except SystemExit as stopped:  # click's 1 is a closed pipe: whoever read has had enough
        code = 0 if stopped.code == 1 else stopped.code
    except BrokenPipeError:
        _drop_output()
        code = 0
    except Exception as error:
        from .failure import explain

        code = explain(error)
        if isinstance(error, OSError):
            _drop_output()
    return int(code or 0)


def _drop_output() -> None:
    """What is still to be written has nowhere to go; without this Python would fail once more as it ends."""
    with contextlib.suppress(OSError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
