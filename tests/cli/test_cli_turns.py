"""Several commands on one model take turns: no row that was reported as learnt is lost, whoever else writes."""

from __future__ import annotations

import io
import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
import warnings
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from sklearn.datasets import load_iris

import sslart
from sslart.cli import main, update
from sslart.cli._model_file import ModelFile
from sslart.cli._path_lock import InUseError, PathLock
from sslart.cli.watch import LearningPolicy, StreamWorker
from tables import fitted, iris

Captured = pytest.CaptureFixture[str]
FLOWERS = load_iris(as_frame=True).data
SSLART = (sys.executable, "-W", "ignore", "-m", "sslart")
posix = pytest.mark.skipif(os.name != "posix", reason="signals")


def some_flowers(folder: Path, name: str, start: int, stop: int) -> str:
    path = folder / name
    FLOWERS[start:stop].to_csv(path, index=False)
    return str(path)


def small_model(folder: Path) -> Path:
    return fitted(iris(folder), "--label", "species", "--id", "flower", "--mapping", "one-to-many")


def n_learnt(path: Path) -> int:
    return int(sslart.load(path).support_.sum())


def learn_elsewhere(model: Path, rows: Any) -> None:
    """Write the model from Python, which takes no turns."""
    other = sslart.load(model)
    other.partial_fit(rows)
    sslart.save(other, model)


WRITERS = {
    "update": lambda model, data: ["update", model, data],
    "fit": lambda model, data: ["fit", data, "--label", "petal width (cm)", "--out", model],
    "update to another file": lambda model, data: ["update", model.replace("iris", "other"), data, "--out", model],
}


@pytest.mark.parametrize("name", WRITERS)
def test_a_command_that_finds_the_model_owned_ends_with_3_and_names_the_owner(
    name: str, tmp_path: Path, capsys: Captured
) -> None:
    model, new = small_model(tmp_path), some_flowers(tmp_path, "new.csv", 0, 5)
    (tmp_path / "other.sslart").write_bytes(content := model.read_bytes())
    with PathLock(model, "sslart update").held(0):
        assert main([*WRITERS[name](str(model), new), "--wait", "0"]) == 3
    printed = capsys.readouterr()
    assert printed.out == ""
    owner = rf"is being written by sslart update \(process {os.getpid()}, for \d+ s, since 20\d\d-"
    assert re.search(owner, printed.err)
    assert "nothing was changed" in printed.err
    assert model.read_bytes() == content


def test_readers_need_no_turn(tmp_path: Path) -> None:
    model, new = str(small_model(tmp_path)), some_flowers(tmp_path, "new.csv", 0, 5)
    with PathLock(Path(model), "sslart fit").held(0):
        assert main(["predict", model, new, "--out", str(tmp_path / "predictions.csv")]) == 0
        assert main(["rules", model, "--kind", "boxes"]) == 0
        assert main(["watch", model, new, "--learn", "none"]) == 0


def test_a_command_waits_for_its_turn_and_leaves_no_lock(tmp_path: Path) -> None:
    model, new = small_model(tmp_path), some_flowers(tmp_path, "new.csv", 0, 5)
    before, lock = n_learnt(model), PathLock(model, "sslart fit")
    started = threading.Event()

    def own() -> None:
        with lock.held(0):
            started.set()
            time.sleep(0.3)

    owner = threading.Thread(target=own)
    owner.start()
    started.wait()
    assert main(["update", str(model), new, "--quiet"]) == 0
    owner.join()
    assert n_learnt(model) == before + 5
    assert not lock.path.exists()


def test_a_link_to_the_model_is_the_model(tmp_path: Path) -> None:
    model, link = small_model(tmp_path), tmp_path / "link.sslart"
    link.symlink_to(model)
    with PathLock(model, "sslart fit").held(0):
        assert main(["update", str(link), some_flowers(tmp_path, "new.csv", 0, 5), "--wait", "0"]) == 3


@posix
def test_a_killed_owner_frees_the_model_though_its_lock_file_stays(tmp_path: Path) -> None:
    model, new = small_model(tmp_path), some_flowers(tmp_path, "new.csv", 0, 5)
    lock = PathLock(model, "sslart update")
    child = os.fork()
    if not child:
        with lock.held(0):
            time.sleep(60)
        os._exit(1)
    while lock.owner() == "another process":
        time.sleep(0.001)
    assert f"process {child}" in lock.owner()
    assert main(["update", str(model), new, "--wait", "0"]) == 3
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    assert lock.path.exists()
    assert main(["update", str(model), new, "--wait", "0", "--quiet"]) == 0
    assert not lock.path.exists()


@pytest.mark.parametrize("content", [b"", b"{", b"[1]", b'{"pid": 1}', b"\xff" * 9000])
def test_a_lock_file_of_any_content_blocks_nobody(content: bytes, tmp_path: Path) -> None:
    lock = PathLock(tmp_path / "model.sslart", "sslart fit")
    lock.path.write_bytes(content)
    with lock.held(0):
        assert "sslart fit" in lock.owner()
        lock.path.write_bytes(content)
        with pytest.raises(InUseError, match="another process"), lock.held(0):
            pass
    assert not lock.path.exists()


