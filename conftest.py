"""Modules for a library that is not installed have no doctests to run."""

from importlib.util import find_spec

collect_ignore = [f"src/hockeystick/interop/{name}.py" for name in ("opacus",) if find_spec(name) is None]
