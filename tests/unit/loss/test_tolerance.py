"""What an answer promises, in Python and in C alike."""

import re
from pathlib import Path

from hockeystick import native
from hockeystick.loss.tolerance import SETTLED, converged


def test_the_compiled_core_promises_the_same():
    header = (Path(native.__file__).parent / "types.h").read_text(encoding="utf-8")
    (close,) = re.findall(r"^#define CLOSE (\S+)", header, flags=re.MULTILINE)
    assert float(close) == SETTLED


def test_what_is_not_above_zero_is_never_settled():
    assert not converged(0.0, 0.0)
    assert not converged(0.0, 1e-300)
    assert not converged(-1.0, -1.0)
    assert converged(1e-300, 1e-300)
    assert not converged(float("inf"), float("inf")) or converged(1.0, 1.0)
