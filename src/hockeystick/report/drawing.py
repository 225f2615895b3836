"""What the pictures of a run share: the certified band, its scale, ticks, and short names."""

import math
import re
import string
from typing import Any

import numpy as np

from ..errors import BadType, HockeystickError
from ..mechanism.release import Release
from ..neighbours import Relation, Stated, checked
from ..numerics.cancellation_free import Array
from ..planning.rdp_accountant import RDPAccountant
from .band import Band, band
from .figures.style import BLUE

BETWEEN = "between both ends"
_LEAST = 1e-300
_TOKEN = string.ascii_letters + string.digits + "._"


def certified_profile(release: Release, most: float, floor: float, relation: Relation) -> Band:
    """delta between 0 and the largest epsilon that is drawn, as a band."""

    def ask(points: Array) -> tuple[Array, Array]:
        bounds = release.delta_bounds(points, relation)
        return np.asarray(bounds.lower), np.asarray(bounds.upper)

    return band(ask, 0.0, most, log_scale(floor), exponential=True)


def log_scale(floor: float) -> Any:
    """From deltas to where they are drawn, from 0 at the floor to 1."""
    return lambda deltas: 1.0 - np.log(np.maximum(deltas, floor)) / math.log(floor)


def floor_of(release: Release, most: float, delta: float, relation: Relation) -> float:
    """The least delta that is drawn: that of the last epsilon, unless it is out of all proportion."""
    last = float(release.delta(most, relation))
    least = min(delta, 0.1) ** 3 / 10.0 if delta > 0.0 else 1e-12
    return max(last / 3.0, least, _LEAST)


def shade(axes: Any, drawn: Band, scale: Any, floor: float) -> None:
    """The band, where it is wider than a line: on each side as far as the next point."""
    if drawn.apart(scale) <= 0.01:
        return
    points, low, high = np.repeat(drawn.points, 2)[1:-1], np.repeat(drawn.lower[1:], 2), np.repeat(drawn.upper[:-1], 2)
    least = floor / 10.0
    axes.fill_between(
        points, np.maximum(low, least), np.maximum(high, least), color=BLUE, alpha=0.35, linewidth=0.0, label=BETWEEN
    )


def plain_ticks(axis: Any, low: float, high: float) -> None:
    """Numbers as people write them on a logarithmic axis; on a short one also between the powers of ten."""
    from matplotlib.ticker import FuncFormatter

    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.12g}"))
    between = high < 30.0 * low
    axis.set_minor_formatter(FuncFormatter(lambda value, _: f"{value:,.12g}" if between and f"{value:e}"[0] in "235" else ""))


def checked_relation(release: Any, neighbours: Relation) -> Relation:
    """The relation of a picture, if what is drawn is a release."""
    if not isinstance(release, Release):
        raise BadType(f"release is {release!r}; allowed: a release such as Gaussian(sigma=2.0).")
    return release.stated if isinstance(neighbours, Stated) else checked(neighbours)


def claimed(alphas: Any, epsilon: float, delta: float) -> Any:
    """The trade-off curve of an (epsilon, delta) claim."""
    grown = math.exp(min(epsilon, 700.0))
    return np.maximum(0.0, np.maximum(1.0 - delta - grown * alphas, (1.0 - delta - alphas) / grown))


def by_renyi(step: Release, counts: Any, delta: float, relation: Relation) -> Any:
    """The epsilons by the best Rényi order, if there are any."""
    try:
        return np.array([RDPAccountant(neighbours=relation).compose(step, int(count)).epsilon(delta) for count in counts])
    except HockeystickError:
        return None


def short(release: Release) -> str:
    """The release in a caption: of a long number the first digits, and dots.

    >>> import hockeystick as hs
    >>> short(hs.Gaussian(sigma=1.999999999).poisson(rate=1 / 300))
    'Gaussian(sigma=1.9999…).poisson(rate=0.003333…)'
    """
    return cut(re.sub(r"(\d+\.0*\d{4})\d{2,}(?![\de])", r"\1…", repr(release)), 70)


def cut(text: str, most: int = 48) -> str:
    """Both ends of a long text, since what differs is often at its end; words and numbers stay whole, as far as that leaves some.

    >>> cut("Gaussian(sigma=1.5) * 1000 + Laplace(scale=20.0) * 31", 40)
    'Gaussian(sigma=1.5) * ...=20.0) * 31'
    """
    if len(text) <= most:
        return text
    before, after = most - most // 3 - 3, len(text) - most // 3
    head, tail = text[:before], text[after:]
    if text[before - 1 : before + 1].strip(_TOKEN) == "":
        head = head.rstrip(_TOKEN) or head
    if text[after - 1 : after + 1].strip(_TOKEN) == "":
        tail = tail.lstrip(_TOKEN) or tail
    return f"{head}...{tail}"
