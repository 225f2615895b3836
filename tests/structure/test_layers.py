"""A module imports from its own layer and from those above it, and from nothing else of the library."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from places import ROOT

PACKAGE = ROOT / "src" / "hockeystick"

LAYERS = (
    ("errors", "bounds", "neighbours", "checks", "later"),
    ("native",),
    ("numerics",),
    ("draws",),
    ("conversion",),
    ("loss",),
    ("mechanism",),
    ("sampling",),
    ("portable",),
    ("planning", "recipes"),
    ("filters",),
    ("report", "installation"),
    ("ledger",),
    ("__init__",),
    ("interop",),
    ("cli", "__main__"),
)

# Within `loss`: the same rule, room by room.
ROOMS = (
    "tolerance",
    "protocol",
    "bins",
    "invert",
    "pairs",
    "sampled",
    "own",
    "composed",
    "allocated",
    "allocated_steps",
    "bounds",
    "contour",
    "lattice",
    "smoothing",
    "enumeration",
    "bigjump",
    "engines",
    "answers",
)
MOST_MODULES = 16  # in a folder

# Convenience methods that import, inside themselves, what stands below them (for type checkers also at the top).
EXCEPTIONS = {
    ("mechanism.samplers", "sampling.poisson"),  # Samplers.poisson
    ("mechanism.samplers", "sampling.truncated"),  # Samplers.truncated_poisson
    ("mechanism.samplers", "sampling.fixed_size"),  # Samplers.without_replacement, Samplers.with_replacement
    ("mechanism.samplers", "sampling.allocation"),  # Samplers.allocated
    ("mechanism.samplers", "sampling.banded"),  # Samplers.banded
    ("mechanism.samplers", "sampling.full_pass"),  # Samplers.full_pass
    ("mechanism.samplers", "sampling.group"),  # Samplers.group
    ("mechanism.release", "portable"),  # Release.to_json
    ("mechanism.release", "report.report"),  # Release.report
    ("mechanism.release", "report.about"),  # its argument
    ("mechanism.questions.asked", "report.plots"),  # Shown.plot
    ("mechanism.questions.asked", "report.page"),  # Shown._repr_html_
    ("bounds", "report.page"),  # Bounds._repr_html_
    ("planning.poisson_claim", "report.numbers"),  # likewise
    ("bounds", "report.numbers"),  # its text, rounded outwards
    ("mechanism.questions.law", "planning.concentrated"),  # LawQuestions.rho
    ("mechanism.questions.privacy_loss", "report.law"),  # PrivacyLoss.plot
    ("report.answers", "__init__"),  # the version
    ("installation", "__init__"),  # the version
}


class Import(NamedTuple):
    importer: str  # "loss.engines.driver"
    imported: str  # "numerics.roots" within the package, else "scipy.special"
    own: bool  # from this package
    deferred: bool  # inside a function, or for type checkers only


def layer(module: str) -> int:
    first = module.partition(".")[0]
    return next(place for place, names in enumerate(LAYERS) if first in names)


def modules() -> dict[str, Path]:
    """Dotted names within the package; a subpackage goes by its folder's name, the package itself by __init__."""
    found = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        parts = path.relative_to(PACKAGE).with_suffix("").parts
        found[".".join(parts[:-1]) if len(parts) > 1 and parts[-1] == "__init__" else ".".join(parts)] = path
    return found


MODULES = modules()


def _walk(node: ast.AST, deferred: bool = False) -> Iterator[tuple[ast.Import | ast.ImportFrom, bool]]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Import | ast.ImportFrom):
            yield child, deferred
        hidden = isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) or (
            isinstance(child, ast.If) and ast.unparse(child.test) == "TYPE_CHECKING"
        )
        yield from _walk(child, deferred or hidden)


def imports(module: str) -> Iterator[Import]:
    path = MODULES[module]
    package = path.relative_to(PACKAGE).parent.parts
    for node, deferred in _walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            for alias in node.names:
                own = alias.name.partition(".")[0] == "hockeystick"
                imported = alias.name.removeprefix("hockeystick").removeprefix(".") or "__init__" if own else alias.name
                yield Import(module, imported, own, deferred)
            continue
        source = node.module or ""
        if node.level == 0 and source.partition(".")[0] != "hockeystick":
            yield Import(module, source, False, deferred)
            continue
        if node.level == 0:
            base = source.split(".")[1:]
        else:
            base = [*package[: len(package) - (node.level - 1)], *(source.split(".") if source else [])]
        for alias in node.names:  # `from ..loss import answer` names a module, `from .errors import BadValue` does not
            deeper = ".".join([*base, alias.name])
            yield Import(module, deeper if deeper in MODULES else ".".join(base) or "__init__", True, deferred)


ALL = [one for module in MODULES for one in imports(module)]
OWN = [one for one in ALL if one.own]


def test_every_module_has_a_layer():
    assert len(MODULES) > 20
    assert all(layer(module) >= 0 for module in MODULES)
    listed = [name for names in LAYERS for name in names]
    assert sorted(listed) == sorted({module.partition(".")[0] for module in MODULES})


def test_imports_are_found():
    assert Import("loss.engines.first", "numerics.roots", True, False) in OWN
    assert Import("mechanism.many", "loss.answers.batch", True, False) in OWN
    assert Import("mechanism.release", "portable", True, True) in OWN
    assert all(one.imported in MODULES for one in OWN)


