"""A Hypothesis state machine: a ledger does what a small model in memory does, whatever happens in whatever order."""

from dataclasses import dataclass, field

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

import hockeystick as hs
from hockeystick.ledger.chain.export_file import verify_export
from ledgers import UNIT, Clock, opened

KEYS = st.sampled_from(["k1", "k2", "k3", "k4", "k5", "k6"])
ACTORS = st.sampled_from(["ada", "bob"])
ACCOUNTS = st.sampled_from([("lines",), ("pure",), ("lines", "pure"), ("lines", "twin"), ("twin",)])
WRONG = "0" * 32


@dataclass
class Held:
    """A reservation of the model."""

    key: str
    amount: int
    expires: float


@dataclass
class Model:
    """An account: how much there is, what is spent, what is held, and what each key was used for."""

    whole: int
    spent: int = 0
    held: list = field(default_factory=list)
    keys: dict = field(default_factory=dict)  # key: (request, token), or the same with what became of it
    ends: dict = field(default_factory=dict)
    time: float = 0.0
    closed: bool = False

    @property
    def left(self):
        return self.whole - self.spent - sum(one.amount for one in self.held)

    def tick(self, now):
        """A write: the time of the account, and what has expired by then."""
        self.time = max(self.time, now)
        for one in [one for one in self.held if one.expires <= self.time]:
            self.end(one, "expire")

    def end(self, one, how):
        self.held.remove(one)
        self.ends[one.key] = how
        if how != "void":
            self.spent += one.amount


