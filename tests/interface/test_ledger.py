"""hs.Ledger as people use it: spending, reserving, keys, refusals, amendments, parts, export and import."""

import datetime
import json
import pickle

import jsonschema
import pytest

import hockeystick as hs
from hockeystick.ledger.chain.export_file import verify_export
from ledgers import UNIT, opened, place, template, timed  # noqa: F401
from places import ROOT


@pytest.fixture
def ledger(place):  # noqa: F811
    with hs.Ledger(place) as found:
        yield found


@pytest.fixture
def account(ledger):
    return ledger.account("budget")


def test_a_planned_line_is_counted(account):
    receipt = account.spend("unit", key="a", actor="bob")
    assert (receipt.kind, receipt.lines, receipt.reserve, receipt.replayed) == ("commit", {"unit": 1}, 0, False)
    assert account.spend("unit", key="b", actor="bob", count=3).lines == {"unit": 3}
    assert account.remaining("unit") == account.fits("unit") == 6


def test_ten_tenths_of_a_reserve_are_all_of_it(ledger):
    account = opened(ledger, "tenths", plan=[])
    for place_ in range(10):
        assert account.fits(hs.PureDP(epsilon=0.1)) == 10 - place_
        account.spend(hs.PureDP(epsilon=0.1), key=str(place_), actor="bob")
    with pytest.raises(hs.OverBudget):
        account.spend(hs.PureDP(epsilon=1e-12), key="more", actor="bob")
    assert account.status()["reserve"]["left"] == 0.0


def test_a_gaussian_reserve_keeps_the_promise(ledger):
    account = opened(ledger, "gdp", delta=1e-6, epsilon=2.0, reserve="gdp", plan=[("h", hs.DiscreteGaussian(sigma=20.0), 12)])
    whole = hs.DiscreteGaussian(sigma=20.0) * 12 + hs.GDP(account.reserve_mu)
    assert 1.999 < whole.epsilon(1e-6 - 1e-7) <= 2.0
    assert account.price(hs.Laplace(scale=30.0))["asked"]["reserve"] > 0.0
    half = hs.Gaussian(sigma=2**0.5 / account.reserve_mu * (1 + 1e-7))
    account.spend(half, key="1", actor="bob")
    account.spend(half, key="2", actor="bob")
    assert account.fits(hs.Laplace(scale=30.0)) == 0


def test_a_key_is_charged_once(account):
    first = account.spend("unit", key="a", actor="bob")
    again = account.spend("unit", key="a", actor="bob")
    assert again.replayed
    assert (again.seq, again.hash, again.time) == (first.seq, first.hash, first.time)
    assert account.remaining("unit") == 9
    for other in ({"count": 2}, {"actor": "eve"}, {"release": hs.PureDP(epsilon=0.1)}):
        given = {"release": "unit", "actor": "bob", **other}
        with pytest.raises(hs.BadValue, match=r"the key 'a' was used for another request, entry 2 of 'budget' by 'bob'"):
            account.spend(given.pop("release"), key="a", **given)
    with pytest.raises(hs.BadValue, match="another request"):
        account.reserve("unit", key="a", actor="bob")
    assert account.remaining("unit") == 9


def test_a_refusal_charges_nothing_and_says_what_would_fit(account, ledger):
    before = account.status()
    with pytest.raises(
        hs.OverBudget, match=r"'unit' \* 11 does not fit 'budget'; nothing was charged; 10 of it still fit"
    ) as caught:
        account.spend("unit", key="a", actor="bob", count=11)
    assert caught.value.refusal["left"]["lines"] == {"unit": 10}
    assert caught.value.refusal["fits"] == 10
    with pytest.raises(
        hs.OverBudget, match=r"with more noise: Laplace\(scale=1\.011\)\.  Left: 10 of 10 'unit', 100 %"
    ) as caught:
        account.spend(hs.Laplace(scale=0.5), key="a", actor="bob")
    assert caught.value.refusal["would_fit"] == "Laplace(scale=1.011)"
    assert pickle.loads(pickle.dumps(caught.value)).refusal == caught.value.refusal
    assert account.status() == before
    account.spend(hs.Laplace(scale=1.011), key="a", actor="bob")  # the key of a refusal is free
    ledger.verify()


