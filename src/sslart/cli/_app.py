"""All commands as one typer application."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, Any

import typer
from typer.core import TyperGroup
from typer.main import get_command

from sslart import __version__
from sslart._utils.text import printable
from sslart.cli._output import show
from sslart.cli.commands import data, explain, fit, label, predict, report, reproduce, rules, update, watch, what_if


class _Commands(TyperGroup):
    """All commands; a wrong argument, such as an odd file name, is shown with every character visible."""

    def make_context(self, *arguments: Any, **options: Any) -> Any:
        with _visible_errors():
            return super().make_context(*arguments, **options)

    def invoke(self, ctx: Any) -> Any:
        with _visible_errors():
            return super().invoke(ctx)


@contextmanager
def _visible_errors() -> Iterator[None]:
    try:
        yield
    except Exception as error:
        if hasattr(error, "format_message") and isinstance(message := getattr(error, "message", None), str):
            vars(error)["message"] = printable(message)
        raise


app = typer.Typer(
    name="sslart",
    cls=_Commands,
    add_completion=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
for one in (fit, predict, explain, what_if, rules, report, update, label, watch, reproduce):
    app.command(one.__name__.rpartition(".")[2].replace("_", "-"))(one.run)
app.add_typer(data.app, name="data")


def _print_version(wanted: bool) -> None:
    if wanted:
        show(f"sslart {__version__}")
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
