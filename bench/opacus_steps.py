"""What accounting costs a training loop that asks for epsilon after every step.  Nothing here is a test.

    python bench/opacus_steps.py [steps]        # 10000 unless given; needs the extra `opacus`

`every=1` computes each epsilon exactly; `every=200` one in two hundred, for the steps rounded up.  Opacus's own
accountants compute each, so a few steps of theirs are timed, at the end of the run.  Last comes a real training run of a small
model on the CPU, with the share of its time that went to accounting.  Times are of the processor, not of the clock.
"""

import json
import os
import sys
import time
import warnings
from collections.abc import Callable

os.environ.setdefault("OMP_NUM_THREADS", "1")

import torch
from opacus import PrivacyEngine
from opacus.accountants import create_accountant

import hockeystick.interop.opacus  # noqa: F401  (registers the accountant)

DELTA = 1e-5
CASES = [(1.1, 0.01), (1.0, 256 / 60_000), (0.8, 0.05)]  # noise multiplier, rate


def asked(name: str, sigma: float, rate: float, first: int, last: int, every: int = 1) -> tuple[float, float]:
    """Microseconds a step from `first` to `last`, and the last epsilon."""
    accountant = create_accountant(name)
    if first > 1:
        accountant.history = [(sigma, rate, first - 1)]
    if every > 1:
        accountant.every = every
    start = time.thread_time()
    for _ in range(first, last + 1):
        accountant.step(noise_multiplier=sigma, sample_rate=rate)
        epsilon = accountant.get_epsilon(DELTA)
    return 1e6 * (time.thread_time() - start) / (last - first + 1), epsilon


def share(steps: int, every: int) -> dict[str, float]:
    """A training run that asks for epsilon after every step: milliseconds a step, and the share of accounting in percent."""
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(20, 64), torch.nn.ReLU(), torch.nn.Linear(64, 2))
    x = torch.randn(6400, 20)
    data = torch.utils.data.TensorDataset(x, (x.sum(dim=1) > 0).long())
    engine = PrivacyEngine(accountant="hockeystick")
    engine.accountant.every = every
    model, optimizer, loader = engine.make_private(
        module=model,
        optimizer=torch.optim.SGD(model.parameters(), lr=0.1),
        data_loader=torch.utils.data.DataLoader(data, batch_size=64),
        noise_multiplier=1.1,
        max_grad_norm=1.0,
    )
    hook, spent = optimizer.step_hook, 0.0

    def timed(call: Callable[[], object]) -> object:
        nonlocal spent
        began = time.thread_time()
        found = call()
        spent += time.thread_time() - began
        return found

    optimizer.attach_step_hook(lambda one: timed(lambda: hook(one)))
    start = time.thread_time()
    while len(engine.accountant) < steps:
        for features, wanted in loader:
            optimizer.zero_grad()
            torch.nn.functional.cross_entropy(model(features), wanted).backward()
            optimizer.step()
            epsilon = timed(lambda: engine.get_epsilon(DELTA))
    total, taken = time.thread_time() - start, len(engine.accountant)
    return {"steps": taken, "ms a step": 1e3 * total / taken, "accounting, %": 100.0 * spent / total, "epsilon": epsilon}


def main(steps: int = 10_000) -> None:
    warnings.simplefilter("ignore")
    asked("hockeystick", 1.0, 0.1, 1, 3)  # imports
    for sigma, rate in CASES:
        found: dict[str, object] = {}
        for every in (1, 200):
            found[f"every={every}, all {steps} steps, us"], found[f"every={every}, epsilon"] = asked(
                "hockeystick", sigma, rate, 1, steps, every
            )
        for name, few in (("rdp", 20), ("prv", 5)):
            found[f"Opacus {name}, the last {few} steps, us"], found[f"Opacus {name}, epsilon"] = asked(
                name, sigma, rate, steps - few + 1, steps
            )
        print(f"sigma={sigma} rate={rate:.4g}", json.dumps(found, indent=2), flush=True)
    print("training, every=200", json.dumps(share(steps, 200), indent=2))


if __name__ == "__main__":
    main(*(int(word) for word in sys.argv[1:]))
