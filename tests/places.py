"""Where the tests and what they test stand, wherever in the tree a test file is."""

from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
DATA = ROOT / "tests" / "data"
