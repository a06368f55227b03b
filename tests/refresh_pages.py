"""`make refresh-pages`: run the examples of pages and write what they print, and the pictures they draw, into them.

The pages to refresh are given as arguments; without any, it is all pages that show what an example prints. A picture
`NAME.png` that an example saves, or the top of a page `NAME.html` in Chromium, is the file `images/PAGE_NAME.png` of
the page. Of an output that is shown with lines `...`, as many lines as before are shown. What does not work out, such
as an example that fails, is named at the end, and the exit code is then 1.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import shutil
import sys
import tempfile
import warnings
from itertools import pairwise
from pathlib import Path
from typing import Any

from pages import agrees, examples_of, printed_by

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
# pages whose blocks of text are what scripts print, one after the other
PRINTED_BY_SCRIPTS = {DOCS / "explanations.md": ("explanations.py", "evidence.py")}
PICTURE = re.compile(r"\]\((images/[\w.]+\.png)\)")


def refresh(page: Path) -> list[str]:
    """Write what the examples of a page print and draw into it; return what is left to do by hand."""
    text, by_hand, namespace = page.read_text(encoding="utf-8"), [], dict[str, Any]()
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        for example in examples_of(text):
            where = f"{page.name}, line {example.line}"
            try:
                printed = printed_by(example, namespace, page.name)
            except Exception as error:
                by_hand.append(f"{where}: {type(error).__name__}: {error}")
                break
            if not example.shown or agrees(example.shown, printed):
                continue
            new = shortened(printed, example.shown)
            if not agrees(new, printed) or any("..." in line and line != "..." for line in example.shown.splitlines()):
                by_hand.append(f"{where} prints:\n{printed}")
                continue
            text = replaced(text, example.code, example.shown, new)
            print(f"{where}: replaced")
        copy_pictures(page, text, Path(folder))
    page.write_text(text, encoding="utf-8")
    return by_hand


def shortened(printed: str, shown: str) -> str:
    """Return the printed lines with `...` where the page has them, with as many lines in between as before.

    Lines between two `...` begin at the first that begins with the same word.
    """
    lines, parts = printed.strip("\n").splitlines(), shown.rstrip("\n").split("\n")
    cuts = [place for place, line in enumerate(parts) if line == "..."]
    if not cuts:
        return printed
    new = lines[: cuts[0]]
    for start, stop in pairwise([*cuts, len(parts)]):
        part, n_lines = parts[start + 1 : stop], stop - start - 1
        same = (n for n, line in enumerate(lines) if part and line.split()[:1] == part[0].split()[:1])
        first = len(lines) - n_lines if stop == len(parts) else next(same, 0)
        new += ["...", *lines[first : first + n_lines]]
    return "\n".join(new) + "\n"


def replaced(text: str, after: str, shown: str, printed: str) -> str:
    """Return a page with another block of text in the place of the first that shows something after some other text."""
    start = text.index(after)
    new = "".join(f"{line.rstrip()}\n" for line in printed.strip("\n").splitlines())
    return text[:start] + text[start:].replace(f"```text\n{shown}```", f"```text\n{new}```", 1)


def copy_pictures(page: Path, text: str, folder: Path) -> None:
    """Copy the pictures that examples have saved to where the page shows them."""
    for name in PICTURE.findall(text):
        drawn = folder / Path(name).name.removeprefix(f"{page.stem}_")
        if drawn.with_suffix(".html").exists():
            photograph(drawn.with_suffix(".html"), drawn)
        if Path(name).name.startswith(f"{page.stem}_") and drawn.exists():
            shutil.copyfile(drawn, page.parent / name)


def photograph(html: Path, target: Path) -> None:
    """Draw the top of a page as a browser shows it."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 900, "height": 570})
        page.goto(html.as_uri())
        page.screenshot(path=target)
        browser.close()


def refresh_from_scripts(page: Path, scripts: tuple[str, ...]) -> None:
    """Write what scripts print into the blocks of text of a page."""
    text = page.read_text(encoding="utf-8")
    blocks = re.findall(r"```text\n(.*?)```", text, re.DOTALL)
    for script, shown in zip(scripts, blocks, strict=True):
        path, printed = ROOT / "examples" / script, io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(path.read_text(encoding="utf-8"), script, "exec"), {})
        if printed.getvalue() != shown:
            text = replaced(text, "", shown, printed.getvalue())
            print(f"{page.name}: what {script} prints is replaced")
    page.write_text(text, encoding="utf-8")


def main() -> int:
    os.environ.setdefault("MPLBACKEND", "agg")
    warnings.simplefilter("error")
    every = [ROOT / "README.md", *sorted(DOCS.glob("*.md")), *sorted((DOCS / "guide").glob("*.md"))]
    pages = [Path(name).resolve() for name in sys.argv[1:]] or every
    by_hand = []
    for page in pages:
        if page in PRINTED_BY_SCRIPTS:
            refresh_from_scripts(page, PRINTED_BY_SCRIPTS[page])
        elif any(example.shown for example in examples_of(page.read_text(encoding="utf-8"))):
            by_hand += refresh(page)
    print("\n".join(by_hand))
    return 1 if by_hand else 0


if __name__ == "__main__":
    sys.exit(main())
