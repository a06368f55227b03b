"""Measure the studio as users run it: a process with its page, Chromium, and large tables.

Run in `benchmarks`: `python -m studio.live`. Times are taken from outside: from a click or key to what is to be seen.
"""

from __future__ import annotations

import argparse
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pandas as pd
from playwright.sync_api import Page, sync_playwright
from sklearn.datasets import make_classification

from sslart._utils.text import markdown_table

N_FEATURES = 20
N_LABELS = 30
SECONDS_OF_MOVING = 4.0
HAS_POINTS = """() => {
  const canvas = document.querySelector("canvas.map-canvas");
  if (!canvas || !canvas.width) return false;
  const small = new OffscreenCanvas(64, 64).getContext("2d");
  small.drawImage(canvas, 0, 0, 64, 64);
  const pixels = new Uint32Array(small.getImageData(0, 0, 64, 64).data.buffer);
  return new Set(pixels).size > 2;
}"""
RECORD = """() => {
  window.frames_ = [];
  let last = 0;
  const step = (now) => {
    if (last) window.frames_.push(now - last);
    last = now;
    window.frame_ = requestAnimationFrame(step);
  };
  window.frame_ = requestAnimationFrame(step);
}"""
RECORDED = "() => { cancelAnimationFrame(window.frame_); return window.frames_; }"


@dataclass(frozen=True)
class Running:
    """A studio that runs."""

    url: str
    token: str
    http: httpx.Client

    def page(self, browser: Any, path: str) -> Page:
        """Return a page with a token, not yet at its address."""
        context = browser.new_context(viewport={"width": 1280, "height": 900})
        context.add_init_script(f"localStorage.setItem('sslart.token', {self.token!r})")
        found: Page = context.new_page()
        found.goto(f"{self.url}/studio/#/{path}", wait_until="commit")
        return found


