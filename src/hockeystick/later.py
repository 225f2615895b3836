"""Names of a package that are imported on first use: whoever needs few of them waits for few."""

import sys
from collections.abc import Callable
from importlib import import_module
from typing import Any

from .checks import meant


def later(package: str, homes: dict[str, tuple[str, ...]]) -> Callable[[str], Any]:
    """The `__getattr__` of a package (PEP 562): `homes` has its modules and the names that come from each; a
    module without any is meant itself.

    >>> later("os", {"path": ("join",)})("joint")
    Traceback (most recent call last):
        ...
    AttributeError: module 'os' has no attribute 'joint' (did you mean join?)
    """
    home_of = {name: home for home, names in homes.items() for name in names}

    def get(name: str) -> Any:
        if homes.get(name) == ():
            return import_module(f".{name}", package)
        if name not in home_of:
            near = "" if name.startswith("_") else meant(name, [*home_of, *(one for one, names in homes.items() if not names)])
            raise AttributeError(f"module {package!r} has no attribute {name!r}{near}")
        found = getattr(import_module(f".{home_of[name]}", package), name)
        setattr(sys.modules[package], name, found)
        return found

    return get
