"""The service in a thread of this process: for notebooks, tests and examples."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, Self

from sslart._utils.optional import optional
from sslart.server._protocol import BoundedProtocol
from sslart.server.api._access import Access
from sslart.server.api._app import LOOPBACK, create_app
from sslart.server.models._hub import Hub
from sslart.server.models._limits import Limits
from sslart.server.store import Store

SECONDS_TO_STOP = 20
SECONDS_BETWEEN_LOOKS = 0.005


class Service:
    """A service that runs in a thread of this process; made by `serve`. It is a context manager, too.

    Attributes
    ----------
    url : str
        Where it listens.
    """

    def __init__(self, hub: Hub, app: Any, port: int) -> None:
        uvicorn = optional("uvicorn", "serve")
        self._hub, self._listening = hub, socket.create_server(("127.0.0.1", port))
        self.url = f"http://127.0.0.1:{self._listening.getsockname()[1]}"
        config = uvicorn.Config(
            app,
            http=BoundedProtocol,
            log_config=None,
            access_log=False,
            ws="none",
            lifespan="on",
            timeout_graceful_shutdown=SECONDS_TO_STOP,
        )
        self._server = uvicorn.Server(config)
        run = {"sockets": [self._listening]}
        self._thread = threading.Thread(target=self._server.run, kwargs=run, name="serve", daemon=True)
        self._thread.start()
        while not self._server.started:
            self._thread.join(SECONDS_BETWEEN_LOOKS)
            if not self._thread.is_alive():
                self._listening.close()
                raise RuntimeError("The service could not be started: the log has the reason.")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.stop()

    def stop(self) -> None:
        """Finish pending requests, save the learnt state, and stop the service."""
        self._hub.events.end()  # else the server would wait for those who listen
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

    It is for notebooks, tests and examples; `sslart serve` runs a service in a process of its own.

    Parameters
    ----------
    folder : path
        Where the store is; made where it does not exist.
    port : int, default=0
        Where it listens; 0 takes any port that is free.
    limits : Limits, default=None
        How much it takes on at once; None for the usual limits.
    hosts : iterable of str
        The names by which it may be called; those of this machine if not given.
    needs_token : bool, default=False
        Whether a token is needed also where the store has none.
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
    hub = Hub(Store(Path(folder)), limits)
    app = create_app(hub, hosts=hosts, needs_token=needs_token, log_all=log_all, pages=pages)
    try:
        return Service(hub, app, port)
    except BaseException:
        hub.store.close()
        raise
