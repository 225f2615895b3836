"""Every code block and every figure of the README that the library can compute is computed again."""

import doctest
import json
import math
import re
import subprocess
import sys

import pytest

import hockeystick as hs
from bench import page, pictures
from places import ROOT

README = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(\w*)\n(.*?)^```$", README, flags=re.MULTILINE | re.DOTALL)


def blocks(language: str) -> list[str]:
    return [text for found, text in BLOCKS if found == language]


def table(title: str) -> list[list[str]]:
    """The cells of the table under a title, without its head."""
    section = README.partition(f"\n## {title}\n")[2].partition("\n## ")[0]
    rows = [line for line in section.splitlines() if line.startswith("|")]
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


@pytest.mark.parametrize("row", table("Why another accountant"), ids=lambda row: f"{row[6]} {row[3]}")
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


SPEED = {
    "epsilon of the run above, both ends": "epsilon, DP-SGD q=256/60000 sigma=1.1 T=3510",
    "of 10,000 steps at rate 0.01, both ends": "epsilon, DP-SGD q=0.01 sigma=1.1 T=1e4",
    "their delta": "delta",
    "the delta of ten million sparse steps": "delta, sparse: q=1e-6 sigma=0.5 T=1e7",
    "a profile of 1000 epsilons": "profile of 1000 epsilons",
    "epsilon at 1000 deltas": "epsilon at 1000 deltas",
    "a point of the trade-off curve": "tradeoff(0.1)",
    "epsilon for replace-one": "epsilon, replace-one, Poisson",
    "mu up to a delta": "mu(delta=1e-5)",
    "epsilon of a million shuffled reports": "epsilon, a million shuffled reports",
}


def test_speed_is_what_was_measured():
    """The figures are those of bench/results, of which docs/accuracy.md is made; nothing is timed here."""
    measured = json.loads((ROOT / "bench" / "results" / "own.json").read_text(encoding="utf-8"))
    found = dict(table("Speed"))
    expected = {name: measured["milliseconds"][key] for name, key in SPEED.items()}
    expected["a first epsilon in a new process, import and all"] = measured["first answer"]
    expected["a configuration of a sweep"] = 1e3 / measured["configurations a second in a sweep"]
    assert {name: float(value) for name, value in found.items()} == {
        name: float(f"{value:.2g}") for name, value in expected.items()
    }
    assert measured["settings"]["median"] < 0.1  # "mostly takes less than a tenth of a millisecond"


def test_what_is_said_of_the_others_is_what_was_measured():
    results = json.loads((ROOT / "bench" / "results" / "bench.json").read_text(encoding="utf-8"))
    rows = [[cell.strip() for cell in line.strip("| ").split("|")] for line in page.summary(results).splitlines()[2:]]
    assert next(row[0] for row in rows if row[4] == "0") == "hockeystick"
    times = {kind: [row[6].removesuffix(" x") for row in rows if row[1] == page.CLASSES[kind]] for kind in ("loss", "rdp")}
    for kind, words in (("loss", "take {} to {} times as long"), ("rdp", "with one digit, {} to {} times")):
        ordered = sorted(times[kind], key=lambda one: float(one.replace(",", "")))
        assert words.format(ordered[0], ordered[-1]) in " ".join(README.split())
    assert all(float(row[5]) < 1.5 for row in rows if row[1] == page.CLASSES["rdp"])


def test_what_the_picture_shows():
    """Its alternative text says that we are above the truth, within 1e-12 of it, on the cases that are drawn."""
    results = json.loads((ROOT / "bench" / "results" / "bench.json").read_text(encoding="utf-8"))
    found = pictures.deviations(results)
    assert list(found) == list(pictures.SHOWN)
    assert "within 1e-12" in README.partition("![What")[2].partition("]")[0]
    for values in found.values():
        assert 0.0 <= values["hockeystick"] <= 1e-12
    assert sum(value < 0.0 for values in found.values() for value in values.values()) > 10
    assert pictures.PICTURE.read_bytes().startswith(b"\x89PNG")


def test_the_first_screen_says_what_it_is_and_shows_a_picture():
    first = README.splitlines()[:10]
    assert any(line.startswith("![") for line in first)
    assert "exact differential-privacy accounting" in first[2]


def test_links_lead_somewhere():
    for target in re.findall(r"\]\(([^)]+)\)", README):
        assert (ROOT / target).exists(), target
    assert (ROOT / "src/hockeystick/numerics/rounding.py").exists()


def test_version_has_an_entry_in_the_changelog():
    assert f"## {hs.__version__}" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
