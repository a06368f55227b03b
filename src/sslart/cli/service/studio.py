"""`sslart studio`: label, understand and watch models in the browser."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from sslart._utils.optional import heavy, optional
from sslart.cli._output import show


def run(
    table: Annotated[
        Path | None, typer.Argument(metavar="[TABLE]", help="CSV, TSV, Parquet, Arrow or Excel, to begin with")
    ] = None,
    label: Annotated[str | None, typer.Option(help="its column with classes, if it has one", metavar="COLUMN")] = None,
    name: Annotated[
        str | None, typer.Option("--as", help="name of the model; that of the file if not given", metavar="NAME")
    ] = None,
    folder: Annotated[
        Path, typer.Option(help="folder for models, rows and labels; made where it does not exist", metavar="DIR")
    ] = Path("sslart-studio"),
    port: Annotated[
        int | None, typer.Option(min=0, max=65535, help="port of the page; 8708 if not given, where it is free")
    ] = None,
    no_browser: Annotated[bool, typer.Option("--no-browser", help="print the address, and open no browser")] = False,
) -> None:
    """Open a page to label samples, to understand the model that learns from them, and to watch it at work.

    The page runs on this machine only, and nothing leaves it. Every answer is on the disk at once: closing the browser
    or stopping this command loses nothing, and the next start with the same folder goes on from there. The address that
    is printed opens the page once; the browser may then come back to it.
    """
    for package, extra in (("fastapi", "serve"), ("uvicorn", "serve"), ("apsw", "serve"), ("httpx", "client")):
        optional(package, extra)
    studio = heavy("sslart.studio._studio")
    studio.launch(studio.Studio(folder, table, label, name, port, not no_browser), _told)


def _told(text: str) -> None:
    show(text)
    sys.stdout.flush()
