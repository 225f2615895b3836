"""The table of docs/sampling.md that compares the schemes, row by row, with what the library says now."""

import pytest

from compare_schemes import BEGIN, END, PAGE, PICTURE, line, row, runs

SLOW = "fixed size, with replacement"
TABLE = PAGE.read_text(encoding="utf-8").split(BEGIN)[1].split(END)[0].splitlines()


@pytest.mark.parametrize("scheme", [scheme for scheme in runs() if scheme != SLOW])
def test_a_row_of_the_table(scheme):
    assert line(row(scheme)) in TABLE


def test_the_picture_is_there_and_the_table_has_every_scheme():
    assert [text.split(" | ")[0].removeprefix("| ") for text in TABLE[2:]] == list(runs())
    assert PICTURE.stat().st_size > 10_000
