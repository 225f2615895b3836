"""The tests mirror the source: every module of loss/ and numerics/ has a test file of its name, in its place, that imports it."""

import ast

import pytest

from places import ROOT

SOURCE, UNIT = ROOT / "src" / "hockeystick", ROOT / "tests" / "unit"
MODULES = sorted(
    str(path.relative_to(SOURCE).with_suffix(""))
    for room in ("loss", "numerics")
    for path in (SOURCE / room).rglob("*.py")
    if path.name != "__init__.py"
)


def imported(path) -> set[str]:
    """The modules of the library that a test file imports, as they stand in the tree."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module:
            found |= {node.module, *(f"{node.module}.{one.name}" for one in node.names)}
        elif isinstance(node, ast.Import):
            found |= {one.name for one in node.names}
    return {name.removeprefix("hockeystick.").replace(".", "/") for name in found if name.startswith("hockeystick.")}


@pytest.mark.parametrize("module", MODULES)
def test_every_module_has_a_test_file_that_imports_it(module):
    room, _, name = module.rpartition("/")
    place = UNIT / room / f"test_{name}.py"
    assert place.is_file(), f"{place.relative_to(ROOT)} is missing: {module} has no test"
    assert module in imported(place)


def test_every_test_file_is_in_a_room_and_every_room_of_unit_is_one_of_the_source():
    assert [path.name for path in (ROOT / "tests").glob("test_*.py")] == []
    rooms = {path.parent.relative_to(UNIT) for path in UNIT.rglob("test_*.py")}
    assert [str(room) for room in rooms if not (SOURCE / room).is_dir()] == []
