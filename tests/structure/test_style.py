"""Promises about the text of the source: how long, how branched, how typed, in which words, and where its constants stand."""

import ast
import io
import re
import tokenize
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from places import ROOT

SOURCE, DOCS = ROOT / "src" / "hockeystick", ROOT / "docs"
MODULES = sorted(SOURCE.rglob("*.py"))
OF_LOSS = sorted((SOURCE / "loss").rglob("*.py"))
MOST_LINES, MOST_COMPLEX = 350, 12
DOOR = SOURCE / "loss" / "__init__.py"  # names imported on first use, PEP 562

# Words that only this library had for these things, and those of the field
PRIVATE = {
    r"smear\w*": "Gaussian smoothing",
    r"told": "known, answered, proved",
    r"marked steps?": "large jumps",
    r"parted": "split",
    r"laid|lays the nodes": "placed, evaluated",
    r"counted apart|apart from each other in closed form": "split off (single big jump)",
    r"stick(?:s|ing)? out": "largest loss",
    r"stand-ins?|stands? in where": "fallback engines",
    r"folded": "symmetrised",
    r"half[- ]line slices?": "symmetric slice",
}
IN_ENGLISH = ("can be told apart", "cannot be told apart", "accountant is told", "accountants are told", "told truthfully")

# Constants of loss/ that stand in an inequality, or say how something is computed; each is explained where it stands.  Tuning
# belongs into `TUNING`, tolerances into loss/tolerance.py, assumptions into numerics/rounding.py.
BESIDE_A_PROOF = {
    "answers/gdp_regret": {"_LAST"},
    "bigjump/cells": {"SLACK"},
    "bigjump/conditional": {"_SLACK"},
    "bigjump/conditional_table": {"_FEW_DIGITS", "_UNDERFLOW", "_SLACK", "NONE"},
    "bigjump/guess": {"LEAST_LOG_DELTA"},
    "bigjump/identity": {"_LOG_SMALLEST", "_MAX_EPSILON"},
    "bigjump/split": {"_MAX_MODULUS"},
    "bigjump/thresholds": {"DIGITS", "_HUGE"},
    "bigjump/transform": {"_LOG_LARGE", "_LARGE_SUM"},
    "bounds/elementary": {"_FEW_DIGITS"},
    "engines/compiled": {"CONTOUR", "BIG_JUMP"},
    "engines/registry": {"_ANY"},
    "enumeration/two_point": {"_MAX_LOSS"},
    "invert": {"BELOW"},
    "own/cells": {"_REACH"},
    "own/lines": {"_UNDERFLOW"},
    "own/polygon": {"BITS"},
    "own/stored": {"_BITS"},
    "own/divergences": {"_DIGITS", "_MOST_DIGITS"},
    "lattice/lattice": {"_TINY"},
    "lattice/window": {"_BLOCK_DECAY"},
    "pairs/discrete": {"_DEEP"},
    "pairs/laplace": {"_TERMS"},
    "pairs/laplace_closed": {"MOST", "_TERMS"},
    "pairs/profile": {"_NOISE", "_LARGEST_EPSILON", "_SMALLEST", "_FAINT"},
    "pairs/public_mixture": {"_FAINT"},
    "pairs/shuffled": {"_DEEP"},
    "pairs/symmetric_slice": {"SERIES"},
    "sampled/gaussian_mixture": {"_FAR", "_STEPS"},
    "sampled/gaussian_slice": {"_GENTLE", "_TERMS", "_CUTS", "FAINT"},
    "sampled/laplace": {"_ORDER"},
    "sampled/quadrature": {"CAP"},
    "sampled/symmetric_quadrature": {"POINTS", "_PARTS", "_ANGLE"},
}


def of(path: Path) -> str:
    return path.relative_to(SOURCE).as_posix()


def test_no_file_is_long():
    assert len(MODULES) > 150
    assert {
        of(path): lines for path in MODULES if (lines := len(path.read_text(encoding="utf-8").splitlines())) > MOST_LINES
    } == {}


