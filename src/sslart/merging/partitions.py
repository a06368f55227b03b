"""Steps for fitting one model to a partitioned table on a cluster.

Every partition of the table is read twice. `summary_of` finds ranges, categories and classes; `Summary.joined` reduces
summaries in any order, and `start_of` returns the common context of all partitions. `fit_part` learns the boxes of one
partition; `join_parts` merges the learnt states, and `finish` returns the fitted model. All intermediate results can be
pickled. `sslart.dask` runs these steps on dask.

Examples
--------
>>> from sklearn.datasets import load_iris
>>> from sslart import SSLART
>>> from sslart.merging.partitions import Summary, finish, fit_part, join_parts, start_of, summary_of, wanted_of
>>> X, y = load_iris(return_X_y=True)
>>> parts = [(X[::3], y[::3]), (X[1::3], y[1::3]), (X[2::3], y[2::3])]
>>> model = SSLART(vigilance=0.8, random_state=0)
>>> wanted = wanted_of(model)
>>> found = [summary_of(model, *part, number=number, wanted=wanted) for number, part in enumerate(parts)]
>>> start = start_of(model, Summary.joined(found))
>>> learnt = [fit_part(model, *part, start, number=number) for number, part in enumerate(parts)]
>>> fitted = finish(model, join_parts(model, learnt))
>>> int(fitted.support_.sum())
150
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.metadata import version
from typing import Any

import numpy as np
from sklearn.base import clone, is_classifier

from sslart._data.columns import PARTS
from sslart._data.encoder import first_encoder
from sslart._data.labels import ClassTable, Labels, Presentations, read_labels
from sslart._data.samples import SampleReader, Table, known_columns, plan_of, read_samples
from sslart._data.training import MOST_LABELS, read_training, warn_of_outliers
from sslart._mapping.mergeable_state import LabelledRows, Shared
from sslart._utils.arrays import BoolArray, IntArray, keys_of_numbers
from sslart._utils.text import printable
from sslart.estimators._fitted import FittedModel
from sslart.estimators._fuzzy_art import FuzzyARTMAP, refuse_gaps
from sslart.estimators._sslart import seed_of
from sslart.merging._merge import finished, joined_parts
from sslart.merging._novelty import measured_samples
from sslart.merging._summary import MAX_CATEGORIES, WHOLE, Summary, Wanted, numbers_of, read_beside, summary_of

__all__ = [
    "Start",
    "Summary",
    "Wanted",
    "finish",
    "fit_part",
    "join_parts",
    "second_look",
    "start_of",
    "summary_of",
    "wanted_of",
]


@dataclass(frozen=True, eq=False)
class Start:
    """Common context of all partitions, known before any is learnt. It can be pickled.

    Attributes
    ----------
    columns : mapping from str to object
        Attributes of an estimator that describe its columns.
    reader : SampleReader
        Reader of the samples of a partition.
    shared : Shared
        The encoder, which covers all values and categories of all partitions, and all classes, sorted.
    seed : int
        Seed of all random choices.
    n_rows, n_labelled : int
    first_of_classes : frozenset of int
        Number of the first row of each class.
    """

    columns: Mapping[str, Any]
    reader: SampleReader
    shared: Shared
    seed: int
    n_rows: int
    n_labelled: int
    first_of_classes: frozenset[int]


def wanted_of(estimator: Any) -> Wanted:
    """Validate the parameters of an estimator, and return the contents to request from summaries."""
    estimator.__sslart_check__()
    return Wanted(seed_of(estimator.random_state), MOST_LABELS, version("sslart"))


def second_look(summary: Summary) -> Wanted | None:
    """Return the request for a second pass if all labels are -1 and 1, so that -1 is a class; else None."""
    if summary.wanted.minus_one_is_class or not summary.n_minus_one or set(summary.classes) != {("int", 1)}:
        return None
    return summary.wanted._replace(minus_one_is_class=True)


def start_of(estimator: Any, summary: Summary, *, needs_labels: bool = True) -> Start:
    """Return the context for learning all partitions.

    Parameters
    ----------
    estimator : estimator
        Not fitted.
    summary : Summary
        Summary of all partitions.
    needs_labels : bool
        Whether a classifier must have at least one label.
    """
    if summary.problem is not None:
        number, message = summary.problem
        raise ValueError(f"Partition {number}, counted from 0: {message}")
    if summary.rows is None:
        raise ValueError("X has no samples: every partition is empty.")
    if isinstance(estimator, FuzzyARTMAP):
        refuse_gaps(summary.n_rows - summary.n_labelled)
    model, rows = clone(estimator), summary.rows
    samples = _with_category_types(rows.samples, summary)
    has_labels = is_classifier(model) and (needs_labels or summary.n_labelled > 0)
    reader = SampleReader(type(estimator).__name__)
    table = _read(model, reader, samples, rows.labels if has_labels else None, rows.names())
    fair = summary.sampled() | summary.at_limits()
    weights = rows.weights if (rows.weights != 1).any() else None
    shown = Presentations(Labels(rows.numbers, fair, weights=weights)[fair].presentations).rows
    whole = _with_all_limits(summary, _after_all_categories(reader, summary, table[fair][shown]))
    encoder = first_encoder(
        type(estimator).__name__, whole, slice(None), bounds=model.bounds, scaling=model.scaling, stream=False
    ).covering(whole)
    columns = known_columns(reader)
    names, plan = columns.get("feature_names_in_"), plan_of(reader)
    return Start(
        columns,
        SampleReader(reader.owner, columns["n_features_in_"], names, encoder.categorical, plan),
        Shared(encoder, _class_table(summary)),
        summary.wanted.seed,
        summary.n_rows,
        summary.n_labelled,
        frozenset(summary.classes.values()),
    )


def _read(model: Any, reader: SampleReader, samples: Any, labels: Any, row_names: list[str]) -> Table:
    """Return the representative rows as a table; the reader records the columns, with warnings and notes."""
    if labels is not None:
        gaps = not isinstance(model, FuzzyARTMAP)
        return read_training(
            reader, samples, labels, scaling=model.scaling, gaps=gaps, row_names=row_names, read_texts=False
        )[0]
    table = read_samples(reader, samples, reset=True, leave_out=True, read_texts=False)
    warn_of_outliers(table, table, model.scaling, row_names)
    return table


def _with_category_types(samples: Any, summary: Summary) -> Any:
    """Return samples with the dtype "category" in all columns that are categorical in any partition."""
    if not hasattr(samples, "astype") or not hasattr(samples, "columns"):
        return samples
    hidden = {
        place
        for place, found in summary.is_category.items()
        if found and str(samples.dtypes.iloc[place]) == "object" and _all_numbers(samples.iloc[:, place])
    }
    names = [samples.columns[place] for place in sorted(summary.typed | hidden)]
    return samples.astype(dict.fromkeys(names, "category")) if names else samples


def _all_numbers(column: Any) -> bool:
    known = column.dropna().tolist()
    return all(isinstance(value, int | float) and not isinstance(value, bool) for value in known)


def _after_all_categories(reader: SampleReader, summary: Summary, table: Table) -> Table:
    """Prepend rows with all categories of all partitions, sorted, to a table."""
    categories: dict[int, list[Any]] = {column: [] for column in table.categories}
    for place, column, found in _categories(reader, summary, table):
        if found is None:
            name = f"x{column}" if table.names is None else printable(table.names[column])
            raise ValueError(
                f"Column {name} has more than {MAX_CATEGORIES} categories, which are too many to learn from: leave the "
                "column out, or give fewer categories, or numbers in their place."
            )
        categories[place] = sorted(found, key=lambda value: (type(value).__name__, value))
    n_rows = max(map(len, categories.values()), default=0)
    values = np.full((n_rows, table.values.shape[1]), np.nan)
    together = {
        column: np.array([*own, *[None] * (n_rows - len(own)), *table.categories[column]], dtype=object)
        for column, own in categories.items()
    }
    return replace(table, values=np.concatenate([values, table.values]), categories=together)


def _with_all_limits(summary: Summary, table: Table) -> Table:
    """Append rows with the minimum and maximum of each column to a table, if no row has them."""
    if summary.keeps_limits:
        return table
    ends = np.full((2, table.values.shape[1]), np.nan)
    for (column, side), limit in summary.limits.items():
        if column not in table.categories:
            ends[side, column] = limit.value if side else -limit.value
    none = np.full(2, None, dtype=object)
    categories = {column: np.concatenate([none, values]) for column, values in table.categories.items()}
    return replace(table, values=np.concatenate([ends, table.values]), categories=categories)


def _categories(
    reader: SampleReader, summary: Summary, table: Table
) -> Iterator[tuple[int, int, frozenset[Any] | None]]:
    """Yield the index of each categorical column in the table, the given column, and its categories."""
    plan, n_given = plan_of(reader), table.values.shape[1] - table.n_parts
    for (column, part), found in summary.categories.items():
        place = column
        if part != WHOLE:
            if column not in plan.dates or (PARTS[part] == "weekday" and column in plan.monthly):
                continue
            place = n_given + plan.dates.index(column) * len(PARTS) + part
        if place in table.categories and column not in plan.left_out:
            yield place, column, found


def _class_table(summary: Summary) -> ClassTable:
    values = [value for _, value in sorted(summary.classes)]
    if not values:
        return ClassTable()
    labels = read_labels(np.array([*values, None], dtype=object))
    if summary.wanted.minus_one_is_class:
        labels = labels.with_class_minus_one()
    return ClassTable().learning(labels)


def fit_part(
    estimator: Any, X: Any, y: Any, start: Start, *, number: int, groups: Any = None, sample_weight: Any = None
) -> FittedModel | None:
    """Return the state learnt from one partition: boxes and labelled rows; None without samples.

    With evidence mapping, settings are not selected yet; with other mappings, labelled rows are not learnt yet: see
    `finish`.

    Parameters
    ----------
    estimator, X, y, number, groups, sample_weight
        As in `summary_of`.
    start : Start
    """
    if not len(X):
        return None
    table, numbers = start.reader.read(X), numbers_of(number, len(X))
    labels, _, weights, keys = read_beside(table, y, groups, sample_weight, start.shared.class_table.has_minus_one())
    if groups is not None:
        labels = replace(labels, groups=keys)
    if sample_weight is not None:
        labels = replace(labels, weights=weights)
        table, labels, numbers = table[weights > 0], labels[weights > 0], numbers[weights > 0]
    if not len(table):
        return None
    model = clone(estimator).set_params(random_state=start.seed)
    labelled, max_later = None, model.__sslart_learns_later__()
    if max_later:
        later = _learnt_later(labels, numbers, start, max_later)
        if later.any():
            labelled = LabelledRows(table[later], labels[later], numbers[later], start.shared, start.seed)
        table, labels = table[~later], replace(labels, known=np.zeros(len(later), dtype=bool))[~later]
        if not len(table):
            return FittedModel(start.columns, (), start.shared.class_table, None, labelled=labelled)
    columns = dict(start.columns)
    parts: FittedModel = model.__sslart_part__(columns, table, labels, start.shared, number)
    measured = measured_samples(parts.calibration, table, parts.members[0].network.encoder)
    return replace(parts, measured=measured, labelled=labelled)


def _learnt_later(labels: Labels, numbers: IntArray, start: Start, n_wanted: int) -> BoolArray:
    """Return a mask of labelled rows to learn at the end: all, or a uniform sample of every class.

    The selection depends only on the table, so that every partition can find its own rows.
    """
    if start.n_labelled <= n_wanted:
        return labels.known
    share = np.uint64(n_wanted / start.n_labelled * 2.0**64)
    is_first = np.isin(numbers, np.fromiter(start.first_of_classes, dtype=np.int64))
    return labels.known & ((keys_of_numbers(numbers, start.seed) < share) | is_first)


def join_parts(estimator: Any, parts: Sequence[FittedModel | None]) -> FittedModel | None:
    """Merge the states learnt from several partitions.

    Boxes depend on the order of merging: the same tree of merges gives the same bits.
    """
    known = [one for one in parts if one is not None]
    if len(known) < 2:
        return known[0] if known else None
    labelled = LabelledRows.joined([one.labelled for one in known if one.labelled is not None])
    known = [one for one in known if one.members] or known[:1]
    joined = known[0]
    if len(known) > 1:
        vigilance, max_nodes, choice = estimator.vigilance, estimator.max_nodes, estimator.choice
        joined = joined_parts(known, vigilance, max_nodes, choice, estimator.learning_rate)
    return replace(joined, labelled=labelled)


def finish(estimator: Any, parts: FittedModel) -> Any:
    """Return a fitted copy of an estimator, given the merged state of all partitions.

    With evidence mapping, settings are selected now. With other mappings, the boxes of all partitions learn the
    labelled rows now, as in the second stage of `fit`.

    Parameters
    ----------
    estimator : estimator
        Not fitted.
    parts : FittedModel
        Of all partitions.
    """
    model = clone(estimator)
    if parts.members:
        model.__sslart_take__(finished(parts))
    if parts.labelled is not None:
        model.__sslart_learn_later__(parts.columns, parts.labelled)
    return model
