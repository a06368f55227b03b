"""The table that a model is fitted to: its columns as samples, labels, groups and names."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from sslart._data.columns.kinds import FREE_TEXT
from sslart._utils.text import list_text, plural
from sslart.cli._output import note
from sslart.cli.input import cells
from sslart.cli.input.columns import (
    Column,
    blank_rows,
    check_columns,
    day_first_columns,
    features_of,
    groups_of,
    labels_of,
    split_names,
    understood,
    unusable,
)
from sslart.cli.input.files import read_pieces
from sslart.cli.input.sampling import sample_rows

SHOWN_CLASSES = 30


class TrainingTable(NamedTuple):
    """Rows to learn from.

    Attributes
    ----------
    samples : DataFrame
    labels : list of str or None
    ids, groups : list of str or None, or None
        The name and the group of each row, where a column has them.
    columns : list of Column
        What was understood of each column.
    day_first : list of str
        The columns with dates in which the day comes before the month.
    """

    samples: Any
    labels: list[Any]
    ids: list[str | None] | None
    groups: list[str | None] | None
    columns: list[Column]
    day_first: list[str]

    @property
    def label_counts(self) -> dict[str, int]:
        """How many labels each class has."""
        return dict(sorted(Counter(one for one in self.labels if one is not None).items()))

    @property
    def ids_are_unique(self) -> bool:
        """Whether every row has a name of its own."""
        return self.ids is not None and None not in self.ids and len(set(self.ids)) == len(self.ids)


class Columns(NamedTuple):
    """The columns that the user has named."""

    label: str
    id_column: str | None = None
    group: str | None = None
    ignore: Sequence[str] | None = None
    category: Sequence[str] | None = None
    use: Sequence[str] | None = None


def read_training_table(
    data: str, named: Columns, most_rows: int, seed: int, encoding: str | None = None, *, progress: bool
) -> TrainingTable:
    """Return the rows of a file to learn from, or raise an error that names the cure."""
    label, id_column, group = named[:3]
    frame, n_rows = sample_rows(_labelled_pieces(data, label, encoding, progress), label, most_rows, seed)
    if len(frame) < n_rows:
        note(
            f"{data} has {n_rows} rows: learnt from {most_rows} of them, labelled ones first. --most-rows sets how "
            "many."
        )
    left_out = [name for name in (id_column, *split_names(named.ignore, frame)) if name is not None]
    categories, used = split_names(named.category, frame), split_names(named.use, frame)
    check_columns(frame.columns, [label, group, *left_out, *categories, *used], data)
    if label in (group, *left_out):
        raise ValueError(f"Column {label!r} cannot be the label and be left out: name another column.")
    if group in left_out:
        raise ValueError(f"Column {group!r} cannot be the group and be left out, or name samples: name it once.")
    features = [name for name in frame.columns if name not in (label, group, *left_out)]
    frame = frame[~blank_rows(frame, features, data)] if features else frame
    labels = labels_of(frame, label, data)
    if not any(one is not None for one in labels):
        raise ValueError(f"Column {label!r} of {data} is blank throughout: label at least one row of each class.")
    samples = features_of(frame[features], data, categories)
    why_not = unusable(samples, [*categories, *used])
    if why_not:
        samples, frame, labels = _without_columns(samples, frame, labels, why_not)
    samples = samples.astype({name: "category" for name in (*categories, *used) if samples[name].dtype == object})
    columns = [
        *understood(samples),
        *(Column(name, "left out", None, why) for name, why in why_not.items()),
        *(Column(name, "left out", None, "") for name in left_out),
    ]
    groups = None if group is None else groups_of(frame, group, data, labels)
    if group is not None and groups is not None:
        columns.append(_group_column(group, groups, labels))
    table = TrainingTable(
        samples,
        labels,
        None if id_column is None else cells.names(frame[id_column]),
        groups,
        columns,
        day_first_columns(frame, samples),
    )
    classes = list_text([f"{name}: {count}" for name, count in table.label_counts.items()], SHOWN_CLASSES)
    columns.append(Column(label, "label", labels.count(None), classes))
    if len(table.label_counts) == 1:
        note(f"column {label!r} has one class, which the model will predict for every row: label a row of another.")
    return table


def _without_columns(
    samples: Any, frame: Any, labels: list[Any], why_not: dict[str, str]
) -> tuple[Any, Any, list[Any]]:
    """Return rows without some columns, and without the rows that have no value then, with notes."""
    for name, why in why_not.items():
        what = "is free text" if why == FREE_TEXT else why
        note(f"column {name!r} is left out: it {what}. --use {shlex.quote(name)} learns from it all the same.")
    samples = samples.drop(columns=list(why_not))
    empty = samples.isna().all(axis=1).to_numpy()
    if empty.any():
        note(f"{plural(int(empty.sum()), 'row')} have no value in any other column and are left out.")
        labels = [label for label, out in zip(labels, empty.tolist(), strict=True) if not out]
    return samples[~empty].reset_index(drop=True), frame[~empty], labels


def _labelled_pieces(data: str, label: str, encoding: str | None, progress: bool) -> Iterator[Any]:
    for frame in read_pieces(data, encoding, progress=progress):
        check_columns(frame.columns, [label], data)
        yield frame


def _group_column(name: str, groups: list[str | None], labels: list[Any]) -> Column:
    known = {one for one in groups if one is not None}
    labelled = {one for one, label in zip(groups, labels, strict=True) if one is not None and label is not None}
    return Column(name, "group", groups.count(None), f"{plural(len(known), 'group')}, {len(labelled)} with labels")
