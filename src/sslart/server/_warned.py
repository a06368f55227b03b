"""Warnings of the library in a service: notes of the work that they come from, or lines of the log."""

from __future__ import annotations

import logging
import warnings
from typing import Any

from sslart._utils.notes import is_collected, note

logger = logging.getLogger("sslart.server")


def take_warnings() -> None:
    """Let every warning of this process, each time that it comes up, become a note or a line of the log."""

    def show(message: Warning | str, *_: Any, **__: Any) -> None:
        if is_collected():
            note(str(message))
        else:
            logger.warning("%s", message)

    warnings.simplefilter("always")
    warnings.showwarning = show
