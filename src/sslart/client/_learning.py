"""Requests by which a model learns: tables, rows, labels and fits."""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, Literal

from sslart.client._errors import WrongRequestError
from sslart.client._flows import Flow, Pause, Request, Step, get, post
from sslart.client._predicting import joined, path_of
from sslart.client._results import Accepted, Job, Predictions
from sslart.client._rows import batches, labels_of, plain, rows_of, table_content

MAX_WAIT = 20.0  # seconds that one request waits for a fit; then its job is looked at
SECONDS_BETWEEN_LOOKS = 1.0

Learning = Literal["familiar", "all", "none"]
Estimator = Literal["AutoSSLART", "SSLART", "WESSLART", "FuzzyARTMAP"]


def create(name: str, settings: Mapping[str, Any] | None = None) -> Flow[Accepted]:
    """Create a model that has learnt nothing; its columns are those of the first rows that it learns.

    Parameters
    ----------
    name : str
        The new model.
    settings : dict, default=None
        How it learns: estimator, parameters (of the estimator), label, id, group, ignore, category, use, learn and
        max_fit_rows, each as described in /openapi.json of the service.

    Returns
    -------
    Accepted
    """
    answer = yield post("/v1/models", {"name": name, "settings": dict(settings or {})})
    return Accepted.of(answer.json())


def fit(
    name: str,
    table: Any,
    *,
    label: str | None = None,
    id_column: str | None = None,
    group: str | None = None,
    ignore: Iterable[str] = (),
    category: Iterable[str] = (),
    use: Iterable[str] = (),
    estimator: Estimator = "AutoSSLART",
    learn: Learning = "familiar",
    encoding: str | None = None,
    wait: float | None = None,
) -> Flow[Job]:
    """Create a model from a table, which it is fitted to, or from the file of a model.

    For other parameters of the estimator, `create` the model with them and then `add_table`.

    Parameters
    ----------
    name : str
        The new model.
    table : pandas DataFrame, path, or bytes
        A table as CSV, TSV, Parquet, Arrow or Excel, or a model that `sslart.save` wrote.
    label : str, default=None
        The column with the classes, blank where not known.
    id_column : str, default=None
        The column that names rows; it is no feature.
    group : str, default=None
        The column with what belongs together, such as patient.
    ignore, category, use : iterable of str, default=()
        Columns to leave out; columns of numbers that are categories; columns to use although they are free text or name
        rows.
    estimator : {"AutoSSLART", "SSLART", "WESSLART", "FuzzyARTMAP"}, default="AutoSSLART"
    learn : {"familiar", "all", "none"}, default="familiar"
        Which rows that are sent to `decide` are learnt without a label.
    encoding : str, default=None
        Of text; found out if it is None.
    wait : float, default=None
        Seconds to wait for the end of the fit. None waits as long as it takes, 0 does not wait.

    Returns
    -------
    Job
        If the fit fails, a WrongRequestError is raised.
    """
    params = {"label": label, "id": id_column, "group": group, "estimator": estimator, "learn": learn}
    names = {"ignore": list(ignore), "category": list(category), "use": list(use), "encoding": encoding}
    request = partial(Request, "PUT", path_of(name), content=table_content(table))
    return _fitted(lambda seconds: request({**params, **names, "wait": seconds or None}, seconds=seconds), wait)


def add_table(name: str, table: Any, *, encoding: str | None = None, wait: float | None = None) -> Flow[Job]:
    """Add the rows of a table to those of a model, and fit it anew to all of them.

    Parameters
    ----------
    name : str
        The model.
    table : pandas DataFrame, path, or bytes
        A table as CSV, TSV, Parquet, Arrow or Excel.
    encoding : str, default=None
        Of text; found out if it is None.
    wait : float, default=None
        Seconds to wait for the end of the fit. None waits as long as it takes, 0 does not wait.

    Returns
    -------
    Job
        If the fit fails, a WrongRequestError is raised.
    """
    request = partial(Request, "POST", path_of(name, "table"), content=table_content(table))
    return _fitted(lambda seconds: request({"encoding": encoding, "wait": seconds or None}, seconds=seconds), wait)


