"""What a guarantee means, in plain words, for those who decide: what an attacker can reach."""

import math
from typing import NamedTuple

from ..mechanism.release import Release
from ..neighbours import Relation
from .numbers import down_text, given, up_text

RATES = (0.001, 0.01, 0.1)
"""The false-positive rates at which an attacker is described."""
_COMPARED = {
    "add-or-remove": "with a record as without it, or without it as with it",
    "add": "without a record as with it",
    "remove": "with a record as without it",
    "replace": "with a record as with another in its place",
    "zero-out": "with a record as with one in its place that contributes nothing, or the reverse",
}


class Meaning(NamedTuple):
    """Sentences, and the numbers in them."""

    words: list[str]
    tpr: dict[float, float]
    bayes_risk: float
    posterior: float


def meaning(release: Release, epsilon: float, delta: float, relation: Relation) -> Meaning:
    """What the guarantee allows an attacker at most; numbers are rounded to the safe side."""
    words = [
        f"Any set of outputs is at most e^epsilon = {_factor(epsilon)} times as probable {_COMPARED[relation]}"
        f"{f', plus a probability of {given(delta)}' if delta else ''}."
    ]
    reached = {rate: float(release.tpr(rate, relation)) for rate in RATES}
    for rate, tpr in reached.items():
        words.append(
            f"An attacker who wrongly accuses {100 * rate:g}% of absent records finds at most {up_text(100 * tpr, 4)}% of "
            f"present ones (guessing finds {100 * rate:g}%)."
        )
    risk, posterior = float(release.bayes_risk(0.5, relation)), float(release.posterior(0.5, 0.01, relation))
    words.append(f"Who holds presence as likely as absence errs at least {down_text(100 * risk, 4)}% of the time.")
    words.append(
        "From 50% before, an accusation at a false-positive rate of 1% makes presence at most "
        f"{up_text(100 * posterior, 4)}% likely."
    )
    return Meaning(words, reached, risk, posterior)


def _factor(epsilon: float) -> str:
    if epsilon == 0.0:
        return "1"
    return up_text(math.exp(epsilon) * (1.0 + 1e-14), 4) if epsilon < 700.0 else f"e^{up_text(epsilon)}"
