"""Work that another thread or Ctrl-C stops: the flag that it checks, and the error that it raises."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

FLAG: ContextVar[Any] = ContextVar("flag", default=None)  # of one byte: work stops if it is not 0


class StoppedError(Exception):
    """Error raised by work that was stopped."""


@contextmanager
def stopped_by(flag: Any) -> Iterator[None]:
    """Context manager: stop the work in the block as soon as another thread sets a flag of `stop_flag`.

    The block then raises a `StoppedError`; a model that was learning is unchanged.
    """
    token = FLAG.set(flag)
    try:
        yield
        if flag[0]:
            raise StoppedError
    finally:
        FLAG.reset(token)


@contextmanager
def stopped_by_ctrl_c() -> Iterator[None]:
    """Context manager: stop the work in the block at Ctrl-C, with a `StoppedError`.

    Python drops an exception that a signal raises while an object is finalised; then the flag stops the next step.
    """
    is_main = threading.current_thread() is threading.main_thread()
    if not is_main or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield
        return
    flag = bytearray(1)

    def stop(*_: Any) -> None:
        flag[0] = 1
        raise StoppedError

    signal.signal(signal.SIGINT, stop)
    try:
        with stopped_by(flag):
            yield
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)
