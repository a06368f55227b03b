"""Every view in a browser: at three widths, in both colour schemes, by axe-core, by keyboard, with hostile contents."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
import pytest
from axe_playwright_python.sync_playwright import Axe
from opened import Opened, studio, wait_for
from service import fit_flowers, flowers, rows_of

VIEWS = ("table", "map", "label", "understand", "trust", "watch", "take_away")
HOSTILE = "<img src=x onerror=alert(1)><script>alert(2)</script>\"'&{{7*7}}"
PRESSED_TWICE = """key => {
  for (let n = 0; n < 2; n += 1) document.dispatchEvent(new KeyboardEvent("keydown", { key }));
}"""
NOTHING_MOVES = "document.documentElement.scrollWidth <= document.documentElement.clientWidth"


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory, browser: Any) -> Iterator[Opened]:
    """Return a studio with the iris data, some of it sent as a stream, and two people who disagree."""
    with studio(tmp_path_factory.mktemp("studio"), browser) as found:
        fit_flowers(found.http)
        rows = rows_of(flowers())
        found.http.post("/v1/models/flowers/decide", json={"rows": [dict.fromkeys(rows[0], 400.0), *rows[:5]]})
        for name, label in (("Anna", "setosa"), ("Ben", "virginica")):
            body = {"labels": [{"row": 1, "label": label}], "by": name}
            found.http.post("/v1/models/flowers/labels", params={"wait": 30}, json=body)
        yield found


def shown(page: Any, address: str) -> None:
    """Wait until a view, and not the one before it, has loaded what it shows."""
    view, *part = address.split("/")
    page.locator(f"main .view-{view.replace('_', '-')} h1").wait_for()
    if part:
        page.locator(f"#tab-{part[0]}[aria-selected=true]").wait_for()
    wait_for(lambda: page.locator("main .loading:visible, main [aria-busy=true]:visible").count() == 0)
    assert page.url.endswith(f"/{address}")


def serious(page: Any, *rules: str) -> list[str]:
    """Return the serious and critical findings of axe-core, by all its rules or by some."""
    options = {"runOnly": {"type": "rule", "values": rules}} if rules else None
    found = Axe().run(page, options=options).response["violations"]
    return [
        f"{one['id']}: {json.dumps([node['html'][:120] for node in one['nodes'][:3]])}"
        for one in found
        if one["impact"] in ("serious", "critical")
    ]


@pytest.mark.parametrize("view", VIEWS)
def test_a_view_can_be_used_at_every_width_and_in_both_colour_schemes(opened: Opened, view: str) -> None:
    page = opened.page(f"flowers/{view}")
    shown(page, view)
    assert serious(page) == []
    page.emulate_media(color_scheme="dark")
    assert serious(page, "color-contrast") == []  # no other rule is about colours
    for width in (360, 2560):
        page.set_viewport_size({"width": width, "height": 900})
        wait_for(lambda: page.evaluate(NOTHING_MOVES))
        assert page.locator("main h1").is_visible()
    page.close()


@pytest.mark.slow
@pytest.mark.parametrize("view", ["understand/rules", "understand/sample/60"])
def test_the_parts_of_understand_have_no_serious_finding(opened: Opened, view: str) -> None:
    page = opened.page(f"flowers/{view}", width=360)
    shown(page, view)
    assert serious(page) == []
    assert page.evaluate(NOTHING_MOVES)
    page.close()


def test_all_views_are_reached_by_keyboard(opened: Opened) -> None:
    page = opened.page("flowers/table")
    shown(page, "table")
    for view in (*VIEWS[1:], VIEWS[0]):
        page.keyboard.press("g")
        shown(page, view)
    page.evaluate(PRESSED_TWICE, "g")
    shown(page, VIEWS[2])
    page.keyboard.press("?")
    dialog = page.get_by_role("dialog")
    dialog.get_by_text("Undo the last label").wait_for()
    page.keyboard.press("Escape")
    dialog.wait_for(state="detached")
    page.close()


@pytest.mark.slow
def test_the_theme_is_kept(opened: Opened) -> None:
    page = opened.page("flowers/table")
    shown(page, "table")
    page.get_by_role("button", name="Switch to dark colours").click()
    dark = page.evaluate("getComputedStyle(document.documentElement).backgroundColor")
    page.reload()
    shown(page, "table")
    assert page.evaluate("getComputedStyle(document.documentElement).backgroundColor") == dark
    page.get_by_role("button", name="Switch to light colours").click()
    assert page.evaluate("getComputedStyle(document.documentElement).backgroundColor") != dark
    page.close()


def test_hostile_contents_are_shown_as_they_are(opened: Opened) -> None:
    random = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            HOSTILE: random.normal(size=60),
            "kind": np.where(random.random(60) < 0.5, HOSTILE, "plain"),
            "size": random.normal(size=60),
        }
    )
    frame["class"] = [HOSTILE if one > 0 else "__proto__" for one in frame[HOSTILE]]
    answer = opened.http.put(
        "/v1/models/hostile", params={"label": "class", "wait": 60}, content=frame.to_csv(index=False).encode()
    )
    assert answer.json()["state"] == "done"
    opened.http.post("/v1/models/hostile/decide", json={"rows": [{HOSTILE: 400.0, "kind": HOSTILE, "size": 1.0}]})
    page = opened.page("hostile/table")
    for view in (*VIEWS, "understand/rules", "understand/sample/0"):
        page.goto(f"{opened.url}/studio/#/hostile/{view}")
        shown(page, view)
        assert page.locator("img[src=x], main script").count() == 0
        if view != "take_away":
            wait_for(lambda: "onerror=alert(1)" in page.locator("main").inner_text())
    page.close()


def test_without_access_the_page_names_the_cure(opened: Opened, browser: Any) -> None:
    context = browser.new_context()
    page = context.new_page()
    page.goto(f"{opened.url}/studio/#code=wrong")
    page.get_by_role("heading", name="This page is not signed in to the service").wait_for()
    assert "sslart studio" in page.locator("main").inner_text()
    assert "code" not in page.url
    context.close()


@pytest.mark.slow
def test_a_model_that_there_is_not_is_no_dead_end(opened: Opened) -> None:
    page = opened.page("nothing/label")
    page.get_by_role("heading", name="No model selected").wait_for()
    page.get_by_role("link", name="Choose a table").click()
    page.get_by_role("heading", name="Start with a table").wait_for()
    page.close()
