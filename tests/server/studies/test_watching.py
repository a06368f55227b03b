"""Rows compared with those before the last fit: drift, novel rows, abstentions, classes."""

from __future__ import annotations

from typing import Any

import httpx
import numpy as np
import pandas as pd
import pytest
from scipy.stats import ks_2samp
from studied import odd_table, put, read, two_classes

from sslart.server.studies._drift_tests import change_of_categories, change_of_numbers, holm


def dropped(client: httpx.Client, name: str, frame: pd.DataFrame, **headers: str) -> dict[str, Any]:
    """Return the findings on a table."""
    content = frame.to_csv(index=False).encode()
    answer = client.post(f"/v1/models/{name}/watch/table", content=content, headers=headers)
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


def test_nothing_has_come_yet(client: httpx.Client) -> None:
    put(client, "calm", two_classes(200), label="state")
    found = read(client, "calm/watch")
    assert (found["since"], found["n_rows"], found["features"]) == (200, 0, [])
    assert found["text"].startswith("No rows have arrived")


def test_rows_of_the_same_source_have_not_changed(client: httpx.Client) -> None:
    found = dropped(client, "calm", two_classes(300, seed=1).drop(columns="state"))
    assert (found["first"], found["last"]) == (200, 499)
    assert not any(one["has_drifted"] for one in found["features"])
    assert found["novel"]["share"] < 0.12
    assert not found["novel"]["is_more"]
    assert [one["now"] == pytest.approx(one["before"], abs=0.15) for one in found["classes"]] == [True, True]


def test_a_shift_is_found_with_the_test_of_scipy(client: httpx.Client) -> None:
    before, later = two_classes(200, seed=2), two_classes(100, seed=3).drop(columns="state")
    later["age"] += 1.5
    put(client, "shifted", before, label="state")
    found = {one["feature"]: one for one in dropped(client, "shifted", later)["features"]}
    expected = ks_2samp(before["age"], later["age"])
    assert found["age"]["drift"] == pytest.approx(expected.statistic, abs=1e-6)
    assert found["age"]["p_value"] == pytest.approx(min(1, 2 * 2 * expected.pvalue))  # two tests, two features
    assert found["age"]["has_drifted"]
    assert not found["dose"]["has_drifted"]
    assert "median" in found["age"]["text"]
    assert sum(found["age"]["now"]["histogram"]) == 100


def test_watching_the_last_rows(client: httpx.Client) -> None:
    found = read(client, "shifted/watch", last=30)
    assert (found["n_rows"], found["first"], found["last"]) == (30, 270, 299)
    assert read(client, "shifted/watch")["n_rows"] == 100
    assert read(client, "shifted/watch", last=100_000)["compared_with"] == 0


def test_novel_rows_can_be_labelled(client: httpx.Client) -> None:
    put(client, "far", two_classes(200), label="state")
    strange = pd.DataFrame({"dose": np.linspace(40, 50, 30), "age": np.linspace(-40, -50, 30)})
    found = dropped(client, "far", strange)
    assert (found["novel"]["n"], found["novel"]["share"]) == (30, 1.0)
    assert found["novel"]["is_more"]
    first, *others = [{"row": row, "label": "strange"} for row in found["novel"]["rows"]]
    answer = client.post("/v1/models/far/labels", params={"wait": 60}, json={"labels": [first], "refit": True}).json()
    assert read(client, f"far/jobs/{answer['job']}")["outcome"]["by_labels"]
    again = read(client, "far/watch")
    assert (again["n_rows"], again["novel"]["n"]) == (30, 30)  # a fit that a label leads to hides nothing
    assert client.post("/v1/models/far/labels", json={"labels": others}).json()["learnt"] == 29
    client.post("/v1/models/far/refit", params={"wait": 60})
    assert read(client, "far/watch")["n_rows"] == 0  # they are among those of the last fit now


def test_abstentions_are_counted(client: httpx.Client) -> None:
    put(client, "shy", two_classes(100), label="state", parameters='{"abstain_below": 0.999999}')
    found = dropped(client, "shy", two_classes(40, seed=5).drop(columns="state"))
    assert (found["abstained"]["n"], found["abstained"]["share"]) == (40, 1.0)
    assert len(found["abstained"]["rows"]) == 40


def test_classes_are_compared_alike_where_the_model_abstains(client: httpx.Client) -> None:
    found = read(client, "shy/watch")["classes"]
    assert sum(one["now"] for one in found) == pytest.approx(1)
    assert [one["now"] == pytest.approx(one["before"], abs=0.25) for one in found] == [True, True]


def test_odd_columns(client: httpx.Client) -> None:
    put(client, "odd", odd_table(), label="state")
    later = odd_table().drop(columns="state")
    later["kind"] = 'never met, "before"'
    later["age"] = np.nan
    found = {one["feature"]: one for one in dropped(client, "odd", later)["features"]}
    assert found["kind"]["drift"] == 1
    assert "never met" in found["kind"]["text"]
    assert found["age"]["has_drifted"]
    assert "100 % missing" in found["age"]["text"]
    assert found["seen"]["p_value"] is None
    assert not found["dose"]["has_drifted"]
    assert not found["site"]["has_drifted"]


def test_a_table_counts_once_for_a_key(client: httpx.Client) -> None:
    put(client, "once", two_classes(50), label="state")
    frame = two_classes(20, seed=9).drop(columns="state")
    first = dropped(client, "once", frame, **{"idempotency-key": "k1"})
    again = dropped(client, "once", frame, **{"idempotency-key": "k1"})
    assert [(one["first"], one["last"]) for one in (first, again)] == [(50, 69), (50, 69)]
    assert read(client, "once")["rows"] == 70


def test_labels_in_a_table_are_learnt(client: httpx.Client) -> None:
    put(client, "labelled", two_classes(50, every=5), label="state")
    dropped(client, "labelled", two_classes(20, seed=4))
    assert read(client, "labelled")["summary"]["labels"] != {}
    assert sum(read(client, "labelled")["summary"]["labels"].values()) == 30


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "empty"),
        (b"dose,age\n", "no rows"),
        (b"dosis,age\n1,2\n", "dose"),
        (b"dose,age\n1,2\nmuch,3\n", "much"),
        (b"dose,dose\n1,2\n", "more than once"),
        (b"\x89SSLART\nnonsense", ""),
        (b"PK\x03\x04nonsense", ""),
    ],
)
def test_a_bad_table_is_refused_and_keeps_nothing(client: httpx.Client, content: bytes, words: str) -> None:
    before = read(client, "calm")["rows"]
    answer = client.post("/v1/models/calm/watch/table", content=content)
    assert answer.status_code == 422
    assert words in answer.json()["error"]
    assert read(client, "calm")["rows"] == before


def test_holm_is_that_of_statisticians() -> None:
    assert holm([0.01, 0.02, 0.03, None, 0.005]) == pytest.approx([0.03, 0.04, 0.04, None, 0.02])


def test_false_alarms_are_rare() -> None:
    random = np.random.default_rng(0)
    found = [change_of_numbers("x", random.normal(size=80), random.normal(size=60)).p_value for _ in range(200)]
    assert np.mean([one < 0.05 for one in found if one is not None]) < 0.09
    drawn = [random.choice(list("aaabbc"), (2, 80)).tolist() for _ in range(200)]
    found = [change_of_categories("c", *both).p_value for both in drawn]
    assert np.mean([one < 0.05 for one in found if one is not None]) < 0.09
