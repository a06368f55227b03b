"""Dependence, similar cases, the rows of a rule, and trials with other labels."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pandas as pd
import pytest
from service import application
from studied import ODD_CATEGORIES, ask, odd_table, put, read, two_classes

from sslart.persistence import model_from_bytes
from sslart.server.models._settings import Limits
from sslart.server.studies import _rules


@pytest.fixture(scope="module")
def odd(client: httpx.Client) -> str:
    put(client, "odd", odd_table(), label="state")
    return "odd"


def test_dependence_holds_the_contributions(client: httpx.Client) -> None:
    frame = two_classes()
    put(client, "plain", frame, label="state")
    found = read(client, "plain/dependence", feature="dose")
    content = client.get("/v1/models/plain/export").content
    model: Any = model_from_bytes(content, "plain")
    expected = model.contributions(frame[["dose", "age"]])
    assert found["points"]["x"] == pytest.approx(frame["dose"].tolist())
    assert np.allclose(found["points"]["y"], expected.values[:, 0])
    curve = [one["y"][found["classes"].index("ill")] for one in found["curve"]]
    assert curve[0] < 0 < curve[-1]


def test_intervals_of_contributions_are_those_of_the_model(client: httpx.Client) -> None:
    frame = two_classes()
    put(client, "sure", frame, label="state")
    model: Any = model_from_bytes(client.get("/v1/models/sure/export").content, "sure")
    rows = frame[["dose", "age"]][:3]
    body, path = {"rows": rows.to_dict("records")}, "/v1/models/sure/contributions"
    expected = model.contributions(rows)
    found = client.post(path, params={"intervals": True}, json=body).json()
    assert np.allclose(np.array(found["values"]) + found["half_widths"], expected.intervals[..., 1])
    assert client.post(path, json=body).json()["half_widths"] is None


def test_dependence_of_categories_and_dates(client: httpx.Client, odd: str) -> None:
    found = read(client, f"{odd}/dependence", feature="kind")
    assert found["kind"] == "category"
    assert {one["x"] for one in found["curve"]} == set(ODD_CATEGORIES)
    assert sum(one["n"] for one in found["curve"]) == 120
    found = read(client, f"{odd}/dependence", feature="seen")
    assert (found["kind"], found["points"]["x"][0]) == ("date", "2024-01-01")
    found = read(client, f"{odd}/dependence", feature="age")
    assert (found["n_samples"], found["n_missing"]) == (120, 12)
    answer = client.get(f"/v1/models/{odd}/dependence", params={"feature": "patient_id"})
    assert answer.status_code == 422
    assert "dose" in answer.json()["error"]


def test_similar_cases_are_the_nearest(client: httpx.Client) -> None:
    frame = two_classes(every=3)
    put(client, "thirds", frame, label="state", parameters='{"scaling": "range"}')
    row = {"dose": 0.5, "age": 0.0}
    cases = ask(client, "thirds/similar", {"row": row, "n": 4})["cases"]
    features = frame[["dose", "age"]]
    apart = ((features - pd.Series(row)).abs() / (features.max() - features.min())).mean(axis=1)
    nearest = apart[frame["state"].notna()].sort_values()
    assert [one["row"] for one in cases] == nearest.index[:4].tolist()
    assert [one["distance"] for one in cases] == pytest.approx(nearest.iloc[:4].tolist(), abs=1e-3)
    assert [one["label"] for one in cases] == frame["state"][nearest.index[:4]].tolist()


def test_a_row_is_most_like_itself(client: httpx.Client, odd: str) -> None:
    cells = read(client, f"{odd}/rows/4")["cells"]
    found = ask(client, f"{odd}/similar", {"row": cells, "n": 2})
    assert (found["cases"][0]["row"], found["cases"][0]["distance"]) == (4, 0)
    assert 4 in found["boxes"][0]["rows"]
    others = ask(client, f"{odd}/similar", {"row": cells, "n": 2, "leave_out": 4})["cases"]
    assert others[0] == found["cases"][1]
    assert others[0]["text"].startswith("differs in ")


def test_a_rule_covers_what_its_conditions_say(client: httpx.Client, odd: str) -> None:
    frame = odd_table()
    named = ["a, b", "<b>bold</b>"]
    conditions = [
        {"feature": "dose", "above": 0.5, "at_most": None},
        {"feature": "kind", "categories": named, "negated": True},
        {"feature": "age", "at_most": 0.2, "missing": True},
    ]
    found = ask(client, f"{odd}/rules/cover", {"conditions": conditions, "label": "ill"})
    met = (frame["dose"] > 0.5) & ~frame["kind"].isin(named) & ((frame["age"] <= 0.2) | frame["age"].isna())
    assert found["n_rows"] == met.sum()
    assert found["rows"] == np.flatnonzero(met).tolist()
    assert found["labels"] == frame["state"][met].value_counts().to_dict()
    teaching = met & (frame["state"].isna() | (frame["state"] == "ill"))
    assert set(found["suggested"]) <= set(np.flatnonzero(teaching))
    assert len(set(found["suggested"])) == min(20, teaching.sum())


def test_rules_count_the_rows_that_they_cover_and_cover_each_once(client: httpx.Client, odd: str) -> None:
    found = read(client, f"{odd}/rules")
    others = [one["conditions"] for one in found["rules"] if not one["is_default"]]
    for rule in found["rules"]:
        left_over = others if rule["is_default"] else []
        covered = ask(client, f"{odd}/rules/cover", {"conditions": rule["conditions"], "others": left_over})
        labels = covered["labels"]
        assert (rule["n_covered"], rule["n_labelled"]) == (covered["n_rows"], sum(labels.values()))
        assert rule["n_right"] == labels.get(rule["label"], 0)
    assert sum(one["n_covered"] for one in found["rules"]) == found["n_samples"] == 120
    assert not found["from_boxes"]
    assert "drawn" not in found["text"]


def test_rules_for_many_rows_are_for_some_and_all_labels(
    client: httpx.Client, odd: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_rules, "MAX_ROWS", 80)
    found = read(client, f"{odd}/rules")
    assert found["n_samples"] == 80
    assert sum(one["n_labelled"] for one in found["rules"]) == 60
    assert found == read(client, f"{odd}/rules")


def test_few_suggestions_come_from_different_boxes(client: httpx.Client, odd: str) -> None:
    found = ask(client, f"{odd}/rules/cover", {"conditions": [], "n": 5})["suggested"]
    shown = ask(client, f"{odd}/search", {"rows": found})["rows"]
    assert len({one["box"] for one in shown}) == 5


@pytest.mark.parametrize(
    ("condition", "words"),
    [
        ({"feature": "height", "above": 1}, "no feature 'height'"),
        ({"feature": "kind", "above": 1}, "categories"),
        ({"feature": "dose", "categories": ["a"]}, "numbers"),
    ],
)
def test_a_condition_that_does_not_fit_is_refused(
    client: httpx.Client, odd: str, condition: dict[str, Any], words: str
) -> None:
    answer = client.post(f"/v1/models/{odd}/rules/cover", json={"conditions": [condition]})
    assert answer.status_code == 422
    assert words in answer.json()["error"]


def test_labelling_what_is_suggested_teaches_the_correction(client: httpx.Client) -> None:
    frame = two_classes(300, every=4)
    put(client, "wrong", frame, label="state")
    condition = {"feature": "age", "above": 0.6, "at_most": None}
    is_met = (frame["age"] > 0.6).to_numpy()
    rows = ask(client, "wrong/rules/cover", {"conditions": [condition], "label": "well"})["suggested"]
    labels = [{"row": row, "label": "other"} for row in rows]
    trial = ask(client, "wrong/trial", {"labels": labels})
    client.post("/v1/models/wrong/labels", json={"labels": labels})
    client.post("/v1/models/wrong/refit", params={"wait": 60})
    shown = ask(client, "wrong/predict", {"rows": frame[["dose", "age"]].to_dict("records")})["predictions"]
    predicted = np.array([one["class"] for one in shown]) == "other"
    assert predicted[is_met].mean() > 0.5
    assert predicted[~is_met].mean() < 0.1
    told = sum(one["n"] for one in trial["changed"]["by"] if one["to"] == "other")
    assert told == predicted.sum()


def test_a_trial_is_the_fit_that_it_foretells(client: httpx.Client) -> None:
    frame = two_classes(every=2)
    put(client, "tried", frame, label="state")
    before = read(client, "tried/trust")["accuracy"]
    state = read(client, "tried/state")
    changes = [{"row": 0, "label": "ill"}, {"row": 2, "label": None}, {"row": 1, "label": "ill"}]
    found = ask(client, "tried/trial", {"labels": changes})
    assert read(client, "tried/state") == state
    assert found["before"]["accuracy_of_all"] == before
    client.post("/v1/models/tried/labels", json={"labels": changes})
    client.post("/v1/models/tried/refit", params={"wait": 60})
    assert read(client, "tried/trust")["accuracy"] == found["after"]["accuracy_of_all"]
    n_changed = 2 if frame["state"][0] == "ill" else 3
    assert f"{n_changed} labels changed" in found["text"]
    n_same = 60 - 1 - (frame["state"][0] != "ill")
    assert found["compared"]["labels"] == found["before"]["accuracy"]["total"] == n_same


def test_a_trial_after_labels_one_by_one_tells_what_the_change_alone_does(client: httpx.Client) -> None:
    frame = two_classes(every=3)
    put(client, "stream", frame, label="state")
    client.post("/v1/models/stream/labels", json={"labels": [{"row": 1, "label": "ill"}]}, params={"wait": 20})
    found = ask(client, "stream/trial", {"labels": [{"row": 1, "label": "ill"}]})  # which it has already
    assert found["before"] == found["after"]
    assert (found["changed"]["n"], found["compared"]["better"], found["compared"]["worse"]) == (0, 0, 0)


def test_a_trial_without_anything_to_measure(client: httpx.Client) -> None:
    put(client, "two", two_classes(30).assign(state=["a", "b", *[None] * 28]), label="state")
    found = ask(client, "two/trial", {"labels": [{"row": 0, "label": None}, {"row": 1, "label": None}]})
    assert found["after"]["accuracy"] is None
    assert "cannot be compared" in found["text"]
    answer = client.post("/v1/models/two/trial", json={"labels": [{"row": 999, "label": "a"}]})
    assert answer.status_code == 404


def test_a_model_from_a_file_has_no_rows(client: httpx.Client, odd: str) -> None:
    content = client.get(f"/v1/models/{odd}/export").content
    assert client.put("/v1/models/borrowed", content=content).status_code == 201
    assert read(client, "borrowed/columns")["rows"] == 0
    trust = read(client, "borrowed/trust")
    assert trust["accuracy"] == read(client, f"{odd}/trust")["accuracy"]
    assert trust["confusion"]["without_row"] == trust["labels"]
    assert read(client, "borrowed/dependence", feature="dose")["n_samples"] == trust["labels"]
    assert ask(client, "borrowed/rules/cover", {"conditions": []})["n_rows"] == 0
    assert read(client, "borrowed/rules")["from_boxes"]
    assert "drawn at random within its boxes" in client.get("/v1/models/borrowed/export?format=card").text
    answer = client.post("/v1/models/borrowed/trial", json={"labels": [{"row": 0, "label": "ill"}]})
    assert answer.status_code == 409
    assert "file" in answer.json()["error"]


@pytest.mark.slow
def test_a_trial_that_takes_too_long_is_stopped(tmp_path: Path) -> None:
    random = np.random.default_rng(0)
    frame = pd.DataFrame(random.normal(size=(1500, 10)), columns=[f"x{place}" for place in range(10)])
    frame["state"] = np.where(frame["x0"] + frame["x1"] * frame["x2"] > 0, "a", "b")
    with application(tmp_path, limits=Limits(timeout=0.1)) as client:
        put(client, "large", frame, label="state")
        for _ in range(4):  # more than there are threads for long work
            answer = client.post("/v1/models/large/trial", json={"labels": [{"row": 0, "label": "b"}]})
            assert answer.status_code == 503
        start = time.monotonic()
        while client.get("/v1/models/large/columns").status_code != 200:
            assert time.monotonic() - start < 5
