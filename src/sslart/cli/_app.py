"""All commands as one typer application."""

from __future__ import annotations

from typing import Any

import typer
from typer.main import get_command

from sslart.cli import data, explain, fit, predict, report, reproduce, rules, update

app = typer.Typer(
    name="sslart",
    help="Semi-supervised Adaptive Resonance Theory: many samples, few labels, and a reason for every answer.",
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
for one in (fit, predict, explain, rules, report, update, reproduce):
    app.command(one.__name__.rpartition(".")[2])(one.run)
app.add_typer(data.app, name="data")


def command() -> Any:
    """Return the application as a command to run."""
    return get_command(app)
