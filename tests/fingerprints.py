"""Fingerprints of what the library computes, to compare two states of the code through the public API alone.

``python tests/fingerprints.py record FILE`` writes a JSON file of named SHA-256 fingerprints, and
``python tests/fingerprints.py compare FILE`` computes them again and lists the names that differ; it then ends with 1.
``--only PREFIX`` restricts both to names that start so, and ``--show`` prints what was recorded and what is computed
now, where that is short. Names that end in ``/rounded`` are of the same values rounded to nine significant digits, so
that changes of the last bits can be told from others. Public names that have changed are looked up in the tables below.
"""

from __future__ import annotations

import argparse
import base64
import hashlib
import importlib
import inspect
import json
import os
import re
import subprocess
import sys
import tempfile
import time
import traceback
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from sklearn import datasets

import sslart
from sslart import SSLART, WESSLART, AutoSSLART, FuzzyART, FuzzyARTMAP

PARAMETERS = {"width": "bandwidth", "rank_share": "rank_weight", "label_memory": "max_labels"}
ATTRIBUTES = {"left_out_accuracy_": "loo_accuracy_", "evidence_weights_": "family_weights_"}
MODULES = {"sslart.labelling": "sslart.active"}
NAMES = {"Shortlist": "QueryPool", "Question": "Query", "worth_labelling": "select_queries"}
PARTS = {  # attributes of explanations and rules, and methods of the pool of queries
    "look_at": "add",
    "answer": "prediction",
    "asked": "search_path",
    "rival": "opposing_box",
    "unsure": "low_confidence",
    "conditions": "feature_matches",
}

N_EXPLAINED = 8
SHORT, MANY_NUMBERS = 4000, 4000
NEGLIGIBLE = 1e-12
Values = Iterator[tuple[str, Any]]


# ---------------------------------------------------------------------------------------------------- public names


def made(cls: type, **parameters: Any) -> Any:
    """Return an estimator, its parameters named as this state of the code names them."""
    known = inspect.signature(cls).parameters
    return cls(**{name if name in known else PARAMETERS.get(name, name): value for name, value in parameters.items()})


def got(thing: Any, name: str) -> Any:
    """Return an attribute by its old name or by its new one."""
    return getattr(thing, name if hasattr(thing, name) else {**ATTRIBUTES, **NAMES, **PARTS}.get(name, name))


def fields(thing: Any, names: str) -> list[Any]:
    """Return several attributes, each by its old name or by its new one."""
    return [got(thing, name) for name in names.split()]


def imported(name: str) -> Any:
    """Return a public module by its old name or by its new one."""
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError:
        return importlib.import_module(MODULES[name])


# ---------------------------------------------------------------------------------------------------- fingerprints


class Fingerprint(NamedTuple):
    """The digest of a value, the value itself where it is short, and its numbers where they are few."""

    digest: str
    shown: str | None
    numbers: str | None

    @classmethod
    def of(cls, value: Any) -> Fingerprint:
        """Return the fingerprint of a value made of arrays, frames, containers and plain values."""
        digest = hashlib.sha256()
        for part in _parts(value):
            digest.update(len(part).to_bytes(8, "little") + part)
        text = value if isinstance(value, str) else _shown(value)
        numbers = list(_numbers(value))
        packed = None
        if 0 < len(numbers) <= MANY_NUMBERS:
            packed = base64.b64encode(np.array(numbers, dtype="<f8").tobytes()).decode()
        return cls(digest.hexdigest(), text if len(text) <= SHORT else None, packed)

    def difference(self, other: Fingerprint) -> str:
        """Describe how far the numbers of two values are apart."""
        if self.numbers is None or other.numbers is None:
            return ""
        first, second = (np.frombuffer(base64.b64decode(one), dtype="<f8") for one in (self.numbers, other.numbers))
        if len(first) != len(second):
            return f"{len(first)} numbers became {len(second)}"
        apart = first != second
        apart &= ~(np.isnan(first) & np.isnan(second))
        if not apart.any():
            return "all numbers are equal"
        most = np.nanmax(np.abs(first - second)[apart])
        return f"{apart.sum()} of {len(first)} numbers differ, by {most:.2g} at most"


def _shown(value: Any) -> str:
    if isinstance(value, bytes):
        return f"{len(value)} bytes"
    with np.printoptions(threshold=200, floatmode="unique"):
        return repr(value)


def _parts(value: Any) -> Iterator[bytes]:
    """Yield what makes up a value, exactly: types, shapes and bytes."""
    match value:
        case np.ndarray() if value.dtype == object:
            yield f"objects {value.shape}".encode()
            for one in value.ravel().tolist():
                yield from _parts(one)
        case np.ndarray():
            yield f"array {value.dtype.str} {value.shape}".encode()
            yield np.ascontiguousarray(value).tobytes()
        case np.generic():
            yield from _parts(np.asarray(value))
        case pd.DataFrame():
            yield from _parts([value.index.tolist(), value.columns.tolist(), value.to_numpy(dtype=object)])
        case pd.Series():
            yield from _parts([value.index.tolist(), value.to_numpy(dtype=object)])
        case dict():
            yield f"dict {len(value)}".encode()
            for key, one in value.items():
                yield from _parts(key)
                yield from _parts(one)
        case list() | tuple():
            yield f"list {len(value)}".encode()
            for one in value:
                yield from _parts(one)
        case bytes():
            yield b"bytes"
            yield value
        case float():
            yield b"float"
            yield value.hex().encode()
        case None | bool() | int() | str():
            yield type(value).__name__.encode()
            yield str(value).encode()
        case _:
            raise TypeError(f"No fingerprint is taken of a {type(value).__name__}.")


