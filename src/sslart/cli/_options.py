"""Options that several commands share: their declarations, parsers and checks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

import numpy as np
import typer

from sslart._mapping.decision_rules import BALANCED, Costs
from sslart._utils.text import list_text
from sslart._utils.validation import AUTO

DATA_HELP = "CSV, TSV, Parquet, Arrow or Excel; - for standard input"
MODEL_HELP = "a file that sslart fit wrote"
JSON_HELP = "print JSON"
ALARMS_HELP = "flag at most this share of rows like the learnt ones as novel"
GROUP_HELP = "column with what belongs together, such as patient, batch or day: left out as a whole in validation"
FORMULAS_HELP = "in CSV, keep cells such as =1+1, which spreadsheets compute, without an apostrophe before them"
QUIET_HELP = "print nothing but errors and notes"
WAIT_HELP = "how many seconds to wait while another command writes the model"
ENCODING_HELP = "of text, such as utf-16, cp1252 or cp1251; found out if not given"
EncodingOption = Annotated[str | None, typer.Option("--encoding", help=ENCODING_HELP, metavar="NAME")]
COST_HELP = "what it costs to predict a sample of class TRUE as PREDICTED, such as ill:healthy=10; else 1. Or balanced"
COST_METAVAR = "TRUE:PREDICTED=COST"
WantedAccuracy = Annotated[
    float | None,
    typer.Option(
        "--accuracy",
        min=0,
        max=100,
        metavar="PERCENT",
        help="the accuracy that you want: prints how many more labels it needs",
    ),
]
HALF_LIFE_HELP = "in update and watch, a row counts half after so many further rows; auto: the labels choose"
HALF_LIFE_METAVAR = "auto|ROWS"
MAX_HALF_LIFE = 1e300
NO_LIMIT = "none"  # of boxes
MAX_NODES_HELP = "the most boxes: close ones are joined, and vigilance lowered, where more are needed"
LABELLED = "labelled"  # the class weights are measured on the labelled samples that the members learn


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


def check_wanted(wanted: float | None) -> None:
    """Raise a ValueError where the accuracy wanted is zero."""
    if wanted == 0:
        raise ValueError("--accuracy is in percent, above 0: give a number such as 95.")


def validation_share(text: str) -> str | float:
    """Return the value of --validation: “labelled”, or a share between 0 and 1."""
    if text == LABELLED:
        return text
    try:
        share = float(text)
    except ValueError:
        share = 0.0
    if not 0 < share < 1:
        raise typer.BadParameter(f"{text!r} is neither {LABELLED!r} nor a share between 0 and 1, such as 0.3")
    return share


def max_nodes_of(text: str) -> str | int:
    """Return the value of --max-nodes: “none” for no limit, or a number of boxes from 2 up."""
    if text == NO_LIMIT:
        return text
    if not (text.isascii() and text.isdigit() and 2 <= int(text) < 2**31):
        raise typer.BadParameter(f"{text!r} is neither {NO_LIMIT!r} nor a whole number of boxes from 2 up")
    return int(text)


def half_life_of(text: str) -> str | float:
    """Return the value of --half-life: “auto”, or a number of rows from 1 up."""
    if text == AUTO:
        return text
    try:
        rows = float(text)
    except ValueError:
        rows = 0.0
    if not 1 <= rows < MAX_HALF_LIFE:
        raise typer.BadParameter(f"{text!r} is neither {AUTO!r} nor a number of rows from 1 up, such as 10000")
    return rows
