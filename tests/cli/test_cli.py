"""The command: answers, exit codes, bad input, narrow terminals, closed pipes, what is imported."""

import inspect
import io
import json
import os
import re
import shlex
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
import typer
from typer.testing import CliRunner

import hockeystick as hs
from hockeystick import cli
from hockeystick.cli import commands, expression, show
from hockeystick.cli.app import COMMANDS as PANELS
from hockeystick.cli.app import WELCOME, app
from hockeystick.cli.commands.dpsgd import WHY
from hockeystick.native import core

DPSGD = "dpsgd --sampler poisson --rate 0.01 --sigma 1.1 --steps 10000 --delta 1e-5"
RUN = "Gaussian(sigma=1.1).poisson(rate=0.01) * 10000"
COMMANDS = ("dpsgd", "compose", "convert", "explain", "calibrate", "rounds", "sweep", "report", "plot", "figures")


@pytest.fixture
def run(capsys, monkeypatch, tmp_path):
    """Run in an empty folder; the exit code, what is printed, and what is said on standard error."""
    monkeypatch.chdir(tmp_path)

    def call(line, columns=None):
        if columns is not None:
            monkeypatch.setenv("COLUMNS", str(columns))
        with pytest.raises(SystemExit) as done:
            cli.main(shlex.split(line))
        captured = capsys.readouterr()
        return done.value.code, captured.out, captured.err

    return call


def answered(result):
    code, out, err = result
    assert code == 0, err
    return json.loads(out)


def test_dpsgd(run):
    found = answered(run(f"{DPSGD} --json"))
    bounds = (hs.Gaussian(sigma=1.1).poisson(rate=0.01) * 10_000).epsilon_bounds(1e-5)
    assert (found["epsilon_lower"], found["epsilon"]) == (bounds.lower, bounds.upper)
    assert (found["delta"], found["neighbours"], found["sampler"]) == (1e-5, "add-or-remove", "poisson")
    assert found["version"] == hs.__version__
    code, out, _ = run(DPSGD)
    assert code == 0
    assert "5.19259" in out
    assert "Neighbours: a record is added or removed" in out


def test_exit_codes(run):
    assert run(f"{DPSGD} --epsilon 6")[0] == 0
    code, out, err = run(f"{DPSGD} --epsilon 5 --json")
    assert code == 3
    assert json.loads(out)["within_budget"] is False
    assert "over the budget of 5" in err
    assert run("calibrate 'Gaussian(sigma=?) + PureDP(epsilon=2)' --epsilon 1 --delta 1e-6")[0] == 3
    assert run("rounds 'Gaussian(sigma=20)' --after 'Gaussian(sigma=1)' --epsilon 1 --delta 1e-5")[0] == 3


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("dpsgd --sigma 1 --delta 1e-5", "--sampler is missing"),
        ("dpsgd --sampler poisson --rate 0.1 --steps 1 --delta 1e-5", "--sigma is missing"),
        ("dpsgd --sampler poisson --rate 0.1 --sigma 1 --steps 1", "delta is missing"),
        ("dpsgd --sampler poisson --rate 2 --sigma 1 --steps 1 --delta 1e-5", "rate is 2.0"),
        ("dpsgd --sampler lucky --rate 0.1 --sigma 1 --steps 1 --delta 1e-5", "sampler is 'lucky'"),
        ("dpsgd --sampler poisson --rate 0.1 --sigma nan --steps 1 --delta 1e-5", "sigma is nan"),
        ("dpsgd --sigma one", "--sigma"),
        ("dpsgd --colour red", "--colour"),
        ("unknown", "unknown"),
        ("compose --delta 1e-5 --json", "nothing is described"),
        ("compose 'Gaussian(sigma=-1)' --delta 1e-5", "sigma is -1.0"),
        ("compose 'Gaussian(sigma=' --delta 1e-5", "cannot be read"),
        ("compose 'Gaussian(signa=1)' --delta 1e-5", "signa"),
        ("compose 'open(1)' --delta 1e-5", "'open' is not known"),
        ("compose 'Gaussian(sigma=?)' --delta 1e-5", "for calibrate"),
        ("compose '3' --delta 1e-5", "not a release"),
        ("compose 'Gaussian(sigma=1).__class__' --delta 1e-5", "not allowed"),
        ("compose 'Gaussian(sigma=1/0)' --delta 1e-5", "division by zero"),
        ("compose 'Gaussian(sigma=9**99**99)' --delta 1e-5", "not allowed"),
        ("compose '\"a\" * 10**9' --delta 1e-5", "neither a number nor a release"),
        ("compose '(1,) * 10**9' --delta 1e-5", "neither a number nor a release"),
        ("compose '" + "+".join(["Laplace(1)"] * 3000) + "' --delta 1e-5", "Laplace(1)"),
        ("compose '" + "(" * 500 + "' --delta 1e-5", "cannot be read"),
        ("compose 'Gaussian(sigma=1) * 10**99' --delta 1e-5", "count is"),
        ("compose 'Gaussian(sigma=1)' --delta 1e-5 --neighbours friends", "neighbours is 'friends'"),
        ("compose missing.toml --delta 1e-5", "No such file"),
        ("compose run.yaml --delta 1e-5", "ends in .toml or .json"),
        ("report 'Gaussian(sigma=1)' --delta 1e-5 --output report.pdf", "ends in .txt, .json, .html"),
        ("sweep 'Gaussian(sigma={s})' --grid s=1:2:99999999 --delta 1e-5", "at most 1,000,000"),
        ("calibrate 'Gaussian(sigma=2)' --epsilon 1 --delta 1e-5", "0 question marks"),
        ("calibrate 'Gaussian(sigma=?)' --epsilon 1", "without delta"),
        ("calibrate --sampler poisson --rate 0.1 --steps 9 --sigma 2 --epsilon 1 --delta 1e-5", "--sigma is given"),
        ("calibrate --sampler poisson --rate 0.1 --steps 9 --epsilon 1 --delta 1e-5 --find joy", "--find is 'joy'"),
        ("convert --mu 1 --rho 1", "give one of"),
        ("convert --rdp 2-1", "order:value"),
        ("explain --delta 1e-5", "give a run"),
        ("sweep 'Gaussian(sigma={sigma})' --grid sigma=one --delta 1e-5", "--grid is 'sigma=one'"),
        ("sweep 'Gaussian(sigma={tau})' --grid sigma=1 --delta 1e-5", "cannot be filled in"),
        ("sweep 'Gaussian(sigma={sigma})' --grid sigma=1", "nothing is asked"),
        ("report 'Gaussian(sigma=1)' --delta 1e-5 --format rtf", "--format is 'rtf'"),
        ("report 'Gaussian(sigma=1)' --delta 1e-5 --output no/such/folder.txt", "No such file"),
        ("plot 'Gaussian(sigma=1)' --delta 1e-5 --output plot.bmp", "plot.bmp"),
        ("plot 'Gaussian(sigma=1)' --delta 1e-5 --kind pie", "--kind is 'pie'"),
        ("figures z9", "z9 is no figure"),
        ("figures a1 --format bmp", "--format is 'bmp'"),
    ],
)
def test_bad_input(run, line, words):
    code, out, err = run(line, columns=200)
    assert code == 2, (out, err)
    assert words in err
    assert "Traceback" not in err
    assert "{" not in out