def _numbers(value: Any) -> Iterator[float]:
    match value:
        case np.ndarray() if value.dtype.kind in "fiub":
            yield from value.ravel().astype(np.float64).tolist()
        case np.ndarray():
            yield from _numbers(value.ravel().tolist())
        case np.generic():
            yield from _numbers(value.item())
        case dict():
            yield from _numbers(list(value.values()))
        case list() | tuple():
            for one in value:
                yield from _numbers(one)
        case bool() | int() | float():
            yield float(value)


def rounded(value: Any) -> Any:
    """Return a value with all floats in it rounded to nine significant digits, and negligible ones put to zero."""
    match value:
        case np.ndarray() if value.dtype.kind == "f":
            return np.array([rounded(one) for one in value.ravel().tolist()], dtype=value.dtype).reshape(value.shape)
        case np.ndarray() if value.dtype == object:
            return [rounded(one) for one in value.ravel().tolist()]
        case np.floating():
            return rounded(float(value))
        case float():
            return 0.0 if abs(value) < NEGLIGIBLE else float(f"{value:.9g}")
        case dict():
            return {rounded(key): rounded(one) for key, one in value.items()}
        case list() | tuple():
            return [rounded(one) for one in value]
    return value


def with_rounded(name: str, value: Any) -> Values:
    """Yield a value and the same rounded."""
    yield name, value
    yield f"{name}/rounded", rounded(value)


# ------------------------------------------------------------------------------------------------------------ data


class Samples(NamedTuple):
    """Samples to learn, with labels of which most are unknown, all true labels, and samples to predict."""

    X: Any
    few: Any
    y: Any
    probe: Any


def _hidden(y: Any, every: int, unknown: Any = -1) -> Any:
    """Return labels of which one in `every` is kept, and the first of each class."""
    y = np.asarray(y)
    few = y.astype(object)
    kept = np.arange(len(y)) % every == 0
    kept[np.unique(y, return_index=True)[1]] = True
    few[~kept] = unknown
    return few.astype(np.int64) if unknown == -1 else few


def iris(every: int = 10) -> Samples:
    """Return iris as arrays, shuffled."""
    X, y = datasets.load_iris(return_X_y=True)
    order = np.random.RandomState(0).permutation(len(y))
    X, y = X[order], y[order]
    return Samples(X, _hidden(y, every), y, np.vstack([X[::5], X[:4] + 0.3, [[20.0, 0.0, 3.0, -4.0]]]))


def wine(every: int = 5) -> Samples:
    """Return wine as a frame with string classes."""
    data = datasets.load_wine(as_frame=True)
    order = np.random.RandomState(1).permutation(len(data.target))
    X = data.data.iloc[order].reset_index(drop=True)
    y = np.array([f"cultivar {code}" for code in data.target.to_numpy()[order]], dtype=object)
    return Samples(X, _hidden(y, every, None), y, X.iloc[::6])


def cancer(every: int = 20) -> Samples:
    """Return breast cancer as a frame with string classes."""
    data = datasets.load_breast_cancer(as_frame=True)
    y = data.target_names[data.target].astype(object)
    return Samples(data.data, _hidden(y, every, None), y, data.data.iloc[3::19])


def tied(n: int = 160) -> Samples:
    """Return few different values, many equal samples, and gaps."""
    random = np.random.RandomState(2)
    X = random.randint(0, 4, size=(n, 5)).astype(float)
    y = (X[:, 0] + X[:, 1] > 3).astype(int) + (X[:, 2] > 2)
    X[random.uniform(size=X.shape) < 0.12] = np.nan
    X[:, 4] = 7.0  # constant
    X[np.isnan(X).all(axis=1), 0] = 0.0
    return Samples(X, _hidden(y, 6), y, np.vstack([X[::8], [[0.5, np.nan, np.nan, np.nan, np.nan]]]))


def mixed(n: int = 180) -> Samples:
    """Return a frame of numbers, strings, booleans and a pandas category, with gaps."""
    random = np.random.RandomState(3)
    size, age = random.normal(5, 2, n).round(2), random.randint(18, 80, n)
    colour = random.choice(["red", "green", "blue"], n).astype(object)
    smoker = random.choice([True, False], n)
    grade = pd.Categorical(random.choice(["low", "mid", "high"], n), categories=["low", "mid", "high"])
    score = size + (colour == "red") * 2 - (age > 50) * 1.5 + smoker
    y = np.where(score > 6, "yes", np.where(score > 4, "perhaps", "no")).astype(object)
    X = pd.DataFrame({"size": size, "colour": colour, "age": age, "smoker": smoker, "grade": grade})
    X.loc[::9, "size"] = np.nan
    X.loc[4::13, "colour"] = None
    X.loc[7::17, "grade"] = None
    probe = X.iloc[2::7].copy()
    probe.iloc[0, probe.columns.get_loc("colour")] = "violet"
    return Samples(X, _hidden(y, 6, None), y, probe)


