"""Small models of every kind that a file can hold, and what must hold for a model that `load` returns."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.exceptions import NotFittedError

import sslart
from sslart import SSLART, WESSLART, AutoSSLART, FuzzyART, FuzzyARTMAP
from sslart.persistence import save_with_notes

NONE = [np.nan, np.nan]


def numbers() -> tuple[np.ndarray, np.ndarray]:
    random = np.random.RandomState(0)
    y = np.arange(18) % 3
    return random.normal(scale=0.6, size=(18, 2)).round(2) + 4 * y[:, None], y


def mixed() -> tuple[pd.DataFrame, np.ndarray]:
    random = np.random.RandomState(1)
    frame = pd.DataFrame({"size": random.rand(18).round(2), "kind": random.choice(["a", "b"], 18).astype(object)})
    frame.loc[::5, "size"], frame.loc[3::7, "kind"] = np.nan, None
    frame["on"] = random.rand(18) < 0.5
    y = np.where(frame["size"].fillna(0) > 0.5, "large", "small").astype(object)
    y[1::3] = None
    return frame, y


def _fitted(model: Any, samples: Callable[[], tuple[Any, Any]], **arguments: Any) -> Callable[[], Any]:
    return lambda: model.fit(*samples(), **arguments)


def many() -> tuple[np.ndarray, np.ndarray]:
    random = np.random.RandomState(2)
    y = np.arange(60) % 3
    return random.normal(scale=0.9, size=(60, 3)).round(2) + 2 * y[:, None], y


def _streamed(model: Any, samples: Callable[[], tuple[Any, Any]], first: int = 7) -> Callable[[], Any]:
    def make() -> Any:
        X, y = samples()
        for rows in (slice(0, first), slice(first, None)):
            model.partial_fit(X[rows], y[rows])
        return model

    return make


def _evidence(cls: Any, *arguments: Any, **parameters: Any) -> Any:
    fixed = {"mapping": "evidence", "families": ["box", "linear"], "bandwidth": 0.25, "ridge": 0.01, "rank_weight": 0.5}
    return cls(*arguments, **fixed, random_state=0, **parameters)


GROUPS = np.repeat(np.arange(6), 3)
WEIGHTS = np.tile([1.0, 2.0, 0.5], 6)
BOUNDS = ([0.0, *NONE], [1.0, *NONE])

MODELS: dict[str, tuple[Callable[[], Any], Callable[[], tuple[Any, Any]]]] = {
    "clusters": (_fitted(FuzzyART(0.8), numbers), numbers),
    "clusters of a stream": (_streamed(FuzzyART(0.7, bounds=BOUNDS), mixed), mixed),
    "artmap": (_fitted(FuzzyARTMAP(0.6), numbers), numbers),
    "one-to-many": (_fitted(SSLART(0.8, decision_costs="balanced", random_state=0), mixed), mixed),
    "one-to-one": (_fitted(SSLART(0.7, mapping="one-to-one", random_state=np.random.RandomState(3)), numbers), numbers),
    "stream": (_streamed(SSLART(0.8, bounds=BOUNDS, search_depth=2), mixed), mixed),
    "evidence": (
        _fitted(_evidence(SSLART, vigilance=0.8, max_error=0.9), numbers, groups=GROUPS, sample_weight=WEIGHTS),
        numbers,
    ),
    "evidence of a stream": (_streamed(_evidence(SSLART, vigilance=0.8, bounds=BOUNDS), mixed), mixed),
    "auto": (_fitted(AutoSSLART(0.8, class_weight="balanced", random_state=0), mixed), mixed),
    "auto with costs": (
        _fitted(AutoSSLART(decision_costs={(0, 1): 3.0}, max_labels=12, random_state=0), numbers), numbers,
    ),
    "votes": (_fitted(WESSLART(2, vigilance=0.8, quorum=2, random_state=0), mixed), mixed),
    "votes of a stream": (_streamed(WESSLART(2, vigilance=0.8, bounds=(0, 10), random_state=0), numbers), numbers),
    "votes by evidence": (_fitted(_evidence(WESSLART, 2, vigilance=0.8), numbers), numbers),
    "a stream that forgets": (_streamed(SSLART(0.9, half_life=3, bounds=BOUNDS), mixed), mixed),
    "votes that forget": (
        _streamed(WESSLART(2, vigilance=0.9, half_life=2, bounds=(0, 10), random_state=0), numbers), numbers,
    ),
    "every family": (
        _streamed(AutoSSLART(0.7, class_weight={0: 2.0}, bounds=(-3, 12), random_state=0), many), many,
    ),
    "half-lives that compete": (
        _streamed(
            _evidence(SSLART, vigilance=0.8, half_life="auto", max_error=0.9, bounds=(-3, 12)), numbers, 14
        ),
        numbers,
    ),
    "evidence without samples": (_fitted(_evidence(SSLART, vigilance=0.8), mixed), mixed),
    "a stream without samples": (_streamed(_evidence(SSLART, vigilance=0.8, bounds=(-3, 12)), numbers, 14), numbers),
    "votes without samples": (
        _streamed(_evidence(WESSLART, 2, vigilance=0.8, bounds=(-3, 12)), numbers, 14), numbers,
    ),
    "not fitted": (lambda: SSLART(bounds=BOUNDS, random_state=np.random.RandomState(0)), numbers),
}  # fmt: skip


NAMES = [*MODELS]
WITHOUT_SAMPLES = ("evidence without samples", "a stream without samples", "votes without samples")
SLOW = ("auto", "auto with costs")  # to fit


def saved(name: str, folder: Path) -> tuple[bytes, Any, Any]:
    """Return the content of a file, and samples that its model knows."""
    path, (make, samples) = folder / "seed.sslart", MODELS[name]
    notes = {"columns": ["a", "b"], "rows": np.arange(4)} if name == "auto" else {}
    save_with_notes(make(), path, notes, samples=name not in WITHOUT_SAMPLES)
    return path.read_bytes(), *samples()


def use(model: Any, X: Any, y: Any, *, thorough: bool) -> None:
    """Call what users call, and check that the results can be results; explanations and rules if `thorough`."""
    if isinstance(X, pd.DataFrame) and hasattr(model, "feature_names_in_"):
        X = X.set_axis(model.feature_names_in_, axis=1)
    n = len(X)
    familiarity = model.score_samples(X)
    _check(familiarity.shape == (n,) and ((familiarity >= 0) & (familiarity <= 1)).all(), "score_samples")
    pvalues = model.novelty_pvalues(X)
    _check(((pvalues > 0) & (pvalues <= 1)).all(), "novelty_pvalues")
    lower, upper = model.lower_, model.upper_
    _check((np.isnan(lower) | (lower <= upper)).all() and not np.isinf([lower, upper]).any(), "boxes")
    _check(lower.shape == (model.n_nodes_, len(model.coded_feature_names_)), "n_nodes_")
    _check(0 < int(model.support_.sum()) < 2**62, "support_")
    if isinstance(model, FuzzyART):
        nodes = model.predict(X)
        _check(((nodes >= 0) & (nodes < model.n_nodes_)).all(), "predict")
        model.partial_fit(X)
        return
    _check(set(model.predict(X).tolist()) <= {*model.classes_.tolist(), None, -1}, "predict")
    proba = model.predict_proba(X)
    _check(proba.shape == (n, len(model.classes_)) and np.isfinite(proba).all() and (proba >= 0).all(), "predict_proba")
    _check(np.allclose(proba.sum(axis=1), 1), "rows of predict_proba")
    _check(np.isfinite(model.decision_function(X)).all(), "decision_function")
    _check(bool(str(model.summary())), "summary")
    if thorough:
        _check(all(str(one) for one in model.explain(X[:2])), "explain")
        _check(bool(str(model.rules())), "rules")
    model.partial_fit(X, y)


def _check(holds: Any, what: str) -> None:
    if not holds:
        raise AssertionError(f"{what}: not what a model can have")


def verdict_on(path: Path, X: Any, y: Any, *, same: bytes = b"", thorough: bool = True) -> str:
    """Return the verdict on a file: refused, or accepted, saved again and used; raise an error otherwise.

    What is the `same` when it is saved again is not used once more.
    """
    try:
        model = sslart.load(path)
    except ValueError as error:
        _check(str(path) in str(error) and "sslart" in str(error), "message of load")
        return "refused"
    first, again = path.with_name("first.sslart"), path.with_name("again.sslart")
    sslart.save(model, first)
    sslart.save(sslart.load(first), again)
    _check(first.read_bytes() == again.read_bytes(), "saved again")
    if first.read_bytes() == same:
        return "accepted, the same"
    if not model.__sklearn_is_fitted__():
        return "accepted, not fitted"
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "X has feature names")  # the file may have lost them
            use(model, X, y, thorough=thorough)
    except NotFittedError:
        return "accepted, without a label"
    except ValueError as error:
        return f"accepted, then refused: {error}"
    return "accepted"
