"""A table over every combination of some parameters."""

import itertools
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from typing import Any, TextIO

from .. import checks
from ..errors import BadType, BadValue, HockeystickError
from ..mechanism.gaussian import Gaussian
from ..mechanism.many import epsilons
from ..mechanism.release import Release
from ..neighbours import STATED, Relation, checked

_QUESTIONS = {
    "epsilon": ("epsilon_bounds", "delta"),
    "delta": ("delta_bounds", "epsilon"),
    "mu": ("mu_bounds", "delta"),
    "rdp": ("rdp", "order"),
    "tpr": ("tpr_bounds", "fpr"),
    "bayes_risk": ("bayes_risk_bounds", "prior"),
    "tradeoff": ("tradeoff_bounds", "alpha"),
}
_NAMED = {f"{name}_at_{what}": name for name, (_, what) in _QUESTIONS.items()}
"""What a question is called: what is asked, and at what."""
_ONE_END = ("rdp", "advantage")
_FROM_BELOW = ("bayes_risk", "tradeoff")
_CHUNK = 128  # combinations that are answered together


def sweep(
    make: Callable[..., Release | float],
    grid: Mapping[str, Iterable[Any]],
    *,
    executor: Executor | None = None,
    progress: bool | None = None,
    neighbours: Relation = STATED,
    advantage: bool = False,
    **questions: float,
) -> dict[str, list[Any]]:
    """Every combination of the grid's values, and what is asked of `make(**values)`, as columns of one length.

    A question is what is asked and at what: `epsilon_at_delta=1e-6`, `delta_at_epsilon=1.0`, `mu_at_delta`, `rdp_at_order`,
    `tpr_at_fpr`, `bayes_risk_at_prior`, `tradeoff_at_alpha`, and `advantage=True`.  (The first half alone, as in `epsilon=1e-6`
    for the epsilon at that delta, is an old name, with a warning.)  Certified ends have columns of their own: `epsilon` and
    `epsilon_lower`.  If `make` returns a number, as one that calibrates does, that is the column `value` and
    nothing is asked.  A combination that is refused has None in its columns and the reason in `error`; what is wrong for all of
    them, such as a relation that is misspelt, is an error of the call.

    Any executor of concurrent.futures shares out the work (for processes `make` must be a function of a module), also a Dask
    cluster's, `client.get_executor()`.  Runs of one sampled Gaussian step are answered together, to the same
    digits as alone.  After a second a progress bar is shown on standard error, if that is a
    terminal or `progress` is True.

    Parameters
    ----------
    make : callable
        Takes the names of the grid and makes a release, or returns a number.
    grid : mapping of str to iterable
        The values of each name; one value alone may be given as it is.
    executor : concurrent.futures.Executor, optional
        Who shares out the work.
    progress : bool, optional
        Whether to show a progress bar; by default on a terminal.
    neighbours : Relation, optional
        The neighbouring relation; by default the one that each release states.
    advantage : bool, default False
        Whether the advantage is asked.
    **questions : float
        Each question with what it is asked at: `epsilon_at_delta`, `delta_at_epsilon`, `mu_at_delta`, `rdp_at_order`,
        `tpr_at_fpr`, `bayes_risk_at_prior` or `tradeoff_at_alpha`.

    Returns
    -------
    dict of str to list
        The columns: the names of the grid, the answers, and `error`.

    Raises
    ------
    BadType
        If make is no function, grid no mapping, executor no executor, or a question is asked at no real number.
    BadValue
        If a name of the grid has no values or is that of an answer, a question is unknown or none is asked, or neighbours is no
        relation.

    Examples
    --------
    >>> import hockeystick as hs
    >>> grid = {"sigma": [5, 10], "steps": [1, 10]}
    >>> table = sweep(lambda sigma, steps: hs.Gaussian(sigma=sigma) * steps, grid, epsilon_at_delta=1e-6)
    >>> table["sigma"], [round(one, 4) for one in table["epsilon"]]
    ([5, 5, 10, 10], [0.8341, 2.9216, 0.3969, 1.3676])
    """
    names, columns, total, rows = _prepared(make, grid, executor, neighbours, advantage, questions)
    table = _table(names, rows, Bar(total, progress))
    if "value" not in table:
        for name in columns:
            table.setdefault(name, [None] * total)  # refused throughout
    if "error" in table:
        table["error"] = table.pop("error")  # the last column
    return table