def test_the_linter_refuses_branched_functions_and_nothing_in_the_source_is_excepted():
    lint = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["ruff"]["lint"]
    assert "C901" in lint["select"]
    assert lint["mccabe"]["max-complexity"] == MOST_COMPLEX
    assert not [place for place in lint["per-file-ignores"] if place.startswith("src")]
    assert [of(path) for path in MODULES if re.search(r"noqa[^\n]*C901|ruff: *noqa", path.read_text(encoding="utf-8"))] == []


@pytest.mark.parametrize("path", OF_LOSS, ids=of)
def test_what_a_loss_offers_is_a_protocol(path):
    """mypy checks it: nothing is looked for by name, nothing is forwarded, nothing passes as something else."""
    text = path.read_text(encoding="utf-8")
    assert "type: ignore" not in text
    names = {node.id for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Name)}
    names |= {node.name for node in ast.walk(ast.parse(text)) if isinstance(node, ast.FunctionDef)}
    looked = names & {"hasattr", "getattr", "setattr", "__getattr__", "__getattribute__", "cast"}
    assert looked == ({"__getattr__"} if path == DOOR else set())


def prose(path: Path) -> str:
    """The comments and docstrings of a module, or a page without its code."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".md":
        return re.sub(r"^```.*?^```$|`[^`\n]*`", "", text, flags=re.MULTILINE | re.DOTALL)
    if path.suffix in (".c", ".h"):
        return "\n".join(re.findall(r"/\*.*?\*/", text, re.DOTALL))
    found = [
        one.string
        for one in tokenize.generate_tokens(io.StringIO(text).readline)
        if one.type in (tokenize.COMMENT, tokenize.STRING)
    ]
    return re.sub(r"`[^`\n]*`", "", "\n".join(found))


def private(text: str) -> Iterator[str]:
    text = re.sub(r"\s+", " ", text)
    for phrase in IN_ENGLISH:
        text = text.replace(phrase, "")
    for words in PRIVATE:
        for match in re.finditer(rf"\b(?:{words})\b", text, re.IGNORECASE):
            yield text[max(0, match.start() - 40) : match.end() + 40]


@pytest.mark.parametrize("folder", sorted(path.name for path in SOURCE.iterdir() if path.is_dir() and path.name != "__pycache__"))
def test_code_speaks_the_words_of_the_field(folder):
    paths = [path for path in sorted((SOURCE / folder).rglob("*")) if path.suffix in (".py", ".c", ".h")]
    assert {of(path): found for path in paths if (found := list(private(prose(path))))} == {}


def test_documents_speak_the_words_of_the_field():
    paths = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted(DOCS.rglob("*.md"))]
    assert {path.name: found for path in paths if (found := list(private(prose(path))))} == {}
    assert list(private("the steps that stick out are counted apart"))


def constants(path: Path) -> set[str]:
    """The numbers that a module names at its top, as `NAME = 1e-9` or several at once."""
    found = set()
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Assign):
            values = node.value.elts if isinstance(node.value, ast.Tuple) else [node.value]
            numbers = [ast.literal_eval(one) for one in values if isinstance(one, ast.Constant | ast.UnaryOp) and _plain(one)]
            if numbers and all(isinstance(one, int | float) and not isinstance(one, bool) for one in numbers):
                found |= {name.id for target in node.targets for name in ast.walk(target) if isinstance(name, ast.Name)}
    return found


def _plain(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) or (isinstance(node, ast.UnaryOp) and isinstance(node.operand, ast.Constant))


def test_constants_are_of_three_kinds():
    """What is at the top of a module of loss/ is no tuning: that stands in its `TUNING`, with its unit and reason."""
    named = {of(path).removeprefix("loss/").removesuffix(".py"): constants(path) for path in OF_LOSS}
    found = {module: names for module, names in named.items() if names and module != "tolerance"}
    assert found == BESIDE_A_PROOF


def test_every_tuning_says_what_it_trades():
    """Each number of a `Tuning` has its unit and reason below it."""
    tuned = 0
    for path in OF_LOSS:
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ClassDef) and node.name == "Tuning":
                assert ast.get_docstring(node), of(path)
                numbers = [isinstance(one, ast.AnnAssign) for one in node.body[1:]]
                assert numbers == [True, False] * (len(numbers) // 2), of(path)
                tuned += 1
    assert tuned > 30
