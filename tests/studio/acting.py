"""Actions of people on a page of the studio, and the content they see."""

from __future__ import annotations

import base64
from typing import Any

from opened import wait_for

DROP = """(place, { name, content }) => {
  const bytes = Uint8Array.from(atob(content), (one) => one.charCodeAt(0));
  const dataTransfer = new DataTransfer();
  dataTransfer.items.add(new File([bytes], name));
  for (const kind of ["dragenter", "dragover", "drop"]) {
    place.dispatchEvent(new DragEvent(kind, { bubbles: true, cancelable: true, dataTransfer }));
  }
}"""


def shown(page: Any) -> None:
    """Wait until a view has loaded what it shows."""
    page.locator("main h1").wait_for()
    wait_for(lambda: page.locator("main .loading:visible, main [aria-busy=true]:visible").count() == 0)


def drop(place: Any, name: str, content: bytes) -> None:
    """Drop a file on a place of a page."""
    place.evaluate(DROP, {"name": name, "content": base64.b64encode(content).decode()})


def card(page: Any, heading: str) -> Any:
    """Return the part of a page below a heading."""
    return page.locator("section, aside").filter(has=page.get_by_role("heading", name=heading, exact=True)).last


def told(page: Any, text: str) -> None:
    """Wait until a message of the page has a text."""
    page.get_by_text(text).first.wait_for()


def lines(table: Any) -> list[list[str]]:
    """Return the texts of the body of a table."""
    found: list[list[str]] = table.locator("tbody").evaluate(
        "body => [...body.rows].map((row) => [...row.cells].map((one) => one.innerText.trim()))"
    )
    return found
