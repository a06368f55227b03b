"""Standard streams that may be closed at the start, or at any time by the process at the other end."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, redirect_stderr, suppress
from pathlib import Path

LAST_STANDARD = 2  # descriptors of standard input, output and errors


@contextmanager
def standard_streams() -> Iterator[bool]:
    """Make it safe to print; the value is False, after a message, where standard output is closed."""
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
            _forget_unwritten()


def _reserve_descriptors() -> None:
    """Open closed standard descriptors, so that no user file takes the place of a standard stream."""
    while (descriptor := os.open(os.devnull, os.O_RDWR)) <= LAST_STANDARD:
        pass
    os.close(descriptor)


def _forget_unwritten() -> None:
    """Discard unwritten output if standard output is broken: the interpreter would retry it at exit."""
    try:
        sys.stdout.flush()
    except OSError:
        with suppress(OSError, ValueError):
            descriptor = os.open(os.devnull, os.O_WRONLY)
            os.dup2(descriptor, sys.stdout.fileno())
            os.close(descriptor)
