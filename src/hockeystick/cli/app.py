"""The commands, by what they are for."""

from typing import Annotated

import typer

from . import account, check, draw, plan

EPILOG = (
    "Begin with the noise that a training run needs, then a report and a picture:\n\n"
    "hockeystick calibrate --sampler poisson --examples 60000 --batch 256 --epochs 15 --epsilon 1 --delta 1e-5\n\n"
    "It says how to go on.  "
    "Exit codes: 0 answered, 2 bad input, 3 over budget or unreachable (crosscheck: 4 our engines disagree).  Every command has "
    "--help with an example, and --json."
)

app = typer.Typer(
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    epilog=EPILOG,
    help="Exact, certified differential-privacy accounting.",
    context_settings={"help_option_names": ["-h", "--help"]},
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


@app.callback(invoke_without_command=True)
def start(context: typer.Context, version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False) -> None:
    """Exact, certified differential-privacy accounting."""
    if version:
        from .. import __version__
        from ..native import core

        typer.echo(__version__ if core else f"{__version__} (the core is not compiled: answers take longer)")
        raise typer.Exit
    if context.invoked_subcommand is None:
        typer.echo(WELCOME, nl=False)


for _panel, _commands in {
    "Account": (account.dpsgd, account.compose, account.convert, account.explain),
    "Plan": (plan.calibrate, plan.rounds, plan.sweep),
    "Show": (draw.report, draw.plot, draw.figures),
    "Check": (check.crosscheck,),
}.items():
    for _command in _commands:
        app.command(rich_help_panel=_panel, no_args_is_help=_command is not draw.figures)(_command)
