"""A disk in memory that loses its power: what was not synced is lost, torn or written other order."""

from __future__ import annotations

import itertools
import random
import threading
from contextlib import suppress
from copy import deepcopy
from pathlib import Path
from typing import Any, NamedTuple

import apsw

SECTOR = 512
_numbers = itertools.count()
_SYNCS_FOLDER = apsw.SQLITE_OPEN_WAL | apsw.SQLITE_OPEN_MAIN_JOURNAL | apsw.SQLITE_OPEN_SUPER_JOURNAL


class _Change(NamedTuple):
    """A write of at most a sector, or, without content, a new size."""

    place: int
    content: bytes | None

    def apply_to(self, content: bytearray) -> None:
        """Make the change."""
        if self.content is None:
            del content[self.place :]
            content.extend(bytes(self.place - len(content)))
            return
        content.extend(bytes(max(self.place - len(content), 0)))
        content[self.place : self.place + len(self.content)] = self.content


class _Inode:
    """The content of a file: as programs see it, as it was last synced, and what was changed since."""

    def __init__(self) -> None:
        self.seen, self.synced, self.changes = bytearray(), bytearray(), list[_Change]()

    def change(self, change: _Change) -> None:
        change.apply_to(self.seen)
        self.changes.append(change)

    def sync(self) -> None:
        for change in self.changes:
            change.apply_to(self.synced)
        self.changes.clear()

    def after_power_loss(self, chance: random.Random) -> bytes:
        """Return the content of the disk: each change since the last sync is kept or lost independently."""
        found, share = bytearray(self.synced), chance.choice([0.0, 0.1, 0.5, 0.9, 1.0])
        for change in self.changes:
            if chance.random() < share:
                change.apply_to(found)
        return bytes(found)


class LossyDisk(apsw.VFS):
    """A virtual file system of SQLite whose files are in memory, and on the disk once they are synced.

    Locks and shared memory are those of empty files in the folder that SQLite is given. As with POSIX, a new or removed
    file is so after a loss of power only if its folder was synced too, which SQLite's own file system does with the
    first sync of each journal.

    Parameters
    ----------
    seed : int
        Chooses what the loss of power leaves.
    cut_after : int or None
        The power is lost with this write, sync or removal, counted from 1.
    ignores_syncs : bool
        Whether the disk reports data as written that it has only in memory.
    failing_sync : int or None
        This sync, counted from 1, fails. As in Linux, what it should have written stays in memory as if it had been,
        and no later sync writes it.

    Attributes
    ----------
    name : str
    n_changes, n_syncs : int
        How many writes, syncs and removals there were, and how many syncs.
    """

    def __init__(
        self,
        seed: int,
        cut_after: int | None = None,
        *,
        ignores_syncs: bool = False,
        failing_sync: int | None = None,
    ) -> None:
        self.name = f"lossy{next(_numbers)}"
        super().__init__(self.name, "unix")
        self._chance, self._cut_after, self._ignores_syncs = random.Random(seed), cut_after, ignores_syncs
        self._lock = threading.RLock()
        self._seen: dict[str, _Inode] = {}
        self._on_disk: dict[str, _Inode] = {}  # the folder as it was last synced
        self._left: dict[str, bytes] | None = None
        self._is_over = False
        self._failing_sync, self.n_changes, self.n_syncs = failing_sync, 0, 0

    def excepthook(self, *_: Any) -> bool:
        """Print nothing: SQLite passes errors on."""
        return True

    def xOpen(self, name: Any, flags: list[int]) -> apsw.VFSFile:  # noqa: N802
        """Open a file; temporary ones are left to the file system that this one inherits from."""
        path = name.filename() if isinstance(name, apsw.URIFilename) else name
        if path is None:
            return apsw.VFSFile("unix", name, flags)
        with self._lock:
            self._check_power()
            file = _File(self, name, flags)
            file.inode = self._seen.setdefault(path, _Inode())
            file.syncs_folder = bool(flags[0] & _SYNCS_FOLDER)
            return file

    def xDelete(self, filename: str, syncdir: bool) -> None:  # noqa: N802
        """Remove a file; without `syncdir`, it may be there again after a loss of power.

        No error is raised, since SQLite ignores some, which apsw would print; no acknowledgement depends on it.
        """
        with self._lock, suppress(apsw.IOError):
            self.count()
            super().xDelete(filename, syncdir)
            self._seen.pop(filename, None)
            if syncdir:
                self.sync_folder()

    def sync_folder(self) -> None:
        """Let the folder on the disk have the files that it has."""
        if not self._ignores_syncs:
            self._on_disk = dict(self._seen)

    def sync(self, inode: _Inode) -> None:
        """Let a file be on the disk as it is."""
        self.n_syncs += 1
        if self.n_syncs == self._failing_sync:
            inode.changes.clear()
            raise apsw.IOError("the sync has failed")
        if not self._ignores_syncs:
            inode.sync()

    def count(self) -> None:
        """Count a change, and lose the power where it is the one."""
        self._check_power()
        self.n_changes += 1
        if self.n_changes == self._cut_after:
            self.lose_power()
            self._check_power()

    @property
    def has_power(self) -> bool:
        """True until the power is lost."""
        return self._left is None

    def _check_power(self) -> None:
        if not self.has_power and not self._is_over:
            raise apsw.IOError("the power is lost")

    def lose_power(self) -> None:
        """Lose the power now: every use fails from now on."""
        with self._lock:
            if self._left is None:
                chance = self._chance
                either = [chance.choice([self._seen, self._on_disk]).get(path) for path in self._paths()]
                found = zip(self._paths(), either, strict=True)
                self._left = {path: one.after_power_loss(chance) for path, one in found if one is not None}

    def _paths(self) -> list[str]:
        return sorted({*self._seen, *self._on_disk})

    def after_a_kill(self, folder: Path) -> LossyDisk:
        """Return a disk with the same files in another folder, as a process finds them when another was killed."""
        with self._lock:
            other, inodes = LossyDisk(self._chance.randrange(2**32)), deepcopy((self._seen, self._on_disk))
        other._seen, other._on_disk = (
            {str(folder / Path(path).name): one for path, one in of_folder.items()} for of_folder in inodes
        )
        folder.mkdir()
        for path in other._seen:
            Path(path).touch()
        return other

    def write_to(self, folder: Path) -> None:
        """Write what the loss of power has left to real files; whoever still has this disk open may close it then."""
        assert self._left is not None
        self._is_over = True
        folder.mkdir()
        for path, content in self._left.items():
            (folder / Path(path).name).write_bytes(content)


