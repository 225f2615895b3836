"""The loops that every question goes through, compiled where a C compiler was at hand when the package was installed.

Each has a twin in NumPy, with the theorem it rests on; without a compiler, or with HOCKEYSTICK_PURE=1 in the environment, the
twins do the work: more slowly, with answers that are certified in the same way.
"""

import os
from importlib import import_module
from types import ModuleType

switched_off = os.environ.get("HOCKEYSTICK_PURE", "0") not in ("", "0")


def _found() -> ModuleType | None:
    if switched_off:
        return None
    try:
        return import_module(".core", __name__)
    except ImportError:
        return None


core = _found()
ORDERED = (True,), (False,), (True, False)  # ordered pairs as the core numbers them, from 1: whether a record is removed
