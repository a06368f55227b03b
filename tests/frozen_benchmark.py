"""A small benchmark whose figures are kept: the quality of the default model on fourteen tables, in seconds.

``python tests/frozen_benchmark.py`` prints what the code gives now beside the kept figures, and ``--write`` keeps what
it gives now, in ``tests/frozen_benchmark.json``. Write only with a change that is meant to change quality, and say in
the commit which table gained or lost. ``tests/test_frozen_benchmark.py`` fails when a figure is worse beyond noise: the
noise of a figure is its standard deviation over the random states of the model.
"""

from __future__ import annotations

import argparse
import json
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from sklearn import datasets

from sslart import AutoSSLART
from ten_tables import read

KEPT = Path(__file__).with_suffix(".json")
N_LABELS, MAX_ROWS, N_CHANGED = 60, 700, 3
SPLITS = range(3)
RANDOM_STATES = range(5)  # of the model, for the noise

# of each figure, the direction that is better
FIGURES = {
    "accuracy": +1,
    "log loss": -1,
    "intervals that hold": +1,
    "sets that hold the class": +1,
    "classes in a set": -1,
    "fidelity of rules": +1,
    "changed features": -1,
}


class Table(NamedTuple):
    """Samples and their classes."""

    X: Any
    y: Any


def _exclusive_or() -> Table:
    X = np.random.RandomState(0).uniform(-1, 1, (600, 6))
    return Table(X, (X[:, 0] * X[:, 1] > 0).astype(int))


def _frame(name: str) -> Callable[[], Table]:
    def make() -> Table:
        frame, label = read(name)
        return Table(frame.drop(columns=label), frame[label].to_numpy(object).astype(str))

    return make


TABLES: dict[str, Callable[[], Table]] = {
    "wine": lambda: Table(*datasets.load_wine(return_X_y=True)),
    "breast cancer": lambda: Table(*datasets.load_breast_cancer(return_X_y=True)),
    "digits": lambda: Table(*datasets.load_digits(return_X_y=True)),
    "moons": lambda: Table(*datasets.make_moons(600, noise=0.3, random_state=0)),
    "exclusive or": _exclusive_or,
    "noisy": lambda: Table(*datasets.make_classification(600, 12, n_informative=4, flip_y=0.2, random_state=0)),
    "five classes": lambda: Table(
        *datasets.make_classification(700, 10, n_informative=6, n_redundant=2, n_classes=5, random_state=0)
    ),
    **{name: _frame(name) for name in ("penguins", "cars", "Titanic", "biopsies", "orange juice", "e-mail", "mileage")},
}


def part(X: Any, rows: Any) -> Any:
    """Return rows of samples."""
    return X.iloc[rows].reset_index(drop=True) if isinstance(X, pd.DataFrame) else X[rows]


def figures_of(table: Table, split: int, random_state: int) -> dict[str, float]:
    """Return the figures of one fit: on `N_LABELS` labels, judged on rows that the model has not met."""
    rows = np.random.RandomState(split).permutation(len(table.y))[:MAX_ROWS]
    train, test = rows[: len(rows) // 2], rows[len(rows) // 2 :]
    y = pd.Series(table.y[train], dtype=object)
    y[N_LABELS:] = None
    model = AutoSSLART(random_state=random_state).fit(part(table.X, train), y.to_numpy())
    X, truth = part(table.X, test), np.asarray(table.y[test]).astype(object)
    predicted, proba, sets = model.predict(X), model.predict_proba(X), model.predict_set(X, 0.9)
    known = np.isin(truth, model.classes_)
    places = np.searchsorted(model.classes_, truth[known].astype(model.classes_.dtype))
    accuracy = float((predicted.astype(object) == truth).mean())
    stated = model.quality_.accuracy
    # rules take longer than the fit; they and changes are measured on one split
    rules = model.rules().predict(X).astype(object) if split == 0 else None
    changes = [model.counterfactual(part(X, [row]), n=1) for row in range(N_CHANGED)] if split == 0 else []
    return {
        "accuracy": accuracy,
        "log loss": float(-np.log(np.maximum(proba[known][np.arange(known.sum()), places], 1e-6)).mean()),
        "intervals that hold": float(stated is not None and stated.low <= accuracy <= stated.high),
        "sets that hold the class": float(sets[known][np.arange(known.sum()), places].mean()),
        "classes in a set": float(sets.sum(axis=1).mean()),
        "fidelity of rules": np.nan if rules is None else float((rules == predicted.astype(object)).mean()),
        "changed features": float(np.mean([len(one.changes) for found in changes for one in found] or [np.nan])),
    }


def measured(random_state: int = 0) -> dict[str, float]:
    """Return each figure, mean over tables and splits."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        every = [figures_of(make(), split, random_state) for make in TABLES.values() for split in SPLITS]
    return {name: round(float(np.nanmean([one[name] for one in every])), 4) for name in FIGURES}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help="keep what the code gives now")
    found = {}
    if parser.parse_args().write:
        runs = [measured(state) for state in RANDOM_STATES]
        for name in FIGURES:
            found[name] = {"kept": runs[0][name], "noise": round(float(np.std([run[name] for run in runs], ddof=1)), 4)}
        KEPT.write_text(json.dumps(found, indent=2) + "\n", encoding="utf-8")
    kept, now = json.loads(KEPT.read_text(encoding="utf-8")), measured()
    for name in FIGURES:
        print(f"{name:26} now {now[name]:.4f}  kept {kept[name]['kept']:.4f}  noise {kept[name]['noise']:.4f}")


if __name__ == "__main__":
    main()