class _File(apsw.VFSFile):
    """An open file. Its locks and shared memory are those of a real, empty file."""

    inode: _Inode
    syncs_folder: bool

    def excepthook(self, *_: Any) -> bool:
        """Print nothing: SQLite passes errors on."""
        return True

    def __init__(self, disk: LossyDisk, name: Any, flags: list[int]) -> None:
        super().__init__("unix", name, flags)
        self._disk = disk

    def xRead(self, amount: int, offset: int) -> bytes:  # noqa: N802
        with self._disk._lock:
            self._disk._check_power()
            return bytes(self.inode.seen[offset : offset + amount])

    def xWrite(self, data: bytes, offset: int) -> None:  # noqa: N802
        with self._disk._lock:
            self._disk.count()
            end = offset + len(data)
            starts = [offset, *range((offset // SECTOR + 1) * SECTOR, end, SECTOR), end]
            for start, stop in itertools.pairwise(starts):
                self.inode.change(_Change(start, bytes(data[start - offset : stop - offset])))

    def xTruncate(self, newsize: int) -> None:  # noqa: N802
        with self._disk._lock:
            self._disk.count()
            self.inode.change(_Change(newsize, None))

    def xSync(self, flags: int) -> None:  # noqa: N802
        with self._disk._lock:
            self._disk.count()
            self._disk.sync(self.inode)
            if self.syncs_folder:
                self._disk.sync_folder()
                self.syncs_folder = False

    def xFileSize(self) -> int:  # noqa: N802
        """Return the size, also without power, since SQLite ignores some errors here."""
        with self._disk._lock:
            return len(self.inode.seen)

    def xFileControl(self, op: int, ptr: int) -> bool:  # noqa: N802
        """Pass on what SQLite asks for, but for sizes in advance, which would change the real file."""
        sizes = (apsw.SQLITE_FCNTL_SIZE_HINT, apsw.SQLITE_FCNTL_CHUNK_SIZE)
        return False if op in sizes else super().xFileControl(op, ptr)

    def xLock(self, level: int) -> None:  # noqa: N802
        """Lock the real file; one that is only read cannot be locked for writing, which SQLite tries at the end."""
        try:
            super().xLock(level)
        except apsw.IOError as error:
            raise apsw.BusyError from error

    def xClose(self) -> None:  # noqa: N802
        with suppress(apsw.Error):
            super().xClose()
