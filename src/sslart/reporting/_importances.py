"""The importance of features in a report: the most important ones as bars."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sslart.explain import importances_of
from sslart.explain._text.importances import rows
from sslart.reporting._summary import Observed

MAX_FEATURES = 15


@dataclass(frozen=True)
class ImportanceLine:
    """One feature: its name, its share of all contributions, which values raise which class, and its bar in percent."""

    name: str
    share: str
    words: str
    width: float


def importance_lines(observed: Observed, X: Any) -> tuple[list[ImportanceLine], int]:
    """Return the most important features on the samples of the report, and how many more are used.

    None without evidence mapping.
    """
    if not observed.view.uses_evidence:
        return [], 0
    found = importances_of(observed.model, X)
    largest = max(float(found.importances.max()), found.graph_importance) or 1.0
    amounts = sorted([*found.importances.tolist(), *([found.graph_importance] if found.graph.any() else [])])[::-1]
    lines = [
        ImportanceLine(name, share, words, round(100 * amount / largest, 1))
        for amount, (name, _, share, words) in zip(amounts, rows(found), strict=True)
        if amount > 0
    ]
    return lines[:MAX_FEATURES], max(len(lines) - MAX_FEATURES, 0)
