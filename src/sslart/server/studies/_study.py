"""A model with its rows, samples and labels, as the studies of it read them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sslart._utils.arrays import BoolArray
from sslart.server.models._hosted import HostedModel
from sslart.server.models._published import Published
from sslart.server.models._registry import Registry
from sslart.server.models._stored_rows import FoundRow, StoredRows
from sslart.server.store._journal import LAST
from sslart.server.studies._samples import LoadedSamples, Predictions


@dataclass
class Study:
    """A model that has learnt something, as a request finds it: each part is read once, when it is first needed."""

    registry: Registry
    model: HostedModel

    @property
    def reader(self) -> Any:
        """The connection by which this thread reads the store."""
        return self.registry.store.reader()

    @cached_property
    def published(self) -> Published:
        """The last published state of the model."""
        return self.registry.published(self.model)

    @cached_property
    def loaded(self) -> LoadedSamples:
        """All rows of the model as samples."""
        return self.registry.samples(self.model)

    @cached_property
    def predictions(self) -> Predictions:
        """The predictions for all samples."""
        return self.loaded.predictions(self.published)

    @cached_property
    def labels(self) -> list[Any]:
        """The label in force of each sample, None where it has none."""
        return self.loaded.labels(self.reader, self.model.id)

    @cached_property
    def has_label(self) -> BoolArray:
        """Mask of labelled samples."""
        return np.array([one is not None for one in self.labels], dtype=bool)

    @cached_property
    def label_indices(self) -> NDArray[np.int16]:
        """The label of each sample by its index among the classes; -1 where it has none."""
        return self.loaded.label_indices(self.labels, self.published.classes)

    def rows(self, which: Sequence[int | str]) -> list[FoundRow]:
        """Return rows that the model was given, by their numbers or names."""
        return self.registry.rows(self.model, which)

    def stored_rows(self, before: int = LAST) -> StoredRows:
        """Return the rows that the model was given before a record, as they are in the store."""
        return self.registry.stored_rows(self.model, self.published.settings, before)
