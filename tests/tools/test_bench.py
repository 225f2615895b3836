"""The benchmark, the instruction counts and the campaign, with fakes: nothing here looks at the clock."""

import json
import math
import random

import pytest
from flint import arb

import campaign
import claims
import closed
import fake_peers
import hockeystick as hs
from bench import instructions, memory, page, report, verdicts
from bench.cases import CASES, Case
from bench.harness import Process, Row, compared, fewer, installed
from bench.peers import OURS, PEERS, Cannot
from bench.truths import known
from places import ROOT

CASE = Case("a case", "a group", (("gaussian", 1.0, 1.0, 1),), 1e-5)
FIRST = Case("first", "a group", CASE.uses, 1e-5, "first")
TRUTHS = {name: {"by": "balls", "answers": [["2.0", "2.0"]]} for name in ("a case", "first")}


@pytest.fixture(scope="module")
def rows():
    """Every fake on one case; the module of the fakes is found by the child through PYTHONPATH."""
    here, _ = installed(fake_peers.PEERS)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", f"{ROOT / 'tests'}:{ROOT / 'src'}")
        asked = []
        slow = {"hangs": 3.0}
        everyone = [Process(one.name, slow.get(one.name, 60.0), "fake_peers") for one in (fake_peers.OURS, *here)]
        try:
            found = compared(CASE, everyone, 2, asked.append)
            found_first = compared(FIRST, everyone[:2], 2)
        finally:
            for one in everyone:
                one.stop()
    return found, found_first, asked


def test_failures_are_reported_as_such(rows):
    found, _, _ = rows
    assert found["hangs"] == {"failed": "no answer within 3 s"}
    assert found["dies"] == {"failed": "its process ended with code 7"}
    assert found["raises"] == {"failed": "ArithmeticError: no number here"}
    assert found["none"] == {"failed": "it answers with no number (nan)"}
    assert found["unable"] == {"skipped": "not today"}
    assert "absent" not in found


def test_all_take_turns(rows):
    found, first, asked = rows
    turns = [one for one in asked if "round" in one]
    assert turns[:3] == ["hockeystick, round 1", "loose, round 1", "below, round 1"]
    assert turns[-3:] == ["hockeystick, round 2", "loose, round 2", "below, round 2"]
    assert found["loose"]["rounds"] == 2
    assert {"seconds", "cold"} <= found["loose"].keys()
    assert first["loose"]["answers"] == [["0.0", "2.2"]]


@pytest.fixture
def results(rows):
    kinds = {one.name: {"version": "1", "kind": one.kind} for one in fake_peers.PEERS[:-1]}
    cases = {"a case": {"group": "a group", "rows": json.loads(json.dumps(rows[0]))}}
    for row, seconds in (("hockeystick", 1e-3), ("loose", 0.02), ("below", 1.0)):
        cases["a case"]["rows"][row] |= {"seconds": seconds, "cold": 2.0 * seconds}  # as if measured
    cases["a case"]["rows"]["hockeystick"]["cold"] = 0.03
    words = {
        "date": "today",
        "machine": "here",
        "python": "3",
        "numpy": "2",
        "scipy": "1",
        "rounds": 9,
        "missing": ["absent"],
        "note": "",
    }
    return verdicts.completed({**words, "peers": kinds, "cases": cases}, TRUTHS)


def test_verdicts(results):
    found = results["cases"]["a case"]["rows"]
    assert found["hockeystick"]["below"] == 0
    assert found["hockeystick"]["digits"] == pytest.approx(-math.log10(5e-8))
    assert found["loose"]["digits"] == pytest.approx(1.0)
    assert found["loose"]["ratio"] == pytest.approx(20.0)
    assert (found["below"]["below"], found["below"]["digits"]) == (1, 0.0)
    assert results["means"]["loss"] == pytest.approx(math.sqrt(20.0 * 1000.0))
    first, second = results["unmet"]
    assert results["unmet cold"] == ["a case: 1.33 times as fast as loose, not 50"]
    assert "141 times" in first
    assert "not 500" in first
    assert "20 times as fast as loose, not 50" in second


def test_the_report_begins_with_what_does_not_hold(results):
    text = report.markdown(results)
    assert text.index("Bars that do not hold") < text.index("Bars that would not hold") < text.index("### a group: a case")
    assert "**below the truth**" in text
    assert "| hangs | | | | | failed: no answer within 3 s |" in text
    assert "not asked: not today" in text
    assert "skipped: absent" in text
    assert "| 20 x, 1.0 | 1,000 x, **below** | failed |" in page.bench(results)


