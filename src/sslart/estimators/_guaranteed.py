"""Predictions with guarantees: prediction sets of a stated coverage, and answers with a stated error."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

from numpy.typing import NDArray

from sslart._data.classes import ClassTable
from sslart._data.training import check_has_label
from sslart._mapping.conformal import no_promise
from sslart._mapping.decision_rules import ErrorLevels, check_max_error, error_levels
from sslart._utils.arrays import BoolArray
from sslart._utils.params import check_flag, check_number
from sslart.estimators._classifier import AbstainingClassifier


class GuaranteedClassifier(AbstainingClassifier):
    """A classifier that can guarantee its error rate if it stores its labelled samples."""

    max_error: float | dict[Any, float] | None = None

    @abstractmethod
    def _uses_evidence(self) -> bool:
        """Return True if the mapping is evidence mapping."""

    def _check_max_error(self, classes: NDArray[Any] | None = None) -> None:
        """Raise a ValueError where `max_error` cannot be one; of classes that are known, also where it names others."""
        check_max_error(self._name, self.max_error)
        if self.max_error is not None and not self._uses_evidence():
            raise ValueError(no_promise(self._name))
        if classes is not None:
            error_levels(self._name, self.max_error, classes)

    def _error_levels(self, class_table: ClassTable) -> ErrorLevels | None:
        return error_levels(self._name, self.max_error, class_table.classes)

    def predict_set(self, X: Any, coverage: float = 0.9, per_class: bool = False) -> BoolArray:
        """Return for each sample a set of classes that contains the true one with a stated probability.

        Conformal prediction on left-out labels: a class is in the set if its probability is not lower than that which
        all but a share of 1 - `coverage` of the labelled samples have for their own class, each predicted by the other
        labels alone. The most probable class is always in the set. Needs evidence mapping.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        coverage : float, default=0.9
            In (0, 1): on average over training sets and new samples like the labelled ones, at least this share of the
            sets contain the true class.
        per_class : bool, default=False
            Whether the coverage shall hold for the samples of each class by itself. It takes more labels, and sets are
            larger.

        Returns
        -------
        array of bool of shape (n_samples, n_classes)
            Whether each class is in the set, in the order of `classes_`.

        Raises
        ------
        ValueError
            If the coverage cannot be promised: with n labels (of each class, where `per_class`) the highest is
            n / (n + 1). Or if the model keeps no labelled samples: without evidence mapping.

        Notes
        -----
        The promise is for samples that are exchangeable with the labelled ones: drawn in the same way, and not copies
        of them. See docs/guide/guarantees.md.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from sslart import AutoSSLART
        >>> X, y = load_iris(return_X_y=True)
        >>> model = AutoSSLART(random_state=0).fit(X[::3], y[::3])
        >>> sets = model.predict_set(X[1::3], coverage=0.9)
        >>> sets[:2]
        array([[ True, False, False],
               [ True, False, False]])
        >>> bool(sets[range(50), y[1::3]].mean() >= 0.9)
        True
        """
        wanted = check_number("predict_set", "coverage", coverage, 0, 1, open_low=True)
        if wanted == 1:
            raise ValueError("coverage of predict_set must be below 1: only the set of all classes is always right.")
        apart = check_flag("predict_set", "per_class", per_class)
        view = self.__sslart_view__()
        table = view.read(X)
        check_has_label(view.class_table)
        return view.promises.sets(view.predict_proba(table), wanted, per_class=apart)
