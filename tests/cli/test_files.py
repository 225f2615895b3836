"""Run files: what people say of a run travels with it into its report, and a report is a run file."""

import json
import shlex
from pathlib import Path

import pytest

import hockeystick as hs
from hockeystick import cli
from hockeystick.report import plots


@pytest.fixture
def run(capsys, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)

    def call(line, code=0):
        with pytest.raises(SystemExit) as done:
            cli.main(shlex.split(line))
        captured = capsys.readouterr()
        assert done.value.code == code, captured.err
        return captured.out if code == 0 else captured.err

    return call


ANNOTATED = """
name = "visits"
title = "Visits in 2025"
dataset = "The register of the clinic"
unit = "one patient with all visits"
author = "E. Ward"
date = 2026-11-19
purpose = "planning"
notes = ["Counts are clipped at 3.", "Nothing else is released."]
delta = 1e-6
neighbours = "replace"
steps = ["Gaussian(sigma=30) * 2"]

[[step]]
name = "visits by month"
purpose = "beds"
notes = "rounded to tens"
release = "Gaussian(sigma=20)"
count = 10

[[dpsgd]]
name = "a model"
examples = 60000
batch = 256
sigma = 4.0
epochs = 1
sampler = "shuffle"
neighbours = "zero-out"
"""


def report_of(run, line):
    return json.loads(run(f"report {line} --json"))


def test_annotations_travel_into_the_report_and_back(run):
    Path("run.toml").write_text(ANNOTATED.replace('neighbours = "replace"', 'neighbours = "zero-out"'))
    first = report_of(run, "run.toml")
    about = first["about"]
    assert {name: about[name] for name in about if name != "entries"} == {
        "name": "visits",
        "title": "Visits in 2025",
        "dataset": "The register of the clinic",
        "unit": "one patient with all visits",
        "author": "E. Ward",
        "date": "2026-11-19",
        "purpose": "planning",
        "notes": ["Counts are clipped at 3.", "Nothing else is released."],
    }
    assert [one.get("name", "") for one in about["entries"]] == ["a model", "", "visits by month"]
    assert about["entries"][2]["purpose"] == "beds"
    Path("report.json").write_text(json.dumps(first))
    assert report_of(run, "report.json") == first
    assert run("report report.json --json") == run("report run.toml --json")


def test_a_report_is_computed_anew_for_its_delta_and_its_relation(run):
    run("report 'Gaussian(sigma=4).poisson(rate=0.01) * 100' --delta 3e-7 --neighbours remove --output report.json")
    found = json.loads(run("compose report.json --json"))
    told = json.loads(Path("report.json").read_text())
    assert (found["epsilon_lower"], found["epsilon"]) == (told["epsilon"]["lower"], told["epsilon"]["upper"])
    assert (found["delta"], found["neighbours"]) == (3e-7, "remove")
    other = json.loads(run("compose report.json --delta 1e-5 --neighbours add --json"))
    assert other["epsilon"] == (hs.Gaussian(sigma=4.0).poisson(rate=0.01) * 100).epsilon(1e-5, "add")
    for command in ("explain", "report"):
        assert run(f"{command} report.json")
    assert hs.from_json(Path("report.json").read_text()) == hs.Gaussian(sigma=4.0).poisson(rate=0.01) * 100


def test_annotations_beside_a_run_of_to_json(run):
    data = {**json.loads((hs.Laplace(scale=5.0) * 3).to_json()), "title": "Visits", "notes": "once"}
    Path("run.json").write_text(json.dumps(data))
    about = report_of(run, "run.json --delta 1e-6")["about"]
    assert (about["title"], about["notes"]) == ("Visits", ["once"])
    assert hs.from_json(json.dumps(data)) == hs.Laplace(scale=5.0) * 3


def test_what_several_files_say(run):
    Path("jan.toml").write_text('title = "January"\nunit = "one visit"\ndate = 2026-02-01\nsteps = ["Gaussian(sigma=5)"]')
    Path("feb.toml").write_text('title = "February"\nunit = "one visit"\ndate = 2026-03-01\nsteps = ["Gaussian(sigma=5)"]')
    about = report_of(run, "jan.toml feb.toml 'Gaussian(sigma=7)' --delta 1e-6")["about"]
    assert (about["title"], about["unit"], about["date"]) == ("January; February", "one visit", "2026-03-01")
    assert len(about["entries"]) == 3
    Path("mar.toml").write_text('unit = "one patient"\nsteps = ["Gaussian(sigma=5)"]')
    assert "the files differ in unit" in run("report jan.toml mar.toml --delta 1e-6", code=2)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("titel = 'x'\nsteps = ['Laplace(1)']", "unknown keys titel (did you mean title?)"),
        ("[[step]]\nrelease = 'Laplace(1)'\nporpose = 'x'", "unknown keys porpose (did you mean purpose?)"),
        ("title = 3\nsteps = ['Laplace(1)']", "title is 3"),
        ("date = 'soon'\nsteps = ['Laplace(1)']", "date is 'soon'"),
        ("[[step]]\nrelease = 'Laplace(1)'\nname = ['x']", "name is ['x']"),
    ],
)
def test_bad_annotations(run, text, words):
    Path("bad.toml").write_text(text)
    assert words in run("compose bad.toml --delta 1e-6", code=2)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"described": None}, "made from a function"),
        ({"described": {"form": 2, "described": {}}}, "made from a function"),
        ({"described": {"hockeystick": 99, "release": {}}}, "version 99"),
        ({"about": {"titel": "x"}}, "did you mean title"),
        ({"about": {"entries": [{"described": json.loads(hs.Laplace(scale=9.0).to_json())}]}}, "entries that make up the run"),
        ({"neighbours": "friends"}, "neighbours is 'friends'"),
    ],
)
def test_bad_reports(run, change, words):
    data = json.loads(hs.Laplace(scale=5.0).report(delta=1e-6).to_json())
    Path("report.json").write_text(json.dumps({**data, **change}))
    assert words in run("compose report.json", code=2)


