"""Connection settings of both clients: address, token, timeouts, and the meaning of HTTP errors."""

from __future__ import annotations

import ipaddress
import ssl
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar
from urllib.parse import urlsplit

from sslart import __version__
from sslart._utils.optional import optional
from sslart.client._flows import Failure, Request

if TYPE_CHECKING:
    import httpx as httpx  # the clients have it from here
else:
    httpx = optional("httpx", "client")

TIMEOUT = 60.0
RETRIES = 5
SECONDS_TO_CONNECT = 10.0


@dataclass(frozen=True)
class Connection:
    """Connection to a service: address, token, timeout, and retries.

    Attributes
    ----------
    url : str
        Where it is, such as http://127.0.0.1:8707.
    token : str or None
    timeout : float
        Seconds for an answer.
    retries : int
        How often a request is repeated at most.
    ca_file : path or None
        Certificates to trust, such as that of the service itself.
    """

    url: str
    token: str | None = field(default=None, repr=False)
    timeout: float = TIMEOUT
    retries: int = RETRIES
    ca_file: str | Path | None = None

    def __post_init__(self) -> None:
        parts = urlsplit(self.url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError(f"{self.url!r} is not the address of a service: give one such as http://127.0.0.1:8707.")
        if parts.username is not None:
            raise ValueError("The address has a name or a password in it: leave it out, and give a token.")
        token = None if self.token is None else self.token.strip()
        if token is not None and not (token and token.isascii() and token.isprintable() and " " not in token):
            raise ValueError("The token is empty, or has characters that no token has: copy it again.")
        if not self.timeout > 0 or self.retries < 0:
            raise ValueError("timeout must be above 0, and retries at least 0.")
        object.__setattr__(self, "url", self.url.rstrip("/"))
        object.__setattr__(self, "token", token)

    def options(self) -> dict[str, Any]:
        """Return the options of the HTTP client."""
        headers = {"user-agent": f"sslart/{__version__}"}
        if self.token is not None:
            headers["authorization"] = f"Bearer {self.token}"
        verify = True if self.ca_file is None else ssl.create_default_context(cafile=self.ca_file)
        # a proxy of the environment is never asked for a service on this machine
        no_proxy = (
            {"mounts": dict.fromkeys(("http://", "https://", "all://"))}
            if _is_here(urlsplit(self.url).hostname or "")
            else {}
        )
        return {"base_url": self.url, "headers": headers, "timeout": self.timeout, "verify": verify, **no_proxy}

    def sending(self, request: Request, silence: float | None = None) -> dict[str, Any]:
        """Return the options for sending a request, without its body; `silence`: read timeout of a stream."""
        seconds = self.timeout + request.seconds if silence is None else silence
        limits = httpx.Timeout(seconds, connect=min(SECONDS_TO_CONNECT, self.timeout))
        where = {"method": request.method, "url": request.path, "params": request.query}
        return {**where, "headers": request.headers, "timeout": limits}


class BaseClient:
    """Base class of both clients: the connection and the HTTP client."""

    _http_kind: ClassVar[Any]

    def __init__(
        self,
        url: str = "http://127.0.0.1:8707",
        token: str | None = None,
        *,
        timeout: float = TIMEOUT,
        retries: int = RETRIES,
        ca_file: str | Path | None = None,
    ) -> None:
        self._connection = Connection(url, token, timeout, retries, ca_file)
        self._http = self._http_kind(**self._connection.options())

    @property
    def url(self) -> str:
        """Where the service is."""
        return self._connection.url

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.url!r})"


def _is_here(host: str) -> bool:
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def failure_of(error: Exception) -> Failure:
    """Return why there was no answer, in words."""
    return Failure("it took too long" if isinstance(error, httpx.TimeoutException) else str(error) or "it was cut off")
