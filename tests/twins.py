"""The library with and without its compiled core."""

import importlib
import pkgutil
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

import hockeystick.loss
import hockeystick.native

MODULES = [importlib.import_module(one.name) for one in pkgutil.walk_packages(hockeystick.loss.__path__, "hockeystick.loss.")]
USERS = [module for module in MODULES if hasattr(module, "core")]


@contextmanager
def pure() -> Iterator[None]:
    """NumPy alone."""
    with pytest.MonkeyPatch.context() as patch:
        for module in USERS:
            patch.setattr(module, "core", None)
        yield
