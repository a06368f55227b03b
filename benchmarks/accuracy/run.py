"""Measure accuracy against other classifiers and write docs/accuracy.md: `make accuracy`. A stopped run continues."""

from __future__ import annotations

import argparse
import json
import shlex
import sys
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from threadpoolctl import threadpool_limits

import pieces
from accuracy import contenders, report
from accuracy.findings import OURS, Result
from accuracy.sets import N_REPEATS, WITH_MANY_LABELS, repeats_of, task


@dataclass(frozen=True)
class Work:
    """The measurements that are missing on one set in one repetition."""

    dataset: str
    repeat: int
    rivals: tuple[str, ...]
    ours: str | None  # the name of ours, or None: not wanted, or measured already


class Store:
    """Results as lines of JSON: the rivals' in one file, those of each version of ours in another."""

    def __init__(self, folder: Path, ours: str | None) -> None:
        self.folder, self.ours = folder, ours

    def path(self, method: str) -> Path:
        return self.folder / (f"ours-{self.ours}.jsonl" if method == OURS else "rivals.jsonl")

    def read(self) -> dict[tuple[str, int, str], Result]:
        """Return the results by set, repetition and method."""
        return {
            (result["set"], result["repeat"], result["method"]): result
            for method in ("rivals", OURS)
            for result in pieces.stored(self.path(method))
        }

    def add(self, results: Iterable[Result]) -> None:
        for result in results:
            pieces.store(self.path(result["method"]), [result])


def missing(
    store: Store, sets: Iterable[str], repeats: int, ours: str | None, with_rivals: bool, with_tabpfn: bool = False
) -> Iterator[Work]:
    """Yield what the store does not have yet."""
    known = store.read()
    for dataset in sets:
        for repeat in range(repeats_of(dataset, repeats)):
            rivals = contenders.rivals(dataset, with_tabpfn) if with_rivals else {}
            wanted = tuple(name for name in rivals if (dataset, repeat, name) not in known)
            our = ours if (dataset, repeat, OURS) not in known else None
            if wanted or our:
                yield Work(dataset, repeat, wanted, our)


def do(work: Work) -> list[Result]:
    """Return the results of one piece of work, measured on one thread."""
    with threadpool_limits(1):
        given, exam = task(work.dataset, work.repeat)
        methods = contenders.rivals(work.dataset, with_tabpfn=True)
        methods = {name: methods[name] for name in work.rivals}
        if work.ours is not None:
            methods[OURS] = contenders.ours(work.ours)
        samples = contenders.Samples(given)
        return [
            {
                "set": work.dataset,
                "repeat": work.repeat,
                "method": name,
                **contenders.measure(method, samples, exam),
            }
            for name, method in methods.items()
        ]


def run(store: Store, work: list[Work], jobs: int = 1) -> None:
    """Do the work and store each piece as it is done."""
    start = time.perf_counter()
    for done, results in enumerate(pieces.done(do, work, jobs), 1):
        store.add(results)
        first = results[0]
        spent = time.perf_counter() - start
        found = ", ".join(f"{result['method']} {result['accuracy']:.1f}" for result in results)
        print(f"{done}/{len(work)} {spent:.0f} s: {first['set']} {first['repeat']}: {found}", flush=True)


def arguments_of(line: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--ours", default="auto", help='"auto" (AutoSSLART), or "module:name" of another estimator')
    parser.add_argument("--label", help="version of ours, part of its key; as it is given, or a digest of the sources")
    parser.add_argument("--only-rivals", action="store_true", help="measure the rivals; print, write no page")
    parser.add_argument("--only-ours", action="store_true", help="measure ours; what the rivals lack stays missing")
    parser.add_argument("--report-only", action="store_true", help="measure nothing; write the page")
    parser.add_argument("--tabpfn", action="store_true", help="measure TabPFN v1 too: see python -m accuracy.tabpfn_v1")
    parser.add_argument(
        "--sets", nargs="+", choices=WITH_MANY_LABELS, metavar="SET", help="these only; print, write no page"
    )
    parser.add_argument("--repeats", type=int, default=N_REPEATS)
    parser.add_argument("--jobs", type=int, default=2)
    return pieces.parsed(parser, "accuracy", line)


def main(line: list[str] | None = None) -> None:
    arguments = arguments_of(line)
    pieces.one_thread_each()
    label = None if arguments.only_rivals else arguments.label or pieces.version_of_ours()
    name = contenders.OURS.get(arguments.ours, arguments.ours)
    store = Store(arguments.out, None if label is None else f"{name.rpartition(':')[2]}-{label}")
    sets = arguments.sets or WITH_MANY_LABELS
    if not arguments.report_only:
        ours = None if arguments.only_rivals else arguments.ours
        wanted = missing(store, sets, arguments.repeats, ours, not arguments.only_ours, arguments.tabpfn)
        run(store, list(wanted), arguments.jobs)
    speed, fits = (_measured(arguments.out / name) for name in ("speed.json", "fits.json"))
    text = report.page(
        list(store.read().values()),
        sets,
        arguments.repeats,
        command=shlex.join(["python", "-m", "accuracy.run", *(sys.argv[1:] if line is None else line)]),
        ours=name,
        label=label,
        speed=speed,
        fits=fits,
    )
    pieces.show_or_write(text, None if arguments.only_rivals or arguments.sets else arguments.page)


def _measured(path: Path) -> Result | None:
    return json.loads(path.read_text()) if path.exists() else None


if __name__ == "__main__":
    main()
