"""Requests that analyse a model: its columns, trust, trial labels, and changes since the last fit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sslart.client._flows import Flow, Request, get, post
from sslart.client._learning import new_key
from sslart.client._predicting import path_of, read_json
from sslart.client._rows import plain, rows_of, table_content

MAX_SECONDS = 600.0


def columns(name: str) -> Flow[dict[str, Any]]:
    """Return the interpretation of each column of the rows of a model, even after a failed fit.

    Parameters
    ----------
    name : str
        The model.

    Returns
    -------
    dict
    """
    return read_json(get(path_of(name, "columns")))


def trust(name: str, *, group: str | None = None) -> Flow[dict[str, Any]]:
    """Return the quality of a model on left-out labels, by class, by confidence, and by group.

    Parameters
    ----------
    name : str
        The model.
    group : str, default=None
        A column: the quality in each group that it makes.

    Returns
    -------
    dict
    """
    return read_json(get(path_of(name, "trust"), group=group))


def dependence(name: str, feature: str) -> Flow[dict[str, Any]]:
    """Return the contribution of a feature to the score of each class, as a function of its value.

    Parameters
    ----------
    name : str
        The model.
    feature : str

    Returns
    -------
    dict
    """
    return read_json(get(path_of(name, "dependence"), feature=feature))


def similar(name: str, row: Any, *, n: int = 5) -> Flow[dict[str, Any]]:
    """Return the labelled rows that are most like a row, and the boxes that fit it best.

    Parameters
    ----------
    name : str
        The model.
    row : mapping from feature to value
    n : int, default=5
        How many of each.

    Returns
    -------
    dict
    """
    (cells,) = rows_of([row])
    return read_json(post(path_of(name, "similar"), {"row": cells, "n": n}, is_repeatable=True))


def cover(
    name: str, conditions: Sequence[Mapping[str, Any]], *, label: Any = None, n: int = 20
) -> Flow[dict[str, Any]]:
    """Return the rows that meet the conditions of a rule, and those whose labels would correct it.

    Parameters
    ----------
    name : str
        The model.
    conditions : sequence of dict
        As `rules` returns them.
    label : class, default=None
        The class of the rule.
    n : int, default=20
        How many rows to suggest at most.

    Returns
    -------
    dict
    """
    body = {"conditions": [dict(one) for one in conditions], "label": plain(label), "n": n}
    return read_json(post(path_of(name, "rules", "cover"), body, is_repeatable=True))


def trial(
    name: str, labels: Mapping[int | str, Any], *, together: bool = False, wait: float = MAX_SECONDS
) -> Flow[dict[str, Any]]:
    """Fit a copy of a model with other labels, and return the changes; the copy is discarded.

    Parameters
    ----------
    name : str
        The model.
    labels : mapping from row to class
        None for no label.
    together : bool, default=False
        Whether this is one answer about similar rows, as of `label`.
    wait : float, default=600
        How many seconds it may take.

    Returns
    -------
    dict
        The item "text" has it in words.
    """
    given = [{"row": plain(row), "label": plain(label)} for row, label in labels.items()]
    body = {"labels": given, **({"together": True} if together else {})}
    return read_json(post(path_of(name, "trial"), body, wait=wait, is_repeatable=True))


def watch(name: str, *, last: int | None = None) -> Flow[dict[str, Any]]:
    """Compare the rows since the last fit with those before it: features, novel rows, abstentions and classes.

    Parameters
    ----------
    name : str
        The model.
    last : int, default=None
        Compare the last so many rows instead.

    Returns
    -------
    dict
    """
    return read_json(get(path_of(name, "watch"), last=last))


def watch_table(name: str, table: Any, *, encoding: str | None = None, key: str | None = None) -> Flow[dict[str, Any]]:
    """Predict the rows of a table and keep them, as `decide` does, and compare them with those before the last fit.

    Parameters
    ----------
    name : str
        The model.
    table : pandas DataFrame, path, or bytes
        A table as CSV, TSV, Parquet, Arrow or Excel.
    encoding : str, default=None
        Of text; found out if it is None.
    key : str, default=None
        The Idempotency-Key; None makes one.

    Returns
    -------
    dict
    """
    request = Request(
        "POST",
        path_of(name, "watch", "table"),
        {"encoding": encoding},
        table_content(table),
        {"Idempotency-Key": key or new_key()},
        is_repeatable=True,
        seconds=MAX_SECONDS,
    )
    return read_json(request)
