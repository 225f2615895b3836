"""Noisy SGD (Abadi et al. 2016, Algorithm 1) on handwritten digits: what a better accountant is worth in accuracy.

    python examples/noisy_sgd.py --output noisy_sgd.png            # a minute; needs matplotlib and scikit-learn
    python examples/noisy_sgd.py --repeats 1 --steps 200           # a quick look, in words only

Asoodeh et al. 2020 show that a better conversion of the same Rényi curve allows "a hundred more rounds" within
the same budget.  Here these rounds are run: a linear model and a network with one hidden layer are trained on
the digits of scikit-learn, and every step is priced in four ways:

* the moments accountant with the Rényi curve of Abadi et al., rho = q^2 / ((1 - q) sigma^2) times the order, in
  the range of their Lemma 3: without its O(q^3) term, so no guarantee, but it is what Asoodeh et al. draw,
* the moments accountant with the exact Rényi curve (their Eq. 22),
* the optimal conversion of the exact Rényi curve (their Theorem 3),
* the exact epsilon of the run.

The training is the same; only the epsilon that may be claimed for it differs.  The noise is that of NumPy's
generator, so that the figure can be made again: a training whose model is published draws it otherwise
(docs/releasing.md).
"""

import argparse
import itertools
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

import hockeystick as hs
from hockeystick.conversion import rdp_curve_to_epsilon, rdp_curve_to_epsilon_classic, sampled_gaussian_rho_asymptotic

SIGMA, RATE, CLIP, DELTA = 2.0, 0.03, 1.0, 1e-4  # fewer than 1 / 1,437 of the people may be unlucky
TRAINED = 1_437  # of 1,797 pictures; the others judge
HIDDEN = 32
BUDGETS = (0.5, 1.0, 2.0)

Array = np.ndarray
Accountant = Callable[[int], float]


def pictures() -> tuple[Array, Array, Array, Array]:
    """Pictures and their digits, to train with and to judge by; each picture has a norm of about 1."""
    from sklearn.datasets import load_digits

    digits = load_digits()
    order = np.random.default_rng(0).permutation(len(digits.target))
    x, y = digits.data[order] / 16.0 - 0.3, digits.target[order]
    return x[:TRAINED], y[:TRAINED], x[TRAINED:], y[TRAINED:]


@dataclass
class Network:
    """Layers of weights, biases in their last row; one layer is logistic regression."""

    layers: list[Array]

    @classmethod
    def random(cls, sizes: tuple[int, ...], rng: np.random.Generator) -> "Network":
        return cls([rng.normal(scale=size**-0.5, size=(size + 1, to)) for size, to in itertools.pairwise(sizes)])

    def inputs(self, x: Array) -> list[Array]:
        """The input of every layer, with a 1 for the bias, and the scores of the digits."""
        seen = []
        for layer in self.layers:
            seen.append(np.hstack((x, np.ones((len(x), 1)))))
            x = np.tanh(seen[-1] @ layer)
        return [*seen, seen[-1] @ self.layers[-1]]

    def accuracy(self, x: Array, y: Array) -> float:
        return float(np.mean(self.inputs(x)[-1].argmax(axis=1) == y))

    def clipped_sum(self, x: Array, y: Array) -> list[Array]:
        """The sum of the pictures' gradients, each scaled down to a norm of CLIP at most.

        A gradient of a layer is (input) x (error): its norm is the product of theirs, so that no gradient of one picture is made.
        """
        *seen, scores = self.inputs(x)
        error = np.exp(scores - scores.max(axis=1, keepdims=True))
        error /= error.sum(axis=1, keepdims=True)
        error[np.arange(len(y)), y] -= 1.0
        errors = [error]
        for layer, put in zip(self.layers[:0:-1], seen[:0:-1], strict=True):
            errors.append(errors[-1] @ layer[:-1].T * (1.0 - put[:, :-1] ** 2))
        errors.reverse()
        squares = sum((put**2).sum(axis=1) * (one**2).sum(axis=1) for put, one in zip(seen, errors, strict=True))
        scale = np.minimum(1.0, CLIP / np.sqrt(squares))[:, None]
        return [put.T @ (one * scale) for put, one in zip(seen, errors, strict=True)]

    def step(self, x: Array, y: Array, rate: float, rng: np.random.Generator) -> None:
        """One step: a Poisson sample, the clipped sum, Gaussian noise, divided by the expected size of the batch."""
        chosen = rng.random(len(x)) < RATE
        for layer, total in zip(self.layers, self.clipped_sum(x[chosen], y[chosen]), strict=True):
            layer -= rate * (total + rng.normal(scale=SIGMA * CLIP, size=total.shape)) / (RATE * len(x))


