"""Searches for a violation of our upper bounds over random settings: `python scripts/adversaries.py 5000 [seed]`."""

import random
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

from adversary import random_setting, violated


def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    rng = random.Random(int(sys.argv[2]) if len(sys.argv) > 2 else 0)
    found = 0
    for _ in range(count):
        setting = random_setting(rng)
        if (ends := violated(setting)) is not None:
            found += 1
            print(f"{setting}: true delta {ends[0]!r} above {ends[1]!r}")
    print(f"{count} settings, {found} violations")


if __name__ == "__main__":
    main()
