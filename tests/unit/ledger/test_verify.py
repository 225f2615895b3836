"""Every byte of every text, and every entry that is removed, swapped or added, is found, and named."""

import re
import shutil
import sqlite3
from contextlib import closing

import pytest

import hockeystick as hs
from hockeystick.ledger.chain.entries import made, parsed, sha256
from hockeystick.ledger.chain.export_file import verify_export
from hockeystick.ledger.chain.verify import verified
from hockeystick.ledger.storage.exchange import records
from ledgers import opened, place, template  # noqa: F401


@pytest.fixture(scope="module")
def filled(tmp_path_factory):
    """A ledger with all kinds of entries, in two accounts."""
    path = tmp_path_factory.mktemp("ledger") / "filled.db"
    with hs.Ledger(path) as ledger:
        account = opened(ledger)
        opened(ledger, "other")
        ledger.spend({"budget": "unit", "other": "unit"}, key="both", actor="bob")
        account.reserve("unit", key="a", actor="bob")
        account.commit("a", actor="bob")
        held = account.reserve(hs.PureDP(epsilon=0.1), key="b", actor="bob")
        account.void("b", token=held.token, actor="bob", not_read=True)
        account.note("a remark", actor="ada")
        account.amend(purpose="another", actor="ada", reason="why")
        account.close(actor="ada")
    return path


@pytest.fixture
def changed(filled, tmp_path):
    """A connection to a copy, in which entries can be changed; what is found then."""
    path = shutil.copy(filled, tmp_path / "ledger.db")
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("DROP TRIGGER entry_no_update")
        connection.execute("DROP TRIGGER entry_no_delete")
        connection.commit()

        def found():
            connection.commit()
            with hs.Ledger(path) as ledger, pytest.raises(hs.Tampered) as caught:
                ledger.verify()
            return caught.value.findings

        yield connection, found


def everything(path):
    with hs.Ledger(path) as ledger:
        return list(records(ledger._store))


def findings(found):
    with pytest.raises(hs.Tampered) as caught:
        verified(found)
    return caught.value.findings


def test_what_was_not_changed_verifies(filled):
    with hs.Ledger(filled) as ledger:
        found = ledger.verify()
    assert (found.accounts, found.entries) == (2, 11)


def test_every_changed_byte_is_named(filled):
    """Of every text; the data base hands over bytes as they are, so the records are changed rather than the file."""
    from dataclasses import replace

    kept = everything(filled)
    count = 0
    for place_, (kind, one) in enumerate(kept):
        if kind == "account":
            continue
        body = one["body"] if kind == "dataset" else one.body
        for at in range(len(body)):
            wrong = body[:at] + bytes([body[at] ^ (1 << at % 8)]) + body[at + 1 :]
            other = {**one, "body": wrong} if kind == "dataset" else replace(one, body=wrong)
            name = "data set 'data'" if kind == "dataset" else f"entry {one.seq} of {one.account!r}"
            if at % 7 and kind == "entry":  # the whole ledger again for some, its own hash for all
                from hockeystick.ledger.chain.entries import digest

                assert digest(one.previous, wrong) != one.hash
                continue
            assert findings([*kept[:place_], (kind, other), *kept[place_ + 1 :]])[0].startswith(name), (kind, at)
            count += 1
    assert count > 300


def test_every_changed_column_is_named(changed):
    connection, found = changed
    for column, value in {
        "kind": "note",
        "key": "else",
        "request": "0" * 64,
        "settles": 99,
        "previous": "1" * 64,
        "hash": "2" * 64,
    }.items():
        (old,) = connection.execute(f"SELECT {column} FROM entry WHERE account='budget' AND seq=3").fetchone()
        connection.execute(f"UPDATE entry SET {column}=? WHERE account='budget' AND seq=3", (value,))
        assert found()[0].startswith("entry 3 of 'budget'"), column
        connection.execute(f"UPDATE entry SET {column}=? WHERE account='budget' AND seq=3", (old,))


@pytest.mark.parametrize("seq", range(1, 10))
def test_a_removed_entry_is_named(filled, seq):
    kept = [one for one in everything(filled) if one[0] != "entry" or (one[1].account, one[1].seq) != ("budget", seq)]
    assert f"entry {seq} " in " ".join(findings(kept)) or f"entry {seq}:" in " ".join(findings(kept))


def test_an_entry_that_was_removed_from_the_data_base_is_named(changed):
    connection, found = changed
    connection.execute("DELETE FROM entry WHERE account='budget' AND seq=9")
    assert found() == ("entry 9 of 'budget': removed from the end",)


def test_swapped_entries_are_named(changed):
    connection, found = changed
    for old, new in ((3, 99), (4, 3), (99, 4)):
        connection.execute("UPDATE entry SET seq=? WHERE account='budget' AND seq=?", (new, old))
    named = " ".join(found())
    assert "entry 3 of 'budget'" in named
    assert "entry 4 of 'budget'" in named


