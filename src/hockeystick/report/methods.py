"""The theorem and the sources behind each part of a run and each number."""

import re
from typing import TYPE_CHECKING, NamedTuple

from ..loss.engines.driver import ATTAINED, INFINITE, READ_AS
from ..loss.engines.registry import ENGINES
from ..mechanism.release import Mechanism, Release
from ..neighbours import Relation
from ..sampling.banded import Banded
from ..sampling.base import Sampled
from ..sampling.group import GROUP_PRIVACY, GroupedRun
from ..sampling.support import THEOREMS
from .words import parts, scheme

if TYPE_CHECKING:
    from ..loss.engines.engine import Proof

SOURCES = {
    "A23": "Alghamdi et al. The saddle-point method in differential privacy. 2023. arXiv:2208.09595",
    "AL20": "Asoodeh et al. A better bound gives a hundred rounds. ISIT 2020. arXiv:2001.05990",
    "BBG18": "Balle, Barthe, Gaboardi. Privacy amplification by subsampling. 2018. arXiv:1807.01647",
    "BS16": "Bun, Steinke. Concentrated differential privacy. 2016. arXiv:1605.02065",
    "BW18": "Balle, Wang. Improving the Gaussian mechanism for differential privacy. 2018. arXiv:1805.06530",
    "C24": "Chua et al. How private are DP-SGD implementations? 2024. arXiv:2403.17673",
    "C24b": "Chua et al. Scalable DP-SGD: shuffling vs. Poisson subsampling. 2024. arXiv:2411.04205",
    "C25": "Chua et al. Balls-and-bins sampling for DP-SGD. 2024. arXiv:2412.16802",
    "CC23": "Choquette-Choo et al. (Amplified) banded matrix factorization. 2023. arXiv:2306.08153",
    "CGST24": "Choquette-Choo, Ganesh, Steinke, Thakurta. Privacy amplification for matrix mechanisms. 2024. arXiv:2310.15526",
    "CKS20": "Canonne, Kamath, Steinke. The discrete Gaussian for differential privacy. 2020. arXiv:2004.00010",
    "D22b": "Denisov et al. Improved differential privacy for SGD via optimal private linear operators. 2022. arXiv:2202.08312",
    "D22": "Doroshenko et al. Connect the dots. 2022. arXiv:2207.04380",
    "DDR20": "Dong, Durfee, Rogers. Optimal differential privacy composition for exponential mechanisms. 2020. arXiv:1909.13830",
    "DRS22": "Dong, Roth, Su. Gaussian differential privacy. 2022. arXiv:1905.02383",
    "FMT21": "Feldman, McMillan, Talwar. Hiding among the clones. 2021. arXiv:2012.12803",
    "FS25": "Feldman, Shenfeld. Privacy amplification by random allocation. 2025. arXiv:2502.08202",
    "G24": "Ganesh. Tight group-level DP guarantees for DP-SGD with sampling. 2024. arXiv:2401.10294",
    "G25": "Gomez et al. (ε, δ) considered harmful: best practices for reporting privacy guarantees. 2025. arXiv:2503.10945",
    "G25b": "Ganesh. Tighter privacy analysis for truncated Poisson sampling. 2025. arXiv:2508.15089",
    "GDPT": "Liu, Sun, Jiang, Kong. Gaussian differential privacy transformation: from identification to application. 2021",
    "KOV15": "Kairouz, Oh, Viswanath. The composition theorem for differential privacy. ICML 2015. arXiv:1311.0776",
    "S22": "Steinke. Composition of differential privacy and privacy amplification by subsampling. 2022. arXiv:2210.00597",
    "mathematics": "hockeystick. Mathematics: the proofs of this library. docs/mathematics.md",
    "ZDW22": "Zhu, Dong, Wang. Optimal accounting of differential privacy via characteristic function. 2022. arXiv:2106.08567",
}
"""The short form of docs/bibliography.md, by its keys."""