def refit(
    name: str, settings: Mapping[str, Any] | None = None, *, wait: float | None = None, key: str | None = None
) -> Flow[Job]:
    """Fit a model anew to all rows that it was given, with the labels in force.

    Parameters
    ----------
    name : str
        The model.
    settings : dict, default=None
        Settings that shall change, as of `create`.
    wait : float, default=None
        Seconds to wait for the end of the fit. None waits as long as it takes, 0 does not wait.
    key : str, default=None
        The Idempotency-Key of the request; None makes one.

    Returns
    -------
    Job
        If the fit fails, a WrongRequestError is raised.
    """
    body, key = {"settings": dict(settings or {})}, key or new_key()
    return _fitted(lambda seconds: post(path_of(name, "refit"), body, key=key, wait=seconds), wait)


def _fitted(request: Callable[[float], Request], wait: float | None) -> Generator[Step, Any, Job]:
    """Send a request that begins a fit; return its job when it has ended, or after some seconds."""
    end = None if wait is None else time.monotonic() + wait
    answer = yield request(MAX_WAIT if wait is None else min(wait, MAX_WAIT))
    found = Job.of(answer.json())
    while not found.has_ended and (end is None or time.monotonic() < end):
        yield Pause(SECONDS_BETWEEN_LOOKS)
        found = yield from job(found.model, found.sequence)
    if found.state == "failed":
        raise WrongRequestError((found.outcome or {}).get("error", "The fit has failed."), 422)
    return found


def job(name: str, sequence: int) -> Flow[Job]:
    """Return a job with its progress or outcome.

    Parameters
    ----------
    name : str
        The model.
    sequence : int
        The number of the job.

    Returns
    -------
    Job
    """
    answer = yield get(path_of(name, "jobs", sequence))
    return Job.of(answer.json())


def cancel(name: str, sequence: int) -> Flow[Job]:
    """Cancel a job that has not ended: the model stays as it was.

    Parameters
    ----------
    name : str
        The model.
    sequence : int
        The number of the job.

    Returns
    -------
    Job
    """
    answer = yield Request("DELETE", path_of(name, "jobs", sequence))
    return Job.of(answer.json())


def learn(
    name: str,
    X: Any,
    y: Any = None,
    *,
    ids: Sequence[str] | None = None,
    wait: float = 0.0,
    key: str | None = None,
) -> Flow[Accepted]:
    """Let a model learn samples, with or without labels. Each is learnt once, however often a request is repeated.

    When the call returns, the samples are on the disk of the service; they are learnt soon after.

    Parameters
    ----------
    name : str
        The model.
    X : list of dicts, DataFrame, or array of shape (n_samples, n_features)
        More than 1,000 rows go in several requests.
    y : sequence of labels, default=None
        One for each sample, None where not known. They may also be in the label column of X.
    ids : sequence of str, default=None
        A name for each sample, by which it can be labelled later.
    wait : float, default=0.0
        Seconds to wait until all are learnt, at most 600.
    key : str, default=None
        The Idempotency-Key: who repeats a call with its key adds nothing, within seven days. None makes one, which
        serves for the retries of this call.

    Returns
    -------
    Accepted
    """
    bodies = _bodies(X, labels=None if y is None else labels_of(y), ids=_texts(ids))
    return _accepted(path_of(name, "learn"), bodies, wait, key)


