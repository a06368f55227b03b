"""A box, and a sample compared with it, in words."""

from __future__ import annotations

from sslart._utils.text import SHOWN, category_text, count_text, distance_text, list_text, plural, printable, value_text
from sslart.explain._match import Box, FeatureMatch, outside_first

MAX_CATEGORIES = 3  # that are named where a sample lies outside a box


def box_text(box: Box) -> str:
    """Return a box in a few words."""
    of = "" if box.member is None else f" of member {box.member}"
    label = "no label" if box.label is None else f"class {printable(box.label)}"
    return f"box {box.node}{of} ({label}, {plural(box.support, 'sample')}, match {box.match:.2f})"


def similar_text(box: Box) -> str:
    """Return a similar case: the samples and labels that the box holds, and whether the sample lies inside it."""
    of = "" if box.member is None else f" of member {box.member}"
    counts = [
        f"{count_text(n)} labelled {printable(label)}"
        for label, n in sorted(box.label_counts.items(), key=lambda item: -item[1])
    ]
    outside = [_distance_text(match) for match in box.outside]
    where = f"outside in {list_text(outside, 2)}" if outside else "inside"
    return f"box {box.node}{of}: {plural(box.support, 'sample')}, {list_text(counts, 3) or 'no label'}; {where}"


def _distance_text(match: FeatureMatch) -> str:
    if match.categories is not None:
        n = len(match.categories)
        side = f"one of {n} others" if n > MAX_CATEGORIES else f"is {side_text(match)}"
        return f"{printable(match.feature)} ({side} there)"
    return f"{printable(match.feature)} by {distance_text(match.feature, match.outside_by)}"


def side_text(match: FeatureMatch) -> str:
    """Return the side of a box in one feature."""
    if match.categories is not None:
        return " or ".join(map(category_text, match.categories))
    if match.lower is None or match.upper is None:
        return "no evidence"
    lower, upper = (value_text(match.feature, side) for side in (match.lower, match.upper))
    return lower if lower == upper else f"{lower} to {upper}"


def short_position_text(match: FeatureMatch) -> str:
    """Return where the value of the sample lies: inside the box, or how far outside."""
    if match.inside is None:
        return "no evidence"
    if match.inside:
        return "inside"
    if match.categories is not None:
        return "never seen" if match.beyond_range else "another category"
    return f"outside by {distance_text(match.feature, match.outside_by)}"


def position_details(match: FeatureMatch) -> list[str]:
    """Return, for a value outside the box, its part of the distance, and whether it lies beyond the learnt range."""
    if match.inside is not False or (match.categories is not None and match.beyond_range):
        return []
    return [f"{match.share:.0%} of the distance", *(["beyond the learnt range"] if match.beyond_range else [])]


def position_text(match: FeatureMatch) -> str:
    """Return where the value of the sample lies, with all details."""
    text = ", ".join([short_position_text(match), *position_details(match)[:1]])
    return text + "".join(f" ({detail})" for detail in position_details(match)[1:])


def comparison_lines(box: Box) -> list[str]:
    """Return the features in which a sample differs most from a box, and then the narrowest sides it lies in."""
    matches = box.feature_matches
    unknown = [printable(match.feature) for match in matches if match.inside is None]
    inside = [match for match in matches if match.inside]
    shown = list(outside_first(matches)[:SHOWN])
    narrowest = sorted(inside, key=lambda match: 1.0 if match.width is None else match.width)
    shown += narrowest[: SHOWN - len(shown)]
    lines = [f"The sample lies inside this box in {len(inside)} of {len(matches) - len(unknown)} features:"]
    lines += [_comparison_line(match) for match in shown]
    return [*lines, f"No evidence: {list_text(unknown)}."] if unknown else lines


def _comparison_line(match: FeatureMatch) -> str:
    side = f"is {side_text(match)}" if match.categories is not None else side_text(match)
    has = value_text(match.feature, match.value)
    return f"  {printable(match.feature)} {side}; the sample has {has}: {position_text(match)}"
