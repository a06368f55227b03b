"""Labels of questions: those of rows drawn at random measure the model, and a correction does not change which."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from io import BytesIO
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest
from service import application
from sklearn.datasets import load_digits

from sslart.server._verify import verify

NAME = "digits"
PATH = f"/v1/models/{NAME}"
DIGITS = load_digits(as_frame=True)
N_ROWS = 240
ANSWERS = [f"digit {one}" for one in DIGITS.target[:N_ROWS]]


def started(client: httpx.Client, **columns: Any) -> None:
    """Create a model of rows without labels; `columns` are added to the table."""
    table = DIGITS.data.iloc[:N_ROWS, 20:36].assign(**columns)
    roles = {"group": next(iter(columns))} if columns else {}
    job = client.put(PATH, params={"wait": 60, **roles}, content=table.to_csv(index=False).encode()).json()
    assert job["state"] == "done", job


def label(client: httpx.Client, rows: dict[int, bool], answer: Any = "", **more: Any) -> None:
    """Label rows, each drawn at random or not, with their digit or with an answer for all."""
    labels = [
        {"row": row, "label": ANSWERS[row] if answer == "" else answer, "at_random": drawn}
        for row, drawn in rows.items()
    ]
    found = client.post(f"{PATH}/labels", params={"wait": 60}, json={"labels": labels, **more})
    assert found.status_code == 200, found.text


def trust(client: httpx.Client) -> dict[str, Any]:
    found: dict[str, Any] = client.get(f"{PATH}/trust").json()
    return found


def counted(client: httpx.Client) -> tuple[int, int]:
    """Return the number of labels that measure the model, and of those that were chosen."""
    found = trust(client)
    return found["counted"], found["chosen"]


def test_questions_tell_which_rows_are_drawn_at_random(tmp_path: Path) -> None:
    with application(tmp_path) as client:
        started(client)
        asked = [client.get(f"{PATH}/questions").json()["questions"][0]]
        while len(asked) < 15:
            label(client, {asked[-1]["row"]: asked[-1]["at_random"]})
            asked.append(client.get(f"{PATH}/questions").json()["questions"][0])
        drawn = [one["at_random"] for one in asked[:-1]]
        assert drawn == [number % 3 == 0 for number in range(1, 15)]
        assert "drawn at random" in asked[2]["why"]
        assert counted(client) == (4, 10)
        quality = client.get(f"{PATH}/quality", params={"needed": False}).json()
        assert quality["how"] == "leave-one-out of 4 samples drawn at random"
        assert quality["accuracy"]["total"] == 4


def test_a_correction_keeps_its_origin_and_a_new_label_has_its_own(tmp_path: Path) -> None:
    with application(tmp_path) as client:
        started(client)
        label(client, {row: row % 2 == 0 for row in range(40)})
        assert counted(client) == (20, 20)
        label(client, {0: False, 1: True}, "digit 7", refit=True)
        assert counted(client) == (20, 20)
        label(client, {2: True, 3: True}, None, refit=True)
        assert counted(client) == (19, 19)
        label(client, {2: False, 3: True}, refit=True)
        assert counted(client) == (20, 20)
        labels = [{"row": 4, "label": None}, {"row": 50, "label": "digit 3", "at_random": True}]
        found = client.post(f"{PATH}/trial", json={"labels": labels}).json()
        assert found["after"]["labels"] == 40
        assert [found[when]["accuracy"]["total"] for when in ("before", "after")] == [19, 19]
        assert counted(client) == (20, 20)


def test_the_journal_and_the_script_make_the_same_statement(tmp_path: Path) -> None:
    with application(tmp_path / "store") as client:
        started(client)
        label(client, {row: row % 3 == 0 for row in range(60)})
        assert client.post(f"{PATH}/refit", params={"wait": 60}, json={}).json()["state"] == "done"
        label(client, {row: row % 3 == 0 for row in range(60, 90)})
        before, digest = counted(client), client.get(f"{PATH}/state").json()["digest"]
        content = client.get(f"{PATH}/export", params={"format": "script"}).content
    assert before == (30, 60)
    assert all(one.is_good for one in verify(tmp_path / "store"))
    with application(tmp_path / "store") as client:
        assert client.get(f"{PATH}/state").json()["digest"] == digest
        assert counted(client) == before
    with zipfile.ZipFile(BytesIO(content)) as file:
        file.extractall(tmp_path / "script")
    done = subprocess.run([sys.executable, tmp_path / "script" / "rebuild.py"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("refit", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_one_answer_counts_once_also_where_the_table_has_a_group_column(tmp_path: Path, refit: bool) -> None:
    """With pairs of rows as groups, ten rows of one answer were five observations."""
    with application(tmp_path) as client:
        started(client, pair=np.arange(N_ROWS) // 2)
        for digit in range(5):
            rows = [row for row in range(N_ROWS) if ANSWERS[row] == f"digit {digit}"]
            for first in (0, 6):
                label(client, dict.fromkeys(rows[first : first + 6], True), together=True, refit=refit)
        assert counted(client)[0] <= 10