def accuracies(sizes: tuple[int, ...], rate: float, checks: list[int], repeats: int) -> Array:
    """The mean accuracy on the pictures that were not trained with, after so many steps."""
    x, y, x_test, y_test = pictures()
    found = np.zeros((repeats, len(checks)))
    for repeat in range(repeats):
        rng = np.random.default_rng(repeat + 1)
        network = Network.random(sizes, rng)
        for step in range(checks[-1] + 1):
            if step in checks:
                found[repeat, checks.index(step)] = network.accuracy(x_test, y_test)
            network.step(x, y, rate, rng)
    return found.mean(axis=0)


def accountants() -> dict[str, Accountant]:
    """Epsilon after so many steps, by each accountant."""
    one = hs.Gaussian(sigma=SIGMA).poisson(rate=RATE)
    rho, largest = sampled_gaussian_rho_asymptotic(RATE, SIGMA)
    valid = range(2, int(largest) + 1)

    def classic(steps: int) -> float:
        return rdp_curve_to_epsilon_classic((one * steps).rdp, DELTA)[0]

    def optimal(steps: int) -> float:
        return rdp_curve_to_epsilon((one * steps).rdp, DELTA)[0]

    def exact(steps: int) -> float:
        return (one * steps).epsilon(DELTA)

    def abadi(steps: int) -> float:
        return rdp_curve_to_epsilon_classic(lambda order: rho * order * steps, DELTA, valid)[0]

    return {"Abadi et al.": abadi, "moments accountant": classic, "optimal conversion": optimal, "exact": exact}


def most_steps(epsilon: Accountant, budget: float, most: int) -> int:
    """The largest number of steps, up to the most, whose epsilon is within the budget."""
    low, high = 0, most + 1
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if epsilon(middle) <= budget else (low, middle)
    return low


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=1_300, help="steps of a training")
    parser.add_argument("--repeats", type=int, default=8, help="trainings whose accuracy is averaged")
    parser.add_argument("--output", help="a picture, such as noisy_sgd.png")
    chosen = parser.parse_args()

    checks = sorted({int(step) for step in np.linspace(1, chosen.steps, 60)})
    curves = {
        "logistic regression": accuracies((64, 10), 1.0, checks, chosen.repeats),
        f"{HIDDEN} hidden units": accuracies((64, HIDDEN, 10), 0.5, checks, chosen.repeats),
    }
    epsilons = {name: [epsilon(step) for step in checks] for name, epsilon in accountants().items()}
    print(f"noise multiplier {SIGMA:g}, sampling rate {RATE:g}, delta {DELTA:g}: steps and accuracy within a budget")
    for budget in BUDGETS:
        for name, epsilon in accountants().items():
            steps = most_steps(epsilon, budget, chosen.steps)
            reached = (f"{np.interp(steps, checks, curve):.3f} {model}" for model, curve in curves.items())
            print(f"  epsilon {budget:<4g} {name:20s} {steps:5d} steps   {', '.join(reached)}")
    if chosen.output:
        draw(curves, epsilons, chosen.output)


def draw(curves: dict[str, Array], epsilons: dict[str, list[float]], path: str) -> None:
    """Accuracy against the epsilon that each accountant claims for the same training."""
    from matplotlib.figure import Figure

    looks = {
        "Abadi et al.": ("#cc79a7", ":"),
        "moments accountant": ("#d55e00", "--"),
        "optimal conversion": ("#0072b2", "-."),
        "exact": ("#000000", "-"),
    }
    figure = Figure(figsize=(9.0, 4.0), layout="constrained")
    for axes, (model, accuracy) in zip(figure.subplots(1, 2, sharey=True), curves.items(), strict=True):
        for name, epsilon in epsilons.items():
            colour, dashes = looks[name]
            axes.plot(epsilon, accuracy, color=colour, linestyle=dashes, label=name)
        axes.set(title=model, xlabel=f"epsilon at delta = {DELTA:g}", xlim=(0.0, max(BUDGETS)))
        axes.grid(alpha=0.3)
    figure.axes[0].set_ylabel("accuracy on digits not trained with")
    figure.axes[0].legend(loc="lower right")
    figure.savefig(path, dpi=150)


if __name__ == "__main__":
    main()