def test_what_was_released_before_has_its_relation(run):
    """A budget of replaced records is not spent as if they were added or removed."""
    step = hs.Gaussian(sigma=20.0)
    Path("past.toml").write_text("neighbours = 'replace'\ndelta = 1e-6\nsteps = ['Gaussian(sigma=20)']")
    found = json.loads(run("rounds 'Gaussian(sigma=20)' --epsilon 2 --delta 1e-5 --after past.toml --json"))
    assert found["rounds"] == hs.remaining(step, step, epsilon=2.0, delta=1e-5, neighbours="replace") == 24
    assert found["neighbours"] == "replace"
    assert json.loads(run("rounds 'Gaussian(sigma=20)' --epsilon 2 --after past.toml --json"))["target"]["delta"] == 1e-6
    dpsgd = "rounds --sampler poisson --rate 0.01 --sigma 2 --epsilon 2 --delta 1e-5 --after past.toml --json"
    told = json.loads(run(dpsgd))
    noise = hs.Gaussian(sigma=2.0).poisson(rate=0.01)
    assert told["neighbours"] == "replace"
    assert told["rounds"] == hs.remaining(step, noise, epsilon=2.0, delta=1e-5, neighbours="replace")
    Path("step.toml").write_text("neighbours = 'add'\nsteps = ['Gaussian(sigma=20)']")
    assert "the files differ in neighbours" in run("rounds step.toml --epsilon 2 --delta 1e-5 --after past.toml", code=2)
    assert run("rounds step.toml --epsilon 2 --delta 1e-5 --after past.toml --neighbours remove")


def test_the_command_line_wins_over_files_that_differ(run):
    for name, delta in (("jan", 1e-6), ("feb", 1e-7)):
        Path(f"{name}.toml").write_text(f"delta = {delta}\nsteps = ['Gaussian(sigma=20)']")
    assert "the files differ in delta" in run("compose jan.toml feb.toml", code=2)
    assert json.loads(run("compose jan.toml feb.toml --delta 1e-5 --json"))["delta"] == 1e-5


def test_an_argument_that_is_given_twice(run):
    """Python's parser takes it, and the last value would win."""
    for text in ("Gaussian(sigma=2, sigma=200)", "Gaussian(sigma=2).poisson(rate=0.1, rate=0.001)", "Laplace(scale=1, scale=?)"):
        command = "calibrate" if "?" in text else "compose"
        assert "is given twice in" in run(f"{command} '{text}' --delta 1e-5 --epsilon 1", code=2)


def test_the_encoding_of_a_file(run):
    Path("mark.json").write_bytes(b'\xef\xbb\xbf{"delta": 1e-6, "steps": ["Gaussian(sigma=20)"]}')
    assert "0.189214" in run("compose mark.json")
    Path("other.toml").write_bytes(b"title = '\xe9t\xe9'\nsteps = ['Gaussian(sigma=20)']")
    assert "other.toml is not UTF-8" in run("compose other.toml --delta 1e-6", code=2)


def test_names_of_others_in_a_file(run):
    Path("run.toml").write_text("[[dpsgd]]\nsample_rate = 0.01\nsigma = 1\nsteps = 10\nsampler = 'poisson'")
    assert "dpsgd has no key sample_rate: here it is rate" in run("compose run.toml --delta 1e-6", code=2)


def test_runs_are_compared_for_one_relation(run, monkeypatch):
    for name, relation in (("one", "replace"), ("two", "add")):
        Path(f"{name}.toml").write_text(f"neighbours = '{relation}'\ndelta = 1e-6\nsteps = ['Gaussian(sigma=20)']")
    assert "the files differ in neighbours" in run("plot one.toml two.toml --kind compare", code=2)
    asked, drawn = [], plots.compare
    monkeypatch.setattr(
        plots, "compare", lambda *given, neighbours: asked.append(neighbours) or drawn(*given, neighbours=neighbours)
    )
    assert run("plot 'Gaussian(sigma=5)' two.toml --kind compare --output two.svg")
    assert asked == ["add"]


def test_a_budget_is_not_met_by_releasing_nothing(run):
    """A count that a script left at zero is no release within a budget."""
    assert "releases nothing" in run("compose 'Gaussian(sigma=2) * 0' --delta 1e-5 --epsilon 0.1", code=2)
    for free in ("Gaussian(sigma=2).poisson(rate=0)", "PureDP(epsilon=0)"):
        assert "releases nothing" in run(f"compose '{free}' --delta 1e-5 --epsilon 0.1", code=2)
    assert "releases nothing" in run("dpsgd --rate 0 --steps 10 --sigma 1 --sampler poisson --delta 1e-5 --epsilon 1", code=2)
    assert run("compose 'Gaussian(sigma=2) * 0' --delta 1e-5")
