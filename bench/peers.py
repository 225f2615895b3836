"""Ourselves and the peers, each behind the same three questions.

Nothing is imported before it is asked, so that a first call is timed with its import; that is why `hockeystick.interop`, which
also knows how to ask some of them, is not used here.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from .cases import Case, Use

Answer = tuple[float, float]  # both ends; the lower is 0 where none is offered
KINDS = {"loss": "PLD or PRV", "rdp": "Rényi", "limit": "no bound: central limit theorem", "ours": "certified"}


class Cannot(Exception):
    """The peer has no words for this case; the message says which."""


@dataclass(frozen=True)
class Peer:
    """`kind` is a key of KINDS: "loss" and "rdp" decide which bar of time holds; "limit" promises nothing, so none does."""

    name: str
    distribution: str  # as it is installed
    kind: str
    ask: Callable[[Sequence[Use], float], Answer]
    solve: Callable[[Use, float, float], float] | None = None  # use, epsilon, delta -> sigma
    noises: tuple[str, ...] = ("gaussian",)
    mixes: bool = True
    sweep: Callable[[Sequence[Use], float], list[Answer]] | None = field(default=None)

    @property
    def version(self) -> str | None:
        """None: not installed."""
        try:
            return version(self.distribution)
        except PackageNotFoundError:
            return None

    def answers(self, case: Case) -> list[Answer]:
        """One answer, or those of a sweep; sigma is an answer with one end."""
        for kind, _, rate, _ in case.uses:
            if kind not in self.noises or (rate < 1.0 and kind != "gaussian"):
                raise Cannot(f"it has no words for {kind} noise{' on a sample' if rate < 1.0 else ''}")
        if case.ask == "calibrate":
            if self.solve is None:
                raise Cannot("it does not calibrate")
            return [(0.0, self.solve(case.uses[0], case.epsilon, case.delta))]
        if case.ask == "sweep":
            if self.sweep is not None:
                return self.sweep(case.uses, case.delta)
            return [self.ask([use], case.delta) for use in case.uses]
        if len(case.uses) > 1 and not self.mixes:
            raise Cannot("it takes one noise and one rate only")
        return [self.ask(case.uses, case.delta)]


# ourselves


def _release(uses: Sequence[Use]) -> Any:
    import hockeystick as hs

    def one(use: Use) -> Any:
        kind, level, rate, times = use
        made: Any
        if kind == "gaussian":
            made = hs.Gaussian(sigma=level)
        elif kind == "laplace":
            made = hs.Laplace(scale=level)
        else:
            made = hs.RandomizedResponse(epsilon=level)
        return (made.poisson(rate=rate) if rate < 1.0 else made) * times

    return one(uses[0]) if len(uses) == 1 else hs.compose([one(use) for use in uses])


def _ours(uses: Sequence[Use], delta: float) -> Answer:
    found = _release(uses).epsilon_bounds(delta)
    return found.lower, found.upper


def _ours_sigma(use: Use, epsilon: float, delta: float) -> float:
    import hockeystick as hs

    _, _, rate, times = use
    return hs.calibrate(lambda sigma: hs.Gaussian(sigma=sigma).poisson(rate=rate) * times, epsilon=epsilon, delta=delta)


def _ours_sweep(uses: Sequence[Use], delta: float) -> list[Answer]:
    import hockeystick as hs

    levels, rates = sorted({use[1] for use in uses}), sorted({use[2] for use in uses})
    times = uses[0][3]
    table = hs.sweep(
        lambda rate, sigma: hs.Gaussian(sigma=sigma).poisson(rate=rate) * times,
        {"rate": rates, "sigma": levels},
        progress=False,
        epsilon_at_delta=delta,
    )
    found = dict(zip(zip(table["rate"], table["sigma"], strict=True), table["epsilon"], strict=True))
    return [(0.0, float(found[use[2], use[1]])) for use in uses]


# dp_accounting


def _event(use: Use) -> Any:
    import dp_accounting as dp

    kind, level, rate, _ = use
    if kind == "pure":
        return dp.RandomizedResponseDpEvent(2.0 / (1.0 + math.exp(level)), 2)
    event = dp.GaussianDpEvent(level) if kind == "gaussian" else dp.LaplaceDpEvent(level)
    return dp.PoissonSampledDpEvent(rate, event) if rate < 1.0 else event


def _google_pld(uses: Sequence[Use], delta: float) -> Answer:
    if uses[0][0] == "pure":  # its accountant forgets the count of randomised response: 0.1 would be its answer for 1000 uses
        from dp_accounting.pld import common, privacy_loss_distribution

        ((_, level, _, times),) = uses
        step = privacy_loss_distribution.from_privacy_parameters(common.DifferentialPrivacyParameters(level, 0.0))
        return 0.0, float(step.self_compose(times).get_epsilon_for_delta(delta))
    from dp_accounting.pld import PLDAccountant

    return _google(PLDAccountant(), uses, delta)


def _google_rdp(uses: Sequence[Use], delta: float) -> Answer:
    import dp_accounting as dp
    from dp_accounting.rdp import RdpAccountant

    if uses[0][0] == "pure":  # it knows randomised response for a replaced record only, which changes nothing
        return _google(RdpAccountant(neighboring_relation=dp.NeighboringRelation.REPLACE_ONE), uses, delta)
    return _google(RdpAccountant(), uses, delta)


def _google(accountant: Any, uses: Sequence[Use], delta: float) -> Answer:
    for use in uses:
        accountant.compose(_event(use), use[3])
    return 0.0, float(accountant.get_epsilon(delta))


def _google_sigma(module: str, name: str) -> Callable[[Use, float, float], float]:
    def solve(use: Use, epsilon: float, delta: float) -> float:
        import importlib

        import dp_accounting as dp

        accountant = getattr(importlib.import_module(f"dp_accounting.{module}"), name)
        make = lambda sigma: dp.SelfComposedDpEvent(_event(("gaussian", sigma, use[2], 1)), use[3])  # noqa: E731
        return float(dp.calibrate_dp_mechanism(accountant, make, epsilon, delta, dp.LowerEndpointAndGuess(0.3, 1.0)))

    return solve


# Opacus


def _opacus(name: str) -> Callable[[Sequence[Use], float], Answer]:
    def ask(uses: Sequence[Use], delta: float) -> Answer:
        from opacus.accountants import create_accountant

        accountant = create_accountant(name)
        accountant.history = [(level, rate, times) for _, level, rate, times in uses]
        return 0.0, float(accountant.get_epsilon(delta))

    return ask


def _opacus_sigma(name: str) -> Callable[[Use, float, float], float]:
    def solve(use: Use, epsilon: float, delta: float) -> float:
        from opacus.accountants.utils import get_noise_multiplier

        _, _, rate, times = use
        return float(
            get_noise_multiplier(target_epsilon=epsilon, target_delta=delta, sample_rate=rate, steps=times, accountant=name)
        )

    return solve


# the others


def _microsoft(uses: Sequence[Use], delta: float) -> Answer:
    import prv_accountant as prv

    def variable(use: Use) -> Any:
        kind, level, rate, _ = use
        if kind == "laplace":
            return prv.LaplaceMechanism(mu=1.0 / level)
        if kind == "pure":
            return prv.PureDPMechanism(eps=level)
        if rate < 1.0:
            return prv.PoissonSubsampledGaussianMechanism(noise_multiplier=level, sampling_probability=rate)
        return prv.GaussianMechanism(noise_multiplier=level)

    counts = [use[3] for use in uses]
    accountant = prv.PRVAccountant(
        [variable(use) for use in uses], max_self_compositions=counts, eps_error=0.01, delta_error=delta / 1000.0
    )
    low, _, high = accountant.compute_epsilon(delta, counts)
    return float(low), float(high)


def _microsoft_sigma(use: Use, epsilon: float, delta: float) -> float:
    from prv_accountant.dpsgd import find_noise_multiplier

    _, _, rate, times = use
    return float(find_noise_multiplier(rate, times, target_epsilon=epsilon, target_delta=delta, eps_error=0.01))


def _autodp(uses: Sequence[Use], delta: float) -> Answer:
    from autodp.mechanism_zoo import GaussianMechanism, LaplaceMechanism, PureDP_Mechanism
    from autodp.transformer_zoo import AmplificationBySampling, Composition

    def mechanism(use: Use) -> Any:
        kind, level, rate, _ = use
        if kind == "laplace":
            return LaplaceMechanism(b=level)
        if kind == "pure":
            return PureDP_Mechanism(eps=level)
        noise = GaussianMechanism(sigma=level)
        return AmplificationBySampling(PoissonSampling=True)(noise, rate, improved_bound_flag=True) if rate < 1.0 else noise

    made = [mechanism(use) for use in uses]
    total = made[0] if len(uses) == 1 == uses[0][3] else Composition()(made, [use[3] for use in uses])
    return 0.0, float(total.get_approxDP(delta))


def _ctd(package: str) -> Callable[[Sequence[Use], float], Answer]:
    def ask(uses: Sequence[Use], delta: float) -> Answer:
        import importlib

        accountant = importlib.import_module(package).CTDAccountant()
        accountant.history = [(level, rate, times) for _, level, rate, times in uses]
        return 0.0, float(accountant.get_epsilon(delta=delta))

    return ask


def _riskcal_sigma(use: Use, epsilon: float, delta: float) -> float:
    from riskcal.accountants import CTDAccountant
    from riskcal.calibration.blackbox import find_noise_multiplier_for_epsilon_delta

    _, _, rate, times = use
    return float(find_noise_multiplier_for_epsilon_delta(CTDAccountant, rate, times, epsilon, delta))


def _fourier(uses: Sequence[Use], delta: float) -> Answer:
    import numpy as np
    from fourier_accountant import get_epsilon_R

    levels, rates, counts = (np.array([use[place] for use in uses]) for place in (1, 2, 3))
    return 0.0, float(get_epsilon_R(delta, levels, rates, counts))


OURS = Peer("hockeystick", "hockeystick", "ours", _ours, _ours_sigma, ("gaussian", "laplace", "pure"), sweep=_ours_sweep)
_ALL = ("gaussian", "laplace", "pure")
PEERS = (
    Peer("dp_accounting PLD", "dp-accounting", "loss", _google_pld, _google_sigma("pld", "PLDAccountant"), _ALL),
    Peer("dp_accounting RDP", "dp-accounting", "rdp", _google_rdp, _google_sigma("rdp", "RdpAccountant"), _ALL),
    Peer("prv_accountant", "prv_accountant", "loss", _microsoft, _microsoft_sigma, _ALL),
    Peer("Opacus PRV", "opacus", "loss", _opacus("prv"), _opacus_sigma("prv")),
    Peer("Opacus RDP", "opacus", "rdp", _opacus("rdp"), _opacus_sigma("rdp")),
    Peer("Opacus GDP", "opacus", "limit", _opacus("gdp"), _opacus_sigma("gdp"), mixes=False),
    Peer("autodp", "autodp", "rdp", _autodp, None, _ALL),
    Peer("riskcal", "riskcal", "loss", _ctd("riskcal.accountants"), _riskcal_sigma),
    Peer("gdpnum", "gdpnum", "loss", _ctd("gdpnum")),
    Peer("fourier-accountant", "fourier-accountant", "loss", _fourier),
)
