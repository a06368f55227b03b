"""Utilities of the competitors written here: kernels, graphs, one-vs-rest targets, and choice of settings.

Settings are chosen by cross-validation on the labelled training samples. The labels of one part are hidden at a time;
the samples of that part stay in the training set without a label, and are predicted.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.metrics import pairwise_distances
from sklearn.neighbors import kneighbors_graph

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
Setting = TypeVar("Setting")

WIDTHS = (2.0, 1.0, 0.5, 0.25)  # of the Gaussian kernel, in units of the median distance


def squared_distances(some: FloatArray, others: FloatArray) -> FloatArray:
    """Return the squared Euclidean distance of each sample to each other."""
    return np.asarray(pairwise_distances(some, others, metric="sqeuclidean"))


def median_distance(squares: FloatArray) -> float:
    """Return the median distance of different samples, from the square matrix of their squared distances."""
    return max(float(np.sqrt(np.median(squares[np.triu_indices(len(squares), 1)]))), 1e-12)


def own_distances(X: FloatArray) -> tuple[FloatArray, float]:
    """Return the squared distances between all samples, and the median distance."""
    squares = squared_distances(X, X)
    return squares, median_distance(squares)


def gaussian(squares: FloatArray, width: float) -> FloatArray:
    """Return exp(-d² / 2 width²)."""
    return np.asarray(np.exp(-squares / (2 * width**2)))


def laplacian(X: FloatArray, n_neighbors: int) -> sparse.csr_array:
    """Return D - W, where W has exp(-d² / 2t²) for neighbours and t is their mean distance."""
    edges = kneighbors_graph(X, min(n_neighbors, len(X) - 1), mode="distance")
    width = max(float(edges.data.mean()), 1e-12)
    edges.data = np.exp(-(edges.data**2) / (2 * width**2))
    weights = edges.maximum(edges.T)
    return sparse.csr_array(sparse.diags_array(np.asarray(weights.sum(axis=1)).ravel()) - weights)


def targets(codes: IntArray, classes: IntArray) -> FloatArray:
    """Return 1 and -1 for one class against the rest, a column per class; of two classes the second alone."""
    wanted = classes[1:] if len(classes) == 2 else classes
    return np.where(codes[:, None] == wanted[None, :], 1.0, -1.0)


def decided(scores: FloatArray, classes: IntArray) -> IntArray:
    """Return the class of each row of scores whose columns are as in `targets`."""
    places = (scores[:, 0] > 0).astype(int) if scores.shape[1] == 1 and len(classes) == 2 else scores.argmax(axis=1)
    return np.asarray(classes[places])


def parts(codes: IntArray, n_parts: int, random: np.random.RandomState) -> list[IntArray]:
    """Divide labelled samples into parts of nearly equal size, each class over as many parts as it can be."""
    order = np.concatenate([random.permutation(np.flatnonzero(codes == code)) for code in np.unique(codes)])
    return [part for start in range(n_parts) if len(part := order[start::n_parts])]


def chosen(
    settings: Iterable[Setting],
    codes: IntArray,
    predict: Callable[[Setting, IntArray, IntArray], IntArray],
    random: np.random.RandomState,
    n_parts: int = 5,
) -> Setting:
    """Return the setting with the best cross-validated accuracy on the labelled samples, the first of equals.

    Parameters
    ----------
    settings : iterable
        What to choose from.
    codes : array
        Classes of the labelled samples.
    predict : callable
        `predict(setting, kept, hidden)` trains with the labels of the rows `kept` and predicts the rows `hidden`; not
        called where the rows `kept` have one class, which is then predicted.
    random : RandomState
        Divides the labelled samples.
    n_parts : int
        How many parts the labelled samples are divided into.
    """
    hidden_parts = parts(codes, n_parts, random)
    best, most = None, -1
    for setting in settings:
        right = 0
        for hidden in hidden_parts:
            kept = np.setdiff1d(np.arange(len(codes)), hidden)
            alone = np.all(codes[kept] == codes[kept][0])
            predicted = codes[kept][0] if alone else predict(setting, kept, hidden)
            right += int(np.count_nonzero(predicted == codes[hidden]))
        if right > most:
            best, most = setting, right
    if best is None:
        raise ValueError("there is no setting to choose from.")
    return best


def best_setting(
    settings: Sequence[Setting],
    codes: IntArray,
    score: Callable[[Setting, IntArray, IntArray, FloatArray], FloatArray],
    random: np.random.RandomState,
    n_parts: int = 5,
) -> Setting:
    """Return the setting with the best cross-validated accuracy; where there is only one, nothing is trained.

    `score(setting, kept, hidden, signs)` trains with the labels of the rows `kept`, whose `targets` are `signs`, and
    returns the scores of the rows `hidden`. The other parameters are those of `chosen`.
    """
    if len(settings) == 1:
        return settings[0]

    def predict(setting: Setting, kept: IntArray, hidden: IntArray) -> IntArray:
        classes = np.unique(codes[kept])
        return decided(score(setting, kept, hidden, targets(codes[kept], classes)), classes)

    return chosen(settings, codes, predict, random, n_parts)


class Competitor(ClassifierMixin, BaseEstimator):
    """Base of the competitors written here. A subclass is a dataclass, whose fields are its parameters."""

    def _labelled(self, y: IntArray) -> tuple[IntArray, IntArray]:
        """Return the labelled rows and their classes, and keep the classes."""
        rows = np.flatnonzero(y >= 0)
        self.classes_ = np.unique(y[rows])
        return rows, y[rows]

    @abstractmethod
    def decision_function(self, X: FloatArray) -> FloatArray:
        """Return the scores, a column per class, or one column where there are two classes."""

    def predict(self, X: FloatArray) -> IntArray:
        """Return the class of each sample."""
        return decided(self.decision_function(X), self.classes_)


class KernelCompetitor(Competitor):
    """Base of the competitors with one coefficient per training sample in a Gaussian kernel."""

    X_: FloatArray
    width_: float
    alpha_: FloatArray
    intercept_: FloatArray

    def decision_function(self, X: FloatArray) -> FloatArray:
        """Return the scores, a column per class, or one column where there are two classes."""
        return np.asarray(gaussian(squared_distances(X, self.X_), self.width_) @ self.alpha_ + self.intercept_)
