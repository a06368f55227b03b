"""The command `sslart`: one file per sub-command."""

from __future__ import annotations

import importlib
import sys
import warnings
from typing import Any

from sslart._utils.notes import forget_notes
from sslart._utils.optional import install_command
from sslart._utils.stopping import StoppedError
from sslart._utils.text import one_line
from sslart.cli._output import forget_changes, standard_streams, stopped
from sslart.cli._path_lock import InUseError


def main(argv: list[str] | None = None) -> int:
    """Run the command line and return the exit code: 0, or 1 for an error that the user can fix.

    The code is 3 if another process is writing the model: nothing was changed, and the command can be run again. It is
    130 after Ctrl-C, and 2 for wrong usage.

    Examples
    --------
    >>> from sslart.cli import main
    >>> main(["--version"])
    sslart 0.1.0
    0
    """
    with standard_streams() as are_open:
        return _run(argv) if are_open else 1


def _run(argv: list[str] | None) -> int:
    try:
        command = importlib.import_module("sslart.cli._app").command()
        forget_notes()
        forget_changes()
    except ModuleNotFoundError as error:
        if (error.name or "").split(".")[0] not in ("typer", "click", "rich"):
            raise
        print(f"sslart: the command line needs typer and rich: {install_command('cli', 'typer')}", file=sys.stderr)
        return 1
    with warnings.catch_warnings():
        warnings.showwarning = _print_warning
        try:
            try:
                command.main(args=argv, prog_name="sslart")
            finally:
                sys.stdout.flush()
        except SystemExit as stop:
            if stop.code == 2:
                raise
            if isinstance(stop.__context__, BrokenPipeError):
                print("sslart: standard output was closed before all was written to it.", file=sys.stderr)
            return int(stop.code or 0)
        except (KeyboardInterrupt, StoppedError):
            print("sslart:", one_line(stopped()), file=sys.stderr)
            return 130
        except InUseError as error:
            print("sslart:", one_line(error), file=sys.stderr)
            return 3
        except (OSError, ValueError, ImportError) as error:
            print("sslart:", one_line(error), file=sys.stderr)
            return 1
    return 0


def _print_warning(message: Any, *_: Any, **__: Any) -> None:
    print("sslart: note:", one_line(message), file=sys.stderr)
