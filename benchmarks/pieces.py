"""Long measurements in pieces, run in processes; each result is stored at once, so that a stopped run continues."""

from __future__ import annotations

import argparse
import hashlib
import json
import multiprocessing
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path
from typing import Any, TypeVar

import sslart

ROOT = Path(__file__).parents[1]
Result = dict[str, Any]
Piece = TypeVar("Piece")
Done = TypeVar("Done")


def stored(path: Path) -> list[Result]:
    """Return results, one per line of JSON; a line that a stopped run left unfinished is skipped."""
    found = []
    for line in path.read_text().splitlines() if path.exists() else []:
        try:
            found.append(json.loads(line))
        except json.JSONDecodeError:
            continue
    return found


def store(path: Path, results: Iterable[Result]) -> None:
    """Add results to a file, on lines of their own even where the last line is unfinished."""
    path.parent.mkdir(parents=True, exist_ok=True)
    torn = path.exists() and path.stat().st_size and not path.read_bytes().endswith(b"\n")
    with path.open("a") as file:
        file.write(("\n" if torn else "") + "".join(json.dumps(result) + "\n" for result in results))


def done(do: Callable[[Piece], Done], work: Sequence[Piece], jobs: int) -> Iterator[Done]:
    """Yield what comes of each piece, in the order in which they are finished."""
    if jobs == 1:
        yield from map(do, work)
        return
    context = multiprocessing.get_context("spawn")  # so that the limits on threads hold from the start
    with ProcessPoolExecutor(jobs, mp_context=context) as pool:
        futures = [pool.submit(do, piece) for piece in work]
        try:
            for future in as_completed(futures):
                yield future.result()
        finally:
            pool.shutdown(wait=False, cancel_futures=True)


def one_thread_each() -> None:
    """Limit linear algebra to one thread in the processes that are started from here."""
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ[name] = "1"


def version_of_ours(*folders: Path) -> str:
    """Return sslart's version with a digest of its sources, so that no result of other code is taken for today's.

    The sources in `folders` count too.
    """
    digest = hashlib.sha256()
    package = Path(sslart.__file__).parent
    sources = [*package.rglob("*.py"), *(ROOT / "src" / "kernel").rglob("*.*")]
    for path in sorted([*sources, *(path for folder in folders for path in folder.rglob("*.py"))]):
        digest.update(path.read_bytes())
    return f"{sslart.__version__}-{digest.hexdigest()[:8]}"


def parsed(parser: argparse.ArgumentParser, name: str, line: Sequence[str] | None) -> argparse.Namespace:
    """Return the parsed command line of a benchmark, with the folder of its results and the file of its page."""
    parser.add_argument("--out", type=Path, default=ROOT / "results" / name)
    parser.add_argument("--page", type=Path, default=ROOT / "docs" / f"{name}.md")
    return parser.parse_args(line)


def put_section(page: Path, text: str) -> None:
    """Write a section into a page, in place of the one with the same heading, or at the end."""
    before, _, rest = page.read_text().partition(text.split("\n", 1)[0])
    after = rest.partition("\n## ")
    page.write_text(f"{before.rstrip()}\n\n{text}{''.join(after[1:])}")


def show_or_write(text: str, page: Path | None) -> None:
    """Print a page where it is of a part of the measurements, and has no file; else write it."""
    if page is None:
        print(text)
    else:
        page.write_text(text)
        print(f"wrote {page}")
