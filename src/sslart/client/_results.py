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
        The cause and the cure, as the service states them.
    status : int or None, default=None
        The HTTP status of the answer; None where there was no answer.
    """

    def __init__(self, message: str, status: int | None = None) -> None:
        super().__init__(message)
        self.message, self.status = message, status


class WrongRequestError(ServiceError, ValueError):
    """Raised for a request that is malformed, or incompatible with the model."""


class NotFoundError(ServiceError, LookupError):
    """Raised where there is no such model, row or job."""


class AccessError(ServiceError, PermissionError):
    """Raised where a token is needed, or the one that was sent does not allow this."""


class UnavailableError(ServiceError):
    """Raised when the service cannot do it now, such as with too much work or a full disk: try again later."""


class UnreachableError(ServiceError, ConnectionError):
    """Raised when there was no answer."""


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
    """Base class of results: fields are filled by name from an answer; unknown items are ignored."""

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
        Of the class; where the model abstains, the highest.
    probabilities : dict
        The probability of each class, by its name.
    abstained : bool
    novelty : float
        From 0, as near to what was learnt as can be, to 1.
    novel : bool
        Whether the row is unlike what was learnt.
    row : int or None
        The number by which the row can be labelled later; of `decide` only.
    explanation : dict or None
        Where one was asked for.
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
        The last record of the journal that the model had learnt; where rows were kept, the record that has them. Of
        more rows than go into one request, that of the last request.
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
        """The number of each row, by which it can be labelled later; of `decide` only."""
        return [one.row for one in self]

    def to_frame(self) -> Any:
        """Return a pandas frame with a line for each row. Needs pandas."""
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
        The number of the record in the journal; of several requests, that of the last.
    rows : tuple of int
        The numbers of the rows.
    learnt, corrected, same : int or None
        Of labels: of how many rows they are the first, how many rows had another, which the next fit corrects, and how
        many had the same.
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
        """Return the answers to several requests as one."""
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
        Its number among the records of the model.
    state : str
        "waiting", "running", "done", "failed" or "cancelled".
    created, ended : float
        Seconds since 1970; `ended` is None while it has not ended.
    progress : dict or None
        While it is running.
    outcome : dict or None
        What came of it.
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
    """The state of a model: the same digest means the same model in every bit.

    Attributes
    ----------
    model : str
    sequence : int
        The last record of the journal that it has learnt.
    digest : str
        The SHA-256 of the model.
    """

    model: str
    sequence: int
    digest: str


@dataclass(frozen=True)
class Event:
    """Something that happened in a service.

    Attributes
    ----------
    id : int
        Later events have higher numbers.
    kind : str
        "decision", "drift", "job", "state" or "rejected"; "lost" where more came than could be sent.
    model : str
    data : dict
        The rest.
    """

    id: int
    kind: str
    model: str
    data: dict[str, Any]
