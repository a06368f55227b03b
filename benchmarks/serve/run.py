"""Measure the service under load, and write docs/serve_benchmarks.md: `make bench-serve`.

All servers run on this machine and listen to it only. MLServer and BentoML are measured where they are installed, which
`python -m serve.environments` does. What is found is kept in results/serve.
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
import signal
import sys
import tempfile
import time
from itertools import product
from pathlib import Path
from typing import Any

import pieces
from machine import description
from serve import endurance, environments, peers, states
from serve.calls import CALLS
from serve.data import Table, breast_cancer, synthetic
from serve.endurance import ROWS_PER_SECOND
from serve.load import Generator
from serve.page import page
from serve.service import running
from serve.states import STATES

SECONDS, ROUNDS = 2.0, 2
HOUR_ROWS = 3600 * ROWS_PER_SECOND
LEARNT_ROWS = 200_000
PARTS = ("peers", "states", "memory")


def measure(options: argparse.Namespace, folder: Path) -> dict[str, Any]:
    """Return all results."""
    tables = [synthetic(options.samples), breast_cancer()][: options.tables]
    generator, start = Generator(own=options.own_generator), time.perf_counter()
    skipped = peers.skipped()
    found: dict[str, Any] = {"about": _about(options, tables, generator, skipped), "peers": [], "states": []}
    if "peers" in options.parts:
        names = [name for name, peer in peers.PEERS.items() if peer not in skipped]
        with running(folder / "ours", tables) as service:
            for one in peers.in_turns(folder, service, tables, generator, options.seconds, options.rounds, names):
                _told(found["peers"], one)
    if "states" in options.parts:
        for table, (number, state) in product(tables, enumerate(STATES)):
            with running(folder / f"{table.name}-{number}", [table]) as service:
                for one in states.measured(service, table, state, generator, options.seconds, options.calls):
                    _told(found["states"], one)
    if "memory" in options.parts:
        for name, work, n_rows in (
            ("hour", endurance.hour, options.hour_rows),
            ("learnt", endurance.learnt, options.learnt_rows),
        ):
            with running(folder / name, tables[:1], *endurance.RETENTION) as service:
                found[name] = work(service, tables[0], n_rows)
            print(name, found[name]["counts"], endurance.flatness(found[name]["samples"]), flush=True)
    found["about"]["minutes"] = (time.perf_counter() - start) / 60
    return found


def _told(found: list[dict[str, Any]], one: dict[str, Any]) -> None:
    found.append(one)
    shown = {key: round(value, 2) if isinstance(value, float) else value for key, value in one.items()}
    print(*shown.values(), flush=True)


def _about(
    options: argparse.Namespace, tables: list[Table], generator: Generator, skipped: dict[str, str]
) -> dict[str, Any]:
    sizes = {
        one.name: f"{one.samples.shape[0]:,} rows of {one.samples.shape[1]} features, {one.n_labels} labels"
        for one in tables
    }
    return {
        "command": options.command,
        "machine": description("fastapi", "uvicorn", "apsw"),
        "label": pieces.version_of_ours(),
        "generator": generator.description,
        "load": os.getloadavg()[0],
        "seconds": options.seconds,
        "tables": {name: f"`AutoSSLART` fitted to {words}" for name, words in sizes.items()},
        "skipped": skipped,
    }


def options_of(line: list[str]) -> argparse.Namespace:
    """Return the parsed command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=list(PARTS), help="these only")
    parser.add_argument("--calls", nargs="+", choices=list(CALLS), default=list(CALLS), help="these requests only")
    parser.add_argument("--seconds", type=float, default=SECONDS, help="of each measurement")
    parser.add_argument("--rounds", type=int, default=ROUNDS, help="turns beside the peers")
    parser.add_argument("--samples", type=int, default=20_000, help="rows of the synthetic table")
    parser.add_argument("--tables", type=int, default=2, choices=(1, 2), help="1: the synthetic table only")
    parser.add_argument("--hour-rows", type=int, default=HOUR_ROWS, help="rows in the mixture of requests")
    parser.add_argument("--learnt-rows", type=int, default=LEARNT_ROWS, help="rows to learn")
    parser.add_argument("--own-generator", action="store_true", help="do not use wrk")
    parser.add_argument("--page-only", action="store_true", help="write the page from the last results")
    parser.add_argument("--out", type=Path, default=environments.FOLDER, help="folder of the results")
    parser.add_argument("--page", type=Path, help="write the page here; else docs/serve_benchmarks.md of a whole run")
    options = parser.parse_args(line)
    options.command = shlex.join(["python", "-m", "serve.run", *line])
    return options


def main(line: list[str] | None = None) -> None:
    line = sys.argv[1:] if line is None else line
    options = options_of(line)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # so that the servers are stopped
    results = options.out / "results.json"
    if options.page_only:
        found = json.loads(results.read_text())
    else:
        with tempfile.TemporaryDirectory() as folder:
            found = measure(options, Path(folder))
        results.parent.mkdir(parents=True, exist_ok=True)
        results.write_text(json.dumps(found))
    is_whole = not line or options.page_only
    target = options.page or (pieces.ROOT / "docs" / "serve_benchmarks.md" if is_whole else None)
    if target is None:
        print(page(found))
    else:
        target.write_text(page(found), encoding="utf-8")
        print(f"wrote {target}")


if __name__ == "__main__":
    main()
