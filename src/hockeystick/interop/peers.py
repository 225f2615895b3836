"""Other accountants, asked the same question: which they are, what they promise, and why they may be off."""

import importlib
import importlib.util
import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from typing import Any, Literal, NamedTuple

from ..errors import BadType, BadValue, remedy
from ..loss.protocol import Interval
from ..mechanism.claim import PureDP
from ..mechanism.gaussian import Gaussian
from ..mechanism.laplace import Laplace
from ..mechanism.release import Release
from ..neighbours import DEFAULT, Relation
from ..sampling.poisson import Poisson
from .engines import Cannot

_EXTRAS = ("dp_accounting", "opacus")
Promise = Literal["interval", "upper bound", "no bound"]


class Use(NamedTuple):
    """One mechanism of a run in the words that the peers share."""

    kind: str  # "gaussian", "laplace" or "pure"
    level: float  # the noise over the sensitivity, or epsilon
    rate: float  # of a Poisson sample; 1: all records
    times: int


@dataclass(frozen=True)
class Peer:
    """An accountant that can be asked for epsilon.

    `ask` takes the uses of a run and delta and returns both ends of epsilon; the lower one is 0 where none is offered.
    """

    name: str
    package: str  # as it is imported
    distribution: str  # as it is installed
    promise: Promise
    above: str  # why its epsilon may be above the truth
    below: str  # why below
    ask: Callable[[list[Use], float], Interval]
    kinds: tuple[str, ...] = ("gaussian",)

    @property
    def installed(self) -> bool:
        return importlib.util.find_spec(self.package) is not None

    @property
    def remedy(self) -> str:
        """How it is installed."""
        return remedy(self.package) if self.package in _EXTRAS else f"pip install {self.distribution}"

    @property
    def version(self) -> str:
        try:
            return version(self.distribution)
        except PackageNotFoundError:
            return ""

    def load(self) -> None:
        """Import it, so that this is not timed."""
        importlib.import_module(self.package)

    def uses(self, release: Release, neighbours: Relation) -> list[Use]:
        """The run in words that this peer understands, or `Cannot`."""
        if neighbours != DEFAULT:
            raise Cannot(f"it is asked for {DEFAULT} only, not for {neighbours}")
        found = [_use(mechanism, count) for mechanism, count in release.parts]
        for use, (mechanism, _) in zip(found, release.parts, strict=True):
            if use is None or use.kind not in self.kinds or (use.rate < 1.0 and use.kind != "gaussian"):
                raise Cannot(f"it has no words for {mechanism!r}")
        return [use for use in found if use is not None and use.rate > 0.0]


def _use(mechanism: Any, count: int) -> Use | None:
    base, rate = (mechanism.base, mechanism.rate) if isinstance(mechanism, Poisson) else (mechanism, 1.0)
    if isinstance(base, Gaussian):
        return Use("gaussian", base.sigma / base.sensitivity, rate, count)
    if isinstance(base, Laplace):
        return Use("laplace", base.scale / base.sensitivity, rate, count)
    if isinstance(base, PureDP) and base.neighbours == DEFAULT:
        return Use("pure", float(base._parameters()["epsilon"]), rate, count)
    return None


# dp_accounting


def _google(accountant: Any, uses: list[Use], delta: float) -> Interval:
    from dp_accounting import GaussianDpEvent, LaplaceDpEvent, PoissonSampledDpEvent

    for use in uses:
        event = GaussianDpEvent(use.level) if use.kind == "gaussian" else LaplaceDpEvent(use.level)
        accountant.compose(PoissonSampledDpEvent(use.rate, event) if use.rate < 1.0 else event, use.times)
    return 0.0, float(accountant.get_epsilon(delta))


def _google_pld(uses: list[Use], delta: float) -> Interval:
    from dp_accounting.pld import PLDAccountant

    return _google(PLDAccountant(), uses, delta)


def _google_rdp(uses: list[Use], delta: float) -> Interval:
    from dp_accounting.rdp import RdpAccountant

    return _google(RdpAccountant(), uses, delta)


# Opacus


def _opacus(name: str) -> Callable[[list[Use], float], Interval]:
    def ask(uses: list[Use], delta: float) -> Interval:
        from opacus.accountants import create_accountant

        if name == "gdp" and len(uses) > 1:
            raise Cannot("noise and rate must stay the same")
        accountant = create_accountant(name)
        accountant.history = [(use.level, use.rate, use.times) for use in uses]
        return 0.0, float(accountant.get_epsilon(delta))

    return ask


# prv_accountant, autodp, riskcal


