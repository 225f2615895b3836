"""The sources of the compiled core: what they include, how long they are, and that a strict compiler has nothing to say."""

import re
import shutil
import subprocess
import sysconfig
from pathlib import Path

import pytest

from hockeystick import native

FOLDER = Path(native.__file__).parent
SOURCES, HEADERS = sorted(FOLDER.glob("*.c")), sorted(FOLDER.glob("*.h"))
KERNELS = [path for path in SOURCES + HEADERS if not path.name.startswith("bindings")]
COMPILER = shutil.which("gcc") or shutil.which("clang")
MOST_LINES, MOST_IN_FUNCTION = 350, 79

pytestmark = pytest.mark.skipif(not SOURCES, reason="the sources in C are not installed")


def functions(text: str) -> dict[str, int]:
    """How many lines each definition has, from its first line to the brace that closes it."""
    found, start, name = {}, 0, ""
    for place, line in enumerate(text.splitlines()):
        if re.match(r"[A-Za-z]", line) and "(" in line and not line.startswith(("typedef", "#")):
            start, name = place, line.partition("(")[0].split()[-1].lstrip("*")
            if name == "FUNCTION_OF_PYTHON":
                name = line[line.index("(") + 1 : line.index(")")]
        if line == "}" and name:
            found[name], name = place - start + 1, ""
    return found


def test_the_counting_of_lines() -> None:
    assert functions("static int one(int a,\n        int b) {\n    return a;\n}\nint two(void);\nint three(void) {\n}\n") == {
        "one": 4,
        "three": 2,
    }


@pytest.mark.parametrize("path", SOURCES + HEADERS, ids=lambda path: path.name)
def test_files_and_functions_are_short(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert len(text.splitlines()) <= MOST_LINES
    assert {name: lines for name, lines in functions(text).items() if lines > MOST_IN_FUNCTION} == {}


def test_functions_are_found() -> None:
    found = [name for path in SOURCES for name in functions(path.read_text(encoding="utf-8"))]
    assert len(found) > 200
    assert {"hs_exps", "PyInit_core", "py_epsilons", "hs_bigjump_excess"} <= set(found)


@pytest.mark.parametrize("path", KERNELS, ids=lambda path: path.name)
def test_kernels_know_nothing_of_python(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert not re.search(r"Python\.h|bindings\.h|\bPy[A-Z_]\w+", text)


def test_every_header_stands_alone() -> None:
    """It includes what it needs, and is guarded by its name."""
    for path in HEADERS:
        text = path.read_text(encoding="utf-8")
        guard = f"HOCKEYSTICK_{path.stem.upper()}_H"
        assert f"#ifndef {guard}\n#define {guard}\n" in text
        assert text.endswith("#endif\n")


def test_shared_functions_have_the_prefix() -> None:
    """What is not static: a function of another library of the same name is never meant."""
    for path in SOURCES:
        text = path.read_text(encoding="utf-8")
        shared = re.findall(
            r"^(?!static|typedef|return|else|#|enum|struct|extern)(?:\w[\w ]*?[ *]+)(\w+)\([^;{]*\{", text, re.MULTILINE
        )
        others = {name for name in shared if not name.startswith("hs_")} - {"PyInit_core", "FUNCTION_OF_PYTHON"}
        assert {name for name in others if not re.search(rf"\bstatic [^\n]*\b{name}\(", text)} == set(), path.name


@pytest.mark.skipif(COMPILER is None, reason="there is no gcc or clang")
def test_no_warnings(tmp_path: Path) -> None:
    """Of a strict compiler, for sources and for headers by themselves."""
    strict = ["-Wall", "-Wextra", "-Wshadow", "-Wconversion", "-Werror", "-std=gnu11", "-ffp-contract=off", "-fsyntax-only"]
    includes = [f"-I{sysconfig.get_path('include')}", f"-I{FOLDER}"]
    if not (Path(sysconfig.get_path("include")) / "Python.h").exists():
        pytest.skip("Python's headers are not installed")
    alone = []
    for path in HEADERS:
        one = tmp_path / f"{path.stem}_alone.c"
        one.write_text(f'#include "{path.name}"\nextern int nothing;\n', encoding="utf-8")
        alone.append(str(one))
    command = [str(COMPILER), *strict, *includes, *map(str, SOURCES), *alone]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""


@pytest.mark.skipif(COMPILER is None, reason="there is no gcc or clang")
@pytest.mark.parametrize("flag", ["-ffast-math", "-ffinite-math-only"])
def test_fast_math_is_refused(flag: str) -> None:
    command = [str(COMPILER), flag, "-fsyntax-only", str(FOLDER / "elementary.c")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert "no -ffast-math" in done.stderr
