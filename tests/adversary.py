"""An adversary with small data sets: every neighbouring pair, every value in {-C, 0, C}, each step's values chosen after the
last output.

Batches are summed, noise is added, and the output is one of a few cells; or the mechanism is no noise at all: randomised
response about a question on the sum, or a table of the chances of a few outputs that is epsilon-DP and nothing more.  The true
composed hockey stick of the worst strategy is found by going backwards: from a state in which the outputs so far have
probability p with x and q with x', the last step is worth max over choices of sum over outputs (p P - e^eps q Q)+.  Cells only
hide something, so no bound may be exceeded.
"""

import itertools
import math
import random
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

import numpy as np
from scipy.special import ndtr

import hockeystick as hs

VALUES = (-1, 0, 1)
REACH = 14  # sums are between -REACH and REACH


class Setting(NamedTuple):
    scheme: str
    relation: str
    noise: str
    spread: float
    records: int  # of the larger data set
    batch: int
    rate: float
    steps: int
    epsilon: float

    @property
    def mechanism(self):
        """`spread` is one over epsilon where there is no noise; a table is epsilon-DP for add-or-remove."""
        if self.noise.startswith("response"):
            return hs.RandomizedResponse(epsilon=1.0 / self.spread, categories=int(self.noise[-1]))
        if self.noise in ("table", "worst"):
            return hs.PureDP(epsilon=1.0 / self.spread)
        if self.noise == "gaussian":
            return hs.Gaussian(sigma=self.spread)
        return hs.Laplace(scale=self.spread) if self.noise == "laplace" else hs.DiscreteLaplace(scale=self.spread)

    @property
    def release(self):
        if self.scheme == "poisson":
            step = self.mechanism.poisson(rate=self.rate)
        elif self.scheme == "without":
            step = self.mechanism.without_replacement(batch=self.batch, examples=self.records)
        elif self.scheme == "with":
            step = self.mechanism.with_replacement(draws=self.batch, examples=self.records)
        else:
            step = self.mechanism.full_pass(by="position")
        return step * self.steps


def convolved(laws: list[dict[int, float]]) -> dict[int, float]:
    total = {0: 1.0}
    for law in laws:
        after: dict[int, float] = {}
        for (a, p), (b, q) in itertools.product(total.items(), law.items()):
            after[a + b] = after.get(a + b, 0.0) + p * q
        total = after
    return total


@cache
def sums(scheme: str, values: tuple[int, ...], batch: int, rate: float) -> tuple[tuple[int, float], ...]:
    """The law of the sum over a batch."""
    if scheme == "poisson":
        law = convolved([{0: 1.0 - rate, value: rate} if value else {0: 1.0} for value in values])
    elif scheme == "without":
        law = {}
        chosen = list(itertools.combinations(values, min(batch, len(values))))
        for one in chosen:
            law[sum(one)] = law.get(sum(one), 0.0) + 1.0 / len(chosen)
    elif scheme == "with":
        each: dict[int, float] = {}
        for value in values:
            each[value] = each.get(value, 0.0) + 1.0 / len(values)
        law = convolved([each] * batch)
    else:
        law = {sum(values): 1.0}
    return tuple(sorted(law.items()))


@cache
def outputs(noise: str, spread: float) -> np.ndarray:
    """Rows: sums; columns: masses of the cells of outputs."""
    if noise.startswith("response"):
        return asked(1.0 / spread, int(noise[-1]))
    if noise == "table":
        return table(1.0 / spread)
    if noise == "worst":
        return opposite(1.0 / spread)
    centres = np.arange(-REACH, REACH + 1.0)
    if noise == "discrete":
        edges = np.arange(-REACH, REACH + 1.0) + 0.5
        below = np.where(
            edges[None, :] - centres[:, None] >= 0.0,
            1.0 - np.exp(-(np.floor(edges[None, :] - centres[:, None]) + 1.0) / spread) / (1.0 + math.exp(-1.0 / spread)),
            np.exp((np.floor(edges[None, :] - centres[:, None]) + 0.0) / spread) / (1.0 + math.exp(-1.0 / spread)),
        )
    else:
        edges = np.linspace(-8.0, 8.0, 33)
        gap = (edges[None, :] - centres[:, None]) / spread
        below = (
            ndtr(gap)
            if noise == "gaussian"
            else np.where(gap < 0.0, 0.5 * np.exp(-np.abs(gap)), 1.0 - 0.5 * np.exp(-np.abs(gap)))
        )
    padded = np.concatenate((np.zeros((below.shape[0], 1)), below, np.ones((below.shape[0], 1))), axis=1)
    return np.diff(padded, axis=1)