def test_reserving_commits_or_gives_back(account):
    held = account.reserve("unit", key="a", actor="bob", count=4)
    assert (held.kind, account.remaining("unit"), len(account.status()["reservations"])) == ("reserve", 6, 1)
    assert account.commit("a", actor="bob").kind == "commit"
    assert account.commit("a", actor="bob").replayed
    with pytest.raises(hs.BadValue, match=r"was committed at .*; that is final"):
        account.void("a", token=held.token, actor="bob", not_read=True)
    assert account.remaining("unit") == 6
    held = account.reserve("unit", key="b", actor="bob")
    assert account.reserve("unit", key="b", actor="bob").token is None  # whoever asks again does not hold it
    for wrong in ({"token": "x" * 32, "not_read": True}, {"token": held.token}, {"token": held.token, "not_read": 1}):
        with pytest.raises(hs.BadValue):
            account.void("b", actor="bob", **wrong)
    assert account.void("b", token=held.token, actor="bob", not_read=True).kind == "void"
    assert account.remaining("unit") == 6
    with pytest.raises(hs.BadValue, match="was given back"):
        account.commit("b", actor="bob")
    with pytest.raises(hs.BadValue, match="nothing is reserved with the key 'zzz'"):
        account.commit("zzz", actor="bob")


def test_a_time_out_commits(place):  # noqa: F811
    ledger, clock = timed(place)
    with ledger:
        account = ledger.account("budget")
        held = account.reserve("unit", key="a", actor="bob", timeout=60.0)
        clock.now += 61.0
        with pytest.raises(hs.BadValue, match="committed by its time-out"):
            account.void("a", token=held.token, actor="bob", not_read=True)
        receipt = account.commit("a", actor="bob")
        assert (receipt.kind, receipt.lines) == ("expire", {"unit": 1})
        assert account.status()["lines"]["unit"] == {"release": repr(UNIT), "count": 10, "spent": 1, "held": 0, "left": 9}
        ledger.verify()


def test_a_clock_that_is_set_back_moves_nothing_back(place):  # noqa: F811
    ledger, clock = timed(place)
    with ledger:
        account = ledger.account("budget")
        account.reserve("unit", key="a", actor="bob", timeout=60.0)
        clock.now += 3600.0
        account.note("an hour later", actor="bob")
        clock.now -= 7200.0
        account.spend("unit", key="b", actor="bob")
        times = [one["time"] for one in account.log()]
        assert times == sorted(times)
        assert [one["kind"] for one in account.log()] == ["open", "reserve", "expire", "note", "commit"]
        ledger.verify()


def test_a_body_runs_once(account):
    ran = []
    with account.reserved("unit", key="a", actor="bob") as held:
        ran.append(held.seq)
    with pytest.raises(hs.BadValue, match="a key authorises one execution"), account.reserved("unit", key="a", actor="bob"):
        ran.append("again")
    account.reserve("unit", key="b", actor="bob")  # as by a process that was killed after it published
    with pytest.raises(hs.BadValue, match="a key authorises one execution"), account.reserved("unit", key="b", actor="bob"):
        ran.append("again")
    assert ran == [2]


def test_a_body_that_raises_is_charged_unless_nothing_was_read(account):
    with pytest.raises(ZeroDivisionError), account.reserved("unit", key="a", actor="bob"):
        _ = 1 / 0
    assert account.status()["lines"]["unit"]["spent"] == 1
    with pytest.raises(hs.NotRead, match="the disk was full"), account.reserved("unit", key="b", actor="bob"):
        raise hs.NotRead("the disk was full")
    assert account.status()["lines"]["unit"]["spent"] == 1
    assert account.remaining("unit") == 9
    assert account.log()[-1]["note"] == "the disk was full"


