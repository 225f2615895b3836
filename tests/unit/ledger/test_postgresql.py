"""The ledger in PostgreSQL: a server from PyPI, without root, is started for these tests; else they are skipped."""

import contextlib
import threading

import pytest
from hypothesis import HealthCheck, settings
from hypothesis.stateful import run_state_machine_as_test

import hockeystick as hs
from hockeystick.ledger.storage.store import _durable
from ledger_machine import machine
from ledgers import database, opened, server


@pytest.fixture(scope="module")
def url(tmp_path_factory):
    base = tmp_path_factory.getbasetemp()
    shared = base.parent if base.name.startswith("popen-") else base  # of all processes of pytest-xdist
    with server(shared / "postgresql") as found:
        yield found


@pytest.fixture
def ledger(url):
    with hs.Ledger(database(url)) as found:
        yield found


def test_everything_that_a_file_does(ledger, tmp_path):
    account, life = opened(ledger), opened(ledger, "life", plan=[], epsilon=1.0)
    assert not account.spend("unit", key="a", actor="bob").replayed
    assert account.spend("unit", key="a", actor="bob").replayed
    with account.reserved("unit", key="b", actor="bob"):
        pass
    ledger.spend({"budget": "unit", "life": hs.PureDP(epsilon=0.1)}, key="c", actor="bob")
    with pytest.raises(hs.OverBudget):
        ledger.spend({"budget": "unit", "life": hs.PureDP(epsilon=0.91)}, key="d", actor="bob")
    assert (account.remaining("unit"), life.fits(hs.PureDP(epsilon=0.1))) == (7, 9)
    account.amend(plan=[("unit", account.terms.lines["unit"].release, 20)], actor="ada", reason="more")
    found = ledger.verify()
    ledger.export(tmp_path / "all.jsonl")
    with hs.Ledger(tmp_path / "copy.db") as copy:
        assert copy.import_(tmp_path / "all.jsonl")["accounts"] == 2
        assert copy.verify() == found
    with pytest.raises(hs.BadValue, match="only ever added"), ledger._store.writing() as connection:
        connection.exec_driver_sql("UPDATE entry SET kind = 'note'")


def test_writers_that_charge_the_same_accounts_in_any_order_do_not_wait_in_a_circle(ledger):
    opened(ledger, "a", count=30)
    opened(ledger, "b", count=30)
    over = []

    def work(number):
        names = ("a", "b") if number % 2 else ("b", "a")
        for place in range(12):
            try:
                ledger.spend(dict.fromkeys(names, "unit"), key=f"{number}-{place}", actor="bob")
            except hs.OverBudget:
                over.append(number)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert len(over) == 4 * 12 - 30
    assert [ledger.account(name).remaining("unit") for name in ("a", "b")] == [0, 0]
    ledger.verify()


@pytest.mark.parametrize("name", ["fsync", "full_page_writes"])
def test_a_server_that_would_lose_what_was_charged_is_refused(name):
    class Connection:
        """A server where this is off."""

        asked = ""

        @contextlib.contextmanager
        def cursor(self):
            yield self

        def execute(self, words):
            self.asked = words
            return self

        def fetchone(self):
            return ("off",) if self.asked == f"SHOW {name}" else ("on",)

    with pytest.raises(hs.BadValue, match=f"{name}=off, so that a crash loses what was charged"):
        _durable(Connection())


def test_what_is_acknowledged_is_on_disk(url):
    """Also where the database would rather be quick."""
    import psycopg

    quick = database(url)
    with psycopg.connect(quick, autocommit=True) as connection:
        name = connection.execute("SELECT current_database()").fetchone()[0]
        connection.execute(f"ALTER DATABASE {name} SET synchronous_commit = off")
    with hs.Ledger(quick) as ledger, ledger._store.reading() as connection:
        assert connection.exec_driver_sql("SHOW synchronous_commit").scalar() == "on"


def test_postgresql_does_what_the_model_does(url, tmp_path):
    run_state_machine_as_test(
        machine(lambda: database(url), tmp_path),
        settings=settings(
            max_examples=2, stateful_step_count=20, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck)
        ),
    )
