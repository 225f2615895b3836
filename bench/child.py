"""One accountant in a process of its own: reads questions from its input, a line of JSON each, and answers on its output.

    python -m bench.child 'dp_accounting PLD'

A question has a case and a factor (see `cases.Case.moved`); the answer has the seconds that it took, measured here, and both
ends, or why there are none.  With a factor `before` the same is asked with other numbers, near that factor, at once before and
for a millisecond; the seconds of the first time are "cold".  What a peer prints goes to the error output.
"""

import importlib
import json
import os
import sys
import time
import warnings
from typing import Any

from .cases import Case

WARMING = 1e-3  # seconds


def answered(peer: Any, question: dict[str, Any]) -> dict[str, Any]:
    """The peer's answer, in words that go into JSON."""
    from .peers import Cannot

    plain = Case.of(question["case"])
    case, others, cold = plain.moved(question["factor"]), [], None
    if question["before"] is not None:
        others = [plain.moved(question["before"] + 1e-9 * place) for place in range(200)]
    started = begin = time.perf_counter()
    try:
        for other in others:
            peer.answers(other)
            begin = time.perf_counter()
            cold = cold or begin - started
            if begin - started > WARMING:
                break
        found = peer.answers(case)
    except Cannot as reason:
        return {"skipped": str(reason)}
    except Exception as error:  # a peer's own errors are many
        words = " ".join(str(error).split())[:160]
        return {"failed": f"{type(error).__name__}: {words}".rstrip(": "), "seconds": time.perf_counter() - begin}
    seconds = time.perf_counter() - begin
    return {"seconds": seconds, "cold": cold or seconds, "answers": [[repr(float(x)) for x in ends] for ends in found]}


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