class LedgerMachine(RuleBasedStateMachine):
    """Every verb on three accounts; `fresh` gives the place of an empty ledger, `folder` one for exports."""

    fresh = folder = None

    @initialize()
    def begin(self):
        self.where, self.clock = type(self).fresh(), Clock()
        self.open()
        opened(self.ledger, "lines", count=20)
        opened(self.ledger, "twin", count=15)
        opened(self.ledger, "pure", plan=[], epsilon=0.2)
        self.models = {"lines": Model(20), "twin": Model(15), "pure": Model(20)}
        self.tokens = {}
        for one in self.models.values():
            one.time = self.clock.now

    def open(self):
        self.ledger = hs.Ledger(self.where)
        self.ledger._store.clock = self.clock

    def outcome(self, call):
        """What a call comes to: "new", "replayed", "over" or "refused"."""
        try:
            found = call()
        except hs.OverBudget:
            return "over", None
        except hs.BadValue:
            return "refused", None
        found = found if isinstance(found, list) else [found]
        assert len({one.replayed for one in found}) == 1
        return "replayed" if found[0].replayed else "new", found[0]

    def take(self, kind, names, count, key, actor, timeout=None):
        release = {name: hs.PureDP(epsilon=0.01) if name == "pure" else "unit" for name in names}
        more = {} if timeout is None else {"timeout": timeout}
        verb = self.ledger.spend if timeout is None else self.ledger.reserve
        was, receipt = self.outcome(lambda: verb(release, key=key, actor=actor, count=count, **more))
        assert was == self.expected(kind, names, count, key, actor, timeout)
        if was == "new" and kind == "reserve":
            self.tokens[key, names] = receipt.token

    def expected(self, kind, names, count, key, actor, timeout):
        models, request = [self.models[name] for name in sorted(names)], (kind, tuple(sorted(names)), count, actor, timeout)
        before = [one.keys[key] for one in models if key in one.keys]
        if before:
            late = any(held.key == key and held.expires <= max(one.time, self.clock.now) for one in models for held in one.held)
            ended = kind == "reserve" and (late or any(key in one.ends for one in models))
            return "replayed" if before == [request] * len(models) and not ended else "refused"
        now = {id(one): max(one.time, self.clock.now) for one in models}
        for one in models:
            if one.closed:
                return "refused"
            if one.left < count:
                return "over"
        for one in models:
            one.tick(now[id(one)])
            one.keys[key] = request
            if kind == "commit":
                one.spent += count
            else:
                one.held.append(Held(key, count, self.clock.now + timeout))
        return "new"

    @rule(names=ACCOUNTS, count=st.integers(1, 4), key=KEYS, actor=ACTORS)
    def spend(self, names, count, key, actor):
        self.take("commit", names, count, key, actor)

    @rule(names=ACCOUNTS, count=st.integers(1, 4), key=KEYS, actor=ACTORS, timeout=st.sampled_from([10.0, 100.0]))
    def reserve(self, names, count, key, actor, timeout):
        self.take("reserve", names, count, key, actor, timeout)

    def settled(self, name, key, how, allowed):
        """What ending a reservation comes to, in all accounts that it was made in."""
        if key not in self.models[name].keys:
            return "refused"
        request = self.models[name].keys[key]
        if request[0] == "commit":
            return "replayed" if how == "commit" else "refused"
        models = [self.models[one] for one in request[1]]
        late = {
            id(one) for one in models for held in one.held if held.key == key and held.expires <= max(one.time, self.clock.now)
        }
        ends = ["expire" if id(one) in late else one.ends.get(key) for one in models]
        if how == "void" and (not allowed or any(end not in (None, "void") for end in ends)):
            return "replayed" if allowed is False and set(ends) == {"void"} else "refused"
        if how == "commit" and "void" in ends:
            return "refused"
        for one in models:
            one.tick(self.clock.now)
            for held in [held for held in one.held if held.key == key]:
                one.end(held, how)
        if len({end is None for end in ends}) > 1:
            return "mixed"
        return "new" if ends[0] is None else "replayed"

    @rule(name=st.sampled_from(["lines", "pure", "twin"]), key=KEYS)
    def commit(self, name, key):
        self.ends("commit", name, key, None)

    @rule(name=st.sampled_from(["lines", "pure", "twin"]), key=KEYS, right=st.booleans())
    def void(self, name, key, right):
        held = next((names for one, names in self.tokens if one == key and name in names), None)
        token = self.tokens.get((key, held), WRONG) if right else WRONG
        self.ends("void", name, key, token)

    def ends(self, how, name, key, token):
        account = self.ledger.account(name)
        if how == "commit":
            call = lambda: account.commit(key, actor="bob")  # noqa: E731
        else:
            call = lambda: account.void(key, token=token, actor="bob", not_read=True)  # noqa: E731
        expected = self.settled(name, key, how, token != WRONG)
        was, _ = self.outcome(call)
        assert was == expected or expected == "mixed", (was, expected)

    @rule(seconds=st.sampled_from([1.0, 20.0, 200.0, -50.0]))
    def pass_time(self, seconds):
        self.clock.now += seconds

    @rule(name=st.sampled_from(["lines", "twin"]), more=st.integers(-3, 5))
    def amend(self, name, more):
        model = self.models[name]
        count = model.whole + more
        was = self.amended(name, max(1, count))
        fits = not model.closed and max(1, count) >= model.whole - model.left
        assert was == ("new" if fits else "refused")
        if fits:
            model.tick(self.clock.now)
            model.whole = max(1, count)

    def amended(self, name, count):
        try:
            self.ledger.account(name).amend(plan=[("unit", UNIT, count)], actor="ada", reason="so")
        except hs.BadValue:
            return "refused"
        return "new"

    @precondition(lambda self: self.clock.now > 1_800_000_400.0)
    @rule(name=st.sampled_from(["lines", "twin", "pure"]))
    def close_account(self, name):
        model = self.models[name]
        try:
            self.ledger.account(name).close(actor="ada")
            closed = True
        except hs.BadValue:
            closed = False
        assert closed != model.closed
        if closed:
            model.tick(self.clock.now)
            model.closed = True

    @rule()
    def reopen(self):
        self.ledger.close()
        self.open()

    @rule()
    def verify(self):
        found = self.ledger.verify()
        path = type(self).folder / "all.jsonl"
        self.ledger.export(path)
        assert verify_export(path) == found

    @invariant()
    def the_same_is_left(self):
        for name, model in getattr(self, "models", {}).items():
            status = self.ledger.account(name).status()
            if name == "pure":
                assert round(status["reserve"]["left"] * model.whole, 9) == model.left
            else:
                assert status["lines"]["unit"]["left"] == model.left, name
            assert model.left >= 0

    def teardown(self):
        if hasattr(self, "ledger"):
            self.ledger.verify()
            self.ledger.close()


def machine(fresh, folder):
    """The machine for ledgers at these places."""
    return type("Machine", (LedgerMachine,), {"fresh": staticmethod(fresh), "folder": folder})
