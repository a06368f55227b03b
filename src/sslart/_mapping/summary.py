"""A fitted classifier in a few lines: what it has learnt, how good it is on left-out labels, and what to beware of."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from sslart._data.classes import Label
from sslart._mapping.left_out import LeftOut
from sslart._mapping.model_view import ModelView
from sslart._utils.intervals import Estimate
from sslart._utils.text import category_text, list_text

FEW_LABELS = 5
SHOWN_CLASSES = 10

ONE_CLASS = "there are labels of one class only"
ONE_EACH = "each class has one label, which the others cannot predict"
NO_LABEL = "there is no label"
NOT_KEPT = "the model keeps no labelled samples; use cross_val_score with a splitter of sslart.model_selection"


@dataclass(frozen=True)
class ClassLabels:
    """A class, how many labels of it were learnt, and how many left-out labels were predicted as it.

    `n_predicted` is None where no label was left out.
    """

    label: Label
    n_labels: int
    n_predicted: int | None


@dataclass(frozen=True)
class ModelSummary:
    """What a classifier has learnt, and how good it is on its own labels, each predicted by the others alone.

    `str()` puts it into words.

    Attributes
    ----------
    estimator : str
    n_samples, n_features, n_boxes : int
        Samples learnt, labelled or not; features; boxes, over all members of an ensemble.
    classes : tuple of ClassLabels
    accuracy : Estimate or None
        Share of the left-out labels that are predicted rightly, with `value`, `low` and `high`, the 95 % interval.
    why_not : str
        Where there is no accuracy, the reason.
    n_labels, n_units : int or None
        The labels that were left out, and how many of them count: those of a group count one together. None where no
        label was left out.
    """

    estimator: str
    n_samples: int
    n_features: int
    n_boxes: int
    classes: tuple[ClassLabels, ...]
    accuracy: Estimate | None
    why_not: str
    n_labels: int | None
    n_units: int | None

    @property
    def few_labels(self) -> tuple[ClassLabels, ...]:
        """The classes with fewer than five labels."""
        return tuple(one for one in self.classes if one.n_labels < FEW_LABELS)

    @property
    def never_predicted(self) -> tuple[ClassLabels, ...]:
        """The classes that were predicted for no left-out label."""
        return tuple(one for one in self.classes if one.n_predicted == 0)

    def warnings(self) -> dict[str, str]:
        """Return what to beware of, by topic; empty where there is nothing."""
        found = {}
        if self.few_labels:
            names = [f"{category_text(one.label)} ({one.n_labels})" for one in self.few_labels]
            found["fewer than five labels"] = list_text(names, SHOWN_CLASSES)
        if self.never_predicted:
            names = [category_text(one.label) for one in self.never_predicted]
            found["never predicted"] = f"{list_text(names, SHOWN_CLASSES)}, for no left-out label"
        if self.n_labels is not None and self.n_units is not None and self.n_units < self.n_labels:
            found["left out together"] = (
                f"{self.n_labels} labels count as {self.n_units}: those of a group, and copies of a sample"
            )
        return found

    def to_dict(self) -> dict[str, Any]:
        """Return the summary as plain values."""
        return asdict(self)

    def __str__(self) -> str:
        n_labelled = sum(one.n_labels for one in self.classes)
        labels = [f"{category_text(one.label)}: {one.n_labels}" for one in self.classes]
        lines = {
            "samples": f"{self.n_samples}, of which {n_labelled} labelled",
            "features": str(self.n_features),
            "labels": list_text(labels, SHOWN_CLASSES) or "none",
            "accuracy": f"not measured: {self.why_not}" if self.accuracy is None else f"{self.accuracy}, leave-one-out",
            **self.warnings(),
            "boxes": str(self.n_boxes),
        }
        width = max(map(len, lines))
        return "\n".join([self.estimator, *(f"{topic:{width}}  {text}" for topic, text in lines.items())])


def summarise(view: ModelView) -> ModelSummary:
    """Return the summary of a fitted classifier."""
    left_out = view.left_out
    accuracy, why_not = (None, _why_none(view)) if left_out is None else _accuracy(left_out)
    members = view.members
    counts = np.sum([member.counts.sum(axis=0) for member in members], axis=0) // len(members)
    predicted = None if left_out is None else np.bincount(left_out.predicted, minlength=len(view.classes)).tolist()
    classes = tuple(
        ClassLabels(label, int(n), None if predicted is None else predicted[place])
        for place, (label, n) in enumerate(zip(view.classes.tolist(), counts, strict=True))
    )
    return ModelSummary(
        view.name,
        int(members[0].support.sum()),
        view.reader.n_features_in_,
        sum(member.n_nodes for member in members),
        classes,
        accuracy,
        why_not,
        None if left_out is None else len(left_out.truth),
        None if left_out is None else left_out.n_labels,
    )


def _accuracy(left_out: LeftOut) -> tuple[Estimate | None, str]:
    accuracy = left_out.accuracy()
    if accuracy is not None:
        return accuracy, ""
    return None, ONE_CLASS if len(np.unique(left_out.truth)) < 2 else ONE_EACH


def _why_none(view: ModelView) -> str:
    return NO_LABEL if not view.class_table.seen else NOT_KEPT
