"""The data base: where it may be, how it is opened, crashes, many writers, and that nothing is imported without the extra."""

import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest
import sqlalchemy as sa

import hockeystick as hs
from hockeystick.ledger.storage import schema
from hockeystick.ledger.storage.place import kind_of, local, place
from ledgers import opened
from places import ROOT

MOUNTS = """/dev/vda / ext4 rw 0 0
server:/export /mnt/shared nfs4 rw 0 0
/dev/sdb /mnt/shared/local ext4 rw 0 0
//host/it /mnt/with\\040space cifs rw 0 0
"""


@pytest.mark.parametrize(
    ("folder", "kind"),
    [
        ("/home/ada", "ext4"),
        ("/mnt/shared/deep/er", "nfs4"),
        ("/mnt/shared/local", "ext4"),
        ("/mnt/sharedness", "ext4"),
        ("/mnt/with space", "cifs"),
    ],
)
def test_the_file_system_of_a_folder(folder, kind):
    assert kind_of(Path(folder), MOUNTS) == kind


def test_a_network_file_system_is_refused_with_the_reason(monkeypatch, tmp_path):
    monkeypatch.setattr("hockeystick.ledger.storage.place.kind_of", lambda folder: "nfs4")
    with pytest.raises(hs.BadValue, match=r"network file system \(nfs4\), whose locks do not keep two writers apart"):
        hs.Ledger(tmp_path / "ledger.db")
    monkeypatch.undo()
    with pytest.raises(hs.BadValue, match="is a folder"):
        local(tmp_path)


def test_places(tmp_path):
    assert place(tmp_path / "a b.db") == tmp_path / "a b.db"
    assert place(f"sqlite:///{tmp_path}/x.db") == tmp_path / "x.db"
    assert (
        place("postgresql://ada@host/budgets") == place("postgres://ada@host/budgets") == "postgresql+psycopg://ada@host/budgets"
    )


def test_a_password_is_not_shown():
    with pytest.raises(hs.Unavailable) as caught:
        hs.Ledger("postgresql://ada:secret@127.0.0.1:1/budgets")
    assert "secret" not in str(caught.value)
    assert "the same request with the same key again" in str(caught.value)


def test_the_file_is_durable_and_strict(tmp_path):
    path = tmp_path / "led ger#1?.db"  # as a name, not as a URL
    with hs.Ledger(path) as ledger, ledger._store.reading() as connection:
        found = {name: connection.exec_driver_sql(f"PRAGMA {name}").scalar() for name in ("journal_mode", "synchronous")}
        tables = dict(connection.exec_driver_sql("SELECT name, strict FROM pragma_table_list WHERE schema='main'").all())
    assert path.is_file()
    assert found == {"journal_mode": "wal", "synchronous": 2}
    assert {tables[name] for name in ("account", "dataset", "entry")} == {1}


def test_queries_name_the_columns_that_the_migrations_make(tmp_path):
    with hs.Ledger(tmp_path / "ledger.db") as ledger, ledger._store.reading() as connection:
        for name in ("dataset", "account", "entry"):
            made = [one["name"] for one in sa.inspect(connection).get_columns(name)]
            assert made == list(getattr(schema, name).c.keys())
        assert ledger._store.version() == schema.VERSION


def test_entries_are_only_added(tmp_path):
    with hs.Ledger(tmp_path / "ledger.db") as ledger:
        opened(ledger)
    with closing(sqlite3.connect(tmp_path / "ledger.db", isolation_level=None)) as connection:
        for words in ("UPDATE entry SET kind='note'", "DELETE FROM entry"):
            with pytest.raises(sqlite3.IntegrityError, match="entries of the ledger are only ever added"):
                connection.execute(words)


@pytest.mark.parametrize(("form", "words"), [("0000", "older form 0000; bring it to"), ("9999", "newer than")])
def test_another_form_is_refused(tmp_path, form, words):
    with hs.Ledger(tmp_path / "ledger.db"):
        pass
    with closing(sqlite3.connect(tmp_path / "ledger.db", isolation_level=None)) as connection:
        connection.execute("UPDATE alembic_version SET version_num=?", (form,))
    with pytest.raises(hs.BadValue, match=words):
        hs.Ledger(tmp_path / "ledger.db")


