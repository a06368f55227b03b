"""The command `sslart`: one file per sub-command."""

from __future__ import annotations

import argparse
import sys

from sslart.cli import data, reproduce


def main(argv: list[str] | None = None) -> int:
    """Run the command line and return the exit code: 0, or 1 for an error that the user can cure.

    Examples
    --------
    >>> from sslart.cli import main
    >>> main(["data", "where", "iris"])
    iris: scikit-learn
    0
    """
    parser = argparse.ArgumentParser(
        prog="sslart", description="Semi-supervised Adaptive Resonance Theory: many samples, few labels."
    )
    subparsers = parser.add_subparsers(required=True, metavar="COMMAND")
    for command in (data, reproduce):
        command.add_to(subparsers)
    arguments = parser.parse_args(argv)
    try:
        return int(arguments.run(arguments))
    except (OSError, ValueError, ImportError) as error:
        print("sslart:", " ".join(str(error).split()), file=sys.stderr)
        return 1
