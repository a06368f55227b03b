"""A loss of power at any moment: what was not synced is lost, torn, or written other order."""

from __future__ import annotations

import random
import time
from contextlib import suppress
from pathlib import Path

import apsw
import httpx
import pytest
from durability import (
    STREAM_MODEL,
    Client,
    Ledger,
    Target,
    check_kept,
    create_models,
    problems_of,
    replayed,
    service_on,
    wait_until_learnt,
)
from lossy_disk import LossyDisk
from service import application

from sslart.server.store._database import StoreError

# apsw reports errors of the disk that SQLite leaves aside, as while it takes a transaction back
pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")

FEW = (0, 5, 8)
MANY = [seed for seed in range(200) if seed not in FEW]
SECONDS = 20


def run_until_power_is_lost(folder: Path, disk: LossyDisk, ledger: Ledger, seed: int) -> None:
    """Let clients write to a service until its power is lost."""
    target = Target()
    clients = [Client(f"client{number}", f"{seed} {number}", ledger, target) for number in range(3)]
    with suppress(StoreError), service_on(folder, disk.name, snapshot_rows=30) as service:
        if create_models(service.url, ledger, random.Random(seed), "SSLART"):
            target.url = service.url
            for client in clients:
                client.start()
        end = time.monotonic() + SECONDS
        while disk.has_power and time.monotonic() < end:
            time.sleep(0.01)
        disk.lose_power()
        target.is_over.set()
    for client in clients:
        if client.ident is not None:
            client.join()


@pytest.fixture(params=[*FEW, *(pytest.param(seed, marks=pytest.mark.slow) for seed in MANY)])
def seed(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    """Return a seed; the log of each second one is so short that it is often moved to the main file."""
    chosen: int = request.param
    if chosen % 2:
        monkeypatch.setattr("sslart.server.store._database.PAGES_PER_CHECKPOINT", 30)
    return chosen


def test_all_that_was_acknowledged_is_there_once_after_a_loss_of_power(tmp_path: Path, seed: int) -> None:
    disk = LossyDisk(seed, cut_after=random.Random(seed).randrange(1, [100, 500, 2000][seed % 3]))
    ledger, left = Ledger(), tmp_path / "left"
    run_until_power_is_lost(tmp_path / "store", disk, ledger, seed)
    disk.write_to(left)
    with application(left) as http:
        states = wait_until_learnt(http)
        check_kept(http, left, ledger)
    assert problems_of(left) == []
    if states:
        assert replayed(left, tmp_path / "replayed") == states


def test_a_disk_that_reports_data_as_written_too_early_is_found(tmp_path: Path) -> None:
    disk, ledger = LossyDisk(0, cut_after=600, ignores_syncs=True), Ledger()
    run_until_power_is_lost(tmp_path / "store", disk, ledger, 0)
    disk.write_to(tmp_path / "left")
    assert len(ledger.rows) > 60
    with pytest.raises((AssertionError, StoreError, apsw.Error)), application(tmp_path / "left") as http:
        check_kept(http, tmp_path / "left", ledger)


@pytest.mark.parametrize(("synchronous", "is_safe"), [("FULL", True), ("NORMAL", False), ("OFF", False)])
def test_the_disk_loses_what_is_not_synced_and_nothing_else(tmp_path: Path, synchronous: str, is_safe: bool) -> None:
    n_lost = 0
    for seed in range(20):
        folder = tmp_path / str(seed)
        folder.mkdir()
        disk = LossyDisk(seed, cut_after=50 + 15 * seed)
        n_written = write_rows(folder / "store.db", disk, synchronous)
        disk.write_to(folder / "left")
        n_lost += max(n_written - n_rows_in(folder / "left" / "store.db"), 0)
    assert (n_lost == 0) == is_safe


def write_rows(path: Path, disk: LossyDisk, synchronous: str) -> int:
    """Write rows until the power is lost, and return how many were committed."""
    connection = apsw.Connection(str(path), vfs=disk.name)
    n_written = 0
    with suppress(apsw.IOError):
        for pragma in ("journal_mode = WAL", f"synchronous = {synchronous}", "wal_autocheckpoint = 20"):
            connection.execute(f"PRAGMA {pragma}").fetchall()
        connection.execute("CREATE TABLE some (content)")
        while True:
            connection.execute("INSERT INTO some VALUES (zeroblob(300))")
            n_written += 1
    with suppress(apsw.Error):
        connection.close()
    return n_written


def n_rows_in(path: Path) -> int:
    """Return the number of rows in a store; 0 if it has no table."""
    try:
        return int(apsw.Connection(str(path)).execute("SELECT count(*) FROM some").get)
    except (apsw.SQLError, apsw.CorruptError):
        return 0


@pytest.mark.slow
def test_rows_acknowledged_after_a_failed_sync_and_a_restart_survive_a_loss_of_power(tmp_path: Path) -> None:
    disk, ledger, target = LossyDisk(0, failing_sync=40), Ledger(), Target()
    client = Client("client", "0", ledger, target)
    with service_on(tmp_path / "store", disk.name) as service:
        assert create_models(service.url, ledger, random.Random(0), "SSLART")
        target.url = service.url
        client.start()
        while httpx.get(f"{service.url}/readyz", verify=False).json()["writable"]:
            time.sleep(0.01)
        rows = {"rows": [{"x": 0.1, "y": 0.2, "mark": 0.3}]}
        assert httpx.post(f"{service.url}/v1/models/{STREAM_MODEL}/predict", verify=False, json=rows).status_code == 200
        refused = httpx.post(f"{service.url}/v1/models/{STREAM_MODEL}/learn", verify=False, json=rows)
        assert refused.status_code == 503
        assert "restart the service" in refused.json()["error"]
        target.url = None
        disk = disk.after_a_kill(tmp_path / "again")
    n_before = len(ledger.rows)
    with service_on(tmp_path / "again", disk.name) as service:
        target.url = service.url
        while len(ledger.rows) < n_before + 50:
            time.sleep(0.01)
        target.is_over.set()
        client.join()
        disk.lose_power()
    disk.write_to(tmp_path / "left")
    with application(tmp_path / "left") as http:
        check_kept(http, tmp_path / "left", ledger)
