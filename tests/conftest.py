"""Fixtures for several files."""

from collections.abc import Iterator

import pytest

from hockeystick.native import core
from twins import pure


@pytest.fixture(params=["core", "NumPy"])
def arithmetic(request: pytest.FixtureRequest) -> Iterator[None]:
    """The compiled core, then NumPy alone: for tests of what both do."""
    if request.param == "NumPy":
        with pure():
            yield
    elif core is None:
        pytest.skip("the core was not compiled: there was no C compiler")
    else:
        yield