def decide(
    name: str,
    X: Any,
    *,
    ids: Sequence[str] | None = None,
    learn: Learning | None = None,
    explain: bool = False,
    key: str | None = None,
) -> Flow[Predictions]:
    """Predict samples and keep them: they can be labelled later, and familiar ones are learnt without a label.

    Parameters
    ----------
    name : str
        The model.
    X : list of dicts, DataFrame, or array of shape (n_samples, n_features)
        More than 1,000 rows go in several requests.
    ids : sequence of str, default=None
        A name for each sample, by which it can be labelled later.
    learn : {"familiar", "all", "none"}, default=None
        Which samples are learnt; None for the setting of the model.
    explain : bool, default=False
        Whether to explain each prediction.
    key : str, default=None
        The Idempotency-Key, as of `learn`.

    Returns
    -------
    Predictions
        Each with the number of its row.
    """
    options = {"explain": explain} | ({} if learn is None else {"learn": learn})
    parts = []
    for body, one in _with_keys(_bodies(X, ids=_texts(ids)), key):
        answer = yield post(path_of(name, "decide"), {**body, **options}, key=one)
        parts.append(answer.json())
    return joined(parts)


def label(
    name: str,
    labels: Mapping[int | str, Any],
    *,
    by: str | None = None,
    refit: bool = False,
    together: bool = False,
    wait: float = 0.0,
    key: str | None = None,
) -> Flow[Accepted]:
    """Label rows that were sent before.

    A row without a label is learnt with its new one. One that has another label gets the new one with the next fit.

    Parameters
    ----------
    name : str
        The model.
    labels : dict
        From the number of a row, or the id that it was sent with, to its label; None withdraws one.
    by : str, default=None
        Who gives the labels, where several people use one token.
    refit : bool, default=False
        Whether to fit the model anew where a label was changed or withdrawn, or there are enough new ones.
    together : bool, default=False
        Whether this is one answer about similar rows: where left-out labels choose settings or measure the model, such
        labels are left out together, and count one. Of more than 1,000 labels, each thousand is an answer.
    wait : float, default=0.0
        Seconds to wait until all are learnt, at most 600.
    key : str, default=None
        The Idempotency-Key, as of `learn`.

    Returns
    -------
    Accepted
    """
    given = [{"row": plain(row), "label": plain(one)} for row, one in labels.items()]
    if not given:
        raise ValueError("There are no labels: give at least one.")
    more: dict[str, Any] = ({} if by is None else {"by": by}) | ({"refit": True} if refit else {})
    more |= {"together": True} if together else {}
    bodies = [{"labels": some, **more} for (some,) in batches(given)]
    return _accepted(path_of(name, "labels"), bodies, wait, key)


def _accepted(
    path: str, bodies: Sequence[dict[str, Any]], wait: float, key: str | None
) -> Generator[Request, Any, Accepted]:
    """Send bodies one after the other; wait for the last."""
    parts = []
    for number, (body, one) in enumerate(_with_keys(bodies, key), start=1):
        answer = yield post(path, body, key=one, wait=wait if number == len(bodies) else 0)
        parts.append(Accepted.of(answer.json()))
    return Accepted.joined(parts)


def _bodies(X: Any, **columns: list[Any] | None) -> list[dict[str, Any]]:
    """Return request bodies with batches of rows and the columns that belong to them."""
    rows = rows_of(X)
    for name, values in columns.items():
        if values is not None and len(values) != len(rows):
            raise ValueError(f"There are {len(values)} {name} for {len(rows)} rows: give one for each.")
    names = ("rows", *columns)
    found = (dict(zip(names, some, strict=True)) for some in batches(rows, *columns.values()))
    return [{name: values for name, values in body.items() if values is not None} for body in found]


def _with_keys(bodies: Sequence[dict[str, Any]], key: str | None) -> list[tuple[dict[str, Any], str]]:
    """Return bodies with a key for each: that of the call, with a number where there are several."""
    key = key or new_key()
    return [(body, key if len(bodies) == 1 else f"{key}-{number}") for number, body in enumerate(bodies)]


def new_key() -> str:
    """Return an Idempotency-Key that no other request has."""
    return uuid.uuid4().hex


def _texts(ids: Sequence[Any] | None) -> list[str] | None:
    return None if ids is None else [str(one) for one in ids]
