"""Memory and speed of `sslart update` and `sslart predict` as a CSV file grows.

    make bench-long

A model is fitted to the first rows; files of growing length then go through the command line, each in a process of its
own. The rows are those of a plant with twelve states, drawn as the file is written. With --mixed they are those of a
shop, as tables of firms are: 8 numbers, 2 dates, 9 categories and the label, some cells blank.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

N_SENSORS = 8
N_STATES = 12
N_CLASSES = 3
LEVELS = (2, 2, 3, 4, 5, 6, 8, 12, 30)  # of the categories of mixed rows
BLANK = 0.02  # share of blank cells in mixed rows
USUAL = 0.95  # share of the categories of mixed rows that follow from the state
AT_ONCE = 100_000
START = 2000


def rows(n: int, labelled: float, seed: int) -> Iterator[str]:
    """Yield lines of a CSV: sensors that circle around a few states, and now and then the class of the state."""
    random = np.random.default_rng(seed)
    centres = np.random.default_rng(0).uniform(0, 100, (N_STATES, N_SENSORS))
    yield ",".join([*(f"sensor {number}" for number in range(N_SENSORS)), "state"]) + "\n"
    for start in range(0, n, AT_ONCE):
        size = min(AT_ONCE, n - start)
        states = random.integers(0, N_STATES, size)
        values = (centres[states] + random.normal(0, 2, (size, N_SENSORS))).round(2).tolist()
        known = random.random(size) < labelled
        for sample, state, is_known in zip(values, states, known, strict=True):
            yield ",".join(map(str, sample)) + (f",class {state % N_CLASSES}\n" if is_known else ",\n")


def mixed_rows(n: int, labelled: float, seed: int) -> Iterator[str]:
    """Yield lines of a CSV with numbers, dates and categories, which depend on a state; now and then with its class."""
    random, fixed = np.random.default_rng(seed), np.random.default_rng(0)
    centres = fixed.uniform(0, 100, (N_STATES, N_SENSORS))
    levels = [fixed.integers(0, n_levels, N_STATES) for n_levels in LEVELS]
    names = [*(f"amount {number}" for number in range(N_SENSORS)), "ordered", "sent"]
    yield ",".join([*names, *(f"kind {number}" for number in range(len(LEVELS))), "state"]) + "\n"
    for start in range(0, n, AT_ONCE):
        size = min(AT_ONCE, n - start)
        states = random.integers(0, N_STATES, size)
        cells = [
            column.astype("U12") for column in (centres[states] + random.normal(0, 2, (size, N_SENSORS))).round(2).T
        ]
        days = np.datetime64("2021-01-01") + random.integers(0, 1000, size)
        cells += [days.astype(str), (days + random.integers(0, 10, size)).astype(str)]
        for own, n_levels in zip(levels, LEVELS, strict=True):
            usual = random.random(size) < USUAL
            cells.append(
                np.char.add("level ", np.where(usual, own[states], random.integers(0, n_levels, size)).astype(str))
            )
        cells = [np.where(random.random(size) < BLANK, "", column) for column in cells]
        cells.append(
            np.where(random.random(size) < labelled, np.char.add("class ", (states % N_CLASSES).astype(str)), "")
        )
        yield from ("\n".join(map(",".join, zip(*(column.tolist() for column in cells), strict=True))), "\n")


def write(path: Path, lines: Iterator[str]) -> None:
    with path.open("w") as file:
        file.writelines(lines)


def measured(*arguments: str) -> tuple[float, float]:
    """Run the command in a process of its own; return its seconds and the most memory it held, in MB."""
    program = (
        "import json, resource, sys; from sslart.cli import main; code = main(sys.argv[1:]); "
        "print(json.dumps(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss), file=sys.stderr); sys.exit(code)"
    )
    start = time.perf_counter()
    done = subprocess.run([sys.executable, "-c", program, *arguments], stderr=subprocess.PIPE, check=True)
    seconds = time.perf_counter() - start
    unit = 1 if sys.platform == "darwin" else 1024
    return seconds, json.loads(done.stderr.splitlines()[-1]) * unit / 1e6


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, nargs="+", default=[50_000, 500_000, 5_000_000])
    parser.add_argument("--mixed", action="store_true", help="20 columns: numbers, dates and categories")
    options = parser.parse_args()
    drawn = mixed_rows if options.mixed else rows
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        model, start = str(folder / "model.sslart"), folder / "start.csv"
        write(start, drawn(START, 0.02, 1))
        subprocess.run(
            [sys.executable, "-m", "sslart", "fit", str(start), "--label", "state", "--out", model, "--quiet"],
            check=True,
        )
        print("| command | rows | file, MB | seconds | rows per second | most memory, MB |")
        print("|---|---|---|---|---|---|")
        for n in options.rows:
            data = folder / "data.csv"
            write(data, drawn(n, 0.00002, 2))
            commands = {
                "update": ("update", model, str(data), "--label", "state", "--out", str(folder / "new"), "--quiet"),
                "predict": ("predict", model, str(data), "--out", str(folder / "predictions.csv"), "--quiet"),
            }
            for command, arguments in commands.items():
                seconds, memory = measured(*arguments)
                size = data.stat().st_size / 1e6
                print(
                    f"| {command} | {n} | {size:.0f} | {seconds:.1f} | {n / seconds:.0f} | {memory:.0f} |", flush=True
                )


if __name__ == "__main__":
    main()
