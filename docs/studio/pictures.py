"""Take the pictures of the studio that the documentation shows: run by `make studio-pictures`.

The studio is started as users start it, the example "tumours" is chosen on its page, and twelve questions are answered
as the column of answers says. Then every view is photographed.
"""

from __future__ import annotations

import io
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pandas as pd
from PIL import Image
from playwright.sync_api import Page, sync_playwright

from sslart.server.studies._examples import ANSWER, EXAMPLES, LABEL, LABELS_PER_CLASS, example_frame

PICTURES = Path(__file__).parents[1] / "images" / "studio"
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
SIZE = {"width": 1280, "height": 800}
EXAMPLE = EXAMPLES["tumours"]
MODEL = EXAMPLE.name
CLASSES = ("benign", "malignant")
ANSWERS = 12
LABELS_FOR_TRUST = 80
PERSON = "Anna"
SAMPLE = 60
SECONDS = 60.0
LASSO = ((0.52, 0.3), (0.7, 0.05), (0.9, 0.3), (0.98, 0.95), (0.7, 0.95), (0.52, 0.85), (0.52, 0.3))

SEND_LABELS = """async ({ model, labels }) => {
  const token = localStorage.getItem("sslart.token");
  const headers = { "content-type": "application/json", authorization: `Bearer ${token}` };
  const send = (path, body) => fetch(
    `/v1/models/${model}/${path}?wait=60`, { method: "POST", headers, body: JSON.stringify(body) });
  await send("labels", { labels });
  await send("refit", {});
}"""


def main() -> None:
    """Take all pictures."""
    browser_path = next((found for name in BROWSERS if (found := shutil.which(name))), None)
    if browser_path is None:
        raise SystemExit("No Chromium was found: install one, on Debian with apt-get install chromium.")
    PICTURES.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, studio(Path(folder)) as address, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=browser_path, args=["--no-sandbox", "--disable-gpu"])
        page = browser.new_page(viewport=SIZE, color_scheme="light", reduced_motion="reduce", locale="en-GB")
        page.set_default_timeout(1000 * SECONDS)
        page.goto(address)
        begin(page)
        label(page)
        show_map(page)
        understand(page)
        trust(page)
        watch(page)
        take_away(page)
        browser.close()


@contextmanager
def studio(folder: Path) -> Iterator[str]:
    """Run the studio in a process of its own; yield the address that it prints."""
    command = [sys.executable, "-m", "sslart", "studio", "--folder", str(folder), "--no-browser", "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield next(found[0] for line in process.stdout if (found := re.search(r"http://\S+", line)))
        finally:
            process.terminate()


def begin(page: Page) -> None:
    """Choose the example, and show the view Table."""
    page.get_by_role("button", name=EXAMPLE.title).click()
    page.wait_for_url(f"**/{MODEL}/*")
    open_view(page, "table")
    page.get_by_role("button", name="Cancel the fit").wait_for(state="detached")
    page.get_by_role("button", name="You are").click()
    page.get_by_role("textbox", name="Name", exact=True).fill(PERSON)
    page.keyboard.press("Enter")
    page.get_by_role("dialog").wait_for(state="detached")
    page.locator("main h1").click()  # so that no button has the focus
    shown(page)
    take(page, "table")


def label(page: Page) -> None:
    """Answer questions in the view Label."""
    answers = example_frame(EXAMPLE)[ANSWER].tolist()
    open_view(page, "label")
    for _ in range(ANSWERS):
        row = asked_row(page)
        page.keyboard.press(str(CLASSES.index(answers[row]) + 1))
        wait_until(lambda asked=row: asked_row(page) != asked)
    given = len(CLASSES) * LABELS_PER_CLASS + ANSWERS
    page.get_by_text(f"{given} labels by class").wait_for()
    shown(page)
    take(page, "label")


def show_map(page: Page) -> None:
    """Select samples with the lasso in the view Map."""
    open_view(page, "map")
    page.wait_for_timeout(1000)
    frame = page.locator("canvas").bounding_box()
    assert frame is not None
    places = [(frame["x"] + x * frame["width"], frame["y"] + y * frame["height"]) for x, y in LASSO]
    page.keyboard.down("Shift")
    page.mouse.move(*places[0])
    page.mouse.down()
    for place in places[1:]:
        page.mouse.move(*place, steps=8)
    page.mouse.up()
    page.keyboard.up("Shift")
    page.wait_for_timeout(1000)
    shown(page)
    take(page, "map")
    take(page, "studio")


def understand(page: Page) -> None:
    """Show the three parts of the view Understand."""
    for name, path in (("features", ""), ("rules", "/rules"), ("sample", f"/sample/{SAMPLE}")):
        open_view(page, f"understand{path}")
        page.wait_for_timeout(500)
        shown(page)
        take(page, "understand" if name == "features" else f"understand_{name}")


def trust(page: Page) -> None:
    """Label rows in their order, which is random, and show the view Trust."""
    answers = example_frame(EXAMPLE)[ANSWER].tolist()[:LABELS_FOR_TRUST]
    labels = [{"row": row, "label": answer} for row, answer in enumerate(answers)]
    page.evaluate(SEND_LABELS, {"model": MODEL, "labels": labels})
    open_view(page, "trust")
    take(page, "trust")


def watch(page: Page) -> None:
    """Send a file in the view Watch."""
    open_view(page, "watch")
    page.locator("input[type=file]").set_input_files(
        {"name": "new_tumours.csv", "mimeType": "text/csv", "buffer": changed_rows().to_csv(index=False).encode()}
    )
    page.get_by_text("new_tumours.csv: rows").wait_for()
    shown(page)
    page.evaluate("scrollTo(0, 0)")
    take(page, "watch")


def changed_rows() -> pd.DataFrame:
    """Return rows of the example with one feature that has changed and four samples unlike all others."""
    frame = example_frame(EXAMPLE).iloc[::5].drop(columns=[ANSWER, LABEL])
    frame["mean texture"] *= 1.3
    frame.loc[frame.index[:4], ["mean smoothness", "worst smoothness", "fractal dimension error"]] *= 3
    return frame


def take_away(page: Page) -> None:
    """Show the view Take away."""
    open_view(page, "take_away")
    take(page, "take_away")


def open_view(page: Page, view: str) -> None:
    """Go to a view, and wait until it has loaded what it shows."""
    page.evaluate("where => { location.hash = where }", f"#/{MODEL}/{view}")
    page.wait_for_timeout(300)
    shown(page)


def shown(page: Page) -> None:
    """Wait until a view has loaded what it shows."""
    page.locator("main h1").wait_for()
    wait_until(lambda: page.locator(".loading:visible, [aria-busy=true]:visible").count() == 0)
    page.get_by_text("Fitting…").wait_for(state="detached")


def asked_row(page: Page) -> int:
    """Return the row that the question is about."""
    found = re.search(r"Row (\d+)", page.locator(".question-head p").first.inner_text())
    assert found
    return int(found[1])


def wait_until(condition: Callable[[], Any]) -> None:
    """Wait until something holds."""
    end = time.monotonic() + SECONDS
    while not condition():
        if time.monotonic() > end:
            raise TimeoutError("The studio did not come to show what the picture needs.")
        time.sleep(0.05)


def take(page: Page, name: str) -> None:
    """Write what the window shows."""
    page.mouse.move(SIZE["width"] / 2, 2)
    path = PICTURES / f"{name}.png"
    Image.open(io.BytesIO(page.screenshot())).convert("RGB").save(path, optimize=True)
    print(f"{path.name}: {path.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main()
