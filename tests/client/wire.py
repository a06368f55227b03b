"""A connection that can be cut: bytes go from a client to a service and back, until the test wants otherwise."""

from __future__ import annotations

import socket
import threading
from contextlib import suppress
from typing import Self
from urllib.parse import urlsplit

BYTES = 2**16


class Wire:
    """Listens on a port of its own, and passes bytes to and from a service.

    Attributes
    ----------
    drop_answers : bool
        Whether answers are thrown away, and their connections closed.
    is_cut : bool
        Whether connections are closed as soon as they are made.
    dropped : threading.Event
        Set when an answer was thrown away.
    """

    def __init__(self, target: str) -> None:
        self.target, self.drop_answers, self.is_cut = target, False, False
        self.dropped = threading.Event()
        self.n_connections = 0
        self._open: set[socket.socket] = set()
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listening.getsockname()[1]}"
        threading.Thread(target=self._accept, daemon=True).start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._listening.shutdown(socket.SHUT_RDWR)
        self._listening.close()
        self.cut()

    def cut(self) -> None:
        """Close all connections."""
        for one in list(self._open):
            with suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                near, _ = self._listening.accept()
                self.n_connections += 1
                threading.Thread(target=self._serve, args=(near,), daemon=True).start()

    def _serve(self, near: socket.socket) -> None:
        parts = urlsplit(self.target)
        with near, suppress(OSError):
            if self.is_cut:
                return
            with socket.create_connection((parts.hostname, parts.port or 80)) as far:
                self._open |= {near, far}
                back = threading.Thread(target=self._pass_back, args=(far, near), daemon=True)
                back.start()
                while content := near.recv(BYTES):
                    far.sendall(content)
                with suppress(OSError):
                    far.shutdown(socket.SHUT_RDWR)
                back.join()

    def _pass_back(self, far: socket.socket, near: socket.socket) -> None:
        with suppress(OSError):
            while content := far.recv(BYTES):
                if self.drop_answers:
                    self.dropped.set()
                    break
                near.sendall(content)
            near.shutdown(socket.SHUT_RDWR)
