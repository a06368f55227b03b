"""The training table of the command line and the service: samples, labels, groups and row names."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import compress
from typing import Any, NamedTuple

from sslart._data.columns import FREE_TEXT
from sslart._tables import cells
from sslart._tables.columns import (
    ColumnSummary,
    blank_rows,
    check_columns,
    day_first_columns,
    features_of,
    groups_of,
    labels_of,
    split_names,
    understood,
    units_of,
    unusable,
)
from sslart._tables.files import read_pieces, sample_rows
from sslart._utils.notes import note
from sslart._utils.text import list_text, plural

SHOWN_CLASSES = 30


class TrainingTable(NamedTuple):
    """Training rows: samples, and labels, names and groups if there are columns of them."""

    samples: Any
    labels: list[Any]
    ids: list[str | None] | None
    groups: list[str | None] | None
    columns: list[ColumnSummary]
    day_first: list[str]  # columns with dates in which the day comes before the month
    units: dict[str, str]  # unit of each text column of numbers, empty if there is none
    numbers: list[str]  # columns that the user has named as numbers
    answers: list[str | None] | None = None  # names of the answers that gave several labels
    at_random: list[bool] | None = None  # rows that were drawn at random to be labelled
    audit: list[bool] | None = None  # rows that are set aside: never learnt, they measure the model

    @property
    def beside(self) -> dict[str, list[Any]]:
        """Groups and origins of labels, where there are any, as arguments of `fit`."""
        given = {"groups": self.groups, "answers": self.answers, "at_random": self.at_random}
        return {name: one for name, one in given.items() if one is not None}

    def divided(self) -> tuple[TrainingTable, TrainingTable | None]:
        """Return the rows to learn, and those of the audit, if there are any."""
        if self.audit is None or not any(self.audit):
            return self, None
        return self._of([not one for one in self.audit]), self._of(self.audit)

    def _of(self, mask: list[bool]) -> TrainingTable:
        """Return the rows of a mask."""

        def of(values: list[Any] | None) -> list[Any] | None:
            return None if values is None else list(compress(values, mask))

        return self._replace(
            samples=self.samples[mask],
            labels=list(compress(self.labels, mask)),
            ids=of(self.ids),
            groups=of(self.groups),
            answers=of(self.answers),
            at_random=of(self.at_random),
            audit=None,
        )

    @property
    def label_counts(self) -> dict[str, int]:
        """Number of labels of each class."""
        return dict(sorted(Counter(one for one in self.labels if one is not None).items()))

    @property
    def ids_are_unique(self) -> bool:
        """True if every row has a unique name."""
        return self.ids is not None and None not in self.ids and len(set(self.ids)) == len(self.ids)


class ColumnRoles(NamedTuple):
    """Roles of columns named by the user; the label is None for a table without labels."""

    label: str | None
    id_column: str | None = None
    group: str | None = None
    ignore: Sequence[str] | None = None
    category: Sequence[str] | None = None
    use: Sequence[str] | None = None
    number: Sequence[str] | None = None
    answer: str | None = None  # names of answers that gave several labels
    chosen: str | None = None  # not blank in labelled rows that were not drawn at random
    audit: str | None = None  # not blank in rows that are set aside

    @property
    def beside(self) -> list[str]:
        """Columns of groups and of the origin of labels."""
        return [name for name in (self.group, self.answer, self.chosen, self.audit) if name is not None]

    def numbers(self, columns: Iterable[str], source: str) -> list[str]:
        """Validate and return the columns named as numbers."""
        names = list(columns)
        found = split_names(self.number, names)
        check_columns(names, found, source)
        both = set(found).intersection(split_names(self.category, names))
        if both:
            raise ValueError(f"Column {min(both)!r} cannot be a number and a category: name it once.")
        return found

    def divided(self, columns: Iterable[str], source: str) -> tuple[list[str], list[str], list[str], list[str]]:
        """Validate the roles; return the features, and the columns to ignore, to take for categories, and to use."""
        names = list(columns)
        left_out = [name for name in (self.id_column, *split_names(self.ignore, names)) if name is not None]
        categories, used = split_names(self.category, names), split_names(self.use, names)
        check_columns(names, [self.label, *self.beside, *left_out, *categories, *used], source)
        if self.label is not None and self.label in (self.group, *left_out):
            raise ValueError(f"Column {self.label!r} cannot be the label and be left out: name another column.")
        if self.group in left_out:
            raise ValueError(
                f"Column {self.group!r} cannot be the group and be left out, or name samples: name it once."
            )
        features = [name for name in names if name not in (self.label, *self.beside, *left_out)]
        return features, left_out, categories, used


def read_training_table(
    path: str, named: ColumnRoles, most_rows: int, seed: int, encoding: str | None = None, *, progress: bool
) -> TrainingTable:
    """Read the training rows of a file."""
    pieces = _labelled_pieces(path, named.label, encoding, progress)
    frame, n_rows = sample_rows(pieces, named.label, most_rows, seed)
    if len(frame) < n_rows:
        order = "" if named.label is None else ", labelled ones first"
        note(f"{path} has {n_rows} rows: learnt from {most_rows} of them{order}. --most-rows sets how many.")
    return training_table_of(frame, named, path)


def training_table_of(frame: Any, named: ColumnRoles, source: str, *, need_labels: bool = True) -> TrainingTable:
    """Return the training rows of a frame from `read_pieces`.

    Without a label column, all labels are None; an empty label column raises a ValueError, unless `need_labels` is
    False.
    """
    label, id_column, group = named[:3]
    features, left_out, categories, used = named.divided(frame.columns, source)
    numbers = [name for name in named.numbers(frame.columns, source) if name in features]
    frame = frame[~blank_rows(frame, features, source)] if features else frame
    labels = [None] * len(frame) if label is None else labels_of(frame, label, source)
    if label is not None and need_labels and not any(one is not None for one in labels):
        raise ValueError(f"Column {label!r} of {source} is blank throughout: label at least one row of each class.")
    samples = features_of(frame[features], source, categories, numbers)
    why_not = unusable(samples, [*categories, *used, *numbers])
    if why_not or samples.isna().all(axis=1).any():
        samples, frame, labels = _without_columns(samples, frame, labels, why_not)
    samples = samples.astype({name: "category" for name in (*categories, *used) if samples[name].dtype.kind == "O"})
    columns = [
        *understood(samples),
        *(ColumnSummary(name, "left out", None, why) for name, why in why_not.items()),
        *(ColumnSummary(name, "left out", None, "") for name in left_out),
    ]
    groups = None if group is None else groups_of(frame, group, source, labels)
    if group is not None and groups is not None:
        columns.append(_group_column(group, groups, labels))
    ids = None if id_column is None else cells.names(frame[id_column])
    units = units_of(frame, [name for name in samples.columns if samples[name].dtype.kind == "f"], numbers)
    answers = None if named.answer is None else cells.present_texts(frame[named.answer])
    is_chosen, is_aside = (
        [] if name is None else [one is not None for one in cells.present_texts(frame[name])]
        for name in (named.chosen, named.audit)
    )
    table = TrainingTable(
        samples,
        labels,
        ids,
        groups,
        columns,
        day_first_columns(frame, samples),
        units,
        numbers,
        answers if answers and any(answers) else None,
        [not one for one in is_chosen] if any(is_chosen) else None,
        is_aside if any(is_aside) else None,
    )
    if label is not None:
        columns.append(_label_column(label, table))
    return table


def _without_columns(
    samples: Any, frame: Any, labels: list[Any], why_not: dict[str, str]
) -> tuple[Any, Any, list[Any]]:
    """Drop columns, and rows left without any value, with notes."""
    for name, why in why_not.items():
        what = "is free text" if why == FREE_TEXT else why
        note(f"column {name!r} is left out: it {what}. --use {shlex.quote(name)} learns from it nevertheless.")
    samples = samples.drop(columns=list(why_not))
    empty = samples.isna().all(axis=1).to_numpy()
    if empty.any():
        note(f"{plural(int(empty.sum()), 'row')} have no value in any other column and are left out.")
        labels = [label for label, out in zip(labels, empty.tolist(), strict=True) if not out]
    return samples[~empty].reset_index(drop=True), frame[~empty], labels


def _labelled_pieces(data: str, label: str | None, encoding: str | None, progress: bool) -> Iterator[Any]:
    for frame in read_pieces(data, encoding, progress=progress):
        check_columns(frame.columns, [label], data)
        yield frame


def _group_column(name: str, groups: list[str | None], labels: list[Any]) -> ColumnSummary:
    known = {one for one in groups if one is not None}
    labelled = {one for one, label in zip(groups, labels, strict=True) if one is not None and label is not None}
    return ColumnSummary(
        name, "group", groups.count(None), f"{plural(len(known), 'group')}, {len(labelled)} with labels"
    )


def _label_column(name: str, table: TrainingTable) -> ColumnSummary:
    """Return the interpretation of the label column, with a note if it has only one class."""
    if len(table.label_counts) == 1:
        note(f"column {name!r} has one class, which the model will predict for every row: label a row of another.")
    classes = list_text([f"{one}: {count}" for one, count in table.label_counts.items()], SHOWN_CLASSES)
    return ColumnSummary(name, "label", table.labels.count(None), classes)
