"""What each step of a run is, and the theorem and the sources behind each number."""

import re
from typing import TYPE_CHECKING, Any, NamedTuple

from ..loss.engines.driver import ATTAINED, INFINITE
from ..loss.engines.registry import ENGINES
from ..mechanism.claim import ZCDP
from ..mechanism.noise import AdditiveNoise
from ..mechanism.release import Mechanism, Release
from ..neighbours import Relation
from ..sampling.base import Sampled
from ..sampling.group import GROUP_PRIVACY, GroupedPoisson, GroupedRun
from ..sampling.support import THEOREMS

if TYPE_CHECKING:
    from ..loss.engines.engine import Proof

RELATIONS = {
    "add-or-remove": "data sets that differ by one record added or removed",
    "add": "data sets of which the second has one record more",
    "remove": "data sets of which the second has one record less",
    "replace": "data sets that differ by one record replaced by another",
    "zero-out": "data sets that differ by one record replaced by one that contributes nothing",
}

SOURCES = {
    "A23": "Alghamdi et al. The saddle-point method in differential privacy. 2023. arXiv:2208.09595",
    "AL20": "Asoodeh et al. A better bound gives a hundred rounds. ISIT 2020. arXiv:2001.05990",
    "BBG18": "Balle, Barthe, Gaboardi. Privacy amplification by subsampling. 2018. arXiv:1807.01647",
    "BS16": "Bun, Steinke. Concentrated differential privacy. 2016. arXiv:1605.02065",
    "BW18": "Balle, Wang. Improving the Gaussian mechanism for differential privacy. 2018. arXiv:1805.06530",
    "C24": "Chua et al. How private are DP-SGD implementations? 2024. arXiv:2403.17673",
    "CGST24": "Choquette-Choo, Ganesh, Steinke, Thakurta. Privacy amplification for matrix mechanisms. 2024. arXiv:2310.15526",
    "CKS20": "Canonne, Kamath, Steinke. The discrete Gaussian for differential privacy. 2020. arXiv:2004.00010",
    "D22": "Doroshenko et al. Connect the dots. 2022. arXiv:2207.04380",
    "DDR20": "Dong, Durfee, Rogers. Optimal differential privacy composition for exponential mechanisms. 2020. arXiv:1909.13830",
    "DRS22": "Dong, Roth, Su. Gaussian differential privacy. 2022. arXiv:1905.02383",
    "FMT21": "Feldman, McMillan, Talwar. Hiding among the clones. 2021. arXiv:2012.12803",
    "G24": "Ganesh. Tight group-level DP guarantees for DP-SGD with sampling. 2024. arXiv:2401.10294",
    "G25": "Gomez et al. (ε, δ) considered harmful: best practices for reporting privacy guarantees. 2025. arXiv:2503.10945",
    "GDPT": "Liu, Sun, Jiang, Kong. Gaussian differential privacy transformation: from identification to application. 2021",
    "KOV15": "Kairouz, Oh, Viswanath. The composition theorem for differential privacy. ICML 2015. arXiv:1311.0776",
    "S22": "Steinke. Composition of differential privacy and privacy amplification by subsampling. 2022. arXiv:2210.00597",
    "mathematics": "hockeystick. Mathematics: the proofs of this library. docs/mathematics.md",
    "ZDW22": "Zhu, Dong, Wang. Optimal accounting of differential privacy via characteristic function. 2022. arXiv:2106.08567",
}
"""The short form of docs/bibliography.md, by its keys."""

_FAMILIES = {
    "Gaussian": (
        "Gaussian noise of standard deviation {sigma:g}",
        "N(sensitivity, sigma²) against N(0, sigma²), [S22] Corollary 8",
    ),
    "Laplace": ("Laplace noise of scale {scale:g}", "the shifted Laplace pair, [mathematics] section 5"),
    "DiscreteGaussian": ("discrete Gaussian noise of sigma {sigma:g}", "the shifted pair on whole numbers, [CKS20]"),
    "DiscreteLaplace": (
        "discrete Laplace noise of scale {scale:g}",
        "the shifted pair on whole numbers, [mathematics] section 7",
    ),
    "RandomizedResponse": ("randomised response of epsilon {epsilon:g}", "its own two laws, [mathematics] section 7"),
    "Exponential": (
        "a selection by the exponential mechanism, epsilon {epsilon:g}",
        "bounded range, [DDR20]; [mathematics] section 8",
    ),
    "PureDP": ("anything {epsilon:g}-DP", "the worst pair is that of randomised response, [KOV15]"),
    "ApproxDP": ("anything ({epsilon:g}, {delta:g})-DP", "the worst pair has losses -epsilon, epsilon and infinity, [KOV15]"),
    "GDP": ("anything {mu:g}-GDP", "the pair N(mu, 1) against N(0, 1), [DRS22]"),
    "ZCDP": ("anything {rho:g}-zCDP", "the optimal conversion of Rényi divergences, [AL20] Theorem 3, [BS16]"),
    "GaussianMixture": (
        "Gaussian noise of standard deviation {sigma:g} at a random distance",
        "a mixture of normal laws against N(0, sigma²), [CGST24] Corollary 4.7",
    ),
    "RDP": ("anything with the given Rényi curve", "the optimal conversion of Rényi divergences, [AL20] Theorem 3"),
    "Profile": ("anything with the given profile", "the pair of the profile, [ZDW22] Proposition 9; [mathematics] section 9"),
}


_OTHER_METHODS = {
    ATTAINED: "the best of the pairs that some mechanism attains, composed",
    INFINITE: "an infinite loss whose probability exceeds delta",
}


_GROUPS = "mixtures of normal laws, [G24]"


