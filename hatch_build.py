"""Compiles src/hockeystick/native/*.c where there is a C compiler; without one the NumPy code beside it does the same work."""

import contextlib
import os
import shlex
import subprocess
import sys
import sysconfig
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

FOLDER = Path("src", "hockeystick", "native")
# results are certified for doubles rounded one by one
FLAGS = ("-O3", "-fPIC", "-fvisibility=hidden", "-ffp-contract=off", "-fno-math-errno")
# bindings.h keeps to the limited interface of 3.11, which every later CPython has, but for one without its lock
STABLE = sys.implementation.name == "cpython" and not sysconfig.get_config_var("Py_GIL_DISABLED")
BUILT = FOLDER / ("core.abi3.so" if STABLE else f"core{sysconfig.get_config_var('EXT_SUFFIX')}")


def hidden() -> list[str]:
    """What makes the linker export the module's init alone: a function found in another library could answer for one of ours."""
    if sys.platform == "darwin":
        return ["-Wl,-exported_symbol,_PyInit_core"]
    return [f"-Wl,--version-script={FOLDER / 'exported.map'}"]


class CustomBuildHook(BuildHookInterface[Any]):
    """Adds the compiled core to a wheel, if it can be built."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if self.target_name == "wheel" and os.name == "posix" and compiled(Path(self.root), BUILT):
            platform = self.build_config.builder.get_best_matching_tag().rpartition("-")[2]
            build_data.update(pure_python=False, infer_tag=not STABLE)
            if STABLE:
                build_data["tag"] = f"cp311-abi3-{platform}"
            build_data["artifacts"].append(BUILT.as_posix())


def compiled(root: Path, built: Path) -> bool:
    """Whether the core could be built; one of older sources is removed if not."""
    linker = shlex.split(sysconfig.get_config_var("LDSHARED") or "cc -shared")
    if "CC" in os.environ:
        linker[:1] = shlex.split(os.environ["CC"])
    sources = sorted(str(path) for path in (root / FOLDER).glob("*.c"))
    target, fresh = root / built, root / f"{built}.new"
    command = [*linker, *FLAGS, *hidden(), f"-I{sysconfig.get_path('include')}", *sources, "-o", str(fresh), "-lm"]
    try:
        subprocess.run(command, check=True, capture_output=True, text=True, cwd=root)  # noqa: S603
        fresh.replace(target)
        for other in {*(root / FOLDER).glob("core.*so")} - {target}:  # of another name, which Python might find first
            other.unlink()
    except (OSError, subprocess.CalledProcessError) as error:
        why = getattr(error, "stderr", None) or error
        print(f"hockeystick's core was not compiled; NumPy will do its work, more slowly: {why}", file=sys.stderr)
        newest = max(path.stat().st_mtime for path in (root / FOLDER).glob("*.[ch]"))
        for path in (root / FOLDER).glob("core.*so"):
            with contextlib.suppress(OSError):
                if path.stat().st_mtime < newest:
                    path.unlink()
        return False
    return True
