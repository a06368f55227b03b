"""Access tokens: random, shown once, and stored as a hash only."""

from __future__ import annotations

import hashlib
import secrets
import time
from typing import Any, NamedTuple

SCOPES = ("read", "learn", "admin")  # each includes those before it
RANDOM_BYTES = 32
PREFIX = "sslart_"


class Token(NamedTuple):
    """A token: its name, its scopes, and the time of its creation."""

    name: str
    scopes: frozenset[str]
    created: float


def token_hash(secret: str) -> bytes:
    """Return the hash that a token is kept as. The secret is random and long, so that a fast hash is enough."""
    return hashlib.sha256(secret.encode()).digest()


def add_token(connection: Any, name: str, scope: str) -> str:
    """Add a token with a name, and return its secret, which is kept nowhere."""
    if scope not in SCOPES:
        raise ValueError(f"There is no scope {scope!r}: give one of {', '.join(SCOPES)}.")
    if not name or len(name) > 100 or not name.isprintable():
        raise ValueError("A token has a name of 1 to 100 printable characters, such as that of a person or a machine.")
    if connection.execute("SELECT 1 FROM tokens WHERE name = ?", (name,)).get is not None:
        raise ValueError(f"There is a token named {name!r}: revoke it first, or give another name.")
    secret = PREFIX + secrets.token_urlsafe(RANDOM_BYTES)
    scopes = SCOPES[: SCOPES.index(scope) + 1]
    connection.execute(
        "INSERT INTO tokens (name, hash, scopes, created) VALUES (?, ?, ?, ?)",
        (name, token_hash(secret), " ".join(scopes), time.time()),
    )
    return secret


def revoke_token(connection: Any, name: str) -> None:
    """Remove a token, which is then refused."""
    connection.execute("DELETE FROM tokens WHERE name = ?", (name,))
    if not connection.changes():
        raise ValueError(f"There is no token named {name!r}.")


def tokens(connection: Any) -> dict[bytes, Token]:
    """Return all tokens by their hash."""
    rows = connection.execute("SELECT hash, name, scopes, created FROM tokens ORDER BY name")
    return {digest: Token(name, frozenset(scopes.split()), created) for digest, name, scopes, created in rows}
