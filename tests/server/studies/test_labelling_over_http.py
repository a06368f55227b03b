"""Questions, quality, people who disagree, and what is kept with a model: over HTTP, as a page uses them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import httpx
import numpy as np
import pytest
from service import application, fit_flowers, flowers, rows_of
from sklearn.datasets import load_breast_cancer

from sslart.active._queries import is_reserved

PATH = "/v1/models/fresh"
LABELS = flowers(1)["species"].tolist()


@pytest.fixture
def fresh(client: httpx.Client) -> Iterator[str]:
    fit_flowers(client, "fresh")
    yield PATH
    client.delete(PATH)


def label(client: httpx.Client, path: str, rows: list[int], name: Any, **more: Any) -> dict[str, Any]:
    body = {"labels": [{"row": row, "label": name} for row in rows], **more}
    answer = client.post(f"{path}/labels", params={"wait": 30}, json=body)
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


def are_most_alike(rows: list[int]) -> bool:
    """Return True if a flower is followed by the unlabelled ones nearest to it, in shares of the ranges."""
    table = flowers().drop(columns="species")
    coded = ((table - table.min()) / (table.max() - table.min())).to_numpy()
    apart = np.abs(coded - coded[rows[0]]).sum(axis=1).round(6)
    unlabelled = np.array([one for one in range(len(table)) if one % 5 and one not in rows])
    others = unlabelled[~is_reserved(unlabelled)]
    return bool((np.diff(apart[rows]) >= 0).all() and apart[rows].max() <= apart[others].min())


def test_questions_are_about_samples_without_a_label(client: httpx.Client, fresh: str) -> None:
    answer = client.get(f"{fresh}/questions", params={"n": 10}).json()
    rows = [one["row"] for one in answer["questions"]]
    assert len(set(rows)) == len(rows) == 10
    assert answer["remaining"] == 120
    for one in answer["questions"]:
        assert one["row"] % 5  # every fifth row has a label
        assert one["row"] in one["rows"]
        assert one["cells"] == {name: str(cell) for name, cell in rows_of(flowers())[one["row"]].items()}
        assert one["why"].endswith(".")
        if one["kind"] == "sample":
            assert one["rows"][0] == one["row"]
            assert len(one["rows"]) == 8
            assert are_most_alike(one["rows"])
        assert set(one["prediction"]["probabilities"]) == {"setosa", "versicolor", "virginica"}


def test_what_was_answered_or_skipped_is_not_asked_again(client: httpx.Client, fresh: str) -> None:
    first, second = client.get(f"{fresh}/questions", params={"n": 2}).json()["questions"]
    label(client, fresh, first["rows"], LABELS[first["row"]])
    found = client.get(f"{fresh}/questions", params={"n": 50, "skip": second["row"]}).json()["questions"]
    assert not {one["row"] for one in found} & {*first["rows"], second["row"]}


@pytest.mark.slow
def test_a_table_without_any_label_can_be_labelled_by_questions(client: httpx.Client) -> None:
    data = load_breast_cancer(as_frame=True)
    answers = [str(data.target_names[index]) for index in data.target]
    path = "/v1/models/tumours"
    content = data.data.to_csv(index=False).encode()
    assert client.put(path, params={"wait": 60}, content=content).json()["state"] == "done"
    quality = client.get(f"{path}/quality").json()
    assert quality["accuracy"] is None
    assert quality["why_not"] == "there is no label"
    for _ in range(12):
        question = client.get(f"{path}/questions", params={"n": 1}).json()["questions"][0]
        label(client, path, [question["row"]], answers[question["row"]], refit=True)
    found = client.post(f"{path}/search", json={"limit": 1000}).json()["rows"]
    assert np.mean([one["class"] == answers[one["row"]] for one in found]) > 0.85
    client.delete(path)


def test_new_labels_of_a_small_table_lead_to_a_fit_where_that_is_wanted(client: httpx.Client, fresh: str) -> None:
    assert "job" not in label(client, fresh, [2, 3, 4, 6, 7, 8, 9], LABELS[1])
    job = label(client, fresh, [11], LABELS[11], refit=True)["job"]
    done = client.get(f"{fresh}/jobs/{job}").json()
    assert done["state"] == "done"
    assert sum(done["outcome"]["labels"].values()) == 38
    assert "job" not in label(client, fresh, [11], LABELS[11], refit=True)  # the same again


def test_a_label_that_was_withdrawn_is_forgotten_by_a_fit(client: httpx.Client, fresh: str) -> None:
    before = client.get(f"{fresh}/state").json()["digest"]
    label(client, fresh, [1, 2], "virginica")
    assert client.get(f"{fresh}/state").json()["digest"] != before
    answer = label(client, fresh, [1, 2], None, refit=True)
    assert answer["corrected"] == 2
    assert answer["job"]
    assert client.get(f"{fresh}/state").json()["digest"] == before


def test_people_who_disagree_are_shown_until_they_agree(client: httpx.Client, fresh: str) -> None:
    label(client, fresh, [1, 2], "setosa", by="Anna")
    label(client, fresh, [1], "virginica", by="Ben")
    label(client, fresh, [2], "setosa", by="Ben")
    (found,) = client.get(f"{fresh}/disagreements").json()["rows"]
    assert found["row"] == 1
    assert found["in_force"] == "virginica"
    assert [(one["actor"], one["label"]) for one in found["labels"]] == [("Anna", "setosa"), ("Ben", "virginica")]
    label(client, fresh, [1], "setosa", by="Ben")
    assert client.get(f"{fresh}/disagreements").json()["rows"] == []


def test_quality_is_that_of_the_model(client: httpx.Client, fresh: str) -> None:
    described = client.get(fresh).json()["summary"]
    quality = client.get(f"{fresh}/quality", params={"target": 0.97}).json()
    assert quality["labels"] == 30
    assert quality["accuracy"] == described["accuracy"]
    assert quality["target"] == 0.97
    assert "an accuracy of 97 %" in quality["needed"]["text"]
    assert client.get(f"{fresh}/quality", params={"needed": False}).json()["needed"] is None
    assert 0 < quality["share_in_labelled_boxes"] < 1


@pytest.mark.slow
def test_a_random_order_is_simulated(client: httpx.Client, fresh: str) -> None:
    found = client.get(f"{fresh}/quality/random_order").json()
    assert found["labels"] == 30
    assert found["random"]["tried"] == 120
    assert "(simulated)" in found["text"]


def test_properties_are_kept_and_removed(client: httpx.Client, fresh: str) -> None:
    assert client.get(f"{fresh}/properties").json()["properties"] == {}
    assert client.put(f"{fresh}/properties/classes", json=["a", "<b>"]).status_code == 200
    assert client.put(f"{fresh}/properties/other", json={"x": None}).status_code == 200
    assert client.get(f"{fresh}/properties").json()["properties"] == {"classes": ["a", "<b>"], "other": {"x": None}}
    assert client.delete(f"{fresh}/properties/other").status_code == 204
    assert client.get(f"{fresh}/properties").json()["properties"] == {"classes": ["a", "<b>"]}


@pytest.mark.parametrize("content", [b"", b"{", b"NaN", b'"' + b"x" * 2**16 + b'"'])
def test_a_property_that_is_no_json_or_too_large_is_refused(client: httpx.Client, fresh: str, content: bytes) -> None:
    answer = client.put(f"{fresh}/properties/key", content=content)
    assert answer.status_code in (413, 422)
    assert client.get(f"{fresh}/properties").json()["properties"] == {}


def test_labels_and_properties_are_there_after_a_restart(tmp_path: Any) -> None:
    with application(tmp_path) as client:
        fit_flowers(client, "fresh")
        label(client, PATH, [1], "setosa", by="Anna")
        client.put(f"{PATH}/properties/classes", json=["setosa"])
    with application(tmp_path) as client:
        assert client.get(f"{PATH}/properties").json()["properties"] == {"classes": ["setosa"]}
        assert client.get(f"{PATH}/labels", params={"row": 1}).json()["labels"][0]["actor"] == "Anna"


def test_deleting_a_model_deletes_its_properties(tmp_path: Any) -> None:
    with application(tmp_path) as client:
        fit_flowers(client, "fresh")
        client.put(f"{PATH}/properties/classes", json=["a"])
        assert client.delete(PATH).status_code == 204
        fit_flowers(client, "fresh")
        assert client.get(f"{PATH}/properties").json()["properties"] == {}


@pytest.mark.parametrize(
    "example", ["tumours", "flowers", *(pytest.param(one, marks=pytest.mark.slow) for one in ("wines", "digits"))]
)
def test_an_example_is_a_model_with_few_labels(client: httpx.Client, example: str) -> None:
    described = {one["name"]: one for one in client.get("/v1/examples").json()["examples"]}[example]
    job = client.post(f"/v1/examples/{example}", params={"as": f"my-{example}", "wait": 60}).json()
    assert job["state"] == "done"
    assert job["outcome"]["rows"] == described["rows"]
    assert list(job["outcome"]["labels"].values()) == [2] * described["classes"]
    names = [one["name"] for one in client.get(f"/v1/models/my-{example}/samples").json()["features"]]
    assert "answer (not learnt)" not in names
    assert client.post(f"/v1/examples/{example}", params={"as": f"my-{example}"}).status_code == 409
    client.delete(f"/v1/models/my-{example}")


def test_an_example_that_there_is_not_is_named_with_those_there_are(client: httpx.Client) -> None:
    answer = client.post("/v1/examples/nothing")
    assert answer.status_code == 404
    assert "tumours" in answer.json()["error"]
