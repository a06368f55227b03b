"""The script that wrote the files of protocol 1 in this folder, and what their models answer.

It was run once, with the code of commit 0908361, and is kept as documentation. It is not run again: the files have to
stay as that code wrote them, because they show that later versions read what earlier versions have saved.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.datasets import load_iris

import sslart
from sslart import SSLART, WESSLART, AutoSSLART, FuzzyART, FuzzyARTMAP

FOLDER = Path(__file__).parent


def flowers() -> tuple[Any, Any, Any]:
    """Return 60 samples of iris, their classes, and the classes of every fifth alone."""
    X, y = load_iris(return_X_y=True)
    rows = np.random.RandomState(0).permutation(150)[:60]
    return X[rows], y[rows], np.where(np.arange(60) % 5 == 0, y[rows], -1)


def gaps() -> tuple[Any, Any, Any]:
    """Return samples of few different values with gaps, their classes, and the classes of every fourth alone."""
    random = np.random.RandomState(1)
    X = random.randint(0, 5, size=(48, 3)).astype(float)
    y = (X[:, 0] + X[:, 1] > 4).astype(int)
    X[random.uniform(size=X.shape) < 0.15] = np.nan
    X[np.isnan(X).all(axis=1), 0] = 0.0
    return X, y, np.where(np.arange(48) % 4 == 0, y, -1)


def people() -> tuple[Any, Any, Any]:
    """Return a frame of numbers, strings and booleans with gaps, its classes, and those of every fourth alone."""
    random = np.random.RandomState(2)
    age = random.randint(18, 80, 48).astype(float)
    colour = random.choice(["red", "green", "blue"], 48).astype(object)
    smoker = random.choice([True, False], 48)
    y = np.where(age + 20 * smoker > 55, "high", np.where(colour == "red", "mid", "low")).astype(object)
    frame = pd.DataFrame({"age": age, "colour": colour, "smoker": smoker})
    frame.loc[::7, "age"] = np.nan
    frame.loc[3::11, "colour"] = None
    few = y.copy()
    few[np.arange(48) % 4 > 0] = None
    return frame, y, few


def named(y: Any, names: list[Any]) -> Any:
    """Return codes as names, and None where unlabelled."""
    return np.array([None if code == -1 else names[code] for code in y], dtype=object)


def models() -> Iterator[tuple[str, Any, Any, Any]]:
    """Yield the name of each file, its model, samples to predict, and the classes of some of them to learn."""
    X, y, few = flowers()
    holes, parts, few_parts = gaps()
    frame, levels, few_levels = people()
    words = ["setosa", "versicolor", "virginica"]
    yield "fuzzy_art", FuzzyART(vigilance=0.7).fit(X), X, None
    yield "fuzzy_art_missing", FuzzyART(vigilance=0.6, learning_rate=0.5).fit(holes), holes, None
    yield "fuzzy_art_stream", FuzzyART(bounds=(0, 8), vigilance=0.6).partial_fit(X[:9]).partial_fit(X[9:]), X, None
    yield "fuzzy_artmap", FuzzyARTMAP().fit(X, named(y, words)), X, named(y, words)
    yield "fuzzy_artmap_categories", FuzzyARTMAP(vigilance=0.3).fit(frame, levels), frame, levels
    yield "one_to_many", SSLART(0.7, random_state=0).fit(X, few), X, y
    yield "one_to_many_missing", SSLART(0.6, random_state=0).fit(holes, few_parts), holes, parts
    yield "one_to_many_booleans", SSLART(0.7, random_state=0).fit(holes, named(few_parts, [False, True])), holes, None
    yield "one_to_many_ordered", SSLART(0.7, shuffle=False, learning_rate=0.6, choice=0.1).fit(X, few), X, y
    yield "one_to_one", SSLART(0.5, mapping="one-to-one", match_tracking=0.01, random_state=1).fit(X, few), X, y
    one_to_one = SSLART(0.5, mapping="one-to-one", random_state=2)
    yield "one_to_one_categories", one_to_one.fit(frame, few_levels), frame, levels
    evidence = SSLART(0.7, mapping="evidence", random_state=0)
    yield "evidence", evidence.fit(X, few), X, y
    settings: dict[str, Any] = {"width": 0.3, "ridge": 0.1, "rank_share": 0.25, "label_memory": 10}
    families = ("box", "linear", "feature")
    fixed = SSLART(0.7, mapping="evidence", families=families, random_state=0, **settings)
    yield "evidence_fixed", fixed.fit(X, named(few, words)), X, named(y, words)
    yield "auto", AutoSSLART(0.7, random_state=0).fit(X, named(few, words)), X, named(y, words)
    two = np.full(len(y), -1)
    two[[0, int(np.flatnonzero(y != y[0])[0])]] = y[[0, int(np.flatnonzero(y != y[0])[0])]]
    yield "auto_two_labels", AutoSSLART(0.7, random_state=3).fit(X, two), X, y
    yield "auto_missing", AutoSSLART(0.7, random_state=0).fit(holes, few_parts), holes, parts
    yield "auto_categories", AutoSSLART(0.6, random_state=0).fit(frame, few_levels), frame, levels
    booleans = AutoSSLART(0.7, abstain_below=0.8, random_state=0)
    yield "auto_booleans", booleans.fit(holes, named(few_parts, [False, True])), holes, named(parts, [False, True])
    minus_one = AutoSSLART(0.7, abstain_below=0.7, random_state=0)
    yield "auto_minus_one", minus_one.fit(X, named(few, [-1, 0, 1])), X, named(y, [-1, 0, 1])
    yield "abstention", SSLART(0.85, search_depth=1, abstain_below=0.9, random_state=0).fit(X, few), X, y
    weighted = WESSLART(3, vigilance=0.6, random_state=0)
    yield "votes", weighted.fit(X, named(few, words)), X, named(y, words)
    majority = WESSLART(3, voting="majority", mapping="one-to-one", vigilance=0.5, validation=0.3, random_state=0)
    yield "votes_majority", majority.fit(X, np.where(np.arange(60) % 2 == 0, y, -1)), X, y
    categories = WESSLART(2, vigilance=0.4, search_depth=2, random_state=0)
    yield "votes_categories", categories.fit(frame, few_levels), frame, levels
    together = WESSLART(2, mapping="evidence", families=["box", "feature"], vigilance=0.7, random_state=0)
    yield "votes_evidence", together.fit(X, few), X, y
    stream = SSLART(0.7, bounds=([4, 2, 1, 0], [8.0, 4.5, 7.0, 2.5]))
    for part in (slice(0, 1), slice(1, 20), slice(20, 60)):
        stream.partial_fit(X[part], few[part])
    yield "stream", stream, X, y
    declared = AutoSSLART(0.7, bounds=(0.0, 10.0), random_state=0)
    declared.partial_fit(X[:20], few[:20], classes=[0, 1, 2, 5]).partial_fit(X[20:], few[20:])
    yield "stream_auto", declared, X, y
    members = WESSLART(2, vigilance=0.6, random_state=0).partial_fit(X[:30], few[:30]).partial_fit(X[30:], few[30:])
    yield "stream_votes", members, X, y
    yield "stream_unlabelled", SSLART(0.7, bounds=np.array([[0.0] * 4, [9.0] * 4])).partial_fit(X), X, y
    yield "random_state", SSLART(0.6, random_state=np.random.RandomState(7)).fit(X, few), X, y
    unfitted = WESSLART(5, families=["box"], width=2.0, rank_share=1.0, label_memory=7, n_jobs=2, random_state=6)
    yield "unfitted", unfitted, X, y
    yield "unfitted_auto", AutoSSLART(bounds=(0, 10), abstain_below=0.6, random_state=5), X, y
    yield "unfitted_random_state", FuzzyARTMAP(shuffle=True, random_state=np.random.RandomState(3)), X, y


def plain(value: Any) -> Any:
    """Return a value as JSON can hold it, such that different types stay different."""
    if isinstance(value, np.random.RandomState):
        return {"next numbers": copy.deepcopy(value).randint(1000, size=5).tolist()}
    if isinstance(value, np.ndarray):
        return {"array": plain(value.tolist())}
    if isinstance(value, tuple):
        return {"tuple": [plain(one) for one in value]}
    if isinstance(value, list):
        return [plain(one) for one in value]
    return value


def as_rows(X: Any) -> dict[str, Any]:
    """Return samples as rows of plain values, None where missing, with the names of the columns of a frame."""
    columns = X.columns.tolist() if isinstance(X, pd.DataFrame) else None
    rows = X.to_numpy(dtype=object).tolist() if columns else X.tolist()
    return {"columns": columns, "rows": [[None if pd.isna(value) else value for value in row] for row in rows]}


def hexadecimal(values: Any) -> Any:
    """Return floats in nested lists as hexadecimal text."""
    return [hexadecimal(one) for one in values] if isinstance(values, list) else float(values).hex()


def answers(model: Any, X: Any) -> dict[str, Any]:
    """Return what a fitted model answers."""
    found = {"n_nodes": int(model.n_nodes_), "score_samples": hexadecimal(model.score_samples(X).tolist())}
    if isinstance(model, FuzzyART):
        return {**found, "predict": model.predict(X).tolist()}
    found["classes"] = model.classes_.tolist()
    if found["classes"]:
        found["predict"] = model.predict(X).tolist()
        found["predict_proba"] = hexadecimal(model.predict_proba(X).tolist())
    return found


def main() -> None:
    """Write all files."""
    expected = {}
    for name, model, X, y in models():
        path = FOLDER / f"{name}.sslart"
        sslart.save(model, path)
        asked = X[::5] if isinstance(X, np.ndarray) else X.iloc[::5]
        told: dict[str, Any] = {
            "estimator": type(model).__name__,
            "parameters": {key: plain(value) for key, value in model.get_params().items()},
            "samples": as_rows(asked),
            "answers": answers(model, asked) if model.__sklearn_is_fitted__() else None,
        }
        more = X[1:9] if isinstance(X, np.ndarray) else X.iloc[1:9]
        labels = None if y is None else y[1:9]
        loaded: Any = sslart.load(path)
        loaded.partial_fit(more, labels)
        told["learnt"] = {
            "samples": as_rows(more),
            "labels": None if labels is None else labels.tolist(),
            "answers": answers(loaded, asked),
        }
        expected[name] = told
    lines = ",\n".join(f"{json.dumps(name)}: {json.dumps(told)}" for name, told in expected.items())
    (FOLDER / "expected.json").write_text(f"{{\n{lines}\n}}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
