"""Python client of `sslart serve`, in a synchronous and an asynchronous version.

Needs httpx, which the extra `client` brings.
"""

from sslart.client._async import AsyncClient, AsyncEventStream
from sslart.client._errors import (
    AccessError,
    NotFoundError,
    ServiceError,
    UnavailableError,
    UnreachableError,
    WrongRequestError,
)
from sslart.client._results import Accepted, Event, Job, Prediction, Predictions, State
from sslart.client._sync import Client, EventStream

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
