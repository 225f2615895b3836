"""dp_accounting (Google; also the language of TF Privacy and JAX Privacy): events both ways, and an accountant.

>>> import dp_accounting as dp
>>> step = dp.PoissonSampledDpEvent(256 / 60_000, dp.GaussianDpEvent(1.1))
>>> accountant = HockeystickAccountant().compose(step, 3510)
>>> round(accountant.get_epsilon(1e-5), 9)
1.132863322
>>> accountant.release
Gaussian(sigma=1.1).poisson(rate=0.004266666666666667) * 3510

Parameters that are not ours (a probability instead of an epsilon) are rounded so that the translation is never more private than
what was given.
"""

from ...errors import MissingExtra, remedy

try:
    from .accountant import HockeystickAccountant
    from .meanings import from_dp_event
    from .stored import from_pld
    from .wordings import to_dp_event
except ModuleNotFoundError as error:
    if (error.name or "").partition(".")[0] != "dp_accounting":
        raise
    raise MissingExtra(f"events are those of dp-accounting, which is not installed; {remedy('dp_accounting')}.") from None

__all__ = ["HockeystickAccountant", "from_dp_event", "from_pld", "to_dp_event"]
