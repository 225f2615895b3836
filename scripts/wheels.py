"""Wheels for six platforms, built on one Linux machine with the C compiler of `ziglang`, checked, and tried where they run.

`make wheels` calls it in an environment of its own; by hand: scripts/wheels.py [PLATFORM ...] [--out dist].  The source
distribution is built first and every wheel from it.  A wheel without a compiled core, one that exports more than the module's
init, or one that brings mathematical functions of its own is an error: those of zig's runtime (expl of 128 bits goes through
doubles) are not what numerics/rounding.py assumes.
"""

import argparse
import os
import platform
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from pathlib import Path
from typing import NamedTuple

import lief

from progress import bar

ROOT = Path(__file__).resolve().parent.parent
LINUX = re.compile(r"(manylinux|musllinux)_(\d+)_(\d+)_(x86_64|aarch64)")
CORE = "hockeystick/native/core.abi3.so"
MATHEMATICS = {"atan2", "cos", "erfc", "exp", "expm1", "log", "log1p", "sin"}  # of the C library of the machine that runs it
RUNTIME = re.compile(r"__\w+(ti|tf|xf|di|df)\w?\d?")  # arithmetic that a compiler calls
DARWIN = "-DCMAKE_SYSTEM_NAME=Darwin -DCMAKE_INSTALL_NAME_TOOL=/bin/true -DCMAKE_OSX_SYSROOT= -DCMAKE_OSX_ARCHITECTURES="
TRIED = ("tests/unit/native", "tests/interface/test_about.py", "tests/interface/test_values.py")
NEEDED = ("hypothesis", "mpmath", "pytest", "python-flint")


class Target(NamedTuple):
    zig: str  # as zig names it
    cmake: str = ""  # what CMake must know to compile for another system


TARGETS = {
    "manylinux_2_28_x86_64": Target("x86_64-linux-gnu.2.28"),
    "manylinux_2_28_aarch64": Target("aarch64-linux-gnu.2.28"),
    "musllinux_1_2_x86_64": Target("x86_64-linux-musl"),
    "musllinux_1_2_aarch64": Target("aarch64-linux-musl"),
    "macosx_11_0_arm64": Target("aarch64-macos.11.0", f"{DARWIN} -DCMAKE_SYSTEM_PROCESSOR=arm64"),
    "macosx_10_13_x86_64": Target("x86_64-macos.10.13", f"{DARWIN} -DCMAKE_SYSTEM_PROCESSOR=x86_64"),
}


def run(*command: str | Path, quiet: bool = True, **options: object) -> str:
    """What it printed; what it printed and the end of this script if it fails."""
    done = subprocess.run(list(map(str, command)), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **options)
    if done.returncode:
        sys.exit(f"\n{' '.join(map(str, command))} failed:\n{done.stdout}")
    if not quiet:
        print(done.stdout, end="")
    return done.stdout


def compiler(folder: Path, target: Target) -> Path:
    """A command that compiles for the target as `cc` does for this machine.

    For macOS zig's linker knows no -exported_symbol (what is exported is checked afterwards) and fails at -bundle (Python loads a
    library as well).  musl's library, which every process there has loaded, goes by another name
    than zig gives it: it is not named.
    """
    musl = target.zig.endswith("musl")
    path = folder / f"cc-{target.zig}"
    path.write_text(
        "#!/usr/bin/env bash\n"
        'for one; do shift; case "$one" in\n'
        f"    -Wl,-exported_symbol,*{'|-lm' if musl else ''}) ;;\n"
        f'    -bundle|-shared) set -- "$@" -shared{" -nostdlib" if musl else ""} ;;\n'
        '    *) set -- "$@" "$one" ;;\n'
        "esac; done\n"
        f'exec "{sys.executable}" -m ziglang cc -target {target.zig} "$@"\n',
        encoding="utf-8",
    )
    path.chmod(0o755)
    return path