FILE = """
neighbours = "remove"
delta = 1e-6
steps = ["Laplace(scale=50) * 2"]

[[step]]
release = "Gaussian(sigma=20)"
count = 10

[[dpsgd]]
examples = 60000
batch = 256
sigma = 1.1
epochs = 1
sampler = "poisson"
neighbours = "remove"
"""


def test_files(run):
    Path("run.toml").write_text(FILE)
    found = answered(run("compose run.toml --json"))
    described = (
        hs.dpsgd(examples=60_000, batch=256, sigma=1.1, epochs=1, sampler="poisson", neighbours="remove")
        + hs.Laplace(scale=50.0) * 2
        + hs.Gaussian(sigma=20.0) * 10
    )
    assert found["epsilon"] == pytest.approx(described.epsilon(1e-6, "remove"), rel=1e-12)
    assert (found["delta"], found["neighbours"]) == (1e-6, "remove")
    Path("run.json").write_text((hs.Gaussian(sigma=20.0) * 10).to_json())
    assert answered(run("compose run.json --delta 1e-6 --json"))["epsilon"] == (hs.Gaussian(sigma=20.0) * 10).epsilon(1e-6)
    Path("plain.json").write_text(json.dumps({"steps": ["Gaussian(sigma=20) * 10"], "delta": 1e-6}))
    both = answered(run("compose plain.json run.json 'Gaussian(sigma=20)' --json"))
    assert both["epsilon"] == (hs.Gaussian(sigma=20.0) * 21).epsilon(1e-6)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("= 3", "not TOML"),
        ("stepss = []", "unknown keys stepss (did you mean steps?); allowed: neighbours, delta, steps"),
        ("steps = 3", "steps is no list"),
        ("", "nothing is described"),
        ("[[step]]\nrelease = 3", "a step needs a release"),
        ("[[step]]\nrelease = 'Gaussian(sigma=1)'\ntimes = 3", "unknown keys times"),
        ("[[step]]\nrelease = 'Gaussian(sigma=1)'\ncount = 1.5", "count is 1.5"),
        ("[[dpsgd]]\nsigma = 1", "dpsgd needs sigma and sampler"),
        ("[[dpsgd]]\nnoise = 1", "unknown keys noise"),
        ("step = 3", "step is no table"),
        ("delta = 'small'\nsteps = ['Gaussian(sigma=1)']", "delta is 'small'"),
        ("neighbours = 3\nsteps = ['Gaussian(sigma=1)']", "neighbours is 3"),
        ("steps = ['Gaussian(sigma=0)']", "bad.toml: sigma is 0"),
    ],
)
def test_bad_files(run, text, words):
    Path("bad.toml").write_text(text)
    code, _, err = run("compose bad.toml" + ("" if "delta" in text else " --delta 1e-5"))
    assert code == 2
    assert words in err
    Path("bad.json").write_bytes(b"\xff\xfe{")
    assert run("compose bad.json --delta 1e-5")[0] == 2


