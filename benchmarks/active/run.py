"""Compare active learning by sslart with other strategies and write docs/active.md: `make active`. Resumes."""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import pieces
from active import page
from active.measure import run_of
from active.sets import HALVES, N_REPEATS, SETS, split
from active.strategies import STRATEGIES


@dataclass(frozen=True)
class Work:
    """A strategy on one set in one repetition."""

    dataset: str
    repeat: int
    method: str


def do(work: Work) -> pieces.Result:
    """Return the measurements of one piece of work."""
    return {**asdict(work), "accuracy": run_of(split(work.dataset, work.repeat), STRATEGIES[work.method])}


def missing(path: Path, sets: Sequence[str], repeats: int, methods: Sequence[str]) -> Iterator[Work]:
    """Yield what the file does not have yet: all sets once, then all of them again."""
    known = {(one["dataset"], one["repeat"], one["method"]) for one in pieces.stored(path)}
    for repeat in range(repeats):
        for name in sets:
            for method in methods:
                if (name, repeat, method) not in known:
                    yield Work(name, repeat, method)


def arguments_of(line: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--methods", nargs="+", choices=STRATEGIES, default=tuple(STRATEGIES), help="measure these only"
    )
    parser.add_argument("--sets", nargs="+", choices=SETS, metavar="SET", help="measure these only")
    parser.add_argument("--half", choices=HALVES, help="measure this half only")
    parser.add_argument("--repeats", type=int, default=N_REPEATS)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--label", help="version of ours, the name of the file of results; a digest of the sources")
    parser.add_argument("--report-only", action="store_true", help="measure nothing; write the page")
    return pieces.parsed(parser, "active", line)


def main(line: list[str] | None = None) -> None:
    arguments = arguments_of(line)
    pieces.one_thread_each()
    label = arguments.label or pieces.version_of_ours(Path(__file__).parent)
    path = arguments.out / f"{label}.jsonl"
    sets = tuple(arguments.sets or (HALVES[arguments.half] if arguments.half else SETS))
    if not arguments.report_only:
        work = list(missing(path, sets, arguments.repeats, arguments.methods))
        start = time.perf_counter()
        for number, result in enumerate(pieces.done(do, work, arguments.jobs), 1):
            pieces.store(path, [result])
            if number % 20 == 0 or number == len(work):
                print(f"{number}/{len(work)} {time.perf_counter() - start:.0f} s: {result['dataset']}", flush=True)
    text = page.page(pieces.stored(path), sets, arguments.repeats, label)
    pieces.show_or_write(text, None if arguments.sets or arguments.half else arguments.page)


if __name__ == "__main__":
    main()
