"""Codes that open the studio once: each is exchanged for a token, which the browser keeps."""

from __future__ import annotations

import hmac
import secrets
import threading

from sslart.server.api._access import Access
from sslart.server.api._errors import ApiError

MAX_TOKENS = 10  # of browsers: the oldest are revoked
PREFIX = "studio-"
USED = (
    "This address was used before, or is of an earlier start: start sslart studio again, and open the address that it "
    "prints."
)


class Sessions:
    """The codes of one start of the studio, and the tokens of the browsers that have used one.

    Parameters
    ----------
    access : Access
        Of the service.
    code : str
        Opens the studio once.
    """

    def __init__(self, access: Access, code: str) -> None:
        self._access, self._code, self._lock = access, code, threading.Lock()

    def token(self, code: str, client: str) -> str:
        """Return a new token for a code, which is then used up, or raise an ApiError."""
        wait = self._access.failures.seconds_to_wait(client)
        if wait:
            raise ApiError(429, "Too many wrong codes: try again later.", {"retry-after": str(wait)})
        with self._lock:
            if not self._code or not hmac.compare_digest(code.encode(), self._code.encode()):
                self._access.failures.add(client)
                raise ApiError(401, USED)
            self._code = ""
            self._revoke_old()
            return self._access.add(f"{PREFIX}{secrets.token_hex(4)}", "admin")

    def _revoke_old(self) -> None:
        own = [one for one in self._access.known() if one.name.startswith(PREFIX)]
        for token in sorted(own, key=lambda one: one.created)[: max(0, len(own) - MAX_TOKENS + 1)]:
            self._access.revoke(token.name)


def new_code() -> str:
    """Return a random code."""
    return secrets.token_urlsafe(24)
