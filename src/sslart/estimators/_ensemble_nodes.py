"""The nodes of all members of an ensemble together, member after member."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from sslart._mapping.model_view import ModelView
from sslart._utils.arrays import FloatArray, IntArray
from sslart.estimators._published import reads, reads_attribute
from sslart.estimators._sslart import SSLART


class PooledNodes(ABC):
    """The node attributes of an ensemble, from those of its members."""

    estimators_: list[SSLART]

    @abstractmethod
    def _view(self) -> ModelView:
        """Return the view of a model that is known to be fitted."""

    @property
    @reads
    def n_nodes_(self) -> int:
        """Number of prototype nodes over all members."""
        return sum(self._of_members("n_nodes_"))

    @property
    @reads
    def n_nodes_stage1_(self) -> int:
        """Number of nodes made by unlabelled samples, over all members."""
        return sum(self._of_members("n_nodes_stage1_"))

    @property
    @reads
    def n_labelled_nodes_(self) -> int:
        """Number of nodes that have a label, over all members."""
        return sum(self._of_members("n_labelled_nodes_"))

    @property
    @reads
    def lower_(self) -> FloatArray:
        """Lower corners of the boxes of all members in the user's units; NaN: not reached yet."""
        return np.concatenate(self._of_members("lower_"))

    @property
    @reads
    def upper_(self) -> FloatArray:
        """Upper corners of the boxes of all members in the user's units; NaN: not reached yet."""
        return np.concatenate(self._of_members("upper_"))

    @property
    @reads
    def support_(self) -> IntArray:
        """How many samples resonated with each node of all members, labelled or not."""
        return np.concatenate(self._of_members("support_"))

    @property
    @reads
    def coded_feature_names_(self) -> list[str]:
        """Name of each column of `lower_` and `upper_`: a feature, or feature=category for a category."""
        check_is_fitted(self)
        return self.estimators_[0].coded_feature_names_

    @property
    @reads
    def counts_(self) -> IntArray:
        """How often each class resonated with each node of all members, in the order of `classes_`."""
        return np.concatenate(self._of_members("counts_"))

    @property
    @reads_attribute
    def node_labels_(self) -> NDArray[Any]:
        """Class of each node of all members; -1 for integer classes and None for others where it has none."""
        return np.concatenate(self._of_members("node_labels_"))

    def _of_members(self, name: str) -> list[Any]:
        check_is_fitted(self)
        return [getattr(member, name) for member in self.estimators_]
