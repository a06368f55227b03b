"""Results and errors of the client."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Self

from sslart._utils.optional import optional

ENDED = ("done", "failed", "cancelled")


class ServiceError(OSError):
    """Raised when a service does not fulfil a request.

    Parameters
    ----------
    message : str
        Cause and remedy, from the service.
    status : int or None, default=None
        HTTP status of the response; None if there was none.
    """

    def __init__(self, message: str, status: int | None = None) -> None:
        super().__init__(message)
        self.message, self.status = message, status


class WrongRequestError(ServiceError, ValueError):
    """Raised for an invalid request, or one that does not fit the model."""


class NotFoundError(ServiceError, LookupError):
    """Raised for an unknown model, row or job."""


class AccessError(ServiceError, PermissionError):
    """Raised if a token is missing or its scope is insufficient."""


class UnavailableError(ServiceError):
    """Raised if the service is temporarily unavailable, such as overloaded or with a full disk: try again later."""


class UnreachableError(ServiceError, ConnectionError):
    """Raised if there was no response."""


_ERRORS: dict[type[ServiceError], tuple[int, ...]] = {
    WrongRequestError: (400, 409, 413, 415, 422),
    AccessError: (401, 403, 421),
    NotFoundError: (404,),
    UnavailableError: (429, 503, 507),
}


def error_of(status: int, message: str) -> ServiceError:
    """Return the exception for an answer.

    Examples
    --------
    >>> from sslart.client._results import error_of
    >>> error_of(404, "There is no model 'flowers'.")
    NotFoundError("There is no model 'flowers'.")
    """
    kind = next((kind for kind, statuses in _ERRORS.items() if status in statuses), ServiceError)
    return kind(message, status)


@dataclass(frozen=True)
class _Answered:
    """Base class of results: fields are filled by name from a response; unknown items are ignored."""

    @classmethod
    def of(cls, values: Mapping[str, Any]) -> Self:
        """Return the object that an answer describes."""
        known = {one.name for one in fields(cls)}
        return cls(**{name: value for name, value in values.items() if name in known})


@dataclass(frozen=True)
class Prediction(_Answered):
    """Prediction for a row.

    Attributes
    ----------
    class_ : str, int, bool or None
        None where the model abstains.
    probability : float
        Probability of the class; where the model abstains, the highest one.
    probabilities : dict
        The probability of each class, by its name.
    abstained : bool
    novelty : float
        From 0 for a perfect fit to 1 for outliers.
    novel : bool
        Whether the row is flagged as an outlier.
    row : int or None
        Number by which the row can be labelled later; only after `decide`.
    explanation : dict or None
        The explanation, if requested.
    """

    class_: Any
    probability: float
    probabilities: dict[str, float]
    abstained: bool
    novelty: float
    novel: bool
    row: int | None = None
    explanation: dict[str, Any] | None = field(default=None, repr=False)

    @classmethod
    def of(cls, values: Mapping[str, Any]) -> Self:
        """Return the prediction that an answer describes."""
        return super().of({**values, "class_": values["class"]})


@dataclass(frozen=True)
class Predictions:
    """Predictions for rows, in their order.

    Attributes
    ----------
    model : str
    sequence : int
        The last journal record that the model had learnt or, after `decide`, the record of the rows; for several
        requests, that of the last one.
    predictions : tuple of Prediction
    """

    model: str
    sequence: int
    predictions: tuple[Prediction, ...]

    def __len__(self) -> int:
        return len(self.predictions)

    def __iter__(self) -> Iterator[Prediction]:
        return iter(self.predictions)

    def __getitem__(self, place: int) -> Prediction:
        return self.predictions[place]

    @property
    def classes(self) -> list[Any]:
        """The class of each row; None where the model abstains."""
        return [one.class_ for one in self]

    @property
    def rows(self) -> list[int | None]:
        """Row numbers, by which rows can be labelled later; only after `decide`."""
        return [one.row for one in self]

    def to_frame(self) -> Any:
        """Return a pandas frame with one row per prediction. Needs pandas."""
        pd = optional("pandas", "data")
        columns: dict[str, Any] = {} if not self or self[0].row is None else {"row": self.rows}
        columns["class"] = pd.Series(self.classes, dtype=object)
        for name in ("probability", "abstained", "novelty", "novel"):
            columns[name] = [getattr(one, name) for one in self]
        return pd.DataFrame(columns)


@dataclass(frozen=True)
class Accepted(_Answered):
    """Acknowledgement of a durable write.

    Attributes
    ----------
    model : str
    sequence : int
        Number of the journal record; for several requests, that of the last one.
    rows : tuple of int
        The numbers of the rows.
    learnt, corrected, same : int or None
        For labels: numbers of rows labelled for the first time, with a changed label (corrected by the next fit), and
        with the same label as before.
    """

    model: str
    sequence: int
    rows: tuple[int, ...] = ()
    learnt: int | None = None
    corrected: int | None = None
    same: int | None = None

    @classmethod
    def of(cls, values: Mapping[str, Any]) -> Self:
        """Return the acknowledgement in an answer."""
        return super().of({**values, "rows": tuple(values.get("rows", ()))})

    @classmethod
    def joined(cls, parts: Iterable[Self]) -> Self:
        """Concatenate the responses to several requests."""
        found = list(parts)
        sums = {
            name: None if getattr(found[-1], name) is None else sum(getattr(one, name) for one in found)
            for name in ("learnt", "corrected", "same")
        }
        return cls(found[-1].model, found[-1].sequence, tuple(row for one in found for row in one.rows), **sums)


@dataclass(frozen=True)
class Job(_Answered):
    """Long work, such as a fit.

    Attributes
    ----------
    model : str
    sequence : int
        Number of the job in the journal of the model.
    state : str
        "waiting", "running", "done", "failed" or "cancelled".
    created, ended : float
        Seconds since 1970; `ended` is None while it has not ended.
    progress : dict or None
        Progress of a running job.
    outcome : dict or None
        Result, or the reason of a failure.
    """

    model: str
    sequence: int
    state: str = "done"
    created: float | None = None
    ended: float | None = None
    progress: dict[str, Any] | None = None
    outcome: dict[str, Any] | None = field(default=None, repr=False)

    @property
    def has_ended(self) -> bool:
        """True if the job is done, has failed, or was cancelled."""
        return self.state in ENDED


@dataclass(frozen=True)
class State(_Answered):
    """State of a model: equal digests mean models that are equal bit for bit.

    Attributes
    ----------
    model : str
    sequence : int
        The last journal record that it has learnt.
    digest : str
        The SHA-256 of the model.
    """

    model: str
    sequence: int
    digest: str


@dataclass(frozen=True)
class Event:
    """An event of a service.

    Attributes
    ----------
    id : int
        Later events have higher numbers.
    kind : str
        "decision", "drift", "job", "state" or "rejected"; "lost" if some events could not be sent.
    model : str
    data : dict
        Further items.
    """

    id: int
    kind: str
    model: str
    data: dict[str, Any]
