"""One accountant in a process of its own: reads questions from its input, a line of JSON each, and answers on its output.

    python -m bench.child 'dp_accounting PLD'

A question has a case and a factor (see `cases.Case.moved`); the answer has the seconds that it took, measured here, and both
ends, or why there are none.  What a peer prints goes to the error output.
"""

import importlib
import json
import os
import sys
import time
import warnings
from typing import Any

from .cases import Case


def answered(peer: Any, question: dict[str, Any]) -> dict[str, Any]:
    """The peer's answer, in words that go into JSON."""
    from .peers import Cannot

    case = Case.of(question["case"]).moved(question["factor"])
    begin = time.perf_counter()
    try:
        found = peer.answers(case)
    except Cannot as reason:
        return {"skipped": str(reason)}
    except Exception as error:  # a peer's own errors are many
        words = " ".join(str(error).split())[:160]
        return {"failed": f"{type(error).__name__}: {words}".rstrip(": "), "seconds": time.perf_counter() - begin}
    return {"seconds": time.perf_counter() - begin, "answers": [[repr(float(x)) for x in ends] for ends in found]}


def main(name: str, module: str = "bench.peers") -> None:
    """`module` has OURS and PEERS; the tests have one of their own."""
    out = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    warnings.simplefilter("ignore")
    known = importlib.import_module(module)
    peer = next(one for one in (known.OURS, *known.PEERS) if one.name == name)
    for line in sys.stdin:
        out.write(json.dumps(answered(peer, json.loads(line))) + "\n")
        out.flush()


if __name__ == "__main__":
    main(*sys.argv[1:])
