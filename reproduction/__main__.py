"""`python -m reproduction`: run the paper's experiments, and find its data sets."""

from __future__ import annotations

import sys
import warnings
from typing import Any

from sslart._utils.optional import heavy, optional
from sslart._utils.text import one_line
from sslart.cli._output import standard_streams


def main(argv: list[str] | None = None) -> int:
    """Run the command line and return the exit code: 0, or 1 for an error that the user can cure."""
    with standard_streams() as are_open, warnings.catch_warnings():
        warnings.showwarning = _print_warning
        try:
            if are_open:
                for package in ("typer", "rich"):
                    optional(package, "reproduction")
                heavy("reproduction.commands").app(args=argv, prog_name="python -m reproduction")
        except SystemExit as stop:
            if stop.code == 2:
                raise
            return int(stop.code or 0)
        except (OSError, ValueError, ImportError) as error:
            print("reproduction:", one_line(error), file=sys.stderr)
            return 1
    return 1


def _print_warning(message: Any, *_: Any, **__: Any) -> None:
    print("reproduction: note:", one_line(message), file=sys.stderr)


if __name__ == "__main__":
    raise SystemExit(main())
