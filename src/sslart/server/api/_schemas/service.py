"""Responses of the operator endpoints."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field


class _Answer(BaseModel):
    model_config = ConfigDict(extra="forbid")


class Live(_Answer):
    """Liveness of the service."""

    live: bool


class Ready(_Answer):
    """Readiness of the service: true once the models have replayed their journals."""

    ready: bool
    writable: bool = Field(description="whether the store can be written")
    models: dict[str, int] = Field(description="how many models are in each state")


class TokenEntry(_Answer):
    """A token, without its secret."""

    name: str
    scopes: list[Literal["read", "learn", "admin"]]
    created: float = Field(description="seconds since 1970")


class Tokens(_Answer):
    """All tokens."""

    tokens: list[TokenEntry]


class NewToken(_Answer):
    """A new token with its secret, which is shown here and nowhere else."""

    name: str
    scope: Literal["read", "learn", "admin"]
    token: str = Field(description="to be sent as Authorization: Bearer TOKEN")


class Backup(_Answer):
    """A copy of the store."""

    file: str = Field(description="its path in the folder of the store")
    bytes: int


class AuditEntry(_Answer):
    """Entry of the audit log: actor, action, and time."""

    entry: int
    time: float = Field(description="seconds since 1970")
    actor: str
    action: str
    model: str = Field(description="its name; empty where it was no model")
    detail: dict[str, Any]


class Audit(_Answer):
    """The audit log, the oldest entry first."""

    audit: list[AuditEntry]
