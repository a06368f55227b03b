"""Summary of a fitted classifier: samples, classes, its statement of quality, and warnings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from sslart._data.columns import APART, CONSTANT, ColumnNote, by_topic
from sslart._data.encoder import scaling_of
from sslart._data.labels import Label
from sslart._data.ranks import RANK
from sslart._mapping.loo_predictions import LooPredictions
from sslart._mapping.model_view import ModelView
from sslart._mapping.quality import FEW_OF_TWO, ModelQuality
from sslart._mapping.rare_classes import Remedy, remedy_for
from sslart._utils.arrays import CountArray
from sslart._utils.text import category_text, count_text, list_text, printable

FEW_LABELS = 5  # fewer labels of a class raise a warning
SHOWN_CLASSES = 10
SHOWN_FEATURES = 10


@dataclass(frozen=True)
class ClassLabels:
    """A class and its labels.

    Attributes
    ----------
    label : class
    n_labels, n_groups : int
        Number of learnt labels, and of their groups. If samples decay: their decayed weight, or the number of labels
        stored by evidence mapping.
    n_predicted : int or None
        Number of left-out labels predicted as this class; None if no label was left out, or with very many labels none
        of this class.
    n_left_out : int or None
        Number of left-out labels: all, or some of very many; None if no label was left out.
    """

    label: Label
    n_labels: float
    n_groups: float
    n_predicted: int | None
    n_left_out: int | None = None

    def __str__(self) -> str:
        return f"{category_text(self.label)} ({count_text(self.n_groups)})"


@dataclass(frozen=True)
class ModelSummary:
    """Summary of a classifier: samples, classes, boxes, and its statement of quality.

    `str()` puts it into words.

    Attributes
    ----------
    estimator : str
    n_samples, n_features, n_boxes : int
        Samples learnt, labelled or not; features; boxes, over all members of an ensemble.
    classes : tuple of ClassLabels
    quality : ModelQuality
        The statement of quality, by left-out labels.
    settings_by_labels : bool
        Whether the settings of evidence mapping were selected by leave-one-out; False for default settings, which are
        used if too few of many classes have two labels.
    by_rank : tuple of str
        The features that are scaled by rank; all others are by their range.
    notes : tuple of ColumnNote
        Columns that are not used because they are constant, identifiers or free text, and columns to check: likely
        leaks, duplicate columns, numbers that may be identifiers, groups or codes, and text that was parsed as dates,
        numbers or missing values.
    present : float or None
        Total decayed weight of the samples; None if samples do not decay.
    remedy : Remedy or None
        Remedy for classes that are never predicted, with its effect on the left-out labels; None if every class is
        predicted.
    """

    estimator: str
    n_samples: int
    n_features: int
    n_boxes: int
    classes: tuple[ClassLabels, ...]
    quality: ModelQuality
    settings_by_labels: bool = True
    by_rank: tuple[str, ...] = ()
    notes: tuple[ColumnNote, ...] = ()
    present: float | None = None
    remedy: Remedy | None = None

    @property
    def few_labels(self) -> tuple[ClassLabels, ...]:
        """The classes with fewer than five labels; the labels of a group count as one."""
        return tuple(one for one in self.classes if one.n_groups < FEW_LABELS)

    @property
    def never_predicted(self) -> tuple[ClassLabels, ...]:
        """The classes that no left-out label was predicted as."""
        return tuple(one for one in self.classes if one.n_predicted == 0)

    def warnings(self) -> dict[str, str]:
        """Return warnings by topic; an empty dict if there are none."""
        found = {}
        if self.few_labels:
            found["fewer than five labels"] = list_text([str(one) for one in self.few_labels], SHOWN_CLASSES)
        if self.never_predicted:
            names = [category_text(one.label) for one in self.never_predicted]
            remedy = "" if self.remedy is None else f"; {self.remedy}"
            found["never predicted"] = f"{list_text(names, SHOWN_CLASSES)}: no left-out label is predicted so{remedy}"
        if not self.settings_by_labels:
            found["settings"] = f"the usual ones, not chosen by the labels: {FEW_OF_TWO}"
        return found | self.column_notes()

    def column_notes(self) -> dict[str, str]:
        """Return notes on the columns by topic; an empty dict if there are none."""
        return by_topic(note for note in self.notes if note.topic != APART)  # that one is in the statement of quality

    def to_dict(self) -> dict[str, Any]:
        """Return the summary as plain values."""
        return asdict(self)

    def __str__(self) -> str:
        labels = [f"{category_text(one.label)}: {count_text(one.n_labels)}" for one in self.classes]
        learnt = f", of which {count_text(sum(one.n_labels for one in self.classes))} labelled"
        if self.present is not None:
            learnt = f", which by their age count {count_text(self.present)} now"
        by_rank = list_text([printable(name) for name in self.by_rank], SHOWN_FEATURES)
        lines = {
            "samples": f"{self.n_samples}{learnt}",
            "features": str(self.n_features),
            **({"scaled by rank": by_rank} if self.by_rank else {}),
            "labels": list_text(labels, SHOWN_CLASSES) or "none",
            **self.quality.lines(),
            **self.warnings(),
            "boxes": str(self.n_boxes),
        }
        width = max(map(len, lines))
        return "\n".join([self.estimator, *(f"{topic:{width}}  {text}" for topic, text in lines.items())])


def present_of(view: ModelView) -> float | None:
    """Return the total decayed weight of the samples of a model; None if samples do not decay."""
    member = view.members[0]
    return float(member.support.sum()) if member.fades else None


def summarise(view: ModelView) -> ModelSummary:
    """Return the summary of a fitted classifier."""
    left_out, members = view.left_out, view.members
    classes = _classes(view, left_out)
    scaling = scaling_of(members[0].encoder, view.reader.n_features_in_)
    return ModelSummary(
        view.name,
        members[0].n_samples,
        view.reader.n_features_in_,
        sum(member.n_nodes for member in members),
        classes,
        view.quality,
        all(member.mapping.settings_by_labels for member in members),
        tuple(view.feature_names[column] for column, kind in enumerate(scaling) if kind == RANK),
        _notes_of(view),
        present_of(view),
        remedy_of(view, left_out, classes),
    )


def remedy_of(view: ModelView, left_out: LooPredictions | None, classes: Sequence[ClassLabels]) -> Remedy | None:
    """Return the remedy for classes that are never predicted; None if there are none."""
    never = [index for index, one in enumerate(classes) if one.n_predicted == 0]
    if not never or left_out is None:
        return None
    mapping = view.members[0].mapping
    return remedy_for(
        never,
        left_out,
        view.balanced_costs(),
        uses_evidence=mapping.uses_evidence,
        weighs_classes=mapping.weighs_classes,
    )


def label_counts(view: ModelView) -> CountArray:
    """Return the number of labels of each class, averaged over the members; decayed if samples decay."""
    counts = np.sum([member.counts.sum(axis=0) for member in view.members], axis=0)
    return np.asarray(counts / len(view.members) if view.members[0].fades else counts // len(view.members))


def _classes(view: ModelView, left_out: LooPredictions | None) -> tuple[ClassLabels, ...]:
    counts = label_counts(view)
    n_predicted = np.bincount([] if left_out is None else left_out.predicted, minlength=len(view.classes))
    found = []
    for index, (label, n) in enumerate(zip(view.classes.tolist(), counts.tolist(), strict=True)):
        if left_out is None:
            found.append(ClassLabels(label, n, n, None))
            continue
        own = left_out.groups[left_out.truth == index]
        n = len(own) if view.members[0].fades else n
        n_together = len(own) - len(np.unique(own))
        was_left_out = len(own) > 0 or n == 0 or n_predicted[index] > 0
        predicted = int(n_predicted[index]) if was_left_out else None
        found.append(ClassLabels(label, n, n - n_together, predicted, len(own)))
    return tuple(found)


def _notes_of(view: ModelView) -> tuple[ColumnNote, ...]:
    """Return the notes on columns: constant columns, and the findings of `fit`."""
    names, n_given = view.feature_names, view.reader.n_features_in_
    columns = sorted(feature.column for feature in view.members[0].encoder.constant if feature.column < n_given)
    return (*(ColumnNote(CONSTANT, names[column], "") for column in columns), *view.reader.plan.notes)
