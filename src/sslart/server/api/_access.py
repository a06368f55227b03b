"""Access control: tokens, their scopes, and a rate limit on wrong tokens."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict, deque
from typing import Any

from fastapi import Depends, Request
from fastapi.routing import APIRoute

from sslart.server.api._errors import ApiError
from sslart.server.store import Store
from sslart.server.store._store import SCOPES, Token, add_token, revoke_token, token_hash, tokens

LOCAL = Token("local", frozenset(SCOPES), 0.0)  # on loopback, where there are no tokens
MAX_FAILURES = 10
SECONDS_OF_FAILURES = 60.0
MAX_CLIENTS = 10_000


class Failures:
    """Counters of recent wrong tokens per client."""

    def __init__(self) -> None:
        self._times: OrderedDict[str, deque[float]] = OrderedDict()
        self._lock = threading.Lock()

    def add(self, client: str) -> None:
        """Count a wrong token."""
        with self._lock:
            times = self._times.setdefault(client, deque(maxlen=MAX_FAILURES))
            times.append(time.monotonic())
            self._times.move_to_end(client)
            if len(self._times) > MAX_CLIENTS:
                self._times.popitem(last=False)

    def seconds_to_wait(self, client: str) -> int:
        """Return for how many seconds a client is not listened to; 0 where it is."""
        times = self._times.get(client)
        if times is None or len(times) < MAX_FAILURES:
            return 0
        return max(0, int(times[0] + SECONDS_OF_FAILURES - time.monotonic()))


class Access:
    """The tokens of a store.

    Parameters
    ----------
    store : Store
    needs_token : bool
        Whether a token is needed although there is none yet: beyond loopback.
    """

    def __init__(self, store: Store, *, needs_token: bool) -> None:
        self._store, self._needs_token = store, needs_token
        self._tokens = tokens(store.reader())
        self.failures = Failures()

    def known(self) -> list[Token]:
        """Return all tokens, without their secrets."""
        return list(self._tokens.values())

    def check(self, authorization: str | None, client: str) -> Token:
        """Return the token that a request was sent with, or raise an ApiError."""
        if not self._tokens and not self._needs_token:
            return LOCAL
        wait = self.failures.seconds_to_wait(client)
        if wait:
            raise ApiError(429, "Too many wrong tokens: try again later.", {"retry-after": str(wait)})
        kind, _, secret = (authorization or "").partition(" ")
        token = self._tokens.get(token_hash(secret.strip())) if kind.lower() == "bearer" else None
        if token is None:
            if authorization is not None:
                self.failures.add(client)
            raise ApiError(
                401, "A token is needed: send the header Authorization: Bearer TOKEN.", {"www-authenticate": "Bearer"}
            )
        return token

    def add(self, name: str, scope: str) -> str:
        """Add a token, and return its secret."""
        secret = self._store.submit_own(lambda connection: add_token(connection, name, scope)).result()
        self._tokens = tokens(self._store.reader())
        return secret

    def revoke(self, name: str) -> None:
        """Remove a token."""
        self._store.submit_own(lambda connection: revoke_token(connection, name)).result()
        self._tokens = tokens(self._store.reader())


_SCOPES: dict[Any, str] = {}  # of the functions that check tokens


def actor(scope: str) -> Any:
    """Return a dependency that checks the scope of a request's token and returns the name of the token."""

    async def check(request: Request) -> str:
        token: Token = request.scope["sslart.token"]
        if scope not in token.scopes:
            raise ApiError(403, f"The token {token.name!r} has not the scope {scope!r}.")
        return token.name

    _SCOPES[check] = scope
    return Depends(check)


def scope_of(route: APIRoute) -> str | None:
    """Return the scope that a token needs at a path; None where none is asked for."""
    found = (_SCOPES.get(one.call) for one in route.dependant.dependencies)
    return next((scope for scope in found if scope is not None), None)