def test_calibrate(run):
    found = answered(run("calibrate 'Gaussian(sigma=?).poisson(rate=0.01) * 10000' --epsilon 1 --delta 1e-6 --json"))
    shorthand = answered(run("calibrate --sampler poisson --rate 0.01 --steps 10000 --epsilon 1 --delta 1e-6 --json"))
    assert found["value"] == shorthand["sigma"] == pytest.approx(4.3021064656, rel=1e-9)
    assert found["epsilon"] <= 1.0
    assert answered(run("calibrate 'Gaussian(sigma=20) * ?' --epsilon 6 --delta 1e-5 --json"))["value"] == 685
    steps = answered(run("calibrate --sampler poisson --rate 0.01 --sigma 2 --find steps --epsilon 1 --delta 1e-6 --json"))[
        "steps"
    ]
    assert steps == hs.rounds(hs.Gaussian(sigma=2.0).poisson(rate=0.01), epsilon=1.0, delta=1e-6)
    added = "--sampler poisson --rate 0.0025 --accumulation 4 --epsilon 1 --delta 1e-6 --json"
    assert answered(run(f"calibrate --steps 10000 {added}"))["sigma"] == found["value"]
    assert answered(run(f"rounds --sigma 2 {added}"))["rounds"] == steps
    code, _, err = run("calibrate 'Gaussian(sigma=?)' --accumulation 4 --epsilon 1 --delta 1e-6")
    assert code == 2
    assert "a release and --accumulation are both given" in err
    for target in ("--mu 1", "--rho 0.5", "--advantage 0.1", "--tpr 0.1 --fpr 0.01", "--bayes-risk 0.3 --prior 0.5"):
        code, out, _ = run(f"calibrate 'Gaussian(sigma=?)' {target}")
        assert code == 0
        assert "certified" in out


def test_rounds(run):
    assert answered(run("rounds 'Gaussian(sigma=20)' --epsilon 6 --delta 1e-5 --json"))["rounds"] == 685
    after = "rounds 'Gaussian(sigma=20)' --after 'Gaussian(sigma=20) * 600' --epsilon 6 --delta 1e-5 --json"
    assert answered(run(after))["rounds"] == 85


def test_rounds_say_what_is_spent_there_and_after_one_more(run):
    found = answered(run("rounds 'Gaussian(sigma=20)' --after 'Gaussian(sigma=20) * 600' --epsilon 6 --delta 1e-5 --json"))
    assert found["epsilon"] == (hs.Gaussian(sigma=20.0) * 685).epsilon(1e-5) <= 6.0
    assert found["epsilon_after_one_more"] == (hs.Gaussian(sigma=20.0) * 686).epsilon(1e-5) > 6.0
    assert (found["after"], found["neighbours"], found["unit"]) == ("Gaussian(sigma=20.0) * 600", "add-or-remove", "rounds")
    assert "6.00" in run("rounds 'Gaussian(sigma=20)' --epsilon 6 --delta 1e-5")[1]


def test_rounds_of_dpsgd(run):
    step = "--examples 60000 --batch 256 --sigma 1.1 --epsilon 1 --delta 1e-5 --json"
    found = answered(run(f"rounds --sampler poisson {step}"))
    assert found["rounds"] == hs.rounds(hs.Gaussian(sigma=1.1).poisson(rate=256 / 60_000), epsilon=1.0, delta=1e-5)
    assert found["unit"] == "steps"
    passes = answered(run(f"rounds --sampler shuffle --neighbours zero-out {step.replace('1.1', '5')}"))
    assert (passes["rounds"], passes["unit"], passes["neighbours"]) == (1, "passes", "zero-out")
    for line, words in (
        (f"rounds 'Gaussian(sigma=1)' --sampler poisson {step}", "both given"),
        ("rounds --sigma 1 --epsilon 1 --delta 1e-5", "needs --sampler and --sigma"),
    ):
        code, _, err = run(line)
        assert code == 2
        assert words in err


def test_what_cannot_be_reached_names_the_limit_and_what_to_change(run):
    for line, words in (
        ("calibrate 'Gaussian(sigma=?) + PureDP(epsilon=2)' --epsilon 1 --delta 1e-6", "Ask for epsilon above 1.99999"),
        ("calibrate 'Gaussian(sigma=?)' --epsilon 1 --delta 0", "Allow a larger delta"),
        ("calibrate 'Gaussian(sigma=?) + ApproxDP(epsilon=1, delta=1e-3)' --mu 1", "No mu is proved"),
        ("calibrate 'Laplace(scale=1, sensitivity=?)' --advantage 1", "nothing to calibrate"),
        ("rounds 'Gaussian(sigma=20)' --after 'Gaussian(sigma=1)' --epsilon 1 --delta 1e-5", "Ask for a larger budget"),
        ("rounds 'PureDP(epsilon=0)' --epsilon 1 --delta 1e-5", "no number of rounds"),
        (f"{DPSGD} --epsilon 1", "hockeystick calibrate"),
    ):
        code, _, err = run(line)
        assert code == 3, (line, err)
        assert words in err


