"""The compiled core as a library among others: what it exports, and whom it calls."""

import os
import re
import shutil
import signal
import subprocess
import sys
import sysconfig
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import hockeystick as hs
from hockeystick import native
from hockeystick.native import core

pytestmark = pytest.mark.skipif(core is None, reason="the core was not compiled: there was no C compiler")

SOURCES = Path(native.__file__).parent
FORMER = {"dot", "exps", "moves_of", "normals"}  # exported once, as functions for several processors evade -fvisibility=hidden
COMPILER = shutil.which(os.environ.get("CC", "cc"))


def names() -> set[str]:
    """Our functions that several files share, as the sources have them, and former ones."""
    text = "".join(path.read_text(encoding="utf-8") for path in sorted(SOURCES.glob("*.h")))
    found = set(re.findall(r"\b(hs_\w+)(?=\()", text))
    return found | FORMER


@pytest.mark.skipif(shutil.which("nm") is None or sys.platform == "darwin", reason="needs nm -D")
def test_one_symbol_is_exported() -> None:
    listed = subprocess.run(["nm", "-D", "--defined-only", core.__file__], capture_output=True, text=True, check=True).stdout
    assert [line.split()[-1] for line in listed.splitlines()] == ["PyInit_core"]


@pytest.mark.skipif(COMPILER is None or os.name != "posix", reason="needs a C compiler")
def test_functions_of_other_libraries_are_not_called(tmp_path: Path) -> None:
    """A library in the global scope has functions of the same names, whose results are wrong."""
    if not list(SOURCES.glob("*.h")):
        pytest.skip("the sources in C are not installed")
    wrong = "".join(f"double {name}(void) {{ return 0.5; }}\n" for name in sorted(names() - {"exps"}))
    wrong += "void exps(double *at, long size) { for (long i = 0; i < size; i++) at[i] = 1.01 * exp(at[i]); }\n"
    source, library = tmp_path / "other.c", tmp_path / "other.so"
    source.write_text(f"#include <math.h>\n{wrong}", encoding="utf-8")
    subprocess.run([str(COMPILER), "-shared", "-fPIC", "-o", str(library), str(source), "-lm"], check=True)
    code = (
        "import ctypes, sys; other = ctypes.CDLL(sys.argv[1], ctypes.RTLD_GLOBAL); other.exps; other.hs_exps; "
        "import hockeystick as hs; b = (hs.Gaussian(sigma=1.1).poisson(rate=0.01) * 1000).epsilon_bounds(1e-5); "
        "print(b.lower.hex(), b.upper.hex())"
    )
    said = subprocess.run([sys.executable, "-c", code, str(library)], capture_output=True, text=True, check=True).stdout
    bounds = (hs.Gaussian(sigma=1.1).poisson(rate=0.01) * 1000).epsilon_bounds(1e-5)
    assert said.split() == [bounds.lower.hex(), bounds.upper.hex()]
    assert bounds.lower < 1.51536191666454 < bounds.upper


def test_one_file_serves_every_python() -> None:
    """CPython's limited interface: it may be built by 3.11 and loaded by 3.14."""
    if sys.implementation.name == "cpython" and not sysconfig.get_config_var("Py_GIL_DISABLED"):
        assert Path(core.__file__).name == "core.abi3.so"


def test_it_is_of_these_sources() -> None:
    """Beside the sources an older library would answer for a newer text."""
    beside = Path(core.__file__)
    newer = [path.name for path in sorted(SOURCES.glob("*.[ch]")) if path.stat().st_mtime > beside.stat().st_mtime]
    if beside.parent == SOURCES:
        assert newer == [], "compile anew: make demo, or cmake -B build && cmake --build build"


@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
@pytest.mark.parametrize(
    "call",
    [
        "core.epsilons(noise, rate, nothing, count, 3, goal, *ends)",
        "core.sampled_deltas(0.9, 0.003, 0.0, 3e4, 3, np.linspace(0.5, 3000.0, many), *ends)",
        "core.laplace_deltas(0.01, 3e4, np.linspace(0.5, 290.0, many), *ends)",
    ],
)
def test_long_calls_are_interrupted(call: str) -> None:
    """A signal that comes during one call, which takes long: there is no other code where it could be noticed."""
    code = f"""
import signal, sys, threading, time
import numpy as np
from hockeystick.native import core
signal.signal(signal.SIGINT, signal.default_int_handler)  # which is ignored in the background of a shell
many = 5_000_000
noise, rate, nothing = np.linspace(0.7, 4.0, many), np.full(many, 0.01), np.zeros(many)
count, goal, ends = np.full(many, 1000.0), np.full(many, -12.0), (np.full(many, 7.0), np.full(many, 7.0))
def watch():  # while the call goes on: the interpreter is free
    while ends[1][0] == 7.0 and ends[1][many // 2] == 7.0:
        time.sleep(0.01)
    print("begun", flush=True)
threading.Thread(target=watch, daemon=True).start()
try:
    {call}
except KeyboardInterrupt:
    print("interrupted", flush=True)
"""
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        assert process.stdout.readline() == "begun\n"
        process.send_signal(signal.SIGINT)
        said, _ = process.communicate(timeout=300)
        assert said == "interrupted\n"
    finally:
        process.kill()
        process.communicate()


def test_threads_do_not_disturb_each_other() -> None:
    """A call lets go of the interpreter, so that several may be under way."""
    runs = [
        (hs.Gaussian(sigma=0.6 + 0.1 * i).poisson(rate=10.0 ** -(1 + i % 4)) * 10**4, 10.0 ** -(3 + i % 5)) for i in range(24)
    ]
    alone = [run.epsilon(delta) for run, delta in runs]
    profiles = [run.log_delta_bounds([1.0, 2.0]) for run, _ in runs]
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(lambda one: one[0].epsilon(one[1]), runs)) == alone
        found = list(pool.map(lambda one: one[0].log_delta_bounds([1.0, 2.0]), runs))
    assert [[list(ends) for ends in (one.lower, one.upper)] for one in found] == [
        [list(ends) for ends in (one.lower, one.upper)] for one in profiles
    ]
