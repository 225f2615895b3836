"""The tests mirror the source: every module of loss/ and numerics/ is imported by a test file of its name, or by a named one."""

import ast

import pytest

from places import ROOT

SOURCE, UNIT = ROOT / "src" / "hockeystick", ROOT / "tests" / "unit"
ELSEWHERE = {  # modules that are tested along with another one
    "loss/engines/bounded_part": "loss/bigjump/test_split",
    "loss/engines/closed": "loss/engines/test_registry",
    "loss/engines/engine": "loss/engines/test_driver",
    "loss/engines/fallbacks": "loss/engines/test_registry",
    "loss/engines/first": "loss/engines/test_registry",
    "loss/engines/last": "loss/engines/test_registry",
    "loss/answers/gdp_tail": "loss/answers/test_gdp",
    "loss/bigjump/cells": "loss/bigjump/test_split",
    "loss/bigjump/coarse": "loss/bigjump/test_split",
    "loss/bigjump/guess": "loss/bigjump/test_split",
    "loss/bigjump/path": "native/test_native",
    "loss/bigjump/thresholds": "loss/bigjump/test_split",
    "loss/bigjump/transform": "loss/bigjump/test_split",
    "loss/contour/contour": "loss/answers/test_many",
    "loss/contour/vectorised": "loss/answers/test_many",
    "loss/lattice/plan": "loss/lattice/test_lattice",
    "loss/lattice/refine": "loss/lattice/test_lattice",
    "loss/pairs/gaussian": "loss/test_bins",
    "loss/pairs/laplace": "loss/pairs/test_symmetric_slice",
    "loss/protocol": "loss/bigjump/test_conditional_table",
    "loss/sampled/gaussian": "native/test_native",
    "loss/sampled/gaussian_mixture": "loss/sampled/test_replace_one",
    "loss/sampled/gaussian_slice": "native/test_native",
    "numerics/binomial": "conversion/test_optimal_composition",
    "numerics/convex_order": "loss/pairs/test_shuffled",
    "numerics/meet_in_middle": "conversion/test_optimal_composition",
    "numerics/two_point_smoothed": "conversion/test_optimal_composition",
    "numerics/two_point_sums": "conversion/test_optimal_composition",
}
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
    place = UNIT / f"{ELSEWHERE.get(module, f'{room}/test_{name}')}.py"
    assert place.is_file(), f"{place.relative_to(ROOT)} is missing: {module} has no test"
    assert module in imported(place)


def test_the_lists_name_modules_that_are_there():
    assert set(ELSEWHERE) <= set(MODULES)
    for module in ELSEWHERE:  # one place for each
        room, _, name = module.rpartition("/")
        assert not (UNIT / room / f"test_{name}.py").is_file()


def test_every_test_file_is_in_a_room_and_every_room_of_unit_is_one_of_the_source():
    assert [path.name for path in (ROOT / "tests").glob("test_*.py")] == []
    rooms = {path.parent.relative_to(UNIT) for path in UNIT.rglob("test_*.py")}
    assert [str(room) for room in rooms if not (SOURCE / room).is_dir()] == []
