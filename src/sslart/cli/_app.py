"""All commands as one typer application."""

from __future__ import annotations

from typing import Annotated, Any

import typer
from typer.main import get_command

from sslart import __version__
from sslart.cli.commands import data, explain, fit, label, predict, report, reproduce, rules, update, watch, what_if

app = typer.Typer(
    name="sslart",
    add_completion=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
for one in (fit, predict, explain, what_if, rules, report, update, label, watch, reproduce):
    app.command(one.__name__.rpartition(".")[2].replace("_", "-"))(one.run)
app.add_typer(data.app, name="data")


def _print_version(wanted: bool) -> None:
    if wanted:
        print(f"sslart {__version__}")
        raise typer.Exit


@app.callback()
def main(
    version: Annotated[
        bool, typer.Option("--version", help="print the version and exit", callback=_print_version, is_eager=True)
    ] = False,
) -> None:
    """Semi-supervised Adaptive Resonance Theory: many samples, few labels, and an explanation of every prediction."""


def command() -> Any:
    """Return the application as a command to run."""
    return get_command(app)
