"""Measure the map of the studio in Chromium: time to the first image, and between frames of a scripted pan and zoom.

Run in `benchmarks`: `python -m studio.frames`. It needs playwright and a Chromium; without a GPU everything is drawn by
the processor.
"""

from __future__ import annotations

import argparse
import functools
import shutil
import statistics
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from importlib.resources import files
from pathlib import Path
from typing import Any

from playwright.sync_api import Page, sync_playwright

from machine import description
from sslart._utils.text import markdown_table

HERE = Path(__file__).parent
STATIC = Path(str(files("sslart.studio"))) / "static"


class _Handler(SimpleHTTPRequestHandler):
    """Files of this folder at /bench/, those of the studio at /."""

    def translate_path(self, path: str) -> str:
        name = path.split("?")[0].lstrip("/")
        return str(HERE / name.removeprefix("bench/") if name.startswith("bench/") else STATIC / name)

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing."""


@contextmanager
def served() -> Iterator[str]:
    """Serve the page on this machine; yields its address."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(_Handler, directory=str(HERE)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/bench/frames.html"
    finally:
        server.shutdown()
        server.server_close()


def measured(page: Page, address: str, options: argparse.Namespace) -> dict[str, Any]:
    """Return the measurements of the page, once."""
    page.goto(address)
    page.wait_for_function("() => window.measure !== undefined")
    found: dict[str, Any] = page.evaluate(
        "([n, seconds, boxes, labels]) => measure(n, seconds, boxes, labels)",
        [options.points, options.seconds, options.boxes, options.labels],
    )
    return found


def summary(found: list[dict[str, Any]], width: int, height: int) -> list[str]:
    """Return a line of the table: medians over the repetitions, frames of all of them together."""
    line = [f"{width} × {height}", f"{statistics.median(one['firstPaint'] for one in found):.0f} ms"]
    for name in ("pan", "zoom"):
        frames = sorted(interval for one in found for interval in one[name])
        line += [f"{statistics.median(frames):.1f} ms", f"{frames[int(0.95 * len(frames))]:.1f} ms"]
    return [*line, *(f"{statistics.median(one[name] for one in found):.0f} ms" for name in ("recolour", "lasso"))]


NAMES = ("first image", "pan: median", "pan: 95 %", "zoom: median", "zoom: 95 %", "new colours", "lasso")
SIZES = ("1280x720", "2560x1300")


def table(
    chromium: str | None,
    points: int,
    boxes: int,
    labels: int,
    seconds: float = 4.0,
    rounds: int = 3,
    sizes: Sequence[str] = SIZES,
) -> str:
    """Measure, and return a table with a line for each size of the canvas."""
    options = argparse.Namespace(points=points, boxes=boxes, labels=labels, seconds=seconds)
    lines = []
    with served() as address, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        for size in sizes:
            width, height = map(int, size.split("x"))
            page = browser.new_page(viewport={"width": width, "height": height})
            lines.append(summary([measured(page, address, options) for _ in range(rounds)], width, height))
            page.close()
        browser.close()
    return markdown_table(["canvas", *NAMES], lines)


def main() -> None:
    """Measure and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--points", type=int, default=1_000_000)
    parser.add_argument("--boxes", type=int, default=2000)
    parser.add_argument("--labels", type=int, default=2000)
    parser.add_argument("--seconds", type=float, default=4.0, help="of pan, and of zoom")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--sizes", nargs="*", default=list(SIZES), help="of the canvas")
    parser.add_argument("--chromium", default=shutil.which("chromium"), help="its executable")
    print(f"{description('playwright')}.\n")
    print(table(**vars(parser.parse_args())))


if __name__ == "__main__":
    main()
