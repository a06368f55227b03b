"""Trust in a model: its figures agree with left-out labels computed otherwise."""

from __future__ import annotations

import io
from typing import Any

import httpx
import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import balanced_accuracy_score, confusion_matrix, precision_score
from studied import odd_table, put, read, two_classes

import sslart
from sslart.persistence import model_from_bytes


def left_out(client: httpx.Client, name: str) -> Any:
    """Return the left-out predictions of a model, read from its file."""
    content = client.get(f"/v1/models/{name}/export").content
    return model_from_bytes(content, name).__sslart_view__().left_out


@pytest.fixture(scope="module")
def studied(client: httpx.Client) -> dict[str, Any]:
    put(client, "study", two_classes(every=2), label="state")
    return read(client, "study/trust")


def test_figures_are_those_of_sklearn(client: httpx.Client, studied: dict[str, Any]) -> None:
    own = left_out(client, "study")
    assert studied["confusion"]["counts"] == confusion_matrix(own.truth, own.predicted).tolist()
    assert studied["accuracy"]["value"] == pytest.approx(np.mean(own.truth == own.predicted))
    assert studied["balanced"]["value"] == pytest.approx(balanced_accuracy_score(own.truth, own.predicted))
    precision = [one["precision"]["value"] for one in studied["classes"]]
    assert precision == pytest.approx(precision_score(own.truth, own.predicted, average=None).tolist())


@pytest.mark.slow
def test_left_out_labels_are_those_of_models_without_them(client: httpx.Client, studied: dict[str, Any]) -> None:
    frame = two_classes(every=2)
    rows = [row for line in studied["confusion"]["rows"] for cell in line for row in cell]
    assert sorted(rows) == np.flatnonzero(frame["state"].notna()).tolist()
    wrong = {row for at, line in enumerate(studied["confusion"]["rows"]) for row in line[1 - at]}
    agree = 0
    for row in rows[::8]:
        labels = frame["state"].copy()
        labels[row] = None
        model = sslart.AutoSSLART(random_state=0).fit(frame[["dose", "age"]], labels)
        is_wrong = model.predict(frame.loc[[row], ["dose", "age"]])[0] != frame["state"][row]
        agree += is_wrong == (row in wrong)
    assert agree >= len(rows[::8]) - 1  # the left-out prediction keeps the settings that all labels have chosen


def test_cells_of_the_confusion_hold_rows_of_their_class(studied: dict[str, Any]) -> None:
    frame, confusion = two_classes(every=2), studied["confusion"]
    for name, counts, cells in zip(confusion["classes"], confusion["counts"], confusion["rows"], strict=True):
        assert counts == [len(cell) for cell in cells]
        assert {frame["state"][row] for cell in cells for row in cell} <= {name}


def test_labels_that_are_least_probable_when_left_out_come_first(client: httpx.Client, studied: dict[str, Any]) -> None:
    own, labelled = left_out(client, "study"), np.flatnonzero(two_classes(every=2)["state"].notna())
    of_label = own.proba[np.arange(len(own.truth)), own.truth]
    probable = dict(zip(labelled[own.rows].tolist(), of_label.tolist(), strict=True))
    for cell in (cell for line in studied["confusion"]["rows"] for cell in line):
        assert [probable[row] for row in cell] == sorted(probable[row] for row in cell)


def test_calibration_adds_up(client: httpx.Client, studied: dict[str, Any]) -> None:
    own, bins = left_out(client, "study"), studied["calibration"]["bins"]
    assert sum(one["n"] for one in bins) == len(own.truth)
    for one in bins:
        inside = (own.confidence >= one["low"]) & (own.confidence < one["high"] + (one["high"] == 1))
        assert one["observed"] == pytest.approx(own.right[inside].mean())
        assert one["obs_low"] <= one["observed"] <= one["obs_high"]


def test_coverage_points_are_counted_by_hand(client: httpx.Client, studied: dict[str, Any]) -> None:
    own = left_out(client, "study")
    assert studied["coverage"]["points"][-1]["coverage"] == pytest.approx(1)
    for point in studied["coverage"]["points"]:
        answered = own.confidence >= point["threshold"]
        assert point["coverage"] == pytest.approx(answered.mean())
        assert point["error"] == pytest.approx((~own.right[answered]).mean())
        assert point["low"] <= point["error"] <= point["high"]


def test_of_many_labels_it_is_said_how_many_were_held_out(client: httpx.Client) -> None:
    put(client, "many", two_classes(1200), label="state")
    found = read(client, "many/trust")
    assert found["how"].startswith("240 of 1,200 labels were held out, and are predicted by all other labels.")
    assert found["labels"] == sum(one["left_out"] for one in found["classes"]) == 240
    assert sum(one["labels"] for one in found["classes"]) == 1200
    card = client.get("/v1/models/many/export?format=card").text
    assert found["how"] in card
    assert all(f"<td>{one['labels']}, {one['left_out']} left out</td>" in card for one in found["classes"])
    assert "left out one by one" not in client.get("/v1/models/many/export?format=report").text


