"""The commands: what each is for, and the module that is imported when it is asked for.

The list of commands (`hockeystick --help`) is printed from the table below, so it imports none of them; a command imports what it
needs and no more: epsilon of a DP-SGD run from the compiled core takes neither NumPy nor the other commands.
"""

from importlib import import_module
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

EPILOG = (
    "Begin with the noise that a training run needs, then a report and a picture:\n\n"
    "hockeystick calibrate --sampler poisson --examples 60000 --batch 256 --epochs 15 --epsilon 1 --delta 1e-5\n\n"
    "It says how to go on.  "
    "Exit codes: 0 answered, 2 bad input (sweep: in some row), 3 over budget or unreachable (crosscheck: 4 our engines disagree)."
    "  Every command has "
    "--help with an example, and --json."
)

WELCOME = """hockeystick: exact, certified differential-privacy accounting.

How private is a training run?
  hockeystick dpsgd --sampler poisson --examples 60000 --batch 256 --epochs 15 --sigma 1.1 --delta 1e-5

How much noise does it need?
  hockeystick calibrate --sampler poisson --examples 60000 --batch 256 --epochs 15 --epsilon 1 --delta 1e-5

What do I write into the paper, and what does it look like?
  hockeystick report 'Gaussian(sigma=1.1).poisson(rate=256/60000) * 3516' --delta 1e-5
  hockeystick plot 'Gaussian(sigma=1.1).poisson(rate=256/60000) * 3516' --delta 1e-5 --output profile.png

What does an epsilon mean?
  hockeystick explain --epsilon 1 --delta 1e-5

All commands: hockeystick --help.  One of them: hockeystick calibrate --help.
"""

COMMANDS = {
    "Account": {
        "dpsgd": "Epsilon of a DP-SGD run.",
        "compose": "Epsilon of several releases together, described by expressions or in a TOML or JSON file.",
        "convert": "One guarantee in the words of the others: epsilon-delta, rho, mu, Rényi, trade-off.",
        "explain": "What an epsilon means, in plain words and attack rates, and what it rests on.",
    },
    "Plan": {
        "calibrate": "The smallest noise, or the largest rate or count, that meets a target.",
        "rounds": "The most repetitions of a step within a target; after a run, how many remain.",
        "sweep": "A table over every combination of some parameters: CSV on standard output, or JSON columns.",
    },
    "Show": {
        "report": "Everything about a run, with what it rests on and a statement to paste into a paper.",
        "plot": "A picture: the profile, epsilon against rounds, the trade-off curve, the Rényi curve, or a comparison of runs.",
        "figures": "The figures of the three papers, drawn again with the exact curves beside theirs.",
    },
    "Share": {
        "ledger": "Privacy budgets that many people share: accounts, spending, verification.",
    },
    "Check": {
        "crosscheck": "One run by all of our engines and by every installed peer: epsilons, times, who is off and why.",
    },
}
"""By panel: a command, that is the function of its name in the module of its name in `commands`, and how its docstring begins."""
GROUPS = ("ledger",)
"""Commands with verbs of their own: their module has a group, `app`."""
WITHOUT_ARGUMENTS = ("figures",)
"""Commands that run without arguments; the others show their help."""

_OR_IN_THE_FILE = {"delta": "Required, here or in the file"}
NEEDED = {
    "dpsgd": {"sampler": "Required", "sigma": "Required", "delta": "Required"},
    **dict.fromkeys(("compose", "report", "plot", "crosscheck"), _OR_IN_THE_FILE),
    "explain": {"delta": "Required with a run, here or in the file"},
    "calibrate": {"epsilon": "Required, or another target"},
    "rounds": {"epsilon": "Required, or another target"},
}
"""Options without which a command has no answer, though the shell's reader does not know it."""


class _Untyped:
    """Help that shows no type for switches, which take no <bool>."""

    def get_params(self, ctx: Any) -> Any:
        """The options; --help and those of completion are among them."""
        found: Any = super().get_params(ctx)  # type: ignore[misc]
        for option in found:
            if getattr(option, "is_flag", False) or option.name in ("install_completion", "show_completion"):
                option.metavar = ""
        return found


class Plain(_Untyped, TyperCommand):
    """A command; of an option given twice, such as two budgets, only the last would count, so it is refused."""

    def parse_args(self, ctx: Any, args: list[str]) -> Any:
        """What is left of the arguments when the options are taken."""
        if args and not ctx.resilient_parsing:
            order: Any = self.make_parser(ctx).parse_args(args=list(args))[2]
            for option in order:
                if order.count(option) > 1 and not (option.multiple or getattr(option, "is_flag", False)):
                    ctx.fail(f"{max(option.opts, key=len)} is given twice; allowed: once.")
        return super().parse_args(ctx, args)


class All(_Untyped, TyperGroup):
    """The list of commands."""


class Deferred(TyperCommand):
    """A command in the list; the command itself is imported when it is about to read its arguments."""

    def make_context(self, info_name: str | None, args: list[str], parent: Any = None, **extra: Any) -> Any:
        """The context of the command itself, which from here on takes the place of this one."""
        return self._imported().make_context(info_name, args, parent=parent, **extra)

    def _imported(self) -> Any:
        name = str(self.name)
        if name in GROUPS:
            return typer.main.get_command(import_module(f".commands.{name}", __package__).app)
        alone = typer.Typer(add_completion=False, rich_markup_mode="rich")
        alone.command(cls=Plain, no_args_is_help=name not in WITHOUT_ARGUMENTS)(
            getattr(import_module(f".commands.{name}", __package__), name)
        )
        found: Any = typer.main.get_command(alone)
        for option in found.params:
            if option.name in NEEDED.get(name, {}):
                option.help = f"[bold]{NEEDED[name][option.name]}.[/bold]  {option.help}"
        return found


app = typer.Typer(
    cls=All,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    epilog=EPILOG,
    help="Exact, certified differential-privacy accounting.",
    context_settings={"help_option_names": ["-h", "--help"]},
)


_VERSION = "Print the version, and whether the core is compiled."


@app.callback(invoke_without_command=True)
def start(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Print the version, and whether the core is compiled.")] = (False),
    man: Annotated[bool, typer.Option("--man", help="Print the manual page, as in: --man | man -l -")] = False,
) -> None:
    """Exact, certified differential-privacy accounting."""
    if version:
        from ..installation import in_short

        typer.echo(in_short())
        raise typer.Exit
    if man:
        from .manual import manual

        typer.echo(manual(COMMANDS, lambda name: Deferred(name)._imported()), nl=False)
        raise typer.Exit
    if context.invoked_subcommand is None:
        typer.echo(WELCOME, nl=False)


def _in_the_list() -> None:
    """In place of a command that is not imported."""


for _panel, _commands in COMMANDS.items():
    for _name, _help in _commands.items():
        app.command(_name, cls=Deferred, help=_help, rich_help_panel=_panel)(_in_the_list)
