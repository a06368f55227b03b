"""Backups that are written while the service runs under load: they are whole, and can be served."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

import httpx
import pytest
from durability import Client, Ledger, Target, create_models, marks_in, problems_of, replayed, wait_until_learnt
from service import application

from sslart.cli import main
from sslart.server import serve
from sslart.server.store import Store
from sslart.server.store._database import StoreError
from sslart.server.store._store import FILE_NAME


def by_request(url: str, folder: Path) -> Path:
    """Ask a service for a backup."""
    answer = httpx.post(f"{url}/v1/backup", verify=False, json={"name": "copy"}, timeout=60)
    assert answer.status_code == 201, answer.text
    return folder / answer.json()["file"]


def by_command(_: str, folder: Path) -> Path:
    """Write a backup with the command, while the service runs."""
    target = folder.parent / "copy.db"
    assert main(["serve", str(folder), "--backup", str(target)]) == 0
    return target


@pytest.mark.parametrize("backup", [by_request, pytest.param(by_command, marks=pytest.mark.slow)])
def test_a_backup_under_load_is_whole_and_has_all_that_was_acknowledged_before(
    tmp_path: Path, backup: Callable[[str, Path], Path]
) -> None:
    folder, ledger, target = tmp_path / "store", Ledger(), Target()
    clients = [Client(f"client{number}", str(number), ledger, target) for number in range(2)]
    with serve(folder) as service:
        assert create_models(service.url, ledger, random.Random(0), "SSLART")
        target.url = service.url
        for client in clients:
            client.start()
        while len(ledger.rows) < 200:
            assert ledger.problems == []
        with ledger.lock:
            before = {(model, mark) for (model, _), mark in ledger.rows.items()} | ledger.in_tables
        copy = backup(service.url, folder)
        target.is_over.set()
        for client in clients:
            client.join()
    assert ledger.problems == []
    restored = tmp_path / "restored"
    restored.mkdir()
    copy.rename(restored / FILE_NAME)
    assert problems_of(restored) == []
    marks = marks_in(restored)
    assert before <= set(marks) <= ledger.sent
    assert set(marks.values()) == {1}
    with application(restored) as http:
        states = wait_until_learnt(http)
    assert replayed(restored, tmp_path / "replayed") == states
    with application(restored) as http:
        body = {"rows": [{"x": 0.5, "y": 0.5, "mark": 0.5}]}
        assert http.post("/v1/models/from_stream/learn", json=body).status_code == 200


def test_a_backup_replaces_no_file_and_leaves_none_where_it_cannot_be_written(tmp_path: Path) -> None:
    with Store(tmp_path / "store") as store:
        taken = tmp_path / "taken.db"
        taken.write_bytes(b"something")
        with pytest.raises(StoreError, match="give another name"):
            store.backup(taken)
        assert taken.read_bytes() == b"something"
        with pytest.raises(StoreError, match="The backup could not be written"):
            store.backup(tmp_path / "nowhere" / "copy.db")
        assert sorted(path.name for path in tmp_path.iterdir()) == ["store", "taken.db"]


def test_a_backup_of_no_store_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["serve", str(tmp_path), "--backup", str(tmp_path / "copy.db")]) == 1
    assert "There is no database" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []
