"""Interactive prompt: shows a sample, and reads the class that the user types."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

import numpy as np

from sslart._mapping.model_view import view_of
from sslart._utils.text import printable, value_text
from sslart.cli._output import print_table, show
from sslart.rules._box_rules import DEFAULT_LEVELS, scales_of

MAX_SHOWN = 20
UNKNOWN = "not known"
SKIP, STOP = object(), object()


class Answer(NamedTuple):
    """A class that a person has typed, and whether it is that of all rows of the box."""

    label: Any
    whole_box: bool = False


def show_sample(model: Any, sample: Any, box: int | None = None) -> None:
    """Print the values of a sample with their levels; of many columns, those furthest from the middle.

    With a box, the range of its values stands beside them.
    """
    view = view_of(model)
    member, table = view.members[0], view.read(sample)
    coded = member.encode(table)[0]
    lower, upper = (member.encoder.decode(side) for side in member.boxes_of(np.array([0 if box is None else box])))
    rows: list[tuple[float, tuple[str, ...]]] = []
    for column, scale in enumerate(scales_of(member.encoder, view.feature_names, DEFAULT_LEVELS, None)):
        if scale.categories is not None:
            value = table.categories[column][0] if column in table.categories else None
            rows.append((1.0, (scale.feature, UNKNOWN if value is None else f"“{value}”", "", "")))
            continue
        if not len(scale.positions):
            rows.append((0.0, (scale.feature, _value(scale.feature, table.values.item(0, column)), "", "")))
            continue
        position = scale.positions[0]
        known = not np.isnan(coded[position])
        level = f"“{scale.terms[int(scale.levels(coded[[position]])[0]) - 1]}”" if known else ""
        off_middle = abs(coded[position] - 0.5) if known else 0.0
        value = _value(scale.feature, table.values.item(0, column))
        ends = " to ".join(_value(scale.feature, float(side[0, position])) for side in (lower, upper))
        rows.append((off_middle, (scale.feature, value, level, ends)))
    shown = sorted(range(len(rows)), key=lambda row: -rows[row][0])[:MAX_SHOWN]
    head = ("column", "value", "level", "in the box")[: 3 if box is None else 4]
    print_table(head, [rows[row][1][: len(head)] for row in sorted(shown)])
    if len(rows) > len(shown):
        show(f"and {len(rows) - len(shown)} more columns, nearer to the middle of their range")


def ask_class(classes: list[Any], n_in_box: int = 1) -> Any:
    """Return the answer that a person types, of the kind of the classes known; SKIP for none, STOP at the end.

    Where a box has several rows, a class with a star after it is that of all of them.
    """
    texts = [str(one) for one in classes]
    by_number = {} if any(text.isdigit() for text in texts) else {str(n): one for n, one in enumerate(classes, start=1)}
    offered = [f"{n} {text}" for n, text in enumerate(texts, start=1)] if by_number else texts
    choices = f"{', '.join(offered)}, or a new one" if offered else "a new one"
    star = f"; with * after it for all {n_in_box} rows of the box" if n_in_box > 1 else ""
    prompt = printable(f"Class ({choices}{star}; Enter if you do not know, q to stop): ")
    while True:
        try:
            text = input(prompt).strip()
        except EOFError:
            return STOP
        if not text:
            return SKIP
        if text == "q" and text not in texts:
            return STOP
        whole_box = n_in_box > 1 and text.endswith("*") and text not in texts
        name = text[:-1].strip() if whole_box else text
        if name in texts or name in by_number:
            return Answer(classes[texts.index(name)] if name in texts else by_number[name], whole_box)
        if name and all(isinstance(one, str) for one in classes):
            if _confirmed(name):
                return Answer(name, whole_box)
        elif re.fullmatch("-?[0-9]+", name) and name != "-1" and not any(isinstance(one, bool) for one in classes):
            if _confirmed(name):
                return Answer(int(name), whole_box)
        else:
            show(f"{name!r} is not of the kind of the classes, which are {', '.join(texts)}.")


def _confirmed(text: str) -> bool:
    try:
        return input(f"{text!r} is a new class. Is that right? (y/N): ").strip().lower() in ("y", "yes")
    except EOFError:
        return False


def _value(feature: str, value: float) -> str:
    return UNKNOWN if np.isnan(value) else value_text(feature, value)
