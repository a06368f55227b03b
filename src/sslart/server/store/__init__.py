"""The database of the service: one SQLite file with journal, snapshots, labels, jobs, tokens and audit log."""

from sslart.server.store._store import Store

__all__ = ["Store"]
