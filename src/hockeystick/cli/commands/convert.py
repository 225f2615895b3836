"""`hockeystick convert`: one guarantee in the words of the others."""

from typing import Annotated, Any

import typer

from ... import __version__
from ...checks import probability
from ...errors import BadValue, HockeystickError
from ...mechanism.claim import GDP, RDP, ZCDP, ApproxDP
from ...mechanism.release import Release
from ...planning.concentrated import rho_of
from ...report.numbers import down_text, up_text
from ...report.numbers import given as as_given
from .. import show
from ..options import Json, Rho

_RELATION = "those of the claim"


def convert(
    epsilon: Annotated[
        float | None, typer.Option(help="From (epsilon, delta)-DP; delta 0 unless given.", show_default=False)
    ] = None,
    delta: Annotated[float | None, typer.Option(help="The delta of --epsilon.", show_default=False)] = None,
    mu: Annotated[float | None, typer.Option(help="From mu-Gaussian DP.", show_default=False)] = None,
    rho: Rho = None,
    rdp: Annotated[
        list[str] | None, typer.Option(help="From Rényi DP, order:value; several may be given.", show_default=False)
    ] = None,
    at_delta: Annotated[
        float | None,
        typer.Option(
            help="The delta at which the answer's epsilon is given; 1e-6 unless given, or --delta if that is larger.",
            show_default=False,
        ),
    ] = None,
    json: Json = False,
) -> None:
    """One guarantee in the words of the others: epsilon-delta, rho, mu, Rényi, trade-off.

    Example: hockeystick convert --rho 0.5 --at-delta 1e-6
    """
    claim = _claim(epsilon, delta, mu, rho, rdp)
    at_delta = max(1e-6, delta or 0.0) if at_delta is None else probability("at_delta", at_delta)
    found: dict[str, Any] = {"from": repr(claim), "at_delta": at_delta, "neighbours": _RELATION, "version": __version__}
    questions: dict[str, Any] = {
        "epsilon": lambda: claim.epsilon(at_delta),
        "mu": lambda: claim.mu(),
        "rho": lambda: rho_of(claim, claim.stated),
        "rdp_2": lambda: claim.rdp(2.0),
        "rdp_8": lambda: claim.rdp(8.0),
        "advantage": lambda: claim.advantage(),
        "tpr_at_fpr_0.01": lambda: claim.tpr(0.01),
        "tradeoff_at_0.1": lambda: claim.tradeoff(0.1),
    }
    for name, question in questions.items():
        try:
            found[name] = float(question())
        except HockeystickError as error:
            found[name] = None
            found.setdefault("refused", {})[name] = str(error)
    said = {"mu": mu, "rho": rho, **_rdp_rows(rdp)}
    if rho is not None:
        said |= {"rdp_2": 2.0 * rho, "rdp_8": 8.0 * rho}  # exactly, in doubles, too
    if epsilon is not None and at_delta >= (delta or 0.0):
        said["epsilon"] = epsilon
    for name, value in said.items():
        if value is not None and found[name] is not None:
            found[name] = min(found[name], value)  # what was claimed holds as it is; computed, it is rounded up
    if json:
        show.machine(found)
        return
    meaning = {
        "epsilon": f"(epsilon, delta)-DP at delta = {as_given(at_delta)} (--at-delta)",
        "mu": "Gaussian DP at every epsilon; infinity: no mu is proved",
        "rho": "zero-concentrated DP; infinity: no rho is proved",
        "rdp_2": "Rényi divergence of order 2",
        "rdp_8": "Rényi divergence of order 8",
        "advantage": "an attacker's tpr minus fpr, at most",
        "tpr_at_fpr_0.01": "an attacker's true-positive rate, at most",
        "tradeoff_at_0.1": "type-II error at type-I error 0.1, at least",
    }
    rows: list[show.Row] = [(name, _text(name, found[name], said.get(name)), words) for name, words in meaning.items()]
    rows.append(("neighbours", _RELATION, "every line is for the same data sets as the claim, in both directions"))
    show.rows(f"{claim!r} implies", rows)


def _text(name: str, value: float | None, said: float | None) -> str:
    if value is None:
        return "refused"
    if value == said:
        return as_given(value)
    return (down_text if name.startswith("trade") else up_text)(value)


def _claim(epsilon: float | None, delta: float | None, mu: float | None, rho: float | None, rdp: list[str] | None) -> Release:
    given = [
        name
        for name, value in (("epsilon", epsilon), ("mu", mu), ("rho", rho), ("rdp", rdp))
        if value is not None and value != []
    ]
    if len(given) != 1 or (delta is not None and epsilon is None):
        raise BadValue("give one of: --epsilon (and --delta) | --mu | --rho | --rdp order:value.")
    if epsilon is not None:
        return ApproxDP(epsilon=epsilon, delta=delta or 0.0)
    if mu is not None:
        return GDP(mu=mu)
    if rho is not None:
        return ZCDP(rho=rho)
    pairs = _pairs(rdp)
    return RDP(orders=tuple(order for order, _ in pairs), values=tuple(value for _, value in pairs))


def _pairs(rdp: list[str] | None) -> list[tuple[float, float]]:
    pairs = []
    for one in rdp or []:
        try:
            order, value = (float(word) for word in one.split(":"))
        except ValueError:
            raise BadValue(f"--rdp is {one!r}; allowed: order:value, such as 8:0.04.") from None
        pairs.append((order, value))
    return pairs


def _rdp_rows(rdp: list[str] | None) -> dict[str, float]:
    """The claimed values at the orders that have a row."""
    return {f"rdp_{order:g}": value for order, value in _pairs(rdp) if order in (2.0, 8.0)}
