"""A callback that stops a training at its budget: two trainings on one data set share a line of an account.

    pip install '.[opacus,ledger]'; python examples/stop_at_budget.py ledger.db

Every step is charged to the ledger before the model is changed.  The callback looks before each batch whether one more step is
left; if another machine takes the last one in between, the step itself is refused, and the model stays what it was.
"""

import json
import sys
import warnings
from pathlib import Path

import torch
from opacus import PrivacyEngine
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

import hockeystick as hs
from hockeystick.interop.charging import Charging
from hockeystick.interop.opacus import HockeystickAccountant
from hockeystick.ledger.account import Account

RECORDS, BATCH, SIGMA, STEPS = 1000, 50, 1.0, 60
STEP = hs.Gaussian(sigma=SIGMA).poisson(rate=BATCH / RECORDS)


class StopAtBudget:
    """For any training loop: `if callback.on_batch_start(): break` (PyTorch Lightning: return -1 from its hook)."""

    def __init__(self, charging: Charging, keep: int = 0) -> None:
        self.charging, self.keep = charging, keep

    def on_batch_start(self) -> bool:
        return self.charging.left <= self.keep


def opened(ledger: hs.Ledger) -> Account:
    """The account of the data set: so many steps of this noise and rate, whoever takes them."""
    if "photos-2026" not in ledger.accounts():
        ledger.add_dataset("photos", unit="one person, with all photos", actor="ada")
        ledger.open_account(
            "photos-2026", dataset="photos", epsilon=8.0, delta=1e-5, plan=[("training", STEP, STEPS)], actor="ada"
        )
    return ledger.account("photos-2026")


def train(account: Account, actor: str, most: int) -> dict[str, object]:
    """Up to `most` steps, or as many as the account has left."""
    warnings.filterwarnings("ignore", message="Secure RNG turned off")
    warnings.filterwarnings("ignore", message="Full backward hook is firing")
    x = torch.randn(RECORDS, 10, generator=torch.Generator().manual_seed(0))
    charging = Charging(account, line="training", actor=actor, run=f"linear-{actor}")
    engine = PrivacyEngine()
    engine.accountant = HockeystickAccountant(account=charging)
    model = nn.Linear(10, 2)
    model, optimizer, loader = engine.make_private(
        module=model,
        optimizer=torch.optim.SGD(model.parameters(), lr=0.5),
        data_loader=DataLoader(TensorDataset(x, (x.sum(dim=1) > 0).long()), batch_size=BATCH),
        noise_multiplier=SIGMA,
        max_grad_norm=1.0,
    )
    callback, stopped = StopAtBudget(charging), "all steps made"
    while charging.done < most and stopped == "all steps made":
        for inputs, wanted in loader:
            if charging.done >= most:
                break
            if callback.on_batch_start():
                stopped = "no step left"
                break
            optimizer.zero_grad()
            nn.functional.cross_entropy(model(inputs), wanted).backward()
            try:
                optimizer.step()
            except hs.OverBudget:  # another training took the last step in between
                stopped = "the last step was refused"
                break
    return {"actor": actor, "steps": charging.done, "stopped": stopped, "left": account.remaining("training")}


if __name__ == "__main__":
    with hs.Ledger(Path(sys.argv[1])) as book:
        shared = opened(book)
        for name in ("bob", "eve"):
            print(json.dumps(train(shared, name, most=40)))
        print(f"epsilon of all that can happen: {shared.terms.epsilon:g} at delta {shared.terms.delta:g}")
