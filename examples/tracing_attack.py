"""A tracing attack on noisy means (Steinke 2022, section 5), beside what our trade-off curve allows it.

    python examples/tracing_attack.py --output tracing.png         # half a minute; the picture needs matplotlib

Somebody publishes the mean of `people` binary vectors of `queries` entries, with Gaussian noise.  The attacker
knows the population's means P and asks of one vector whether it was among them: it was if its correlation with
what was published, <M(X) - P, x - P>, is large.  This is the statistic in the proof of Theorem 25.  The attack is
run many times, against members and against strangers from the same population; no attack can lie above the
certified curve.  Two claims of the section are checked on the way:

* Lemma 26, summed over the entries: the correlations of all members plus the squared error are k / 12 at least,
  on average,
* Theorem 25 in the form from which it is deduced: the error of the mean is at least what the privacy asks for.
"""

import argparse
from dataclasses import dataclass

import numpy as np

import hockeystick as hs
from hockeystick.conversion import mean_error_lower_bound_sharp

DELTA = 1e-6
CONFIDENCE = 1e-3  # how seldom a band of the attack's success excludes the truth

Array = np.ndarray


@dataclass(frozen=True)
class Found:
    """What the attack saw: correlations of members and of strangers, and the two sums of Lemma 26, once for each data set."""

    members: Array
    strangers: Array
    correlations: Array
    errors: Array


def attacked(people: int, queries: int, sigma: float, trials: int, seed: int = 0) -> Found:
    """The attack on so many data sets, each from a population of its own, with noise sigma on every mean."""
    rng = np.random.default_rng(seed)
    members, strangers, correlations, errors = [], [], [], []
    for _ in range(trials):
        population = rng.random(queries)
        data = (rng.random((people, queries)) < population).astype(float)
        stranger = (rng.random(queries) < population).astype(float)
        published = data.mean(axis=0) + rng.normal(scale=sigma, size=queries)
        each = (data - population) @ (published - population)
        members.append(each[0])  # one member of a data set: trials are independent
        strangers.append((stranger - population) @ (published - population))
        kept = published.clip(0.0, 1.0)  # Lemma 26 and Theorem 25 speak of answers in [0, 1]
        correlations.append(((data - population) @ (kept - population)).sum())
        errors.append(((kept - data.mean(axis=0)) ** 2).sum())
    return Found(*(np.asarray(values) for values in (members, strangers, correlations, errors)))


def mean_of_vectors(people: int, queries: int, sigma: float) -> hs.Gaussian:
    """The mechanism: one replaced vector moves the mean by sqrt(queries) / people at most."""
    moved = queries**0.5 / people
    return hs.Gaussian(sigma=sigma, sensitivity=moved, replace_sensitivity=moved)


def roc(found: Found, rates: Array) -> tuple[Array, Array]:
    """The share of strangers and of members above each threshold, which the given share of strangers exceeds."""
    thresholds = np.quantile(found.strangers, 1.0 - rates)
    fpr, tpr = (np.mean(values[:, None] > thresholds, axis=0) for values in (found.strangers, found.members))
    return fpr, tpr


def band(trials: int) -> float:
    """How far an empirical distribution is from the true one (Dvoretzky, Kiefer, Wolfowitz; Massart's constant)."""
    return float(np.sqrt(np.log(2.0 / CONFIDENCE) / (2.0 * trials)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--people", type=int, default=50)
    parser.add_argument("--queries", type=int, default=5_000)
    parser.add_argument(
        "--sigma", type=float, nargs="+", default=[0.5, 2.0, 10.0], help="standard deviations of the noise on a mean"
    )
    parser.add_argument("--trials", type=int, default=1_000, help="data sets")
    parser.add_argument("--output", help="a picture, such as tracing.png")
    chosen = parser.parse_args()

    panels, off = [], band(chosen.trials)
    for sigma in chosen.sigma:
        run = mean_of_vectors(chosen.people, chosen.queries, sigma)
        found = attacked(chosen.people, chosen.queries, sigma, chosen.trials)
        epsilon = run.epsilon(DELTA, neighbours="replace")
        bound = run.advantage(neighbours="replace")
        rates = np.linspace(0.0, 1.0, 101)
        fpr, tpr = roc(found, rates)
        print(f"sigma {sigma:g}: epsilon {epsilon:.3f} at delta {DELTA:g}, mu {run.mu(neighbours='replace'):.3f}")
        success = f"true- minus false-positive rate {np.max(tpr - fpr):.3f}, within {2.0 * off:.3f}"
        print(f"  attack         {success}; certified: at most {bound:.3f}")
        mean = np.mean(found.correlations + found.errors) / chosen.queries
        print(f"  Lemma 26       {mean:.4f} per entry; at least 1/12 = 0.0833")
        error = np.sqrt(found.errors.mean() / chosen.queries)
        least = mean_error_lower_bound_sharp(chosen.people, chosen.queries, epsilon, DELTA)
        print(f"  Theorem 25     error {error:.3f}; at least {least:.4f}")
        panels.append((sigma, run, fpr, tpr))
    if chosen.output:
        draw(panels, chosen.trials, chosen.output)


def draw(panels: list[tuple[float, hs.Gaussian, Array, Array]], trials: int, path: str) -> None:
    """The attack's ROC curve, with a band of its statistical error, below the certified one."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(3.6 * len(panels), 3.9), layout="constrained")
    off = band(trials)
    for axes, (sigma, run, fpr, tpr) in zip(np.atleast_1d(figure.subplots(1, len(panels), sharey=True)), panels, strict=True):
        rates = np.linspace(0.0, 1.0, 201)
        certified = [run.tpr(rate, neighbours="replace") if 0.0 < rate < 1.0 else rate for rate in rates]
        axes.plot(rates, certified, color="#000000", linewidth=2.0, label="certified: no attack is above")
        axes.plot(fpr, tpr, color="#d55e00", linestyle="--", label="the tracing attack")
        axes.fill_between(fpr, np.clip(tpr - off, 0, 1), np.clip(tpr + off, 0, 1), color="#d55e00", alpha=0.15, linewidth=0)
        axes.plot([0, 1], [0, 1], color="#888888", linewidth=0.8)
        axes.set(title=f"sigma = {sigma:g}", xlabel="false-positive rate", xlim=(0, 1), ylim=(0, 1.01))
    figure.axes[0].set_ylabel("true-positive rate")
    figure.axes[0].legend(loc="lower right", fontsize=8)
    figure.savefig(path, dpi=150)


if __name__ == "__main__":
    main()