def many(n: int = 1500) -> Samples:
    """Return numbers of which more than a thousand are labelled."""
    X, y = datasets.make_classification(
        n, 6, n_informative=4, n_redundant=1, n_classes=3, n_clusters_per_class=1, random_state=4
    )
    few = y.copy()
    few[::5] = -1
    return Samples(X.round(3), few, y, X[::40])


# ---------------------------------------------------------------------------------------------------------- models


@dataclass(frozen=True)
class Case:
    """A model that has learnt, samples to predict, samples to learn afterwards, and how many to explain."""

    make: Callable[[], tuple[Any, Any, tuple[Any, Any] | None]]
    n_explained: int = N_EXPLAINED


CASES: dict[str, Case] = {}


def fitted(samples: Callable[..., Samples], cls: type, labels: str = "few", **parameters: Any) -> Case:
    """Return the case of an estimator that is fitted to samples."""

    def make() -> tuple[Any, Any, tuple[Any, Any] | None]:
        data = samples()
        model = made(cls, **parameters)
        if cls is FuzzyART:
            return model.fit(data.X), data.probe, None
        y = getattr(data, labels)
        return model.fit(data.X, y), data.probe, (_rows(data.X, slice(0, 12)), data.y[:12])

    return Case(make)


def streamed(
    samples: Callable[..., Samples], cls: type, cuts: list[int], labels: str = "few", **parameters: Any
) -> Case:
    """Return the case of an estimator that learns samples in pieces."""

    def make() -> tuple[Any, Any, tuple[Any, Any] | None]:
        data = samples()
        model = made(cls, **parameters)
        y = getattr(data, labels)
        for start, stop in zip([0, *cuts], [*cuts, len(y)], strict=True):
            part = slice(start, stop)
            if cls is FuzzyART:
                model.partial_fit(_rows(data.X, part))
            else:
                model.partial_fit(_rows(data.X, part), y[part])
        more = None if cls is FuzzyART else (_rows(data.X, slice(0, 12)), data.y[:12])
        return model, data.probe, more

    return Case(make)


def _rows(X: Any, rows: Any) -> Any:
    return X.iloc[rows] if hasattr(X, "iloc") else X[rows]


def as_classes(kind: Callable[[Any], Any], samples: Callable[..., Samples] = iris) -> Callable[[], Samples]:
    """Return samples whose classes are of another kind."""

    def changed() -> Samples:
        data = samples()
        return data._replace(few=kind(data.few), y=kind(data.y))

    return changed


def _words(y: Any) -> Any:
    return np.array([None if code == -1 else "abc"[code] * 3 for code in y], dtype=object)


def _large_integers(y: Any) -> Any:
    return np.array([code if code == -1 else 10 * code + 3 for code in y])


def _booleans(y: Any) -> Any:
    return np.array([None if code == -1 else bool(code > 0) for code in y], dtype=object)


def _minus_one(y: Any) -> Any:
    return np.array([None if code == -1 else code - 1 for code in y], dtype=object)


def _growing() -> Samples:
    """Return a stream in which classes come one after the other and the range widens."""
    data = iris(3)
    order = np.argsort(data.y, kind="stable")
    scale = 1 + np.arange(len(order))[:, None] / 60
    return Samples(data.X[order] * scale, data.few[order], data.y[order], data.X[::5] * 2)


