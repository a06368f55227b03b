"""Requests about models as a whole, their rows and labels, and the service itself."""

from __future__ import annotations

import time
from typing import Any, Literal
from urllib.parse import quote

from sslart.client._errors import UnreachableError
from sslart.client._flows import Flow, Pause, Request, get, post
from sslart.client._predicting import path_of
from sslart.client._results import Accepted, Job, State

SECONDS_BETWEEN_LOOKS = 0.1


def models() -> Flow[list[dict[str, Any]]]:
    """Return all models: the name, the state, how many rows and which classes each has.

    Returns
    -------
    list of dict
    """
    answer = yield get("/v1/models")
    return list(answer.json()["models"])


def model(name: str) -> Flow[dict[str, Any]]:
    """Return the description of a model: its kind, the data it has learnt, and its quality on left-out labels.

    Parameters
    ----------
    name : str
        The model.

    Returns
    -------
    dict
    """
    answer = yield get(path_of(name))
    return dict(answer.json())


def jobs(most: int = 100) -> Flow[list[Job]]:
    """Return the newest jobs, the newest first.

    Parameters
    ----------
    most : int, default=100
        How many at most.

    Returns
    -------
    list of Job
    """
    answer = yield get("/v1/jobs", most=most)
    return [Job.of(one) for one in answer.json()["jobs"]]


def row(name: str, row: int | str) -> Flow[dict[str, Any]]:
    """Return a stored row: its cells, its label, and its prediction.

    Parameters
    ----------
    name : str
        The model.
    row : int or str
        The number of the row, or the id that it was sent with.

    Returns
    -------
    dict
    """
    answer = yield get(path_of(name, "rows", row))
    return dict(answer.json())


def labels(name: str, *, row: int | None = None, after: int = 0, most: int = 100) -> Flow[list[dict[str, Any]]]:
    """Return the history of labels and who gave them, the oldest first.

    Parameters
    ----------
    name : str
        The model.
    row : int, default=None
        Of this row only.
    after : int, default=0
        The last entry that is known already.
    most : int, default=100
        How many at most.

    Returns
    -------
    list of dict
    """
    answer = yield get(path_of(name, "labels"), row=row, after=after, most=most)
    return list(answer.json()["labels"])


def set_parameters(name: str, **parameters: Any) -> Flow[Accepted]:
    """Change parameters of a model that need no fit, such as abstain_below.

    Parameters
    ----------
    name : str
        The model.
    **parameters
        Of its estimator.

    Returns
    -------
    Accepted
    """
    request = post(path_of(name), {"parameters": parameters})
    answer = yield Request("PATCH", request.path, content=request.content, headers=request.headers)
    return Accepted.of(answer.json())


def snapshot(name: str) -> Flow[State]:
    """Store a snapshot of a model, so that the next start of the service continues from it.

    Parameters
    ----------
    name : str
        The model.

    Returns
    -------
    State
    """
    answer = yield Request("POST", path_of(name, "snapshot"))
    return State.of(answer.json())


def delete(name: str) -> Flow[None]:
    """Delete a model with all its rows, labels and snapshots.

    Parameters
    ----------
    name : str
        The model.
    """
    yield Request("DELETE", path_of(name))


def add_token(name: str, scope: Literal["read", "learn", "admin"] = "read") -> Flow[str]:
    """Add a token and return it. The service keeps a hash of it only; once there is one, every request needs one.

    Parameters
    ----------
    name : str
        Of the person or machine that it is for.
    scope : {"read", "learn", "admin"}, default="read"
        What it allows; each includes those before it.

    Returns
    -------
    str
    """
    answer = yield post("/v1/tokens", {"name": name, "scope": scope})
    return str(answer.json()["token"])


def revoke_token(name: str) -> Flow[None]:
    """Make a token invalid.

    Parameters
    ----------
    name : str
        Of the person or machine that it is for.
    """
    yield Request("DELETE", f"/v1/tokens/{quote(name, safe='')}")


def tokens() -> Flow[list[dict[str, Any]]]:
    """Return the names and scopes of all tokens.

    Returns
    -------
    list of dict
    """
    answer = yield get("/v1/tokens")
    return list(answer.json()["tokens"])


def backup(name: str) -> Flow[dict[str, Any]]:
    """Let the service write a copy of its store into the folder backups beside it.

    Parameters
    ----------
    name : str
        Of the copy.

    Returns
    -------
    dict
        The file, and how many bytes it has.
    """
    answer = yield post("/v1/backup", {"name": name})
    return dict(answer.json())


def audit(*, after: int = 0, most: int = 100) -> Flow[list[dict[str, Any]]]:
    """Return the audit log, the oldest entry first; for labels see `labels`.

    Parameters
    ----------
    after : int, default=0
        The last entry that is known already.
    most : int, default=100
        How many at most.

    Returns
    -------
    list of dict
    """
    answer = yield get("/v1/audit", after=after, most=most)
    return list(answer.json()["audit"])


def ready(wait: float = 0.0) -> Flow[bool]:
    """Return True if the service answers and all models have replayed their journals.

    Parameters
    ----------
    wait : float, default=0.0
        Seconds to wait until it does.

    Returns
    -------
    bool
    """
    end = time.monotonic() + wait
    while True:
        try:
            answer = yield Request("GET", "/readyz", takes=(503,))
            is_ready = bool(answer.status == 200)
        except UnreachableError:
            is_ready = False
        if is_ready or time.monotonic() >= end:
            return is_ready
        yield Pause(SECONDS_BETWEEN_LOOKS)
