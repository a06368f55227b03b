"""Attributes of every fitted estimator: boxes, scales and the vigilance in use, over all members."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np

from sslart._data.scaling import scaling_of
from sslart._utils.arrays import CountArray, FloatArray
from sslart.estimators._fitted import FittedModel
from sslart.estimators._published import available


class FittedAttributes(ABC):
    """Attributes that follow from the fitted model; of an ensemble, those of all members one after another."""

    @abstractmethod
    def _fitted(self) -> FittedModel:
        """Return the fitted model, or raise NotFittedError."""

    @property
    def n_nodes_(self) -> int:
        """Number of boxes, over all members of an ensemble."""
        return sum(one.network.nodes.n_nodes for one in self._fitted().members)

    @property
    @available
    def vigilance_(self) -> float:
        """The vigilance in use: `vigilance`, or the lower one that `max_nodes` boxes required.

        Of an ensemble, the lowest of the members.
        """
        return min(one.params_in_use.vigilance for one in self._fitted().members)

    @property
    def scaling_(self) -> list[str]:
        """Scaling of each column: "range", "rank", or "category" for a categorical column."""
        model = self._fitted()
        return scaling_of(model.encoder, model.n_features)

    @property
    def lower_(self) -> FloatArray:
        """Lower corner of each box in the user's units, shape (n_nodes, n_coded_features); NaN: not reached yet."""
        return np.concatenate([one.network.boxes_in_units()[0] for one in self._fitted().members])

    @property
    def upper_(self) -> FloatArray:
        """Upper corner of each box in the user's units, shape (n_nodes, n_coded_features); NaN: not reached yet."""
        return np.concatenate([one.network.boxes_in_units()[1] for one in self._fitted().members])

    @property
    def support_(self) -> CountArray:
        """Number of samples learnt by each box, labelled or not, shape (n_nodes,); fractions where they fade."""
        return np.concatenate([one.network.nodes.support for one in self._fitted().members])

    @property
    def coded_feature_names_(self) -> list[str]:
        """Name of each column of `lower_` and `upper_`: a feature, or feature=category for a category."""
        model = self._fitted()
        return model.encoder.names(model.column_names())
