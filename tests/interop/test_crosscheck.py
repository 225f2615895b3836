"""Our engines against each other and against peers: a fake one, and the real ones where they are installed."""

import importlib.util
import json
import math
import shlex
import subprocess
import sys
from dataclasses import replace

import pytest

import hockeystick as hs
from hockeystick import errors
from hockeystick.cli import main
from hockeystick.interop import crosscheck
from hockeystick.interop.peers import PEERS, Peer, Use
from hockeystick.loss.engines.registry import ENGINES

DELTA = 1e-5
SGD = hs.Gaussian(sigma=1.1).poisson(rate=0.01) * 1000
RUNS = [
    SGD,
    hs.Gaussian(sigma=1.1).poisson(rate=0.01) * 10,
    hs.Gaussian(sigma=20.0) * 100,
    hs.Laplace(scale=50.0) * 2000,
    hs.PureDP(epsilon=0.1) * 1000,
    SGD + hs.Laplace(scale=5.0) * 20,
]


def fake(answer, promise="upper bound", kinds=("gaussian",)):
    """A peer that is always there (json is) and answers as told."""

    def ask(uses, delta):
        return answer(uses, delta) if callable(answer) else answer

    return Peer("fake", "json", "no-such-distribution", promise, "it rounds up", "it is lucky", ask, kinds)


def asked(answer, release=SGD, delta=DELTA, **more):
    found = crosscheck(release, delta, peers=[fake(answer, **more)])
    return found.rows[-1]


# our own engines


@pytest.mark.parametrize("release", RUNS, ids=repr)
def test_our_engines_agree(release):
    found = crosscheck(release, DELTA, peers=())
    assert found.consistent
    assert found.disagreements == ()
    assert found.bounds == release.epsilon_bounds(DELTA)
    answered = [row for row in found.rows if row.upper is not None]
    assert len(answered) >= 2
    for one in answered:
        assert one.ours
        assert one.promise == "certified"
        assert one.seconds >= 0.0
        for two in answered:
            assert one.lower <= two.upper  # they all hold the same truth


def test_an_engine_that_is_wrong_is_found(monkeypatch):
    monkeypatch.setattr(ENGINES["lattice"], "epsilon", lambda *given: (0.5, 0.6))
    found = crosscheck(SGD, DELTA, peers=())
    assert not found.consistent
    assert [row.name for row in found.disagreements] == ["lattice"]
    assert "bug of ours" in found.disagreements[0].words


def test_engines_that_contradict_each_other_are_found():
    """Though each of them goes with the joined answer."""
    found = crosscheck(SGD, DELTA, peers=())
    low, high = 0.9 * found.bounds.lower, 1.1 * found.bounds.upper
    wide = replace(found, bounds=hs.Bounds(low, high))
    rows = {row.name: row for row in found.rows}
    one = replace(rows["contour"], lower=low, upper=1.4)
    two = replace(rows["lattice"], lower=1.6, upper=high)
    assert low < 1.4 < 1.6 < high
    assert wide.consistent
    assert not replace(wide, rows=(one, two)).consistent


@pytest.mark.parametrize(
    "release", [hs.ApproxDP(epsilon=0.1, delta=1e-8) * 3, hs.ZCDP(rho=0.1), hs.Exponential(epsilon=1.0) * 10], ids=repr
)
def test_runs_known_by_bounds_are_left_to_the_joined_answer(release):
    found = crosscheck(release, DELTA, peers=())
    assert {row.verdict for row in found.rows} == {"not asked"}
    assert found.bounds == release.epsilon_bounds(DELTA)


@pytest.mark.parametrize("delta", [0.0, 1.0])
def test_deltas_at_the_edge(delta):
    found = crosscheck(SGD, delta, peers=[fake((0.0, 1.0))])
    assert {row.verdict for row in found.rows} == {"not asked"}


def test_bad_input():
    with pytest.raises(hs.BadType, match="release"):
        crosscheck("Gaussian", DELTA)
    for delta in (-1.0, 2.0):
        with pytest.raises(hs.BadValue, match="delta"):
            crosscheck(SGD, delta)
    with pytest.raises(hs.BadValue, match="neighbours"):
        crosscheck(SGD, DELTA, "both")


# a fake peer

TRUTH = SGD.epsilon(DELTA)


