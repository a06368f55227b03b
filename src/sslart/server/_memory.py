"""Periodic return of free memory to the system: glibc retains it in an arena per thread."""

from __future__ import annotations

import ctypes
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

SECONDS_BETWEEN = 20.0
ARENA_MAX, MOST_ARENAS = -8, 2  # a parameter of mallopt; arrays that one thread makes, another frees


@contextmanager
def given_back() -> Iterator[None]:
    """Give free memory back to the system while something runs, where the C library is one that keeps it."""
    trim = _trim()
    if trim is None:
        yield
        return
    end = threading.Event()

    def run() -> None:
        while not end.wait(SECONDS_BETWEEN):
            trim(0)

    thread = threading.Thread(target=run, name="memory", daemon=True)
    thread.start()
    try:
        yield
    finally:
        end.set()
        thread.join()


def _trim() -> Callable[[int], int] | None:
    """Return the function of glibc that gives memory back; None where there is another library."""
    if not sys.platform.startswith("linux"):
        return None
    library = ctypes.CDLL(None)
    try:
        library.mallopt(ARENA_MAX, MOST_ARENAS)
        found: Callable[[int], int] = library.malloc_trim
    except AttributeError:  # musl
        return None
    return found
