"""A table in eight Parquet files, for the examples on Spark and Ray: `python table.py FOLDER` writes it."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.datasets import make_classification

N_FILES, N_ROWS, N_TEST = 8, 200_000, 10_000
FEATURES = [f"sensor {number}" for number in range(10)]
LABEL = "state"


def write(folder: Path) -> None:
    """Write the files, in which one row in 200 has a label, and `test.parquet`, in which all have one."""
    X, y = make_classification(
        N_ROWS + N_TEST, 10, n_informative=8, n_classes=4, n_clusters_per_class=4, class_sep=1.5, random_state=0
    )
    rows = pd.DataFrame(X.astype(np.float32), columns=FEATURES)
    rows[LABEL] = np.array(["off", "idle", "running", "overload"], object)[y]
    (folder / "rows").mkdir(parents=True, exist_ok=True)
    rows[N_ROWS:].to_parquet(folder / "test.parquet", index=False)
    rows = rows[:N_ROWS]
    rows.loc[np.arange(N_ROWS) % 200 != 0, LABEL] = None
    for number, part in enumerate(np.array_split(np.arange(N_ROWS), N_FILES)):
        rows.iloc[part].to_parquet(folder / "rows" / f"part-{number}.parquet", index=False)


if __name__ == "__main__":
    write(Path(sys.argv[1]))