@pytest.mark.parametrize(
    ("answer", "promise", "verdict", "words", "why"),
    [
        ((0.0, TRUTH), "upper bound", "agrees", "with our interval", ""),
        ((0.0, TRUTH * (1.0 - 1e-11)), "upper bound", "agrees", "to rounding", ""),
        ((0.0, TRUTH * 1.5), "upper bound", "above", "50% above the truth", "it rounds up"),
        ((0.0, TRUTH * (1.0 + 1e-7)), "upper bound", "above", "1e-07 (relative) above", "it rounds up"),
        ((0.0, math.inf), "upper bound", "above", "no finite answer", "it rounds up"),
        ((0.0, TRUTH / 1.1), "upper bound", "below", "10% BELOW the truth: no bound", "it is lucky"),
        ((0.0, TRUTH / 1.1), "no bound", "below", "10% BELOW the truth", "it is lucky"),
        ((TRUTH - 0.1, TRUTH + 0.1), "interval", "agrees", "its interval, 0.2 wide, holds the truth", ""),
        ((TRUTH + 0.1, TRUTH + 0.2), "interval", "below", "its lower end is", "it is lucky"),
        ((TRUTH - 0.2, TRUTH - 0.1), "interval", "below", "BELOW the truth", "it is lucky"),
    ],
)
def test_verdicts(answer, promise, verdict, words, why):
    row = asked(answer, promise=promise)
    assert (row.verdict, row.why, row.ours) == (verdict, why, False)
    assert words in row.words
    found = crosscheck(SGD, DELTA, peers=[fake(answer, promise)])
    assert ("fake" in [one.name for one in found.disagreements]) == (verdict != "agrees")
    assert found.consistent  # a peer's error is not ours


def test_what_a_peer_is_asked():
    seen = []

    def ask(uses, delta):
        seen.append((uses, delta))
        return 0.0, 1.0

    release = hs.Gaussian(sigma=2.0, sensitivity=4.0).poisson(rate=0.1) * 3 + hs.Laplace(scale=6.0, sensitivity=2.0)
    release = release + hs.PureDP(epsilon=0.5) + hs.Gaussian(sigma=3.0)
    assert asked(ask, release, kinds=("gaussian", "laplace", "pure")).verdict == "below"
    uses = [Use("gaussian", 0.5, 0.1, 3), Use("laplace", 3.0, 1.0, 1), Use("pure", 0.5, 1.0, 1), Use("gaussian", 3.0, 1.0, 1)]
    assert seen == [(uses, DELTA)]


def test_what_a_peer_is_not_asked():
    assert "no words for Laplace" in asked((0.0, 1.0), hs.Laplace(scale=2.0)).words
    assert "no words for Laplace" in asked((0.0, 1.0), hs.Laplace(scale=2.0).poisson(rate=0.1), kinds=("laplace",)).words
    assert "no words for GDP" in asked((0.0, 1.0), hs.GDP(mu=1.0)).words
    assert asked((0.0, 1.0), hs.Gaussian(sigma=1.0).poisson(rate=0.0)).verdict == "not asked"
    replaced = crosscheck(SGD, DELTA, "replace", peers=[fake((0.0, 1.0))]).rows[-1]
    assert (replaced.verdict, replaced.upper) == ("not asked", None)
    assert "add-or-remove only" in replaced.words


def test_a_peer_that_fails():
    def crash(uses, delta):
        raise RuntimeError("no\n  luck")

    row = asked(crash)
    assert (row.verdict, row.words, row.upper) == ("failed", "RuntimeError: no luck", None)
    assert asked((0.0, math.nan)).verdict == "not asked"
    missing = replace(fake((0.0, 1.0)), package="no_such_package_anywhere")
    found = crosscheck(SGD, DELTA, peers=[missing])
    assert found.missing == ("fake",)
    assert all(row.ours for row in found.rows)


def test_peers_by_name(monkeypatch):
    two = (fake((0.0, 2.0)), replace(fake((0.0, 3.0)), name="other"), replace(fake((0.0, 4.0)), name="third", package="re"))
    monkeypatch.setattr("hockeystick.interop.peers.PEERS", two)

    def names(peers):
        return [row.name for row in crosscheck(SGD, DELTA, peers=peers).rows if not row.ours]

    assert names(None) == ["fake", "other", "third"]
    assert names("json") == names(["json"]) == names(("fake", "json")) == ["fake", "other"]
    assert names({"third"}) == names(iter(["re"])) == ["third"]
    assert names(()) == []
    for bad in ("opakus", ["json", "opakus"], ""):
        with pytest.raises(hs.BadValue, match=r"peers has .*; allowed: json, re, fake, other, third\."):
            names(bad)
    for bad in (3, [3]):
        with pytest.raises(hs.BadType, match=r"peers (is|has) .*3.*; allowed: .*json"):
            names(bad)


# the real ones


def real(name):
    (peer,) = [one for one in PEERS if one.name == name]
    if not peer.installed:
        pytest.skip(f"{peer.distribution} is not installed")
    return peer


@pytest.mark.parametrize("name", [peer.name for peer in PEERS])
def test_real_peers(name):
    row = crosscheck(SGD, DELTA, peers=[real(name)]).rows[-1]
    expected = {"Opacus GDP": "below", "prv_accountant": "agrees"}.get(name, "above")
    assert row.verdict == expected, row
    assert 1.37 < row.upper < 1.73
    two = hs.Gaussian(sigma=2.0).poisson(rate=0.05) * 100 + hs.Gaussian(sigma=30.0) * 20
    row = crosscheck(two, DELTA, peers=[real(name)]).rows[-1]
    assert row.verdict == ("not asked" if name == "Opacus GDP" else expected), row