def test_refusals_speak_of_options_where_options_were_given(run):
    shuffled = "--sampler shuffle --examples 100 --batch 10 --delta 1e-5"
    for line in (
        f"dpsgd {shuffled} --sigma 5 --epochs 3",
        f"calibrate {shuffled} --epochs 3 --epsilon 1",
        f"rounds {shuffled} --sigma 5 --epsilon 1",
        "dpsgd --sampler b-min-sep --rate 0.1 --sigma 5 --steps 3 --delta 1e-5",
    ):
        code, _, err = run(line)
        assert code == 2
        assert "--sampler" in err
        assert "neighbours=" not in err
        assert "sampler=" not in err
        assert "by=" not in err
    code, _, err = run("compose \"Gaussian(sigma=5).full_pass(by='shuffle')\" --delta 1e-5")
    assert code == 2
    assert "by='id'" in err  # an expression is Python's


def test_the_sampler_is_said_to_matter(run):
    for sampler in WHY:
        relation = "zero-out" if sampler == "balls-and-bins" else "replace"
        line = f"dpsgd --sampler {sampler} --examples 100 --batch 10 --sigma 5 --epochs 2 --delta 1e-5 --neighbours {relation}"
        assert "Other samplers have other answers" in run(line)[1]
        assert answered(run(f"{line} --json"))["note"]


def test_what_was_calibrated_is_named(run):
    for line, name in (
        ("'Gaussian(sigma=?)'", "sigma"),
        ("'Gaussian(sigma=20) * ?'", "count"),
        ("'Gaussian(sigma=2*?).poisson(rate=0.01)'", "sigma"),
        ("'Gaussian(sigma=5).poisson(rate=?) * 10'", "rate"),
    ):
        code, out, _ = run(f"calibrate {line} --epsilon 1 --delta 1e-5")
        assert code == 0
        assert re.search(rf"^{name} ", out, flags=re.MULTILINE)
        assert answered(run(f"calibrate {line} --epsilon 1 --delta 1e-5 --json"))["parameter"] == name


def test_the_example_of_a_run_file_works(run):
    code, out, _ = run("compose --example")
    assert code == 0
    Path("run.toml").write_text(out)
    for command in ("compose", "report", "explain", "plot"):
        assert run(f"{command} run.toml")[0] == 0
    assert answered(run("rounds run.toml --epsilon 6 --json"))["rounds"] > 1
    assert answered(run("compose run.toml --delta 1e-3 --neighbours replace --json"))["neighbours"] == "replace"


def test_the_relation_of_a_file_is_that_of_its_training_runs(run):
    table = "[[dpsgd]]\nexamples = 100\nbatch = 10\nsigma = 5\nepochs = 2\nsampler = 'shuffle'\n"
    Path("run.toml").write_text(f"neighbours = 'zero-out'\ndelta = 1e-5\n{table}")
    assert answered(run("compose run.toml --json"))["neighbours"] == "zero-out"
    assert answered(run("compose run.toml --neighbours replace --json"))["neighbours"] == "replace"
    Path("run.toml").write_text(f"delta = 1e-5\n{table}")
    assert run("compose run.toml")[0] == 2
    assert run("compose run.toml --neighbours zero-out")[0] == 0


@pytest.mark.parametrize(
    ("name", "text", "more"),
    [
        ("profile.json", hs.Profile(claims=[(0.5, 1e-3), (1.0, 1e-6)]).to_json(), ""),
        ("nothing here.json", hs.compose([]).to_json(), ""),
        ("run.toml", 'neighbours = "replace"\nsteps = ["Gaussian(sigma=9)"]', ""),
        ("run.toml", 'neighbours = "replace"\nsteps = ["Gaussian(sigma=9)"]', " --neighbours add-or-remove"),
        ("run.toml", '[[dpsgd]]\nsigma=2\nsampler="shuffle"\nneighbours="zero-out"\nexamples=900\nbatch=30\nepochs=2', ""),
        ("run.toml", 'steps = ["Gaussian(sigma=9)"]', " 'Laplace(scale = 30)'"),
    ],
    ids=["profile", "nothing", "relation", "another relation", "training", "two"],
)
def test_what_comes_next_can_be_asked(run, name, text, more):
    """A run file is suggested by its name: not every release is an expression."""
    Path(name).write_text(text)
    code, out, _ = run(f"compose '{name}'{more} --delta 1.2345678e-6")
    assert code == 0
    following = [line.removeprefix("Next:").strip() for line in out.splitlines() if " hockeystick " in line]
    assert [line.split()[1] for line in following] == ["report", "plot"]
    asked = following[0].removeprefix("hockeystick ").removesuffix("--output report.html")
    epsilon = answered(run(f"compose '{name}'{more} --delta 1.2345678e-6 --json"))["epsilon"]
    report = answered(run(f"{asked} --format json"))
    assert report["epsilon"]["upper"] == epsilon


