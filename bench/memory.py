"""Peak memory of single queries, the heaviest included: `python -m bench.memory [--publish]`.

Each query has a process of its own.  `peak` is the most that the process ever held (on Linux, VmHWM), `query` how much of that
the query added to the imported library (modules that it loads included), `arrays` the peak of what Python and NumPy allocated
during it (tracemalloc, in another process, for it slows things down).  In megabytes of 10^6 bytes.
"""

import json
import os
import re
import subprocess
import sys
import tracemalloc
from collections.abc import Callable
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")
RESULT = Path(__file__).parent / "results" / "memory.json"
MEGA = 1e6
BAR = 200.0


def queries() -> dict[str, Callable[[], object]]:
    import numpy as np

    import hockeystick as hs

    def sgd(rate: float, sigma: float, steps: int) -> hs.Gaussian:
        return hs.Gaussian(sigma=sigma).poisson(rate=rate) * steps

    return {
        "nothing": lambda: None,
        "DP-SGD": lambda: sgd(256 / 60000, 1.1, 3510).epsilon_bounds(1e-5),
        "DP-SGD, sigma 0.4, 10^6 steps": lambda: sgd(1e-4, 0.4, 10**6).epsilon_bounds(1e-8),
        "DP-SGD, sigma 0.06": lambda: sgd(0.01, 0.06, 10**4).epsilon_bounds(1e-6),
        "sparse: q 0.001, sigma 0.5, 100 steps": lambda: sgd(0.001, 0.5, 100).epsilon_bounds(1e-6),
        "sparse: q 1e-5, sigma 0.4, 10^5 steps, delta 1e-30": lambda: sgd(1e-5, 0.4, 10**5).epsilon_bounds(1e-30),
        "sparse: q T = 1, delta 1e-12": lambda: sgd(1e-4, 0.6, 10**4).epsilon_bounds(1e-12),
        "two steps of sigma 0.51 and a Gaussian, delta 5e-302": lambda: (
            sgd(0.785, 0.5137, 2) + hs.Gaussian(sigma=1.628)
        ).epsilon_bounds(4.9e-302),
        "lattice: Laplace x 4": lambda: (hs.Laplace(scale=0.5) * 4).epsilon_bounds(1e-6),
        "lattice: sampled Laplace x 3000": lambda: (hs.Laplace(scale=2.0).poisson(rate=0.001) * 3000).epsilon_bounds(1e-9),
        "lattice: discrete Gaussian, sampled": lambda: (hs.DiscreteGaussian(sigma=20.0).poisson(rate=0.05) * 60).epsilon_bounds(
            1e-9
        ),
        "lattice: four different noises": lambda: (
            hs.Laplace(scale=2.0) * 3
            + hs.RandomizedResponse(epsilon=0.3) * 7
            + hs.DiscreteLaplace(scale=3.0) * 5
            + hs.Gaussian(sigma=4.0)
        ).epsilon_bounds(1e-9),
        "3000 different pure claims": lambda: hs.compose(
            [hs.PureDP(epsilon=0.01 + 1e-5 * i) for i in range(3000)]
        ).epsilon_bounds(1e-6),
        "3000 different noises": lambda: hs.compose([hs.Gaussian(sigma=50.0 + 0.1 * i) for i in range(3000)]).epsilon_bounds(
            1e-6
        ),
        "300 different sampled noises": lambda: hs.compose([sgd(0.01, 1.0 + 0.01 * i, 10) for i in range(300)]).epsilon_bounds(
            1e-6
        ),
        "group of 8, Poisson": lambda: sgd(0.01, 4.0, 1000).group(8).epsilon_bounds(1e-6),
        "group of 64, Poisson": lambda: sgd(0.01, 30.0, 1000).group(64).epsilon_bounds(1e-6),
        "replace-one, few steps": lambda: sgd(0.01, 0.6, 5).epsilon_bounds(1e-6, neighbours="replace"),
        "replace-one, delta of few steps to nine digits": lambda: sgd(1 / 6, 0.44, 4).delta_bounds(0.0, neighbours="replace"),
        "between the bulk and one large step, delta 1e-81": lambda: sgd(3.8e-4, 2.69, 18825).epsilon_bounds(1e-81),
        "10^8 shuffled reports x 100": lambda: (hs.Shuffled(hs.RandomizedResponse(epsilon=1.0), 10**8) * 100).epsilon_bounds(
            1e-6, neighbours="replace"
        ),
        "profile of 10^4 epsilons": lambda: sgd(0.01, 1.1, 10**4).profile(np.linspace(0.0, 10.0, 10**4)),
        "mu()": lambda: sgd(0.328, 9.4, 2000).mu(),
        "calibration": lambda: hs.calibrate(lambda s: sgd(0.001, s, 100), epsilon=1.0, delta=1e-6),
        "sweep of 30 x 30": lambda: hs.sweep(
            lambda rate, sigma: sgd(rate, sigma, 1000),
            {"rate": list(np.geomspace(1e-3, 0.1, 30)), "sigma": list(np.linspace(0.8, 5.0, 30))},
            progress=False,
            epsilon_at_delta=1e-6,
        ),
    }


def resident() -> int:
    """The most that this process ever held, in bytes."""
    try:
        found = re.search(r"VmHWM:\s+(\d+) kB", Path("/proc/self/status").read_text())
    except OSError:
        found = None
    if found:
        return 1024 * int(found[1])
    import resource

    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most if sys.platform == "darwin" else 1024 * most


def alone(name: str, traced: bool) -> dict[str, float | str]:
    """One query, in this process."""
    ask = queries()[name]
    before = resident()
    if traced:
        tracemalloc.start()
    try:
        ask()
    except Exception as error:
        return {"failed": f"{type(error).__name__}: {error}"[:160]}
    finally:
        most = tracemalloc.get_traced_memory()[1] if traced else 0
        tracemalloc.stop()
    if traced:
        return {"arrays": most / MEGA}
    return {"peak": resident() / MEGA, "query": (resident() - before) / MEGA}


def measured(name: str) -> dict[str, float | str]:
    """The same in processes of its own."""
    found: dict[str, float | str] = {}
    for traced in ("", "traced"):
        words = [sys.executable, "-m", "bench.memory", "--one", name, traced]
        done = subprocess.run(words, capture_output=True, text=True, check=False, cwd=Path(__file__).parent.parent)
        found |= json.loads(done.stdout) if done.returncode == 0 else {"failed": f"its process ended with code {done.returncode}"}
    return found


def main(words: list[str]) -> int:
    if words[:1] == ["--one"]:
        print(json.dumps(alone(words[1], words[2] == "traced")))
        return 0
    rows = {}
    for name in queries():
        row = rows[name] = measured(name)
        told = (
            row.get("failed")
            or f"peak {row['peak']:6.0f} MB, of the query {row['query']:6.1f} MB, arrays {row['arrays']:6.1f} MB"
        )
        print(f"{name:52} {told}{'  ABOVE THE BAR' if float(row.get('peak', 0.0)) > BAR else ''}", flush=True)
    if "--publish" in words:
        RESULT.parent.mkdir(parents=True, exist_ok=True)
        RESULT.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