def test_a_real_peer_below_the_truth():
    """In ball arithmetic this is 79.8413 (tests of the optimal composition); an interval of width 0.02 is told around 70."""
    row = crosscheck(hs.PureDP(epsilon=1.0) * 100, DELTA, peers=[real("prv_accountant")]).rows[-1]
    assert row.verdict == "below"
    assert row.upper < 70.1
    assert (hs.PureDP(epsilon=1.0) * 100).epsilon_bounds(DELTA).lower > 79.84


# the command


def called(capsys, line):
    with pytest.raises(SystemExit) as done:
        main(shlex.split(line))
    out, err = capsys.readouterr()
    return done.value.code, out, err


LINE = "crosscheck 'Gaussian(sigma=1.1).poisson(rate=0.01) * 1000' --delta 1e-5 --peer none"


def test_the_command(capsys, monkeypatch):
    code, out, _ = called(capsys, f"{LINE} --json")
    found = json.loads(out)
    assert code == 0
    assert found["epsilon"] == TRUTH
    assert found["consistent"] is True
    assert {row["name"] for row in found["rows"]} == set(ENGINES)
    for width in ("40", "120"):
        monkeypatch.setenv("COLUMNS", width)
        code, out, _ = called(capsys, LINE)
        assert code == 0
        assert "contour" in out
        assert "1.51536" in out
        assert "Not asked" in out
        assert max(map(len, out.splitlines())) <= int(width)


def test_the_command_tells_who_is_off_and_why(capsys, monkeypatch):
    monkeypatch.setattr("hockeystick.interop.peers.PEERS", (fake((0.0, 1.0)), replace(fake((0.0, 2.0)), name="other")))
    code, out, _ = called(capsys, LINE.replace("none", "json"))
    assert code == 0
    words = " ".join(out.split())
    assert "52% BELOW the truth" in words
    assert "fake below: it is lucky." in words
    assert "other above: it rounds up." in words


@pytest.mark.parametrize("package", ["opacus", "prv_accountant"])
@pytest.mark.parametrize("more", ["", " --json"])
def test_a_named_peer_that_is_not_installed(capsys, monkeypatch, package, more):
    remedy = {"opacus": "pip install 'opacus>=", "prv_accountant": "pip install prv_accountant"}[package]
    absent = tuple(peer for peer in PEERS if peer.package == package)
    monkeypatch.setattr("hockeystick.interop.peers.PEERS", (*absent, fake((0.0, 2.0))))
    monkeypatch.setattr(Peer, "installed", property(lambda peer: peer.package == "json"))
    code, out, err = called(capsys, LINE.replace("none", package) + more)
    assert code == 2
    assert f"nothing was compared with {package}" in err
    assert remedy in err
    assert more or remedy in out
    code, out, err = called(capsys, LINE.replace("none", package) + f" --peer json{more}")  # one of them was
    assert (code, err) == (0, "")
    assert more or remedy in out


def test_a_named_peer_that_cannot_be_asked(capsys, monkeypatch):
    monkeypatch.setattr("hockeystick.interop.peers.PEERS", (fake((0.0, 2.0)),))
    code, _, err = called(capsys, "crosscheck 'Laplace(scale=2)' --delta 1e-5 --peer json")
    assert code == 2
    assert "nothing was compared with json" in err
    assert "no words for Laplace" in err
    assert called(capsys, "crosscheck 'Laplace(scale=2)' --delta 1e-5")[0] == 0  # nobody was named


def test_the_command_fails_where_our_engines_disagree(capsys, monkeypatch):
    monkeypatch.setattr(ENGINES["lattice"], "epsilon", lambda *given: (0.5, 0.6))
    code, out, err = called(capsys, LINE)
    assert code == 4
    assert "contradict" in err
    assert "bug of ours" in " ".join(out.split())


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("crosscheck --delta 1e-5 --peer none", "nothing is described"),
        ("crosscheck 'Gaussian(sigma=1)' --peer none", "delta is missing"),
        ("crosscheck 'Gaussian(sigma=1)' --delta 1e-5 --peer opakus", "--peer is 'opakus'"),
    ],
)
def test_the_command_with_bad_input(capsys, line, words):
    code, _, err = called(capsys, line)
    assert code == 2
    assert words in err


# what is imported


def test_nothing_is_imported_unless_asked():
    script = "import sys, hockeystick, hockeystick.interop, hockeystick.cli.app as _\nprint(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout.split()
    assert not {peer.package for peer in PEERS} & set(loaded)
    assert "torch" not in loaded


def test_a_missing_package_is_named_with_its_extra():
    script = "import sys; sys.modules['opacus'] = None\nimport hockeystick.interop.opacus"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.returncode == 1
    last = done.stderr.strip().splitlines()[-1]
    assert last.startswith("hockeystick.errors.MissingExtra: ")
    assert last.endswith(f"; {errors.remedy('opacus')}.")
    assert "During handling" not in done.stderr


def test_unknown_names():
    import hockeystick.interop

    with pytest.raises(AttributeError):
        _ = hockeystick.interop.no_such_thing
    assert importlib.util.find_spec("hockeystick.interop.opacus") is not None
