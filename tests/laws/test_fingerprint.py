"""Every answer of the law suite has the bits on record (`scripts/fingerprint.py`), with the compiled core and without.

What changes a bit is named in CHANGELOG.md, with the reason, and recorded anew.
"""

import json

import pytest

import fingerprint
from hockeystick.native import core
from twins import pure

RECORD = json.loads(fingerprint.RECORD.read_text(encoding="utf-8"))
EXACT = RECORD["here"] == fingerprint.here()


def test_every_release_is_on_record():
    assert set(RECORD["core"]) == set(RECORD["NumPy"]) == set(fingerprint.ALL)


@pytest.mark.skipif(core is None, reason="the core was not compiled: there was no C compiler")
@pytest.mark.parametrize("name", fingerprint.ALL)
def test_the_core_answers_as_on_record(name):
    assert fingerprint.differences(fingerprint.answers(name), RECORD["core"][name], EXACT) == []


@pytest.mark.parametrize("name", fingerprint.ALL)
def test_numpy_answers_as_on_record(name):
    with pure():
        assert fingerprint.differences(fingerprint.answers(name), RECORD["NumPy"][name], EXACT) == []
