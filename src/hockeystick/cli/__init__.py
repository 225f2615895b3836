"""The command `hockeystick` (needs the extra `cli`)."""

import contextlib
import io
import os
import sys

from ..errors import remedy

_MISSING = f"the command hockeystick needs typer and rich; {remedy('cli')}."


def main(arguments: list[str] | None = None) -> None:
    """Run the command, with the shell's arguments unless given.

    Exit codes: 0 answered, 2 bad input, 3 over budget or unreachable.
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
    raise SystemExit(code or 0)


def _drop_output() -> None:
    """What is still to be written has nowhere to go; without this Python would fail once more as it ends."""
    with contextlib.suppress(OSError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
