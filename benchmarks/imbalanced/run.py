"""Compare classifiers on imbalanced classes and write docs/imbalanced.md: `make imbalanced`. Resumes."""

from __future__ import annotations

import argparse
import shlex
import sys
import time
from collections.abc import Sequence
from itertools import product
from pathlib import Path

from threadpoolctl import threadpool_limits

import pieces
from accuracy.contenders import Samples
from accuracy.run import Result, Store
from imbalanced import contenders, report, sets


class ImbalancedStore(Store):
    """Results as lines of JSON: the rivals' in one file, those of each version of ours in another."""

    def path(self, method: str) -> Path:
        return self.folder / (f"ours-{self.ours}.jsonl" if contenders.is_ours(method) else "rivals.jsonl")


def measured(dataset: str, labels: str, repeat: int, methods: Sequence[str]) -> list[Result]:
    """Return the results of some methods on one task, on one thread."""
    found: dict[str, dict[str, float]] = {}
    with threadpool_limits(1):
        given, exam = sets.task(dataset, labels, repeat)
        samples = Samples(given)
        for name in methods:
            if name not in found:
                found |= contenders.measure(name, samples, exam)
    key = report.set_key(dataset, labels)
    return [{"set": key, "repeat": repeat, "method": name, **scores} for name, scores in found.items()]


def run(store: Store, names: Sequence[str], repeats: int, methods: Sequence[str]) -> None:
    """Measure what the store does not have yet, and store it piece by piece."""
    known, start = store.read(), time.perf_counter()
    for dataset, labels, repeat in product(names, sets.LABELLED_SHARES, range(repeats)):
        key = report.set_key(dataset, labels)
        wanted = [name for name in methods if (key, repeat, name) not in known]
        if wanted:
            results = measured(dataset, labels, repeat, wanted)
            store.add(results)
            found = ", ".join(f"{one['method']} {one['balanced']:.0f}" for one in results)
            print(f"{time.perf_counter() - start:.0f} s: {key} {repeat}: {found}", flush=True)


def arguments_of(line: list[str] | None) -> argparse.Namespace:
    methods = tuple(contenders.METHODS)
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--label", help="version of ours, part of its key; as it is given, or a digest of the sources")
    parser.add_argument("--methods", nargs="+", choices=methods, default=methods, help="these only; print, write none")
    parser.add_argument("--sets", nargs="+", metavar="SET", help="these only; print, write none")
    parser.add_argument("--half", choices=("tuning", "checking"), help="this half only; print, write none")
    parser.add_argument("--repeats", type=int, default=sets.N_REPEATS)
    parser.add_argument("--report-only", action="store_true", help="measure nothing; write the page")
    return pieces.parsed(parser, "imbalanced", line)


def main(line: list[str] | None = None) -> None:
    arguments = arguments_of(line)
    label = arguments.label or pieces.version_of_ours()
    store = ImbalancedStore(arguments.out, label)
    names = arguments.sets or (sets.halves()[f"{arguments.half} half"] if arguments.half else sets.names())
    if not arguments.report_only:
        run(store, names, arguments.repeats, arguments.methods)
    command = shlex.join(["python", "-m", "imbalanced.run", *(sys.argv[1:] if line is None else line)])
    text = report.page(
        list(store.read().values()), names, arguments.repeats, arguments.methods, command=command, label=label
    )
    pieces.show_or_write(
        text,
        None
        if arguments.sets or arguments.half or len(arguments.methods) < len(contenders.METHODS)
        else arguments.page,
    )


if __name__ == "__main__":
    main()
