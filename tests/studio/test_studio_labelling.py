"""Labelling in a browser: keys answer, skip and undo; nothing is lost by a reload, a kill, or a second tab."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from acting import lines
from opened import SECONDS, Opened, StudioProcess, StudioThread, studio, wait_for
from service import flowers, wait_until_ready

from sslart.server.models._hosted import HostedModel

FLOWERS = flowers(1)
SPECIES = FLOWERS["species"].tolist()
CLASSES = ["setosa", "versicolor", "virginica"]


@pytest.fixture
def opened(tmp_path: Path, browser: Any) -> Iterator[Opened]:
    """Return a studio with the iris data, of which no row has a label, and three classes that are named."""
    with studio(tmp_path, browser) as found:
        prepare(found)
        yield found


def prepare(opened: Opened) -> None:
    content = flowers().drop(columns="species").to_csv(index=False).encode()
    assert opened.http.put("/v1/models/iris", params={"wait": 60}, content=content).json()["state"] == "done"
    assert opened.http.put("/v1/models/iris/properties/classes", json=CLASSES).status_code == 200


def labels(opened: Opened) -> dict[int, str]:
    """Return the labels in force by row."""
    body = {"label": [*CLASSES, "other"], "limit": 1000}
    return {one["row"]: one["label"] for one in opened.http.post("/v1/models/iris/search", json=body).json()["rows"]}


def shown_row(page: Any) -> int:
    """Return the row that the question is about."""
    text = page.locator(".question-head p").first.inner_text()
    return int("".join(one for one in text.partition("Row ")[2].split()[0] if one.isdigit()))


def answer(page: Any) -> int:
    """Answer the question by its key, and return its row when the next one is there."""
    row = shown_row(page)
    page.keyboard.press(str(CLASSES.index(SPECIES[row]) + 1))
    wait_for(lambda: shown_row(page) != row)
    return row


def question(opened: Opened, **options: Any) -> Any:
    page = opened.page("iris/label", **options)
    page.locator("#question-title").wait_for()
    return page


def test_keys_answer_skip_and_undo(opened: Opened) -> None:
    page = question(opened)
    answered = [answer(page) for _ in range(3)]
    wait_for(lambda: set(labels(opened)) == set(answered))
    assert all(SPECIES[row] == label for row, label in labels(opened).items())
    skipped = shown_row(page)
    page.keyboard.press("s")
    wait_for(lambda: shown_row(page) != skipped)
    wait_for(lambda: opened.http.get("/v1/models/iris/properties").json()["properties"].get("skipped") == [skipped])
    page.keyboard.press("u")
    wait_for(lambda: set(labels(opened)) == set(answered[:2]))
    wait_for(lambda: shown_row(page) == answered[2])  # the question is there again
    more = page.get_by_role("link", name="More about this sample")
    assert more.get_attribute("href") == f"#/iris/understand/sample/{answered[2]}"
    page.get_by_role("button", name="Undo").click()
    wait_for(lambda: set(labels(opened)) == set(answered[:1]))
    page.close()


@pytest.mark.slow
def test_the_quality_moves_with_the_answers(opened: Opened) -> None:
    page = question(opened)
    assert "Not measured yet: there is no label." in page.locator(".quality").inner_text()
    for _ in range(8):
        answer(page)
    wait_for(lambda: len(labels(opened)) == 8)
    wait_for(lambda: "95 % interval" in page.locator(".quality").inner_text())
    wait_for(lambda: opened.http.get("/v1/jobs").json()["jobs"][0]["state"] == "done")
    value = opened.http.get("/v1/models/iris/quality").json()["accuracy"]["value"]
    wait_for(lambda: f"{100 * value:.0f} %" in page.locator(".accuracy-words strong").inner_text().replace("\xa0", " "))
    assert "at least 10 labels" in page.locator(".quality").inner_text()
    page.close()


def test_one_answer_for_a_whole_box_and_its_undo(opened: Opened) -> None:
    page = question(opened)
    answered = []
    while not page.locator("label.whole").count():
        assert len(answered) < 12
        answered.append(answer(page))
    wait_for(lambda: set(labels(opened)) == set(answered))
    before = labels(opened)
    row = shown_row(page)
    rows = next(
        one["rows"]
        for one in opened.http.get("/v1/models/iris/questions", params={"n": 20}).json()["questions"]
        if one["row"] == row
    )
    listed = page.get_by_role(
        "region", name=re.compile(f"The {len(rows)} samples of the box|the {len(rows) - 1} most similar ones")
    )
    listed.wait_for()
    assert sorted(int(line[0]) for line in lines(listed)) == sorted(rows)
    names = listed.get_by_role("columnheader").all_inner_texts()[1:]
    parts = [FLOWERS[name].iloc[rows] for name in names]
    spreads = [np.ptp(part) / np.ptp(FLOWERS[name]) for name, part in zip(names, parts, strict=True)]
    assert len(names) == 4
    assert spreads == sorted(spreads, reverse=True)
    page.keyboard.press("w")
    page.keyboard.press(str(CLASSES.index(SPECIES[row]) + 1))
    wait_for(lambda: set(labels(opened)) == {*before, *rows})
    page.keyboard.press("u")
    wait_for(lambda: labels(opened) == before)
    page.close()


def test_a_class_that_is_written_is_learnt(opened: Opened) -> None:
    page = question(opened)
    row = shown_row(page)
    page.keyboard.press("n")
    page.keyboard.type("other")
    page.keyboard.press("Enter")
    wait_for(lambda: labels(opened) == {row: "other"})
    page.get_by_role("button", name="other").wait_for()
    page.close()


@pytest.mark.slow
def test_the_guess_is_hidden_until_the_answer(opened: Opened) -> None:
    page = question(opened)
    for _ in range(8):  # the first ones were asked for before the model could predict
        answer(page)
        wait_for(lambda: opened.http.get("/v1/jobs").json()["jobs"][0]["state"] == "done")
    wait_for(lambda: "The model had predicted" in page.locator(".last-answer").inner_text())
    assert "The model gives" not in page.locator(".answers").inner_html()
    page.get_by_label("Hide the prediction until I have answered").uncheck()
    wait_for(lambda: "The model gives" in page.locator(".answers").inner_html())
    page.close()


def test_a_reload_in_the_middle_loses_nothing(opened: Opened) -> None:
    page = question(opened)
    first = answer(page)
    page.reload()
    page.locator("#question-title").wait_for()
    assert shown_row(page) != first
    second = answer(page)
    wait_for(lambda: set(labels(opened)) == {first, second})
    page.reload()
    page.locator("#question-title").wait_for()
    page.keyboard.press("u")  # also after a reload
    wait_for(lambda: set(labels(opened)) == {first})
    page.close()


@pytest.mark.slow
def test_what_could_not_be_sent_is_not_asked_again(opened: Opened) -> None:
    page = question(opened)
    row = shown_row(page)
    left = {"name": "iris", "body": {"labels": [{"row": row, "label": SPECIES[row]}]}, "key": "left-over"}
    page.evaluate("left => localStorage.setItem(`sslart.outbox.${left.key}`, JSON.stringify(left))", left)

    def late(route: Any) -> None:
        time.sleep(1.0)
        route.continue_()

    page.route("**/v1/models/iris/labels*", late)
    page.reload()
    page.locator("#question-title").wait_for()
    assert shown_row(page) != row
    assert labels(opened) == {row: SPECIES[row]}
    page.close()


def test_two_tabs_see_each_other(opened: Opened) -> None:
    one = question(opened)
    other = question(opened, context=opened.contexts[-1])
    row = shown_row(other)
    assert shown_row(one) == row
    answer(one)
    wait_for(lambda: "meanwhile" in other.locator(".question-head").inner_text().lower())
    other.keyboard.press("s")
    wait_for(lambda: shown_row(other) != row)
    answered = {row, answer(other), answer(one)}
    wait_for(lambda: set(labels(opened)) == answered)
    one.close()
    other.close()


@pytest.mark.slow
def test_two_people_who_disagree_are_shown_and_can_settle_it(opened: Opened) -> None:
    for name, label in (("Anna", "setosa"), ("Ben", "virginica")):
        body = {"labels": [{"row": 7, "label": label}], "by": name}
        assert opened.http.post("/v1/models/iris/labels", params={"wait": 30}, json=body).status_code == 200
    page = question(opened)
    part = page.get_by_role("region", name="Disagreements")
    part.get_by_text("Anna").wait_for()
    assert "Ben" in part.inner_text()
    assert part.get_by_role("link", name="7").first.get_attribute("href") == "#/iris/understand/sample/7"
    part.get_by_role("button", name="setosa").click()
    wait_for(lambda: labels(opened)[7] == "setosa")
    part.get_by_text("No two people").wait_for()
    page.close()


@pytest.mark.slow
def test_the_name_of_the_person_is_kept_with_the_label(opened: Opened) -> None:
    page = question(opened)
    page.get_by_role("button", name="You are").click()
    page.get_by_role("textbox", name="Name").fill("Dr. Åse <b>")
    page.keyboard.press("Enter")
    page.get_by_role("dialog").wait_for(state="detached")
    row = answer(page)
    wait_for(lambda: set(labels(opened)) == {row})
    history = opened.http.get("/v1/models/iris/labels", params={"row": row}).json()["labels"]
    assert [one["actor"] for one in history] == ["Dr. Åse <b>"]
    page.close()


def question_that_outlives(opened: Opened) -> Any:
    """Return a page with a question, on which the connection may be lost."""
    opened.expected = ("ERR_CONNECTION_REFUSED", "ERR_EMPTY_RESPONSE", "ERR_CONNECTION_RESET", "ERR_INCOMPLETE", "503")
    wait_until_ready(opened.http)
    prepare(opened)
    return question(opened)


@pytest.mark.parametrize("start", [StudioThread, pytest.param(StudioProcess, marks=pytest.mark.slow)])
def test_an_end_in_the_middle_loses_nothing(start: Any, tmp_path: Path, browser: Any) -> None:
    process = start(tmp_path)
    opened = Opened(process.url, process.token(), browser)
    page = question_that_outlives(opened)
    first = answer(page)
    wait_for(lambda: first in labels(opened))
    process.kill()
    second = answer(page)  # while there is nobody who takes it
    page.get_by_text("Reconnecting").wait_for()
    process = start(tmp_path, port=process.port)
    wait_until_ready(opened.http)
    wait_for(lambda: set(labels(opened)) == {first, second})
    page.get_by_text("Reconnecting").wait_for(state="detached")
    third = answer(page)
    wait_for(lambda: set(labels(opened)) == {first, second, third})
    page.keyboard.press("u")
    wait_for(lambda: set(labels(opened)) == {first, second})
    opened.close()
    process.stop()


def test_an_open_tab_goes_on_after_a_restart(tmp_path: Path, browser: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    thread = StudioThread(tmp_path)
    opened = Opened(thread.url, thread.token(), browser)
    page = question_that_outlives(opened)
    before = shown_row(page)
    thread.kill()
    page.get_by_text("Reconnecting").wait_for()
    may_restore, restore = threading.Event(), HostedModel._run
    monkeypatch.setattr(HostedModel, "_run", lambda model: may_restore.wait(SECONDS) and restore(model))
    thread = StudioThread(tmp_path, port=thread.port)
    for view in ("map", "table", "label"):
        page.goto(f"{opened.url}/studio/#/iris/{view}")
        page.get_by_text("The model iris is starting").wait_for()
    assert page.get_by_text("There are no questions yet").count() == 0
    may_restore.set()
    page.locator("#question-title").wait_for()
    assert shown_row(page) == before
    opened.close()
    thread.stop()