def test_a_promise_is_kept_on_left_out_labels(client: httpx.Client) -> None:
    put(client, "promised", two_classes(200), label="state", parameters='{"max_error": 0.2}')
    coverage = read(client, "promised/trust")["coverage"]
    assert coverage["promise"]["holds"]
    assert coverage["promise"]["coverage"] == pytest.approx(coverage["in_force"]["coverage"])
    option = next(one for one in coverage["options"] if one["max_error"] == 0.2)
    assert option["coverage"] == pytest.approx(coverage["promise"]["coverage"])
    assert coverage["in_force"]["error"] <= 0.2
    assert coverage["promise"]["text"] == "At most 20 % of the predictions are wrong, with 90 % certainty."
    client.patch("/v1/models/promised", json={"parameters": {"confidence": None}})
    on_average = read(client, "promised/trust")["coverage"]["promise"]
    assert on_average["coverage"] == pytest.approx(option["coverage_on_average"])
    assert "on average over all labels" in on_average["text"]


@pytest.mark.filterwarnings("default:max_error")
def test_a_promise_that_cannot_be_kept_says_why(client: httpx.Client) -> None:
    put(client, "rash", two_classes(20), label="state", parameters='{"max_error": 0.01}')
    promise = read(client, "rash/trust")["coverage"]["promise"]
    assert not promise["holds"]
    assert "299 labels" in promise["text"]


def test_copies_count_once(client: httpx.Client) -> None:
    put(client, "copied", pd.concat([two_classes(20)] * 6), label="state")
    found = read(client, "copied/trust")
    assert (found["labels"], found["counted"]) == (120, 20)
    assert found["accuracy"]["high"] - found["accuracy"]["low"] > 0.3
    assert sum(map(sum, found["confusion"]["counts"])) == 120


def test_groups_are_left_out_together_and_have_wide_intervals(client: httpx.Client) -> None:
    frame = two_classes().assign(ward=np.repeat(["north", "south", "=east"], 40), patient=np.arange(120) // 10)
    put(client, "wards", frame, label="state", group="patient", ignore="ward")
    found = read(client, "wards/trust", group="ward")
    own = left_out(client, "wards")
    groups = {one["group"]: one for one in found["groups"]["groups"]}
    assert found["counted"] == 12
    assert set(groups) == {"north", "south", "=east"}
    assert sum(one["n"] for one in groups.values()) == 120
    mean = np.mean([one["accuracy"]["value"] for one in groups.values()])
    assert mean == pytest.approx(own.right.mean())
    assert all("Few labels" in one["note"] for one in groups.values())


def test_numbers_make_bands(client: httpx.Client, studied: dict[str, Any]) -> None:
    groups = read(client, "study/trust", group="age")["groups"]["groups"]
    assert len(groups) == 4
    assert sum(one["n"] for one in groups) == studied["labels"]
    answer = client.get("/v1/models/study/trust", params={"group": "height"})
    assert answer.status_code == 422
    assert "height" in answer.json()["error"]


@pytest.mark.parametrize(
    ("name", "labels", "words"),
    [
        ("single", ["a"] * 30, "one class"),
        ("pair", ["a", "b", *[None] * 28], "each class has one label"),
    ],
)
def test_too_few_labels_give_no_figures(client: httpx.Client, name: str, labels: list[Any], words: str) -> None:
    put(client, name, two_classes(30).assign(state=labels), label="state")
    found = read(client, f"{name}/trust", group="dose")
    assert words in found["why_not"]
    assert [found[part] for part in ("accuracy", "confusion", "calibration", "coverage", "groups")] == [None] * 5


def test_without_a_label_there_is_nothing_to_trust(client: httpx.Client) -> None:
    put(client, "unlabelled", two_classes(30).drop(columns="state"))
    answer = client.get("/v1/models/unlabelled/trust")
    assert answer.status_code == 409
    assert "label" in answer.json()["error"]


def test_labels_that_were_learnt_one_by_one_have_their_rows(client: httpx.Client) -> None:
    put(client, "grown", odd_table(), label="state")
    rows = [1, 3, 5, 7]
    labels = [{"row": row, "label": "ill" if row % 2 else "well"} for row in rows]
    client.post("/v1/models/grown/labels", json={"labels": labels}, params={"wait": 20})
    found = read(client, "grown/trust", group="kind")
    assert found["confusion"]["without_row"] == 0
    shown = {row for line in found["confusion"]["rows"] for cell in line for row in cell}
    assert set(rows) <= shown


@pytest.mark.parametrize("kind", ["int64", "str"])
def test_labels_one_by_one_join_the_groups_of_the_fit(client: httpx.Client, kind: str) -> None:
    frame = two_classes(60, every=2).assign(patient=(np.arange(60) // 6).astype(kind))
    content = io.BytesIO()
    frame.to_parquet(content)
    settings = {"label": "state", "group": "patient", "wait": 60}
    client.put(f"/v1/models/patients_{kind}", params=settings, content=content.getvalue())
    assert read(client, f"patients_{kind}/trust")["counted"] == 10
    labels = [{"row": row, "label": "ill"} for row in range(1, 60, 6)]
    client.post(f"/v1/models/patients_{kind}/labels", json={"labels": labels}, params={"wait": 20})
    found = read(client, f"patients_{kind}/trust")
    assert (found["labels"], found["counted"]) == (40, 10)
