"""Options shared by several commands: declarations, parsers and checks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Annotated, Any

import numpy as np
import typer

from sslart import WESSLART
from sslart._mapping.decision_rules import BALANCED, Costs
from sslart._utils.text import list_text
from sslart._utils.validation import AUTO
from sslart.estimators._parameters import parameter_of

DATA_HELP = "CSV, TSV, Parquet, Arrow or Excel; - for standard input"
MODEL_HELP = "a file that sslart fit wrote"
GROUP_HELP = "column of groups, such as patient, batch or day: validation holds out whole groups"
WAIT_HELP = "seconds to wait while another command writes the model"
SECONDS_TO_WAIT = 10.0
MAX_HALF_LIFE = 1e300
NO_LIMIT = "none"  # --max-nodes none: any number of boxes
LABELLED = "labelled"  # --validation labelled: measure class weights on the samples that the members learn
COST_METAVAR = "TRUE:PREDICTED=COST"


def column(meaning: str, *names: str) -> Any:
    """Return an option that takes the name of a column."""
    return typer.Option(*names, help=meaning, metavar="COLUMN")


def columns(meaning: str) -> Any:
    """Return an option that takes column names separated by commas, and may be repeated."""
    return typer.Option(help=meaning, metavar="COLUMNS")


def file(meaning: str, *names: str) -> Any:
    """Return an option that takes the name of a file."""
    return typer.Option(*names, help=meaning, metavar="FILE")


def count(meaning: str, *names: str, least: int = 1, most: int | None = None) -> Any:
    """Return an option that takes a whole number."""
    return typer.Option(*names, help=meaning, metavar="N", min=least, max=most)


Data = Annotated[str, typer.Argument(metavar="DATA", help=DATA_HELP)]
Model = Annotated[str, typer.Argument(metavar="MODEL", help=MODEL_HELP)]
ModelOrName = Annotated[
    str, typer.Argument(metavar="MODEL", help=f"{MODEL_HELP}; with --server the name of a model there")
]
Label = Annotated[str | None, column("column with the classes, blank where unknown", "--label")]
Encoding = Annotated[
    str | None,
    typer.Option(
        "--encoding",
        help="encoding of text files, such as utf-16, cp1252 or cp1251; detected by default",
        metavar="NAME",
    ),
]
OtherFile = Annotated[str | None, file("write the new model to this file and keep the old one", "--out")]
Wait = Annotated[float, typer.Option("--wait", min=0, help=WAIT_HELP, metavar="SECONDS")]
Json = Annotated[bool, typer.Option("--json", help="print JSON")]
Quiet = Annotated[bool, typer.Option("--quiet", help="print only errors and notes (and the output of --json)")]
KeepFormulas = Annotated[
    bool,
    typer.Option(
        "--keep-formulas",
        help="in CSV, write cells that a spreadsheet would compute, such as =1+1, without a protective apostrophe",
    ),
]
FalseAlarms = Annotated[
    float,
    typer.Option(min=0, max=1, help="flag at most this share of rows like the learnt ones as novel", metavar="SHARE"),
]
Cost = Annotated[
    list[str] | None,
    typer.Option(
        "--cost",
        help="cost of predicting PREDICTED where the class is TRUE, such as ill:healthy=10 (default 1); or balanced: "
        "inversely proportional to class frequencies",
        metavar=COST_METAVAR,
    ),
]
Accuracy = Annotated[
    float | None,
    typer.Option(
        "--accuracy",
        min=0,
        max=100,
        metavar="PERCENT",
        help="target accuracy: estimate how many more labels it needs",
    ),
]
UseDask = Annotated[
    bool,
    typer.Option(
        "--dask", help="process Parquet files on the workers of a dask cluster; the table may be larger than memory"
    ),
]
Scheduler = Annotated[
    str | None,
    typer.Option(
        "--scheduler",
        help="with --dask: address of the scheduler, such as tcp://host:8786; default: workers on this machine",
        metavar="ADDRESS",
    ),
]
Server = Annotated[
    str | None,
    typer.Option("--server", help="address of a service (sslart serve), such as http://127.0.0.1:8707", metavar="URL"),
]
Token = Annotated[
    str | None,
    typer.Option("--token", help="with --server: access token", envvar="SSLART_TOKEN", metavar="TEXT"),
]


def parameter(name: str, words: str | None = None, metavar: str | None = None) -> Any:
    """Return an option for a parameter of the estimators, with its range; `words` overrides its help."""
    known = parameter_of(WESSLART, name)
    limits = known.constraint
    least, most = getattr(limits, "low", None), getattr(limits, "high", None)
    return typer.Option(help=words or known.meaning, metavar=metavar, min=least, max=most)


def check_scheduler(scheduler: str | None, use_dask: bool) -> None:
    """Raise a ValueError if --scheduler is given without --dask."""
    if scheduler is not None and not use_dask:
        raise ValueError("--scheduler is for a dask cluster: add --dask, or leave --scheduler out.")


def read_costs(options: Sequence[str] | None, classes: Sequence[Any]) -> Costs | None:
    """Parse --cost options into the parameter `decision_costs` of the estimators; None without an option.

    Class names may contain colons and equals signs.
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
            f"--cost {option} does not end with = and a number: write --cost {COST_METAVAR}, or --cost balanced."
        )
    by_name = {str(label): label for label in classes}
    cuts = [place for place, character in enumerate(names) if character == ":"]
    pairs = [(names[:cut], names[cut + 1 :]) for cut in cuts]
    found = [(by_name[true], by_name[predicted]) for true, predicted in pairs if {true, predicted} <= by_name.keys()]
    if not found:
        raise ValueError(
            f"--cost {option} does not name two classes separated by a colon: the true class, then the predicted one. "
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
    """Raise a ValueError if the target accuracy is zero."""
    if wanted == 0:
        raise ValueError("--accuracy is a percentage above 0: give a number such as 95.")


def _parser(read: Callable[[str], Any], word: str, holds: Callable[[Any], bool], other: str) -> Callable[[str], Any]:
    """Return a parser for an option that takes a keyword or a number."""

    def parsed(text: str) -> Any:
        if text == word:
            return text
        try:
            value = read(text)
            if holds(value):
                return value
        except ValueError:
            pass
        raise typer.BadParameter(f"{text!r} is neither {word!r} nor {other}")

    return parsed


def _whole(text: str) -> int:
    if not (text.isascii() and text.isdigit()):
        raise ValueError(text)
    return int(text)


_validation_share = _parser(float, LABELLED, lambda share: 0 < share < 1, "a share between 0 and 1, such as 0.3")
_max_nodes_of = _parser(_whole, NO_LIMIT, lambda n: 2 <= n < 2**31, "a whole number of boxes, at least 2")
_half_life_of = _parser(
    float, AUTO, lambda rows: 1 <= rows < MAX_HALF_LIFE, "a number of rows, at least 1, such as 10000"
)


def half_life(meaning: str) -> Any:
    """Return an option that takes a number of rows, or auto."""
    return typer.Option(parser=_half_life_of, metavar="auto|ROWS", help=meaning)


def max_nodes(meaning: str) -> Any:
    """Return an option that takes a number of boxes, or none."""
    return typer.Option(parser=_max_nodes_of, metavar="N|none", help=meaning)


def validation(meaning: str) -> Any:
    """Return an option that takes a share of the labelled samples, or labelled."""
    return typer.Option(parser=_validation_share, metavar="labelled|SHARE", help=meaning)