def test_the_picture(results, tmp_path):
    report.picture(results, tmp_path / "a.png")
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")


def test_ourselves_below_the_truth_is_said_at_once(results):
    results["cases"]["a case"]["rows"]["hockeystick"]["answers"] = [["0.0", "1.9999999999999998"]]
    found = verdicts.completed(results, TRUTHS)
    assert any("hockeystick is below the truth" in line for line in found["unmet"])


@pytest.mark.parametrize(
    ("upper", "away", "below"), [("2.0", 0.0, False), ("2.5", 0.25, False), ("inf", math.inf, False), ("1.5", 0.25, True)]
)
def test_distances(upper, away, below):
    assert verdicts.distance(upper, ["2.0", "2.0"]) == (away, below)


def test_slow_calls_are_repeated_less_often():
    assert [fewer(9, seconds) for seconds in (0.1, 2.0, 30.0)] == [9, 3, 1]
    row = Row(rounds=1)
    row.take({"seconds": 1.0, "cold": 1.0, "answers": [["0.0", "1.0"]]}, True)
    assert row.over


# the cases


def test_every_case_has_a_truth_and_we_hold_it():
    truths = known()
    assert list(truths) == [case.name for case in CASES]
    for case in CASES:
        found = OURS.answers(case)
        assert len(found) == len(truths[case.name]["answers"])
        for (low, high), truth in zip(found, truths[case.name]["answers"], strict=True):
            assert not verdicts.distance(repr(high), truth)[1], case.name
            assert low <= float(truth[1]), case.name
    assert sum(truth["by"] == "balls" for truth in truths.values()) >= len(truths) - 5


def test_cases_are_plain_and_move():
    for case in CASES:
        assert Case.of(json.loads(json.dumps(case.plain()))) == case
        moved = case.moved(1.0 + 1e-6)
        assert moved != case
        assert [use[2:] for use in moved.uses] == [use[2:] for use in case.uses]


def test_peers_say_what_they_cannot():
    opacus = next(one for one in PEERS if one.name == "Opacus RDP")
    with pytest.raises(Cannot, match="no words for laplace noise"):
        opacus.answers(Case("", "", (("laplace", 1.0, 1.0, 1),), 1e-5))
    with pytest.raises(Cannot, match="does not calibrate"):
        next(one for one in PEERS if one.name == "gdpnum").answers(Case("", "", CASE.uses, 1e-5, "calibrate", 1.0))
    with pytest.raises(Cannot, match="one noise"):
        next(one for one in PEERS if one.name == "Opacus GDP").answers(Case("", "", CASE.uses * 2, 1e-5))


# the page


def test_the_page_is_what_its_generator_gives():
    assert page.PAGE.read_text(encoding="utf-8") == page.text()


# instructions


def test_a_rise_is_seen():
    lines, risen = instructions.compared({"a": 120, "b": 109, "c": 5}, {"a": 100, "b": 100})
    assert risen == ["a"]
    assert "+20.0%" in lines[0]
    assert "not on record" in lines[2]


def test_totals_are_read_in_order(tmp_path):
    for place in range(1, 12):
        (tmp_path / f"counts.{place}").write_text(f"events: Ir\ntotals: {place}\n")
    assert instructions.totals(tmp_path) == list(range(1, 12))


def test_without_valgrind_or_with_other_versions_nothing_fails(monkeypatch, capsys, tmp_path):
    monkeypatch.setattr(instructions.shutil, "which", lambda _: None)
    assert instructions.main([]) == 0
    assert "apt-get install valgrind" in capsys.readouterr().out
    monkeypatch.setattr(instructions.shutil, "which", lambda _: "valgrind")
    (tmp_path / "record.json").write_text(json.dumps({"versions": {"python": "0"}, "counts": {}}))
    monkeypatch.setattr(instructions, "RECORD", tmp_path / "record.json")
    assert instructions.main([]) == 0
    assert "nothing is compared" in capsys.readouterr().out


def test_the_record_has_every_case():
    from bench.counted import CASES as counted

    record = json.loads(instructions.RECORD.read_text(encoding="utf-8"))
    assert list(record["counts"]) == list(counted)
    assert set(record["versions"]) == {"python", "numpy", "scipy", "machine", "core"}


