"""Stores that were damaged: what is found, what goes on, and what is refused."""

from __future__ import annotations

import random
import shutil
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import apsw
import httpx
import pytest
from durability import NO_SNAPSHOTS, problems_of, wait_until_learnt
from service import application, fit_flowers, flowers, rows_of

from sslart.cli import main
from sslart.server._verify import verify
from sslart.server.store import Store
from sslart.server.store._database import StoreError
from sslart.server.store._store import FILE_NAME

ROWS = rows_of(flowers())
MODEL = "/v1/models/flowers"
FEW = (0, 1, 2, 3, 39, 197, 229, 268)
MANY = [seed for seed in range(300) if seed not in FEW]


class Made(NamedTuple):
    """A store as a killed process leaves it: its folder, and the states after its snapshots and after all records."""

    folder: Path
    states: list[tuple[int, str]]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Made:
    """Return a store with two snapshots of a model, and records before, between and after them."""
    folder, copy = tmp_path_factory.mktemp("made"), tmp_path_factory.mktemp("copy")
    states = []
    with application(folder, limits=NO_SNAPSHOTS) as http:
        content = flowers().to_csv(index=False).encode()
        query = {"label": "species", "estimator": "SSLART", "wait": 60}
        assert http.put(MODEL, params=query, content=content).json()["state"] == "done"
        for part in range(3):
            for row in range(5 * part, 5 * part + 5):
                http.post(f"{MODEL}/learn", json={"rows": [ROWS[row]], "labels": ["setosa"]})
            states.append(wait_until_learnt(http)["flowers"])
            if part < 2:
                http.post(f"{MODEL}/snapshot")
        for path in folder.glob(f"{FILE_NAME}*"):
            shutil.copy(path, copy)
    (copy / f"{FILE_NAME}-shm").unlink()
    return Made(copy, states)


@pytest.fixture
def folder(made: Made, tmp_path: Path) -> Path:
    """Return a copy of the store, for a test to damage."""
    return shutil.copytree(made.folder, tmp_path / "store")


def change(folder: Path, *statements: str) -> None:
    """Change a store behind the back of the service."""
    connection = apsw.Connection(str(folder / FILE_NAME))
    for statement in statements:
        connection.execute(statement)
    connection.close()


DAMAGED_SNAPSHOT = (
    "UPDATE snapshot_parts SET content = zeroblob(length(content)) WHERE snapshot IN (SELECT {} FROM snapshots)"
)
DAMAGED_RECORD = "UPDATE journal SET payload = CAST(payload || x'00' AS BLOB) WHERE sequence = {}"
MISSING_RECORD = "DELETE FROM journal WHERE sequence = {}"


@pytest.mark.parametrize("which", ["max(id)", "min(id)", "id"])
def test_a_damaged_snapshot_is_found_and_the_model_is_the_same_without_it(made: Made, folder: Path, which: str) -> None:
    change(folder, DAMAGED_SNAPSHOT.format(which))
    assert "is damaged" in problems_of(folder)[0]
    with application(folder, limits=NO_SNAPSHOTS) as http:
        assert wait_until_learnt(http)["flowers"] == made.states[2]
        if which == "max(id)":
            assert problems_of(folder) == []
            http.post(f"{MODEL}/snapshot")
    if which == "max(id)":
        assert len(list(verify(folder))) > 3
        assert problems_of(folder) == []


@pytest.mark.parametrize("damage", [DAMAGED_RECORD, MISSING_RECORD])
def test_after_a_damaged_record_nothing_is_learnt_and_predictions_go_on(made: Made, folder: Path, damage: str) -> None:
    bad = made.states[2][0] - 2
    change(folder, damage.format(bad))
    with application(folder, limits=NO_SNAPSHOTS) as http:
        while http.get(MODEL).json()["state"] != "damaged":
            pass
        assert http.get(f"{MODEL}/state").json()["sequence"] == bad - 1
        assert http.post(f"{MODEL}/predict", json={"rows": ROWS[:2]}).status_code == 200
        for path, body in (("learn", {"rows": ROWS[:1]}), ("labels", {"labels": [{"row": 1, "label": "setosa"}]})):
            refused = http.post(f"{MODEL}/{path}", json=body)
            assert refused.status_code == 503
            assert f"Record {bad}" in refused.json()["error"]
        assert http.post(f"{MODEL}/snapshot").status_code == 503
        fit_flowers(http, "other")
    assert f"Record {bad}" in problems_of(folder)[0]


