"""A run of DP-SGD given in options: what calibrate and rounds share."""

from typing import Any

from ..errors import BadValue
from ..mechanism.release import Release
from ..planning.dpsgd import dpsgd


def one_of_both(given: dict[str, Any]) -> None:
    """Raised where a release is given, and some option of DP-SGD, too."""
    for name in given:
        raise BadValue(f"a release and --{name} are both given; give a release, or DP-SGD by its options.")


def training(sampler: str, neighbours: str | None, given: dict[str, Any], find: str, value: Any) -> Release:
    """The run of these options, with `value` for the one that is looked for."""
    more = {} if neighbours is None else {"neighbours": neighbours}
    return dpsgd(**{"sampler": sampler, **given, find: value, **more})
