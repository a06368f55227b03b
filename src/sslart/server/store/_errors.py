"""Why a store cannot do what is asked of it."""

from __future__ import annotations


class StoreError(OSError):
    """A store that cannot be used as it is. The message names the cause and the remedy."""


class StoreBusyError(StoreError):
    """More waits to be written than may wait: the request can be repeated after a moment."""


class NotWritableError(StoreError):
    """Nothing can be written now: the disk is full or read-only, or has failed. What was read before stays readable."""


class DamagedError(StoreError):
    """What is in the store is not what was written."""
