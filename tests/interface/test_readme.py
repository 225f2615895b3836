"""Every code block and every figure of the README that the library can compute is computed again."""

import doctest
import math
import re
import subprocess
import sys

import pytest

import hockeystick as hs
from places import ROOT

README = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(\w*)\n(.*?)^```$", README, flags=re.MULTILINE | re.DOTALL)


def blocks(language: str) -> list[str]:
    return [text for found, text in BLOCKS if found == language]


def table() -> list[list[str]]:
    """The cells of the table of peers, without its head."""
    rows = [line for line in README.partition("## Why another accountant")[2].splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in row.strip("|").split("|")] for row in rows[2:]]


def test_every_block_is_of_a_kind_that_is_executed():
    assert {language for language, _ in BLOCKS} == {"sh", "text", "python", "console"}
    assert blocks("sh") == ["make demo\nmake test\n"]  # make test is what runs this test
    assert len(blocks("text")) == 1  # what make demo prints
    assert all(block.startswith(">>> ") for block in blocks("python"))


def test_python_sessions():
    """All of them, in order, as one session."""
    session = "\n".join(blocks("python"))
    test = doctest.DocTestParser().get_doctest(session, {}, "README.md", "README.md", 0)
    report: list[str] = []
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
    runner.run(test, out=report.append)
    assert runner.summarize(verbose=False).failed == 0, "".join(report)
    assert len(test.examples) > 20


def test_the_commands_answer(tmp_path, monkeypatch, capsys):
    import shlex

    from hockeystick.cli import main

    monkeypatch.chdir(tmp_path)
    for line in "".join(blocks("console")).splitlines():
        assert line.startswith("$ hockeystick ")
        with pytest.raises(SystemExit) as done:
            main(shlex.split(line)[2:])
        assert done.value.code == 0, capsys.readouterr().err


def test_demo_prints_what_the_readme_shows():
    done = subprocess.run([sys.executable, str(ROOT / "examples" / "demo.py")], capture_output=True, text=True, check=True)
    printed = done.stdout.splitlines()
    assert len([line for line in printed if line.startswith("  time ")]) == 1
    assert [line for line in printed if not line.startswith("  time ")] == blocks("text")[0].splitlines()


def test_make_demo_runs_that_script():
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for target in ("demo", "test", "bench"):
        assert re.search(rf"^{target}:", makefile, flags=re.MULTILINE)
    assert "examples/demo.py" in makefile


@pytest.mark.parametrize("row", table(), ids=lambda row: f"{row[6]} {row[3]}")
def test_table_of_peers(row):
    rate, sigma, steps, delta, truth, reported, _, verdict = row
    run = hs.Gaussian(sigma=float(sigma)).poisson(rate=float(rate)) * float(steps)
    bounds = run.epsilon_bounds(delta=float(delta))
    digits = len(truth.partition(".")[2])
    assert f"{bounds.lower:.{digits}f}" == truth == f"{bounds.upper:.{digits}f}"
    places = len(reported.partition(".")[2])
    half = 0.0 if math.isinf(float(reported)) else 0.5 * 10.0**-places  # the report may have been rounded
    if verdict == "below the truth":
        assert float(reported) + half < bounds.lower
    else:
        assert verdict == "above the truth"
        assert float(reported) - half > bounds.upper


def test_links_lead_somewhere():
    for target in re.findall(r"\]\(([^)]+)\)", README):
        assert (ROOT / target).exists(), target
    assert (ROOT / "src/hockeystick/numerics/rounding.py").exists()


def test_version_has_an_entry_in_the_changelog():
    assert f"## {hs.__version__}" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
