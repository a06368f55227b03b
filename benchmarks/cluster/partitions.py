"""Forest cover types in few and in many partitions, compared with one machine: `python -m cluster.partitions`.

Shows what the cutting of a table costs where boxes decide. Partitions are learnt in this process, as a cluster learns
them: the same partitions give the same model.
"""

from __future__ import annotations

import argparse
from typing import Any

import dask
import dask.dataframe as dd
import numpy as np
import pandas as pd

import pieces
import sslart
import sslart.dask
from cluster import covtype
from sslart._utils.text import markdown_table, plural

SEEDS = 5
N_PARTS = (1, 4, 16)
MODELS: dict[str, tuple[str, dict[str, Any]]] = {
    "SSLART, one-to-many": ("SSLART", {"max_nodes": 10_000}),
    "SSLART, one-to-one": ("SSLART", {"max_nodes": 10_000, "mapping": "one-to-one"}),
    "WESSLART, 3 members": ("WESSLART", {"n_members": 3, "max_nodes": 10_000}),
    "FuzzyARTMAP": ("FuzzyARTMAP", {}),
}
FULLY_LABELLED = "FuzzyARTMAP"


def measure(kind: str, parameters: dict[str, Any], seed: int, options: argparse.Namespace) -> list[float]:
    """Return the accuracy on one machine, with two orders of rows, and with each number of partitions."""
    rows, label, X, y = covtype.split(seed, options.rows, options.labels)
    if kind == FULLY_LABELLED:
        rows = rows[rows[label].notna()].reset_index(drop=True)
        parameters = {**parameters, "shuffle": True}
    features, scores = list(X.columns), []
    for state in (seed, seed + 1000):
        model = getattr(sslart, kind)(random_state=state, **parameters).fit(rows[features], rows[label])
        scores.append(right(model, X, y))
    for n_parts in N_PARTS:
        parts = dd.from_pandas(rows, npartitions=n_parts, sort=False)
        model = getattr(sslart.dask, kind)(random_state=seed, **parameters).fit(parts[features], parts[label])
        scores.append(right(model.to_local(), X, y))
    return scores


def right(model: Any, X: pd.DataFrame, y: np.ndarray) -> float:
    """Return the share of samples that a model predicts rightly, in %."""
    return 100 * float(np.mean(np.asarray(model.predict(X), object) == y))


def main(line: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", choices=list(MODELS), default=list(MODELS))
    parser.add_argument("--rows", type=int, default=covtype.FEW_ROWS, help="of the file, from its start")
    parser.add_argument("--labels", type=int, default=covtype.N_LABELS, help="how many rows have a label")
    parser.add_argument("--seeds", type=int, default=SEEDS)
    options = parser.parse_args(line)
    pieces.one_thread_each()
    table = []
    with dask.config.set(scheduler="synchronous"):
        for name in options.only:
            scores = np.array([measure(*MODELS[name], seed, options) for seed in range(options.seeds)])
            table.append([name, *(f"{mean:.2f}" for mean in scores.mean(axis=0))])
            print(name, scores.round(2).tolist(), flush=True)
    head = ["accuracy, %", "one machine", "other order", *(plural(n_parts, "partition") for n_parts in N_PARTS)]
    print(markdown_table(head, table))


if __name__ == "__main__":
    main()