def test_the_check_of_a_damaged_store_names_the_damage_and_ends_with_1(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["serve", str(folder), "--verify"]) == 0
    change(folder, DAMAGED_RECORD.format(3))
    assert main(["serve", str(folder), "--verify"]) == 1
    assert "BAD  model flowers: Record 3 of the journal is damaged" in capsys.readouterr().out


def test_a_damaged_record_before_the_snapshots_is_found_and_fails_only_what_needs_it(made: Made, folder: Path) -> None:
    bad = made.states[0][0] - 1
    change(folder, DAMAGED_RECORD.format(bad))
    assert f"Record {bad}" in problems_of(folder)[0]
    with application(folder, limits=NO_SNAPSHOTS) as http:
        assert wait_until_learnt(http)["flowers"] == made.states[2]
        row = 150 + 3
        assert http.get(f"{MODEL}/rows/{row}").status_code == 503
        failed = http.post(f"{MODEL}/refit", params={"wait": 60})
        assert failed.status_code == 422
        assert f"Record {bad}" in failed.json()["error"]
        assert http.post(f"{MODEL}/learn", params={"wait": 10}, json={"rows": ROWS[:1]}).status_code == 200
        assert wait_until_learnt(http)["flowers"][0] == made.states[2][0] + 2


def test_a_damaged_table_is_found_and_fails_only_what_needs_it(made: Made, folder: Path) -> None:
    change(folder, "UPDATE upload_parts SET content = zeroblob(length(content))")
    assert "A table in the database is damaged" in problems_of(folder)[0]
    with application(folder, limits=NO_SNAPSHOTS) as http:
        assert wait_until_learnt(http)["flowers"] == made.states[2]
        assert http.get(f"{MODEL}/rows/0").status_code == 503
        assert http.post(f"{MODEL}/refit", params={"wait": 60}).status_code == 422
        assert http.post(f"{MODEL}/predict", json={"rows": ROWS[:2]}).status_code == 200


def test_a_snapshot_of_a_record_that_is_not_there_is_found_and_not_used(made: Made, folder: Path) -> None:
    change(folder, "UPDATE snapshots SET sequence = 1000 WHERE id = (SELECT max(id) FROM snapshots)")
    assert "the journal ends at record" in problems_of(folder)[0]
    with application(folder, limits=NO_SNAPSHOTS) as http:
        assert wait_until_learnt(http)["flowers"] == made.states[2]


def last_records(folder: Path) -> list[int]:
    """Return the numbers of the records of a store."""
    connection = apsw.Connection(str(folder / FILE_NAME))
    found = [number for (number,) in connection.execute("SELECT sequence FROM journal ORDER BY sequence")]
    connection.close()
    return found


def test_what_is_appended_to_the_log_is_ignored(made: Made, folder: Path) -> None:
    with (folder / f"{FILE_NAME}-wal").open("ab") as file:
        file.write(random.Random(0).randbytes(10_000))
    with application(folder, limits=NO_SNAPSHOTS) as http:
        assert wait_until_learnt(http)["flowers"] == made.states[2]
    assert problems_of(folder) == []