def build(source: Path, out: Path, tag: str, folder: Path) -> Path:
    target = TARGETS[tag]
    env = {**os.environ, "CC": str(compiler(folder, target)), "CMAKE_ARGS": target.cmake}
    made = folder / tag
    run(
        *(sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", made),
        *(f"-Cwheel.tags=cp311-abi3-{tag}", source),
        env=env,
    )
    (wheel,) = made.glob("*.whl")
    return Path(shutil.move(wheel, out / wheel.name))


def inspected(wheel: Path, folder: Path) -> str:
    """The core in the wheel: what it exports and imports."""
    with zipfile.ZipFile(wheel) as opened:
        if CORE not in opened.namelist():
            sys.exit(f"{wheel.name} has no compiled core")
        if [name for name in opened.namelist() if name.endswith((".c", ".h", ".map"))]:
            sys.exit(f"{wheel.name} has sources in C")
        core = lief.parse(opened.extract(CORE, folder / wheel.stem))
    exported = {symbol.name.lstrip("_") for symbol in core.exported_symbols} - {
        "dso_handle",
        "mh_dylib_header",
    }  # the linker's own
    elf = isinstance(core, lief.ELF.Binary)
    symbols = [one for one in core.dynamic_symbols if not one.shndx] if elf else core.imported_symbols
    imported = {symbol.name.removeprefix("" if elf else "_").partition("@")[0] for symbol in symbols} - {""}
    if exported != {"PyInit_core"}:
        sys.exit(f"{wheel.name} exports {sorted(exported)}; only PyInit_core may be")
    if own := MATHEMATICS - imported:
        sys.exit(f"{wheel.name} has its own {', '.join(sorted(own))}; they must come from the C library")
    if missing := {name for name in imported if RUNTIME.fullmatch(name)}:
        sys.exit(f"{wheel.name} needs {', '.join(sorted(missing))} of a compiler's library, which may not be there")
    return f"{len(imported)} symbols imported"


def checked(wheel: Path) -> None:
    """By the tools of the field."""
    run(tool("abi3audit"), "--strict", wheel)
    run(tool("check-wheel-contents"), wheel)
    run(tool("twine"), "check", "--strict", wheel)
    if "linux" in wheel.name:  # what it is consistent with may be older than what it says
        shown = " ".join(run(tool("auditwheel"), "show", wheel).split())
        found, asked = (LINUX.search(text) for text in (shown.partition("following platform tag:")[2], wheel.name))
        if not found or not asked or found[1] != asked[1] or found[4] != asked[4] or release(found) > release(asked):
            sys.exit(f"{wheel.name}: auditwheel says {shown}")


def release(tag: re.Match[str]) -> tuple[int, int]:
    """Of the C library."""
    return int(tag[2]), int(tag[3])


def tried(wheel: Path, folder: Path) -> str:
    """Installed into an empty environment of every Python at hand; the tests of the core see nothing of the sources."""
    return "; ".join(tried_by(python, wheel, folder / f"try-{place}") for place, python in enumerate(pythons()))


def pythons() -> list[str]:
    """From 3.11 on: this one, and others that are called by their versions."""
    found = {platform.python_version_tuple()[1]: sys.executable}
    for minor in map(str, range(11, 20)):
        other = shutil.which(f"python3.{minor}")
        works = other and subprocess.run([other, "-c", "import venv, ensurepip"], capture_output=True).returncode == 0
        if other and works:
            found.setdefault(minor, other)
    return list(found.values())


def tried_by(interpreter: str, wheel: Path, place: Path) -> str:
    shutil.copytree(ROOT / "tests", place / "tests")
    shutil.copytree(ROOT / "scripts", place / "scripts")
    for name in ("conftest.py", "pyproject.toml"):
        shutil.copy(ROOT / name, place)
    run(interpreter, "-m", "venv", place / "venv")
    python = place / "venv" / "bin" / "python"
    env = {name: os.environ[name] for name in os.environ if not name.startswith(("PYTHON", "HOCKEYSTICK"))}
    run(python, "-m", "pip", "install", "--quiet", f"{wheel}[cli]", *NEEDED, cwd=place, env=env)
    said = run(place / "venv" / "bin" / "hockeystick", "--version", cwd=place, env=env).strip()
    if "(compiled core)" not in said:
        sys.exit(f"{wheel.name}, installed, says {said}")
    passed = (
        run(python, "-m", "pytest", "-p", "no:cacheprovider", "-m", "not slow", *TRIED, cwd=place, env=env)
        .rstrip()
        .splitlines()[-1]
    )
    return f"{run(python, '--version').strip()}: {passed}"


def tool(name: str) -> Path:
    return Path(sys.executable).parent / name


def runs_here(tag: str) -> bool:
    return platform.system() == "Linux" and platform.libc_ver()[0] == "glibc" and tag == f"manylinux_2_28_{platform.machine()}"


def main() -> None:
    parser = argparse.ArgumentParser(description="Wheels for six platforms, checked, and tried where they run.")
    parser.add_argument("platforms", nargs="*", default=list(TARGETS), help=f"out of {', '.join(TARGETS)}")
    parser.add_argument("--out", type=Path, default=ROOT / "dist")
    given = parser.parse_args()
    if unknown := set(given.platforms) - set(TARGETS):
        parser.error(f"{', '.join(unknown)}; allowed: {', '.join(TARGETS)}")
    given.out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        run(sys.executable, "-m", "build", "--sdist", "--no-isolation", "--outdir", given.out, ROOT)
        (sources,) = given.out.glob("*.tar.gz")
        run(tool("twine"), "check", "--strict", sources)
        print(sources.name, "pyroma:", run(tool("pyroma"), "--min", "8", sources).strip().splitlines()[-3], flush=True)
        with tarfile.open(sources) as opened:
            opened.extractall(folder / "source", filter="data")
        (source,) = (folder / "source").iterdir()
        for place, tag in enumerate(given.platforms):
            bar(place, len(given.platforms), tag)
            wheel = build(source, given.out, tag, folder)
            words = [inspected(wheel, folder)]
            checked(wheel)
            if runs_here(tag):
                words.append(tried(wheel, folder))
            print(f"{wheel.name} {wheel.stat().st_size // 1000} kB: {'; '.join(words)}", flush=True)
        bar(len(given.platforms), len(given.platforms))


if __name__ == "__main__":
    main()
