"""Progress line on standard error, shown only on a terminal."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from sslart._utils.optional import optional
from sslart._utils.text import printable


@contextmanager
def busy(text: str, *, shown: bool) -> Iterator[None]:
    """Show a line with the elapsed time while the block runs, if standard error is a terminal."""
    if not (shown and sys.stderr.isatty()):
        yield
        return
    rich, console = optional("rich.progress", "cli"), optional("rich.console", "cli").Console(stderr=True)
    columns = rich.SpinnerColumn(), rich.TextColumn("{task.description}", markup=False), rich.TimeElapsedColumn()
    with rich.Progress(*columns, console=console, transient=True) as progress:
        progress.add_task(printable(text), total=None)
        yield
