"""An account in numbers: what is promised, what is taken, and what is left, on the safe side."""

from typing import Any

from ..filters.amounts import float_down
from .refusal import shares
from .state import Charge, State


def status(name: str, state: State, row: Any) -> dict[str, Any]:
    """Plain values; shares of the reserve and of the slack are from 0 to 1."""
    terms, left = state.terms, state.left
    taken, reserve = state.taken, terms.reserve
    only_held = Charge({}, taken.reserve - state.spent.reserve, taken.slack - state.spent.slack)
    spent, held = shares(state.spent, reserve), shares(only_held, reserve)
    lines = {
        line.name: {
            "release": repr(line.release),
            "count": line.count,
            "spent": state.spent.lines.get(line.name, 0),
            "held": taken.lines.get(line.name, 0) - state.spent.lines.get(line.name, 0),
            "left": left.lines[line.name],
        }
        for line in terms.plan
    }
    return {
        "account": name,
        "dataset": terms.dataset,
        "neighbours": terms.neighbours,
        "purpose": terms.purpose,
        "promise": {"epsilon": terms.epsilon, "delta": terms.delta},
        "version": terms.version,
        "state": "closed" if state.closed else "open",
        "opens": terms.opens,
        "closes": terms.closes,
        "closed": state.closed,
        "within": terms.within,
        "lines": lines,
        "reserve": {
            "kind": reserve.kind,
            "limit": float_down(reserve.limit),
            "order": reserve.order,
            "spent": spent["reserve"],
            "held": held["reserve"],
            "left": shares(left, reserve)["reserve"],
            "left_limit": reserve.measure_of(left.reserve),
        },
        "slack": {
            "limit": float_down(reserve.slack),
            "spent": spent["slack"],
            "held": held["slack"],
            "left": shares(left, reserve)["slack"],
        },
        "parts": {part: shares(Charge({}, amounts[0], amounts[1]), reserve)["reserve"] for part, amounts in state.parts.items()},
        "reservations": [
            {"key": one["key"], "expires": one["expires"], "seq": int(seq)} for seq, one in sorted(state.held.items())
        ],
        "entries": row.seq,
        "head": row.head,
    }
