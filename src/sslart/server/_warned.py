"""Capture of Python warnings in a service: as notes of the running job, or as lines of the log."""

from __future__ import annotations

import logging
import threading
import warnings
from typing import Any

from sslart._utils.notes import is_collected, note

logger = logging.getLogger("sslart.server")

_lock = threading.Lock()
_n_services = 0
_before: list[Any] = []  # the filters, and what shows warnings, without a service


def take_warnings() -> None:
    """Redirect the warnings of this process to notes or the log, until `leave_warnings`."""
    global _n_services
    with _lock:
        _n_services += 1
        if _n_services == 1:
            _before[:] = [warnings.filters[:], warnings.showwarning]
            warnings.simplefilter("always")
            warnings.showwarning = _show


def leave_warnings() -> None:
    """Let warnings be as before, once no service of this process takes them."""
    global _n_services
    with _lock:
        _n_services -= 1
        if _n_services == 0:
            warnings.filters[:], warnings.showwarning = _before  # type: ignore[index]


def _show(message: Warning | str, *_: Any, **__: Any) -> None:
    if is_collected():
        note(str(message))
    else:
        logger.warning("%s", message)
