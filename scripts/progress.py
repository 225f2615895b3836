"""One progress bar for every script: a line of the terminal; nothing where there is no terminal."""

import sys


def bar(done: int, total: int, note: str = "") -> None:
    """Draw it anew; the last call ends the line."""
    if not sys.stderr.isatty():
        return
    filled = 30 * done // max(total, 1)
    end = "\n" if done >= total else ""
    print(f"\r[{'#' * filled}{'.' * (30 - filled)}] {done}/{total} {note[:100]}\033[K", end=end, file=sys.stderr, flush=True)
