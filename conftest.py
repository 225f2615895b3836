"""Which tests are slow: those whose processor seconds on record are many; `--record-slow` measures and writes the record anew.

Processor time, children's included, hardly depends on what else the machine does.  No test looks at it.
"""

import json
import os
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest

os.environ["HOCKEYSTICK_STRICT"] = "1"  # proofs that contradict each other raise

collect_ignore = [f"src/hockeystick/interop/{name}.py" for name in ("opacus", "opacus_allocation") if find_spec("opacus") is None]

RECORD = Path(__file__).resolve().parent / "tests" / "data" / "slow.json"
SLOW = 0.25  # processor seconds from which on a test is slow
_measured: dict[str, float] = {}


def pytest_addoption(parser: pytest.Parser) -> None:
    """`--record-slow`."""
    parser.addoption("--record-slow", action="store_true", help=f"write which tests are slow to tests/data/{RECORD.name}")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """A record is of a test, of a function with all its parameters, or of a file."""
    record = json.loads(RECORD.read_text(encoding="utf-8")) if RECORD.is_file() else {}
    for item in items:
        function = item.nodeid.partition("[")[0]
        if not record.keys().isdisjoint({item.nodeid, function, function.partition("::")[0]}):
            item.add_marker(pytest.mark.slow)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """One line about what is not tested for want of a package."""
    if find_spec("opacus") is None:
        terminalreporter.write_line("Opacus and torch are not installed; `make test WITH=opacus` tests what needs them, too.")


def _processor_seconds() -> float:
    used = os.times()
    return used.user + used.system + used.children_user + used.children_system


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    """Notes the processor seconds used so far."""
    item.user_properties.append(("started", _processor_seconds()))
    return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Iterator[pytest.TestReport]:
    """The last report of a test says what the test took."""
    report = yield
    if call.when == "teardown":
        report.user_properties.append(("processor seconds", _processor_seconds() - dict(item.user_properties)["started"]))
    return report


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """In the process that gathers what the workers report."""
    if report.when == "teardown":
        _measured[report.nodeid] = float(dict(report.user_properties)["processor seconds"])


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Of the tests that ran, the slow ones are put on record; what is on record of others is kept."""
    if session.config.getoption("--record-slow") and not hasattr(session.config, "workerinput"):
        slow = {name: round(seconds, 2) for name, seconds in sorted(_measured.items()) if seconds >= SLOW}
        old = json.loads(RECORD.read_text(encoding="utf-8")) if RECORD.is_file() else {}
        kept = {name: seconds for name, seconds in old.items() if not any(one.startswith(name) for one in _measured)}
        RECORD.write_text(json.dumps(dict(sorted({**kept, **slow}.items())), indent=1) + "\n", encoding="utf-8")
