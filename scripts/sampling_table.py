"""Writes the table of docs/sampling.md anew: `python scripts/sampling_table.py`."""

from pathlib import Path

from hockeystick.sampling.support import table

PAGE = Path(__file__).resolve().parent.parent / "docs" / "sampling.md"
BEGIN, END = "<!-- table -->\n", "\n<!-- end -->"


def main() -> None:
    text = PAGE.read_text(encoding="utf-8")
    head, rest = text.split(BEGIN)
    _, tail = rest.split(END)
    PAGE.write_text(head + BEGIN + table() + END + tail, encoding="utf-8")


if __name__ == "__main__":
    main()
