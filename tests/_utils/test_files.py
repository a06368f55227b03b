"""Files are written whole or not at all, and killed writers leave nothing that stays."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from sslart._utils.files import FileIdentity, write_atomically

posix = pytest.mark.skipif(os.name != "posix", reason="locks of open files that are renamed")


def parts(folder: Path) -> list[str]:
    return sorted(one.name for one in folder.iterdir() if one.name.endswith(".part"))


@posix
def test_what_a_killed_writer_left_is_swept_by_the_next_and_what_is_being_written_is_not(tmp_path: Path) -> None:
    target = tmp_path / "model.sslart"
    strangers = [".model.sslart.part", ".model.sslart.notes.part", ".other.sslart.00000000.part"]
    for name in strangers:
        (tmp_path / name).write_bytes(b"")
    writer = os.fork()
    if not writer:
        write_atomically(target, _slowly())
        os._exit(1)
    while not (living := set(parts(tmp_path)) - set(strangers)) or not (tmp_path / min(living)).stat().st_size:
        time.sleep(0.001)
    write_atomically(target, [b"first"])
    assert parts(tmp_path) == sorted([*living, *strangers])
    os.kill(writer, signal.SIGKILL)
    os.waitpid(writer, 0)
    write_atomically(target, [b"second"])
    assert parts(tmp_path) == sorted(strangers)
    assert target.read_bytes() == b"second"


def _slowly() -> Iterator[bytes]:
    yield bytes(2**20)
    time.sleep(60)


def test_many_writers_that_sweep_take_nothing_from_each_other(tmp_path: Path) -> None:
    target, errors = tmp_path / "table.csv", []

    def write(number: int) -> None:
        try:
            for _ in range(50):
                write_atomically(target, [b"%d\n" % number] * 100)
        except OSError as error:
            errors.append(error)

    threads = [threading.Thread(target=write, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    assert parts(tmp_path) == []
    assert len(set(target.read_bytes().splitlines())) == 1


@posix
@pytest.mark.parametrize("umask", [0o022, 0o077, 0o002])
def test_new_files_have_the_permissions_of_the_umask_and_old_ones_keep_theirs(umask: int, tmp_path: Path) -> None:
    target = tmp_path / "model.sslart"
    before = os.umask(umask)
    try:
        write_atomically(target, [b"x"])
    finally:
        os.umask(before)
    assert target.stat().st_mode & 0o7777 == 0o666 & ~umask
    target.chmod(0o640)
    write_atomically(target, [b"y"])
    assert target.stat().st_mode & 0o7777 == 0o640


def test_the_umask_of_other_threads_is_never_touched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def touched(_: int) -> int:
        raise AssertionError("os.umask holds for all threads of the process")

    monkeypatch.setattr(os, "umask", touched)
    write_atomically(tmp_path / "model.sslart", [b"x"])


@posix
def test_a_private_file_is_private_while_it_is_written(tmp_path: Path) -> None:
    target = tmp_path / "model.sslart"
    target.write_bytes(b"")
    target.chmod(0o600)

    def contents() -> Iterator[bytes]:
        (part,) = parts(tmp_path)
        assert (tmp_path / part).stat().st_mode & 0o077 == 0
        yield b"secret"

    write_atomically(target, contents())
    assert target.read_bytes() == b"secret"


def test_a_check_that_fails_before_the_end_leaves_the_old_file(tmp_path: Path) -> None:
    target = tmp_path / "model.sslart"
    target.write_bytes(b"old")

    def refuse(part: Path) -> None:
        assert part.read_bytes() == b"new"
        raise ValueError("changed")

    with pytest.raises(ValueError, match="changed"):
        write_atomically(target, [b"new"], refuse)
    assert target.read_bytes() == b"old"
    assert parts(tmp_path) == []


def test_a_file_is_another_once_it_was_replaced_or_rewritten(tmp_path: Path) -> None:
    target = tmp_path / "model.sslart"
    assert FileIdentity.of(target) is None
    target.write_bytes(b"old")
    seen, in_part = [FileIdentity.of(target)], []
    write_atomically(target, [b"old"], lambda part: in_part.append(FileIdentity.of(part)))
    seen.append(FileIdentity.of(target))
    assert in_part == [seen[-1]]
    assert FileIdentity.of(target) == seen[-1]
    target.write_bytes(b"new")
    os.utime(target, ns=(time.time_ns(), seen[-1].changed))  # within one tick of the clock
    seen.append(FileIdentity.of(target))
    assert len(set(seen)) == 3
