"""Every example of the documentation is executed."""

import doctest
import json
import os
import re
import shlex
import subprocess
import sys
import tomllib
from importlib.util import find_spec
from pathlib import Path
from pkgutil import resolve_name

import pytest

import hockeystick as hs
from hockeystick.cli import main
from hockeystick.cli.files import EXAMPLE, run_of
from places import ROOT

DOCS = ROOT / "docs"
PAGES = sorted(DOCS.rglob("*.md"))
RUN_HERE = ("index", "choose", "cookbook", "command", "accuracy", "errors")


def name(page: Path) -> str:
    return page.relative_to(DOCS).as_posix()


def blocks(page: Path, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)


PEERS = {"migrate-opacus": "opacus", "migrate-prv-accountant": "prv_accountant", "migrate-autodp": "autodp"} | {
    "migrate-riskcal": "riskcal"
}


PURE = {"mathematics/example.md": 25}  # pages on what NumPy does, without the compiled core, and examples that they have at least


def run_session(page: Path) -> int:
    """How many examples there are; all of them as one session."""
    session = "\n".join(blocks(page, "python"))
    test = doctest.DocTestParser().get_doctest(session, {}, page.name, str(page), 0)
    report: list[str] = []
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
    runner.run(test, out=report.append)
    assert runner.summarize(verbose=False).failed == 0, "".join(report)
    return len(test.examples)


@pytest.mark.filterwarnings("ignore")  # the peers' own
@pytest.mark.parametrize("page", [page for page in PAGES if name(page) not in PURE], ids=name)
def test_python_sessions(page):
    if page.stem in PEERS and find_spec(PEERS[page.stem]) is None:
        pytest.skip(f"{page.name} needs {PEERS[page.stem]}, which is not installed")
    run_session(page)


@pytest.mark.parametrize("page", PURE)
def test_python_sessions_in_numpy_alone(page):
    """A process of its own, since the choice is made when the library is imported."""
    command = f"from pathlib import Path; from test_docs import run_session; print(run_session(Path({str(DOCS / page)!r})))"
    env = {
        **os.environ,
        "HOCKEYSTICK_PURE": "1",
        "PYTHONPATH": os.pathsep.join((str(Path(__file__).parent), *filter(None, sys.path))),
    }
    done = subprocess.run([sys.executable, "-c", command], capture_output=True, text=True, env=env)
    assert done.returncode == 0, done.stdout + done.stderr
    assert int(done.stdout) >= PURE[page]


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_commands(page, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    for line in "".join(blocks(page, "console")).splitlines():
        words = shlex.split(line)
        assert words[:2] in (["$", "hockeystick"], ["$", "pip"])
        if words[1] == "hockeystick":
            with pytest.raises(SystemExit) as done:
                main(words[2:])
            assert done.value.code == 0, capsys.readouterr().err


def test_the_file_of_the_page(tmp_path):
    (text,) = blocks(ROOT / "docs" / "command.md", "toml")
    assert text == EXAMPLE  # what hockeystick compose --example prints
    (tmp_path / "run.toml").write_text(text)
    run, settings = run_of([str(tmp_path / "run.toml")])
    assert settings.pop("about").title == "Visits in 2025"
    assert settings == {"neighbours": "add-or-remove", "delta": 1e-6}
    assert run.epsilon(1e-6) > 0.0
    assert tomllib.loads(text)["delta"] == 1e-6


def test_every_page_is_in_the_navigation_and_links_lead_somewhere():
    navigation = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    for page in PAGES:
        assert f": {name(page)}\n" in navigation
        for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8")):
            assert (page.parent / target).exists(), (name(page), target)
    assert json.loads((ROOT / "docs" / "report.schema.json").read_text(encoding="utf-8"))["title"]
    assert {page.stem for page in PAGES} >= set(RUN_HERE)


def test_the_page_of_the_api_is_whole():
    """Each heading once, each name once and there, and every public name but the errors and what has a page of its own."""
    text = (ROOT / "docs" / "api.md").read_text(encoding="utf-8")
    headings, names = re.findall(r"^#+ (.*)$", text, re.MULTILINE), re.findall(r"^::: ([\w.]+)$", text, re.MULTILINE)
    assert len(headings) == len(set(headings))
    assert len(names) == len(set(names))
    there = [one for one in names if "opacus" not in one or find_spec("opacus")]  # which needs torch
    assert all(callable(found) or found.__doc__ for found in map(resolve_name, there))
    elsewhere = {name for name in hs.__all__ if isinstance(getattr(hs, name), type) and issubclass(getattr(hs, name), Exception)}
    elsewhere |= {"Bounds", "__version__"}
    assert set(hs.__all__) - elsewhere <= {name.rpartition(".")[2] for name in names}


def test_the_manual_page_is_that_of_the_command(capsys):
    with pytest.raises(SystemExit):
        main(["--man"])
    assert capsys.readouterr().out == (DOCS / "hockeystick.1").read_text(encoding="utf-8"), "make man writes it anew"