def test_several_accounts_are_charged_together_or_not_at_all(ledger, account):
    life = opened(ledger, "life", count=2)
    receipts = ledger.spend({"budget": "unit", "life": "unit"}, key="a", actor="bob")
    assert [(one.account, one.lines) for one in receipts] == [("budget", {"unit": 1}), ("life", {"unit": 1})]
    assert all(one.replayed for one in ledger.spend({"life": "unit", "budget": "unit"}, key="a", actor="bob"))
    with pytest.raises(hs.BadValue, match="another request"):
        account.spend("unit", key="a", actor="bob")
    with pytest.raises(hs.OverBudget, match=r"does not fit 'life'"):
        ledger.spend({"budget": "unit", "life": "unit"}, key="b", actor="bob", count=2)
    assert (account.remaining("unit"), life.remaining("unit")) == (9, 1)
    held = ledger.reserve({"budget": "unit", "life": hs.PureDP(epsilon=0.01)}, key="c", actor="bob")
    assert held[0].token == held[1].token
    account.void("c", token=held[0].token, actor="bob", not_read=True)
    assert (account.remaining("unit"), life.status()["reservations"]) == (9, [])
    ledger.verify()


def test_an_amendment_is_a_new_version(ledger, account):
    account.spend(hs.PureDP(epsilon=0.33), key="a", actor="bob")
    account.spend("unit", key="b", actor="bob", count=9)
    held = account.reserve(hs.PureDP(epsilon=0.11), key="c", actor="bob")
    account.amend(epsilon=2.0, actor="ada", reason="the board decided so")
    status = account.status()
    assert (status["version"], status["promise"]["epsilon"], status["lines"]["unit"]["left"]) == (2, 2.0, 1)
    assert account.fits(hs.PureDP(epsilon=0.309)) == 5  # 2.0 - 10 * 0.001 - 0.33 - 0.11 = 1.55
    account.void("c", token=held.token, actor="bob", not_read=True)
    assert account.fits(hs.PureDP(epsilon=1.659)) == 1
    assert account.log()[-2]["reason"] == "the board decided so"
    with pytest.raises(hs.BadValue, match="promise less than has been taken"):
        account.amend(plan=[("unit", UNIT, 8)], actor="ada", reason="less")
    with pytest.raises(hs.BadValue, match="lack the planned line 'unit'"):
        account.amend(plan=[("other", UNIT, 8)], actor="ada", reason="other")
    with pytest.raises(hs.BadValue, match="have another release as 'unit'"):
        account.amend(plan=[("unit", hs.PureDP(epsilon=0.002), 10)], actor="ada", reason="other")
    with pytest.raises(hs.BadValue, match=r"unknown keys epsilonn \(did you mean epsilon\?\)"):
        account.amend(epsilonn=3.0, actor="ada", reason="other")
    ledger.verify()


def test_a_release_is_priced_by_the_terms_of_today(place):  # noqa: F811
    """Another process amends between two spends."""
    with hs.Ledger(place) as here, hs.Ledger(place) as there:
        account = here.account("budget")
        account.spend(hs.PureDP(epsilon=0.1), key="a", actor="bob")
        there.account("budget").amend(epsilon=1.5, actor="ada", reason="more")
        account.spend(hs.PureDP(epsilon=1.389), key="b", actor="bob")
        assert account.status()["reserve"]["left"] < 0.001
        here.verify()


def test_periods_and_closing(place):  # noqa: F811
    ledger, clock = timed(place)
    with ledger:
        day = datetime.datetime.fromtimestamp(clock.now, datetime.UTC)
        later = day + datetime.timedelta(days=1)
        account = opened(ledger, "period", opens=day.isoformat(), closes=later.isoformat())
        account.spend("unit", key="a", actor="bob")
        clock.now += 86_400.0
        with pytest.raises(hs.BadValue, match="the period of the account ended at 2027-01-16"):
            account.spend("unit", key="b", actor="bob")
        other = opened(ledger, "next", opens=(later + datetime.timedelta(days=1)).date())
        with pytest.raises(hs.BadValue, match="the account opens at 2027-01-17T00:00:00"):
            other.spend("unit", key="b", actor="bob")
        budget = ledger.account("budget")
        held = budget.reserve("unit", key="a", actor="bob")
        budget.close(actor="ada", reason="done")
        with pytest.raises(hs.BadValue, match="was closed at"):
            budget.spend("unit", key="b", actor="bob")
        with pytest.raises(hs.BadValue, match="closed"):
            budget.close(actor="ada")
        budget.void("a", token=held.token, actor="bob", not_read=True)
        ledger.verify()


