"""What the installation promises of the compiled core: the flags of its arithmetic, one file for every Python, one symbol."""

import re
import tomllib

from hockeystick.errors import remedy
from places import ROOT

CMAKE = (ROOT / "CMakeLists.txt").read_text(encoding="utf-8")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
BUILD = PROJECT["tool"]["scikit-build"]
NATIVE = ROOT / "src" / "hockeystick" / "native"


def test_flags_keep_the_arithmetic() -> None:
    """Doubles rounded one by one, in the order of the sources."""
    flags = [flag for line in re.findall(r"target_compile_options\(core PRIVATE ([^)]*)\)", CMAKE) for flag in line.split()]
    assert {"-ffp-contract=off", "/fp:strict"} <= set(flags)
    allowed = {"-O3", "-ffp-contract=off", "-fno-math-errno", "/O2", "/fp:strict"}
    assert set(flags) == allowed
    assert "fast" not in CMAKE


def test_one_symbol_is_exported_everywhere() -> None:
    assert "--version-script=${NATIVE}/exported.map" in CMAKE
    assert "-exported_symbol,_PyInit_core" in CMAKE
    assert "C_VISIBILITY_PRESET hidden" in CMAKE
    assert re.findall(r"\w+(?=;)", (NATIVE / "exported.map").read_text(encoding="utf-8")) == ["PyInit_core"]


def test_one_wheel_for_every_python() -> None:
    """The limited interface of the oldest Python that is allowed, in the sources, in the wheel and in the metadata."""
    limited = re.search(r"define Py_LIMITED_API 0x(..)(..)0000", (NATIVE / "bindings.h").read_text(encoding="utf-8"))
    assert limited is not None
    major, minor = (int(part, 16) for part in limited.groups())
    assert BUILD["wheel"]["py-api"] == f"cp{major}{minor}"
    assert PROJECT["project"]["requires-python"] == f">={major}.{minor}"


def test_without_a_compiler_the_wheel_is_pure() -> None:
    failed = [one for one in BUILD["overrides"] if one["if"].get("failed")]
    assert {one["if"]["state"]: one for one in failed} == {
        "^editable": {"if": {"failed": True, "state": "^editable"}, "cmake": {"define": {"HOCKEYSTICK_CORE": "OFF"}}},
        "wheel$": {"if": {"failed": True, "state": "wheel$"}, "wheel": {"cmake": False, "py-api": "py3"}},
    }
    assert "option(HOCKEYSTICK_CORE" in CMAKE


def test_an_editable_installation_leaves_imports_alone() -> None:
    """A path file, so that PYTHONPATH still chooses the work tree, and its tests test its own sources."""
    editable = next(one for one in BUILD["overrides"] if one["if"] == {"state": "^editable"})
    assert editable["wheel"]["packages"] == []
    assert "hockeystick.pth" in CMAKE


def test_what_is_missing_is_told_with_the_packages_of_its_extra() -> None:
    """The library is in no index: what installs an extra names its packages."""
    extras = PROJECT["project"]["optional-dependencies"]
    for extra in ("cli", "dp_accounting", "opacus", "plot"):
        assert remedy(extra) == f"pip install {' '.join(map(repr, extras[extra]))}"


def test_nobody_is_sent_to_an_index() -> None:
    """`pip install hockeystick` would find nothing, or something else."""
    told = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "examples").glob("*.py"), *(ROOT / "src").rglob("*.py")]
    assert [path.name for path in told if re.search(r"pip install '?hockeystick", path.read_text(encoding="utf-8"))] == []