def test_a_file_of_to_json_without_its_version(run):
    Path("run.json").write_text(hs.Gaussian(sigma=2.0).to_json().replace('"hockeystick": 1, ', ""))
    code, _, err = run("compose run.json --delta 1e-6")
    assert code == 2
    assert "run.json: the key 'hockeystick', the version, is missing" in err


def test_what_is_no_expression_is_not_suggested(capsys):
    show.next_commands(hs.compose([]), 1e-5, "add-or-remove")
    out = capsys.readouterr().out
    assert "compose(" not in out.split("Next:")[1]
    assert "hockeystick report -h" in out


def test_convert(run):
    found = answered(run("convert --mu 1 --at-delta 1e-5 --json"))
    assert found["epsilon"] == hs.GDP(mu=1.0).epsilon(1e-5)
    assert found["rho"] == pytest.approx(0.5)
    assert answered(run("convert --epsilon 1 --delta 1e-6 --json"))["rho"] is None
    assert answered(run("convert --rdp 2:0.01 --rdp 8:0.04 --json"))["epsilon"] > 0.0
    assert "zero-concentrated" in run("convert --rho 0.5", columns=100)[1]
    assert answered(run("convert --rho 0.5 --json"))["at_delta"] == 1e-6
    claimed = answered(run("convert --epsilon 1 --delta 1e-4 --json"))  # an epsilon at a delta below would be infinite
    assert (claimed["at_delta"], claimed["epsilon"]) == (1e-4, pytest.approx(1.0))
    assert "1e-6 unless given" in run("convert --help", columns=200)[1]


@pytest.mark.parametrize(
    ("given", "rows"),
    [
        ("--rho 0.5", {"rho": 0.5}),
        ("--mu 0.3", {"mu": 0.3}),
        ("--rdp 2:0.1 --rdp 8:0.3", {"rdp_2": 0.1, "rdp_8": 0.3}),
        ("--epsilon 1 --delta 1e-5", {"epsilon": 1.0}),
    ],
)
def test_a_claim_in_its_own_words_is_itself(run, given, rows):
    found = answered(run(f"convert {given} --json"))
    out = run(f"convert {given}", columns=100)[1]
    for name, value in rows.items():
        assert found[name] == value
        assert re.search(rf"^{name} +{value:g} ", out, flags=re.MULTILINE), out


def test_explain(run):
    found = answered(run("explain --epsilon 1 --delta 1e-5 --json"))
    assert found["tpr"]["0.01"] == pytest.approx(0.01 * 2.718281828 + 1e-5, rel=1e-6)
    words = run(f"explain '{RUN}' --delta 1e-5")[1]
    for part in ("5.19", "guessing", "rests on", "add-or-remove"):
        assert part in words


def test_sweep(run):
    line = "sweep 'Gaussian(sigma={sigma}) * {steps}' --grid sigma=5,10 --grid steps=1:3:3 --delta 1e-6"
    rows = run(line)[1].splitlines()
    assert rows[0] == "sigma,steps,epsilon,epsilon_lower,at_delta,neighbours,error"
    assert len(rows) == 7
    table = answered(run(f"{line} --advantage --jobs 2 --json"))
    assert table["epsilon"][0] == hs.Gaussian(sigma=5.0).epsilon(1e-6)
    assert len(table["advantage"]) == 6


def test_sweep_writes_rows_as_they_come(run, monkeypatch):
    """When it is stopped, the rows so far are there."""
    module = import_module("hockeystick.cli.commands.sweep")
    tabulate, calls, flushed = module.tabulate, [], []

    class Screen(io.StringIO):
        def flush(self):
            flushed.append(self.getvalue())

    def stopped(*given, **named):
        calls.append(given)
        if len(calls) == 4:  # 1, 1 and 2 rows are there
            raise KeyboardInterrupt
        return tabulate(*given, **named)

    line = "sweep 'Gaussian(sigma={sigma})' --grid sigma=1,2,-1,4,5,6,7,8 --delta 1e-6"
    whole = run(line)[1].splitlines()
    lines = [json.loads(one) for one in run(f"{line} --json-lines")[1].splitlines()]
    columns = json.loads(run(f"{line} --json")[1])
    assert [list(one.values()) for one in lines] == [list(one) for one in zip(*columns.values(), strict=True)]
    assert [one["epsilon"] for one in lines][:2] == [hs.Gaussian(sigma=sigma).epsilon(1e-6) for sigma in (1.0, 2.0)]
    assert "sigma is -1.0" in lines[2]["error"]
    monkeypatch.setattr(module, "tabulate", stopped)
    monkeypatch.setattr(sys, "stdout", Screen())
    with pytest.raises(SystemExit):
        cli.main(shlex.split(line))
    assert flushed[2].splitlines() == whole[:5]
    assert len(whole) == 9


