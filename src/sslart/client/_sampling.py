"""Requests about all samples of a model: values, boxes, searches, samples to label next, and quality."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from io import BytesIO
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sslart.client._flows import Flow, get, post
from sslart.client._predicting import path_of, read_json


def samples(name: str) -> Flow[dict[str, Any]]:
    """Return the number of samples of a model, its classes, and the features available to `values`.

    Parameters
    ----------
    name : str
        The model.

    Returns
    -------
    dict
    """
    return read_json(get(path_of(name, "samples")))


def values(name: str, quantity: str, *, feature: str | None = None) -> Flow[NDArray[Any]]:
    """Return one value for each sample, in the order of their row numbers.

    Parameters
    ----------
    name : str
        The model.
    quantity : str
        What to return: row, position, feature, class, probability, novelty, novel, disagreement, label or box. Classes
        and labels are indices of the classes that `samples` returns, -1 for none.
    feature : str, default=None
        Of the quantity "feature": which one.

    Returns
    -------
    array of length n_samples, or of shape (n_samples, 2) for positions
    """
    answer = yield get(path_of(name, "values", quantity), name=feature)
    found: NDArray[Any] = np.load(BytesIO(answer.content), allow_pickle=False)
    return found


def boxes(name: str, x: str | None = None, y: str | None = None) -> Flow[list[dict[str, Any]]]:
    """Return the boxes with the most samples: sizes, labels, predictions, and positions.

    Parameters
    ----------
    name : str
        The model.
    x, y : str, default=None
        Two features that say where; None for positions that are computed from the boxes.

    Returns
    -------
    list of dict
    """
    answer = yield get(path_of(name, "boxes"), x=x, y=y)
    return list(answer.json()["boxes"])


def box(name: str, box: int) -> Flow[dict[str, Any]]:
    """Return the contents of a box: its samples, labels, intervals, and distinctive features.

    Parameters
    ----------
    name : str
        The model.
    box : int
        Its number.

    Returns
    -------
    dict
    """
    return read_json(get(path_of(name, "boxes", str(box))))


def search(name: str, **conditions: Any) -> Flow[dict[str, Any]]:
    """Return a page of the samples that meet conditions, with their predictions.

    Parameters
    ----------
    name : str
        The model.
    **conditions
        As in the request: `rows`, `box`, `predicted`, `label`, `disagrees`, `novel`, `abstained`, `probability`,
        `cells`, `text`, `sort`, `descending`, `offset`, `limit` and `numbers`.

    Returns
    -------
    dict
    """
    return read_json(post(path_of(name, "search"), conditions, is_repeatable=True))


def questions(name: str, n: int = 3, *, skip: Iterable[int] = ()) -> Flow[list[dict[str, Any]]]:
    """Return the samples whose labels would help most, the most useful first.

    Parameters
    ----------
    name : str
        The model.
    n : int, default=3
        How many at most.
    skip : iterable of int, default=()
        Rows that nobody could label.

    Returns
    -------
    list of dict
    """
    answer = yield get(path_of(name, "questions"), n=n, skip=list(skip))
    return list(answer.json()["questions"])


def quality(name: str, target: float | None = 0.9) -> Flow[dict[str, Any]]:
    """Return the quality of a model on left-out labels, and the number of labels needed for a target accuracy.

    Parameters
    ----------
    name : str
        The model.
    target : float or None, default=0.9
        The accuracy wanted; None: only how good it is, which takes less time.

    Returns
    -------
    dict
    """
    wanted: dict[str, Any] = {"needed": "false"} if target is None else {"target": target}
    return read_json(get(path_of(name, "quality"), **wanted))


def random_order(name: str) -> Flow[dict[str, Any]]:
    """Return the number of randomly chosen labels that would reach the quality of the model, by simulation.

    Parameters
    ----------
    name : str
        The model.

    Returns
    -------
    dict
    """
    return read_json(get(path_of(name, "quality", "random_order")))


def disagreements(name: str) -> Flow[list[dict[str, Any]]]:
    """Return the rows to which several people have given different labels.

    Parameters
    ----------
    name : str
        The model.

    Returns
    -------
    list of dict
    """
    answer = yield get(path_of(name, "disagreements"))
    return list(answer.json()["rows"])


def properties(name: str) -> Flow[dict[str, Any]]:
    """Return the custom properties stored with a model, by key.

    Parameters
    ----------
    name : str
        The model.

    Returns
    -------
    dict
    """
    answer = yield get(path_of(name, "properties"))
    return dict(answer.json()["properties"])


def set_property(name: str, key: str, value: Any) -> Flow[None]:
    """Keep a value with a model, in place of the one before.

    Parameters
    ----------
    name : str
        The model.
    key : str
    value : JSON
        None removes it.
    """
    request = post(path_of(name, "properties", key), value, is_repeatable=True)
    yield replace(request, method="PUT")
