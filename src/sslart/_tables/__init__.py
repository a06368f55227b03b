"""Reading of tables for the command line and the service: files, text, cells, columns, limits."""

from __future__ import annotations

from typing import Any

from sslart._utils.optional import optional


def pandas() -> Any:
    """Return pandas, or raise an error with the command that installs it."""
    return optional("pandas", "cli")


def arrow(name: str = "") -> Any:
    """Return pyarrow or a module of it, such as ".csv", or raise an error with the command that installs it."""
    return optional(f"pyarrow{name}", "cli")
