"""The two tables that models are fitted to, and rows like theirs for requests."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.datasets import load_breast_cancer, make_classification

LABEL = "label"
DECIMALS = 5
N_FRESH = 2000  # rows that the model has not learnt


@dataclass(frozen=True)
class Table:
    """A table with few labels.

    Attributes
    ----------
    name : str
        Also that of the model.
    names : list of str
        Those of the features.
    samples : array of shape (n_samples, n_features)
    labels : array of shape (n_samples,)
        None where not known.
    fresh : array of shape (n_fresh, n_features)
        Further samples, for requests.
    classes : list of str
        Those of the fresh samples.
    """

    name: str
    names: list[str]
    samples: NDArray[np.float64]
    labels: NDArray[Any]
    fresh: NDArray[np.float64]
    classes: list[str]

    @property
    def n_labels(self) -> int:
        return sum(label is not None for label in self.labels)

    def csv(self) -> bytes:
        """Return the table as the service gets it."""
        frame = pd.DataFrame(self.samples, columns=self.names).assign(**{LABEL: self.labels})
        return frame.to_csv(index=False).encode()

    def rows(self, places: Any) -> list[dict[str, float]]:
        """Return some of the fresh samples as rows of requests."""
        return [dict(zip(self.names, values, strict=True)) for values in self.fresh[places].tolist()]


def synthetic(n_samples: int = 20_000, n_labels: int = 500) -> Table:
    """Return a table with 20 features and three classes."""
    X, y = make_classification(
        n_samples + N_FRESH, 20, n_informative=8, n_redundant=2, n_classes=3, class_sep=1.5, random_state=0
    )
    return _table("synthetic", [f"x{place}" for place in range(X.shape[1])], X, y, n_labels, n_samples)


def breast_cancer(n_labels: int = 50) -> Table:
    """Return the table of scikit-learn; requests have its own samples again, each a little changed."""
    data = load_breast_cancer()
    places = np.random.default_rng(1).integers(0, len(data.target), N_FRESH)
    fresh = data.data[places] * np.random.default_rng(2).normal(1, 0.01, (N_FRESH, data.data.shape[1]))
    names = [name.replace(" ", "_") for name in data.feature_names]
    X, y = np.vstack([data.data, fresh]), np.concatenate([data.target, data.target[places]])
    return _table("cancer", names, X, y, n_labels, len(data.target))


def _table(name: str, names: list[str], X: Any, y: Any, n_labels: int, n_samples: int) -> Table:
    X, classes = X.round(DECIMALS), [f"class {one}" for one in y]
    labels = np.full(n_samples, None, dtype=object)
    shown = np.random.default_rng(0).permutation(n_samples)[:n_labels]
    labels[shown] = np.array(classes, dtype=object)[shown]
    return Table(name, names, X[:n_samples], labels, X[n_samples:], classes[n_samples:])
