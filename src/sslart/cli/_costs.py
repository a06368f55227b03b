"""The option --cost TRUE:PREDICTED=COST of the command line."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from sslart._mapping.decision_rules import BALANCED, Costs
from sslart._utils.text import list_text

COST_HELP = "what it costs to predict a sample of class TRUE as PREDICTED, such as ill:healthy=10; else 1. Or balanced"
COST_METAVAR = "TRUE:PREDICTED=COST"


def read_costs(options: Sequence[str] | None, classes: Sequence[Any]) -> Costs | None:
    """Return the costs by pairs of classes, or "balanced", as the estimators take them; None without an option.

    Parameters
    ----------
    options : list of str or None
        As given, one for each --cost. Names of classes may hold colons and equals signs.
    classes : sequence
        The classes of the labels or of the model.
    """
    if not options:
        return None
    if BALANCED in options:
        if len(options) > 1:
            raise ValueError("--cost balanced sets all costs: leave the other --cost options out, or this one.")
        return BALANCED
    costs: dict[tuple[Any, Any], float] = {}
    for option in options:
        pair, cost = _read(option, list(classes))
        if pair in costs:
            raise ValueError(f"--cost {option}: the cost of this pair of classes is given twice. Leave one out.")
        costs[pair] = cost
    return costs


def _read(option: str, classes: list[Any]) -> tuple[tuple[Any, Any], float]:
    names, _, number = option.rpartition("=")
    try:
        cost = float(number)
    except ValueError:
        cost = np.nan
    if not names or not np.isfinite(cost):
        raise ValueError(
            f"--cost {option} does not end with = and a number: give it as --cost {COST_METAVAR}, or --cost balanced."
        )
    by_name = {str(label): label for label in classes}
    cuts = [place for place, character in enumerate(names) if character == ":"]
    pairs = [(names[:cut], names[cut + 1 :]) for cut in cuts]
    found = [(by_name[true], by_name[predicted]) for true, predicted in pairs if {true, predicted} <= by_name.keys()]
    if not found:
        raise ValueError(
            f"--cost {option} does not name two classes with a colon between: the true class, then the predicted one. "
            f"The classes are {list_text(list(by_name), 10)}."
        )
    if len(found) > 1:
        raise ValueError(f"--cost {option} can be read as several pairs of classes: rename a class without a colon.")
    return found[0], cost


def as_options(decision_costs: Any) -> Any:
    """Return costs in the syntax of the command line; costs of a model made in Python may be a matrix."""
    if isinstance(decision_costs, str):
        return decision_costs
    if not isinstance(decision_costs, dict):
        return np.asarray(decision_costs).tolist()
    return [f"{true}:{predicted}={cost:g}" for (true, predicted), cost in decision_costs.items()]
