"""Accuracy with one label in ten, compared with other hyperbox libraries and scikit-learn's semi-supervised models.

    make peers

Same splits for all, on the four data sets that scikit-learn brings along. What a rival needs (the vigilance of
artlib, the largest box of hyperbox-brain) is chosen for it by cross-validation on its labelled samples. These two learn
from the labelled samples alone: artlib takes no others, and hyperbox-brain predicts no class for boxes without a label.
"""

from __future__ import annotations

import contextlib
import copy
import io
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine
from sklearn.model_selection import GridSearchCV, StratifiedKFold, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler
from sklearn.semi_supervised import LabelSpreading, SelfTrainingClassifier
from sklearn.svm import SVC

from sslart import WESSLART, AutoSSLART

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    from artlib import FuzzyARTMAP as ArtlibMap
    from artlib.optimized.backends.cpp.FuzzyARTMAP import FuzzyARTMAP
    from hbbrain.numerical_data.incremental_learner.onln_gfmm import OnlineGFMM

SETS = {"iris": load_iris, "wine": load_wine, "breast cancer": load_breast_cancer, "digits": load_digits}
SEEDS = range(10)


class Artlib(ClassifierMixin, BaseEstimator):
    """artlib's compiled fuzzy ARTMAP behind fit and predict."""

    def __init__(self, vigilance: float = 0.7) -> None:
        self.vigilance = vigilance

    def fit(self, X: Any, y: Any) -> Artlib:
        self.classes_ = np.unique(y)
        self.model_ = FuzzyARTMAP(rho=self.vigilance, alpha=1e-3, beta=1.0)
        self.model_.fit(_complement(X), np.searchsorted(self.classes_, y))
        return self

    def predict(self, X: Any) -> Any:
        return self.classes_[self.model_.predict(_complement(X))]


class HyperboxBrain(ClassifierMixin, BaseEstimator):
    """hyperbox-brain's online general fuzzy min-max network."""

    def __init__(self, theta: float = 0.3) -> None:
        self.theta = theta

    def fit(self, X: Any, y: Any) -> HyperboxBrain:
        self.classes_ = np.unique(y)
        self.model_ = OnlineGFMM(theta=self.theta).fit(np.asarray(X), np.asarray(y))
        return self

    def predict(self, X: Any) -> Any:
        return self.model_.predict(np.clip(X, 0, 1))


def _complement(X: Any) -> Any:
    X = np.clip(X, 0, 1)
    return np.hstack([X, 1 - X])


def chosen(model: Any, grid: dict[str, list[float]], X: Any, y: Any) -> Any:
    """Return a model with the setting that does best on the labelled samples."""
    folds = min(3, int(np.bincount(y).min()))
    search = GridSearchCV(model, grid, cv=StratifiedKFold(folds, shuffle=True, random_state=0))
    return clone(search.fit(X, y).best_estimator_)


def contenders(seed: int) -> dict[str, Callable[[Any, Any, Any, Any], Any]]:
    """Return for each contender how it is fitted, given scaled samples, raw samples, labels, and which are labelled."""
    return {
        "AutoSSLART": lambda _, raw, few, __: AutoSSLART(random_state=seed).fit(raw, few),
        "WESSLART": lambda _, raw, few, __: WESSLART(random_state=seed).fit(raw, few),
        "artlib FuzzyARTMAP": lambda X, _, few, known: chosen(
            Artlib(), {"vigilance": [0.0, 0.5, 0.7, 0.8, 0.9]}, X[known], few[known]
        ).fit(X[known], few[known]),
        "hyperbox-brain OnlineGFMM": lambda X, _, few, known: chosen(
            HyperboxBrain(), {"theta": [0.1, 0.2, 0.3, 0.5]}, X[known], few[known]
        ).fit(X[known], few[known]),
        "LabelSpreading": lambda _, raw, few, __: make_pipeline(StandardScaler(), LabelSpreading(kernel="knn")).fit(
            raw, few
        ),
        "SelfTraining (SVM)": lambda _, raw, few, __: make_pipeline(
            StandardScaler(), SelfTrainingClassifier(SVC(probability=True, random_state=seed))
        ).fit(raw, few),
    }