def _register_models() -> None:
    one_to_many, one_to_one, evidence = ({"mapping": name} for name in ("one-to-many", "one-to-one", "evidence"))
    seed: dict[str, Any] = {"random_state": 0}
    CASES.update(
        {
            "art-iris": fitted(iris, FuzzyART, vigilance=0.8),
            "art-tied-shuffled": fitted(tied, FuzzyART, vigilance=0.7, shuffle=True, **seed),
            "art-mixed-slow": fitted(mixed, FuzzyART, vigilance=0.6, learning_rate=0.5),
            "art-stream": streamed(_growing, FuzzyART, [1, 2, 40, 41], vigilance=0.7),
            "artmap-iris": fitted(iris, FuzzyARTMAP, "y"),
            "artmap-tied": fitted(tied, FuzzyARTMAP, "y", match_tracking=1e-3),
            "artmap-mixed-shuffled": fitted(mixed, FuzzyARTMAP, "y", shuffle=True, random_state=3, vigilance=0.5),
            "artmap-wine-slow": fitted(wine, FuzzyARTMAP, "y", learning_rate=0.3, choice=0.1),
            "artmap-stream": streamed(_growing, FuzzyARTMAP, [1, 30, 31, 90], "y"),
            "many-iris": fitted(iris, SSLART, vigilance=0.8, **one_to_many, **seed),
            "many-wine": fitted(wine, SSLART, vigilance=0.75, **one_to_many, **seed),
            "many-tied": fitted(tied, SSLART, vigilance=0.7, **one_to_many, **seed),
            "many-mixed": fitted(mixed, SSLART, vigilance=0.7, **one_to_many, **seed),
            "many-cancer-jobs1": fitted(cancer, SSLART, n_jobs=1, **seed),
            "many-cancer-jobs2": fitted(cancer, SSLART, n_jobs=2, **seed),
            "many-slow": fitted(iris, SSLART, vigilance=0.8, learning_rate=0.4, **seed),
            "many-ordered": fitted(iris, SSLART, vigilance=0.8, shuffle=False),
            "many-depth1": fitted(iris, SSLART, vigilance=0.9, search_depth=1, **seed),
            "many-depth3-words": fitted(as_classes(_words), SSLART, vigilance=0.9, search_depth=3, **seed),
            "many-abstain": fitted(tied, SSLART, vigilance=0.4, abstain_below=0.8, **seed),
            "many-abstain-depth": fitted(mixed, SSLART, vigilance=0.6, abstain_below=0.9, search_depth=2, **seed),
            "one-iris": fitted(iris, SSLART, vigilance=0.7, **one_to_one, **seed),
            "one-tied": fitted(tied, SSLART, vigilance=0.5, match_tracking=0.01, **one_to_one, **seed),
            "one-mixed": fitted(mixed, SSLART, vigilance=0.6, **one_to_one, **seed),
            "classes-words": fitted(as_classes(_words), AutoSSLART, **seed),
            "classes-integers": fitted(as_classes(_large_integers), AutoSSLART, abstain_below=0.7, **seed),
            "classes-booleans": fitted(as_classes(_booleans), AutoSSLART, abstain_below=0.8, **seed),
            "classes-booleans-many": fitted(as_classes(_booleans), SSLART, vigilance=0.8, **seed),
            "classes-minus-one": fitted(as_classes(_minus_one), AutoSSLART, abstain_below=0.8, **seed),
            "classes-minus-one-many": fitted(as_classes(_minus_one), SSLART, search_depth=2, **seed),
            "auto-iris": fitted(iris, AutoSSLART, **seed),
            "auto-wine": fitted(wine, AutoSSLART, **seed),
            "auto-tied": fitted(tied, AutoSSLART, **seed),
            "auto-mixed": fitted(mixed, AutoSSLART, **seed),
            "auto-cancer-jobs1": fitted(cancer, AutoSSLART, n_jobs=1, **seed),
            "auto-cancer-jobs2": fitted(cancer, AutoSSLART, n_jobs=2, **seed),
            "auto-abstain": fitted(cancer, AutoSSLART, abstain_below=0.85, **seed),
            "auto-depth": fitted(iris, AutoSSLART, vigilance=0.95, search_depth=2, **seed),
            "auto-depth-abstain": fitted(mixed, AutoSSLART, search_depth=1, abstain_below=0.6, **seed),
            "auto-memory": fitted(iris, AutoSSLART, label_memory=9, **seed),
            "auto-primal": fitted(many, AutoSSLART, vigilance=0.8, **seed),
            "evidence-fixed": fitted(iris, SSLART, width=0.3, ridge=0.1, rank_share=0.25, **evidence, **seed),
            "evidence-slow": fitted(tied, SSLART, learning_rate=0.5, **evidence, **seed),
            "evidence-two": fitted(mixed, SSLART, families=("box", "linear"), ridge=1.0, **evidence, **seed),
            "vote-iris": fitted(iris, WESSLART, n_members=5, vigilance=0.8, **seed),
            "vote-majority": fitted(iris, WESSLART, n_members=5, vigilance=0.8, voting="majority", **seed),
            "vote-held-out": fitted(wine, WESSLART, n_members=3, vigilance=0.8, validation=0.3, **seed),
            "vote-mixed-one": fitted(mixed, WESSLART, n_members=3, vigilance=0.6, **one_to_one, **seed),
            "vote-tied-depth": fitted(tied, WESSLART, n_members=3, vigilance=0.9, search_depth=1, **seed),
            "vote-abstain": fitted(tied, WESSLART, n_members=3, vigilance=0.5, abstain_below=0.7, **seed),
            "vote-jobs2": fitted(cancer, WESSLART, n_members=4, n_jobs=2, **seed),
            "vote-evidence": fitted(iris, WESSLART, n_members=3, **evidence, **seed),
            "vote-evidence-majority": fitted(
                mixed, WESSLART, n_members=2, voting="majority", n_jobs=2, abstain_below=0.6, **evidence, **seed
            ),
            "stream-many": streamed(_growing, SSLART, [1, 3, 50, 51], vigilance=0.8),
            "stream-many-bounds": streamed(iris, SSLART, [7, 8, 90], vigilance=0.8, bounds=(0, 10)),
            "stream-many-bounds-whole": streamed(iris, SSLART, [], vigilance=0.8, bounds=(0, 10)),
            "stream-one": streamed(_growing, SSLART, [10, 60, 110], vigilance=0.6, **one_to_one),
            "stream-mixed": streamed(mixed, SSLART, [20, 21, 100], vigilance=0.7),
            "stream-auto": streamed(_growing, AutoSSLART, [5, 60, 61, 120], **seed),
            "stream-auto-bounds": streamed(iris, AutoSSLART, [7, 8, 90], bounds=(0, 10), **seed),
            "stream-auto-bounds-whole": streamed(iris, AutoSSLART, [], bounds=(0, 10), **seed),
            "stream-auto-mixed": streamed(mixed, AutoSSLART, [30, 31, 100], **seed),
            "stream-vote": streamed(_growing, WESSLART, [20, 70, 71], n_members=3, vigilance=0.8, **seed),
            "stream-vote-bounds": streamed(
                iris, WESSLART, [33, 90], n_members=3, bounds=([4, 2, 1, 0], [8, 5, 7, 3]), **seed
            ),
            "stream-vote-evidence": streamed(iris, WESSLART, [75], n_members=2, **evidence, **seed),
        }
    )
    for family in ("box", "relevant", "feature", "linear", "subspace", "propagated"):
        CASES[f"family-{family}"] = fitted(mixed, SSLART, families=family, **evidence, **seed)
        CASES[f"family-{family}-iris"] = fitted(iris, SSLART, families=[family], **evidence, **seed)


