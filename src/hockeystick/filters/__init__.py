"""Stop rules that hold when releases are chosen in view of earlier outputs, each with its theorem, in exact amounts.

    from hockeystick import filters

A filter refuses what does not fit before it is released.  A reserve is what a budget leaves for the unplanned.
"""

from .largest import largest_reserve, noise_that_fits, still_fit
from .price import Left, Price
from .reserve import Reserve

__all__ = ["Left", "Price", "Reserve", "largest_reserve", "noise_that_fits", "still_fit"]
