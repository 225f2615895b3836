"""`hockeystick ledger`: every verb, its example, its JSON, and its exit codes."""

import json
import re
import shlex
from pathlib import Path

import pytest

from hockeystick import cli
from hockeystick.cli.ledger.verbs import VERBS

OPEN = (
    "ledger account ledger.db survey-2026 --dataset survey --epsilon 1 --delta 1e-6 --line 'histogram=PureDP(epsilon=0.01) * 12'"
)


@pytest.fixture
def run(capsys, monkeypatch, tmp_path):
    """Run in an empty folder; the exit code, what is printed, and what is said on standard error."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")

    def call(line):
        with pytest.raises(SystemExit) as done:
            cli.main(shlex.split(line))
        captured = capsys.readouterr()
        return done.value.code, captured.out, captured.err

    return call


@pytest.fixture
def asked(run):
    """The JSON of a verb that answers."""

    def call(line):
        code, out, err = run(f"ledger {line} --json")
        assert code == 0, err
        return json.loads(out)

    return call


@pytest.fixture
def set_up(run):
    for line in (
        "ledger init ledger.db",
        "ledger dataset ledger.db survey --unit 'one person'",
        f"{OPEN} --reserve pure --slack 0 --actor ada",
    ):
        code, _, err = run(line)
        assert code == 0, err


def test_every_verb_has_help_with_an_example_that_works(run):
    """In the order of the list, one after the other; the account of the example is opened as it is, with a plan that is quick."""
    examples = {}
    for verb in VERBS:
        code, out, _ = run(f"ledger {verb} --help")
        assert (code, "--json" in out) == (0, True), verb
        (examples[verb],) = re.findall(r"Example: hockeystick (ledger .*?)\s*$", out, re.MULTILINE)
        assert examples[verb].startswith(f"ledger {verb} ")
    last = ("export", "import", "verify", "close")
    for verb in (*(one for one in VERBS if one not in last), *last):
        line = examples[verb].replace("DiscreteGaussian(sigma=20)", "PureDP(epsilon=0.01)")
        if verb == "void":
            held = json.loads(run("ledger reserve ledger.db survey-2026 histogram --key 2026-05 --json")[1])
            line = line.replace("TOKEN", held["token"])
        code, _, err = run(line)
        assert code == 0, (line, err)
    assert Path("survey-2026.html").read_text(encoding="utf-8").count("<tr>") > 5


def test_a_year_in_the_shell(run, asked, set_up):
    assert asked("status ledger.db survey-2026")["lines"]["histogram"]["left"] == 12
    first = asked("spend ledger.db survey-2026 histogram --key a --count 2 --actor bob")
    assert (first["lines"], first["replayed"]) == ({"histogram": 2}, False)
    assert asked("spend ledger.db survey-2026 histogram --key a --count 2 --actor bob") == {**first, "replayed": True}
    held = asked("reserve ledger.db survey-2026 'Laplace(scale=10)' --key b --timeout 60")
    assert len(held["token"]) == 32
    code, _, err = run(f"ledger void ledger.db survey-2026 --key b --token {held['token']}")
    assert code == 2
    assert "the statement that the data were not read" in err
    assert asked(f"void ledger.db survey-2026 --key b --token {held['token']} --not-read")["kind"] == "void"
    found = asked("price ledger.db survey-2026 'Laplace(scale=100)' --count 3")
    assert 87 <= found["fits"] <= 88
    assert [one["kind"] for one in asked("log ledger.db survey-2026 --after 1")] == ["commit", "reserve", "void"]
    assert asked("amend ledger.db survey-2026 --line 'histogram=PureDP(epsilon=0.01) * 20' --reason more")["version"] == 2
    assert asked("dataset ledger.db")[0]["unit"] == "one person"
    assert asked("verify ledger.db")["entries"] == 5
    Path("head.json").write_text(run("ledger head ledger.db --json")[1])
    asked("export ledger.db all.jsonl")
    assert asked("verify all.jsonl --head head.json") == asked("verify ledger.db --head head.json")
    run("ledger init other.db")
    assert asked("import other.db all.jsonl") == {"datasets": 1, "accounts": 1, "entries": 5}
    assert asked("report ledger.db survey-2026")["releases"][1]["became"] == "given back: the data were not read"
    assert run("ledger log ledger.db survey-2026")[1].count("\n") == 7


def test_a_refusal_is_exit_code_3_with_what_still_fits(run, set_up):
    code, out, err = run("ledger spend ledger.db survey-2026 'Laplace(scale=0.5)' --key a --json")
    found = json.loads(out)
    assert (code, found["fits"], found["left"]["reserve"]) == (3, 0, 1.0)
    assert found["would_fit"] in err
    assert run(f"ledger spend ledger.db survey-2026 '{found['would_fit']}' --key a")[0] == 0
    code, out, err = run("ledger price ledger.db survey-2026 histogram --count 13")
    assert (code, "does not fit" in err, "12" in out) == (3, True, True)
    code, _, err = run(
        "ledger account ledger.db more --dataset survey --epsilon 0.01 --delta 0 --reserve pure --line 'x=PureDP(epsilon=1)'"
    )
    assert code == 3
    assert "alone has epsilon" in err


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("spend ledger.db survey-2026 histogramm --key a", "did you mean histogram?"),
        ("spend ledger.db survey-2062 histogram --key a", "did you mean survey-2026?"),
        ("spend ledger.db survey-2026 'Laplace(scale=-1)' --key a", "scale"),
        ("spend ledger.db survey-2026 histogram", "--key"),
        ("status none.db", "there is no ledger at"),
        ("account ledger.db x --epsilon 1", "missing: --dataset, --delta"),
        ("account ledger.db x --dataset survey --epsilon 1 --delta 0 --line 'Laplace(scale=1)'", "allowed: NAME=RELEASE * COUNT"),
        ("status https://example.org/ledger", "allowed: the name of a file"),
        ("verify ledger.db --head ledger.db", "no JSON"),
        ("report ledger.db survey-2026 --output report.docx", "allowed: a name that ends in"),
        ("sepnd ledger.db", "spend"),
    ],
)
def test_bad_input_is_exit_code_2(run, set_up, line, words):
    code, _, err = run(f"ledger {line}")
    assert code == 2
    assert words in err
    assert "Traceback" not in err


def test_what_was_changed_is_named(run, set_up):
    import sqlite3
    from contextlib import closing

    with closing(sqlite3.connect("ledger.db", isolation_level=None)) as connection:
        connection.execute("DROP TRIGGER entry_no_update")
        connection.execute("UPDATE entry SET body=CAST(replace(body, 'ada', 'eve') AS BLOB)")
    code, _, err = run("ledger verify ledger.db")
    assert code == 2
    assert "entry 1 of 'survey-2026': its text, its hash or the hash before it is not the one that was written" in err
