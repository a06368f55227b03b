"""Advisory lock on a path, for writers in several processes; the lock file names its owner."""

from __future__ import annotations

import errno
import json
import os
import socket
import sys
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from sslart._utils.files import is_at, try_lock

SECONDS_BETWEEN_TRIES = 0.02
MAX_OWNER_BYTES = 4096
_NO_LOCKS = (errno.ENOLCK, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS)


class InUseError(OSError):
    """Raised if another process is writing a file, or has replaced it since it was read; a retry may succeed."""


class Owner(NamedTuple):
    """The process that holds a lock, as recorded in the lock file."""

    command: str
    pid: int
    host: str
    since: str

    @classmethod
    def this_process(cls, command: str) -> Owner:
        """Return this process, with the current time as its start."""
        return cls(command, os.getpid(), socket.gethostname(), datetime.now(UTC).isoformat(timespec="milliseconds"))

    @classmethod
    def read(cls, path: Path) -> Owner | None:
        """Return the owner named in a lock file; None if it is incomplete or not a lock file."""
        try:
            with path.open("rb") as file:
                values = json.loads(file.read(MAX_OWNER_BYTES))
            owner = cls(**values)
            datetime.fromisoformat(owner.since)
        except (OSError, ValueError, TypeError, RecursionError):
            return None
        return owner

    def __str__(self) -> str:
        """Return the owner in words, with its age."""
        seconds = (datetime.now(UTC) - datetime.fromisoformat(self.since)).total_seconds()
        where = "" if self.host == socket.gethostname() else f" on {self.host!a}"
        return f"{ascii(self.command)[1:-1]} (process {self.pid}{where}, for {_duration(seconds)}, since {self.since})"


def _duration(seconds: float) -> str:
    if seconds < 120:
        return f"{max(seconds, 0):.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.0f} h"


class PathLock:
    """A lock on a path for processes that replace the file there; readers need none.

    The lock file lies beside the file, with `.lock` added to the name. It names the owner and its command, and is
    removed at the end. One left by a killed process blocks nobody. Links are followed.
    """

    def __init__(self, path: Path, command: str) -> None:
        target = path.resolve()
        self.path = target.with_name(f"{target.name}.lock")
        self.command = command

    def owner(self) -> str:
        """Return a description of the process that holds the lock."""
        return str(Owner.read(self.path) or "another process")

    @contextmanager
    def held(self, seconds: float) -> Iterator[None]:
        """Hold the lock; raise an InUseError if it is not free within `seconds`."""
        descriptor = self._acquired(seconds)
        try:
            yield
        finally:
            if descriptor is not None:
                self._release(descriptor)

    def _acquired(self, seconds: float) -> int | None:
        """Return the open lock file; None if the file system does not support locks."""
        end = time.monotonic() + seconds
        while True:
            descriptor, is_own = self._open()
            try:
                got = try_lock(descriptor)
                if got and is_at(descriptor, self.path):
                    if is_own:
                        self._write_owner(descriptor)
                        return descriptor
                    self.path.unlink()  # left by a process of another user
            except OSError as error:
                os.close(descriptor)
                if error.errno not in _NO_LOCKS:
                    raise
                with suppress(OSError):
                    self.path.unlink()
                warnings.warn(
                    f"The file system of {self.path.parent} has no locks: write there with one command at a time.",
                    stacklevel=2,
                )
                return None
            except BaseException:
                os.close(descriptor)
                raise
            os.close(descriptor)
            if not got:
                if time.monotonic() >= end:
                    raise InUseError(self.owner())
                time.sleep(SECONDS_BETWEEN_TRIES)

    def _open(self) -> tuple[int, bool]:
        """Open the lock file; return it and whether this process may write to it."""
        flags = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
        while True:
            with suppress(FileNotFoundError):  # removed between the two
                try:
                    return os.open(self.path, os.O_RDWR | os.O_CREAT | flags, 0o666), True
                except PermissionError:
                    if not self.path.exists():
                        raise
                    return os.open(self.path, os.O_RDONLY | flags), False

    def _write_owner(self, descriptor: int) -> None:
        content = json.dumps(Owner.this_process(self.command)._asdict()).encode() + b"\n"
        with suppress(OSError):  # the lock works without its text, such as on a full disk
            os.ftruncate(descriptor, 0)
            os.write(descriptor, content)

    def _release(self, descriptor: int) -> None:
        if sys.platform == "win32":  # Windows cannot remove an open file
            os.close(descriptor)
            with suppress(OSError):
                self.path.unlink()
            return
        with suppress(OSError):  # removed before it is released, so that waiting processes see that it is gone
            self.path.unlink()
        os.close(descriptor)
