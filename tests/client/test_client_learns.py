"""A client lets models learn: from tables, rows and labels."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from service import flowers, rows_of

import sslart
from sslart import AutoSSLART
from sslart.client import Accepted, Client, NotFoundError, WrongRequestError
from sslart.server import serve

ROWS = rows_of(flowers())


@pytest.fixture
def client(tmp_path: Path) -> Iterator[Client]:
    with serve(tmp_path / "store") as service, Client(service.url) as found:
        yield found


@pytest.mark.parametrize("kind", ["frame", "float32", "path", pytest.param("bytes", marks=pytest.mark.slow)])
def test_a_table_of_every_kind_makes_the_model_of_the_library(client: Client, tmp_path: Path, kind: str) -> None:
    table, path = flowers(), tmp_path / "flowers.csv"
    if kind == "float32":
        narrow = dict.fromkeys(table.columns[:4], "float32")
        table = table.astype(narrow)
    table.astype(dict.fromkeys(table.columns[:4], "float64")).to_csv(path, index=False)
    given = {"path": path, "bytes": path.read_bytes()}.get(kind, table)
    job = client.fit("flowers", given, label="species")
    assert (job.state, job.has_ended, job.outcome and job.outcome["rows"]) == ("done", True, 150)
    X = pd.read_csv(path).drop(columns="species")
    expected = AutoSSLART(random_state=0).fit(X, flowers()["species"])
    assert client.load("flowers").predict_proba(X).tolist() == expected.predict_proba(X).tolist()


def test_a_fit_that_fails_raises_its_reason(client: Client) -> None:
    with pytest.raises(WrongRequestError, match="has no column 'kind'") as raised:
        client.fit("flowers", flowers(), label="kind")
    assert raised.value.status == 422


def test_a_fit_can_be_left_to_itself_and_looked_at_later(client: Client) -> None:
    job = client.fit("flowers", flowers(), label="species", wait=0)
    assert job.state in ("waiting", "running", "done")
    job = client.refit("flowers", {"parameters": {"vigilance": 0.8}})
    assert job.state == "done"
    assert client.jobs()[0].sequence == job.sequence
    assert client.job("flowers", job.sequence) == job
    assert client.model("flowers")["parameters"]["vigilance"] == 0.8
    with pytest.raises(WrongRequestError, match="has ended before"):
        client.cancel("flowers", job.sequence)


def test_a_model_of_settings_learns_rows_and_labels(client: Client) -> None:
    client.create("flowers", {"estimator": "SSLART", "parameters": {"vigilance": 0.75}})
    y = pd.Series(["setosa", None, np.nan] * 50)[:150]
    accepted = client.learn("flowers", ROWS, y, ids=[f"flower {number}" for number in range(150)], wait=60)
    assert accepted == Accepted("flowers", 2, tuple(range(150)))
    assert client.label("flowers", {1: "virginica", "flower 2": "setosa", 0: "setosa"}, wait=60) == Accepted(
        "flowers", 3, (1, 2, 0), learnt=2, corrected=0, same=1
    )
    assert client.row("flowers", "flower 1")["label"] == "virginica"
    assert client.row("flowers", 2)["cells"] == ROWS[2]
    assert [one["label"] for one in client.labels("flowers", after=0, most=10_000)].count("virginica") == 1
    assert sorted(client.load("flowers").classes_) == ["setosa", "virginica"]


def test_rows_that_were_decided_can_be_labelled(client: Client) -> None:
    client.fit("flowers", flowers(), label="species")
    found = client.decide("flowers", ROWS[:2], ids=["a", "b"], learn="none", explain=True)
    assert (found.classes, found.rows) == (["setosa", "setosa"], [150, 151])
    assert found[0].explanation is not None
    assert list(found.to_frame()) == ["row", "class", "probability", "abstained", "novelty", "novel"]
    assert client.row("flowers", "b")["decision"]["class"] == "setosa"
    assert client.label("flowers", {"b": "virginica"}).learnt == 1


def test_a_table_is_added_and_all_rows_are_learnt_anew(client: Client) -> None:
    client.fit("flowers", flowers()[:100], label="species")
    job = client.add_table("flowers", flowers()[100:])
    assert job.outcome is not None
    assert job.outcome["rows"] == 150


def test_parameters_change_without_a_fit(client: Client) -> None:
    client.fit("flowers", flowers(), label="species")
    client.set_parameters("flowers", abstain_below=1.0)
    assert client.predict("flowers", ROWS[:1]).classes == [None]
    with pytest.raises(WrongRequestError, match="cannot be changed without a refit"):
        client.set_parameters("flowers", vigilance=0.5)


def test_a_snapshot_is_the_state(client: Client) -> None:
    client.fit("flowers", flowers(), label="species")
    assert client.snapshot("flowers") == client.state("flowers")


def test_a_deleted_model_is_gone(client: Client) -> None:
    client.create("flowers")
    client.delete("flowers")
    with pytest.raises(NotFoundError, match="There is no model 'flowers'"):
        client.model("flowers")


def test_a_model_of_a_file_goes_on_in_the_service(client: Client, tmp_path: Path) -> None:
    X = flowers().drop(columns="species")
    model = AutoSSLART(random_state=0).fit(X, flowers()["species"])
    sslart.save(model, tmp_path / "model.sslart")
    client.fit("flowers", (tmp_path / "model.sslart").read_bytes())
    assert client.predict("flowers", X).classes == model.predict(X).tolist()


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ({"y": ["setosa"]}, "1 labels for 2 rows"),
        ({"ids": ["a", "b", "c"]}, "3 ids for 2 rows"),
    ],
)
def test_lists_that_do_not_fit_the_rows_are_refused(
    client: Client, arguments: dict[str, list[str]], problem: str
) -> None:
    client.create("flowers")
    with pytest.raises(ValueError, match=problem):
        client.learn("flowers", ROWS[:2], **arguments)


def test_tables_that_are_none_are_refused(client: Client, tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"nothing\.csv"):
        client.fit("flowers", tmp_path / "nothing.csv")
    with pytest.raises(TypeError, match="A table is"):
        client.fit("flowers", 3)
    with pytest.raises(ValueError, match="No labels"):
        client.label("flowers", {})