def test_an_added_entry_is_named_though_its_hash_is_right(changed):
    connection, found = changed
    ((head,),) = connection.execute("SELECT head FROM account WHERE name='budget'")
    said = {"kind": "note", "actor": "eve", "note": "", "time": "2999-01-01T00:00:00.000000Z", "key": None}
    one = made("budget", 10, head, said)
    connection.execute("INSERT INTO entry VALUES (?,?,?,?,?,?,?,?,?)", tuple(vars(one).values()))
    assert found() == ("entry 10 of 'budget': added behind the last entry of the account",)


def test_totals_and_rows_that_were_changed_are_named(changed):
    connection, found = changed
    ((totals,),) = connection.execute("SELECT totals FROM account WHERE name='budget'")
    connection.execute("UPDATE account SET totals=replace(totals, '\"unit\":2', '\"unit\":1') WHERE name='budget'")
    assert found() == ("account 'budget': its totals are not the sums of its 9 entries",)
    connection.execute("UPDATE account SET totals=? WHERE name='budget'", (totals,))
    connection.execute("UPDATE dataset SET body=CAST(replace(body, 'one person', 'one visit!') AS BLOB)")
    assert found()[0] == "data set 'data': its text is not the one that was written"


def test_a_chain_that_was_written_anew_is_named_by_what_cannot_stand(filled):
    """Whoever can hash can write a chain of their own; it still has to obey the rules of the account."""
    found, head = [], "0" * 64
    for kind, one in everything(filled):
        if kind == "entry" and one.account == "budget":
            said = one.said()
            if one.seq == 2:
                said["charge"]["lines"]["unit"] = 11
            one = made("budget", one.seq, head, said)
            head = one.hash
        found.append((kind, one))
    named = findings(found)
    assert named[0] == "entry 2 of 'budget': it may not stand here: it takes more than is left of 'unit'."


def test_one_of_two_accounts_without_the_release_is_named(filled):
    """A release over two accounts, of which one chain was written without it."""
    found, head, kept = [], "0" * 64, everything(filled)
    for kind, one in kept:
        if kind == "entry" and one.account == "other":
            if one.seq == 2:
                continue
            head = one.hash
        if kind == "account" and one["name"] == "other":
            first = next(e for k, e in kept if k == "entry" and e.account == "other")
            totals = parsed(one["totals"].encode())
            totals |= {"spent": {"lines": {}, "reserve": 0, "slack": 0}, "time": first.said()["time"]}
            from hockeystick.ledger.chain.entries import text

            one = {**one, "seq": 1, "head": first.hash, "totals": text(totals).decode()}
        found.append((kind, one))
    assert findings(found) == ("the release 'both' of 'budget': it is missing in 'other', which was charged together with it",)
    assert head


def test_an_export_without_a_line_or_with_another_is_named(filled, tmp_path):
    path = tmp_path / "all.jsonl"
    with hs.Ledger(filled) as ledger:
        ledger.export(path)
    lines = path.read_text().splitlines(keepends=True)
    wrong = tmp_path / "wrong.jsonl"
    for at in range(1, len(lines)):
        wrong.write_text("".join(lines[:at] + lines[at + 1 :]))
        with pytest.raises(hs.Tampered):
            verify_export(wrong)
        wrong.write_text("".join(lines[:at]) + lines[at].replace("e", "f", 1) + "".join(lines[at + 1 :]))
        with pytest.raises(hs.Tampered):
            verify_export(wrong)
    for words in ("", "{}\n", "nonsense\n", lines[0]):
        wrong.write_text(words)
        with pytest.raises((hs.BadValue, hs.Tampered)):
            verify_export(wrong)


def test_a_message_shows_some_and_counts_the_rest(filled):
    kept = [one for one in everything(filled) if one[0] != "entry"]
    assert re.search(r"entries 1 to 9 of 'budget': removed from the end", str(findings(kept)))


def test_an_account_without_entries_or_one_that_is_there_twice_is_named(filled):
    kept = everything(filled)
    row = next(one for kind, one in kept if kind == "account")
    empty = {**row, "name": "empty", "seq": 0, "head": "0" * 64}
    assert findings([("account", empty), *kept]) == ("account 'empty': it has no entries, not even the one that opened it",)
    assert findings([*kept, ("account", row)]) == (f"account {row['name']!r}: it is there twice",)
    data = next(one for kind, one in kept if kind == "dataset")
    assert findings([("dataset", data), *kept]) == (f"data set {data['name']!r}: it is there twice",)


def test_heads_of_another_form_are_refused(filled):
    accounts = {"budget": 1}
    with hs.Ledger(filled) as ledger, pytest.raises(hs.BadValue, match="heads has 1 for 'budget'"):
        ledger.verify({"accounts": accounts, "digest": sha256({"accounts": accounts})})