@pytest.mark.parametrize("seed", range(4))
def test_a_log_that_was_cut_or_overwritten_leaves_a_whole_store_of_the_records_before(
    made: Made, folder: Path, seed: int
) -> None:
    log, chance = folder / f"{FILE_NAME}-wal", random.Random(seed)
    content = bytearray(log.read_bytes())
    place = chance.randrange(len(content) // 2, len(content))
    if seed % 2:
        del content[place:]
    else:
        content[place : place + 100] = chance.randbytes(100)
    log.write_bytes(content)
    there = last_records(folder)
    assert there == list(range(1, len(there) + 1))
    assert problems_of(folder) == []
    with application(folder, limits=NO_SNAPSHOTS) as http:
        if there:
            wait_until_learnt(http)
            assert http.post(f"{MODEL}/learn", json={"rows": ROWS[:1]}).status_code == 200


@pytest.mark.parametrize("seed", [*FEW, *(pytest.param(seed, marks=pytest.mark.slow) for seed in MANY)])
def test_whatever_bytes_are_changed_the_service_refuses_the_store_or_answers_and_the_check_ends(
    folder: Path, tmp_path: Path, seed: int
) -> None:
    change(folder, "PRAGMA wal_checkpoint(TRUNCATE)")
    path, chance = folder / FILE_NAME, random.Random(seed)
    content = bytearray(path.read_bytes())
    for _ in range(chance.choice([1, 3, 30])):
        place = chance.randrange(len(content) if chance.random() < 0.7 else 4096)
        content[place : place + 8] = chance.randbytes(8)
    path.write_bytes(content)
    with suppress(StoreError):
        problems_of(folder)
    with suppress(StoreError), application(folder, limits=NO_SNAPSHOTS) as http:
        check_answers(http)


def check_answers(http: httpx.Client) -> None:
    """Check that every request is answered with what it asks for, or with a reason."""
    requests = [("GET", "/v1/models", None), ("GET", MODEL, None), ("GET", f"{MODEL}/labels", None)]
    requests += [("GET", f"{MODEL}/rows/{row}", None) for row in (0, 100, 151, 160)]
    requests += [("POST", f"{MODEL}/{path}", {"rows": ROWS[:2]}) for path in ("predict", "learn", "decide")]
    requests += [("POST", f"{MODEL}/labels", {"labels": [{"row": 151, "label": "virginica"}]})]
    requests += [("POST", f"{MODEL}/refit?wait=10", None), ("POST", f"{MODEL}/snapshot", None)]
    for method, path, body in requests:
        answer = http.request(method, path, json=body)
        assert answer.status_code in (200, 202, 404, 409, 422, 503), f"{method} {path}: {answer.text}"


@pytest.mark.parametrize("protocol", [0, 2, 3, 1000])
def test_a_store_of_another_protocol_is_refused_and_left_as_it_was(folder: Path, protocol: int) -> None:
    change(folder, f"PRAGMA user_version = {protocol}", "PRAGMA wal_checkpoint(TRUNCATE)")
    before = (folder / FILE_NAME).read_bytes()
    expected = f"has protocol {protocol}, but this version reads protocol 1 only. Use the version that wrote it"
    with pytest.raises(StoreError, match=expected):
        Store(folder)
    with pytest.raises(StoreError, match=expected):
        list(verify(folder))
    assert (folder / FILE_NAME).read_bytes() == before


def test_a_database_of_another_program_is_refused_and_left_as_it_was(tmp_path: Path) -> None:
    connection = apsw.Connection(str(tmp_path / FILE_NAME))
    connection.execute("CREATE TABLE things (name)")
    connection.close()
    before = (tmp_path / FILE_NAME).read_bytes()
    with pytest.raises(StoreError, match="is not a database"):
        Store(tmp_path)
    assert (tmp_path / FILE_NAME).read_bytes() == before


def test_a_file_that_is_no_database_is_refused_and_left_as_it_was(tmp_path: Path) -> None:
    (tmp_path / FILE_NAME).write_bytes(b"a letter to a friend\n" * 100)
    with pytest.raises(StoreError, match="is damaged"):
        Store(tmp_path)
    assert (tmp_path / FILE_NAME).read_bytes() == b"a letter to a friend\n" * 100


def test_a_second_service_on_the_same_folder_is_refused_and_the_first_goes_on(folder: Path) -> None:
    with application(folder) as http:
        with pytest.raises(StoreError, match="Another process is serving"):
            Store(folder)
        assert http.post(f"{MODEL}/learn", json={"rows": ROWS[:1]}).status_code == 200
    assert problems_of(folder) == []
