"""Both ends of every question over the law suite's releases, to the last bit, with the compiled core and without.

    python scripts/fingerprint.py            compares with tests/data/fingerprint.json and prints what differs
    python scripts/fingerprint.py --record   writes it anew: whatever changed is to be named in CHANGELOG.md, with the reason;
                                             with names behind it only these releases

A rewrite that changes no mathematics changes no bit of it.  The bits depend on the C library, on the registers that NumPy uses,
and on the loops that it and SciPy choose for the processor; `here` says which, and elsewhere intervals of the same question must
overlap instead.
"""

import hashlib
import json
import math
import os
import platform
import subprocess
import sys
from collections.abc import Callable, Iterator
from importlib.metadata import version
from pathlib import Path

import numpy as np

import hockeystick as hs
from hockeystick.native import core

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests"))

from samples import ALL, DELTAS, EPSILONS  # noqa: E402

RECORD = ROOT / "tests" / "data" / "fingerprint.json"
RELATIONS = ("add-or-remove", "add", "remove", "replace", "zero-out")
ORDERS = (1.0, 1.5, 2.0, 8.0, 64.0, math.inf)
LEVELS = (1e-6, 0.01, 0.3)
Answers = dict[str, str]


def here() -> dict[str, str]:
    """What the bits depend on."""
    features = np._core._multiarray_umath.__cpu_features__
    return {
        "numpy": version("numpy"),
        "scipy": version("scipy"),
        "libc": "-".join(platform.libc_ver()),
        "machine": platform.machine(),
        "registers": " ".join(sorted(name for name, there in features.items() if there)),
        "bits": _bits(),
    }


def _bits() -> str:
    """A digest of sums, products, transforms and functions: two processors with the same registers may round them differently."""
    from scipy import special

    x = np.sin(np.arange(1.0, 4097.0))
    square, u = x.reshape(64, 64), np.abs(x) + 0.01
    found = [np.array([x[:size] @ x[-size:] for size in range(1, 200, 3)]), square @ square.T, square @ square[0]]
    found += [(square + 1j * square.T) @ (square - 2j).T, np.fft.rfft(x), np.fft.irfft(np.fft.rfft(x) ** 3), np.add.accumulate(x)]
    found += [function(u) for function in (np.exp, np.log, np.expm1, np.log1p, np.sin, np.cos, np.sqrt, np.sinh, special.erfcx)]
    found += [special.log_ndtr(-30.0 * u), special.ndtri_exp(-30.0 * u), np.logaddexp(x, u), np.array([x.sum(), u.sum()])]
    found += [np.array([function(one) for one in u[:500]]) for function in (math.exp, math.log, math.expm1, math.erfc, math.sinh)]
    return hashlib.sha256(b"".join(np.ascontiguousarray(one).tobytes() for one in found)).hexdigest()[:16]


def _hex(ask: Callable[[], tuple[float, float] | hs.Bounds]) -> str:
    try:
        low, high = ask()
    except hs.HockeystickError as error:
        return type(error).__name__
    return " ".join(",".join(float(one).hex() for one in np.atleast_1d(end)) for end in (low, high))


def questions(release: hs.Gaussian, relation: str) -> Iterator[tuple[str, Callable[[], tuple[float, float] | hs.Bounds]]]:
    """The questions of one release under one relation, by name; curves of attackers under the relation by default only."""
    for delta in DELTAS:
        yield f"epsilon at delta {delta:g}", lambda delta=delta: release.epsilon_bounds(delta=delta, neighbours=relation)
        yield f"epsilon alone at delta {delta:g}", lambda delta=delta: (0.0, release.epsilon(delta=delta, neighbours=relation))
    for epsilon in EPSILONS:
        yield f"log delta at {epsilon:g}", lambda epsilon=epsilon: release.log_delta_bounds(epsilon=epsilon, neighbours=relation)
        yield f"delta alone at {epsilon:g}", lambda epsilon=epsilon: (0.0, release.delta(epsilon=epsilon, neighbours=relation))
    for order in ORDERS:
        yield f"Rényi order {order:g}", lambda order=order: (0.0, release.rdp(order=order, neighbours=relation))
    if relation == "add-or-remove":
        yield "epsilon at all deltas", lambda: release.epsilon_bounds(delta=np.array(DELTAS))
        yield "log delta at all epsilons", lambda: release.log_delta_bounds(epsilon=np.array(EPSILONS))
        yield "delta and delta 0", lambda: release.epsilon_bounds(delta=0.0)
        for level in LEVELS:
            yield f"tpr at fpr {level:g}", lambda level=level: release.tpr_bounds(level)
        yield "mu at delta 1e-5", lambda: release.mu_bounds(delta=1e-5)


def answers(name: str) -> Answers:
    """Every answer of one release, as hexadecimal ends."""
    found = {}
    for relation in RELATIONS:
        for question, ask in questions(ALL[name], relation):
            found[f"{relation}, {question}"] = _hex(ask)
    return found


def overlap(one: str, two: str) -> bool:
    """Whether two answers to the same question, found on different machines, can both be right."""
    if one == two or " " not in one or " " not in two:
        return one == two
    ends = [[[float.fromhex(value) for value in end.split(",")] for end in answer.split(" ")] for answer in (one, two)]
    pairs = list(zip(*ends[0], *ends[1], strict=True))
    return all(
        low <= other_high * (1 + 1e-9) + 1e-12 and other_low <= high * (1 + 1e-9) + 1e-12
        for low, high, other_low, other_high in pairs
    ) or all(low <= other_high and other_low <= high for low, high, other_low, other_high in pairs)


def differences(found: Answers, record: Answers, exact: bool) -> list[str]:
    """A line for each question whose answer is another one."""
    same: Callable[[str, str], bool] = (lambda one, two: one == two) if exact else overlap
    keys = dict.fromkeys([*record, *found])
    return [f"{key}: {record.get(key)} -> {found.get(key)}" for key in keys if not same(record.get(key, ""), found.get(key, ""))]


def _both(words: list[str]) -> dict[str, dict[str, Answers]]:
    """With the core and without it, in a process each."""
    found = {}
    for kind, pure in (("core", "0"), ("NumPy", "1")):
        env = {**os.environ, "HOCKEYSTICK_PURE": pure, "OMP_NUM_THREADS": "1"}
        command = [sys.executable, __file__, "--answers", *words]
        found[kind] = subprocess.Popen(command, env=env, stdout=subprocess.PIPE, text=True)
    return {kind: json.loads(process.communicate()[0]) for kind, process in found.items()}


def main(words: list[str]) -> int:
    names = [word for word in words if not word.startswith("--")] or list(ALL)
    if "--answers" in words:
        print(json.dumps({name: answers(name) for name in names}))
        return 0
    if core is None:
        print("The core was not compiled: there is nothing to record, and the answers of NumPy are compared by the tests.")
        return 1
    found = _both(names)
    if "--record" in words:
        record = {"here": here(), **found}
        if names != list(ALL):  # of these releases only, beside what is on record
            known = json.loads(RECORD.read_text(encoding="utf-8"))
            assert known["here"] == here(), "the others were recorded on another machine: record all"
            record = {"here": here(), **{kind: {name: (known[kind] | found[kind])[name] for name in ALL} for kind in found}}
        RECORD.write_text(json.dumps(record, indent=0, ensure_ascii=False) + "\n", encoding="utf-8")
        return 0
    record = json.loads(RECORD.read_text(encoding="utf-8"))
    exact = record["here"] == here()
    changed = [
        f"{kind}, {name}, {line}"
        for kind in found
        for name in names
        for line in differences(found[kind][name], record[kind][name], exact)
    ]
    print("\n".join(changed))
    print(f"{len(changed)} answers differ", "to the last bit." if exact else "(intervals that do not overlap: another machine).")
    return bool(changed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
