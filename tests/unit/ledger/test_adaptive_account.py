"""The failure of natural filters, against accounts of a ledger: every history is run, the transcript computed exactly."""

import itertools
import math
from fractions import Fraction

import pytest

pytest.importorskip("sqlalchemy")

import hockeystick as hs

TWO = ((Fraction(2, 3), Fraction(1, 3)), (Fraction(1, 3), Fraction(2, 3)))  # randomised response of log 2
SHARE = Fraction(2, 9)
REVEAL = ((SHARE, Fraction(0)), (Fraction(0), SHARE), (1 - SHARE, 1 - SHARE))  # the record with this probability
RELEASES = {"two": hs.PureDP(epsilon=math.nextafter(math.log(2.0), 1.0)), "reveal": hs.ApproxDP(epsilon=0.0, delta=float(SHARE))}
PAIRS = {"two": TWO, "reveal": REVEAL}
PROMISE = math.log(2.0), float(SHARE)


def transcript(ask):
    """The law of all that is seen: response first; after a yes response again, after a no the reveal, each only if granted."""
    found = []
    for place, (p, q) in enumerate(TWO):
        taken = ask(("two",))
        if not taken:
            return [(Fraction(1), Fraction(1))]
        wanted = "two" if place == 0 else "reveal"
        granted = ask(("two", wanted))
        found += [(p * a, q * b) for a, b in PAIRS[wanted]] if granted else [(p, q)]
    return found


def delta(law, level):
    return sum((max(p - level * q, Fraction(0)) for p, q in law), Fraction(0))


def epsilon(law, most):
    """The smallest epsilon with delta(epsilon) <= most: exact at the ratios, which are the corners of delta."""
    ratios = sorted({Fraction(1), *(p / q for p, q in law if q and p > q)})
    for low, high in itertools.pairwise([*ratios, ratios[-1] + 1]):
        if delta(law, low) <= most:
            return math.log(low)
        if delta(law, high) <= most:  # linear in between
            first, last = delta(law, low), delta(law, high)
            return math.log(low + (high - low) * (first - most) / (first - last))
    return math.inf


def test_by_itself_the_transcript_has_more_than_its_histories():
    law = transcript(lambda _: True)
    assert sum(p for p, _ in law) == sum(q for _, q in law) == 1
    assert delta(law, Fraction(2)) == Fraction(8, 27)
    assert epsilon(law, SHARE) > PROMISE[0]


@pytest.mark.parametrize("kind", ["gdp", "pure"])
@pytest.mark.parametrize("slack", [0.0, 0.1, 0.2222])
def test_no_account_grants_it(tmp_path, kind, slack):
    """Each history is played on an account of its own; what was granted makes the transcript."""
    with hs.Ledger(tmp_path / "ledger.db") as ledger:
        ledger.add_dataset("records", unit="one person", actor="ada")
        numbers = itertools.count()

        def granted(history):
            """Whether the last release of this history is granted."""
            account = ledger.open_account(
                f"history {next(numbers)}",
                dataset="records",
                epsilon=PROMISE[0],
                delta=PROMISE[1],
                reserve=kind,
                slack=slack,
                actor="ada",
            )
            answer = False
            for place, name in enumerate(history):
                try:
                    account.spend(RELEASES[name], key=str(place), actor="eve")
                    answer = True
                except (hs.OverBudget, hs.Unsupported):
                    answer = False
            return answer

        law = transcript(granted)
    assert delta(law, Fraction(2)) <= SHARE
    assert epsilon(law, SHARE) <= PROMISE[0] + 1e-12
    if kind == "pure" and not slack:
        assert len(law) > 1  # the first response is granted


def test_planned_both_are_granted_and_the_promise_counts_them(tmp_path):
    """The same analyst, with both lines planned: nothing is refused, and the promise is that of all three."""
    plan = [("two", RELEASES["two"], 2), ("reveal", RELEASES["reveal"], 1)]
    whole = RELEASES["two"] * 2 + RELEASES["reveal"]
    with hs.Ledger(tmp_path / "ledger.db") as ledger:
        ledger.add_dataset("records", unit="one person", actor="ada")
        promise = whole.epsilon(delta=0.3)
        for place, history in enumerate((("two", "two"), ("two", "reveal"))):
            account = ledger.open_account(
                str(place), dataset="records", epsilon=promise, delta=0.3, plan=plan, slack=0.0, actor="ada"
            )
            for key, name in enumerate(history):
                account.spend(name, key=str(key), actor="eve")
    law = transcript(lambda _: True)
    assert delta(law, Fraction(2)) <= Fraction(8, 27) < Fraction(3, 10)
    assert epsilon(law, Fraction(3, 10)) <= promise
