"""DP-SGD with JAX Privacy on the CPU, hockeystick accounting: the noise is calibrated by it, each step is composed in it.

    pip install '.[jax]'; python examples/jax_privacy_training.py
    pip install '.[jax,ledger]'; python examples/jax_privacy_training.py ledger.db

With a ledger the whole run is one entry of an account's reserve, charged before the first step; no other step may be run by it.
"""

import os
import sys

os.environ.setdefault("JAX_PLATFORMS", "cpu")

import dp_accounting
import jax
import jax.numpy as jnp
import numpy as np
import optax
from jax_privacy import accounting, batch_selection
from jax_privacy.accounting.accountants import DpAccountantConfig
from jax_privacy.experimental import execution_plan

import hockeystick as hs
from hockeystick.interop.charging import Charging
from hockeystick.interop.dp_accounting import HockeystickAccountant

EXAMPLES, FEATURES, RATE, STEPS = 2000, 8, 0.05, 60
EPSILON, DELTA = 2.0, 1e-5
RELATION = dp_accounting.NeighboringRelation.REPLACE_SPECIAL  # a record against one that contributes nothing


def make_data(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Points on either side of a plane, made here."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(EXAMPLES, FEATURES)).astype(np.float32)
    return x, (x @ rng.normal(size=FEATURES) > 0.0).astype(np.float32)


def loss(weights: jax.Array, data: tuple[jax.Array, jax.Array]) -> jax.Array:
    x, y = data
    return optax.sigmoid_binary_cross_entropy(x @ weights, y).mean()


def train(seed: int = 0, charging: Charging | None = None) -> dict[str, float]:
    """A whole run; what it cost, by three ways that must agree."""
    plan = execution_plan.BandMFExecutionPlanConfig(  # a single band: plain DP-SGD
        iterations=STEPS,
        strategy=np.array([1.0]),
        epsilon=EPSILON,
        delta=DELTA,
        sampling_prob=RATE,
        l2_clip_norm=1.0,
        noise_seed=seed,
        accountant=HockeystickAccountant(RELATION),  # calibrates the noise
    ).plan
    x, y = make_data(seed)
    weights = jnp.zeros(FEATURES)
    gradient = jax.jit(plan.clipped_grad(loss))
    optimizer = optax.sgd(4.0 / (RATE * EXAMPLES))
    noise, state = plan.noise_addition_transform.init(weights), optimizer.init(weights)
    noise_multiplier = plan.dp_event.event.event.noise_multiplier
    step = dp_accounting.PoissonSampledDpEvent(RATE, dp_accounting.GaussianDpEvent(noise_multiplier))
    spent = HockeystickAccountant(RELATION, account=charging)
    for indices in plan.batch_selection_strategy.batch_iterator(EXAMPLES, rng=seed):
        spent.compose(step)  # before it runs: what does not fit into the account is refused here
        padded = batch_selection.pad_to_multiple_of(indices, 64)  # few shapes: few compilations
        noised, noise = plan.noise_addition_transform.update(
            gradient(weights, (x[padded], y[padded]), is_padding_example=padded == -1), noise
        )
        change, state = optimizer.update(noised, state)
        weights = optax.apply_updates(weights, change)
    peer = dp_accounting.pld.PLDAccountant(RELATION)
    return {
        "noise multiplier": noise_multiplier,
        "accuracy": float(((x @ np.asarray(weights) > 0.0) == (y > 0.5)).mean()),
        "epsilon, step by step": spent.get_epsilon(DELTA),
        "epsilon of the plan": HockeystickAccountant(RELATION).compose(plan.dp_event).get_epsilon(DELTA),
        "epsilon by dp_accounting": peer.compose(plan.dp_event).get_epsilon(DELTA),
    }


class Config(DpAccountantConfig):
    """For JAX Privacy's training accountants, which account for adding or removing a record."""

    def create_accountant(self) -> HockeystickAccountant:
        return HockeystickAccountant()


def plan_noise(epsilon: float, examples: int, batch: int, steps: int) -> float:
    """JAX Privacy's own calibration with our numbers."""
    return accounting.calibrate_noise_multiplier(
        target_epsilon=epsilon,
        accountant=accounting.DpsgdTrainingAccountant(dp_accountant_config=Config()),
        batch_sizes=batch,
        num_updates=steps,
        num_samples=examples,
        target_delta=DELTA,
        tol=1e-6,
    )


def main(place: str | None = None) -> None:
    found = {}
    if place is None:
        found = train()
    else:
        with hs.Ledger(place) as ledger:
            ledger.add_dataset("points", unit="one point", neighbours="zero-out", actor="ada")
            account = ledger.open_account("2026", dataset="points", epsilon=3.0, delta=DELTA, actor="ada")
            charging = Charging(account, steps=STEPS, actor="bob")
            found = {**train(charging=charging), "steps under the account": charging.done}
    for name, value in found.items():
        print(f"{name:26} {value:.6f}")
    print(f"{'noise for epsilon = 1':26} {plan_noise(1.0, 60_000, 256, 3510):.6f}")


if __name__ == "__main__":
    main(*sys.argv[1:])
