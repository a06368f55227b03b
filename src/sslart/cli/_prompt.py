"""How a sample is shown to a person, and the class that the person types."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from sslart._mapping.model_view import view_of
from sslart._utils.text import number_text, printable
from sslart.cli._output import print_table, show
from sslart.rules._boxes.scales import DEFAULT_LEVELS, scales_of

MAX_SHOWN = 20
UNKNOWN = "not known"
SKIP, STOP = object(), object()


def show_sample(model: Any, sample: Any) -> None:
    """Print the values of a sample with their levels; of many columns, those furthest from the middle."""
    view = view_of(model)
    member, table = view.members[0], view.read(sample)
    coded = member.encode(table)[0]
    rows = []
    for column, scale in enumerate(scales_of(member.encoder, view.feature_names, DEFAULT_LEVELS, None)):
        if scale.categories is not None:
            value = table.categories[column][0] if column in table.categories else None
            rows.append((1.0, scale.feature, UNKNOWN if value is None else f"“{value}”", ""))
            continue
        if not len(scale.positions):
            rows.append((0.0, scale.feature, _value(table.values[0, column]), ""))
            continue
        position = scale.positions[0]
        known = not np.isnan(coded[position])
        level = f"“{scale.terms[int(scale.levels(coded[[position]])[0]) - 1]}”" if known else ""
        rows.append(
            (abs(coded[position] - 0.5) if known else 0.0, scale.feature, _value(table.values[0, column]), level)
        )
    shown = sorted(range(len(rows)), key=lambda row: -rows[row][0])[:MAX_SHOWN]
    print_table(("column", "value", "level"), [rows[row][1:] for row in sorted(shown)])
    if len(rows) > len(shown):
        show(f"and {len(rows) - len(shown)} more columns, nearer to the middle of their range")


def ask_class(classes: list[Any]) -> Any:
    """Return the class that a person types, of the kind of those known; SKIP for none, STOP at the end."""
    texts = [str(one) for one in classes]
    by_number = {} if any(text.isdigit() for text in texts) else {str(n): one for n, one in enumerate(classes, start=1)}
    offered = [f"{n} {text}" for n, text in enumerate(texts, start=1)] if by_number else texts
    choices = f"{', '.join(offered)}, or a new one" if offered else "a new one"
    prompt = printable(f"Class ({choices}; Enter if you do not know, q to stop): ")
    while True:
        try:
            text = input(prompt).strip()
        except EOFError:
            return STOP
        if not text:
            return SKIP
        if text in texts or text in by_number:
            return classes[texts.index(text)] if text in texts else by_number[text]
        if text == "q":
            return STOP
        if all(isinstance(one, str) for one in classes):
            if _confirmed(text):
                return text
        elif re.fullmatch("-?[0-9]+", text) and text != "-1" and not any(isinstance(one, bool) for one in classes):
            if _confirmed(text):
                return int(text)
        else:
            show(f"{text!r} is not of the kind of the classes, which are {', '.join(texts)}.")


def _confirmed(text: str) -> bool:
    try:
        return input(f"{text!r} is a new class. Is that right? (y/N): ").strip().lower() in ("y", "yes")
    except EOFError:
        return False


def _value(value: float) -> str:
    return UNKNOWN if np.isnan(value) else number_text(value)
