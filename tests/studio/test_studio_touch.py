"""The studio with fingers: a tap selects on the map, one finger moves it, two zoom it, and a tap answers."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
import pytest
from acting import shown, told
from opened import Opened

PHONE: dict[str, Any] = {"width": 390, "height": 844, "has_touch": True, "is_mobile": True, "reduced_motion": "reduce"}
MARGIN = 20  # of a narrow map
FINGER = 44  # pixels
STEPS = 6
SMALL = """least => [...document.querySelectorAll("button, select, summary, nav a")]
  .map((one) => [one.outerHTML.slice(0, 80), one.getBoundingClientRect()])
  .filter(([, box]) => box.width > 0 && Math.min(box.width, box.height) < least).map(([text]) => text)"""


class Hand:
    """Fingers on a page."""

    def __init__(self, page: Any) -> None:
        self._session = page.context.new_cdp_session(page)

    def _send(self, kind: str, *places: Any) -> None:
        points = [{"x": float(x), "y": float(y), "id": number} for number, (x, y) in enumerate(places)]
        self._session.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})

    def move(self, *ways: tuple[Any, Any]) -> None:
        """Move a finger along each way, from its first place to its second, all at once."""
        self._send("touchStart", *(start for start, _ in ways))
        for step in range(1, STEPS + 1):
            self._send("touchMove", *(start + (end - start) * step / STEPS for start, end in ways))
        self._send("touchEnd")

    def tap(self, place: Any) -> None:
        """Tap as people do: the finger moves a little."""
        self.move((place, place + 2))


@pytest.mark.slow
def test_fingers_move_zoom_and_select_on_the_map(opened: Opened) -> None:
    page = opened.page("flowers/map", **PHONE)
    shown(page)
    selection = page.get_by_role("complementary", name="Selection")
    page.get_by_role("region", name="What the colours mean").get_by_text("setosa").wait_for()
    page.locator("canvas").evaluate("canvas => scrollBy(0, canvas.getBoundingClientRect().top - 60)")
    box = page.locator("canvas").bounding_box()
    corner, size = np.array([box["x"], box["y"]]), np.array([box["width"], box["height"]])
    positions = np.load(io.BytesIO(opened.http.get("/v1/models/flowers/values/position").content))
    places = corner + MARGIN + (positions * [1, -1] + [0, 1]) * (size - 2 * MARGIN)
    middle = corner + size / 2
    row = int(np.linalg.norm(places - middle, axis=1).argmin())
    hand = Hand(page)

    def tapped(place: Any) -> None:
        hand.tap(place)
        selection.get_by_role("link", name=f"Explain row {row}", exact=True).wait_for()
        selection.get_by_role("button", name="Clear").tap()

    tapped(places[row])
    by = np.array([40.0, -30.0])
    hand.move((middle, middle + by))
    tapped(places[row] + by)
    aside = np.array([40.0, 0.0])
    hand.move((middle - aside, middle - 2 * aside), (middle + aside, middle + 2 * aside))
    tapped(middle + 2 * (places[row] + by - middle))
    page.close()


def test_a_tap_answers_and_everything_is_large_enough(opened: Opened) -> None:
    page = opened.page("flowers/label", **PHONE)
    shown(page)
    answers = page.get_by_role("group", name="Your answer")
    answers.get_by_role("button").first.tap()
    told(page, "Your answer for")
    page.get_by_role("button", name="Undo").first.tap()
    told(page, "was undone.")
    for view in ("table", "map", "label", "understand/rules", "understand/sample/3", "trust", "watch", "take_away"):
        page.goto(f"{opened.url}/studio/#/flowers/{view}")
        shown(page)
        assert page.evaluate(SMALL, FINGER - 1) == []
        assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
    page.close()
