"""Example tables of scikit-learn with few labels; the true classes are in a column that is not a feature."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine

LABEL = "class"
ANSWER = "answer (not learnt)"
LABELS_PER_CLASS = 2


@dataclass(frozen=True)
class Example:
    """An example table: its name, its title and text, and the scikit-learn function that loads it."""

    name: str
    title: str
    text: str
    load: Callable[..., Any]
    classes: tuple[str, ...]


EXAMPLES = {
    one.name: one
    for one in (
        Example("tumours", "Tumours", "Cell nuclei of breast tumours: malignant or benign?", load_breast_cancer, ()),
        Example("wines", "Wines", "Chemical analysis of wines: which grower?", load_wine, ()),
        Example("flowers", "Flowers", "Petals and sepals of iris flowers: which species?", load_iris, ()),
        Example(
            "digits",
            "Digits",
            "Small pictures of handwritten digits: which digit?",
            load_digits,
            tuple(f"digit {number}" for number in range(10)),
        ),
    )
}


def example_frame(example: Example) -> Any:
    """Return the table of an example, in a fixed random order."""
    data = example.load(as_frame=True)
    names = example.classes or tuple(str(one) for one in data.target_names)
    answers = np.array([names[index] for index in data.target.tolist()], dtype=object)
    order = np.random.default_rng(0).permutation(len(answers))
    frame, answers = data.data.iloc[order].reset_index(drop=True), answers[order]
    labels = np.full(len(answers), None, dtype=object)
    for name in names:
        labels[np.flatnonzero(answers == name)[:LABELS_PER_CLASS]] = name
    return frame.assign(**{ANSWER: answers, LABEL: labels})


def described(example: Example) -> dict[str, Any]:
    """Return the description of an example."""
    frame = example_frame(example)
    return {
        "name": example.name,
        "title": example.title,
        "text": example.text,
        "rows": len(frame),
        "columns": len(frame.columns),
        "label": LABEL,
        "classes": int(frame[ANSWER].nunique()),
    }
