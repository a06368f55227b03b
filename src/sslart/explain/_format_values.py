"""Values, boxes and what boxes ask, in a few words."""

from __future__ import annotations

import math

from sslart.explain._match import Box, FeatureMatch, Value

SHOWN = 5


def number(value: Value | None, digits: int = 4) -> str:
    """Return a value as a reader wants it: numbers rounded, categories as given."""
    if value is None:
        return "missing"
    if isinstance(value, bool | str):
        return str(value)
    if abs(value) < 10**15 and float(value).is_integer():
        return str(int(value))
    whole_digits = math.floor(math.log10(abs(value))) + 1 if value else 1
    return f"{value:.{max(digits, min(whole_digits, 15))}g}"


def several(parts: list[str], most: int = SHOWN) -> str:
    """Return a list in one line; how many more there are, if it is long."""
    rest = len(parts) - most
    return ", ".join(parts[:most]) + (f" and {rest} more" if rest > 0 else "")


def wanted(condition: FeatureMatch) -> str:
    """Return what a box asks of a feature."""
    if condition.categories is not None:
        return " or ".join(number(category) for category in condition.categories)
    if condition.lower is None or condition.upper is None:
        return "no evidence"
    lower, upper = number(condition.lower), number(condition.upper)
    return lower if lower == upper else f"{lower} to {upper}"


def named(box: Box) -> str:
    """Return a box in a few words."""
    of = "" if box.member is None else f" of member {box.member}"
    label = "no label" if box.label is None else f"class {box.label}"
    samples = "1 sample" if box.support == 1 else f"{box.support} samples"
    return f"box {box.node}{of} ({label}, {samples}, match {box.match:.2f})"