def test_report(run):
    assert answered(run("report 'Gaussian(sigma=2)' --delta 1e-5 --json"))["statement"].startswith("The release is")
    for form, start in (("html", "<!doctype html>"), ("markdown", "# Privacy"), ("latex", "% made"), ("text", "Privacy report")):
        assert run(f"report 'Gaussian(sigma=2)' --delta 1e-5 --format {form}")[1].startswith(start)
    assert run("report 'Gaussian(sigma=2)' --delta 1e-5 --output out.txt")[0] == 0
    assert Path("out.txt").read_text(encoding="utf-8").startswith("Privacy report")


def test_plot_and_figures(run):
    for name in ("a.png", "b.svg", "c.pdf"):
        assert run(f"plot 'Gaussian(sigma=2)' --delta 1e-5 --output {name}")[0] == 0
        assert Path(name).stat().st_size > 1000
    assert (
        answered(run("plot 'Gaussian(sigma=2)' 'Laplace(scale=2)' --kind compare --delta 1e-5 --json"))["written"] == "plot.png"
    )
    assert "a1" in run("figures --list")[1]
    assert run("figures a2 --output pictures")[0] == 0
    assert Path("pictures/a2.png").stat().st_size > 1000


def test_a_narrow_terminal(run):
    for line in (
        DPSGD,
        "convert --mu 1",
        "rounds 'Gaussian(sigma=20)' --epsilon 6 --delta 1e-5",
        "calibrate 'Gaussian(sigma=?)' --epsilon 6 --delta 1e-5",
        "compose --help",
        "explain --epsilon 1 --delta 1e-5",
        "report 'Gaussian(sigma=2)' --delta 1e-5",
        "--help",
        "dpsgd --help",
    ):
        code, out, _ = run(line, columns=40)
        assert code == 0
        assert max(len(row.rstrip()) for row in out.splitlines()) <= 40


def test_without_arguments_one_learns_what_to_do(run):
    code, out, _ = run("")
    assert code == 0
    assert out == WELCOME
    assert run("--version")[1].split()[0] == hs.__version__
    assert ("(compiled core)" in run("--version")[1]) == (core is not None)
    for line in re.findall(r"^  hockeystick (.*)$", WELCOME, flags=re.MULTILINE):
        assert run(line)[0] == 0, line


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help_with_an_example_that_works(run, command):
    code, out, _ = run(f"{command} --help", columns=300)
    assert code == 0
    examples = re.findall(r"hockeystick (\w+ .*?)\s*$", out, flags=re.MULTILINE)
    examples = [one for one in examples if not one.startswith(f"{command} [OPTIONS]")]
    assert examples
    assert "--json" in out
    for example in examples:
        assert example.startswith(command)
        assert run(example)[0] == 0, example


def test_typer_runs_it_too():
    result = CliRunner().invoke(app, shlex.split(f"{DPSGD} --json"))
    assert result.exit_code == 0
    assert json.loads(result.stdout)["delta"] == 1e-5


def shell(line, **options):
    environment = {**os.environ, "PYTHONPATH": str(Path(hs.__file__).parent.parent)}
    return subprocess.run(line, shell=True, capture_output=True, text=True, env=environment, check=False, **options)


def test_from_help_alone_to_a_calibrated_sigma_a_report_and_a_picture(run):
    """What is printed leads on."""
    page = " ".join(run("--help", columns=300)[1].split())
    code, out, _ = run(re.search(r"hockeystick (calibrate .*? --delta 1e-5)", page)[1], columns=300)
    assert code == 0
    following = re.findall(r"hockeystick ((?:report|plot) .*?)\s*$", out, flags=re.MULTILINE)
    assert len(following) == 2
    for line in following:
        assert run(line)[0] == 0
    assert "<h2>" in Path("report.html").read_text(encoding="utf-8")
    assert Path("profile.png").stat().st_size > 1000
    out = run("dpsgd --sampler poisson --rate 0.1 --sigma 5 --steps 20 --delta 1e-5 --neighbours replace", columns=100)[1]
    assert "--neighbours replace --output report.html" in out
    assert run(re.search(r"hockeystick (report .*?)\s*$", out, flags=re.MULTILINE)[1])[0] == 0


def imported(line):
    """The modules that a command has imported when it is done."""
    script = f"import sys\nfrom hockeystick.cli import main\ntry: main({shlex.split(line)!r})\nfinally: print(*sys.modules)"
    result = shell(f"{shlex.quote(sys.executable)} -c {shlex.quote(script)}")
    assert result.returncode == 0, result.stderr
    names = result.stdout.splitlines()[-1].split()
    return {name for name in names if name.partition(".")[0] == "hockeystick"}, {"numpy", "scipy"} & set(names)