NODE_ATTRIBUTES = (
    "n_nodes_",
    "n_nodes_stage1_",
    "n_labelled_nodes_",
    "lower_",
    "upper_",
    "counts_",
    "node_labels_",
    "support_",
    "coded_feature_names_",
    "class_weights_",
    "n_features_in_",
)


def of_model(name: str, case: Case) -> Values:
    """Yield all values of one model."""
    model, probe, more = case.make()
    yield from guarded(f"{name}/nodes", of_nodes(name, model, probe))
    yield from guarded(f"{name}/predict", of_predictions(name, model, probe))
    if more is not None:
        explained = _rows(probe, slice(0, case.n_explained))
        yield from guarded(f"{name}/explain", of_explanations(name, model, explained))
        yield from guarded(f"{name}/rules", of_rules(name, model, more))
        yield f"{name}/score", model.score(*more)
    yield from guarded(f"{name}/saved", of_files(name, model, probe, more))


def guarded(name: str, values: Values) -> Values:
    """Yield values; where that fails, the error in place of what is missing."""
    try:
        yield from values
    except Exception as error:
        where = traceback.extract_tb(error.__traceback__)[-1]
        text = f"{type(error).__name__}: {error}"
        print(f"{name}: {text} ({where.filename}:{where.lineno})", file=sys.stderr)
        yield f"{name}/ERROR", text


def of_nodes(name: str, model: Any, probe: Any) -> Values:
    """Yield the boxes of a model and what it has chosen."""
    yield f"{name}/nodes", {one: getattr(model, one) for one in NODE_ATTRIBUTES if hasattr(model, one)}
    yield f"{name}/novelty_threshold", model.novelty_threshold_
    if isinstance(model, FuzzyART):
        yield f"{name}/labels", model.labels_
        return
    yield f"{name}/apply", model.apply(probe)
    if not isinstance(model, WESSLART) and getattr(model, "mapping", None) == "evidence":
        weights = got(model, "evidence_weights_")
        yield from with_rounded(f"{name}/family_weights", list(weights.values()))
        yield f"{name}/families", list(weights)
        yield from with_rounded(f"{name}/loo_accuracy", got(model, "left_out_accuracy_"))


def of_predictions(name: str, model: Any, probe: Any) -> Values:
    """Yield what a model predicts."""
    yield f"{name}/predict", model.predict(probe)
    yield from with_rounded(f"{name}/score_samples", model.score_samples(probe))
    if not isinstance(model, FuzzyART):
        yield f"{name}/classes", model.classes_
        yield from with_rounded(f"{name}/proba", model.predict_proba(probe))


