"""Output to standard streams as text, JSON and tables, and atomic writes of files."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, redirect_stderr, suppress
from pathlib import Path
from typing import Any, TextIO

from sslart._utils.files import STANDARD, write_atomically
from sslart._utils.text import json_text, printable, printable_lines

A_BOX = "a box is an interval for each feature, around similar samples"
ESCAPED = "on standard output, control characters are written as escapes such as \\x1b; --out FILE keeps them."
LAST_STANDARD = 2  # file descriptors 0, 1 and 2 are standard input, output and error
_CHANGED: list[str] = []


def changed(place: str) -> None:
    """Record that a command has changed a file or another place, for the message after Ctrl-C."""
    if place not in _CHANGED:
        _CHANGED.append(place)


def forget_changes() -> None:
    """Reset the record of changes when a command begins."""
    _CHANGED.clear()


def stopped() -> str:
    """Return the message of a command that was stopped by Ctrl-C."""
    if not _CHANGED:
        return "stopped by Ctrl-C: nothing was changed."
    return f"stopped by Ctrl-C: {', '.join(_CHANGED)} had been written already; nothing else was changed."


def show(text: str = "", to: TextIO | None = None) -> None:
    """Print text with control characters escaped, so that table contents cannot affect the terminal."""
    print(printable_lines(text), file=to or sys.stdout)


def print_json(values: Any) -> None:
    """Print values as JSON."""
    print(json_text(values, indent=2))


def print_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print rows below a header, no wider than the terminal."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False)
    for name in header:
        table.add_column(Text(name), overflow="fold")
    for row in rows:
        table.add_row(*(Text(printable(cell)) for cell in row))
    Console(file=sys.stdout, width=None if sys.stdout.isatty() else 500, highlight=False).print(table)


def check_target(target: str, *sources: str) -> None:
    """Raise an error early if a file cannot be written, or is one of the inputs."""
    path = Path(target)
    if target == STANDARD:
        return
    check_not_read(target, *sources)
    if path.is_dir():
        raise IsADirectoryError(f"{target} is a folder: give the name of a file.")
    if path.exists() and not path.is_file():
        raise ValueError(f"{target} is a device or a pipe: give the name of a file, or - for standard output.")
    if not path.parent.is_dir():
        raise FileNotFoundError(f"There is no folder {path.parent}: create it first, or give another path.")
    if not os.access(folder := path.resolve().parent, os.W_OK):
        raise PermissionError(f"The folder {folder} is not writable: give another path.")


def check_not_read(target: str, *sources: str) -> None:
    """Raise a ValueError if an output file is one of the inputs."""
    for source in sources:
        if source != STANDARD and Path(target).resolve() == Path(source).resolve():
            raise ValueError(f"{target} is an input of this command and would be overwritten: give another name.")


def write(target: str, content: str) -> None:
    """Write to a file atomically, or to standard output with control characters escaped."""
    content = printable_lines(content) if target == STANDARD else content
    write_pieces(target, [(content if content.endswith("\n") else content + "\n").encode()])


def write_pieces(target: str, pieces: Iterable[bytes]) -> None:
    """Write pieces to a file atomically as they arrive, or to standard output."""
    if target != STANDARD:
        write_atomically(Path(target), pieces)
        changed(target)
        return
    sys.stdout.flush()
    for piece in pieces:
        sys.stdout.buffer.write(piece)
        sys.stdout.buffer.flush()


@contextmanager
def standard_streams() -> Iterator[bool]:
    """Guard against closed standard streams; yield False, after a message, if standard output is closed."""
    with ExitStack() as stack:
        if None in (sys.stdin, sys.stdout, sys.stderr):
            _reserve_descriptors()
        if sys.stderr is None:
            stack.enter_context(redirect_stderr(stack.enter_context(Path(os.devnull).open("w"))))
        if sys.stdout is None:
            print("sslart: standard output is closed: redirect it to a file, or to /dev/null.", file=sys.stderr)
            yield False
            return
        try:
            yield True
        finally:
            _discard_unwritten()


def _reserve_descriptors() -> None:
    """Reopen closed standard descriptors, so that no other file gets their numbers."""
    while (descriptor := os.open(os.devnull, os.O_RDWR)) <= LAST_STANDARD:
        pass
    os.close(descriptor)


def _discard_unwritten() -> None:
    """Discard unwritten output if standard output is broken; the interpreter would retry it at exit."""
    try:
        sys.stdout.flush()
    except OSError:
        with suppress(OSError, ValueError):
            descriptor = os.open(os.devnull, os.O_WRONLY)
            os.dup2(descriptor, sys.stdout.fileno())
            os.close(descriptor)
