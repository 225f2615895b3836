"""Stop rules that hold when releases are chosen in view of earlier outputs, each with its theorem, in exact amounts.

    from hockeystick import filters

A filter refuses what does not fit before it is released.  A reserve is what a budget leaves for the unplanned.
"""

from .approximate import ApproximateFilter
from .filter import Filter
from .kinds import GDPFilter, PureFilter, ZCDPFilter
from .largest import largest_reserve, noise_that_fits, still_fit
from .price import Left, Price
from .renyi import RenyiFilter
from .reserve import Reserve

__all__ = [
    "ApproximateFilter",
    "Filter",
    "GDPFilter",
    "Left",
    "Price",
    "PureFilter",
    "RenyiFilter",
    "Reserve",
    "ZCDPFilter",
    "largest_reserve",
    "noise_that_fits",
    "still_fit",
]