def test_parts_are_charged_to_the_whole_once(ledger, account):
    for name in ("north", "south"):
        ledger.add_dataset(name, unit="one person", partition_of="data", key="region")
    given = {"delta": 0.0, "reserve": "pure", "actor": "ada", "within": "budget"}
    north = ledger.open_account("north", dataset="north", epsilon=0.3, **given)
    assert account.fits(hs.PureDP(epsilon=0.0009999)) == 690
    ledger.open_account("south", dataset="south", epsilon=0.2, **given)
    assert account.fits(hs.PureDP(epsilon=0.0009999)) == 690  # a person is in one of them
    north.spend(hs.PureDP(epsilon=0.3), key="a", actor="bob")
    assert account.fits(hs.PureDP(epsilon=0.0009999)) == 690  # which was taken before
    ledger.account("south").amend(epsilon=0.4, actor="ada", reason="more")
    assert account.fits(hs.PureDP(epsilon=0.0009999)) == 590
    ledger.add_dataset("west", unit="one person", partition_of="data", key="region")
    with pytest.raises(hs.OverBudget, match="'budget' has too little left of the reserve for the part 'west'"):
        ledger.open_account("west", dataset="west", epsilon=1.0, **given)
    assert "west" not in ledger.accounts()
    with pytest.raises(hs.BadValue, match="within is None, and 'west' is a part of 'data'"):
        ledger.open_account("west", dataset="west", epsilon=0.1, **{**given, "within": None})
    ledger.verify()


def test_parts_that_overlap_add_up(ledger, account):
    """Two accounts on one part, and parts by different columns, are about the same people; `budget` has 0.69 left."""
    for name, key in (("north", "region"), ("south", "region"), ("young", "age"), ("old", "age")):
        ledger.add_dataset(name, unit="one person", partition_of="data", key=key)
    given = {"delta": 0.0, "reserve": "pure", "actor": "ada", "within": "budget"}
    probe = hs.PureDP(epsilon=0.0009999)
    for name, dataset, epsilon, left in (
        ("north", "north", 0.2, 790),
        ("north again", "north", 0.1, 690),  # the same people
        ("south", "south", 0.3, 690),  # other people, up to what those of the north may take
        ("young", "young", 0.2, 490),  # people of both
        ("old", "old", 0.1, 490),
    ):
        ledger.open_account(name, dataset=dataset, epsilon=epsilon, **given)
        assert account.fits(probe) == left, name
    ledger.account("south").amend(epsilon=0.4, actor="ada", reason="more")
    assert account.fits(probe) == 390
    account.amend(epsilon=3.0, actor="ada", reason="other units")
    ledger.account("old").amend(epsilon=0.2, actor="ada", reason="as much as the young")
    assert account.fits(probe) == 2390
    with pytest.raises(hs.OverBudget):
        ledger.open_account("north, a third time", dataset="north", epsilon=2.9, **given)
    ledger.verify()


def test_the_key_of_a_part_can_be_taken_before(ledger, account):
    account.spend("unit", key="part north, version 1", actor="bob")
    ledger.add_dataset("north", unit="one person", partition_of="data", key="region")
    ledger.open_account("north", dataset="north", epsilon=0.3, delta=0.0, reserve="pure", actor="ada", within="budget")
    assert ledger.verify().accounts == 2


@pytest.mark.parametrize("wrong", ["\udcff", "\x1b[2J", "\x00"])
def test_what_no_report_can_print_is_refused(account, wrong):
    with pytest.raises(hs.BadValue, match="allowed: what can be printed"):
        account.spend("unit", key="a", actor="bob", note=wrong)
    with pytest.raises(hs.NotRead), account.reserved("unit", key="b", actor="bob"):
        raise hs.NotRead(wrong)
    assert account.remaining("unit") == 10


@pytest.mark.parametrize("moment", ["0001-01-01T00:00+14:00", "9999-12-31T23:59-14:00"])
def test_a_moment_that_utc_does_not_have_is_refused(ledger, moment):
    with pytest.raises(hs.BadValue, match="allowed: the years 1 to 9999 in UTC"):
        opened(ledger, "far", opens=moment)


