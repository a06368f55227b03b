"""Measure sslart against its peers in one run and write docs/benchmarks.md: `make bench`, `make bench-quick`."""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

from cases import CASES, Row
from curves import draw
from machine import description
from where import lines

ROOT = Path(__file__).parent.parent
BOUND = (
    "The scan reads its coarse boxes about as fast as this machine reads memory of that size at all (`max` of NumPy "
    "over a buffer, one thread). So up to a few thousand nodes the speed of memory limits a fit; beyond, the tree "
    "reduces how much is read. The rest is the Python around the kernel, which matters most on small data such as "
    "digits. Two threads share the speed of memory as well, which limits what they gain."
)


def import_milliseconds() -> float:
    """Return the cost of importing sslart beyond numpy and the parts of scikit-learn that every estimator needs."""
    program = (
        "import time, numpy, sklearn.base, sklearn.utils.validation, sklearn.utils.multiclass\n"
        "start = time.perf_counter(); import sslart; print(1000 * (time.perf_counter() - start))"
    )
    # as an installed package: the first run leaves the bytecode behind
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    runs = [float(subprocess.check_output([sys.executable, "-c", program], env=environment)) for _ in range(8)]
    return float(np.median(runs[1:]))


def memory() -> tuple[float, float]:
    """Return the memory of a fitted model and the peak of its fit, as multiples of 16 · nodes · features bytes."""
    script = Path(__file__).parent / "memory.py"
    after, peak = map(float, subprocess.check_output([sys.executable, script]).split())
    return after, peak


def table(rows: list[Row]) -> str:
    lines = [
        "| work | nodes | sslart | samples per second | against | times faster | target |",
        "|---|---|---|---|---|---|---|",
    ]
    for row in rows:
        target = "" if row.target is None else f"{row.target:.3g}"
        unit = f"{row.ours * 1e3:,.3g} ms" if 1e-3 <= row.ours < 1 else f"{row.ours:.3g} s"
        unit = unit if row.ours >= 1e-3 else f"{row.ours * 1e6:.3g} µs"
        missed = row.target is not None and row.ratio < row.target
        ratio = "" if np.isnan(row.ratio) else f"*{row.ratio:.3g}*" if missed else f"**{row.ratio:.3g}**"
        speed = "" if row.samples is None else f"{float(f'{row.samples / row.ours:.2g}'):,.0f}"
        lines.append(f"| {row.work} | {row.nodes} | {unit} | {speed} | {row.against} | {ratio} | {target} |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="smaller data and fewer turns; prints, writes nothing")
    parser.add_argument("--only", nargs="+", choices=[case.__name__ for case in CASES], help="these cases, printed")
    arguments = parser.parse_args()
    start = time.perf_counter()
    rows = []
    for case in CASES:
        if arguments.only and case.__name__ not in arguments.only:
            continue
        for row in case(arguments.quick):
            rows.append(row)
            print(f"{row.work}: {row.ratio:.3g} × {row.against or 'nothing'}", flush=True)
    if arguments.only:
        print(table(rows))
        return
    after, peak = memory()
    text = (
        "# Benchmarks\n\n"
        "Written by `make bench`. Contenders take turns on the same data in one run; a ratio is the median over the "
        "turns, because machines are shared and absolute times mean little. Where results must agree they are "
        "compared, and the run fails if they differ. A ratio in italics misses its target.\n\n"
        f"{description('artlib', 'hyperbox-brain')}.\n\n{table(rows)}\n\n"
        f"- A fitted model takes {after:.2f} times 16·nodes·features bytes beyond the data (target: at most 1.3); the "
        f"peak during `fit`, with the encoded copy of the data, is {peak:.2f} times.\n"
        f"- `import sslart` takes {import_milliseconds():.0f} ms beyond numpy and scikit-learn (target: under 30).\n\n"
        "## Where the time goes\n\n" + "\n".join(lines()) + f"\n\n{BOUND}\n"
    )
    print(text)
    if not arguments.quick:
        draw(ROOT / "docs" / "benchmarks.png")
        (ROOT / "docs" / "benchmarks.md").write_text(text + "\n![cost](benchmarks.png)\n")
    print(f"{time.perf_counter() - start:.0f} s")


if __name__ == "__main__":
    main()
