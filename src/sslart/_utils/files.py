"""Atomic writing and locking of files, and the name that stands for standard input or output."""

from __future__ import annotations

import os
import re
import secrets
import stat
import sys
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

_FAR_BYTE = 2**30  # Windows forbids others to read locked bytes, so a byte beyond the contents is locked


def try_lock(descriptor: int) -> bool:
    """Lock an open file; return False if it is locked already; raise an OSError if the file system has no locks."""
    if sys.platform == "win32":
        os.lseek(descriptor, _FAR_BYTE, os.SEEK_SET)
        try:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        except PermissionError:
            return False
        finally:
            os.lseek(descriptor, 0, os.SEEK_SET)
    else:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
    return True


def is_at(descriptor: int, path: Path) -> bool:
    """Return True if a path still leads to an open file, which another process may have replaced."""
    try:
        return os.path.samestat(os.fstat(descriptor), path.lstat())
    except FileNotFoundError:
        return False


STANDARD = "-"  # standard input or output, in the place of a file
_RANDOM_BYTES = 4
_HEAD_BYTES = 64  # of a model file: format, length, and checksum
_SECONDS_UNTIL_ABANDONED = 3600.0  # on Windows, where a locked file cannot be renamed


class FileIdentity(NamedTuple):
    """Identity of a file's content, which changes if the file is replaced or rewritten."""

    device: int
    inode: int
    size: int
    changed: int
    head: bytes

    @classmethod
    def of(cls, path: Path) -> FileIdentity | None:
        """Return the identity of the file at a path; None if there is no file."""
        try:
            with path.open("rb") as file:
                status, head = os.fstat(file.fileno()), file.read(_HEAD_BYTES)
        except FileNotFoundError:
            return None
        except PermissionError:  # an unreadable file can be replaced nevertheless
            status, head = path.stat(), b""
        return cls(status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, head)


def write_atomically(path: Path, contents: Iterable[Any], before_replace: Callable[[Path], None] | None = None) -> None:
    """Write a temporary file beside the target, flush it to disk, and rename it to the target.

    An existing file keeps its permissions. `before_replace` is called with the path of the temporary file before the
    rename. If it raises, the target is unchanged.
    """
    target = path.resolve()
    remove_abandoned(target)
    mode = stat.S_IMODE(target.stat().st_mode) if target.exists() else None
    part, descriptor = _new_part(target, 0o666 if mode is None else mode)
    try:
        with os.fdopen(descriptor, "wb") as file:
            for content in contents:
                file.write(content)
            file.flush()
            os.fsync(file.fileno())
            if mode is not None:
                part.chmod(mode)
            if before_replace is not None:
                before_replace(part)
            if sys.platform != "win32":  # rename while it is locked, so that nobody removes it as abandoned
                part.replace(target)
        if sys.platform == "win32":
            part.replace(target)
    except BaseException:
        with suppress(FileNotFoundError):
            part.unlink()
        raise
    if os.name == "posix":
        folder = os.open(target.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


def remove_abandoned(target: Path) -> None:
    """Remove temporary files of killed writers next to a target, except those being written."""
    pattern = re.compile(rf"\.{re.escape(target.name)}\.[0-9a-z_]{{{2 * _RANDOM_BYTES}}}\.part")
    with suppress(OSError), os.scandir(target.parent) as entries:
        for entry in entries:
            if pattern.fullmatch(entry.name):
                with suppress(OSError):  # of another user, already removed, or on a file system without locks
                    _remove_if_abandoned(Path(entry.path))


def _remove_if_abandoned(part: Path) -> None:
    if not stat.S_ISREG(part.lstat().st_mode):
        return
    if sys.platform == "win32":
        if time.time() - part.lstat().st_mtime > _SECONDS_UNTIL_ABANDONED:
            part.unlink()
        return
    descriptor = os.open(part, os.O_RDONLY | os.O_NOFOLLOW)
    try:
        if try_lock(descriptor) and is_at(descriptor, part):
            part.unlink()
    finally:
        os.close(descriptor)


def _new_part(target: Path, mode: int) -> tuple[Path, int]:
    """Create a temporary file beside the target, locked while open, with default permissions."""
    while True:
        part = target.with_name(f".{target.name}.{secrets.token_hex(_RANDOM_BYTES)}.part")
        descriptor = os.open(part, os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), mode | stat.S_IWUSR)
        if sys.platform == "win32":
            return part, descriptor
        try:
            is_whole = try_lock(descriptor) and is_at(descriptor, part)
        except OSError:  # no locks on this file system: no file is ever removed as abandoned there
            is_whole = True
        if is_whole:
            return part, descriptor
        os.close(descriptor)
