"""The published state of a model, which every request reads while another thread learns."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np

from sslart._data.labels import UNLABELLED
from sslart._data.samples import Table
from sslart._mapping.model_view import Decisions, ModelView, PredictionBatch, view_of
from sslart.estimators._fitted import shallow_copy
from sslart.persistence import model_bytes
from sslart.server.models._rows import Cells, RowReader
from sslart.server.models._settings import ModelSettings
from sslart.server.store._snapshots import digest_of


class NoLabelError(ValueError):
    """A model that cannot predict, since it has learnt no label yet."""


class Published:
    """A model after a record of its journal. Nothing in it changes.

    Parameters
    ----------
    model : classifier that has learnt something
    sequence : int
        The last record that it has learnt.
    settings : ModelSettings
    """

    def __init__(self, model: Any, sequence: int, settings: ModelSettings) -> None:
        self.model = shallow_copy(model)
        self.sequence, self.settings = sequence, settings
        self.view: ModelView = view_of(self.model)
        self.reader = RowReader(self.model, self.view, settings.not_features)
        self.classes = [as_json(one) for one in self.view.classes.tolist()]
        self._threshold = self.view.novelty_threshold

    def warm(self) -> None:
        """Precompute the caches of the first prediction, so that no request waits for them."""
        if not self.classes:
            return
        encoder = self.view.members[0].encoder
        numbers = np.where([place in encoder.categorical for place in range(len(self.reader.names))], np.nan, 0.5)
        if np.isnan(numbers).all() or self.view.reader.plan.dates:
            return
        with suppress(ValueError):  # such as a max_error that needs more labels: requests get the reason
            self.predict_table(Table(numbers[None, :], _no_categories(encoder, len(numbers)), self._names()))

    def _names(self) -> list[str] | None:
        return self.reader.names if self.reader.has_names else None

    @cached_property
    def digest(self) -> str:
        """The SHA-256 of the whole model."""
        return digest_of(self.content())

    def content(self) -> bytes:
        """Return the model as a file of `sslart.save` has it."""
        return model_bytes(self.model)

    def predict(self, rows: Sequence[Cells], abstain_below: float | None = None) -> list[dict[str, Any]]:
        """Return for each row its class, the probabilities, whether the model abstained, and whether it is novel."""
        self.check_has_label()
        return self._plain(self.predict_table(self.reader.table(rows), abstain_below))

    def check_has_label(self) -> None:
        """Raise a NoLabelError where the model has learnt no label."""
        if not self.classes:
            raise NoLabelError("The model has learnt no label yet: send labelled rows, or labels for rows.")

    def check_parameters(self, parameters: dict[str, Any]) -> None:
        """Raise a ValueError where the model does not take parameters."""
        trial = shallow_copy(self.model)
        try:
            view_of(trial.set_params(**parameters))
        except TypeError as error:
            raise ValueError(str(error)) from error

    def predict_table(self, table: Table, abstain_below: float | None = None) -> Decisions:
        """Return the decisions on samples that have been read."""
        view = self.view if abstain_below is None else replace(self.view, abstain_below=abstain_below)
        return PredictionBatch(view, table).decisions(self._threshold)

    def _plain(self, found: Decisions) -> list[dict[str, Any]]:
        """Return decisions as plain values, rounded to six decimals as in tables."""
        names = [str(one) for one in self.classes]
        return [
            {
                "class": None if index == UNLABELLED else self.classes[index],
                "probability": probability,
                "probabilities": dict(zip(names, probabilities, strict=True)),
                "abstained": index == UNLABELLED,
                "novelty": novelty,
                "novel": is_novel,
            }
            for index, probability, probabilities, novelty, is_novel in zip(
                found.indices.tolist(),
                found.probability.round(6).tolist(),
                found.proba.round(6).tolist(),
                found.novelty.round(6).tolist(),
                found.is_novel.tolist(),
                strict=True,
            )
        ]


def _no_categories(encoder: Any, n_columns: int) -> dict[int, Any]:
    return {place: np.array([None], dtype=object) for place in range(n_columns) if place in encoder.categorical}


def as_json(value: Any) -> Any:
    """Return a class as JSON can hold it."""
    return value.item() if hasattr(value, "item") else value
