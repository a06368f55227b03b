"""Check reported accuracy and guarantees on held-out samples, and write docs/trust.md: `make trust`."""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from pathlib import Path

import pieces
from accuracy.sets import ORDER
from trust import labelling, learning_curves, page, panels
from trust.simulations import N_REPEATS, SECTIONS, Work, do, work_of


def all_work(sections: Iterable[str], sets: Sequence[str], repeats: int) -> list[Work]:
    """Return every piece of work, set by set, so that each set is loaded once."""
    wanted = dict.fromkeys(name for section in sections for name in SECTIONS[section])
    found = [piece for name in wanted for piece in work_of(name, sets, repeats)]
    order = {name: place for place, name in enumerate(ORDER)}
    return sorted(found, key=lambda piece: (order.get(piece.dataset, len(order)), piece.dataset))


def measure(path: Path, work: Sequence[Work], jobs: int) -> list[pieces.Result]:
    """Do what the file does not have yet, and return the results of all pieces."""
    known = {_key(result): result for result in pieces.stored(path)}
    missing = [piece for piece in work if _key(asdict(piece)) not in known]
    start = time.perf_counter()
    for number, result in enumerate(pieces.done(do, missing, jobs), 1):
        pieces.store(path, [result])
        known[_key(result)] = result
        if number % 50 == 0 or number == len(missing):
            print(f"{number}/{len(missing)} {time.perf_counter() - start:.0f} s: {result['dataset']}", flush=True)
    return [known[_key(asdict(piece))] for piece in work]


def _key(result: pieces.Result) -> tuple[str, str, int, int]:
    return result["simulation"], result["dataset"], result["n_labels"], result["repeat"]


def arguments_of(line: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--only", nargs="+", choices=SECTIONS, metavar="SECTION", help="these only; print, write no page"
    )
    parser.add_argument("--sets", nargs="+", choices=ORDER, metavar="SET", help="these only; print, write no page")
    parser.add_argument("--replace", action="store_true", help="with --only: write these sections into the page")
    parser.add_argument("--quick", action="store_true", help="one repetition; print, write no page")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--label", help="version of ours, part of the name of the file of results")
    return pieces.parsed(parser, "trust", line)


def main(line: list[str] | None = None) -> None:
    arguments = arguments_of(line)
    pieces.one_thread_each()
    label = arguments.label or pieces.version_of_ours(Path(__file__).parent)
    sections = arguments.only or tuple(SECTIONS)
    work = all_work(sections, tuple(arguments.sets or ORDER), 1 if arguments.quick else N_REPEATS)
    start = time.perf_counter()
    results = measure(arguments.out / f"{label}.jsonl", work, arguments.jobs)
    if arguments.replace:
        arguments.page.write_text(page.with_sections(arguments.page.read_text(), results, sections, label))
        return
    others = [] if arguments.only else [(one, one.judged(arguments.out)) for one in (panels, labelling)]
    further = [one.section(found) for one, found in others if found]
    if not arguments.only and (of_curves := learning_curves.stored_section(arguments.out)):
        further.append(of_curves)
    text = page.page(results, sections, label, further)
    pieces.show_or_write(text, None if arguments.only or arguments.sets or arguments.quick else arguments.page)
    print(f"{time.perf_counter() - start:.0f} s")


if __name__ == "__main__":
    main()
