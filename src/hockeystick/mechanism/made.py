"""Descriptions are made in one place, so that a misspelt argument has a message of ours."""

from abc import ABCMeta
from typing import TYPE_CHECKING, Any

from ..checks import meant
from ..errors import BadType, HockeystickError

if TYPE_CHECKING:
    import inspect


class Made(ABCMeta):
    """The class of all descriptions of releases: an unknown or a missing argument is a `BadType`.

    >>> import hockeystick as hs
    >>> hs.PureDP(eps=2.0)
    Traceback (most recent call last):
        ...
    hockeystick.errors.BadType: PureDP has no argument eps (did you mean epsilon?); allowed: epsilon, neighbours.
    """

    @property
    def __signature__(cls) -> "inspect.Signature":
        """The arguments that help() shows: those of the class, not those of this place."""
        import inspect

        own = inspect.signature(cls.__init__)  # type: ignore[misc]
        return own.replace(parameters=list(own.parameters.values())[1:], return_annotation=inspect.Signature.empty)

    def __call__(cls, *given: Any, **named: Any) -> Any:
        try:
            return type.__call__(cls, *given, **named)
        except TypeError as error:
            if isinstance(error, HockeystickError):
                raise
            words = _misfit(cls, given, named)
            if words is None:
                raise
            raise BadType(words) from None


def _misfit(cls: type, given: tuple[Any, ...], named: dict[str, Any]) -> str | None:
    """What does not fit the arguments, if anything."""
    import inspect

    if inspect.isabstract(cls):
        return None
    allowed = inspect.signature(cls).parameters
    names = ", ".join(allowed)
    unknown = [name for name in named if name not in allowed]
    if unknown:
        near = meant(unknown[0], [name for name in allowed if name not in named])
        return f"{cls.__name__} has no argument {', '.join(unknown)}{near}; allowed: {names}."
    if len(given) > len(allowed):
        return f"{cls.__name__} is given {len(given)} arguments; allowed: {names}."
    twice = [name for name in list(allowed)[: len(given)] if name in named]
    if twice:
        return f"{cls.__name__} is given {', '.join(twice)} twice; allowed: each of {names} once."
    needed = [name for name, one in allowed.items() if one.default is one.empty]
    missing = [name for name in needed if name not in named and name not in list(allowed)[: len(given)]]
    if missing:
        return f"{cls.__name__} needs {', '.join(missing)}; an argument is missing.  Allowed: {names}."
    return None
