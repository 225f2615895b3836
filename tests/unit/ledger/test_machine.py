"""The ledger against a model in memory, in random orders of all verbs; `scripts/ledger_soak.py machine` does many more steps."""

import shutil
from itertools import count

from hypothesis import HealthCheck, settings
from hypothesis.stateful import run_state_machine_as_test

import hockeystick as hs
from ledger_machine import machine


def test_sqlite_does_what_the_model_does(tmp_path):
    with hs.Ledger(tmp_path / "empty.db"):
        pass
    places = (tmp_path / f"{number}.db" for number in count())

    def fresh():
        return shutil.copy(tmp_path / "empty.db", next(places))

    run_state_machine_as_test(
        machine(fresh, tmp_path),
        settings=settings(
            max_examples=4, stateful_step_count=25, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck)
        ),
    )
