"""The views Trust and Watch: how far the model can be trusted, and whether new rows are still like those before."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
import pytest
from acting import card, drop, lines, shown, told
from opened import Opened, studio, wait_for

N = 240


def patients(n: int = N, seed: int = 0) -> pd.DataFrame:
    """Return samples of two classes that overlap, of two sites."""
    random = np.random.default_rng(seed)
    is_ill = random.random(n) < 0.5
    frame = pd.DataFrame({"dose": random.normal(size=n) + 2 * is_ill, "age": random.normal(size=n)})
    frame["site"] = np.where(np.arange(n) % 3 == 0, "north", "south")
    frame["state"] = np.where(is_ill, "ill", "well")
    return frame


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory, browser: Any) -> Iterator[Opened]:
    """Return a studio with a model that is wrong here and there."""
    with studio(tmp_path_factory.mktemp("studio"), browser) as found:
        content = patients().to_csv(index=False).encode()
        answer = found.http.put("/v1/models/patients", params={"label": "state", "wait": 60}, content=content)
        assert answer.json()["state"] == "done"
        yield found


def read(opened: Opened, path: str, **parameters: Any) -> dict[str, Any]:
    answer = opened.http.get(f"/v1/models/patients/{path}", params=parameters)
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


def percent(share: float) -> str:
    return f"{int(100 * share + 0.5)} %"


def n_abstained(opened: Opened) -> int:
    rows = patients(60, seed=1).drop(columns="state").to_dict("records")
    found = opened.http.post("/v1/models/patients/predict", json={"rows": rows}).json()["predictions"]
    return sum(one["abstained"] for one in found)


@pytest.mark.slow
def test_quality_calibration_and_coverage_are_those_of_the_service(opened: Opened) -> None:
    page = opened.page("patients/trust")
    shown(page)
    trust = read(opened, "trust")
    quality = card(page, "Accuracy")
    accuracy = trust["accuracy"]
    assert quality.locator(".trust-accuracy").inner_text().startswith(percent(accuracy["value"]))
    low, high = percent(accuracy["low"]), percent(accuracy["high"])
    quality.get_by_text(f"95 % interval {low} to {high}").first.wait_for()
    by_class = lines(quality.get_by_role("table", name="By class"))
    assert [line[:2] for line in by_class] == [[one["class"], f"{one['labels']:.0f}"] for one in trust["classes"]]
    for line, one in zip(by_class, trust["classes"], strict=True):
        assert percent(one["recall"]["value"]) in line[2]
        assert percent(one["precision"]["value"]) in line[3]

    calibration = card(page, "Calibration")
    calibration.get_by_text("Show as a table").click()
    table = calibration.get_by_role("table")
    assert table.get_by_role("columnheader").last.inner_text() == "Result"
    bins = trust["calibration"]["bins"]
    found = [(int(line[1]), line[2], line[3]) for line in lines(table)]
    assert found == [(one["n"], percent(one["predicted"]), percent(one["observed"])) for one in bins]
    promise = card(page, "Coverage and errors")
    promise.get_by_text("Show as a table").click()
    assert len(lines(promise.get_by_role("table"))) == len(trust["coverage"]["points"])
    page.close()


def test_a_cell_of_the_confusion_matrix_lists_its_samples(opened: Opened) -> None:
    page = opened.page("patients/trust")
    shown(page)
    confusion = read(opened, "trust")["confusion"]
    part = card(page, "Confusion matrix")
    n = confusion["counts"][0][1]
    part.get_by_role("button", name=f"Labelled ill, predicted well: {n}, ").click()
    part.get_by_role("heading", name=f"Labelled ill, predicted well: {n} samples").wait_for()
    part.get_by_role("button", name=f"Show all {n}").click()
    table = part.get_by_role("table").last
    wait_for(lambda: {int(line[0]) for line in lines(table)} == set(confusion["rows"][0][1]))

    row = int(lines(table)[0][0])
    part.get_by_role("button", name=f"Correct the label of row {row}", exact=True).click()
    group = part.get_by_role("group", name=f"Which label is correct for row {row}?")
    group.get_by_role("button", name="well").click()
    told(page, f"Row {row} now has the label “well”.")
    assert read(opened, f"rows/{row}")["label"] == "well"
    wait_for(lambda: read(opened, "trust")["confusion"]["counts"] != confusion["counts"])
    counts = read(opened, "trust")["confusion"]["counts"]
    part.get_by_role("button", name=f"Labelled ill, predicted well: {counts[0][1]}, ").wait_for()
    page.keyboard.press("u")
    wait_for(lambda: read(opened, "trust")["confusion"]["counts"] == confusion["counts"])
    part.get_by_role("button", name=f"Labelled ill, predicted well: {n}, ").wait_for()
    page.close()


@pytest.mark.slow
def test_a_limit_of_errors_is_set_and_removed(opened: Opened) -> None:
    page = opened.page("patients/trust")
    shown(page)
    part = card(page, "Coverage and errors")
    option = next(one for one in read(opened, "trust")["coverage"]["options"] if one["max_error"] == 0.1)
    assert n_abstained(opened) == 0
    assert part.get_by_role("radio", name="At most 1 %").is_disabled()
    part.get_by_text(f"on average: {percent(option['coverage_on_average'])}", exact=True).first.wait_for()
    part.get_by_role("radio", name="At most 10 %").check()
    part.get_by_text(f"For the other {percent(1 - option['coverage'])} it abstains.").wait_for()
    assert n_abstained(opened) == 0
    part.get_by_role("button", name="Set this limit").click()
    told(page, "The limit is set: at most 10 % of the answers may be wrong.")
    assert n_abstained(opened) > 0
    promise = read(opened, "trust")["coverage"]["promise"]
    assert promise["max_error"] == 0.1
    part.get_by_text(promise["text"]).wait_for()
    page.reload()
    shown(page)
    assert part.get_by_role("radio", name="At most 10 %").is_checked()
    part.get_by_role("radio", name="No limit").check()
    part.get_by_role("button", name="Remove the limit").click()
    told(page, "The limit is removed: every sample gets an answer.")
    part.get_by_text("The model answers every sample.").wait_for()
    assert n_abstained(opened) == 0
    page.close()


@pytest.mark.slow
def test_accuracy_by_group(opened: Opened) -> None:
    page = opened.page("patients/trust")
    shown(page)
    part = card(page, "Accuracy by group")
    for column in ("site", "age"):
        part.get_by_role("combobox", name="Column").select_option(column)
        table = part.get_by_role("table", name=f"Accuracy by {column}")
        table.wait_for()
        groups = read(opened, "trust", group=column)["groups"]["groups"]
        found = lines(table)
        assert [line[:2] for line in found] == [[one["group"], str(one["n"])] for one in groups]
        assert all(percent(one["accuracy"]["value"]) in line[2] for line, one in zip(found, groups, strict=True))
    page.close()


def test_a_file_is_watched_and_a_novel_row_gets_a_new_class(opened: Opened) -> None:
    later = patients(60, seed=5).drop(columns="state")
    later["age"] += 3
    later.loc[:4, ["dose", "age"]] = [60.0, -60.0]
    page = opened.page("patients/watch")
    page.get_by_text("No rows have arrived since the last fit.").wait_for()
    opened.expected = ("status of 422",)
    drop(page.get_by_test_id("watch-drop"), "other.csv", b"x,y\n1,2\n")
    page.get_by_role("alert").wait_for()
    opened.expected = ()
    assert read(opened, "watch")["n_rows"] == 0
    drop(page.get_by_test_id("watch-drop"), "later.csv", later.to_csv(index=False).encode())
    page.get_by_text(f"later.csv: rows {N} to {N + 59}").wait_for()
    found = read(opened, "watch")
    drifted = [one for one in found["features"] if one["has_drifted"]]
    assert [one["feature"] for one in drifted] == ["age"]
    table = page.get_by_role("table", name="Drift by feature")
    assert lines(table)[0][0].startswith("age")
    assert drifted[0]["text"] in lines(table)[0][0]
    page.get_by_role("tab", name=f"Novel ({found['novel']['n']})").wait_for()

    title = page.get_by_role("heading", name=re.compile(r"Row \d+: which class is it\?"))
    row = int(re.findall(r"\d+", title.inner_text())[0])
    assert row in found["novel"]["rows"]
    page.get_by_text("above all earlier values").first.wait_for()
    group = page.get_by_role("group", name=f"Row {row}: which class is it?")
    group.get_by_label("Another class").fill("strange")
    group.get_by_role("button", name="Use this class").click()
    wait_for(lambda: read(opened, f"rows/{row}")["label"] == "strange")
    wait_for(lambda: not title.inner_text().startswith(f"Row {row}:"))
    other = int(re.findall(r"\d+", title.inner_text())[0])
    page.keyboard.press("3")
    wait_for(lambda: read(opened, f"rows/{other}")["label"] == "strange")
    assert "strange" in opened.http.get("/v1/models/patients/properties").json()["properties"]["classes"]
    page.keyboard.press("u")
    wait_for(lambda: read(opened, f"rows/{other}")["label"] is None)
    page.close()


@pytest.mark.slow
def test_rows_appear_as_they_come_unless_the_view_is_paused(opened: Opened) -> None:
    wait_for(lambda: all(job["state"] == "done" for job in opened.http.get("/v1/jobs").json()["jobs"]))
    page = opened.page("patients/watch")
    shown(page)
    figure = page.locator("dl.figures strong").first
    rows = patients(12, seed=9).drop(columns="state").to_dict("records")

    def send(n: int) -> None:
        answer = opened.http.post("/v1/models/patients/decide", json={"rows": rows[:n]})
        assert answer.status_code == 200, answer.text

    send(3)
    page.get_by_text("3 rows since you opened this view").wait_for()
    n = read(opened, "watch")["n_rows"]
    wait_for(lambda: figure.inner_text() == str(n))
    last = int(read(opened, "watch")["last"])
    assert [line[0] for line in lines(page.get_by_role("table", name="Latest rows"))] == [
        str(row) for row in (last, last - 1, last - 2)
    ]
    page.get_by_role("button", name="Pause").click()
    send(2)
    page.get_by_text("Paused. 2 rows have arrived meanwhile.").wait_for()
    assert figure.inner_text() == str(n)
    page.get_by_role("button", name="Go on").click()
    wait_for(lambda: figure.inner_text() == str(n + 2))
    page.get_by_role("combobox", name="Compare").select_option("the last 50 rows")
    wait_for(lambda: figure.inner_text() == "50")
    page.close()
