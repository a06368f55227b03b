"""The log of the service, one JSON object per line on standard error, and the capture of Python warnings in it."""

from __future__ import annotations

import json
import logging
import sys
import threading
import time
import warnings
from typing import Any

from sslart._utils.notes import is_collected, note

_STANDARD = frozenset(vars(logging.makeLogRecord({}))) | {"message", "taskName"}
logger = logging.getLogger("sslart.server")
_lock = threading.Lock()
_n_services = 0
_before: list[Any] = []  # the filters, and what shows warnings, without a service


class JsonLines(logging.Formatter):
    """Formats a log record as one line of JSON: time, level, logger, message, and the items of `extra`."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line."""
        values: dict[str, Any] = {
            "time": time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(record.created)) + f".{int(record.msecs):03d}Z",
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
            **{name: value for name, value in vars(record).items() if name not in _STANDARD},
        }
        if record.exc_info:
            values["error"] = self.formatException(record.exc_info)
        return json.dumps(values, default=str)


def start_logging() -> None:
    """Write the log of the service, and warnings of uvicorn and asyncio, to standard error."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines())
    for name, level in (("sslart.server", logging.INFO), ("uvicorn", logging.WARNING), ("asyncio", logging.WARNING)):
        logger = logging.getLogger(name)
        logger.handlers, logger.propagate = [handler], False
        logger.setLevel(level)


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
    """Restore the handling of warnings once no service of this process redirects them."""
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