_THEOREMS = {
    "Gaussian": "N(sensitivity, sigma²) against N(0, sigma²), [S22] Corollary 8",
    "Laplace": "the shifted Laplace pair, [mathematics] section 5",
    "DiscreteGaussian": "the shifted pair on whole numbers, [CKS20]",
    "DiscreteGaussianVector": "the worst split of the norm at each epsilon, [mathematics] Lemma 34c",
    "DiscreteLaplace": "the shifted pair on whole numbers, [mathematics] section 7",
    "RandomizedResponse": "its own two laws, [mathematics] section 7",
    "Exponential": "bounded range, [DDR20]; [mathematics] section 8",
    "PureDP": "the worst pair is that of randomised response, [KOV15]",
    "ApproxDP": "the worst pair has losses -epsilon, epsilon and infinity, [KOV15]",
    "GDP": "the pair N(mu, 1) against N(0, 1), [DRS22]",
    "ZCDP": "the optimal conversion of Rényi divergences, [AL20] Theorem 3, [BS16]",
    "GaussianMixture": "a mixture of normal laws against N(0, sigma²), [CGST24] Corollary 4.7",
    "Pair": "the pair that is given, as it is, [mathematics] section 16",
    "StoredMasses": "a dominating pair from stored masses, [mathematics] Lemma 72",
    "DensityPair": "densities with a monotone likelihood ratio, between two finite pairs, [mathematics] Lemmas 68 to 70",
    "Published": "an event that tells, [mathematics] Lemma 60a",
    "MatrixMechanism": "one Gaussian step at the sensitivity of the strategy, [mathematics] Lemmas 58 to 60, [CC23], [D22b]",
    "RDP": "the optimal conversion of Rényi divergences, [AL20] Theorem 3",
    "Profile": "the pair of the profile, [ZDW22] Proposition 9; [mathematics] section 9",
}


_OTHER_METHODS = {
    ATTAINED: "the best of the pairs that some mechanism attains, composed",
    INFINITE: "an infinite loss whose probability exceeds delta",
    READ_AS: "the largest finite loss; delta is read as the probability of an infinite loss, from which it differs by the "
    "rounding of decimals to doubles",
}


_GROUPS = "mixtures of normal laws, [G24]"


class Step(NamedTuple):
    """One distinct part of a run, in words and with what is proved of it."""

    release: str
    uses: int
    words: str
    sampler: str
    theorem: str


def steps(release: Release, neighbours: Relation) -> list[Step]:
    """What each part of a run is, and the theorem that gives its pair."""
    theorems = [_theorem(mechanism, neighbours) for mechanism, _ in release.parts]
    return [Step(*part, theorem) for part, theorem in zip(parts(release), theorems, strict=True)]


def _theorem(mechanism: Mechanism, neighbours: Relation) -> str:
    if isinstance(mechanism, GroupedRun):
        return "group privacy, [S22] section 6.2"
    if isinstance(mechanism, Banded):
        whole = f"{mechanism._rounds} times its step, [CC23] Theorems 1, 4, 5, [mathematics] Lemma 57"
        return f"{whole}; of {_theorem(mechanism.base.parts[0][0], neighbours)}"
    if isinstance(mechanism, Sampled):
        sampling, _ = scheme(mechanism)
        relation = "add-or-remove" if neighbours in ("add", "remove") else neighbours
        theorem = THEOREMS.get(
            (sampling, relation), _GROUPS if sampling == "group" else "the description of the sampler"
        ).replace("](mathematics.md)", "]")
        grounds = dict.fromkeys(_theorem(one, neighbours) for one, _ in mechanism.base.parts)
        return f"{theorem}; of {'; '.join(grounds)}"
    return _THEOREMS.get(type(mechanism).__name__, "the description of the mechanism")


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


_PAPERS = {"Asoodeh et al. 2020": "AL20", "Liu et al. 2021": "GDPT", "Steinke 2022": "S22"}


def keyed(text: str) -> str:
    """A message of the library with the keys of the bibliography in place of authors and year for the three papers.

    >>> keyed("no mu holds (Liu et al. 2021, Theorem 4.3)")
    'no mu holds ([GDPT] Theorem 4.3)'
    """
    return re.sub(rf"\(({'|'.join(_PAPERS)}), ", lambda found: f"([{_PAPERS[found[1]]}] ", text)


def cited(*texts: str) -> dict[str, str]:
    """The sources that are named in the texts."""
    keys = sorted({key for text in texts for key in re.findall(r"\[([A-Za-z][A-Za-z0-9]*)\]", text)}, key=str.lower)
    return {key: SOURCES[key] for key in keys if key in SOURCES}