def test_a_lock_that_is_not_given_back_is_an_error_and_nothing_is_charged(tmp_path, monkeypatch):
    monkeypatch.setattr("hockeystick.ledger.storage.store.PATIENCE", 0.05)
    with hs.Ledger(tmp_path / "ledger.db") as ledger:
        account = opened(ledger)
        with closing(sqlite3.connect(tmp_path / "ledger.db", isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            with pytest.raises(hs.Unavailable, match="database is locked"):
                account.spend("unit", key="a", actor="bob")
            assert account.remaining("unit") == 10  # readers do not wait
        assert not account.spend("unit", key="a", actor="bob").replayed
        ledger.verify()


def test_a_full_disk_charges_nothing(tmp_path):
    """SQLite is allowed no more pages: what was written before stands, and the same request goes through later."""
    with hs.Ledger(tmp_path / "ledger.db") as ledger:
        account = opened(ledger, count=2000, epsilon=3.0)

        def limit(pages):
            @sa.event.listens_for(ledger._store.engine, "begin")
            def _(connection):
                connection.exec_driver_sql(f"PRAGMA max_page_count={pages}")

        with ledger._store.reading() as connection:
            pages = connection.exec_driver_sql("PRAGMA page_count").scalar()
        limit(pages)
        done = 0

        def fill():
            nonlocal done
            for done in range(2000):
                account.spend("unit", key=str(done), actor="bob", note="x" * 500)

        with pytest.raises(hs.Unavailable, match="full"):
            fill()
        assert account.remaining("unit") == 2000 - done
        ledger.verify()
        limit(1_000_000)
        assert not account.spend("unit", key=str(done), actor="bob", note="x" * 500).replayed
        assert account.remaining("unit") == 1999 - done


def test_without_the_extra_the_library_works_and_says_what_to_install():
    script = (
        "import sys\n"
        "class Without:\n"
        "    def find_spec(self, name, *more):\n"
        "        if name.partition('.')[0] in ('sqlalchemy', 'alembic'): raise ModuleNotFoundError(name=name)\n"
        "sys.meta_path.insert(0, Without())\n"
        "import hockeystick as hs\n"
        "assert hs.Ledger and hs.Tampered\n"
        "print(hs.Gaussian(sigma=2.0).epsilon(1e-5) > 0)\n"
        "try: hs.Ledger('ledger.db')\n"
        "except hs.MissingExtra as error: print(error)\n"
        "from hockeystick.ledger.chain.export_file import verify_export\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, env=environment, check=True)
    assert done.stdout.splitlines() == [
        "True",
        "the ledger needs SQLAlchemy and Alembic; install them: pip install 'SQLAlchemy>=2.0.40' 'alembic>=1.13'.",
    ]


SOAK = """
import shutil, sys
from itertools import count
from pathlib import Path
sys.path.insert(0, {scripts!r})
import ledger_soak
folder, number = Path({folder!r}), count()
"""


def soaked(tmp_path, lines):
    """Some lines with the soak script, in a process of its own, since it forks."""
    text = SOAK.format(scripts=str(ROOT / "scripts"), folder=str(tmp_path)) + lines
    environment = {**os.environ, "PYTHONPATH": f"{ROOT / 'src'}{os.pathsep}{ROOT / 'tests'}"}
    return subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, env=environment, check=False)


def test_a_crash_at_every_statement_leaves_all_or_nothing(tmp_path):
    done = soaked(
        tmp_path,
        "ledger_soak.with_two_accounts(folder / 'template.db')\n"
        "fresh = lambda: shutil.copy(folder / 'template.db', folder / f'{next(number)}.db')\n"
        "print(ledger_soak.crash(fresh, ('two accounts',), first=8))\n",
    )
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) > 15


def test_many_writers_of_which_some_are_killed_commit_exactly_the_budget(tmp_path):
    done = soaked(tmp_path, "ledger_soak.kill(folder / 'ledger.db', folder, 6, 12, 40, 0)\n")
    assert done.returncode == 0, done.stderr
