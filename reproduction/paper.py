"""Numbers printed in the paper's tables, and the contradictions among them."""

from __future__ import annotations

import json
from dataclasses import dataclass, fields
from functools import cache
from importlib import resources
from typing import Any


@dataclass(frozen=True)
class Printed:
    """One number of a table. What does not apply is None.

    Attributes
    ----------
    table : str
        Name of the table: uci, sing, Comp, EnsmCompare, node, anomaly, Real-world, node_real or rule.
    measure : str
        What was measured, such as accuracy; in the table rule, a feature or confidence.
    line : int
        Where it stands in the source of the paper.
    dataset, method, condition : str or None
        On what, by what and under which condition; `total` is the data set of the sums over all of them.
    mean, sd : float or None
        Mean and standard deviation; shares in percent.
    low, high : int or None
        Levels of a feature in a rule, from 1 (very small) to 5 (very large).
    printed : str or None
        The original, where it looks different: shares printed as fractions, and levels.
    """

    table: str
    measure: str
    line: int
    dataset: str | None = None
    method: str | None = None
    condition: str | None = None
    mean: float | None = None
    sd: float | None = None
    low: int | None = None
    high: int | None = None
    printed: str | None = None


@dataclass(frozen=True)
class Oddity:
    """A place where the paper contradicts itself; `table` is None where it is about the text alone."""

    oddity: str
    line: int
    table: str | None = None


@cache
def _paper() -> dict[str, Any]:
    content = json.loads(resources.files(__package__).joinpath("paper.json").read_text(encoding="utf-8"))
    return {
        "records": tuple(Printed(**record) for record in content["records"]),
        "oddities": tuple(Oddity(**oddity) for oddity in content["oddities"]),
    }


def _check_name(kind: str, name: str, known: set[str]) -> None:
    if name not in known:
        raise ValueError(f"{kind} must be one of {', '.join(map(repr, sorted(known)))}, got {name!r}.")


def printed(table: str, **filters: Any) -> list[Printed]:
    """Return the numbers of a table, in the order of the paper.

    Parameters
    ----------
    table : str
        Name of the table; see `Printed`.
    **filters
        Values that fields of `Printed` must have.

    Examples
    --------
    >>> from reproduction.paper import printed
    >>> [(one.method, one.mean) for one in printed("sing", dataset="USPS")][:2]
    [('SSL-ART (OtM)', 87.1), ('FLAP-BLS', 88.95)]
    """
    _check_name("table", table, {record.table for record in _paper()["records"]})
    for name in filters:
        _check_name("a filter", name, {field.name for field in fields(Printed)})
    return [
        record
        for record in _paper()["records"]
        if record.table == table and all(getattr(record, name) == wanted for name, wanted in filters.items())
    ]


def value(
    table: str, dataset: str | None, method: str | None, measure: str, condition: str | None = None
) -> Printed | None:
    """Return the one number of a table that fits, None where the paper has none.

    Examples
    --------
    >>> from reproduction.paper import value
    >>> one = value("EnsmCompare", "Iris", "WESSL-ART", "accuracy")
    >>> one.mean, one.sd, one.printed
    (97.0, 6.0, '0.97±0.06')
    """
    found = printed(table, dataset=dataset, method=method, measure=measure, condition=condition)
    return found[0] if found else None


def oddities(table: str | None = None) -> list[Oddity]:
    """Return where the paper contradicts itself, all of it or in one table."""
    if table is not None:
        _check_name("table", table, {record.table for record in _paper()["records"]})
    return [oddity for oddity in _paper()["oddities"] if table is None or oddity.table == table]
