"""All commands as one typer application."""

from __future__ import annotations

import typer

from reproduction import data_command, run_command

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None)
app.command("run")(run_command.run)
app.add_typer(data_command.app, name="data")


@app.callback()
def program() -> None:
    """Run the experiments of the paper, also on a table or with models of your own, and find its data sets."""