# memory


def test_memory_of_one_query():
    found = memory.alone("DP-SGD", False)
    assert found["peak"] > 10.0
    assert memory.alone("DP-SGD", True)["arrays"] > 0.0


# the campaign


def _fake(rng, corner):
    draw = rng.random()
    verdict = "violated" if draw < 0.05 else "undecided" if draw < 0.2 else "holds"
    return campaign.Found({"corner": corner, "draw": draw}, [verdict], hs.Bounds(1.0, 1.0 + draw))


def _refuses(rng, corner):
    return hs.Gaussian(sigma=-1.0)


def _baffled(rng, corner):
    raise ValueError("the oracle does not know")


FAKES = {"one": campaign.Kind(40, 10, _fake), "two": campaign.Kind(20, 0, _fake)}


def test_it_goes_on_where_it_was_stopped(tmp_path, capsys):
    goals = {kind: one.goal for kind, one in FAKES.items()}
    whole = campaign.Campaign.load(None, 3, FAKES)
    campaign.run(whole, goals, None, kinds=FAKES)
    path = tmp_path / "state.json"
    for part in (0.2, 0.6, 1.0):
        some = campaign.Campaign.load(path, 3, FAKES)
        campaign.run(some, {kind: int(part * goal) for kind, goal in goals.items()}, path, kinds=FAKES)
    again = campaign.Campaign.load(path, 99, FAKES)
    assert again.seed == 3
    for kind, goal in goals.items():
        tally, other = whole.tallies[kind], again.tallies[kind]
        assert tally.decided == goal
        assert (tally.next, tally.inputs, tally.decades, tally.widest) == (other.next, other.inputs, other.decades, other.widest)
    assert whole.violations == again.violations > 0
    rows = [json.loads(line) for line in path.with_suffix(".log.jsonl").read_text().splitlines()]
    assert sum(row["verdict"] == "violated" for row in rows) == again.violations
    assert "VIOLATED" in capsys.readouterr().out
    assert f"violations: {again.violations}" in campaign.told(again)


def test_an_error_is_as_bad_as_a_violation():
    found = campaign.examined("x", 1, 0, {"x": campaign.Kind(1, 0, _refuses)})
    assert found.verdicts == ["failed"]
    tally = campaign.Tally()
    assert tally.add(0, found, 0.0) == "failed"
    assert tally.decided == 1
    assert campaign.examined("x", 1, 0, {"x": campaign.Kind(1, 0, _baffled)}).verdicts == ["no oracle"]


def test_what_takes_too_long_is_stopped():
    def endless(rng, corner):
        while True:
            rng.random()

    found = campaign.examined("x", 1, 0, {"x": campaign.Kind(1, 0, endless)}, limit=0.05)
    assert found.verdicts == ["too long"]


@pytest.mark.parametrize("corner", [True, False])
@pytest.mark.parametrize("check", closed.CHECKS, ids=lambda one: one.__name__)
def test_conversions_and_closed_forms(check, corner):
    for place in range(25):
        for case, verdict in check(random.Random(f"{check.__name__} {place}"), corner):
            assert verdict == "holds", case


def test_a_wrong_conversion_would_be_seen():
    assert closed.decided(lambda: arb(1) - arb(2)) == "violated"
    assert closed.decided(lambda: arb(0, 1)) == "undecided"
    low, high = closed.least_cumulant(2.0, 1.0, 0.01)
    assert abs(float(low) - 0.066846424446) < 1e-11
    assert 0.0 <= float(high - low) < 1e-20


@pytest.mark.parametrize("kind", ["contour", "lattice", "order"])
def test_the_real_kinds(kind):
    found = campaign.examined(kind, 1, {"contour": 3, "lattice": 1, "order": 1}[kind])
    assert set(found.verdicts) == {"holds"}, found


def test_thousands_of_claims_against_their_law():
    case = {"unit": 2.0**-9, "counts": [[1, 500], [2, 400], [3, 300]], "delta": 1e-9}
    assert claims.verdict(case)[0] == "holds"
    law = claims.Law({"unit": 0.5, "counts": [[1, 1], [2, 1]], "delta": 0.1})
    both = math.exp(1.5) / (1.0 + math.exp(0.5)) / (1.0 + math.exp(1.0))  # both losses are positive
    assert float(law.delta(1.0)) == pytest.approx(both * (1.0 - math.exp(1.0 - 1.5)))
