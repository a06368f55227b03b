"""The web server's side of a connection: the head of a request has a limit in size and in time."""

from __future__ import annotations

import asyncio
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

MAX_HEAD_BYTES = 2**19  # of the first line and all headers; what is read at once comes on top
SECONDS_FOR_HEAD = 30.0


class BoundedProtocol(HttpToolsProtocol):
    """A connection with limits on the size of a request head, and on the time to receive it.

    The server itself would keep a head of any length in memory, and wait for the rest of it for ever: before a token is
    looked at.
    """

    _timer: asyncio.TimerHandle | None = None
    _n_bytes = 0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to wait for the first head."""
        super().connection_made(transport)
        self._begin()

    def on_message_begin(self) -> None:
        """Begin with a new head."""
        super().on_message_begin()
        self._begin()

    def on_headers_complete(self) -> None:
        """Stop the timer of the head; the body has the limits of its path."""
        self._end()
        super().on_headers_complete()

    def data_received(self, data: bytes) -> None:
        """Read some bytes, and refuse a head that is too long."""
        super().data_received(data)
        if self._timer is not None:
            self._n_bytes += len(data)
            if self._n_bytes > MAX_HEAD_BYTES:
                self._refuse(b"431 Request Header Fields Too Large", b"The headers are too long.")

    def send_400_response(self, msg: str) -> None:
        """Reject an unparsable request with a JSON error instead of the plain text of the server."""
        self._refuse(b"400 Bad Request", b"The request cannot be read as HTTP, or its path is too long.")

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the connection."""
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

    def _refuse(self, status: bytes, words: bytes) -> None:
        self._end()
        if not self.transport.is_closing():
            self.transport.write(_answer(status, b'{"error": "' + words + b'"}'))
            self.transport.close()


def _answer(status: bytes, content: bytes) -> Any:
    head = (status, b"content-type: application/json", b"content-length: %d" % len(content), b"connection: close")
    return b"HTTP/1.1 " + b"\r\n".join(head) + b"\r\n\r\n" + content
