"""What a release takes of an account: uses of a planned line, or units of the reserve and of the slack."""

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from ..checks import count as whole
from ..errors import BadType, BadValue
from ..filters import Left, Price, Reserve
from ..mechanism.release import Release
from .refusal import left_of
from .state import Charge, State
from .terms import described, planned_line


@dataclass(frozen=True)
class Priced:
    """A release as it is charged to one account: what it takes, by which version of the terms, and what it was."""

    charge: Charge
    version: int
    what: dict[str, Any]


def priced(name: str, state: State, release: Any, count: int) -> Priced:
    """A planned line by its name, or a release from the reserve.

    Of the slack a release takes what is best while all of it is there; where that does not fit, what is best for what is left.
    """
    times, terms = whole("count", count, least=1), state.terms
    if isinstance(release, str):
        line = planned_line(name, terms, release)
        return Priced(Charge({line.name: times}), terms.version, {"line": line.name, "count": times})
    if not isinstance(release, Release):
        raise BadType(f"release is {release!r}; allowed: a release such as Laplace(scale=30), or the name of a planned line.")
    what = {"release": described(release), "count": times}
    price = _price(terms.reserve, release * times, terms.reserve.everything)
    if not price.amount and not price.slack:  # a mistake, such as a rate or a count that came out as 0
        raise BadValue(
            f"{release!r} releases nothing, so that nothing would be charged; allowed: counts from 1 up, rates above 0."
        )
    left = left_of(state)
    if not left.holds(price) and price.slack and left.amount > 0:
        price = _price(terms.reserve, release * times, left)
    return Priced(Charge({}, price.amount, price.slack), terms.version, what)


@lru_cache(maxsize=4096)
def _price(reserve: Reserve, release: Release, left: Left) -> Price:
    return reserve.price(release, left)
