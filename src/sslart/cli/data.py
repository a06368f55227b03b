"""`sslart data`: which data sets there are, where they are, and how to get them."""

from __future__ import annotations

import argparse
import json
import sys
from typing import Any

from sslart.datasets import fetch, list_datasets, where
from sslart.datasets._catalogue import source_of
from sslart.datasets._source import Source


def add_to(subparsers: Any) -> None:
    """Add the command `data` and the commands below it."""
    parser = subparsers.add_parser("data", help="list, fetch and find data sets")
    actions = parser.add_subparsers(required=True, metavar="ACTION")

    listing = actions.add_parser("list", help="all data sets, with their size and where they are")
    listing.add_argument("--json", action="store_true", help="for programs")
    listing.set_defaults(run=run, action=_list)

    fetching = actions.add_parser("fetch", help="download data sets unless they are here, and check them")
    fetching.add_argument("names", nargs="*", metavar="NAME")
    fetching.add_argument("--all", action="store_true", help="all that anyone can download")
    fetching.set_defaults(run=run, action=_fetch, parser=fetching)

    finding = actions.add_parser("where", help="where the files of data sets are")
    finding.add_argument("names", nargs="*", metavar="NAME", help="all, if none is given")
    finding.set_defaults(run=run, action=_where)


def run(arguments: argparse.Namespace) -> int:
    """Do what the command line asks for."""
    return int(arguments.action(arguments))


def _list(arguments: argparse.Namespace) -> int:
    sources = [source_of(name) for name in list_datasets()]
    if arguments.json:
        print(json.dumps([_entry(source) for source in sources], indent=2))
        return 0
    rows = [("name", "samples", "features", "classes", "where")]
    rows += [
        (source.name, str(source.n_samples), str(source.n_features), str(source.n_classes), _found_in(source))
        for source in sources
    ]
    widths = [max(len(row[column]) for row in rows) for column in range(4)]
    for name, *numbers, found_in in rows:
        cells = [text.rjust(width) for text, width in zip(numbers, widths[1:], strict=True)]
        print("  ".join([name.ljust(widths[0]), *cells, found_in]))
    return 0


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


def _fetch(arguments: argparse.Namespace) -> int:
    if arguments.all == bool(arguments.names):
        arguments.parser.error("give names of data sets, or --all")
    names = [name for name in list_datasets() if source_of(name).public] if arguments.all else arguments.names
    failures = 0
    for name in names:
        try:
            paths = fetch(name)
        except (OSError, ValueError) as error:
            print("sslart:", " ".join(str(error).split()), file=sys.stderr)
            failures += 1
        else:
            print(f"{name}: {', '.join(map(str, paths)) or where(name)}")
    return 1 if failures else 0


def _where(arguments: argparse.Namespace) -> int:
    for name in arguments.names or list_datasets():
        print(f"{name}: {where(name)}")
    return 0
