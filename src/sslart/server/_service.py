"""The service: a database, its models and a web server, in a process or a thread."""

from __future__ import annotations

import asyncio
import ipaddress
import logging
import socket
import sys
import threading
from collections.abc import Callable, Iterable
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any, Self

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from sslart._utils.optional import optional
from sslart.server._logging import start_logging
from sslart.server.api._app import LOOPBACK, create_app
from sslart.server.api._middleware import Access
from sslart.server.models._registry import Registry
from sslart.server.models._settings import Limits
from sslart.server.store import Store
from sslart.server.store._store import tokens

SECONDS_TO_STOP = 20
SECONDS_BETWEEN_LOOKS = 0.005
SWITCH_SECONDS = 0.0005  # how long a thread may keep others from the interpreter: predictions are short
MAX_CONNECTIONS = 1000
MAX_HEAD_BYTES = 2**19  # of the first line and all headers; what is read at once comes on top
SECONDS_FOR_HEAD = 30.0

logger = logging.getLogger("sslart.server")


class BoundedProtocol(HttpToolsProtocol):
    """A connection with limits on the size of a request head, and on the time to receive it.

    Without these limits, the server would buffer a head of any length, and wait for it forever, before a token is
    checked.
    """

    _timer: asyncio.TimerHandle | None = None
    _n_bytes = 0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Start the timer for the first head."""
        super().connection_made(transport)
        self._begin()

    def on_message_begin(self) -> None:
        """Start a new head."""
        super().on_message_begin()
        self._begin()

    def on_headers_complete(self) -> None:
        """Stop the timer of the head; the body has the limits of its path."""
        self._end()
        super().on_headers_complete()

    def data_received(self, data: bytes) -> None:
        """Read some bytes; refuse a head that is too long."""
        super().data_received(data)
        if self._timer is not None:
            self._n_bytes += len(data)
            if self._n_bytes > MAX_HEAD_BYTES:
                self._refuse(b"431 Request Header Fields Too Large", b"The headers are too long.")

    def send_400_response(self, msg: str) -> None:
        """Reject an unparsable request with a JSON error instead of plain text."""
        self._refuse(b"400 Bad Request", b"The request cannot be read as HTTP, or its path is too long.")

    def connection_lost(self, exc: Exception | None) -> None:
        """Clean up after the connection."""
        self._end()
        super().connection_lost(exc)

    def _begin(self) -> None:
        self._end()
        self._n_bytes = 0
        self._timer = self.loop.call_later(SECONDS_FOR_HEAD, self._refuse_slow)

    def _end(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _refuse_slow(self) -> None:
        if self._n_bytes:
            self._refuse(b"408 Request Timeout", b"The headers came too slowly.")
        else:
            self.transport.close()

    def _refuse(self, status: bytes, text: bytes) -> None:
        self._end()
        if not self.transport.is_closing():
            content = b'{"error": "' + text + b'"}'
            head = b"content-type: application/json\r\ncontent-length: %d\r\nconnection: close" % len(content)
            self.transport.write(b"HTTP/1.1 " + status + b"\r\n" + head + b"\r\n\r\n" + content)
            self.transport.close()


def _web_server(app: Any, registry: Registry, **options: Any) -> Any:
    """Return a web server for an application; event streams end when a signal stops it."""
    uvicorn = optional("uvicorn", "serve")
    server = uvicorn.Server(
        uvicorn.Config(
            app,
            http=BoundedProtocol,
            log_config=None,
            access_log=False,
            ws="none",
            lifespan="on",
            timeout_graceful_shutdown=SECONDS_TO_STOP,
            **options,
        )
    )
    stop = server.handle_exit

    def handle_exit(number: int, frame: FrameType | None) -> None:
        registry.events.end()  # else the server would wait for subscribers
        stop(number, frame)

    server.handle_exit = handle_exit
    return server


@dataclass(frozen=True)
class Options:
    """Options of the service process, as `sslart serve` has them."""

    folder: Path
    host: str = "127.0.0.1"
    port: int = 8707  # 0 takes any that is free
    allow_hosts: tuple[str, ...] = ()  # further names by which it may be called
    tls_cert: Path | None = None
    tls_key: Path | None = None
    behind_proxy: bool = False  # a proxy before the service does TLS
    log_all: bool = False
    limits: Limits = field(default_factory=Limits)


def is_loopback(host: str) -> bool:
    """Return True if an address is reachable from this machine only."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def run(options: Options, tell: Callable[[str], None] = print, pages: Callable[[Access], Any] | None = None) -> None:
    """Serve until a signal arrives; `tell` gets the address where the service listens.

    `pages` returns an ASGI application with pages for browsers, which answers below /studio/; a token is then needed.
    """
    optional("uvicorn", "serve")
    _check_safe(options)
    start_logging()
    sys.setswitchinterval(SWITCH_SECONDS)
    with closing(_listening(options.host, options.port)) as listening, Store(options.folder) as store:
        beyond = not is_loopback(options.host) or options.behind_proxy
        if beyond and not tokens(store.reader()):
            raise ValueError(
                "To be reachable from other machines, the service needs tokens: sslart serve "
                f"{options.folder} --add-token NAME --scope admin creates one."
            )
        hosts = (*LOOPBACK, options.host, *options.allow_hosts)
        registry = Registry(store, options.limits)
        needs_token = beyond or pages is not None
        app = create_app(registry, hosts=hosts, needs_token=needs_token, log_all=options.log_all, pages=pages)
        if store.why_not_writable is not None:
            logger.error(store.why_not_writable)
        scheme = "http" if options.tls_cert is None else "https"
        host = f"[{options.host}]" if ":" in options.host else options.host
        tell(f"{scheme}://{host}:{listening.getsockname()[1]}")
        server = _web_server(
            app,
            registry,
            server_header=False,
            proxy_headers=options.behind_proxy,
            limit_concurrency=MAX_CONNECTIONS,
            timeout_keep_alive=30,
            ssl_certfile=None if options.tls_cert is None else str(options.tls_cert),
            ssl_keyfile=None if options.tls_key is None else str(options.tls_key),
        )
        server.run(sockets=[listening])