def test_imports_go_one_way():
    wrong = {one for one in OWN if layer(one.imported) > layer(one.importer)}
    assert {(one.importer, one.imported) for one in wrong if not one.deferred} == set()
    assert {(one.importer, one.imported) for one in wrong} == EXCEPTIONS  # no more, and none that has gone


def room(module: str) -> int:
    return ROOMS.index(module.split(".")[1])


def test_imports_within_loss_go_one_way():
    inner = [one for one in OWN if one.importer.startswith("loss.") and one.imported.startswith("loss.")]
    assert len(inner) > 200
    assert {(one.importer, one.imported) for one in inner if room(one.imported) > room(one.importer)} == set()


def test_the_rooms_are_those_of_the_folder():
    assert sorted({module.split(".")[1] for module in MODULES if module.startswith("loss.")}) == sorted(ROOMS)


def test_no_folder_is_crowded():
    folders = [path for path in PACKAGE.rglob("*") if path.is_dir()]
    modules = {folder.name: sum(path.name != "__init__.py" for path in folder.glob("*.py")) for folder in folders}
    assert {name: count for name, count in modules.items() if count > MOST_MODULES} == {}


def test_numerics_imports_only_numerics():
    assert {one.imported.partition(".")[0] for one in OWN if one.importer.startswith("numerics")} <= {"numerics"}


def test_no_circle_at_the_top():
    """Module-level imports form no cycle, within a layer neither."""
    above = {m: {o.imported for o in OWN if o.importer == m and not o.deferred and o.imported != m} for m in MODULES}
    left = set(MODULES)
    while left:
        free = {module for module in left if not above[module] & left}
        assert free, f"a cycle among {sorted(left)}"
        left -= free


def test_scipy_is_imported_inside_functions_only():
    scipy = [one for one in ALL if not one.own and one.imported.partition(".")[0] == "scipy"]
    assert scipy
    assert all(one.deferred for one in scipy)


def test_a_description_needs_no_numpy():
    """Nor does a question that the compiled core answers whole (`engines/compiled.py`): what they import, on and on."""
    reached, left = set(), {"__init__", "mechanism.gaussian", "mechanism.training", "sampling.poisson"}
    while left:
        reached |= left
        left = {one.imported for one in OWN if one.importer in left and not one.deferred} - reached
    assert "loss.engines.compiled" in reached
    assert "numpy" not in {one.imported.partition(".")[0] for one in ALL if one.importer in reached and not one.deferred}


def test_matplotlib_is_imported_inside_functions_of_the_report_only():
    drawing = [one for one in ALL if not one.own and one.imported.partition(".")[0] == "matplotlib"]
    assert drawing
    assert all(one.deferred and one.importer.startswith("report") for one in drawing)


def test_nothing_but_the_declared_dependencies():
    import sys

    outside = {one.imported.partition(".")[0] for one in ALL if not one.own and not one.importer.startswith("interop")}
    assert outside - set(sys.stdlib_module_names) == {
        *("numpy", "scipy", "matplotlib", "typer", "rich"),
        *("sqlalchemy", "alembic"),
    }


def test_a_peer_is_imported_inside_functions_or_by_the_module_of_its_name():
    peers = {"opacus", "dp_accounting", "prv_accountant", "autodp", "riskcal"}
    found = [one for one in ALL if not one.own and one.imported.partition(".")[0] in peers]
    assert {one.imported.partition(".")[0] for one in found} == peers
    assert all(one.importer.startswith("interop") for one in found)
    assert all(one.deferred or one.importer.startswith(f"interop.{one.imported.partition('.')[0]}") for one in found)


def test_typer_and_rich_are_extras_of_the_command():
    """And rich draws a progress bar where it is there."""
    found = {(one.importer, one.imported.partition(".")[0]) for one in ALL if not one.own}
    assert {importer.partition(".")[0] for importer, name in found if name == "typer"} == {"cli"}
    assert {importer for importer, name in found if name == "rich" and not importer.startswith("cli")} == {"planning.sweep"}
    assert all(one.deferred for one in ALL if one.imported.partition(".")[0] == "rich" and one.importer == "planning.sweep")


def test_sqlalchemy_is_an_extra_of_the_ledger():
    """Its door needs neither: without the extra, hs.Ledger says what to install."""
    found = {one.importer for one in ALL if not one.own and one.imported.partition(".")[0] in ("sqlalchemy", "alembic")}
    assert found
    assert all(one.startswith("ledger.") for one in found)
    reached, left = set(), {"ledger.ledger"}
    while left:
        reached |= left
        left = {one.imported for one in OWN if one.importer in left and not one.deferred} - reached
    assert not reached & found


def test_nothing_imports_interop_unless_asked():
    assert not [one for one in OWN if layer(one.imported) == layer("interop") and not one.importer.startswith(("interop", "cli"))]


def test_matplotlib_is_an_extra_of_the_figures():
    drawn = [one for one in ALL if not one.own and one.imported.partition(".")[0] == "matplotlib"]
    assert drawn
    assert all(one.deferred and one.importer.startswith("report.") for one in drawn)


def test_the_architecture_page_prints_these_layers():
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    (block,) = re.findall(r"^```layers\n(.*?)^```$", page, flags=re.MULTILINE | re.DOTALL)
    printed = tuple(tuple(re.split(r"\s{2,}", line)[0].split(", ")) for line in block.splitlines())
    assert printed == LAYERS
    for names in LAYERS:
        for name in names:
            assert (PACKAGE / name).is_dir() or (PACKAGE / f"{name}.py").is_file()
