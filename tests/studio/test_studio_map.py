"""The view Map and its table: look at samples, select some, and label all of them with one answer."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from acting import lines, shown, told
from opened import Opened, wait_for
from service import flowers

MARGIN = 46  # pixels around the positions from 0 to 1
IMAGE = "canvas => canvas.toDataURL()"
OPTIONS = {"reduced_motion": "reduce"}


class Map:
    """A page with the map, and what the service says of its samples."""

    def __init__(self, opened: Opened) -> None:
        self.opened, self.http = opened, opened.http
        self.page = opened.page("flowers/map", **OPTIONS)
        self.canvas = self.page.get_by_role("application", name="Map of 150 samples")
        self.selection = self.page.get_by_role("complementary", name="Selection")
        shown(self.page)
        self.wait_until_drawn()

    def wait_until_drawn(self) -> None:
        """Wait until the legend tells what the service predicts."""
        wait_for(lambda: self.legend() == self.predicted())

    def values(self, quantity: str, **parameters: str) -> Any:
        answer = self.http.get(f"/v1/models/flowers/values/{quantity}", params=parameters)
        assert answer.status_code == 200, answer.text
        return np.load(io.BytesIO(answer.content))

    def predicted(self) -> list[int]:
        """Return the number of samples predicted as each class, and the number without a prediction."""
        codes = self.values("class")
        return [int((codes == code).sum()) for code in (0, 1, 2, -1)]

    def legend(self) -> list[int]:
        texts = self.page.get_by_role("region", name="What the colours mean").get_by_role("listitem").all_inner_texts()
        counts = [int(found[0]) if (found := re.findall(r"\d+$", text.strip())) else -1 for text in texts]
        return counts if len(counts) != 3 else [*counts, 0]  # no line where no sample is without a class

    def labels(self) -> Any:
        return self.values("label")

    def pixel(self, position: Any) -> tuple[float, float]:
        """Return where a position from 0 to 1 is on the page while everything is shown."""
        box = self.canvas.bounding_box()
        x, y = (float(one) for one in position)
        left = box["x"] + MARGIN + x * (box["width"] - 2 * MARGIN)
        return left, box["y"] + MARGIN + (1 - y) * (box["height"] - 2 * MARGIN)

    def choose(self, label: str, option: str) -> None:
        """Choose an option, and wait until the map looks otherwise."""
        before = self.image()
        self.page.get_by_role("combobox", name=label, exact=True).select_option(option)
        wait_for(lambda: self.image() != before)

    def image(self) -> str:
        found: str = self.canvas.evaluate(IMAGE)
        return found

    def select_row(self, row: int) -> None:
        self.page.mouse.click(*self.pixel(self.values("position")[row]))
        self.selection.get_by_role("link", name=f"Explain row {row}").wait_for()

    def close(self) -> None:
        self.page.close()


@pytest.fixture
def map_page(opened: Opened) -> Iterator[Map]:
    found = Map(opened)
    yield found
    found.close()


def most_alone(positions: Any) -> int:
    """Return the sample whose nearest neighbour is the farthest."""
    distances = np.linalg.norm(positions[:, None] - positions[None], axis=2)
    np.fill_diagonal(distances, np.inf)
    return int(distances.min(axis=1).argmax())


@pytest.mark.slow
def test_colours_axes_and_outlines(map_page: Map) -> None:
    page = map_page.page
    for colour in ("confidence", "novelty", "disagreement"):
        map_page.choose("Colour", colour)
        ramp = page.get_by_role("region", name="What the colours mean").get_by_role("img")
        assert ramp.get_attribute("aria-label").endswith("shows.")
    map_page.choose("Colour", "label")
    counts = [int((map_page.labels() == code).sum()) for code in (0, 1, 2, -1)]
    wait_for(lambda: map_page.legend() == counts)
    map_page.choose("Colour", "predicted class")
    with_outlines = map_page.image()
    page.get_by_label("Outlines of boxes").uncheck()
    wait_for(lambda: map_page.image() != with_outlines)

    map_page.choose("Across", "petal_length")
    assert page.get_by_role("combobox", name="Up").input_value() == "sepal_length"
    positions = np.column_stack([map_page.values("feature", name=one) for one in ("petal_length", "sepal_length")])
    positions = (positions - positions.min(axis=0)) / np.ptp(positions, axis=0)
    row = most_alone(positions)
    page.mouse.click(*map_page.pixel(positions[row]))
    map_page.selection.get_by_role("link", name=f"Explain row {row}").wait_for()
    map_page.choose("Up", "petal_width")
    map_page.choose("Up", "computed from the boxes")
    assert page.get_by_role("combobox", name="Across").input_value() == ""


def test_a_sample_is_clicked_and_labelled_by_key(map_page: Map) -> None:
    positions = map_page.values("position")
    row = most_alone(np.where(map_page.labels()[:, None] < 0, positions, 0.5))
    map_page.select_row(row)
    box = int(map_page.values("box")[row])
    map_page.selection.get_by_role("heading", name=f"Box {box}").wait_for()
    n = map_page.http.get(f"/v1/models/flowers/boxes/{box}").json()["n"]
    map_page.selection.get_by_text(f"{n} sample").first.wait_for()
    map_page.selection.get_by_role("button", name="Only this sample").click()
    map_page.selection.get_by_role("heading", name="1 sample is selected").wait_for()
    before = map_page.labels()
    map_page.page.keyboard.press("2")
    told(map_page.page, "1 sample was labelled “versicolor”.")
    assert map_page.http.get(f"/v1/models/flowers/rows/{row}").json()["label"] == "versicolor"
    assert (map_page.labels() != before).sum() == 1
    map_page.page.keyboard.press("u")
    wait_for(lambda: bool((map_page.labels() == before).all()))


def steps_to_a_box(page: Any) -> bool:
    """Press the key for the next box; return whether there was one: boxes come after the samples."""
    page.keyboard.press("]")
    return bool(page.get_by_role("status").filter(has_text=re.compile(r"^Box \d")).count())


@pytest.mark.slow
def test_a_key_that_is_pressed_while_the_boxes_are_on_their_way_counts(map_page: Map) -> None:
    page, held, is_free = map_page.page, list[Any](), list[bool]()
    page.route(re.compile(r"/boxes(\?|$)"), lambda route: route.continue_() if is_free else held.append(route))
    page.reload()
    map_page.canvas.focus()
    while not held:
        page.wait_for_timeout(50)
    page.keyboard.press("]")
    page.wait_for_timeout(200)
    assert page.get_by_role("status").get_by_text("Box 1 of ").count() == 0
    is_free.append(True)
    for one in held:
        one.continue_()
    page.get_by_role("status").get_by_text("Box 1 of ").wait_for()


def test_a_box_is_chosen_by_keyboard_and_the_colours_follow_its_labels(map_page: Map) -> None:
    page = map_page.page
    boxes = map_page.http.get("/v1/models/flowers/boxes").json()["boxes"]
    status = page.get_by_role("status")
    map_page.canvas.focus()
    wait_for(lambda: steps_to_a_box(page))
    page.keyboard.press("Escape")
    status.get_by_text("Nothing is selected.").wait_for()
    page.keyboard.press("]")
    status.get_by_text(f"Box 1 of {len(boxes)}, number {boxes[0]['box']}: ").wait_for()
    page.keyboard.press("[")
    status.get_by_text(f"Box {len(boxes)} of {len(boxes)}, number {boxes[-1]['box']}: ").wait_for()
    page.keyboard.press("]")
    page.keyboard.press("Enter")
    map_page.selection.get_by_role("heading", name=f"Box {boxes[0]['box']}").wait_for()
    rows = np.flatnonzero(map_page.values("box") == boxes[0]["box"])
    before, guessed, image = map_page.labels(), map_page.values("class"), map_page.image()
    other = next(name for name in ("setosa", "virginica") if name != boxes[0]["class"])
    map_page.selection.get_by_role("button", name=other).click()
    told(page, f"{len(rows)} samples were labelled “{other}”.")
    after = map_page.labels()
    assert set(np.flatnonzero(after != before)) <= set(rows)
    assert len(set(after[rows])) == 1
    wait_for(lambda: bool((map_page.values("class") != guessed).any()))
    map_page.wait_until_drawn()
    wait_for(lambda: map_page.image() != image)
    page.get_by_role("button", name="Undo", exact=True).first.click()
    wait_for(lambda: bool((map_page.labels() == before).all()))
    wait_for(lambda: bool((map_page.values("class") == guessed).all()))
    map_page.wait_until_drawn()
    map_page.canvas.focus()
    page.keyboard.press("Escape")
    map_page.selection.get_by_text("Nothing is selected.").wait_for()


def test_a_lasso_around_many_asks_before_it_labels(map_page: Map) -> None:
    page = map_page.page
    corners = [map_page.pixel(one) for one in ((-0.04, -0.04), (1.04, -0.04), (1.04, 1.04), (-0.04, 1.04))]
    page.get_by_role("button", name="Lasso").click()
    page.mouse.move(*corners[0])
    page.mouse.down()
    for corner in corners[1:]:
        page.mouse.move(*corner, steps=4)
    page.mouse.up()
    map_page.selection.get_by_role("heading", name="150 samples are selected").wait_for()
    before = map_page.labels()
    page.keyboard.press("3")
    dialog = page.get_by_role("dialog", name="Label 150 samples?")
    dialog.get_by_role("button", name="Cancel").click()
    dialog.wait_for(state="detached")
    assert (map_page.labels() == before).all()
    map_page.selection.get_by_role("button", name="virginica").click()
    dialog.get_by_role("button", name="Label them “virginica”").click()
    told(page, "150 samples were labelled “virginica”.")
    found = map_page.http.post("/v1/models/flowers/search", json={"label": ["virginica"], "limit": 0}).json()
    assert found["total"] == 150
    page.keyboard.press("u")
    wait_for(lambda: bool((map_page.labels() == before).all()))
    map_page.opened.settle()

    page.keyboard.press("Escape")
    page.mouse.move(*map_page.pixel((-0.03, 0.0)))
    page.keyboard.down("Shift")
    page.mouse.down()
    for corner in ((0.5, 0.0), (0.5, 1.0), (-0.03, 1.0)):
        page.mouse.move(*map_page.pixel(corner), steps=4)
    page.mouse.up()
    page.keyboard.up("Shift")
    inside = int((map_page.values("position")[:, 0] < 0.5).sum())
    title = map_page.selection.get_by_role("heading", name="are selected")
    wait_for(lambda: abs(int(title.inner_text().split()[0]) - inside) <= 4)


@pytest.mark.slow
def test_the_map_stays_where_it_is_after_a_label(map_page: Map) -> None:
    page = map_page.page
    map_page.canvas.focus()
    for key in ("+", "+", "ArrowLeft", "ArrowUp"):
        page.keyboard.press(key)
    page.mouse.move(*map_page.pixel((0.5, 0.5)))
    page.mouse.wheel(0, -300)
    before = map_page.labels()
    place = some_sample(map_page)
    page.mouse.click(*place)
    chosen = map_page.selection.get_by_role("link", name="Explain row").inner_text()
    page.keyboard.press("1")
    told(page, "labelled “setosa”.")
    map_page.selection.get_by_role("button", name="Clear").click()
    page.mouse.click(*place)
    map_page.selection.get_by_role("link", name=chosen).wait_for()
    page.keyboard.press("u")
    wait_for(lambda: bool((map_page.labels() == before).all()))


def test_the_table_does_the_same_with_the_keyboard_alone(opened: Opened, map_page: Map) -> None:
    page = map_page.page
    tab = page.get_by_role("tab", name="Map", exact=True)
    tab.focus()
    page.keyboard.press("ArrowRight")
    table = page.get_by_role("table").filter(has=page.get_by_role("columnheader", name="Novelty"))
    table.wait_for()
    assert len(lines(table)) == 50

    table.get_by_role("button", name="petal_length").focus()
    page.keyboard.press("Enter")
    page.keyboard.press("Enter")
    table.get_by_role("columnheader", name="petal_length").and_(page.locator("[aria-sort=descending]")).wait_for()
    lengths = flowers()["petal_length"].sort_values(ascending=False)
    column = table.get_by_role("columnheader").all_inner_texts()
    at = next(place for place, text in enumerate(column) if text.startswith("petal_length"))
    wait_for(lambda: [float(line[at]) for line in lines(table)] == lengths.iloc[:50].tolist())
    page.get_by_role("button", name="Next").focus()
    page.keyboard.press("Enter")
    page.get_by_text("51 to 100 of 150").wait_for()
    wait_for(lambda: [float(line[at]) for line in lines(table)] == lengths.iloc[50:100].tolist())

    first = int(lines(table)[0][1])
    boxes = table.get_by_role("checkbox")
    boxes.nth(1).focus()
    page.keyboard.press("Space")
    map_page.selection.get_by_role("heading", name="1 sample is selected").wait_for()
    page.keyboard.press("Shift+ArrowDown")
    page.keyboard.press("Shift+ArrowDown")
    map_page.selection.get_by_role("heading", name="3 samples are selected").wait_for()
    rows = [int(line[1]) for line in lines(table)[:3]]
    assert rows[0] == first
    before = map_page.labels()
    page.keyboard.press("1")
    told(page, "3 samples were labelled “setosa”.")
    assert set(map_page.labels()[rows]) == {0}
    page.keyboard.press("u")
    wait_for(lambda: bool((map_page.labels() == before).all()))
    opened.settle()

    page.get_by_text("Filters", exact=True).focus()
    page.keyboard.press("Enter")
    page.get_by_role("group", name="Predicted").get_by_role("checkbox", name="setosa").focus()
    page.keyboard.press("Space")
    wanted = {"predicted": ["setosa"], "sort": "petal_length", "descending": True}
    found = opened.http.post("/v1/models/flowers/search", json=wanted).json()
    total = found["total"]
    page.get_by_text(f"{total} samples match").wait_for()
    wait_for(lambda: [int(line[1]) for line in lines(table)] == [one["row"] for one in found["rows"]][:50])
    page.keyboard.press("a")
    map_page.selection.get_by_role("heading", name=f"{total} samples are selected").wait_for()
    boxes.nth(1).focus()
    page.keyboard.press("Enter")
    page.get_by_role("heading", name=f"Row {found['rows'][0]['row']}").wait_for()


def some_sample(map_page: Map) -> tuple[float, float]:
    """Return where a sample is in the part that is seen, found by its hint."""
    box = map_page.canvas.bounding_box()
    for x in np.linspace(0.2, 0.8, 9):
        for y in np.linspace(0.2, 0.8, 9):
            place = (box["x"] + float(x) * box["width"], box["y"] + float(y) * box["height"])
            map_page.page.mouse.move(*place)
            if map_page.page.locator(".map-hint").count():
                return place
    raise AssertionError("no sample is seen")


def test_how_the_map_is_set_outlives_a_reload(map_page: Map) -> None:
    page = map_page.page
    map_page.choose("Across", "petal_length")
    map_page.choose("Colour", "label")
    page.get_by_label("Outlines of boxes").uncheck()
    page.locator("summary", has_text="Filters").click()
    page.get_by_role("group", name="Predicted").get_by_label("setosa").check()
    page.reload()
    across = page.get_by_role("combobox", name="Across")
    across.wait_for()
    assert across.input_value() == "petal_length"
    assert page.get_by_role("combobox", name="Colour").input_value() == "label"
    assert not page.get_by_label("Outlines of boxes").is_checked()
    assert page.get_by_role("group", name="Predicted").get_by_label("setosa").is_checked()

    gone = {
        "settings": {"x": "gone", "y": "petal_length", "colour": "gone"},
        "filter": {"predicted": ["gone"], "label": 1},
    }
    for content in (json.dumps(gone), "[1", "null"):
        page.evaluate("content => localStorage.setItem('sslart.map.flowers', content)", content)
        page.reload()
        across.wait_for()
        assert across.input_value() == ""
        assert page.get_by_role("combobox", name="Colour").input_value() == "class"
        assert page.get_by_text("Some samples are hidden").count() == 0
        map_page.wait_until_drawn()
