"""One DP-SGD epsilon enters few modules of ours, in NumPy, and docs/architecture.md lists them in the order in which they are
entered."""

import os
import re
import subprocess
import sys

from places import ROOT

MOST = 15
TRACED = """
import sys

import hockeystick as hs

run = hs.Gaussian(sigma=1.1).poisson(rate=0.01) * 1000
run.epsilon(delta=1e-5)  # what is imported is imported
entered = {}

def called(frame, event, _):
    if event == "call" and frame.f_code.co_name != "<module>":
        _, ours, module = frame.f_code.co_filename.replace("\\\\", "/").rpartition("/hockeystick/")
        if ours:
            entered.setdefault(module, None)

sys.setprofile(called)
run.epsilon(delta=1e-5)
sys.setprofile(None)
print("\\n".join(entered))
"""


def entered() -> list[str]:
    env = {**os.environ, "HOCKEYSTICK_PURE": "1"}
    done = subprocess.run([sys.executable, "-c", TRACED], env=env, capture_output=True, text=True, check=True)
    return done.stdout.split()


def test_one_epsilon_enters_few_modules_and_the_page_lists_them_in_order():
    found = entered()
    assert len(found) <= MOST, found
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    _, heading, rest = page.partition("## One DP-SGD epsilon, file by file")
    assert heading
    section = rest.partition("\n## ")[0]
    assert re.findall(r"^\d+\. `([\w/]+\.py)`", section, flags=re.MULTILINE) == found