def test_one_at_a_time_owns_a_path_and_all_come_to_their_turn(tmp_path: Path) -> None:
    path, inside, most = tmp_path / "model.sslart", [], []

    def own(_: int) -> None:
        for _ in range(20):
            with PathLock(path, "sslart update").held(30):
                inside.append(1)
                most.append(len(inside))
                inside.pop()

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(own, range(4)))
    assert most == [1] * 80


def test_what_python_saved_meanwhile_is_not_replaced(
    tmp_path: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    model, new = small_model(tmp_path), some_flowers(tmp_path, "new.csv", 0, 5)
    usual, before = update.read_pieces, n_learnt(model)

    def slow_pieces(data: str, encoding: str | None, *, progress: bool) -> Iterator[Any]:
        for frame in usual(data, encoding, progress=progress):
            learn_elsewhere(model, FLOWERS[5:8])
            yield frame

    with monkeypatch.context() as patch:
        patch.setattr(update, "read_pieces", slow_pieces)
        assert main(["update", str(model), new]) == 3
    printed = capsys.readouterr()
    assert "Another program has changed" in printed.err
    assert printed.out == ""
    assert n_learnt(model) == before + 3
    assert main(["update", str(model), new, "--quiet"]) == 0
    assert n_learnt(model) == before + 8
    assert not list(tmp_path.glob(".*.part"))


def test_a_file_that_appears_where_there_was_none_is_not_replaced(tmp_path: Path) -> None:
    model, out = small_model(tmp_path), tmp_path / "out.sslart"
    file = ModelFile("update", str(out), str(model))
    with file.owned():
        found = file.read()
        out.write_bytes(b"of another program")
        with pytest.raises(InUseError, match="changed"):
            file.replace(*found)
    assert out.read_bytes() == b"of another program"


def test_watch_goes_on_from_what_update_and_python_have_written(tmp_path: Path, capsys: Captured) -> None:
    model = small_model(tmp_path)
    before = n_learnt(model)
    worker = StreamWorker(str(model), None, None, str(tmp_path / "bad.jsonl"), LearningPolicy.every, 10)
    header, *lines = FLOWERS.to_csv(index=False).encode().splitlines()
    worker.take([header, *lines[:15]])
    assert n_learnt(model) == before + 10
    assert main(["update", str(model), some_flowers(tmp_path, "new.csv", 50, 57), "--quiet"]) == 0
    worker.take(lines[15:25])
    assert n_learnt(model) == before + 27
    learn_elsewhere(model, FLOWERS[60:64])
    worker.take(lines[25:30])
    worker.learn()
    assert n_learnt(model) == before + 30 + 7 + 4
    assert "30 learnt" in worker.summary()
    assert "saved through row 30" in worker.summary()
    assert capsys.readouterr().err.count("another program has changed") == 1


def test_watch_predicts_while_another_command_writes_and_learns_later(tmp_path: Path, capsys: Captured) -> None:
    model = small_model(tmp_path)
    before = n_learnt(model)
    worker = StreamWorker(str(model), None, None, str(tmp_path / "bad.jsonl"), LearningPolicy.every, 5)
    header, *lines = FLOWERS.to_csv(index=False).encode().splitlines()
    with PathLock(model, "sslart update").held(0):
        worker.take([header, *lines[:20]])
        assert n_learnt(model) == before
    printed = capsys.readouterr()
    assert [json.loads(line)["saved_through"] for line in printed.out.splitlines()] == [0] * 20
    assert printed.err.count("sslart update (process") == 1
    worker.take(lines[20:25])
    assert worker.saved_through == 25
    assert n_learnt(model) == before + 25


def test_rows_that_watch_could_not_learn_are_kept_aside(tmp_path: Path, capsys: Captured) -> None:
    model, new = small_model(tmp_path), some_flowers(tmp_path, "new.csv", 0, 6)
    content = model.read_bytes()
    with PathLock(model, "sslart update").held(0):
        assert main(["watch", str(model), new, "--learn", "all", "--every", "4", "--wait", "0"]) == 3
    printed = capsys.readouterr()
    assert len(printed.out.splitlines()) == 6
    assert "saved through row 0" in printed.err
    assert "6 rows not learnt" in printed.err
    kept = [json.loads(line) for line in (tmp_path / f"{model.name}.rejects.jsonl").read_text().splitlines()]
    assert [one["row"] for one in kept] == [1, 2, 3, 4, 5, 6]
    assert kept[0]["line"] == FLOWERS.to_csv(index=False).splitlines()[1]
    assert model.read_bytes() == content


class Typing(io.StringIO):
    """Standard input of a person who types a class while something else happens."""

    def __init__(self, text: str, meanwhile: Any) -> None:
        super().__init__(text)
        self._meanwhile = meanwhile

    def readline(self, *_: Any) -> str:
        line = super().readline()
        if line.startswith("virginica"):
            self._meanwhile()
        return line


def test_label_learns_on_what_others_have_written_while_a_person_typed(
    tmp_path: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    model, data = small_model(tmp_path), str(tmp_path / "iris.csv")
    before = n_learnt(model)
    typing = Typing("\nvirginica\nvirginica\nq\n", lambda: learn_elsewhere(model, FLOWERS[:2]))
    monkeypatch.setattr(sys, "stdin", typing)
    assert main(["label", str(model), data, "--label", "species"]) == 0
    assert n_learnt(model) == before + 2 + 2 * 2
    printed = capsys.readouterr()
    rows = [line.split()[3] for line in printed.out.splitlines() if "Question " in line]
    assert len(set(rows)) == 4  # neither what was skipped nor what was labelled comes again
    assert "another program has changed" in printed.err


def test_a_label_that_could_not_be_learnt_is_named(
    tmp_path: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    model, data, record = small_model(tmp_path), str(tmp_path / "iris.csv"), tmp_path / "record.csv"
    content = model.read_bytes()
    monkeypatch.setattr(sys, "stdin", io.StringIO("virginica\n"))
    with PathLock(model, "sslart fit").held(0):
        assert main(["label", str(model), data, "--label", "species", "--wait", "0", "--record", str(record)]) == 3
    assert "was not learnt" in capsys.readouterr().err
    assert model.read_bytes() == content
    assert not record.exists()


def test_where_a_file_system_has_no_locks_the_check_of_the_file_remains(
    tmp_path: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_locks(_: int) -> bool:
        raise OSError(95, "Operation not supported")

    monkeypatch.setattr("sslart.cli._path_lock.try_lock", no_locks)
    model, new = small_model(tmp_path), some_flowers(tmp_path, "new.csv", 0, 5)
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        assert main(["update", str(model), new, "--quiet"]) == 0
    assert "has no locks" in capsys.readouterr().err
    file = ModelFile("update", str(model))
    found = file.read()
    learn_elsewhere(model, FLOWERS[:2])
    with pytest.raises(InUseError, match="changed"):
        file.replace(*found)
    assert not list(tmp_path.glob("*.lock"))


def update_until_it_succeeds(model: Path, data: str) -> list[int]:
    """Return the exit codes of `sslart update` in processes of its own, one after the other."""
    codes = []
    while not codes or codes[-1] == 3:
        done = subprocess.run([*SSLART, "update", str(model), data, "--quiet", "--again", "--wait", "0"], check=False)
        codes.append(done.returncode)
    return codes


@pytest.mark.stress
def test_many_updates_at_once_all_end_in_the_model(tmp_path: Path) -> None:
    model = small_model(tmp_path)
    before = n_learnt(model)
    parts = [some_flowers(tmp_path, f"part{start}.csv", start, start + 10) for start in range(0, 60, 10)]
    with ThreadPoolExecutor(3) as pool:
        codes = list(pool.map(update_until_it_succeeds, [model] * len(parts), parts))
    assert {one[-1] for one in codes} == {0}
    assert n_learnt(model) == before + 60
    assert not list(tmp_path.glob("*.lock"))


@pytest.mark.stress
def test_two_updates_at_once_wait_for_each_other(tmp_path: Path) -> None:
    model = small_model(tmp_path)
    before = n_learnt(model)
    parts = [some_flowers(tmp_path, f"part{start}.csv", start, start + 10) for start in (0, 10)]
    running = [subprocess.Popen([*SSLART, "update", str(model), part, "--quiet"]) for part in parts]
    assert [one.wait(120) for one in running] == [0, 0]
    assert n_learnt(model) == before + 20


@posix
@pytest.mark.stress
def test_updates_beside_watch_lose_no_row_that_was_reported_though_some_are_killed(tmp_path: Path) -> None:
    model = small_model(tmp_path)
    before = n_learnt(model)
    header, *lines = FLOWERS.to_csv(index=False).splitlines(keepends=True)
    command = [*SSLART, "watch", str(model), "--every", "3", "--learn", "all"]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(command, text=True, **pipes) as watch:
        watch.stdin.write(header)
        stop = threading.Event()

        def feed() -> None:
            for line in lines:
                watch.stdin.write(line)
                watch.stdin.flush()
                stop.wait(0.1)

        printed: list[str] = []
        feeder = threading.Thread(target=feed)
        reader = threading.Thread(target=lambda: printed.extend(watch.stdout))
        feeder.start()
        reader.start()
        while not printed:
            time.sleep(0.01)
        for turn in range(3):
            part = some_flowers(tmp_path, "part.csv", 10 * turn, 10 * turn + 10)
            killed = subprocess.Popen([*SSLART, "update", str(model), part, "--quiet", "--again"])
            time.sleep(0.5 * turn)
            killed.kill()
            killed.wait()
            assert update_until_it_succeeds(model, part)[-1] == 0
        stop.set()
        feeder.join()
        watch.stdin.close()
        reader.join()
        error = watch.stderr.read()
    assert watch.returncode == 0, error
    assert len(printed) == 150
    assert "saved through row 150" in error
    assert n_learnt(model) - before - 150 - 30 in (0, 10, 20, 30)  # of killed ones, those that had just replaced it
