"""All commands as one typer application; the module of a command is imported when the command is used."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, Any

import typer
from typer.core import TyperGroup
from typer.main import get_command

from sslart import __version__
from sslart._utils.stopping import stopped_by_ctrl_c
from sslart._utils.text import printable
from sslart.cli._output import show

COMMANDS = {  # the module of each command, and its line in the help
    "fit": ("fit", "Fit a model to a table in which some rows are labelled."),
    "predict": ("predict", "Predict the class, its probability and the novelty of each row."),
    "explain": ("explain", "Explain one prediction, or print feature importances."),
    "what-if": ("explain", "Print small changes of a row that change its prediction."),
    "rules": ("explain", "Print a short list of if-then rules that describe the model."),
    "report": ("explain", "Write an HTML report on a model and its predictions."),
    "update": ("update", "Update a model with new rows."),
    "merge": ("update", "Merge models fitted to parts of a table."),
    "label": ("label", "Active learning: ask for the most useful labels, and learn them."),
    "watch": ("watch", "Predict a stream of rows, flag novel ones, and learn."),
    "serve": ("serve", "Serve models over HTTP: predict, explain and learn."),
    "studio": ("serve", "Label data and inspect models in the browser."),
}


class _Commands(TyperGroup):
    """The group of all commands; error messages escape the control characters of wrong arguments."""

    def make_context(self, *arguments: Any, **options: Any) -> Any:
        with _visible_errors():
            return super().make_context(*arguments, **options)

    def resolve_command(self, *arguments: Any) -> Any:
        name, _, rest = super().resolve_command(*arguments)
        return name, None if name is None else loaded(name), rest

    def invoke(self, ctx: Any) -> Any:
        with _visible_errors(), stopped_by_ctrl_c():
            return super().invoke(ctx)


@contextmanager
def _visible_errors() -> Iterator[None]:
    try:
        yield
    except Exception as error:
        if hasattr(error, "format_message") and isinstance(message := getattr(error, "message", None), str):
            vars(error)["message"] = printable(message)
        raise


def _application(**options: Any) -> typer.Typer:
    return typer.Typer(pretty_exceptions_enable=False, rich_markup_mode=None, **options)


app = _application(name="sslart", cls=_Commands, add_completion=True)


def loaded(name: str) -> Any:
    """Load a command with its options from its module."""
    module = importlib.import_module(f"sslart.cli.{COMMANDS[name][0]}")
    own = _application(name=name, add_completion=False)
    own.command(name)(getattr(module, name.replace("-", "_")))
    return get_command(own)


def _placeholder() -> None:
    """Stand in for a command in help and completion until its module is imported."""


for _name, (_, _summary) in COMMANDS.items():
    app.command(_name, help=_summary)(_placeholder)


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
