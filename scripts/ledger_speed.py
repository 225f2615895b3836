"""How fast the ledger is: spends a second of several writers, and the status of an account with many entries.

    python scripts/ledger_speed.py            SQLite, 8 writers; the status of 100,000 entries; verification
    python scripts/ledger_speed.py --postgresql    16 writers over 100 accounts

Run it alone: the number of other processes that want the machine (the load) is printed beside each number.
"""

import argparse
import multiprocessing
import os
import random
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

import hockeystick as hs
from ledger_soak import forked
from ledgers import database, opened, server

PLENTY = 2**40


def loaded(folder):
    """The load of the machine and of its disk, in words."""
    started, done = time.monotonic(), 0
    with (folder / "disk").open("wb") as file:
        while time.monotonic() < started + 1.0:
            file.write(b"x" * 4096)
            file.flush()
            os.fdatasync(file.fileno())
            done += 1
    return f"one process alone writes to disk {done} times a second, load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores"


def writer(where, names, number, seconds, ready, log):
    """Spends until the time is over; how many, into a file."""
    with hs.Ledger(where) as ledger:
        accounts = [ledger.account(name) for name in names]
        rng = random.Random(number)
        accounts[0].spend("unit", key=f"warm-{number}", actor="x")
        ready.wait()
        start, done = time.monotonic(), 0
        while time.monotonic() < start + seconds:
            rng.choice(accounts).spend("unit", key=f"{number}-{done}", actor="x")
            done += 1
    log.write_text(str(done))


def spends(where, folder, writers, accounts, seconds):
    """Spends a second."""
    names = [f"account-{number}" for number in range(accounts)]
    with hs.Ledger(where) as ledger:
        for name in names:
            opened(ledger, name, count=PLENTY, epsilon=PLENTY)
    ready = multiprocessing.get_context("fork").Barrier(writers)
    logs = [folder / f"writer-{number}" for number in range(writers)]
    children = [forked(lambda n=number, one=log: writer(where, names, n, seconds, ready, one)) for number, log in enumerate(logs)]
    ends = [os.waitpid(child, 0)[1] for child in children]
    assert not any(ends)
    done = sum(int(log.read_text()) for log in logs)
    with hs.Ledger(where) as ledger:
        started = time.perf_counter()
        found = ledger.verify()
        assert found.entries == done + writers + accounts
        print(f"verification: {found.entries / (time.perf_counter() - started):,.0f} entries a second")
    return done / seconds


def status(where, entries):
    """Milliseconds for the status of an account with so many entries, of a ledger that is open, and with opening it."""
    from hockeystick.ledger.state import Charge

    with hs.Ledger(where) as ledger:
        account = opened(ledger, count=PLENTY, epsilon=PLENTY)
        said = {"kind": "commit", "request": "0" * 64, "actor": "x", "token": "", "charge": Charge({"unit": 1}).said()}
        said |= {"what": {"line": "unit", "count": 1}, "with": []}

        def work(page):
            for number in range(entries):
                page.add("budget", {**said, "key": str(number)})

        ledger._book.locked(["budget"], work)
        times = []
        for _ in range(20):
            started = time.perf_counter()
            assert account.status()["entries"] == entries + 1
            times.append(time.perf_counter() - started)
    started = time.perf_counter()
    with hs.Ledger(where) as ledger:
        ledger.account("budget").status()
    return sorted(times)[10] * 1e3, (time.perf_counter() - started) * 1e3


def main():
    """The numbers that the arguments ask for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--postgresql", action="store_true")
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--entries", type=int, default=100_000)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)
        if given.postgresql:
            with server(folder / "server") as url:
                found = spends(database(url), folder, 16, 100, given.seconds)
                print(f"PostgreSQL, 16 writers, 100 accounts: {found:,.0f} spends a second ({loaded(folder)})")
            return
        found = spends(folder / "speed.db", folder, 8, 1, given.seconds)
        print(f"SQLite, 8 writers, one account: {found:,.0f} spends a second ({loaded(folder)})")
        middle, whole = status(folder / "status.db", given.entries)
        print(f"status of {given.entries:,} entries: {middle:.1f} ms, with opening the ledger {whole:.0f} ms ({loaded(folder)})")


if __name__ == "__main__":
    main()
