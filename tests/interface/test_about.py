"""What the library says of its installation, in Python and in the shell."""

import json
import os
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest

import hockeystick as hs
from hockeystick.native import core

SHORT = "import hockeystick as hs; from hockeystick.installation import in_short; about = hs.about(); "


def said(code: str, **environment: str) -> str:
    env = {**{name: value for name, value in os.environ.items() if name != "HOCKEYSTICK_PURE"}, **environment}
    return subprocess.run([sys.executable, "-c", SHORT + code], env=env, capture_output=True, text=True, check=True).stdout


def test_versions_and_platform() -> None:
    about = hs.about()
    assert about.version == hs.__version__
    assert about.folder == str(Path(hs.__file__).parent)
    assert about.python.split()[1] == ".".join(map(str, sys.version_info[:3]))
    assert about.packages["numpy"] == version("numpy")
    assert about.packages["scipy"] == version("scipy")
    assert json.loads(about.to_json()) == about.to_dict()
    text = str(about)
    assert text == repr(about)
    for part in (about.version, about.core, about.core_detail, about.python, about.platform, f"numpy {version('numpy')}"):
        assert part in text


@pytest.mark.skipif(core is None, reason="the core was not compiled: there was no C compiler")
def test_the_compiled_core_and_its_file() -> None:
    assert said("print(about.core, about.core_detail == hs.native.core.__file__)").split() == ["compiled", "True"]
    assert said("print(in_short())") == f"{hs.__version__} (compiled core)\n"


def test_the_core_switched_off() -> None:
    assert said("print(about.core, in_short())", HOCKEYSTICK_PURE="1").startswith(
        f"switched off {hs.__version__} (core switched off"
    )


@pytest.mark.parametrize(
    ("error", "state"),
    [("ModuleNotFoundError('no such file')", "not compiled"), ("ImportError('symbol log1p is missing')", "broken")],
)
def test_the_core_that_does_not_load(error: str, state: str) -> None:
    """As if there were none, or one for another machine: answers come from NumPy, and the reason is told."""
    code = f"""
import sys, importlib.abc
class Refused(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path, target=None):
        if name == "hockeystick.native.core":
            raise {error}
sys.meta_path.insert(0, Refused())
import hockeystick as hs
print(hs.Gaussian(sigma=2.0).epsilon(1e-5) > 0.0, hs.about().core, hs.about().core_detail)
"""
    env = {name: value for name, value in os.environ.items() if name != "HOCKEYSTICK_PURE"}
    done = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, check=True).stdout
    assert done.startswith(f"True {state} ")
    assert ("symbol log1p is missing" in done) == (state == "broken")