class Step(NamedTuple):
    """One distinct part of a run."""

    release: str
    uses: int
    words: str
    sampler: str
    theorem: str


def steps(release: Release, neighbours: Relation) -> list[Step]:
    """What each part of a run is."""
    return [_step(mechanism, count, neighbours) for mechanism, count in release.parts]


def _step(mechanism: Mechanism, count: int, neighbours: Relation) -> Step:
    if isinstance(mechanism, GroupedRun):
        inner = steps(mechanism.run, neighbours)
        words = "; ".join(f"{one.uses:,} uses of {one.words}" if one.uses > 1 else one.words for one in inner)
        samplers = "; ".join(dict.fromkeys(one.sampler for one in inner))
        return Step(
            repr(mechanism), count, f"{words}, for {_group(mechanism.size)}", samplers, "group privacy, [S22] section 6.2"
        )
    if isinstance(mechanism, Sampled):
        scheme, sampler = _scheme(mechanism)
        relation = "add-or-remove" if neighbours in ("add", "remove") else neighbours
        inner = [_step(one, uses, neighbours) for one, uses in mechanism.base.parts]
        theorem = THEOREMS.get((scheme, relation), _GROUPS if scheme == "group" else "the description of the sampler").replace(
            "](mathematics.md)", "]"
        )
        words = " and ".join(one.words if one.uses == 1 else f"{one.uses} times {one.words}" for one in inner)
        grounds = dict.fromkeys(one.theorem for one in inner)
        theorem = f"{theorem}; of {'; '.join(grounds)}"
        return Step(repr(mechanism), count, f"{words}, on {sampler}", sampler, theorem)
    words, theorem = _FAMILIES.get(type(mechanism).__name__, ("", "the description of the mechanism"))
    named = words.format(**mechanism._parameters()) if words else repr(mechanism)
    if isinstance(mechanism, ZCDP) and mechanism.xi:
        named = f"anything ({mechanism.xi:g}, {mechanism.rho:g})-zCDP"
    if isinstance(mechanism, AdditiveNoise) and mechanism.sensitivity != 1.0:
        named += f" on a sensitivity of {mechanism.sensitivity:g}"
    return Step(repr(mechanism), count, named, "all records", theorem)


def _group(size: int) -> str:
    return f"groups of {size} records that come, go or change together"


def _scheme(mechanism: Any) -> tuple[str, str]:
    kind = type(mechanism).__name__
    if kind == "Poisson":
        return "Poisson", f"a Poisson sample of rate {mechanism.rate:g}"
    if kind == "WithoutReplacement":
        return "without replacement", f"a batch of {mechanism.batch} of {mechanism.examples} records, without replacement"
    if kind == "WithReplacement":
        return "with replacement", f"{mechanism.draws} draws from {mechanism.examples} records, with replacement"
    if kind == "FullPass":
        by = mechanism.by
        return ("a shuffled pass" if by == "shuffle" else f"a pass by {by}"), f"every batch of a pass by {by}"
    if kind == "GroupedPoisson":
        return "group", f"a Poisson sample of rate {mechanism.rate:g}, for {_group(mechanism.size)}"
    if kind == "Shuffled":
        return "shuffled reports", f"the shuffled reports of {mechanism.reports:,} people"
    return kind, f"a sample ({mechanism!r})"


def engine(release: Release, neighbours: Relation, proof: "Proof") -> str:
    """How the interval of epsilon came about: the engines that proved its ends, and the theorems that they rest on."""
    if proof.high_by == (GROUP_PRIVACY,):
        return "the profile of the run, carried to groups, [S22] section 6.2"
    run = release._run(neighbours)
    ways = ["the composed pair, [ZDW22] Theorem 10" if run.exact else "bounds of the pair, composed, [ZDW22] Theorem 10"]
    if proof.low_by == proof.high_by:
        return "; ".join([*ways, _method(proof.high_by)])
    ends = ("above", proof.high_by), ("below", proof.low_by)
    return "; ".join([*ways, *(f"from {side}, {_method(by)}" for side, by in ends if by)])


def _method(by: tuple[str, ...]) -> str:
    """An engine's method in words; of the compiled core that of the engine that it stands in for."""
    words = [_OTHER_METHODS.get(name) or ENGINES[name].method for name in by]
    return f"{words[1]} ({words[0]})" if len(words) > 1 else words[0]


def group_size(release: Release) -> int:
    """How many records the neighbours of a run differ by."""
    if isinstance(release, GroupedRun):
        return release.size
    return max((one.size for one, _ in release.parts if isinstance(one, GroupedPoisson)), default=1)


def neighbouring(release: Release, neighbours: Relation) -> str:
    """Which data sets count as neighbours, in words."""
    size = group_size(release)
    return RELATIONS[neighbours] + (f", where for one record stands a group of up to {size} together" if size > 1 else "")


_PAPERS = {"A": "AL20", "G": "GDPT", "S": "S22"}


def keyed(text: str) -> str:
    """A message of the library with the keys of the bibliography in place of its letters for the three papers.

    >>> keyed("no mu holds (G, Theorem 4.3)")
    'no mu holds ([GDPT] Theorem 4.3)'
    """
    return re.sub(r"\((?:paper )?([AGS]), ", lambda found: f"([{_PAPERS[found[1]]}] ", text)


def cited(*texts: str) -> dict[str, str]:
    """The sources that are named in the texts."""
    keys = sorted({key for text in texts for key in re.findall(r"\[([A-Za-z][A-Za-z0-9]*)\]", text)}, key=str.lower)
    return {key: SOURCES[key] for key in keys if key in SOURCES}
