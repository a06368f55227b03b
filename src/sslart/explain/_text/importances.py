"""Feature importances in words, as plain values, and as HTML."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from sslart._utils.text import html_table, list_text, number_text, plural, printable

if TYPE_CHECKING:
    from sslart.explain._importances import FeatureImportances

CLEAR = 0.3  # from this correlation on, higher values raise a score
RELEVANT = 0.25  # classes of which the importance is below this part of the highest are not named
MAX_NAMES = 3
GRAPH = "(similar samples without a label)"
HEAD = ("feature", "importance", "share", "which values raise the score of which class")


def as_text(found: FeatureImportances) -> str:
    """Return a plain-text table with a headline."""
    lines = [HEAD, *rows(found)]
    widths = [max(len(line[column]) for line in lines) for column in range(3)]
    table = (
        "  ".join([name.ljust(widths[0]), value.rjust(widths[1]), share.rjust(widths[2]), words])
        for name, value, share, words in lines
    )
    return "\n".join([headline(found), "", *table])


def as_html(found: FeatureImportances) -> str:
    """Return a table in HTML."""
    return html_table(HEAD, rows(found), caption=headline(found), row_headers=True)


def headline(found: FeatureImportances) -> str:
    """Return the headline of importances: the samples they are averaged over."""
    over = plural(found.n_samples, "sample")
    if found.of_boxes:
        over += " drawn from the boxes"
    return f"Feature importances: mean absolute contribution to the scores of the classes, over {over}."


def rows(found: FeatureImportances) -> list[tuple[str, str, str, str]]:
    """Return name, importance, share and direction of each feature and of the graph of boxes, most important first."""
    total = found.total or 1.0
    parts = [
        (float(found.importances[column]), found.feature_names[column], direction_text(found, column))
        for column in found.order
    ]
    if found.graph.any():
        parts.append((found.graph_importance, GRAPH, "the graph of boxes, which is not divided among features"))
    parts.sort(key=lambda part: -part[0])
    return [
        (printable(name), number_text(amount, 3), f"{100 * amount / total:.0f} %", words)
        for amount, name, words in parts
    ]


def direction_text(found: FeatureImportances, column: int) -> str:
    """Return a text on which values of a feature raise the score of which class."""
    name, by_class = found.feature_names[column], found.by_class[column]
    if not by_class.any():
        return "not used"
    if name in found.by_category:
        return _categories_text(found, name)
    relevant = by_class >= RELEVANT * by_class.max()
    parts = []
    for which, sign in (("higher", 1.0), ("lower", -1.0)):
        signed = (sign * found.direction[column]).round(2)
        raised = np.flatnonzero(relevant & (signed >= CLEAR))
        names = [_class_text(found.classes[index]) for index in raised[np.argsort(-by_class[raised], kind="stable")]]
        if names:
            parts.append(f"{which} values: {list_text(names, MAX_NAMES)}")
    return "; ".join(parts) or "no single direction"


def _categories_text(found: FeatureImportances, name: str) -> str:
    """Return the categories of the largest contribution, each with the class whose score it raises most."""
    highest = {category: (amounts.max(), amounts.argmax()) for category, amounts in found.by_category[name].items()}
    raised = sorted((item for item in highest.items() if item[1][0] > 0), key=lambda item: -item[1][0])
    parts = [f"{number_text(category)}: {_class_text(found.classes[index])}" for category, (_, index) in raised]
    rest = len(parts) - MAX_NAMES
    return "; ".join(parts[:MAX_NAMES]) + (f"; and {rest} more" if rest > 0 else "") if parts else "no single direction"


def _class_text(label: Any) -> str:
    """Return a class by its name, or as "class 1" where that could be taken for a value of the feature."""
    name = printable(label)
    return name if any(character.isalpha() for character in name) else f"class {name}"


def as_dict(found: FeatureImportances) -> dict[str, Any]:
    """Return importances as values that JSON knows."""
    return {
        "mean_over": "samples drawn from the boxes" if found.of_boxes else "samples",
        "n": found.n_samples,
        "features": [feature_dict(found, column) for column in found.order.tolist()],
        "graph": _graph_dict(found) if found.graph.any() else None,
    }


def _graph_dict(found: FeatureImportances) -> dict[str, Any]:
    return {
        "importance": found.graph_importance,
        "share": found.graph_importance / found.total,
        "by_class": _by_class(found, "importance", found.graph),
    }


def feature_dict(found: FeatureImportances, column: int) -> dict[str, Any]:
    """Return one feature as values that JSON knows."""
    name = found.feature_names[column]
    by_class = _by_class(found, "importance", found.by_class[column])
    categories = None
    if name in found.by_category:
        categories = [
            {"category": category, "by_class": _by_class(found, "contribution", amounts)}
            for category, amounts in found.by_category[name].items()
        ]
    else:
        for one, direction in zip(by_class, found.direction[column].tolist(), strict=True):
            one["direction"] = direction
    return {
        "feature": name,
        "importance": float(found.importances[column]),
        "share": float(found.shares[column]),
        "raises": direction_text(found, column),
        "by_class": by_class,
        "categories": categories,
    }


def _by_class(found: FeatureImportances, key: str, amounts: Any) -> list[dict[str, Any]]:
    pairs = zip(found.classes.tolist(), amounts.tolist(), strict=True)
    return [{"class": label, key: amount} for label, amount in pairs]