def test_a_command_imports_what_it_needs():
    """48 modules of ours for one epsilon that the core proves, 9 for the list of commands."""
    if core is not None:
        ours, arrays = imported(DPSGD)
        assert len(ours) <= 50
        assert arrays == set()
        assert {name for name in ours if name.startswith("hockeystick.cli.commands.")} == {"hockeystick.cli.commands.dpsgd"}
    for line in ("", "--version", "--help"):
        ours, arrays = imported(line)
        assert len(ours) <= 10
        assert arrays == set()


def test_the_list_says_how_each_command_begins():
    """It is printed without the commands."""
    listed = {name: words for commands in PANELS.values() for name, words in commands.items()}
    for name, words in listed.items():
        command = getattr(import_module(f"hockeystick.cli.commands.{name}"), name)
        assert inspect.getdoc(command).partition("\n\n")[0] == words
    assert {path.stem for path in Path(commands.__file__).parent.glob("[!_]*.py")} == set(listed)


def test_names_of_commands_and_options_are_completed_and_mended(run):
    group = typer.main.get_command(app)
    with group.make_context("hockeystick", [], resilient_parsing=True) as context:
        assert [one.value for one in group.shell_complete(context, "co")] == ["compose", "convert"]
        name, command, rest = group.resolve_command(context, ["dpsgd"])
        with command.make_context(name, rest, parent=context, resilient_parsing=True) as inner:
            assert [one.value for one in inner.command.shell_complete(inner, "--sa")] == ["--sampler"]
    assert "Did you mean 'calibrate'?" in run("calibrat --epsilon 1")[2]
    assert "--sigma" in run("dpsgd --sigm 1", columns=100)[2]


def test_as_a_process():
    python = shlex.quote(sys.executable)
    piped = shell(f"{python} -m hockeystick {DPSGD} | cat")
    assert "\x1b" not in piped.stdout
    assert "5.19259" in piped.stdout
    closed = shell(f"{python} -m hockeystick report 'Gaussian(sigma=2)' --delta 1e-5 | head -c 1")
    assert closed.stdout == "P"
    assert closed.stderr == ""
    line = f"{python} -m hockeystick sweep 'Gaussian(sigma={{s}})' --grid s=1:100:3000 --delta 1e-5"
    closed = shell(f"bash -c {shlex.quote(line + ' | head -1; echo ${PIPESTATUS[0]}')}")
    assert closed.stdout == "s,epsilon,epsilon_lower,at_delta,neighbours,error\n0\n"
    assert closed.stderr == ""
    if Path("/dev/full").exists():
        full = shell(f"{python} -m hockeystick {DPSGD} > /dev/full")
        assert (full.returncode, full.stderr) == (2, "hockeystick: No space left on device\n")
    bad = shell(f"{python} -m hockeystick compose 'Gaussian(sigma=0)' --delta 1e-5")
    assert (bad.returncode, bad.stdout) == (2, "")
    assert bad.stderr == "hockeystick: sigma is 0.0; allowed: a finite number above 0.\n"


def test_a_missing_extra_is_one_line(monkeypatch, capsys, run):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    code, _, err = run("plot 'Gaussian(sigma=2)' --delta 1e-5")
    assert code == 2
    assert err.count("\n") == 1
    assert "; pip install 'matplotlib>=" in err
    monkeypatch.setitem(sys.modules, "typer", None)
    with pytest.raises(SystemExit) as done:
        cli.main([])
    assert done.value.code == 2
    assert "; pip install 'typer>=" in capsys.readouterr().err


def test_expressions():
    for text, made in (
        ("Gaussian(sigma=2) * 3", hs.Gaussian(sigma=2.0) * 3),
        ("3 * Laplace(1)", 3 * hs.Laplace(scale=1.0)),
        ("(Gaussian(sigma=2) + GDP(mu=1)).poisson(rate=2e-1)", (hs.Gaussian(sigma=2.0) + hs.GDP(mu=1.0)).poisson(rate=0.2)),
        ("RDP(orders=[2, 3], values=(0.1, 0.2))", hs.RDP(orders=(2.0, 3.0), values=(0.1, 0.2))),
        ("Gaussian(sigma=2).full_pass(by='id')", hs.Gaussian(sigma=2.0).full_pass(by="id")),
    ):
        assert expression.release(text) == made
        assert expression.release(repr(made)) == made
    assert expression.hole_is_whole("Gaussian(sigma=2) * ?")
    assert not expression.hole_is_whole("Gaussian(sigma=?) * 2")
    assert expression.hole_is_whole("Gaussian(sigma=1).without_replacement(batch=?, examples=100)")


def test_the_ending_of_the_file_says_the_format(run, tmp_path):
    for name, begin in (
        ("r.tex", "% made by"),
        ("r.html", "<!doctype html>"),
        ("r.md", "#"),
        ("r.json", "{"),
        ("r.txt", "Privacy"),
    ):
        assert run(f"report 'Gaussian(sigma=2)' --delta 1e-5 --output {name}")[0] == 0
        assert (tmp_path / name).read_text(encoding="utf-8").startswith(begin)
    assert not re.search(r"(\\\\|\\toprule)\n\[", (tmp_path / "r.tex").read_text(encoding="utf-8"))


