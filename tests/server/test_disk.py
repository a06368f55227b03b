"""A disk that is full, read-only or fails: what is refused, what goes on, and what is there afterwards."""

from __future__ import annotations

import random
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import apsw
import httpx
import pytest
from durability import problems_of, service_on, wait_until_learnt
from failing_disk import FailingDisk
from service import Process, application, fit_flowers, flowers, rows_of

from sslart.server.store import Store
from sslart.server.store._database import StoreError

ROWS = rows_of(flowers())
HERE = Path(__file__).parent
NAMESPACE = ("unshare", "--user", "--map-root-user", "--mount")


def learn(http: httpx.Client, row: int, **cells: str) -> httpx.Response:
    """Let a model learn a row."""
    return http.post("/v1/models/flowers/learn", json={"rows": [ROWS[row] | cells], "ids": [f"row {row}"]})


def check_predicts(http: httpx.Client) -> None:
    """Check that a model predicts."""
    assert http.post("/v1/models/flowers/predict", json={"rows": ROWS[:3]}).status_code == 200


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[FailingDisk]:
    """Return a disk that is good until a test changes it."""
    found = FailingDisk()
    yield found
    found.error = None


def test_while_the_disk_is_full_rows_are_refused_and_when_it_is_not_they_are_taken_again(
    tmp_path: Path, disk: FailingDisk
) -> None:
    with (
        service_on(tmp_path, disk.name) as service,
        httpx.Client(verify=False, base_url=service.url, timeout=60) as http,
    ):
        fit_flowers(http)
        assert learn(http, 0).status_code == 200
        disk.error = apsw.FullError
        refused = learn(http, 1)
        assert refused.status_code == 503
        assert "full" in refused.json()["error"]
        assert http.post("/v1/models/flowers/snapshot").status_code == 503
        check_predicts(http)
        disk.error = None
        assert learn(http, 1).status_code == 200
        assert http.post("/v1/models/flowers/refit", params={"wait": 60}).json()["state"] == "done"
    assert problems_of(tmp_path) == []


@pytest.mark.slow
def test_a_fit_waits_for_space_and_is_then_kept(tmp_path: Path, disk: FailingDisk) -> None:
    with (
        service_on(tmp_path, disk.name) as service,
        httpx.Client(verify=False, base_url=service.url, timeout=60) as http,
    ):
        fit_flowers(http)
        disk.error_after_sync = apsw.FullError
        job = http.post("/v1/models/flowers/refit", params={"wait": 1}).json()
        assert job["state"] in ("waiting", "running")
        check_predicts(http)
        disk.error = None
        assert wait_until_learnt(http)["flowers"][0] == job["sequence"]
        assert http.get(f"/v1/models/flowers/jobs/{job['sequence']}").json()["state"] == "done"
    assert problems_of(tmp_path) == []


@pytest.mark.slow
def test_a_service_starts_on_a_full_disk_with_what_a_killed_one_has_left_half_written(
    tmp_path: Path, disk: FailingDisk
) -> None:
    with application(tmp_path) as http:
        fit_flowers(http)
    with apsw.Connection(str(tmp_path / "store.db")) as connection:
        connection.execute("UPDATE snapshots SET complete = 0; INSERT INTO uploads (time) VALUES (0)")
    disk.error = apsw.FullError
    with (
        service_on(tmp_path, disk.name) as service,
        httpx.Client(verify=False, base_url=service.url, timeout=60) as http,
    ):
        wait_until_learnt(http)
        check_predicts(http)
        assert learn(http, 0).status_code == 503
        disk.error = None
        assert learn(http, 0).status_code == 200
    assert problems_of(tmp_path) == []


@pytest.mark.parametrize("error", [apsw.IOError, pytest.param(apsw.ReadOnlyError, marks=pytest.mark.slow)])
def test_after_a_disk_has_failed_nothing_is_written_until_a_start_and_predictions_go_on(
    tmp_path: Path, disk: FailingDisk, error: type[apsw.Error]
) -> None:
    with (
        service_on(tmp_path, disk.name) as service,
        httpx.Client(verify=False, base_url=service.url, timeout=60) as http,
    ):
        fit_flowers(http)
        assert learn(http, 0).status_code == 200
        disk.error = error
        assert learn(http, 1).status_code == 503
        disk.error = None
        refused = learn(http, 2)
        assert refused.status_code == 503
        assert "restart the service" in refused.json()["error"]
        assert http.get("/readyz").json() == {"ready": True, "writable": False, "models": {"ready": 1}}
        check_predicts(http)
        states = wait_until_learnt(http)
    with application(tmp_path) as http:
        assert wait_until_learnt(http) == states
        assert http.get("/v1/models/flowers/rows/row 0").json()["cells"] == ROWS[0]
        assert learn(http, 2).status_code == 200
    assert problems_of(tmp_path) == []


def test_no_store_is_made_where_nothing_can_be_written(tmp_path: Path, disk: FailingDisk) -> None:
    disk.error = apsw.FullError
    with pytest.raises(StoreError):
        Store(tmp_path / "store", vfs=disk.name)


