"""Other libraries: each module needs the package that it is named after, and nothing is imported unless asked for."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .agreement import crosscheck

__all__ = ["crosscheck"]


def __getattr__(name: str) -> Any:
    if name == "crosscheck":
        from .agreement import crosscheck

        return crosscheck
    raise AttributeError(f"module 'hockeystick.interop' has no attribute {name!r}")