@contextmanager
def running(folder: Path) -> Iterator[Running]:
    """Run the studio in a process of its own."""
    command = [sys.executable, "-m", "sslart", "studio", "--folder", str(folder), "--no-browser", "--port", "0"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    assert process.stdout is not None
    told = ""
    while "Ctrl+C" not in told:
        told += process.stdout.readline()
    found = re.search(r"(http://\S+?)/studio/#code=([\w-]+)", told)
    assert found
    token = httpx.post(f"{found[1]}/studio/session", json={"code": found[2]}).json()["token"]
    headers = {"authorization": f"Bearer {token}"}
    try:
        with httpx.Client(base_url=found[1], timeout=900, headers=headers) as http:
            yield Running(found[1], token, http)
    finally:
        process.terminate()
        process.communicate()


def table(n: int) -> tuple[pd.DataFrame, list[str]]:
    """Return a table of three classes with few labels, and all answers."""
    X, y = make_classification(
        n, N_FEATURES, n_informative=10, n_classes=3, n_clusters_per_class=3, class_sep=1.5, random_state=0
    )
    answers = [f"class {one}" for one in y]
    frame = pd.DataFrame(X.round(4), columns=[f"f{number}" for number in range(N_FEATURES)])
    frame["label"] = [answers[row] if row % (n // N_LABELS) == 0 else None for row in range(n)]
    return frame, answers


def learn(studio: Running, name: str, frame: pd.DataFrame) -> float:
    """Let the studio learn a table; return the seconds it took."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "table.parquet"
        frame.to_parquet(path)
        start = time.perf_counter()
        job = studio.http.put(
            f"/v1/models/{name}", params={"label": "label", "wait": 600}, content=path.read_bytes()
        ).json()
    assert job["state"] == "done", job
    return time.perf_counter() - start


def seconds_until(condition: Callable[[], bool], start: float, most: float = 120.0) -> float:
    """Return the seconds after a start until something holds."""
    while not condition():
        if time.perf_counter() - start > most:
            raise TimeoutError
    return time.perf_counter() - start


def moved(page: Page) -> list[float]:
    """Return the times between frames while the map is dragged and zoomed with the mouse, in milliseconds."""
    box = page.locator("canvas.map-canvas").bounding_box()
    assert box is not None
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.move(x, y)
    page.evaluate(RECORD)
    end, step = time.perf_counter() + SECONDS_OF_MOVING, 0
    page.mouse.down()
    while time.perf_counter() < end:
        step += 1
        page.mouse.move(x + 200 * np.sin(step / 9), y + 150 * np.cos(step / 7))
        page.wait_for_timeout(8)
    page.mouse.up()
    end = time.perf_counter() + SECONDS_OF_MOVING
    while time.perf_counter() < end:
        step += 1
        page.mouse.wheel(0, -60 if (step // 40) % 2 else 60)
        page.wait_for_timeout(16)
    found: list[float] = page.evaluate(RECORDED)
    return found


def map_of(browser: Any, n: int) -> list[str]:
    """Return a line about the map of a table with so many rows."""
    with tempfile.TemporaryDirectory() as folder, running(Path(folder)) as studio:
        seconds = learn(studio, "large", table(n)[0])
        start = time.perf_counter()
        page = studio.page(browser, "large/map")
        first = seconds_until(lambda: bool(page.evaluate(HAS_POINTS)), start)
        page.locator(".map-loading").wait_for(state="detached", timeout=120_000)
        frames = sorted(moved(page))
        page.context.close()
    slow = sum(one > 50 for one in frames) / len(frames)
    return [
        f"{n:,}",
        f"{seconds:.1f} s",
        f"{first:.2f} s",
        f"{statistics.median(frames):.1f} ms",
        f"{frames[int(0.95 * len(frames))]:.1f} ms",
        f"{slow:.1%}",
    ]


MAP_HEAD = ("rows", "upload and fit", "first image of the map", "frames: median", "frames: 95 %", "frames over 50 ms")


def answers_of(browser: Any, n: int, n_answers: int) -> list[str]:
    """Return a line about answers in the view Label, with so many rows."""
    frame, _ = table(n)
    next_question, kept, quality = list[float](), list[float](), list[float]()
    with tempfile.TemporaryDirectory() as folder, running(Path(folder)) as studio:
        learn(studio, "large", frame)
        page = studio.page(browser, "large/label")
        page.locator("#question-title").wait_for(timeout=120_000)
        shown = page.locator(".question-head p").first
        counted = page.locator(".by-class summary")
        counted.wait_for(timeout=120_000)
        for number in range(n_answers):
            page.wait_for_timeout(3000)  # a person reads
            before, labels = shown.inner_text(), counted.inner_text()
            entries = len(_history(studio))
            start = time.perf_counter()
            page.keyboard.press(str(1 + number % 3))
            next_question.append(seconds_until(lambda: shown.inner_text() != before, start))
            kept.append(seconds_until(lambda: len(_history(studio)) > entries, start))
            quality.append(seconds_until(lambda: counted.inner_text() != labels, start))
        page.context.close()
    ends = [
        f"{1000 * statistics.median(one):.0f} ms, {1000 * max(one):.0f} ms" for one in (next_question, kept, quality)
    ]
    return [f"{n:,}", str(n_answers), *ends]


ANSWER_HEAD = (
    "rows",
    "answers",
    "the next question is shown: median, longest",
    "the answer is on the disk",
    "the accuracy with it is shown",
)


def _history(studio: Running) -> list[Any]:
    found: list[Any] = studio.http.get("/v1/models/large/labels", params={"most": 10_000}).json()["labels"]
    return found


def measured(maps: list[int], labelled: list[int], n_answers: int, chromium: str | None) -> tuple[str, str, str]:
    """Return the version of the browser, and both tables."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        drawn = markdown_table(MAP_HEAD, [map_of(browser, n) for n in maps])
        answered = markdown_table(ANSWER_HEAD, [answers_of(browser, n, n_answers) for n in labelled])
        version = str(browser.version)
        browser.close()
    return version, drawn, answered


def main() -> None:
    """Measure and print tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--maps", type=int, nargs="*", default=[100_000, 1_000_000], help="rows of tables to draw")
    parser.add_argument("--labelled", type=int, nargs="*", default=[2_000, 100_000], help="rows of tables to label")
    parser.add_argument("--answers", type=int, default=10)
    parser.add_argument("--chromium", default=shutil.which("chromium"), help="its executable")
    options = parser.parse_args()
    print("\n\n".join(measured(options.maps, options.labelled, options.answers, options.chromium)))


if __name__ == "__main__":
    main()
