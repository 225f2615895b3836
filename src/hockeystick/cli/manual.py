"""The manual page of the command, in roff: hockeystick --man > hockeystick.1, or hockeystick --man | man -l -"""

import re
from collections.abc import Iterator
from typing import Any

from .. import __version__

_EXIT = (
    ("0", "answered"),
    ("2", "bad input; of a sweep, in some row, while the others are answered"),
    ("3", "over budget or unreachable"),
    ("4", "our own engines disagree (crosscheck only)"),
)


def manual(panels: dict[str, dict[str, str]], command: Any) -> str:
    """The whole page; `command` gives a command by its name."""
    lines = [
        f'.TH HOCKEYSTICK 1 "" "hockeystick {__version__}" "User Commands"',
        ".SH NAME",
        "hockeystick \\- exact, certified differential-privacy accounting",
        ".SH SYNOPSIS",
        ".B hockeystick",
        ".I COMMAND",
        "[options]",
        ".SH DESCRIPTION",
        "Every answer is an interval that contains the true value.  RUN is an expression such as",
        "\\(aqGaussian(sigma=1.1).poisson(rate=0.01) * 1000\\(aq, a .toml or .json file, or - for standard input.",
    ]
    for panel, commands in panels.items():
        lines.append(f".SH {panel.upper()}")
        for name in commands:
            made = command(name)
            lines += _command(name, made)
            for verb, one in getattr(made, "commands", {}).items():
                lines += _command(f"{name} {verb}", one)
    lines += [".SH EXIT STATUS", *(line for code, words in _EXIT for line in (".TP", code, words))]
    return "\n".join(lines) + "\n"


def _command(name: str, command: Any) -> Iterator[str]:
    yield f".SS hockeystick {name}"
    for paragraph in (command.help or "").strip().split("\n\n"):
        yield _plain(" ".join(paragraph.split()))
        yield ".PP"
    for one in command.params:
        if not str(one.opts[0]).startswith("-"):
            continue
        yield ".TP"
        yield ", ".join(f"\\fB{_plain(option)}\\fR" for option in (*one.opts, *one.secondary_opts))
        yield _plain(re.sub(r"\[/?\w+\]", "", one.help or ""))


def _plain(text: str) -> str:
    """Text as roff takes it."""
    escaped = text.replace("\\", "\\\\").replace("-", "\\-").replace("'", "\\(aq")
    return f"\\&{escaped}" if escaped.startswith(".") else escaped
