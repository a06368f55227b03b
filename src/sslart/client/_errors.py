"""Errors of a service as exceptions, each with the status and the message of the answer."""

from __future__ import annotations


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
    """Raised for a request that is malformed, or incompatible with the model.

    Parameters
    ----------
    message : str
    status : int or None, default=None
    """


class NotFoundError(ServiceError, LookupError):
    """There is no such model, row or job.

    Parameters
    ----------
    message : str
    status : int or None, default=None
    """


class AccessError(ServiceError, PermissionError):
    """A token is needed, or the one that was sent does not allow this.

    Parameters
    ----------
    message : str
    status : int or None, default=None
    """


class UnavailableError(ServiceError):
    """The service cannot do it now, such as with too much work or a full disk: try again later.

    Parameters
    ----------
    message : str
    status : int or None, default=None
    """


class UnreachableError(ServiceError, ConnectionError):
    """There was no answer.

    Parameters
    ----------
    message : str
    status : int or None, default=None
    """


_KINDS: dict[int, type[ServiceError]] = {
    400: WrongRequestError,
    401: AccessError,
    403: AccessError,
    404: NotFoundError,
    409: WrongRequestError,
    413: WrongRequestError,
    415: WrongRequestError,
    421: AccessError,
    422: WrongRequestError,
    429: UnavailableError,
    503: UnavailableError,
    507: UnavailableError,
}


def error_of(status: int, message: str) -> ServiceError:
    """Return the exception for an answer.

    Examples
    --------
    >>> from sslart.client._errors import error_of
    >>> error_of(404, "There is no model 'flowers'.")
    NotFoundError("There is no model 'flowers'.")
    """
    return _KINDS.get(status, ServiceError)(message, status)