def test_a_narrow_terminal_shows_the_notes_too(run):
    assert "at delta = 1e-05" in run("compose 'Gaussian(sigma=2)' --delta 1e-5", columns=40)[1]


def test_what_may_be_a_step_or_the_past_is_refused(run, tmp_path):
    """A shell's reader takes `--after jan.toml feb.toml` for one file after, and one more part of the step."""
    for name in ("jan", "feb"):
        (tmp_path / f"{name}.toml").write_text('steps = ["Gaussian(sigma=20)"]\n')
    line = "rounds 'Gaussian(sigma=20)' --epsilon 1 --delta 1e-6 --json --after jan.toml"
    code, out, err = run(f"{line} feb.toml")
    assert (code, out) == (2, "")
    assert "--after jan.toml --after feb.toml" in err
    step = hs.Gaussian(sigma=20.0)
    assert answered(run(f"{line} --after feb.toml"))["rounds"] == hs.remaining(step * 2, step, epsilon=1.0, delta=1e-6)


@pytest.mark.parametrize("budget", ["nan", "inf", "-1"])
def test_a_budget_is_a_number(run, budget):
    for line in ("dpsgd --sampler poisson --rate 0.1 --sigma 1 --steps 9", "compose 'Gaussian(sigma=1)'"):
        code, _, err = run(f"{line} --delta 1e-5 --epsilon {budget}")
        assert code == 2
        assert "epsilon is" in err
        assert "allowed: a number from 0 up" in err


TRAINING = "[[dpsgd]]\nexamples = 100\nbatch = 10\nsigma = 5\nepochs = 2\nsampler = 'without-replacement'\n"


def test_the_relation_that_is_answered_is_the_one_that_is_stated(run):
    Path("run.toml").write_text(f"neighbours = 'add'\ndelta = 1e-5\n{TRAINING}neighbours = 'replace'\n")
    code, _, err = run("compose run.toml")
    assert code == 2
    assert "the file states neighbours = 'add', and its dpsgd 'replace'" in err
    Path("own.toml").write_text(f"delta = 1e-5\n{TRAINING}neighbours = 'replace'\n")
    Path("top.toml").write_text("neighbours = 'add'\nsteps = ['Gaussian(sigma=9)']\n")
    code, _, err = run("compose own.toml top.toml")
    assert code == 2
    assert "the files differ in neighbours: 'add' and 'replace'" in err
    Path("plain.toml").write_text(f"delta = 1e-5\n{TRAINING}")
    Path("report.json").write_text(run("report plain.toml --json")[1])
    found = json.loads(run("compose report.json --neighbours replace --json")[1])
    assert found["neighbours"] == "replace"
    assert [one for one in found["statement"] if one.startswith("Neighbours")] == [
        "Neighbours: data sets that differ by one record replaced by another (replace)."
    ]


def test_a_key_given_twice_is_refused(run):
    text = '{"steps": ["Gaussian(sigma=1)"], "steps": ["Gaussian(sigma=9)"], "delta": 1e-5}'
    Path("run.json").write_text(text)
    code, _, err = run("compose run.json")
    assert code == 2
    assert "run.json: the key 'steps' is given twice" in err
    with pytest.raises(hs.errors.BadValue, match="'sigma' is given twice"):
        hs.from_json('{"hockeystick": 1, "release": {"kind": "gaussian", "sigma": 1.0, "sigma": 9.0}}')


def test_what_was_given_is_printed_in_full(run):
    assert "at delta = 1.2345644e-05," in run("compose 'Gaussian(sigma=2)' --delta 1.2345644e-5")[1]
    line = "'Gaussian(sigma=20)' --epsilon 1.00000049 --delta 1e-5"
    assert "epsilon <= 1.00000049 at delta = 1e-05" in run(f"rounds {line}", columns=150)[1]
    budget = float(np.nextafter(hs.Gaussian(sigma=1.0).epsilon(1e-5), 0.0))
    code, _, err = run(f"compose 'Gaussian(sigma=1)' --delta 1e-5 --epsilon {budget!r}")
    assert code == 3
    assert f"over the budget of {budget!r}." in err


@pytest.mark.parametrize(
    ("delta", "words"), [("nan", "delta is nan"), ("[1e-5]", "delta is [1e-05] (list)"), ("2.0", "delta is 2.0")]
)
def test_the_delta_of_a_file_is_a_probability(run, delta, words):
    Path("run.toml").write_text(f"delta = {delta}\nsteps = ['Gaussian(sigma=1)']\n")
    code, _, err = run("compose run.toml")
    assert code == 2
    assert f"run.toml: {words}" in err
    assert "a number from 0 to 1" in err


def test_a_report_goes_where_its_ending_says(run):
    code, _, err = run("report 'Gaussian(sigma=2)' --delta 1e-5 --output x.json --format html")
    assert code == 2
    assert "whose ending means json, and the format is html" in err