def _prepared(
    make: Callable[..., Release | float],
    grid: Mapping[str, Iterable[Any]],
    executor: Executor | None,
    neighbours: Relation,
    advantage: bool,
    questions: dict[str, Any],
) -> tuple[tuple[str, ...], list[str], int, Iterator[dict[str, Any]]]:
    """The names of the grid, the columns of the answers, and the rows: how many, and one after the other as they are answered."""
    if not callable(make):
        raise BadType(f"make is {make!r}; allowed: a function of the grid's names that makes a release.")
    names, values = _checked_grid(grid)
    asked = _checked_questions(questions, advantage, checked(neighbours))
    columns = [column for name, *_ in asked for column in _columns(name)]
    taken = [name for name in names if name in (*columns, "error")]
    if taken:
        raise BadValue(f"the grid has the name {taken[0]!r}, which is a column of the answers; allowed: another name.")
    if executor is not None and not isinstance(executor, Executor):
        raise BadType(
            f"executor is {executor!r}; allowed: None, or an executor of concurrent.futures such as ProcessPoolExecutor(2); of a "
            "Dask client, client.get_executor()."
        )
    total = 1
    for one in values:
        total *= len(one)
    job = _Job(make, names, asked, neighbours)
    if executor is None:
        chunks = _chunked(itertools.product(*values), _CHUNK)
        rows = itertools.chain.from_iterable(map(job.rows, chunks))
    else:
        chunks = _chunked(itertools.product(*values), max(1, min(_CHUNK, total // 16 + 1)))
        rows = itertools.chain.from_iterable(executor.map(job.many, list(chunks)))
    return names, columns, total, rows


def _table(names: Sequence[str], rows: Iterator[dict[str, Any]], bar: "Bar") -> dict[str, list[Any]]:
    """Columns of one length from rows that need not have the same entries."""
    table: dict[str, list[Any]] = {name: [] for name in names}
    for count, row in enumerate(rows):
        for name in row:
            if name not in table:
                table[name] = [None] * count
        for name, column in table.items():
            column.append(row.get(name))
        bar.show(count + 1)
    bar.close()
    return table


class _Job:
    """What is done for some combinations; a class, so that processes can be sent one."""

    def __init__(self, make: Callable[..., Any], names: tuple[str, ...], asked: tuple[Any, ...], neighbours: Relation) -> None:
        self.make, self.names, self.asked, self.neighbours = make, names, asked, neighbours

    def rows(self, chunk: Sequence[tuple[Any, ...]]) -> Iterator[dict[str, Any]]:
        """One row after the other; what can be answered together is answered first."""
        rows = [dict(zip(self.names, values, strict=True)) for values in chunk]
        made: list[Any] = []
        for row in rows:
            try:
                made.append(self.make(**row))
            except HockeystickError as error:
                made.append(None)
                row["error"] = str(error)
        releases = [one for one in made if isinstance(one, Release)]
        if releases and not self.asked:
            allowed = ", ".join(_NAMED)
            raise BadValue(
                f"nothing is asked; give a question such as epsilon_at_delta=1e-6; allowed: {allowed}, advantage=True."
            )
        together = {name: epsilons(releases, at[0], self.neighbours) for name, _, at in self.asked if name == "epsilon"}
        for row, one in zip(rows, made, strict=True):
            if isinstance(one, Release):
                self._ask(row, one, {name: next(found) for name, found in together.items()})
            elif "error" not in row:
                row["value"] = one
            yield row

    def _ask(self, row: dict[str, Any], release: Release, known: dict[str, Callable[[], Any]]) -> None:
        try:
            for name, method, at in self.asked:
                found = known[name]() if name in known else getattr(release, method)(*at, neighbours=self.neighbours)
                row |= _ends(name, found)
        except HockeystickError as error:
            row["error"] = str(error)

    def many(self, chunk: Sequence[tuple[Any, ...]]) -> list[dict[str, Any]]:
        return list(self.rows(chunk))


def _ends(name: str, found: Any) -> dict[str, float]:
    if isinstance(found, float):
        return {name: found}
    safe, other = (found.lower, found.upper) if name in _FROM_BELOW else (found.upper, found.lower)
    return dict(zip(_columns(name), (float(safe), float(other)), strict=True))


def _columns(name: str) -> tuple[str, ...]:
    """Where the answer of a question goes: the safe end first."""
    if name in _ONE_END:
        return (name,)
    return name, f"{name}_{'upper' if name in _FROM_BELOW else 'lower'}"


def _chunked(combinations: Iterable[tuple[Any, ...]], size: int) -> Iterator[list[tuple[Any, ...]]]:
    iterator = iter(combinations)
    while chunk := list(itertools.islice(iterator, size)):
        yield chunk


def _checked_grid(grid: Any) -> tuple[tuple[str, ...], list[list[Any]]]:
    if not isinstance(grid, Mapping):
        raise BadType(f"grid is {grid!r}; allowed: names with their values, as in {{'sigma': [1.0, 2.0]}}.")
    values = []
    for name, given in grid.items():
        if isinstance(given, str) or not isinstance(given, Iterable):
            given = [given]
        listed = [one.item() if hasattr(one, "item") else one for one in given]
        if not listed:
            raise BadValue(f"the grid has no values for {name}; allowed: at least one.")
        values.append(listed)
    return tuple(grid), values


def _checked_questions(questions: dict[str, Any], advantage: bool, neighbours: Relation) -> tuple[Any, ...]:
    unknown = sorted(set(questions) - set(_QUESTIONS) - set(_NAMED))
    if unknown:
        near = checks.meant(unknown[0], [*_NAMED, "advantage"])
        raise BadValue(f"{', '.join(unknown)} is no question{near}; allowed: {', '.join(_NAMED)}, advantage.")
    asked: list[tuple[Any, ...]] = []
    for given, at in questions.items():
        name = _NAMED.get(given, given)
        method, what = _QUESTIONS[name]
        if given == name:
            checks.warn(f"{name}={at!r} asks for {name} at {what} {at!r}; write {name}_at_{what}={at!r}.", FutureWarning)
            if f"{name}_at_{what}" in questions:
                raise BadValue(f"{name} and {name}_at_{what} are both given; give the latter.")
        number = checks.real(f"{name} (asked at {what})", at, "a number")
        try:
            getattr(Gaussian(sigma=1.0), method)(number, neighbours=neighbours)  # a bad question is bad for every release
        except BadValue as error:
            raise BadValue(f"{name} is asked at {what} = {checks.given(number)}: {error}") from None
        asked.append((name, method, (number,)))
    if advantage:
        asked.append(("advantage", "advantage", ()))
    return tuple(asked)


class Bar:
    """A progress bar on standard error, shown only after a second; rich draws it if it is there."""

    def __init__(self, total: int, wanted: bool | None = None, stream: TextIO | None = None) -> None:
        self.total, self.stream = total, stream or sys.stderr
        self.wanted = self.stream.isatty() if wanted is None else wanted
        self.began = self.shown = time.monotonic()
        self.rich: Any = None
        self.task: Any = None
        self.drawn = False

    def show(self, done: int) -> None:
        now = time.monotonic()
        if not self.wanted or now - self.began < 1.0 or (now - self.shown < 0.2 and done < self.total):
            return
        if not self.drawn:
            self.rich = _rich_bar(self.stream)
            if self.rich is not None:
                self.rich.start()
                self.task = self.rich.add_task("sweep", total=self.total)
        self.shown, self.drawn = now, True
        if self.rich is not None:
            self.rich.update(self.task, completed=done)
            return
        left = (now - self.began) * (self.total - done) / done
        self.stream.write(f"\r{done:,} of {self.total:,} ({100 * done // self.total}%), {left:.0f} s left   ")
        self.stream.flush()

    def close(self) -> None:
        if self.rich is not None:
            self.rich.stop()
        elif self.drawn:
            self.stream.write("\n")


def _rich_bar(stream: TextIO) -> Any:
    try:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
    except ImportError:
        return None
    console = Console(file=stream)
    if not console.is_terminal:
        return None
    return Progress(TextColumn("sweep"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn(), console=console)