def in_a_namespace(scenario: str, folder: Path) -> None:
    """Run a function of this file where folders can be mounted, in a process of its own."""
    call = f"import test_disk, pathlib; test_disk.{scenario}(pathlib.Path({str(folder)!r}))"
    command = [*NAMESPACE, sys.executable, "-W", "error", "-c", call]
    done = subprocess.run(command, cwd=HERE, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-5000:]


def can_mount() -> bool:
    """Return True if this machine lets users mount folders in a private namespace."""
    try:
        return subprocess.run([*NAMESPACE, "true"], capture_output=True).returncode == 0
    except FileNotFoundError:
        return False


def mount(folder: Path, *options: str) -> None:
    """Mount a disk in memory, or mount it again with other options."""
    subprocess.run(["mount", "-t", "tmpfs", *options, "tmpfs", str(folder)], check=True)


@contextmanager
def killed_at_the_end(folder: Path) -> Iterator[httpx.Client]:
    """Run a service in a process that is killed in the end."""
    process = Process(folder)
    try:
        process.wait_until_ready()
        yield process.http
    finally:
        process.kill()


needs_mount = pytest.mark.skipif(not can_mount(), reason="folders cannot be mounted here")


@pytest.mark.slow
@needs_mount
def test_a_real_disk_that_is_full_loses_nothing_and_takes_rows_again_when_it_is_not(tmp_path: Path) -> None:
    in_a_namespace("fill_a_disk", tmp_path)


def fill_a_disk(folder: Path) -> None:
    """Fill a disk while a service runs, kill it, start it on the full disk, and free some space."""
    mount(folder, "-o", "size=8m")
    store, filler = folder / "store", folder / "filler"
    with killed_at_the_end(store) as http:
        fit_flowers(http)
        filler.write_bytes(bytes(2**21))
        kept = learn_until_refused(http, 0)
        fill(folder / "rest")
        check_predicts(http)
        assert upload(http).status_code in (503, 507)
    with application(store) as http:
        check_there(http, kept)
        check_predicts(http)
        assert learn(http, 149).status_code == 503
        assert problems_of(store) == []
    filler.unlink()
    with application(store) as http:
        wait_until_learnt(http)
        fill(filler)
        kept += learn_until_refused(http, len(kept))
        filler.unlink()
        (folder / "rest").unlink()
        taken = learn(http, 149)
        assert taken.status_code == 200, taken.text
        check_there(http, [*kept, 149])
        states = wait_until_learnt(http)
    with application(store) as http:
        assert wait_until_learnt(http) == states
    assert problems_of(store) == []


def learn_until_refused(http: httpx.Client, first: int) -> list[int]:
    """Send large rows until the disk is full, and return those that were acknowledged."""
    kept, chance = [], random.Random(first)
    for row in range(first, 140):
        texts = [chance.randbytes(4000).hex() for _ in range(20)]
        answer = learn(http, row, **{f"note {place}": text for place, text in enumerate(texts)})
        if answer.status_code == 503:
            assert "full" in answer.json()["error"]
            return kept
        assert answer.status_code == 200, answer.text
        kept.append(row)
    raise AssertionError("the disk is not full")


def fill(path: Path) -> None:
    """Write a file until the disk is full."""
    with path.open("wb", buffering=0) as file:
        for size in (2**16, 2**12, 2**8, 1):
            try:
                while True:
                    file.write(bytes(size))
            except OSError:
                continue


def upload(http: httpx.Client) -> httpx.Response:
    """Send a table that makes a new model."""
    content = flowers().to_csv(index=False).encode()
    return http.put("/v1/models/other", params={"label": "species"}, content=content)


def check_there(http: httpx.Client, kept: list[int]) -> None:
    """Check that rows are there."""
    for row in kept:
        assert http.get(f"/v1/models/flowers/rows/row {row}").json()["cells"].items() >= ROWS[row].items()


@needs_mount
@pytest.mark.slow
def test_a_store_on_a_disk_that_became_read_only_is_read_with_all_that_was_acknowledged(tmp_path: Path) -> None:
    in_a_namespace("make_a_disk_read_only", tmp_path)


def make_a_disk_read_only(folder: Path) -> None:
    """Kill a service, mount its disk read-only, and start it there."""
    mount(folder)
    store = folder / "store"
    with killed_at_the_end(store) as http:
        fit_flowers(http)
        assert [learn(http, row).status_code for row in range(10)] == [200] * 10
        states = wait_until_learnt(http)
    for path in store.glob("*-shm"):
        path.unlink()
    mount(folder, "-o", "remount,ro")
    with application(store) as http:
        assert wait_until_learnt(http) == states
        check_there(http, list(range(10)))
        check_predicts(http)
        refused = learn(http, 10)
        assert refused.status_code == 503
        assert "cannot be written" in refused.json()["error"]
        assert upload(http).status_code == 503
        assert http.get("/readyz").json()["writable"] is False
    assert problems_of(store) == []
    mount(folder, "-o", "remount,rw")
    with application(store) as http:
        assert wait_until_learnt(http) == states
        assert learn(http, 10).status_code == 200
