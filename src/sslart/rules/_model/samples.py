"""The samples that rules are chosen by: those of the user or those that the boxes stand for, and others like them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sslart._data.labels import UNLABELLED
from sslart._data.samples import Table
from sslart._mapping.model_view import MemberView, ModelView
from sslart._utils.arrays import BoolArray, CountArray, FloatArray, IntArray
from sslart._utils.optional import heavy
from sslart.rules._model.rule import Category

MAX_FROM_BOXES = 2000
MAX_DECIMALS = 6
N_NEIGHBOURS = 5
FEW_VALUES = 10  # a column of so few distinct values gets no other ones
FILL = 0.5  # stands for a missing value where neighbours are searched


@dataclass(frozen=True, eq=False)
class LabelCounts:
    """Labelled samples, or boxes with their label counts.

    Attributes
    ----------
    table : Table
    counts : array of shape (n_rows, n_classes)
        How many labels of each class a row stands for.
    """

    table: Table
    counts: CountArray


def categories_of(view: ModelView) -> dict[int, list[Category]]:
    """Return the categories that a model knows, by column."""
    encoder = view.members[0].encoder
    known: dict[int, list[Category]] = {column: [] for column in sorted(encoder.categorical)}
    for feature in encoder.features:
        if feature.category is not None:
            known[feature.column].append(feature.category)
    return known


def box_samples(view: ModelView, random: np.random.Generator) -> Table:
    """Return samples drawn from the boxes, as many of each as it has learnt, fewer in proportion if they are many."""
    share = max(1, MAX_FROM_BOXES // len(view.members))
    tables = []
    for member in view.members:
        total = member.support.sum()
        size = min(round(float(total)) or 1, share)
        edges = np.cumsum(member.support) / total
        boxes = np.searchsorted(edges, (np.arange(size) + 0.5) / size)
        lower, upper = member.boxes_of(boxes)
        coded = lower + (upper - lower) * random.random(lower.shape)
        tables.append(_decoded(member, view, coded, lower, upper, random))
    return joined(tables)


def label_counts(view: ModelView) -> LabelCounts:
    """Return the labels that a model keeps: its labelled samples, or else the middle of each box and its counts."""
    n_classes = len(view.classes)
    tables, counts = [], []
    for member in view.members[:1] if view.uses_evidence else view.members:
        kept = member.kept_labels
        if kept is not None:
            table, indices = kept
            tables.append(Table(table.values, table.categories))
            counts.append(np.eye(n_classes, dtype=np.int64)[indices])
        else:
            boxes = np.flatnonzero(member.labels != UNLABELLED)
            lower, upper = member.boxes_of(boxes)
            middle = np.random.default_rng(0)  # for ties between categories alone
            tables.append(_decoded(member, view, (lower + upper) / 2, lower, upper, middle))
            counts.append(member.counts[boxes])
    return LabelCounts(joined(tables), np.concatenate(counts))


def _decoded(
    member: MemberView,
    view: ModelView,
    coded: FloatArray,
    lower: FloatArray,
    upper: FloatArray,
    random: np.random.Generator,
) -> Table:
    """Return coded values as a table; one of the categories that a box allows, and nothing where it has no value."""
    encoder, size = member.encoder, len(coded)
    unreached: BoolArray = lower > upper
    units = np.where(unreached, np.nan, encoder.decode(np.where(unreached, 0.0, coded)))
    values = np.full((size, len(view.feature_names)), np.nan)
    categories = {column: np.full(size, None, dtype=object) for column in sorted(encoder.categorical)}
    positions: dict[int, list[int]] = {}
    for position, feature in enumerate(encoder.features):
        if feature.category is None:
            values[:, feature.column] = units[:, position]
        else:
            positions.setdefault(feature.column, []).append(position)
    for column, places in positions.items():
        allowed = np.where(unreached[:, places], 0.0, upper[:, places]) > 0
        chosen = (random.random(allowed.shape) * allowed).argmax(axis=1)
        names = np.array([encoder.features[place].category for place in places], dtype=object)
        rows = np.flatnonzero(allowed.any(axis=1))
        categories[column][rows] = names[chosen[rows]]
    return Table(values, categories)


def joined(tables: list[Table]) -> Table:
    """Return several tables of the same columns as one."""
    categories = {
        column: np.concatenate([table.categories[column] for table in tables]) for column in tables[0].categories
    }
    return Table(np.vstack([table.values for table in tables]), categories)


class Neighbourhood:
    """Draws new samples between samples and their neighbours, in the units and with the decimals of the samples.

    Parameters
    ----------
    table : Table
        At least one sample.
    coded : array of shape (n_samples, n_coded_features)
        The same samples in the unit cube, NaN where missing.
    """

    def __init__(self, table: Table, coded: FloatArray) -> None:
        self.table = table
        filled = np.where(np.isnan(coded), FILL, coded)
        n_neighbours = min(N_NEIGHBOURS + 1, len(table))
        search = heavy("sklearn.neighbors").NearestNeighbors(n_neighbors=n_neighbours, algorithm="kd_tree").fit(filled)
        self.neighbours: IntArray = search.kneighbors(filled, return_distance=False)[:, n_neighbours > 1 :]
        self.decimals = [_decimals(column) for column in table.values.T]
        self.is_discrete = np.array([len(np.unique(column)) <= FEW_VALUES for column in table.values.T])

    def draw(self, size: int, random: np.random.Generator) -> Table:
        """Return new samples: half of them near one sample, half of them a mixture of any two."""
        values, n = self.table.values, len(self.table)
        first = random.integers(n, size=size)
        near = self.neighbours[first, random.integers(self.neighbours.shape[1], size=size)]
        is_near = random.random(size) < 0.5
        second = np.where(is_near, near, random.integers(n, size=size))
        way = random.random((size, values.shape[1]))
        way = np.where(is_near[:, None], way, np.where(way < 0.3, 1.0, 0.0))
        taken = np.where(way > 0.5, values[second], values[first])
        between = values[first] + (values[second] - values[first]) * way
        drawn = np.where(self.is_discrete | np.isnan(between), taken, between)
        for column, decimals in enumerate(self.decimals):
            if decimals is not None:
                drawn[:, column] = np.round(drawn[:, column], decimals)
        categories = {
            column: np.where(way[:, column] > 0.5, names[second], names[first])
            for column, names in self.table.categories.items()
        }
        return Table(drawn, categories)


def _decimals(values: FloatArray) -> int | None:
    """Return with how many decimals all values are written; None where they are many."""
    known = values[~np.isnan(values)]
    with np.errstate(over="ignore"):
        for decimals in range(MAX_DECIMALS + 1):
            if (np.round(known, decimals) == known).all():
                return decimals
    return None
