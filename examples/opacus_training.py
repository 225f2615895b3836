"""DP-SGD with Opacus on made-up data: checkpoints, resuming, and a noise and a sample rate that change during the run.

    python examples/opacus_training.py --phases 4                                  # in one go
    python examples/opacus_training.py --phases 2 --save run.pt                    # the first half,
    python examples/opacus_training.py --phases 4 --resume run.pt                  # and the rest, perhaps another day

Prints one JSON line: epsilon with all its digits, the history, and a checksum of the model's weights.
"""

import argparse
import json
import warnings
from pathlib import Path

import torch
from opacus import PrivacyEngine
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

import hockeystick.interop.opacus  # noqa: F401  (registers the accountant)

DELTA = 1e-5
PHASES = ((1.0, 50), (1.0, 50), (0.8, 50), (1.2, 100))  # noise multiplier and batch size, one epoch each


def data(records: int = 2000) -> TensorDataset:
    made = torch.Generator().manual_seed(0)
    x = torch.randn(records, 10, generator=made)
    return TensorDataset(x, (x.sum(dim=1) > 0).long())


def train(phases: int, resume: Path | None = None, save: Path | None = None) -> dict[str, object]:
    warnings.filterwarnings("ignore", message="Secure RNG turned off")
    warnings.filterwarnings("ignore", message="Full backward hook is firing")
    torch.manual_seed(1)
    records = data()
    engine = PrivacyEngine(accountant="hockeystick")
    model = nn.Sequential(nn.Linear(10, 16), nn.ReLU(), nn.Linear(16, 2))
    first = 0
    if resume is not None:
        checkpoint = engine.load_checkpoint(path=resume, module=model)
        first = checkpoint["phases"]
        torch.set_rng_state(checkpoint["rng"])
    for noise, batch in PHASES[first:phases]:
        private, optimizer, loader = engine.make_private(
            module=model,
            optimizer=torch.optim.SGD(model.parameters(), lr=0.1),
            data_loader=DataLoader(records, batch_size=batch),
            noise_multiplier=noise,
            max_grad_norm=1.0,
        )
        for x, y in loader:
            optimizer.zero_grad()
            nn.functional.cross_entropy(private(x), y).backward()
            optimizer.step()
        model = private.to_standard_module()
    if save is not None:
        more = {"phases": phases, "rng": torch.get_rng_state()}
        engine.save_checkpoint(path=save, module=model, checkpoint_dict=more)
    return {
        "epsilon": engine.get_epsilon(DELTA).hex(),
        "history": engine.accountant.history,
        "weights": sum(float(p.detach().double().sum()) for p in model.parameters()).hex(),
    }


if __name__ == "__main__":
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--phases", type=int, default=len(PHASES))
    options.add_argument("--resume", type=Path)
    options.add_argument("--save", type=Path)
    print(json.dumps(train(**vars(options.parse_args()))))