def test_a_key_that_was_given_back_is_not_answered_as_reserved(account):
    """Whoever goes on after that answer would release what nothing is charged for."""
    held = account.reserve("unit", key="a", actor="bob")
    account.void("a", token=held.token, actor="bob", not_read=True)
    with pytest.raises(hs.BadValue, match="was given back; allowed: a new key, which is charged anew"):
        account.reserve("unit", key="a", actor="bob")


def test_a_reservation_that_has_ended_is_not_answered_as_reserved(account):
    """A script that begins again after it has released would release twice."""
    first = account.reserve("unit", key="a", actor="bob")
    assert account.reserve("unit", key="a", actor="bob").seq == first.seq
    account.commit("a", actor="bob")
    with pytest.raises(hs.BadValue, match="was committed, and a key authorises one execution; allowed: a new key"):
        account.reserve("unit", key="a", actor="bob")
    assert account.commit("a", actor="bob").replayed


def test_names_of_accounts_are_texts(ledger):
    with pytest.raises(hs.BadType, match="account is 1"):
        ledger.spend({1: "unit"}, key="a", actor="bob")


def test_parts_of_what_can_move_are_refused(ledger):
    ledger.add_dataset("moving", unit="one person", neighbours="replace")
    with pytest.raises(hs.BadValue, match="A record that is replaced can move from one part to another"):
        ledger.add_dataset("part", unit="one person", neighbours="replace", partition_of="moving", key="region")
    with pytest.raises(hs.BadValue, match="allowed: the same"):
        ledger.add_dataset("part", unit="one person", partition_of="moving", key="region")


def test_export_import_and_verification_without_a_data_base(ledger, account, tmp_path):
    account.spend("unit", key="a", actor="bob", note="März")
    path = tmp_path / "all.jsonl"
    ledger.export(path)
    schema = json.loads((ROOT / "docs" / "ledger.schema.json").read_text(encoding="utf-8"))
    for line in path.read_text(encoding="utf-8").splitlines():
        found = json.loads(line)
        jsonschema.validate(found, schema)
        for kind in {"dataset", "entry"} & set(found):
            body = {**schema, "oneOf": [{"$ref": f"#/$defs/{kind}_body"}]}
            jsonschema.validate(json.loads(found[kind]["body"]), body)
    assert verify_export(path) == ledger.verify()
    with hs.Ledger(tmp_path / "other.db") as other:
        opened(other, "theirs", dataset="other data")  # of another machine
        assert other.import_(path) == {"datasets": 1, "accounts": 1, "entries": 2}
        assert other.import_(path) == {"datasets": 0, "accounts": 0, "entries": 0}
        assert other.accounts() == ["budget", "theirs"]
        account.spend("unit", key="b", actor="bob")
        ledger.export(path)
        assert other.import_(path) == {"datasets": 0, "accounts": 0, "entries": 1}
        assert other.account("budget").remaining("unit") == 8
        other.account("budget").spend("unit", key="c", actor="eve")
        account.spend("unit", key="d", actor="bob")
        ledger.export(path)
        with pytest.raises(hs.BadValue, match="went on differently here and there from entry 4 on; nothing was imported"):
            other.import_(path)
        other.verify()


