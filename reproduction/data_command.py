"""`python -m reproduction data`: list the data sets, find them, and download them."""

from __future__ import annotations

import sys
from typing import Annotated, Any

import typer

from reproduction.datasets import fetch, list_datasets, where
from reproduction.datasets.catalogue import source_of
from reproduction.datasets.source import Source
from sslart._utils.text import one_line
from sslart.cli import _options as option
from sslart.cli._output import print_json, show

app = typer.Typer(help="List, fetch and find the data sets of the paper.")
Names = Annotated[list[str] | None, typer.Argument(metavar="[NAME]...")]


@app.command("list")
def show_all(as_json: option.Json = False) -> None:
    """Show all data sets, with their size and where they are."""
    sources = [source_of(name) for name in list_datasets()]
    if as_json:
        print_json([_entry(source) for source in sources])
        return
    rows = [("name", "samples", "features", "classes", "where")]
    rows += [
        (source.name, str(source.n_samples), str(source.n_features), str(source.n_classes), _found_in(source))
        for source in sources
    ]
    widths = [max(len(row[column]) for row in rows) for column in range(4)]
    for name, *numbers, found_in in rows:
        cells = [text.rjust(width) for text, width in zip(numbers, widths[1:], strict=True)]
        show("  ".join([name.ljust(widths[0]), *cells, found_in]))


def _found_in(source: Source) -> str:
    return where(source.name).found_in or "not here"


def _entry(source: Source) -> dict[str, Any]:
    place = where(source.name)
    return {
        "name": source.name,
        "title": source.title,
        "samples": source.n_samples,
        "features": source.n_features,
        "classes": source.n_classes,
        "licence": source.licence,
        "public": source.public,
        "found_in": place.found_in,
        "paths": None if place.paths is None else [str(path) for path in place.paths],
    }


@app.command("fetch")
def get(
    context: typer.Context,
    names: Names = None,
    every: Annotated[bool, typer.Option("--all", help="all that anyone can download")] = False,
) -> None:
    """Download data sets unless they are here, and check them."""
    if every == bool(names):
        raise typer.BadParameter("give names of data sets, or --all", ctx=context)
    wanted = [name for name in list_datasets() if source_of(name).public] if every else names or []
    failures = 0
    for name in wanted:
        try:
            paths = fetch(name)
        except (OSError, ValueError) as error:
            show(f"reproduction: {one_line(error)}", to=sys.stderr)
            failures += 1
        else:
            show(f"{name}: {', '.join(map(str, paths)) or where(name)}")
    if failures:
        raise typer.Exit(1)


@app.command("where")
def find(names: Names = None) -> None:
    """Print where the files of data sets are; of all data sets, if no name is given."""
    for name in names or list_datasets():
        show(f"{name}: {where(name)}")
