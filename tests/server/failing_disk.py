"""A disk that is full, read-only or failing when a test says so."""

from __future__ import annotations

import itertools
from typing import Any

import apsw

_numbers = itertools.count()


class FailingDisk(apsw.VFS):
    """A virtual file system of SQLite: that of the system, with errors.

    Attributes
    ----------
    name : str
    error : type of apsw.Error or None
        What writes, syncs and new sizes fail with; None where they succeed.
    error_after_sync : type of apsw.Error or None
        What they fail with after the next sync.
    """

    error: type[apsw.Error] | None
    error_after_sync: type[apsw.Error] | None

    def __init__(self) -> None:
        self.name, self.error, self.error_after_sync = f"failing{next(_numbers)}", None, None
        super().__init__(self.name, "unix")

    def xOpen(self, name: Any, flags: list[int]) -> apsw.VFSFile:  # noqa: N802
        """Open a file."""
        return _File(self, name, flags)

    def check(self) -> None:
        """Raise the error that a test asks for."""
        if self.error is not None:
            raise self.error


class _File(apsw.VFSFile):
    def __init__(self, disk: FailingDisk, name: Any, flags: list[int]) -> None:
        super().__init__("unix", name, flags)
        self._disk = disk

    def excepthook(self, *_: Any) -> bool:
        """Print nothing: SQLite passes errors on."""
        return True

    def xWrite(self, data: bytes, offset: int) -> None:  # noqa: N802
        self._disk.check()
        super().xWrite(data, offset)

    def xTruncate(self, newsize: int) -> None:  # noqa: N802
        self._disk.check()
        super().xTruncate(newsize)

    def xSync(self, flags: int) -> None:  # noqa: N802
        self._disk.check()
        super().xSync(flags)
        self._disk.error, self._disk.error_after_sync = self._disk.error_after_sync, None

    def xLock(self, level: int) -> None:  # noqa: N802
        """Lock the file; one that is only read cannot be locked for writing, which SQLite tries at the end."""
        try:
            super().xLock(level)
        except apsw.IOError as error:
            raise apsw.BusyError from error
