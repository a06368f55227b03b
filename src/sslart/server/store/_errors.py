"""Errors of the store."""

from __future__ import annotations


class StoreError(OSError):
    """Raised for an unusable store. The message names the cause and the remedy."""


class StoreBusyError(StoreError):
    """More waits to be written than may wait: the request can be repeated after a moment."""


class NotWritableError(StoreError):
    """Raised when nothing can be written: the disk is full, read-only, or has failed. Reading still works."""


class DamagedError(StoreError):
    """Raised when stored bytes differ from the written ones."""
