"""Python client of `sslart serve`, in a synchronous and an asynchronous version.

Needs httpx, installed by the extra `client`.
"""

from sslart.client._client import AsyncClient, Client, EventStream
from sslart.client._connection import AsyncEventStream
from sslart.client._results import (
    Accepted,
    AccessError,
    Event,
    Job,
    NotFoundError,
    Prediction,
    Predictions,
    ServiceError,
    State,
    UnavailableError,
    UnreachableError,
    WrongRequestError,
)

__all__ = [
    "Accepted",
    "AccessError",
    "AsyncClient",
    "AsyncEventStream",
    "Client",
    "Event",
    "EventStream",
    "Job",
    "NotFoundError",
    "Prediction",
    "Predictions",
    "ServiceError",
    "State",
    "UnavailableError",
    "UnreachableError",
    "WrongRequestError",
]
