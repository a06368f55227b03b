"""Model files: read, locked and replaced, with the record of the rows that the model has learnt."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from sslart import FuzzyART
from sslart._utils.files import FileIdentity
from sslart.cli._options import SECONDS_TO_WAIT
from sslart.cli._output import changed
from sslart.cli._path_lock import InUseError, PathLock
from sslart.cli._seen_rows import LearntRows
from sslart.persistence import load_with_notes, save_with_notes

MAX_READS = 20  # attempts, if the file is replaced while it is read


class ModelFile:
    """The model file `target`, which a command locks, reads and replaces.

    A command holds the lock from before it reads the file until it has replaced it, and waits at most `wait` seconds
    for it. Programs that take no lock, such as `sslart.save` in Python, are detected before the file is replaced: it
    must still be the one that was read. Until the first write, the model may be read from another file, `source`.
    """

    def __init__(self, command: str, target: str, source: str | None = None, wait: float = SECONDS_TO_WAIT) -> None:
        self.target, self._path = target, Path(target)
        self._source = target if source is None or Path(source).resolve() == self._path.resolve() else source
        self._lock, self._wait = PathLock(self._path, f"sslart {command}"), wait
        self._known: FileIdentity | None = None

    @contextmanager
    def owned(self, wait: float | None = None) -> Iterator[None]:
        """Hold the lock on the file; raise an InUseError if another process holds it for longer than `wait` seconds."""
        with ExitStack() as stack:
            try:
                stack.enter_context(self._lock.held(self._wait if wait is None else wait))
            except InUseError as owner:
                raise InUseError(
                    f"{self.target} is being written by {owner}: nothing was changed. Run this command again when the "
                    "other one has ended, or wait longer with --wait SECONDS."
                ) from owner
            yield

    def owner(self) -> str:
        """Return a description of the process that holds the lock."""
        return self._lock.owner()

    def read(self) -> tuple[Any, LearntRows]:
        """Return the fitted classifier and the record of the rows it has learnt."""
        for _ in range(MAX_READS):
            before = FileIdentity.of(Path(self._source))
            found = read_model_and_rows(self._source)
            if FileIdentity.of(Path(self._source)) == before:
                self._known = before if self._source == self.target else FileIdentity.of(self._path)
                return found
        raise InUseError(
            f"{self._source} keeps changing while it is read: stop the other program, and run this command again."
        )

    def replace_present(self) -> None:
        """Record the identity of the current file, which will be replaced without being read."""
        self._known = FileIdentity.of(self._path)

    def has_changed(self) -> bool:
        """Return True if another program has written the file, so that it must be reloaded."""
        if FileIdentity.of(self._path) == self._known:
            return False
        if self._source != self.target:
            raise self._changed()
        return True

    def replace(self, model: Any, rows: LearntRows) -> None:
        """Replace the file by a model and its rows; raise an InUseError if the file has changed since it was read."""
        written: list[FileIdentity | None] = []

        def check(part: Path) -> None:
            if FileIdentity.of(self._path) != self._known:
                raise self._changed()
            written.append(FileIdentity.of(part))

        save_with_notes(model, self.target, rows.to_notes(), check)
        changed(self.target)
        self._known, self._source = written[0], self.target

    def _changed(self) -> InUseError:
        return InUseError(
            f"Another program has changed {self.target} since this command began, so the file was not replaced, and "
            "what this command has learnt is lost. Run this command again: it starts from the current file."
        )


def read_model(path: str) -> Any:
    """Return the fitted classifier in a file, or raise an error with a remedy."""
    return read_model_and_rows(path)[0]


def read_model_and_rows(path: str) -> tuple[Any, LearntRows]:
    """Return the fitted classifier in a file and the record of the rows it has learnt."""
    if not Path(path).is_file():
        raise FileNotFoundError(f"There is no file {path}: check the name, or make a model with sslart fit.")
    model, notes = load_with_notes(path)
    if isinstance(model, FuzzyART):
        raise ValueError(
            f"{path} holds a FuzzyART, which clusters and does not predict classes: make a model with sslart fit."
        )
    if not model.__sklearn_is_fitted__():
        raise ValueError(f"{path} holds a model that is not fitted: make one with sslart fit.")
    try:
        return model, LearntRows.from_notes(notes)
    except (ValueError, KeyError, AttributeError, TypeError) as error:
        raise ValueError(f"{path} is not a valid sslart model: {error}.") from error
