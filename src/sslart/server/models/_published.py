"""The published state of a model, and the conversion of request rows to samples."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np

from sslart._data.labels import UNLABELLED
from sslart._data.samples import Table
from sslart._data.text_parsing import MISSING
from sslart._mapping.model_view import Decisions, ModelView, PredictionBatch, view_of
from sslart._tables import pandas
from sslart._tables.cells import plain
from sslart._tables.columns import features_of, learnt_columns, samples_for
from sslart._utils.notes import collected_notes
from sslart._utils.text import listed
from sslart.estimators._fitted import shallow_copy
from sslart.persistence import model_bytes
from sslart.server.models._settings import ModelSettings
from sslart.server.store._files import digest_of

SOURCE = "the request"

Cells = Mapping[str, Any]
_NUMBERS = frozenset({float, int, type(None)})


class RowReader:
    """Convert rows to samples of a fitted model; `others` are columns that are not features, such as the label.

    A row may have extra columns, or lack some, whose values are then missing; but not both, since a name is probably
    misspelt.
    """

    def __init__(self, model: Any, view: ModelView, others: Sequence[str] = ()) -> None:
        self._model, self._view = model, view
        self.has_names = bool(learnt_columns(model))
        self.names = learnt_columns(model) or view.feature_names
        encoder = view.members[0].encoder
        self.is_decided = not encoder.undecided  # every column is known to be numeric or categorical
        self.samples_reader, plan = view.reader, view.reader.plan
        self._is_plain = self.is_decided and not plan.dates and not plan.left_out
        self._known, self._others = frozenset(self.names), frozenset(others)
        self._number_places = [place for place in range(len(self.names)) if place not in encoder.categorical]
        self._number_names = [self.names[place] for place in self._number_places]
        self._categories = {
            place: {plain(str(one)): one for one in encoder.categories_of(place)}
            for place in range(len(self.names))
            if place in encoder.categorical
        }

    @property
    def columns(self) -> tuple[Any, ...]:
        """Everything that the conversion depends on: readers with equal columns convert rows equally."""
        undecided = frozenset(self._view.members[0].encoder.undecided)
        return self.names, self.has_names, self.samples_reader.plan, self._categories, undecided

    def table(self, rows: Sequence[Cells]) -> Table:
        """Convert rows of a request to samples, to predict, explain or learn."""
        self._check_names(rows)
        found = self._short_way(rows) if self._is_plain else None
        return self._view.read(self._long_way(rows)) if found is None else found

    def table_of_numbers(self, values: Any) -> Table | None:
        """Return an array of all features as samples; None if the model has features that are not numeric."""
        values = np.ascontiguousarray(values, dtype=np.float64)
        if not self._is_plain or self._categories or not len(values):
            return None
        if np.isinf(values).any() or np.isnan(values).all(axis=1).any():
            return None
        return Table(values, names=self.names if self.has_names else None)

    def samples(self, rows: Sequence[Cells]) -> Any:
        """Return rows as samples for users: a frame, or an array if columns have no names."""
        self._check_names(rows)
        return self._long_way(rows)

    def _short_way(self, rows: Sequence[Cells]) -> Table | None:
        """Convert rows by a fast path; None if a cell needs the full conversion."""
        names, of_table = self._number_names, self.names if self.has_names else None
        cells = [[row.get(name) for name in names] for row in rows]
        if not _NUMBERS.issuperset({type(cell) for row in cells for cell in row}):
            return None
        try:
            numbers = np.array(cells, dtype=np.float64)
        except OverflowError:
            return None
        is_there = np.isfinite(numbers)
        if np.isinf(numbers).any() or not (is_there.any(axis=1).all() if names else False):
            return None
        if not self._categories:
            return Table(numbers, names=of_table)
        values = np.full((len(rows), len(self.names)), np.nan)
        values[:, self._number_places] = numbers
        categories = {}
        for place, known in self._categories.items():
            name = self.names[place]
            of_column = [row.get(name) for row in rows]
            if not all(cell is None or (type(cell) is str and cell in known) for cell in of_column):
                return None
            categories[place] = np.array([None if cell is None else known[cell] for cell in of_column], dtype=object)
        return Table(values, categories, of_table)

    def _long_way(self, rows: Sequence[Cells]) -> Any:
        frame = text_frame(rows).reindex(columns=self.names)
        with collected_notes():  # notes on columns are not for requests
            return samples_for(self._model, frame, SOURCE)

    def _check_names(self, rows: Sequence[Cells]) -> None:
        for number, row in enumerate(rows, start=1):
            if self._known <= row.keys():
                continue
            lacking = [name for name in self.names if name not in row]
            unknown = [name for name in row if name not in self._known and name not in self._others]
            if unknown:
                raise ValueError(
                    f"Row {number} lacks features of the model ({listed(lacking)}) and has unknown columns "
                    f"({listed(unknown)}): correct the names, or give null where a value is unknown."
                )


def text_frame(rows: Sequence[Cells]) -> Any:
    """Return rows as a frame of text, as read from a file; None where a cell is missing or empty."""
    names = dict.fromkeys(name for row in rows for name in row)
    columns = {name: [None if row.get(name) in (None, "") else str(row[name]) for row in rows] for name in names}
    return pandas().DataFrame(columns, index=range(len(rows)), dtype=object)


def first_samples(rows: Sequence[Cells], settings: ModelSettings) -> Any:
    """Return the first samples of a model, which define its columns."""
    frame = text_frame(rows)
    features = [name for name in frame.columns if name not in settings.not_features]
    if not features:
        raise ValueError("The rows have no features: give each row a value for every feature, by name.")
    with collected_notes():
        return features_of(frame[features], SOURCE, [name for name in settings.category if name in features])


def as_class(label: Any, classes: Any) -> Any:
    """Return a label of a request as a class of the model: text, unless its classes are numbers or booleans."""
    if label is None or (isinstance(label, str) and not label.strip()):
        return None
    if isinstance(label, str) and label.strip() in MISSING:
        raise ValueError(f"The label {label!r} denotes a missing value: send null, or rename the class.")
    kind = classes.dtype.kind if classes is not None and len(classes) else "U"
    text = plain(str(label).strip())
    if isinstance(label, float) and label % 1:
        raise ValueError(f"The label {label} is a continuous value, not a class: bin the values first.")
    if kind not in "ib":
        return text
    read: Any = int if kind == "i" else {"true": True, "1": True, "false": False, "0": False}.__getitem__
    try:
        return read(text.lower())
    except (ValueError, KeyError) as error:
        known = listed([str(one) for one in classes.tolist()], 12)
        raise ValueError(
            f"The label {label!r} is not of the same type as the classes of the model: {known}."
        ) from error


class NoLabelError(ValueError):
    """Raised for a model that cannot predict, since it has no labels yet."""


class Published:
    """An immutable model with the last record of its journal that it has learnt."""

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
        categories = {
            place: np.array([None], dtype=object) for place in range(len(numbers)) if np.isnan(numbers[place])
        }
        with suppress(ValueError), collected_notes():  # requests and the study of trust get the reason
            names = self.reader.names if self.reader.has_names else None
            self.predict_table(Table(numbers[None, :], categories, names))

    @cached_property
    def digest(self) -> str:
        """The SHA-256 of the whole model."""
        return digest_of(self.content())

    def content(self) -> bytes:
        """Return the model as the bytes of a file of `sslart.save`."""
        return model_bytes(self.model)

    def check_has_label(self) -> None:
        """Raise a NoLabelError if the model has no labels."""
        if not self.classes:
            raise NoLabelError("The model has no labels yet: send labelled rows, or labels for rows.")

    def check_parameters(self, parameters: dict[str, Any]) -> None:
        """Raise a ValueError if parameters are invalid for the model."""
        trial = shallow_copy(self.model)
        try:
            view_of(trial.set_params(**parameters))
        except TypeError as error:
            raise ValueError(str(error)) from error

    def predict_table(self, table: Table, abstain_below: float | None = None) -> Decisions:
        """Return the decisions on converted samples."""
        view = self.view if abstain_below is None else replace(self.view, abstain_below=abstain_below)
        return PredictionBatch(view, table).decisions(self._threshold)

    def plain(self, found: Decisions) -> list[dict[str, Any]]:
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


def as_json(value: Any) -> Any:
    """Return a class as JSON can hold it."""
    return value.item() if hasattr(value, "item") else value
