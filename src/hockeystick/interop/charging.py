"""Training under an account of a ledger: every step is charged before it runs, and refused if it does not fit.

    charging = Charging(account, line="training", actor="bob")           # steps of a planned line, one by one
    charging = Charging(account, steps=3510, actor="bob")                # the whole run, one entry of the reserve

docs/mathematics/filters.md, Lemma 67: a run that is stopped, and steps that are run again.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from .. import checks
from ..errors import BadType, BadValue, OverBudget
from ..ledger.account import Account
from ..ledger.terms import planned_line, sentence, undescribed, word
from ..mechanism.release import Release, joined
from ..neighbours import Relation

if TYPE_CHECKING:
    from ..ledger.receipt import Receipt


class Charging:
    """Charges the steps of one training to an account, before they run.

    Of a planned line each step takes a use, or every `block` of steps so many at once; the steps of a block that are not run are
    lost.  With `steps` the whole run is one entry of the reserve: noise and rate are frozen with its first step, and it may run
    no other step and no more of them.

    What is charged is never taken back.  A training that goes on from a checkpoint (`load`) is not charged again for the steps
    up to it; steps that are run again draw fresh noise, are new releases, and are charged again.  So is the rest of a whole run,
    as a new entry: nobody can say how many steps of the first were run after the checkpoint.  Of several processes that train
    one model together, one charges.

    Parameters
    ----------
    account : Account
        The account.
    actor : str
        Who trains.
    line : str, optional
        The planned line of which each step is a use.
    steps : int, optional
        Instead of a line: the number of steps of the whole run, one entry of the reserve.
    block : int, default 1
        How many steps of the line are charged at once.
    run : str, default "training"
        What the training is called in the log.

    Raises
    ------
    BadType
        If account is no account, or an argument of another type.
    BadValue
        If not exactly one of line and steps is given, the account has no such line, or a number is out of its range.
    """

    def __init__(
        self,
        account: Account,
        *,
        actor: str,
        line: str | None = None,
        steps: int | None = None,
        block: int = 1,
        run: str = "training",
    ) -> None:
        if not isinstance(account, Account):
            raise BadType(f"account is {account!r}; allowed: an account of a ledger, as `ledger.account(name)` gives it.")
        if (line is None) == (steps is None):
            raise BadValue("give line, the planned line of the steps, or steps, those of a whole run, and not both.")
        self._account, self._actor = account, word("actor", actor)
        self._run, self._block = word("run", run, most=100), checks.count("block", block, least=1)
        if steps is not None and self._block != 1:
            raise BadValue(f"block is {block} with steps; allowed: 1, since the whole run is one entry.")
        self._line = None if line is None else planned_line(account.name, account.terms, line).name
        self._total = None if steps is None else checks.count("steps", steps, least=1)
        self._done = 0  # steps of the run that is being continued or made
        self._before: dict[str, int] = {}  # execution: its steps up to the checkpoint
        self._begin()

    def _begin(self) -> None:
        """A new execution: what was charged ahead by another is not run by this one."""
        import secrets

        self._execution = secrets.token_hex(8)
        self._since = self._entries = self._ahead = 0
        self._frozen: Release | None = None

    def __repr__(self) -> str:
        what = f"line {self._line!r}" if self._line is not None else f"{self._total} steps"
        return f"<Charging of {self._account!r}, {what}: {self._done} made>"

    @property
    def done(self) -> int:
        """The steps of the run, those up to a checkpoint included.

        Returns
        -------
        int
            The count.
        """
        return self._done

    @property
    def ahead(self) -> int:
        """The steps that are charged and not yet run.

        Returns
        -------
        int
            The count.
        """
        return self._ahead

    @property
    def left(self) -> int:
        """The steps that may still run, as far as nobody else takes of the line.

        Returns
        -------
        int
            Uses of the line and what is charged ahead; of a whole run the steps that it has not run.
        """
        if self._total is not None:
            return max(0, self._total - self._done)
        assert self._line is not None
        return self._ahead + self._account.remaining(self._line)

    @property
    def neighbours(self) -> Relation:
        """The relation of the account.

        Returns
        -------
        Relation
            That of its data set.
        """
        return self._account.terms.neighbours

    def uses(self, run: Release) -> int:
        """How many steps a run has: uses of the line, or steps of the whole run.

        Parameters
        ----------
        run : Release
            What was composed.

        Returns
        -------
        int
            The count.

        Raises
        ------
        BadType
            If run is no release.
        BadValue
            If it does not consist of such steps.
        """
        if not isinstance(run, Release):
            raise BadType(f"run is {run!r}; allowed: a release such as Gaussian(sigma=1.1).poisson(rate=0.01).")
        parts = joined(run.parts).parts
        if not parts:
            return 0
        step = self._planned if self._line is not None else joined([(parts[0][0], 1)]) if len(parts) == 1 else joined(parts)
        count = parts[0][1] // dict(step.parts).get(parts[0][0], parts[0][1] + 1)
        if step * count != joined(parts):
            raise BadValue(f"the checkpoint has {joined(parts)!r}; allowed: whole uses of {step!r}.")
        return count

    def charge(self, step: Release, count: int = 1) -> "Receipt | None":
        """Charge so many steps, which may run once this has returned.

        Parameters
        ----------
        step : Release
            One step.
        count : int, default 1
            How many of them.

        Returns
        -------
        Receipt or None
            The entry of the ledger; none if the steps were charged ahead.

        Raises
        ------
        BadType
            If step is no release.
        BadValue
            If it is another step than that of the line or of the entry, or the entry has no more of them.
        OverBudget
            If it does not fit: nothing was charged, and it must not run.
        Unsupported
            If no theorem prices the run.
        """
        if not isinstance(step, Release):
            raise BadType(f"step is {step!r}; allowed: a release such as Gaussian(sigma=1.1).poisson(rate=0.01).")
        one, times = self._in_uses(step, checks.count("count", count))
        self._check(one, times)
        made = self._take(one, times - self._ahead) if times > self._ahead else None
        self._ahead -= times
        self._since += times
        self._done += times
        return made

    @property
    def _planned(self) -> Release:
        """One use of the line."""
        assert self._line is not None
        return joined(planned_line(self._account.name, self._account.terms, self._line).release.parts)

    def _in_uses(self, step: Release, times: int) -> tuple[Release, int]:
        """The same steps, as uses of the line, or one by one: several of one mechanism are as many steps."""
        parts = joined(step.parts).parts
        if len(parts) != 1:
            return joined(parts), times
        (mechanism, used), unit = parts[0], 1
        if self._line is not None and len(planned := self._planned.parts) == 1 and planned[0][0] == mechanism:
            unit = planned[0][1]
        whole = used * times
        return (mechanism * unit, whole // unit) if whole % unit == 0 else (joined(parts), times)

    def _check(self, step: Release, times: int) -> None:
        if self._line is not None:
            if step != (planned := self._planned):
                raise BadValue(
                    f"the step is {step!r}, and a use of line {self._line!r} of {self._account.name!r} is {planned!r}; allowed: "
                    "that step.  Plan a line for the other one, or charge the run to the reserve with steps=."
                )
            return
        assert self._total is not None
        if self._frozen is not None and step != self._frozen:
            raise BadValue(
                f"the step is {step!r}, and this entry was charged for {self._frozen!r}: its parameters are frozen.  "
                "Charge another run with a Charging of its own."
            )
        if self._done + times > self._total:
            raise OverBudget(
                f"step {self._done + times} of a run that was charged as {self._total} steps: it may run no other step; nothing "
                "was charged.  Charge another run with a Charging of its own."
            )

    def _take(self, step: Release, missing: int) -> "Receipt":
        if self._line is None:
            assert self._total is not None
            made = self._spent(step * (self._total - self._done), 1)
            self._frozen, self._ahead = step, self._total - self._done
            return made
        whole = -(-missing // self._block) * self._block
        try:
            made, taken = self._spent(self._line, whole), whole
        except OverBudget:
            if whole == missing or not missing <= self._account.remaining(self._line):
                raise
            taken = self._account.remaining(self._line)  # the last block is a short one
            made = self._spent(self._line, taken)
        self._ahead += taken
        return made

    def _spent(self, what: Release | str, count: int) -> "Receipt":
        """One entry, by a key of its own: a key authorises one execution, and each entry of this one is made once."""
        self._entries += 1
        key = f"{self._run}/{self._execution}/{self._entries}"
        return self._account.spend(what, key=key, actor=self._actor, count=count)

    # checkpoints

    def state(self) -> dict[str, Any]:
        """What a checkpoint must hold: which steps were charged, and where.

        Returns
        -------
        dict of str
            Plain values.
        """
        executions = dict(self._before)
        if self._since:
            executions[self._execution] = self._since
        return {"account": self._account.name, "run": self._run, "executions": executions}

    def load(self, state: Any, steps: int | None = None) -> None:
        """Go on from a checkpoint: its steps are not charged again, all that follow are.

        Parameters
        ----------
        state : mapping
            What `state` gave.
        steps : int, optional
            How many steps the checkpoint has, which must be as many.

        Raises
        ------
        BadType
            If state is no such mapping.
        BadValue
            If it is of another account or of other steps, or the ledger has no entries for its steps.
        """
        if not isinstance(state, Mapping) or not isinstance(state.get("executions"), Mapping):
            raise BadType(
                f"the checkpoint holds {state!r} of the account; allowed: what `state` gave.  Steps that were made without an "
                "account must be charged to it first: `account.spend(line, count=steps, ...)`."
            )
        if state.get("account") != self._account.name:
            raise BadValue(f"the checkpoint was charged to {state.get('account')!r}; allowed: {self._account.name!r}.")
        run = sentence("run", state.get("run", ""))
        made = {word("an execution", name): checks.count("steps", one) for name, one in state["executions"].items()}
        if steps is not None and sum(made.values()) != steps:
            raise BadValue(
                f"the checkpoint has {steps} steps, and {sum(made.values())} were charged to {self._account.name!r}; allowed: "
                "all of them.  Charge the others first: `account.spend(line, count=steps, ...)`, and train on without them."
            )
        charged = self._charged(run, set(made))
        missing = [name for name, one in made.items() if charged.get(name, 0) < one]
        if missing:
            raise BadValue(
                f"the ledger has no entries of {self._account.name!r} for {made[missing[0]]} steps of {run}/{missing[0]}: the "
                "checkpoint is of another ledger, or was changed.  Charge its steps: `account.spend(line, count=steps, ...)`."
            )
        self._before, self._done, self._run = made, sum(made.values()), run or self._run
        self._begin()

    def _charged(self, run: str, executions: set[str]) -> dict[str, int]:
        """The steps that the log has for each execution."""
        found: dict[str, int] = {}
        for entry in self._account.log():
            name, _, rest = str(entry.get("key") or "").removeprefix(f"{run}/").partition("/")
            if entry.get("kind") == "commit" and name in executions and rest:
                found[name] = found.get(name, 0) + _steps(entry)
        return found


def charging(account: object) -> Charging | None:
    """What an accountant takes as `account=`."""
    if account is not None and not isinstance(account, Charging):
        raise BadType(
            f"account is {account!r}; allowed: hockeystick.interop.charging.Charging(account, line=..., actor=...), which says "
            "of which line the steps are uses, and who trains."
        )
    return account


def _steps(entry: Mapping[str, Any]) -> int:
    """The steps that an entry was charged for."""
    what = entry["what"]
    if "line" in what:
        return int(what["count"])
    return int(what["count"]) * sum(count for _, count in undescribed(what["release"]).parts)
