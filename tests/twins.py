"""The library with and without its compiled core."""

import importlib
import pkgutil
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

import hockeystick.loss
import hockeystick.native

PACKAGES = hockeystick.loss, hockeystick.native
MODULES = [
    importlib.import_module(one.name)
    for package in PACKAGES
    for one in pkgutil.walk_packages(package.__path__, f"{package.__name__}.")
    if not one.name.endswith(".core")
]
USERS = [module for module in MODULES if hasattr(module, "core")]  # of the loops' one switch, and where whole answers are asked


@contextmanager
def pure() -> Iterator[None]:
    """NumPy alone."""
    with pytest.MonkeyPatch.context() as patch:
        for module in USERS:
            patch.setattr(module, "core", None)
        yield