def of_files(name: str, model: Any, probe: Any, more: tuple[Any, Any] | None) -> Values:
    """Yield the file of a model, whether it is the same model when loaded, and what that learns afterwards."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.sslart"
        sslart.save(model, path)
        content = path.read_bytes()
        again: Any = sslart.load(path)
        sslart.save(model, path, samples=False)
        without, told = path.read_bytes(), sslart.load(path)
    yield f"{name}/saved", content
    yield f"{name}/saved/without_samples", without
    yield f"{name}/saved/arrays", _arrays_of(content)
    loaded = {"predict": np.array_equal(again.predict(probe), model.predict(probe))}
    loaded["without samples"] = np.array_equal(told.predict(probe), model.predict(probe))
    if more is not None:
        loaded["proba"] = np.array_equal(again.predict_proba(probe), model.predict_proba(probe))
        for one in (model, again):
            one.partial_fit(*more)
        loaded["proba afterwards"] = np.array_equal(again.predict_proba(probe), model.predict_proba(probe))
    yield f"{name}/loaded", loaded
    if more is not None:
        yield from with_rounded(f"{name}/learnt_on", again.predict_proba(probe))


def _arrays_of(content: bytes) -> bytes:
    """Return the bytes after the header of a saved file: the arrays."""
    length = int.from_bytes(content[12:20], "little")
    return content[52 + length :]


def of_explanations(name: str, model: Any, probe: Any) -> Values:
    """Yield explanations as text, as values and as a dict."""
    explanations = model.explain(probe)
    yield f"{name}/explain/text", "\n\n".join(map(str, explanations))
    plain = [explanation.to_dict() for explanation in explanations]
    yield f"{name}/explain/dict", plain
    yield from with_rounded(f"{name}/explain/numbers", list(_numbers(plain)))
    yield f"{name}/explain/html", "\n".join(explanation._repr_html_() for explanation in explanations)
    yield from with_rounded(f"{name}/explain/values", [_explained(explanation) for explanation in explanations])


def _explained(explanation: Any) -> list[Any]:
    """Return the values of an explanation without the names that it has for them."""
    counterfactual, novelty, votes, scores = fields(explanation, "counterfactual novelty votes scores")
    return [
        fields(explanation, "answer abstained confidence unsure"),
        [_boxed(box) for box in fields(explanation, "box rival")],
        [fields(node, "node choice match label") for node in got(explanation, "asked")],
        _evidence(got(explanation, "evidence")),
        None if counterfactual is None else fields(counterfactual, "answer sample"),
        None if novelty is None else fields(novelty, "familiarity vigilance node features threshold is_novel"),
        None if votes is None else [fields(vote, "member vote weight node") for vote in votes],
        None if scores is None else list(scores.items()),
    ]


def _boxed(box: Any) -> list[Any] | None:
    if box is None:
        return None
    names = "value lower upper categories inside outside_by share width beyond_range"
    conditions = [fields(condition, names) for condition in got(box, "conditions")]
    return [*fields(box, "node member label support choice match distance"), conditions]


def _evidence(evidence: Any) -> list[Any] | None:
    if evidence is None:
        return None
    names = "predicted runner_up base margin probability runner_up_probability rest"
    contributions = [fields(one, "kind amount features values amounts") for one in evidence.contributions]
    return [*fields(evidence, names), len(evidence.shown), contributions]


def of_rules(name: str, model: Any, more: tuple[Any, Any]) -> Values:
    """Yield the rules of a model as text, as values and as they are exported."""
    rules = model.rules(kind="boxes")
    yield f"{name}/rules/text", rules.to_text()
    yield from with_rounded(f"{name}/rules/values", [_ruled(rule) for rule in rules])
    yield f"{name}/rules/dict", rules.to_dict()
    yield f"{name}/rules/frame", rules.to_frame()
    yield f"{name}/rules/markdown", rules.to_markdown()
    yield f"{name}/rules/filtered", model.rules(kind="boxes", levels=3, min_confidence=0.6, min_support=2).to_text()
    if getattr(model, "mapping", None) != "evidence":
        fewer = model.rules(kind="boxes", simplify=more)
        yield f"{name}/rules/simplified/text", fewer.to_text()
        yield f"{name}/rules/simplified/values", [_ruled(rule) for rule in fewer]
        predict = fewer.predict if hasattr(fewer, "predict") else fewer.answer
        yield f"{name}/rules/simplified/answers", predict(more[0])


def _ruled(rule: Any) -> list[Any]:
    counts, evidence = fields(rule, "counts evidence")
    names = "low_level high_level low_value high_value full_range categories"
    return [
        fields(rule, "label support confidence_factor confidence nodes members"),
        list(counts.items()),
        None if evidence is None else list(evidence.items()),
        [fields(condition, names) for condition in got(rule, "conditions")],
    ]


# ---------------------------------------------------------------------------------------------- around the models


def of_onnx() -> Values:
    """Yield the bytes of exported models."""
    try:
        import onnx  # noqa: F401
    except ImportError:
        return
    for name in ("auto-iris", "many-mixed", "vote-iris", "auto-abstain"):
        model = CASES[name].make()[0]
        yield f"onnx/{name}", sslart.to_onnx(model).SerializeToString(deterministic=True)


def of_river() -> Values:
    """Yield the predictions on a stream of dicts, with keys that are missing or come late."""
    try:
        from sslart.river import NoveltyDetector, StreamClassifier
    except ImportError:
        return
    data = mixed(120)
    samples = []
    for number, row in enumerate(data.X.to_dict("records")):
        sample = {key: value for key, value in row.items() if not (key == "age" and number < 20)}
        samples.append({key: None if value is pd.NA else value for key, value in sample.items()})
    estimators = {
        "default": None,
        "artmap": FuzzyARTMAP(bounds=(0, 100)),
        "many": SSLART(vigilance=0.7, search_depth=2),
        "auto": AutoSSLART(random_state=0, abstain_below=0.5),
        "vote": WESSLART(3, random_state=0),
    }
    for name, estimator in estimators.items():
        model = StreamClassifier(estimator)
        answers, shares = [], []
        for number, (sample, label) in enumerate(zip(samples, data.y, strict=True)):
            if number % (1 if name != "auto" else 6) == 0:
                answers.append(model.predict_one(sample))
                shares.append(model.predict_proba_one(sample))
            model.learn_one(sample, label if number % 3 == 0 or name == "artmap" else None)
        yield f"river/{name}/answers", answers
        yield from with_rounded(f"river/{name}/shares", shares)
        yield f"river/{name}/to_sklearn", list(model.to_sklearn().feature_names_in_)
    detector = NoveltyDetector(FuzzyART(vigilance=0.6))
    scores = []
    for sample in samples:
        scores.append(detector.score_one(sample))
        detector.learn_one(sample)
    yield from with_rounded("river/novelty", scores)


def of_labelling() -> Values:
    """Yield the rows to label next, at once and one after the other."""
    module = imported("sslart.labelling")
    select, pool_class = (got(module, name) for name in ("worth_labelling", "Shortlist"))
    for name, samples in (("auto-iris", iris), ("many-tied", tied), ("auto-mixed", mixed), ("vote-iris", iris)):
        model = CASES[name].make()[0]
        data = samples()
        yield f"labelling/{name}/rows", select(model, data.X, 15)
        pool = pool_class(model)
        asked = []
        for part in (slice(0, 60), slice(60, None)):
            unknown = [label is None or label == -1 for label in data.few[part]]
            got(pool, "look_at")(_rows(data.X, part), [not one for one in unknown])
        for _ in range(4):
            (query,) = got(pool, "best")(1)
            got(pool, "done")(query)
            asked.append([int(value) for value in query])
            model.partial_fit(_rows(data.X, [query.row]), data.y[[query.row]])
        yield f"labelling/{name}/in_turn", asked


def of_metrics() -> Values:
    """Yield the scores of a model that abstains."""
    from sslart import metrics

    data = tied()
    model = made(SSLART, vigilance=0.5, abstain_below=0.8, random_state=0).fit(data.X, data.few)
    answers = model.predict(data.X)
    yield "metrics/coverage", metrics.coverage_score(data.y, answers)
    yield "metrics/correctness", metrics.correctness_score(data.y, answers)
    yield "metrics/interval", list(metrics.bootstrap_interval([0.1, 0.4, 0.35, 0.8, 0.9], random_state=0))


# ---------------------------------------------------------------------------------------------------- command line


def _write_tables(folder: Path) -> None:
    data = mixed(150)
    frame = data.X.drop(columns="grade").assign(name=[f"s{row}" for row in range(150)], kind=data.few)
    frame[:110].to_csv(folder / "train.csv", index=False)
    frame[110:].drop(columns="kind").to_csv(folder / "new.csv", index=False)
    frame[110:].assign(kind=data.y[110:]).to_csv(folder / "truth.csv", index=False)


COMMANDS: dict[str, tuple[list[str], list[str], str]] = {
    # name: (arguments, files written, standard input)
    "fit": (["fit", "train.csv", "--label", "kind", "--id", "name", "--out", "m.sslart"], ["m.sslart"], ""),
    "fit-json": (["fit", "train.csv", "--label", "kind", "--ignore", "name", "--out", "j.sslart", "--json"], [], ""),
    "fit-many": (
        ["fit", "train.csv", "--label", "kind", "--id", "name", "--mapping", "one-to-many", "--out", "o.sslart"],
        ["o.sslart"],
        "",
    ),
    "fit-vote": (
        ["fit", "train.csv", "--label", "kind", "--id", "name", "--members", "2", "--out", "v.sslart"],
        ["v.sslart"],
        "",
    ),
    "predict": (["predict", "m.sslart", "new.csv"], [], ""),
    "predict-file": (
        ["predict", "m.sslart", "new.csv", "--id", "name", "--abstain-below", "0.6", "--out", "a.csv"],
        ["a.csv"],
        "",
    ),
    "predict-vote": (["predict", "v.sslart", "new.csv"], [], ""),
    "explain": (["explain", "m.sslart", "new.csv", "--row", "3"], [], ""),
    "explain-json": (["explain", "m.sslart", "new.csv", "--row", "3", "--json"], [], ""),
    "explain-many": (["explain", "o.sslart", "new.csv", "--row", "5"], [], ""),
    "rules": (["rules", "m.sslart", "--min-support", "3"], [], ""),
    "rules-csv": (["rules", "o.sslart", "--format", "csv"], [], ""),
    "report": (
        ["report", "m.sslart", "truth.csv", "--label", "kind", "--id", "name", "--held-out", "--out", "r.html"],
        ["r.html"],
        "",
    ),
    "update": (["update", "m.sslart", "truth.csv", "--label", "kind", "--out", "u.sslart"], ["u.sslart"], ""),
    "watch": (["watch", "u.sslart", "new.csv", "--id", "name", "--every", "15"], ["u.sslart"], ""),
    "label": (
        ["label", "m.sslart", "new.csv", "--questions", "3", "--record", "l.csv", "--out", "l.sslart"],
        ["l.csv", "l.sslart"],
        "yes\n\nno\n",
    ),
}


def of_command_line() -> Values:
    """Yield what the commands print and write."""
    environment = {**os.environ, "COLUMNS": "100", "NO_COLOR": "1", "TERM": "dumb", "PYTHONUTF8": "1"}
    environment.pop("FORCE_COLOR", None)
    source = str(Path(sslart.__file__).parents[1])
    environment["PYTHONPATH"] = os.pathsep.join(filter(None, [source, environment.get("PYTHONPATH", "")]))
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        _write_tables(folder)
        for name, (arguments, files, typed) in COMMANDS.items():
            run = subprocess.run(
                [sys.executable, "-m", "sslart", *arguments],
                cwd=folder,
                env=environment,
                input=typed.encode(),
                capture_output=True,
                check=False,
            )
            yield f"cli/{name}/code", run.returncode
            yield f"cli/{name}/stdout", _normalised(run.stdout.decode(), temporary)
            yield f"cli/{name}/stderr", _normalised(run.stderr.decode(), temporary)
            for file in files:
                path = folder / file
                if not path.exists():
                    yield f"cli/{name}/{file}", "not written"
                elif path.suffix == ".sslart":
                    yield f"cli/{name}/{file}", path.read_bytes()
                    yield f"cli/{name}/{file}/arrays", _arrays_of(path.read_bytes())
                else:
                    yield f"cli/{name}/{file}", _normalised(path.read_text(encoding="utf-8"), temporary)


def _normalised(text: str, folder: str) -> str:
    """Return text without what differs from run to run: times, dates, versions and paths."""
    text = text.replace(str(Path(folder).resolve()), "FOLDER").replace(folder, "FOLDER")
    text = re.sub(r'"seconds": [0-9.e-]+', '"seconds": 0', text)
    text = re.sub(r"\b\d+\.\d\d s\b *", "TIME ", text)
    text = re.sub(r"\b\d{4}-\d\d-\d\d(T[0-9:.+]+)?\b", "DATE", text)
    return re.sub(r"with sslart [0-9][0-9a-z.+]*[0-9a-z]", "with sslart VERSION", text)


# ---------------------------------------------------------------------------------------------------------- running


def groups(only: str) -> Iterator[tuple[str, Callable[[], Values]]]:
    """Yield the name and the work of each group of values that the prefix may select."""
    _register_models()
    every: dict[str, Callable[[], Values]] = {
        name: (lambda name=name, case=case: of_model(name, case))  # type: ignore[misc]
        for name, case in CASES.items()
    }
    every |= {
        "onnx": of_onnx,
        "river": of_river,
        "labelling": of_labelling,
        "metrics": of_metrics,
        "cli": of_command_line,
    }
    for name, work in every.items():
        if f"{name}/".startswith(only) or only.startswith(f"{name}/"):
            yield name, work


def computed(only: str = "") -> dict[str, Fingerprint]:
    """Return all fingerprints whose names start so; a group that fails has the error instead of what is missing."""
    found: dict[str, Fingerprint] = {}
    start = time.perf_counter()
    for group, work in groups(only):
        began = time.perf_counter()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for name, value in guarded(group, work()):
                if name.startswith(only) or name.endswith("/ERROR"):
                    found[name] = Fingerprint.of(value)
        if "FINGERPRINTS_TIMES" in os.environ:
            print(f"{time.perf_counter() - began:6.2f} s {group}", file=sys.stderr)
    print(f"{len(found)} fingerprints in {time.perf_counter() - start:.0f} s", file=sys.stderr)
    return found


def record(path: Path, only: str) -> int:
    """Write the fingerprints to a file."""
    found = computed(only)
    plain = {name: fingerprint._asdict() for name, fingerprint in found.items()}
    path.write_text(json.dumps(plain, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    return int(any(name.endswith("/ERROR") for name in found))


def compare(path: Path, only: str, *, show: bool) -> int:
    """List the names that differ from those in a file."""
    stored = json.loads(path.read_text(encoding="utf-8"))
    before = {name: Fingerprint(**one) for name, one in stored.items() if name.startswith(only)}
    after = computed(only)
    differing = [name for name in {**before, **after} if not _same(before.get(name), after.get(name))]
    for name in differing:
        old, new = before.get(name), after.get(name)
        if old is None or new is None:
            print(f"{name}: {'not recorded' if old is None else 'not computed'}")
        else:
            print(": ".join(filter(None, [name, old.difference(new)])))
        if show:
            for mark, one in (("-", old), ("+", new)):
                text = "(none)" if one is None else one.shown if one.shown is not None else "(too long)"
                print("\n".join(f"  {mark} {line}" for line in text.splitlines()))
    print(f"{len(differing)} of {len({**before, **after})} differ", file=sys.stderr)
    return int(bool(differing))


def _same(old: Fingerprint | None, new: Fingerprint | None) -> bool:
    return old is not None and new is not None and old.digest == new.digest


def main() -> int:
    """Run the command line of this script."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("action", choices=("record", "compare"))
    parser.add_argument("file", type=Path)
    parser.add_argument("--only", default="", metavar="PREFIX", help="restrict to names that start so")
    parser.add_argument("--show", action="store_true", help="print short values before and after")
    options = parser.parse_args()
    if options.action == "record":
        return record(options.file, options.only)
    return compare(options.file, options.only, show=options.show)


if __name__ == "__main__":
    raise SystemExit(main())
