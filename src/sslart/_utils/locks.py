"""Locks of open files: the kernel releases them when their process ends, in any way."""

from __future__ import annotations

import os
import sys
from pathlib import Path

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

_FAR_BYTE = 2**30  # Windows keeps others from reading locked bytes: one beyond the contents is locked


def try_lock(descriptor: int) -> bool:
    """Lock an open file; return False where another holds its lock, and raise an OSError where there are no locks."""
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