def asked(epsilon: float, categories: int) -> np.ndarray:
    """Randomised response about a question on the sum that has one of so many answers, each sum's drawn by lot."""
    rng = random.Random(repr((epsilon, categories)))
    answers = [rng.randrange(categories) for _ in range(2 * REACH + 1)]
    answers[REACH - 1 : REACH + 2] = (0, 0, 1) if rng.random() < 0.5 else (0, 1, 0)
    found = np.ones((2 * REACH + 1, categories))
    found[np.arange(2 * REACH + 1), answers] = math.exp(epsilon)
    return found / (math.exp(epsilon) + categories - 1.0)


def table(epsilon: float) -> np.ndarray:
    """Two outputs, whose chances change from one sum to the next as much as epsilon-DP allows, or less."""
    rng = random.Random(repr(epsilon))
    chances = [rng.choice([0.5, 1.0 / (1.0 + math.exp(epsilon)), rng.random()])]
    for _ in range(2 * REACH):
        p, grown = chances[-1], math.exp(epsilon)
        low, high = max(p / grown, 1.0 - grown * (1.0 - p)), min(p * grown, 1.0 - (1.0 - p) / grown)
        chances.append(rng.choice([low, high, low, high, rng.uniform(low, high)]))
    return np.array([(p, 1.0 - p) for p in chances])


def opposite(epsilon: float) -> np.ndarray:
    """Three outputs: the laws of sums below and above 0 lie epsilon from that of 0, on either side."""
    e = math.exp(epsilon)
    middle = np.array([1.0, e - 1.0, 1.0]) / (e + 1.0)
    below = middle * np.array([e, 1.0 / e, 1.0 / e])
    return np.array([below] * REACH + [middle] + [below[::-1]] * REACH)


def datasets(relation: str, records: int) -> Iterator[tuple[tuple[int, ...], tuple[int, ...]]]:
    """Neighbouring pairs up to the order of the records."""
    for others in itertools.combinations_with_replacement(VALUES, records - 1):
        for one in VALUES:
            if relation == "remove":
                yield (*others, one), others
            elif relation == "add":
                yield others, (*others, one)
            elif relation == "replace":
                for other in VALUES:
                    if other != one:
                        yield (*others, one), (*others, other)
            elif relation == "erase":
                yield (*others, one), (*others, 0)
            else:
                yield (*others, 0), (*others, one)


def pairs(setting: Setting, relation: str) -> tuple[np.ndarray, np.ndarray]:
    """All choices of one step: masses of the outputs under x and under x'."""
    table = outputs(setting.noise, setting.spread)
    seen = {}
    for one, other in datasets(relation, setting.records):
        laws = [sums(setting.scheme, data, setting.batch, setting.rate) for data in (one, other)]
        key = tuple(laws)
        if key not in seen:
            seen[key] = [sum(p * table[s + REACH] for s, p in law) for law in laws]
    return np.array([p for p, _ in seen.values()]), np.array([q for _, q in seen.values()])


def true_delta(setting: Setting) -> float:
    """The largest composed hockey stick.  In zero-out the order is chosen once; in replace-one it may change from step to
    step."""
    orders = ("erase", "restore") if setting.relation == "zero-out" else (setting.relation,)
    return max(_worth(*pairs(setting, order), math.exp(setting.epsilon), setting.steps) for order in orders)


def _worth(p: np.ndarray, q: np.ndarray, alpha: float, steps: int) -> float:
    if steps == 1:
        return float(np.maximum(p - alpha * q, 0.0).sum(axis=1).max())
    best = 0.0
    for first_p, first_q in zip(p, q, strict=True):
        # the last step, from each output of the first
        values = np.maximum(first_p[:, None, None] * p - alpha * first_q[:, None, None] * q, 0.0).sum(axis=2).max(axis=1)
        best = max(best, float(values.sum()))
    return best


def random_setting(rng: random.Random) -> Setting:
    scheme = rng.choice(["poisson", "without", "without", "with", "pass"])
    relation = rng.choice(["remove", "add", "replace", "zero-out"])
    if scheme == "pass" and relation in ("remove", "add"):
        relation = "replace"
    records = rng.randint(2, 6)
    batch = rng.randint(1, records - 1) if scheme != "with" else rng.randint(1, 3)
    noise = rng.choice(["gaussian", "gaussian", "laplace", "discrete"])
    if rng.random() < 0.4:
        noise = rng.choice(["table", "table", "worst", "response2", "response3"])
    if scheme == "with" and noise not in ("gaussian", "laplace", "table", "worst"):
        noise = "laplace"
    steps = rng.choice([1, 2]) if records < 5 else 1
    epsilon = rng.choice([-0.5, 0.0, 0.1, 0.5, 1.0, 2.0, 4.0]) * rng.uniform(0.5, 1.5)
    return Setting(scheme, relation, noise, rng.uniform(0.4, 3.0), records, batch, rng.uniform(0.02, 0.9), steps, epsilon)


def violated(setting: Setting) -> tuple[float, float] | None:
    """The true delta and our upper end, if the first is larger."""
    truth = true_delta(setting)
    bound = setting.release.delta(setting.epsilon, neighbours=setting.relation)
    return (truth, bound) if truth > bound + 1e-12 else None
