"""The command in a shell: standard input, completion, the manual page, what may be meant, rows as they come."""

import io
import json
import os
import re
import shlex
import subprocess
import sys

import pytest

import hockeystick as hs
from hockeystick import cli
from hockeystick.cli.app import COMMANDS as PANELS
from hockeystick.mechanism.questions.guarantees import Guarantees

RUN = hs.Gaussian(sigma=2.0) * 3


@pytest.fixture
def run(capsys, monkeypatch, tmp_path):
    """The exit code, what is printed, and what is said on standard error; `given` is piped in."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")

    def call(line, given=""):
        monkeypatch.setattr(sys, "stdin", io.StringIO(given))
        with pytest.raises(SystemExit) as done:
            cli.main(shlex.split(line))
        captured = capsys.readouterr()
        return done.value.code, captured.out, captured.err

    return call


@pytest.mark.parametrize(
    "given",
    [
        "Gaussian(sigma=2) * 3\n",
        'steps = ["Gaussian(sigma=2) * 3"]',
        'delta = 1e-3\nsteps = ["Gaussian(sigma=2) * 3"]\n',
        RUN.to_json(),
    ],
)
def test_a_minus_is_standard_input(run, given):
    code, out, err = run("compose - --delta 1e-6 --json", given)
    assert (code, err) == (0, "")
    assert json.loads(out)["epsilon"] == RUN.epsilon(1e-6)
    assert "report -" not in run("compose - --delta 1e-6", given)[1]  # what comes next cannot read it again


@pytest.mark.parametrize(
    ("given", "words"), [("", "empty"), ("{", "standard input is not JSON"), ("a = [\nb", "not TOML"), ("-", "not TOML")]
)
def test_standard_input_that_is_no_run(run, given, words):
    code, out, err = run("compose - --delta 1e-6", given)
    assert (code, out) == (2, "")
    assert words in err


@pytest.mark.parametrize(
    ("line", "meant"),
    [
        ("compose 'Gausian(sigma=2)' --delta 1e-6", "Gaussian"),
        ("compose 'Gaussian(sigma=2).poison(rate=0.1)' --delta 1e-6", "poisson"),
        ("compose 'Gaussian(sgima=2)' --delta 1e-6", "sigma"),
        ("compose 'Gaussian(sigma=2)' --delta 1e-6 --neighbours repalce", "replace"),
        ("compose 'Gaussian(sigma=2)' --delta 1e-6 --neighbours add_or_remove", "add-or-remove"),
        ("plot 'Gaussian(sigma=2)' --delta 1e-6 --kind profil", "profile"),
        ("report 'Gaussian(sigma=2)' --delta 1e-6 --format markdwon", "markdown"),
        ("figures dpsg", "dpsgd"),
        ("calibrate --sampler poisson --find sgima --epsilon 1 --delta 1e-6", "sigma"),
    ],
)
def test_what_may_be_meant(run, line, meant):
    code, _, err = run(line)
    assert code == 2
    assert f"did you mean {meant}?" in err


def test_a_misspelt_option(run):
    code, _, err = run("dpsgd --sgma 1")
    assert code == 2
    assert "Did you mean '--sigma'?" in err


def test_standard_input_is_read_once_for_a_comparison(run, tmp_path):
    code, _, err = run(
        f"plot - --kind compare --output {tmp_path}/compared.png", 'steps = ["Gaussian(sigma=20)"]\ndelta = 1e-5\n'
    )
    assert (code, err) == (0, "")


@pytest.mark.parametrize(
    ("option", "ours"),
    [("--noise-multiplier", "sigma"), ("--sample-rate", "rate"), ("--batch-size", "batch"), ("--num-steps", "steps")],
)
def test_options_with_the_names_of_others(run, option, ours):
    code, _, err = run(f"dpsgd {option} 1")
    assert code == 2
    assert f"Here it is {ours}" in err


@pytest.mark.parametrize("command", [name for commands in PANELS.values() for name in commands])
def test_switches_have_no_type(run, command):
    shown = run(f"{command} --help")[1]
    assert "--json" in shown
    assert "<bool>" not in shown


def test_required_options_are_marked(run):
    shown = run("dpsgd --help")[1]
    for option in ("sampler", "sigma", "delta"):
        assert re.search(rf"--{option} .*Required", shown)
    assert not re.search(r"--rate .*Required", shown)
    assert re.search(r"\* +--grid", run("sweep --help")[1])


def test_the_manual_page(run):
    code, out, _ = run("--man")
    assert code == 0
    assert out.startswith(".TH HOCKEYSTICK 1")
    for commands in PANELS.values():
        for name in commands:
            assert f".SS hockeystick {name}\n" in out
    assert r"\fB\-\-sampler\fR" in out
    assert "[bold]" not in out


@pytest.mark.parametrize(("words", "expected"), [("hockeystick dps", "dpsgd"), ("hockeystick dpsgd --sam", "--sampler")])
def test_completion(words, expected):
    env = {**os.environ, "_HOCKEYSTICK_COMPLETE": "complete_bash", "COMP_WORDS": words, "COMP_CWORD": str(words.count(" "))}
    found = subprocess.run([sys.executable, "-m", "hockeystick"], env=env, capture_output=True, text=True, check=False)
    assert expected in found.stdout.split()


def test_sweep_writes_rows_as_they_come(run, monkeypatch):
    """Stopped in the middle, it has written what was answered."""
    line = "sweep 'Gaussian(sigma={s}) * {n}' --grid s=1,2 --grid n=1,2,3 --delta 1e-6"
    whole = run(line)[1].splitlines()
    assert whole[0] == "s,n,epsilon,epsilon_lower,error"
    assert len(whole) == 7
    answer, asked = Guarantees.epsilon_bounds, []

    def stopped(self, *given, **named):
        asked.append(self)
        if len(asked) > 4:  # the first is the check of the question
            raise RuntimeError
        return answer(self, *given, **named)

    monkeypatch.setattr(Guarantees, "epsilon_bounds", stopped)
    out = io.StringIO()
    monkeypatch.setattr(sys, "stdout", out)
    with pytest.raises(RuntimeError):
        cli.main(shlex.split(line))
    rows = out.getvalue().splitlines()
    assert 2 < len(rows) < len(whole)
    assert rows == whole[: len(rows)]


def test_what_was_given_is_printed_as_it_was(run):
    for option, name in (("--rho 0.5", "rho"), ("--mu 1", "mu"), ("--epsilon 0.7 --delta 1e-6", "epsilon")):
        value = option.split()[1]
        assert re.search(rf"^{name} +{value} ", run(f"convert {option}")[1], re.MULTILINE)
        assert json.loads(run(f"convert {option} --json")[1])[name] == float(value)
