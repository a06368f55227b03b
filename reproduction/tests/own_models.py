"""Classifiers for tests of `--model`: good ones, and those that are refused."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.neighbors import NearestCentroid

from sslart import SSLART


class High(SSLART):
    """A variant of the model of the paper."""


class Watched(NearestCentroid):
    """A supervised classifier; of each fit it keeps the labels that it got."""

    seen: list[list[int]] = []  # noqa: RUF012

    def fit(self, X: Any, y: Any) -> Any:
        self.seen.append(sorted(set(y.tolist())))
        return super().fit(X, y)


class NoPredict:
    def fit(self, X: Any, y: Any) -> NoPredict:
        return self


class NeedsMore(NearestCentroid):
    def __init__(self, k: int) -> None:
        self.k = k


class Strange(NearestCentroid):
    def predict(self, X: Any) -> Any:
        return np.full(len(X), "other")


class Flat(NearestCentroid):
    def predict(self, X: Any) -> Any:
        return np.zeros((len(X), 2))


class Fails(NearestCentroid):
    def fit(self, X: Any, y: Any) -> Any:
        raise RuntimeError("no more memory")