def test_a_published_head_keeps_the_past(ledger, account):
    account.spend("unit", key="a", actor="bob")
    head = json.loads(json.dumps(ledger.head()))
    account.spend("unit", key="b", actor="bob")
    assert ledger.verify(head).entries == 3
    head["accounts"]["budget"]["hash"] = "0" * 64
    with pytest.raises(hs.BadValue, match="its digest is not that of its accounts"):
        ledger.verify(head)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda a: a.spend("unlt", key="k", actor="x"), r"no planned line 'unlt' \(did you mean unit\?\)"),
        (lambda a: a.spend(3.0, key="k", actor="x"), "release is 3.0; allowed: a release"),
        (lambda a: a.spend("unit", key="", actor="x"), "key is ''; allowed: a text of 1 to 200 letters"),
        (lambda a: a.spend("unit", key="k", actor=None), r"actor is None \(NoneType\); allowed: a text"),
        (lambda a: a.spend("unit", key="k", actor="x", count=0), "count is 0"),
        (lambda a: a.spend("unit", key="k", actor="x", count=True), "count is True"),
        (lambda a: a.spend("unit", key="k\n", actor="x"), "on one line"),
        (lambda a: a.reserve("unit", key="k", actor="x", timeout=float("nan")), "timeout is nan"),
        (lambda a: a.reserve("unit", key="k", actor="x", timeout=1e9), "up to 8,640,000"),
        (lambda a: a.note("", actor="x"), "text is empty"),
        (lambda a: a._ledger.account("bugdet"), r"no account 'bugdet' \(did you mean budget\?\); there are: budget"),
        (lambda a: opened(a._ledger), "there is an account 'budget' already"),
        (lambda a: opened(a._ledger, "n", delta=1.0), "delta is 1.0"),
        (lambda a: opened(a._ledger, "n", epsilon=-1.0), "epsilon is -1.0"),
        (lambda a: opened(a._ledger, "n", plan=[("x", 3)]), "plan has 3 for 'x'"),
        (lambda a: opened(a._ledger, "n", plan=[("x", UNIT), ("x", UNIT)]), "plan has the name 'x' twice"),
        (lambda a: opened(a._ledger, "n", opens="2026-02-30"), "opens is '2026-02-30'"),
        (lambda a: opened(a._ledger, "n", opens="2026-02-02", closes="2026-01-01"), "a period that begins before it ends"),
        (lambda a: a._ledger.open_account("n", dataset="dta", epsilon=1.0, delta=0.0, actor="x"), r"did you mean data\?"),
        (lambda a: a._ledger.add_dataset("data", unit="one visit"), "there is another data set 'data'"),
        (lambda a: a._ledger.add_dataset("d", unit=""), "unit is empty"),
        (lambda a: a._ledger.add_dataset("d", unit="x", neighbours="add"), "neighbours is 'add'"),
        (lambda a: hs.Ledger(3), "a ledger is 3"),
        (lambda a: hs.Ledger("https://example.org/ledger"), "a ledger is at https://"),
        (lambda a: hs.Ledger("/no/such/folder/ledger.db"), "the folder '/no/such/folder' does not exist"),
    ],
)
def test_bad_input_is_refused_in_words(account, call, words):
    before = account.status()
    with pytest.raises((hs.BadValue, hs.BadType), match=words):
        call(account)
    assert account.status() == before


def test_a_plan_beyond_the_promise_is_refused(ledger):
    with pytest.raises(hs.Unreachable, match="alone has epsilon"):
        opened(ledger, "n", count=2000)


def test_a_file_that_is_no_ledger_is_left_alone(tmp_path):
    path = tmp_path / "notes.txt"
    path.write_text("not a data base " * 500)
    with pytest.raises(hs.BadValue, match="is no ledger, or a damaged one"):
        hs.Ledger(path)
    assert path.read_text() == "not a data base " * 500
    with pytest.raises(hs.BadValue, match=r"there is no ledger at .*; make one: hockeystick ledger init"):
        hs.Ledger(tmp_path / "none.db", make=False)
    assert not (tmp_path / "none.db").exists()


@pytest.mark.parametrize(
    "nothing", [hs.Laplace(scale=30.0) * 0, hs.Gaussian(sigma=2.0).poisson(rate=0.0), hs.PureDP(epsilon=0.0)]
)
def test_what_releases_nothing_is_not_charged(account, nothing):
    """A rate or a count that came out as 0 by mistake would be published for nothing."""
    for verb in (account.spend, account.reserve):
        with pytest.raises(hs.BadValue, match="releases nothing, so that nothing would be charged"):
            verb(nothing, key="a", actor="bob")
    assert len(account.log()) == 1


def test_a_line_of_nothing_is_not_planned(ledger):
    with pytest.raises(hs.BadValue, match="which releases nothing"):
        opened(ledger, "zero", plan=[("unit", hs.Gaussian(sigma=1.0) * 0, 1)])
