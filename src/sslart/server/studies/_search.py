"""Samples that meet the conditions of a search or of a rule."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from sslart._data.labels import UNLABELLED
from sslart._mapping.model_view import ModelView
from sslart._utils.arrays import BoolArray, FloatArray, IntArray
from sslart._utils.text import list_text
from sslart.rules._model_rules import ModelCondition
from sslart.server.models._settings import Cell, Closed, Name, RowNumber
from sslart.server.studies._boxes import median_sample
from sslart.server.studies._samples import LoadedSamples
from sslart.server.studies._study import Study

SHOWN_NAMES = 20
MAX_NUMBERS = 100_000  # of rows, in a request or its answer
SORTED_BY = ("row", "probability", "novelty", "disagreement")  # or by a feature
Share = Annotated[float, Field(ge=0, le=1)]


class SearchRequest(Closed):
    """Conditions on the samples to return; without conditions, all samples."""

    rows: Annotated[list[RowNumber], Field(max_length=MAX_NUMBERS, fail_fast=True)] | None = Field(
        default=None, description="of these numbers only"
    )
    box: Annotated[int, Field(ge=0, lt=2**31)] | None = Field(default=None, description="in this box only")
    predicted: Annotated[list[Name], Field(max_length=1000)] | None = Field(
        default=None, description="predicted as one of these classes"
    )
    label: Annotated[list[Name | None], Field(max_length=1000)] | None = Field(
        default=None, description="labelled as one of these classes; null for samples without a label"
    )
    disagrees: bool | None = Field(default=None, description="whether the label is not the most probable class")
    novel: bool | None = None
    abstained: bool | None = None
    probability: Annotated[list[Share], Field(min_length=2, max_length=2)] | None = Field(
        default=None, description="the lowest and the highest"
    )
    cells: dict[Name, str | Annotated[list[Cell], Field(min_length=1, max_length=1000)]] = Field(
        default={}, max_length=1000, description="by feature: [lowest, highest] of a number, part of a category"
    )
    text: Annotated[str, Field(max_length=1000)] = Field(default="", description="part of any category")
    sort: Annotated[str, Field(max_length=1000)] = Field(
        default="row", description="row, probability, novelty, disagreement, or a feature"
    )
    descending: bool = False
    offset: Annotated[int, Field(ge=0, lt=2**31)] = 0
    limit: Annotated[int, Field(ge=0, le=1000)] = 50
    numbers: bool = Field(default=False, description=f"whether to return the numbers of all, {MAX_NUMBERS} at most")


def disagreement(study: Study) -> FloatArray:
    """Return the doubt in each prediction, from 0 to 1.

    Where there is a label of another class than the most probable one, it is the probability of that class; where there
    is none, by how little the most probable class is above the second.
    """
    predictions, indices = study.predictions, study.label_indices
    differs = indices != predictions.best
    with_label = np.where(differs, predictions.probability, 1.0 - predictions.probability)
    return np.asarray(np.where(indices == UNLABELLED, 1.0 - predictions.margin, with_label), dtype=np.float32)


# one value for each sample; in classes and labels, -1 stands for none
QUANTITIES: dict[str, Callable[[Study], NDArray[Any]]] = {
    "row": lambda study: study.loaded.samples.rows.astype("<i4"),
    "position": lambda study: study.loaded.positions,
    "class": lambda study: study.predictions.indices,
    "probability": lambda study: study.predictions.probability,
    "novelty": lambda study: study.loaded.novelty,
    "novel": lambda study: study.loaded.is_novel.astype("u1"),
    "disagreement": disagreement,
    "label": lambda study: study.label_indices,
    "box": lambda study: study.loaded.boxes.astype("<i4"),
}


def found_places(study: Study, search: SearchRequest) -> IntArray:
    """Return where the samples are that meet all conditions, in order."""
    loaded, predictions, indices = study.loaded, study.predictions, study.label_indices
    keep = np.ones(len(loaded), dtype=bool)
    if search.rows is not None:
        keep = np.zeros(len(loaded), dtype=bool)
        keep[loaded.samples.places(np.unique(np.asarray(search.rows, dtype=np.int64)))] = True
    if search.box is not None:
        in_box = np.zeros(len(loaded), dtype=bool)
        if search.box < loaded.member.n_nodes:
            in_box[loaded.places_in(search.box)] = True
        keep &= in_box
    names = [str(one) for one in predictions.classes]
    if search.predicted is not None:
        keep &= np.isin(predictions.best, [names.index(one) for one in search.predicted if one in names])
    if search.label is not None:
        wanted = set(search.label)
        keep &= np.array([(None if one is None else str(one)) in wanted for one in study.labels], dtype=bool)
    if search.disagrees is not None:
        keep &= ((indices != UNLABELLED) & (indices != predictions.best)) == search.disagrees
    if search.novel is not None:
        keep &= loaded.is_novel == search.novel
    if search.abstained is not None:
        keep &= ((predictions.indices == UNLABELLED) & (predictions.best != UNLABELLED)) == search.abstained
    if search.probability is not None:
        low, high = search.probability
        keep &= (predictions.probability >= low) & (predictions.probability <= high)
    for name, wanted_value in search.cells.items():
        keep &= _meets(loaded, name, wanted_value)
    if search.text:
        keep &= _has_text(loaded, search.text)
    places = np.flatnonzero(keep)
    if search.sort in SORTED_BY:
        keys = QUANTITIES[search.sort](study).astype(np.float64)
    else:
        values = codes_of(loaded, search.sort)[0]
        keys = np.where(np.isnan(values), np.inf, values)
    return np.asarray(places[np.argsort(-keys[places] if search.descending else keys[places], kind="stable")])


def column_of(view: ModelView, feature: str) -> int:
    """Return the number of a feature, or raise a ValueError that names those there are."""
    names = view.feature_names
    if feature not in names:
        raise ValueError(f"There is no feature {feature!r}: choose one of {list_text(names, SHOWN_NAMES)}.")
    return names.index(feature)


def codes_of(loaded: LoadedSamples, name: str) -> tuple[FloatArray, list[Any] | None]:
    """Return a feature as numbers, NaN where missing; a category by its place among those returned with it."""
    column, table = column_of(loaded.samples.published.view, name), loaded.samples.table
    if column not in table.categories:
        return table.values[:, column], None
    known = loaded.member.encoder.categories_of(column)
    codes = {None: np.nan, **{one: float(place) for place, one in enumerate(known)}}
    return np.array([codes.get(one, np.nan) for one in table.categories[column].tolist()]), known


def _meets(loaded: LoadedSamples, name: str, wanted: Any) -> BoolArray:
    column, table = column_of(loaded.samples.published.view, name), loaded.samples.table
    if column in table.categories:
        texts = [str(wanted)] if isinstance(wanted, str) else [str(one) for one in wanted]
        values = table.categories[column].tolist()
        return np.array([one is not None and any(text in str(one) for text in texts) for one in values], dtype=bool)
    if isinstance(wanted, str) or len(wanted) != 2:
        raise ValueError(f"{name!r} holds numbers: give [lowest, highest], null for no end.")
    low, high = (np.nan if end is None else float(end) for end in wanted)
    values = table.values[:, column]
    inside = ~np.isnan(values)
    if low == low:
        inside &= values >= low
    if high == high:
        inside &= values <= high
    return inside


def _has_text(loaded: LoadedSamples, text: str) -> BoolArray:
    found, wanted = np.zeros(len(loaded), dtype=bool), text.casefold()
    for values in loaded.samples.table.categories.values():
        has = {one: one is not None and wanted in str(one).casefold() for one in set(values.tolist())}
        found |= np.array([has[one] for one in values.tolist()], dtype=bool)
    return found


def condition_of(values: Mapping[str, Any]) -> ModelCondition:
    """Return a condition that `GET rules` has given as plain values."""
    categories = values.get("categories")
    return ModelCondition(
        values["feature"],
        values.get("above"),
        values.get("at_most"),
        None if categories is None else tuple(categories),
        bool(values.get("negated")),
        bool(values.get("missing")),
        bool(values.get("only_missing")),
    )


def covered(loaded: LoadedSamples, conditions: Sequence[ModelCondition]) -> BoolArray:
    """Return a mask of the samples that meet all conditions."""
    table, met = loaded.samples.table, np.ones(len(loaded), dtype=bool)
    for condition in conditions:
        column = _checked_column(condition, loaded.samples.published.view)
        met &= condition.holds_for(table.categories.get(column, table.values[:, column]))
    return met


def _checked_column(condition: ModelCondition, view: ModelView) -> int:
    column = column_of(view, condition.feature)
    is_category = column in view.members[0].encoder.categorical
    if not condition.only_missing and is_category != (condition.categories is not None):
        kind, fields = ("categories", "categories") if is_category else ("numbers", "above and at_most")
        raise ValueError(f"{condition.feature!r} holds {kind}: give {fields}, as GET .../rules does.")
    return column


def suggested(loaded: LoadedSamples, places: IntArray, n: int) -> list[int]:
    """Return at most `n` samples that stand for many: from as many boxes as there can be, the largest share first."""
    boxes = loaded.boxes[places]
    order = np.argsort(boxes, kind="stable")
    of_box = np.split(places[order], np.flatnonzero(np.diff(boxes[order])) + 1) if len(places) else []
    of_box.sort(key=lambda own: (-len(own), int(own[0])))
    found: list[int] = []
    while of_box and len(found) < n:
        left = []
        for own in of_box[: n - len(found)]:
            one = median_sample(loaded, own)
            found.append(one)
            rest = own[own != one]
            if len(rest):
                left.append(rest)
        of_box = left
    return found
