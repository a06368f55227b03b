"""Forest cover types: models fitted on a cluster, compared with those of one machine."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import dask.dataframe as dd
import numpy as np
import pandas as pd

import sslart
import sslart.dask
from cluster.workers import cluster

N_TEST = 50_000
N_LABELS = 1000
N_PARTS = 16
FEW_ROWS = 50_000
# AutoSSLART may find that boxes add nothing to trees, which are grown from the labelled rows alone; in the others the
# boxes, which a cluster merges, decide.
MODELS: dict[str, tuple[str, dict[str, Any]]] = {
    "AutoSSLART": ("AutoSSLART", {}),
    "SSLART, evidence of boxes alone": (
        "SSLART",
        {"mapping": "evidence", "families": ("box",), "max_nodes": 10_000},
    ),
    "SSLART, one-to-many": ("SSLART", {"max_nodes": 10_000}),
}


def path() -> Path:
    """Return the path of the table: below the folder in SSLART_DATA."""
    return Path(os.environ.get("SSLART_DATA", "")) / "covtype" / "covtype.csv.gz"


def split(
    seed: int, n_rows: int | None, n_labels: int = N_LABELS
) -> tuple[pd.DataFrame, str, pd.DataFrame, np.ndarray]:
    """Return rows to learn, in the order of the file, the name of the label, test rows, and their classes."""
    table = pd.read_csv(path(), nrows=n_rows)
    label = table.columns[-1]
    classes = "type " + table[label].astype(str)
    order = np.random.default_rng(seed).permutation(len(table))
    test, rest = np.split(order, [min(N_TEST, len(table) // 5)])
    table[label] = classes.where(np.isin(np.arange(len(table)), rest[:n_labels]), None)
    rows = table.iloc[np.sort(rest)].reset_index(drop=True)
    return rows, label, table.iloc[test].drop(columns=label), classes.to_numpy(object)[test]


def measure(seed: int, n_workers: int, limit_mb: int, n_rows: int | None = None) -> list[dict[str, Any]]:
    """Return for each model both accuracies on rows that were held out, and how many predictions differ."""
    rows, label, X, y = split(seed, n_rows)
    features, found = list(X.columns), []
    with cluster(n_workers, limit_mb):
        parts = dd.from_pandas(rows, npartitions=N_PARTS, sort=False)
        for name, (kind, parameters) in MODELS.items():
            alone = getattr(sslart, kind)(random_state=seed, **parameters).fit(rows[features], rows[label])
            again = getattr(sslart, kind)(random_state=seed + 1000, **parameters).fit(rows[features], rows[label])
            spread = getattr(sslart.dask, kind)(random_state=seed, **parameters).fit(parts[features], parts[label])
            models = {"one machine": alone, "another order": again, "cluster": spread.to_local()}
            predicted = {where: np.asarray(model.predict(X), object) for where, model in models.items()}
            found.append(
                {
                    "model": name,
                    "seed": seed,
                    "rows": len(rows),
                    **{where: float(np.mean(one == y)) for where, one in predicted.items()},
                    "differ": float(np.mean(predicted["one machine"] != predicted["cluster"])),
                    "boxes": {where: int(model.n_nodes_) for where, model in models.items()},
                    "families": dict(getattr(alone, "family_weights_", {})),
                }
            )
    return found
