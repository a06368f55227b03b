"""Measure fits on a cluster of two worker processes, and write docs/clusters.md: `make cluster-bench`.

As it stands it takes some minutes on two million rows and prints what it finds. With --full it takes 50 million rows,
which are more than the memory limits of the workers together, and writes the page. The files are made first and
removed at the end. A stopped run continues with the contender at which it was stopped.
"""

from __future__ import annotations

import argparse
import os
import shlex
import signal
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path

import pieces
from cluster import covtype, page
from cluster.contenders import ALL_LABELS, COMMAND, CONTENDERS, ONE_PROCESS, OURS, Setting, in_own_process
from cluster.data import Table

SMALL = {"rows": 2_000_000, "rows_per_part": 125_000, "labels": 2000}
FULL = {"rows": 50_000_000, "rows_per_part": 250_000, "labels": 5000}
SEEDS = range(5)
N_WORKERS = 2
LIMIT_MB = 800
COVTYPE = "covtype"


@contextmanager
def written(options: argparse.Namespace, size: dict[str, int]) -> Iterator[Table]:
    """Write the table into a folder that is removed at the end."""
    with tempfile.TemporaryDirectory(dir=options.folder) as name:
        table = Table(Path(name), size["rows"], size["rows_per_part"], size["labels"])
        table.write()
        print(f"{table.n_rows} rows in {len(table.parts)} files", flush=True)
        yield table


def settings(table: Table, limit_mb: int) -> list[tuple[str, Setting]]:
    """Return each contender on the whole table, or on fewer rows where rows are learnt in turn, and ours on a quarter.

    With all labels, workers would load most of a long table while they wait for their turn.
    """
    quarter, tenth = (table.first(max(2, len(table.parts) // share)) for share in (4, 10))
    fewer = {ONE_PROCESS: quarter, COMMAND: tenth, ALL_LABELS: tenth}
    found = [(name, Setting(fewer.get(name, table), N_WORKERS, limit_mb)) for name in CONTENDERS]
    return [*found, *((OURS, Setting(quarter, n_workers, limit_mb)) for n_workers in (1, N_WORKERS))]


def measure(path: Path, options: argparse.Namespace, size: dict[str, int]) -> list[pieces.Result]:
    """Measure what the file does not have yet; return all results."""
    wanted = options.only or [*CONTENDERS, COVTYPE]
    known = {one["key"]: one for one in pieces.stored(path)}

    def kept(key: str, found: pieces.Result) -> None:
        known[key] = {"key": key, **found}
        pieces.store(path, [known[key]])
        print(key, {name: value for name, value in found.items() if name != "tasks"}, flush=True)

    with written(options, size) if set(wanted) & set(CONTENDERS) else nullcontext() as table:
        for name, setting in settings(table, options.limit_mb) if table else ():
            key = f"{name}, {setting.table.n_rows} rows, {setting.n_workers} workers"
            if key not in known and name in wanted:
                about = {"contender": name, "rows": setting.table.n_rows, "parts": len(setting.table.parts)}
                about |= {"workers": setting.n_workers, "limit_mb": setting.limit_mb}
                about |= {"load": os.getloadavg()[0]}  # of others: this run has not begun
                kept(key, about | {"best": table.best_accuracy()} | in_own_process(name, setting))
    if covtype.path().exists() and COVTYPE in wanted:
        for seed in SEEDS if options.full else SEEDS[:3]:
            keys = {name: f"{COVTYPE}, {name}, seed {seed}" for name in covtype.MODELS}
            if not known.keys() >= set(keys.values()):
                n_rows = None if options.full else covtype.FEW_ROWS
                for one in covtype.measure(seed, N_WORKERS, options.limit_mb, n_rows):
                    kept(keys[one["model"]], one)
    return list(known.values())


def command_of(options: argparse.Namespace) -> str:
    """Return the command that measures the same, wherever its files are."""
    words = ["--full"] if options.full else []
    words += ["--rows", str(options.rows)] if options.rows else []
    words += ["--only", *options.only] if options.only else []
    words += ["--limit-mb", str(options.limit_mb)] if options.limit_mb != LIMIT_MB else []
    return shlex.join(["python", "-m", "cluster.run", *words])


def main(line: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--full", action="store_true", help="50 million rows, and all of covtype; write the page")
    parser.add_argument("--rows", type=int, help="so many rows")
    parser.add_argument("--only", nargs="+", choices=[*CONTENDERS, COVTYPE], help="these only")
    parser.add_argument("--limit-mb", type=int, default=LIMIT_MB, help="memory limit of each worker")
    parser.add_argument("--folder", help="where the table is written; by default that of temporary files")
    parser.add_argument("--out", type=Path, default=pieces.ROOT / "results" / "cluster")
    parser.add_argument(
        "--page", type=Path, help="write the page here; docs/clusters.md with --full alone, else printed"
    )
    options = parser.parse_args(line)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # so that the table is removed
    pieces.one_thread_each()
    size = (FULL if options.full else SMALL) | ({"rows": options.rows} if options.rows else {})
    label = pieces.version_of_ours()
    name = f"{label}-{size['rows']}-{options.limit_mb}{'-full' if options.full else ''}.jsonl"
    text = page.page(measure(options.out / name, options, size), command_of(options), label, size["labels"])
    is_whole = options.full and not options.only and not options.rows
    target = options.page or (pieces.ROOT / "docs" / "clusters.md" if is_whole else None)
    if target is not None:
        target.write_text(text, encoding="utf-8")
        print(f"wrote {target}")
    else:
        print(text)


if __name__ == "__main__":
    main()
