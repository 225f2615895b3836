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


def test_nor_have_those_of_the_list_of_commands(run):
    shown = run("--help")[1]
    assert "--show-completion" in shown
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


def test_a_row_says_at_which_delta_and_for_which_neighbours(run):
    """And what was refused is an exit code, whatever is written."""
    line = "sweep 'Gaussian(sigma={s})' --grid s=1,-1 --delta 1e-5 --epsilon 1 --neighbours replace"
    code, out, err = run(line)
    assert code == 2
    assert "rows refused: 1 of 2" in err
    header, first, refused = out.splitlines()
    assert header == "s,epsilon,epsilon_lower,delta,delta_lower,at_delta,at_epsilon,neighbours,error"
    assert ",1e-05,1.0,replace," in first
    assert ",1e-05,1.0,replace,sigma is -1.0" in refused
    code, out, _ = run(f"{line} --json")
    assert code == 2
    assert json.loads(out)["at_delta"] == [1e-5, 1e-5]
    assert json.loads(out)["neighbours"] == ["replace", "replace"]
    assert run(line.replace("1,-1", "1,2"))[0] == 0


def test_a_run_of_a_sweep_states_its_own_relation(run):
    run_ = 'dpsgd(sigma={s}, rate=0.1, steps=3, sampler="poisson", neighbours="zero-out")'
    rows = run(f"sweep '{run_}' --grid s=1,2 --delta 1e-5 --json-lines")[1].splitlines()
    assert [json.loads(one)["neighbours"] for one in rows] == ["zero-out", "zero-out"]


@pytest.mark.parametrize(
    ("grid", "words"),
    [
        ("sigma=1 --grid tau=3", "--grid tau is no name in braces"),
        ("sigma=1 --grid sigam=3", "did you mean sigma?"),
        ("sigma=1 --grid sigma=3", "--grid sigma is given twice"),
        ("at_delta=1", "--grid at_delta is a column"),
    ],
)
def test_a_name_of_a_grid_that_changes_nothing(run, grid, words):
    code, out, err = run(f"sweep 'Gaussian(sigma={{sigma}})' --grid {grid} --delta 1e-5")
    assert (code, out) == (2, "")
    assert words in err


@pytest.mark.parametrize(
    "line",
    [
        "compose 'Gaussian(sigma=2)' --delta 1e-5 --epsilon 1 --epsilon 9",  # exit code 0: within 9
        "compose 'Gaussian(sigma=2)' --delta 1e-5 --epsilon=1 --epsilon=1",
        "dpsgd --sampler poisson --rate 0.01 --steps 10 --epsilon 1 --sigma 1 --delta 1e-5 --epsilon 9",
        "calibrate 'Gaussian(sigma=?)' --epsilon 1 --delta 1e-5 --epsilon 9",
        "ledger account book.db survey --epsilon 1 --delta 1e-6 --epsilon 9",
    ],
)
def test_an_option_given_twice_is_refused(run, line):
    code, out, err = run(line)
    assert (code, out) == (2, "")
    assert "--epsilon is given twice; allowed: once" in err


def test_options_that_repeat_still_do(run):
    assert run("convert --rdp 2:0.1 --rdp 8:0.4 --json --json")[0] == 0


def test_standard_input_is_read_once(run):
    code, _, err = run("compose - - --delta 1e-5", "Gaussian(sigma=2)")
    assert code == 2
    assert "standard input can be read once" in err


def test_a_delta_that_nobody_gave_is_not_made_up(run):
    for target, delta in (("--bayes-risk 0.4 --prior 0.5", "DELTA"), ("--rho 0.1", "DELTA"), ("--mu 1 --delta 1e-7", "1e-07")):
        assert f"--delta {delta} " in run(f"calibrate 'Gaussian(sigma=?)' {target}")[1]


def test_a_training_of_no_steps_is_refused(run):
    for none in ("--rate 0.1 --steps 0", "--rate 0.1 --epochs 0", "--examples 100 --batch 0 --steps 3"):
        code, _, err = run(f"dpsgd --sampler poisson --sigma 1 {none} --delta 1e-5 --epsilon 1")
        assert code == 2
        assert re.search(r"(steps|epochs|batch) is 0", err)
    code, _, err = run("compose - --delta 1e-5", '[[step]]\nrelease = "Gaussian(sigma=2)"\ncount = 0\n')
    assert code == 2
    assert "count is 0" in err


def test_a_conversion_says_for_which_data_sets(run):
    assert json.loads(run("convert --rho 0.5 --json")[1])["neighbours"] == "those of the claim"
    assert re.search(r"^rdp_8 +4 ", run("convert --rho 0.5")[1], re.MULTILINE)
    assert "at delta = 1.23456789e-05" in run("convert --rho 0.5 --at-delta 1.23456789e-5")[1]


def test_what_was_given_is_printed_as_it_was(run):
    for option, name in (("--rho 0.5", "rho"), ("--mu 1", "mu"), ("--epsilon 0.7 --delta 1e-6", "epsilon")):
        value = option.split()[1]
        assert re.search(rf"^{name} +{value} ", run(f"convert {option}")[1], re.MULTILINE)
        assert json.loads(run(f"convert {option} --json")[1])[name] == float(value)
