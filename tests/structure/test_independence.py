"""An oracle shares no code with what it judges: by the text of the oracles, no name of theirs is imported from the library."""

import ast

import pytest

from places import ROOT

WHOLE = (
    "tests/oracle.py",
    "tests/exact.py",
    "tests/balls.py",
    "tests/laplace_sum.py",
    "tests/allocation_lattice.py",
    "tests/allocation_laplace.py",
    "tests/truncated_batches.py",
)
PARTLY = {  # these also draw inputs and ask the library; what tells a truth does not
    "scripts/closed.py": ("tail", "gaussian_delta", "sampled_delta", "least_cumulant", "_quantile"),
    "scripts/truth.py": ("parts",),
    "scripts/truth_all.py": ("step", "Truth", "exact_infinite", "best_order", "optimal_delta"),
    "scripts/truth_mu.py": ("Exact", "line"),
    "scripts/truth_sparse.py": ("single", "log_delta", "log_delta_beside", "Cut"),
}
OF_THE_LIBRARY = ("hockeystick", "bench", "samples", "twins")  # or what imports it
NOT_CALLED = ("import_module", "__import__", "eval", "exec", "resolve_name")


def imports(tree: ast.AST) -> dict[str, str]:
    """The names bound by imports anywhere within, and the module each comes from."""
    found = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {(one.asname or one.name).partition(".")[0]: one.name for one in node.names}
        elif isinstance(node, ast.ImportFrom):
            found |= {one.asname or one.name: "." * node.level + (node.module or "") for one in node.names}
    return found


def ours(module: str) -> bool:
    return module.startswith(".") or module.partition(".")[0] in OF_THE_LIBRARY


def names(tree: ast.AST) -> set[str]:
    return {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}


def used(definition: ast.AST) -> set[str]:
    """Names that it takes from around it: those that it does not bind itself."""
    bound = {node.arg for node in ast.walk(definition) if isinstance(node, ast.arg)}
    bound |= {node.id for node in ast.walk(definition) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    return names(definition) - bound


def definitions(tree: ast.Module) -> dict[str, ast.AST]:
    """What stands at the top of a module, by name."""
    found: dict[str, ast.AST] = {}
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            found[node.name] = node
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                found |= dict.fromkeys(names(target), node)
    return found


def reached(tree: ast.Module, roots: tuple[str, ...]) -> dict[str, ast.AST]:
    """The definitions that these need, and that those need."""
    known, found, left = definitions(tree), {}, list(roots)
    while left:
        name = left.pop()
        if name not in found:
            found[name] = known[name]
            left += [other for other in used(known[name]) if other in known]
    return found


def modules_of_tests(tree: ast.AST) -> set[str]:
    return {module for module in imports(tree).values() if (ROOT / "tests" / f"{module}.py").is_file()}


@pytest.mark.parametrize("path", WHOLE)
def test_an_oracle_imports_nothing_of_the_library(path):
    tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
    assert [module for module in imports(tree).values() if ours(module)] == []
    assert names(tree).isdisjoint(NOT_CALLED)
    for module in modules_of_tests(tree):  # nor does what it imports
        assert f"tests/{module}.py" in WHOLE


@pytest.mark.parametrize("path", PARTLY)
def test_what_tells_a_truth_names_nothing_of_the_library(path):
    tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
    library = {name for name, module in imports(tree).items() if ours(module)}
    assert library, "all of it may be checked above"
    for name, definition in reached(tree, PARTLY[path]).items():
        assert names(definition).isdisjoint(library | set(NOT_CALLED)), name
        assert not any(ours(module) for module in imports(definition).values()), name
        assert {f"tests/{module}.py" for module in modules_of_tests(definition)} <= set(WHOLE), name


def test_an_import_would_be_seen():
    tree = ast.parse(
        "def f():\n    from hockeystick.loss.sampled.quadrature import SampledStep as S\n    return S\ndef g():\n    return f()"
    )
    assert [module for module in imports(tree).values() if ours(module)] == ["hockeystick.loss.sampled.quadrature"]
    assert set(reached(tree, ("g",))) == {"f", "g"}
    assert ours(imports(ast.parse("import hockeystick as hs"))["hs"])