def _check_safe(options: Options) -> None:
    if (options.tls_cert is None) != (options.tls_key is None):
        raise ValueError("Give both --tls-cert and --tls-key.")
    for path in (options.tls_cert, options.tls_key):
        if path is not None and not path.is_file():
            raise FileNotFoundError(f"There is no file {path}: check the name.")
    if not is_loopback(options.host) and options.tls_cert is None and not options.behind_proxy:
        raise ValueError(
            "To other machines tokens would be sent unencrypted: give --tls-cert and --tls-key, or --behind-proxy "
            "if a proxy on this machine terminates TLS."
        )


def _listening(host: str, port: int) -> socket.socket:
    found = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET)
    found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        found.bind((host, port))
    except OSError as error:
        found.close()
        raise ValueError(f"{host}:{port} cannot be used ({error.strerror}): give another --port.") from error
    found.listen()  # who comes before all is started waits
    return found


class Service:
    """A service that runs in a thread of this process, created by `serve`; also a context manager.

    Attributes
    ----------
    url : str
        Address of the service.
    """

    def __init__(self, registry: Registry, app: Any, port: int) -> None:
        self._registry, self._listening = registry, socket.create_server(("127.0.0.1", port))
        self.url = f"http://127.0.0.1:{self._listening.getsockname()[1]}"
        self._server = _web_server(app, registry)
        run = {"sockets": [self._listening]}
        self._thread = threading.Thread(target=self._server.run, kwargs=run, name="serve", daemon=True)
        self._thread.start()
        while not self._server.started:
            self._thread.join(SECONDS_BETWEEN_LOOKS)
            if not self._thread.is_alive():
                self._listening.close()
                raise RuntimeError("The service could not be started: see the log.")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.stop()

    def stop(self) -> None:
        """Finish pending requests, save the learnt state, and stop the service."""
        self._registry.events.end()  # else the server would wait for subscribers
        self._server.should_exit = True
        self._thread.join()
        self._listening.close()


def serve(
    folder: str | Path,
    *,
    port: int = 0,
    limits: Limits | None = None,
    hosts: Iterable[str] = LOOPBACK,
    needs_token: bool = False,
    log_all: bool = False,
    pages: Callable[[Access], Any] | None = None,
) -> Service:
    """Serve the models of a folder in a thread of this process, on this machine only.

    For notebooks, tests and examples; `sslart serve` runs a service in its own process.

    Parameters
    ----------
    folder : path
        Folder of the database; created if missing.
    port : int, default=0
        Port to listen on; 0 for any free port.
    limits : Limits, default=None
        Limits on requests; None for the defaults.
    hosts : iterable of str
        Host names that clients may use; by default those of this machine.
    needs_token : bool, default=False
        Whether requests need a token even if none exists yet.
    log_all : bool, default=False
        Whether every request is logged.
    pages : callable, default=None
        Returns an ASGI application with pages for browsers, which answers below /studio/.

    Returns
    -------
    Service

    Examples
    --------
    >>> import tempfile, urllib.request
    >>> from sslart.server import serve
    >>> with tempfile.TemporaryDirectory() as folder, serve(folder) as service:
    ...     urllib.request.urlopen(f"{service.url}/livez").read()
    b'{"live":true}'
    """
    registry = Registry(Store(Path(folder)), limits)
    app = create_app(registry, hosts=hosts, needs_token=needs_token, log_all=log_all, pages=pages)
    try:
        return Service(registry, app, port)
    except BaseException:
        registry.store.close()
        raise