def _microsoft(uses: list[Use], delta: float) -> Interval:
    import prv_accountant as prv

    def variable(use: Use) -> Any:
        if use.kind == "laplace":
            return prv.LaplaceMechanism(mu=1.0 / use.level)
        if use.kind == "pure":
            return prv.PureDPMechanism(eps=use.level)
        if use.rate < 1.0:
            return prv.PoissonSubsampledGaussianMechanism(noise_multiplier=use.level, sampling_probability=use.rate)
        return prv.GaussianMechanism(noise_multiplier=use.level)

    counts = [use.times for use in uses]
    accountant = prv.PRVAccountant(
        prvs=[variable(use) for use in uses], max_self_compositions=counts, eps_error=0.01, delta_error=delta / 1000.0
    )
    low, _, high = accountant.compute_epsilon(delta, counts)
    return low, high


def _autodp(uses: list[Use], delta: float) -> Interval:
    from autodp.mechanism_zoo import GaussianMechanism, LaplaceMechanism, PureDP_Mechanism
    from autodp.transformer_zoo import AmplificationBySampling, Composition

    def mechanism(use: Use) -> Any:
        if use.kind == "laplace":
            return LaplaceMechanism(b=use.level)
        if use.kind == "pure":
            return PureDP_Mechanism(eps=use.level)
        noise = GaussianMechanism(sigma=use.level)
        sampled = AmplificationBySampling(PoissonSampling=True)
        return sampled(noise, use.rate, improved_bound_flag=True) if use.rate < 1.0 else noise

    made = [mechanism(use) for use in uses]
    total = made[0] if len(uses) == 1 == uses[0].times else Composition()(made, [use.times for use in uses])
    return 0.0, float(total.get_approxDP(delta))


def _riskcal(uses: list[Use], delta: float) -> Interval:
    from riskcal.accountants import CTDAccountant

    accountant = CTDAccountant()
    accountant.history = [(use.level, use.rate, use.times) for use in uses]
    return 0.0, float(accountant.get_epsilon(delta=delta))


_ORDERS = "the best Rényi order says less than the whole loss"
_GRID = "losses are rounded up to a grid, and what is cut off counts as an infinite loss"
_FFT = "the rounding errors of its FFT are not counted, and they drown small tails"
_STATED = "its stated error is added: 0.01 in epsilon, a thousandth of delta"
_ROUNDING = "its rounding errors are not counted"

PEERS = (
    Peer("dp_accounting PLD", "dp_accounting", "dp-accounting", "upper bound", _GRID, _FFT, _google_pld, ("gaussian", "laplace")),
    Peer(
        "dp_accounting RDP",
        "dp_accounting",
        "dp-accounting",
        "upper bound",
        _ORDERS,
        _ROUNDING,
        _google_rdp,
        ("gaussian", "laplace"),
    ),
    Peer("Opacus RDP", "opacus", "opacus", "upper bound", _ORDERS, _ROUNDING, _opacus("rdp")),
    Peer("Opacus PRV", "opacus", "opacus", "upper bound", _STATED, _FFT, _opacus("prv")),
    Peer(
        "Opacus GDP",
        "opacus",
        "opacus",
        "no bound",
        "the central limit theorem is an approximation",
        "the central limit theorem is an approximation",
        _opacus("gdp"),
    ),
    Peer(
        "prv_accountant",
        "prv_accountant",
        "prv_accountant",
        "interval",
        _STATED,
        "its grid is too short for pure DP (docs: migrate-prv-accountant), or the rounding of its FFT drowns small tails",
        _microsoft,
        ("gaussian", "laplace", "pure"),
    ),
    Peer("autodp", "autodp", "autodp", "upper bound", _ORDERS, _ROUNDING, _autodp, ("gaussian", "laplace", "pure")),
    Peer("riskcal", "riskcal", "riskcal", "upper bound", _GRID, _FFT, _riskcal),
)


def chosen(given: Any) -> tuple[Peer, ...]:
    """The peers of these names (of packages, or of accountants such as "Opacus RDP"), or all of them.

    >>> [peer.name for peer in chosen("dp_accounting")]
    ['dp_accounting PLD', 'dp_accounting RDP']
    """
    if given is None:
        return PEERS
    allowed = tuple(dict.fromkeys((*(peer.package for peer in PEERS), *(peer.name for peer in PEERS))))
    if not isinstance(given, Iterable):
        raise BadType(f"peers is {given!r}; allowed: None, or names out of {', '.join(allowed)}.")
    found: list[Peer] = []
    for one in [given] if isinstance(given, str) else given:
        same = [one] if isinstance(one, Peer) else [peer for peer in PEERS if one in (peer.package, peer.name)]
        if not same:
            kind = BadValue if isinstance(one, str) else BadType
            raise kind(f"peers has {one!r}; allowed: {', '.join(allowed)}.")
        found += same
    return tuple(dict.fromkeys(found))


def finite(interval: Interval) -> Interval:
    """As floats, or `Cannot` if there is no number."""
    low, high = float(interval[0]), float(interval[1])
    if math.isnan(low) or math.isnan(high):
        raise Cannot("it answers with no number (nan)")
    return low, high