def tried(do: Callable[[], Any]) -> str:
    """Return True if something works; its output is not shown."""
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            done = do()
        return "no" if isinstance(done, bool | np.bool_) and not done else "yes"
    except Exception:  # whatever a library raises: it does not work
        return "no"


def learns_on(model: Any, X: Any, y: Any) -> bool:
    """Return True if a model that learns half of iris, and then the other half, still predicts the first."""
    model, first = copy.deepcopy(model), np.arange(len(y)) % 2 == 0
    learn = model.partial_fit if hasattr(model, "partial_fit") else model.fit  # hyperbox-brain's fit continues
    learn(X[first & (y < 2)], y[first & (y < 2)])
    learn(X[first & (y > 0)], y[first & (y > 0)])
    return bool(np.mean(model.predict(X) == y) > 0.9)


def features() -> None:
    """Print what each library can do, tried on iris."""
    X, y = load_iris(return_X_y=True)
    gaps = X.copy()
    gaps[3, 1] = np.nan
    scaled = MinMaxScaler().fit_transform(X)
    gaps_scaled = np.where(np.isnan(gaps), np.nan, scaled)
    boxes = ArtlibMap(rho=0.7, alpha=1e-3, beta=1.0)
    models = {
        "sslart": (AutoSSLART(), X, gaps),
        "artlib": (boxes, _complement(scaled), _complement(gaps_scaled)),
        "hyperbox-brain": (OnlineGFMM(theta=0.3), scaled, gaps_scaled),
        "LabelSpreading": (LabelSpreading(kernel="knn"), X, gaps),
        "SelfTraining (SVM)": (SelfTrainingClassifier(SVC(probability=True)), X, gaps),
    }
    rows = {
        "missing values": lambda m, _, x: copy.deepcopy(m).fit(x, y),
        "raw units": lambda m, *_: np.mean(copy.deepcopy(m).fit(X, y).predict(X) == y) > 0.9,
        "learns incrementally": lambda m, x, _: learns_on(m, x, y),
        "explains predictions": lambda m, *_: hasattr(m, "explain") or hasattr(m, "get_sample_explanation"),
        "rules in words": lambda m, *_: hasattr(m, "rules"),
        "abstains when unsure": lambda m, *_: hasattr(m, "abstain_below"),
    }
    print("|  |", " | ".join(models), "|")
    print("|---" * (len(models) + 1) + "|")
    for name, does in rows.items():
        cells = [tried(lambda one=one, does=does: does(*one)) for one in models.values()]
        print(f"| {name} |", " | ".join(cells), "|")


def main() -> None:
    scores: dict[str, dict[str, list[float]]] = {}
    seconds: dict[str, list[float]] = {}
    for name, load in SETS.items():
        X, y = load(return_X_y=True)
        for seed in SEEDS:
            raw, raw_test, truth, truth_test = train_test_split(X, y, test_size=0.3, stratify=y, random_state=seed)
            labelled, _ = train_test_split(np.arange(len(truth)), train_size=0.1, stratify=truth, random_state=seed)
            known = np.isin(np.arange(len(truth)), labelled)
            few = np.where(known, truth, -1)
            scaler = MinMaxScaler().fit(raw)
            scaled, scaled_test = scaler.transform(raw), scaler.transform(raw_test)
            for model, fit in contenders(seed).items():
                start = time.perf_counter()
                fitted = fit(scaled, raw, few, known)
                seconds.setdefault(model, []).append(time.perf_counter() - start)
                test = scaled_test if isinstance(fitted, Artlib | HyperboxBrain) else raw_test
                right = np.mean(fitted.predict(test) == truth_test)
                scores.setdefault(model, {}).setdefault(name, []).append(100 * right)
    print(f"| accuracy in %, 1 label in 10, mean of {len(SEEDS)} splits |", " | ".join(SETS), "| mean | fit, s |")
    print("|---" * (len(SETS) + 3) + "|")
    for model, sets in scores.items():
        means = [np.mean(values) for values in sets.values()]
        cells = [f"{value:.1f}" for value in [*means, np.mean(means)]]
        print(f"| {model} |", " | ".join(cells), f"| {np.mean(seconds[model]):.2f} |")


if __name__ == "__main__":
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        main()
        print()
        features()
