"""The outcome of long work: whether a record of kind fit has been done, has failed, or was cancelled."""

from __future__ import annotations

import json
import time
from typing import Any, NamedTuple

WAITING, DONE, FAILED, CANCELLED = "waiting", "done", "failed", "cancelled"


class JobRow(NamedTuple):
    """A job as the store knows it; `outcome` has the result, or the reason why there is none."""

    model: int
    sequence: int
    state: str
    created: float
    ended: float | None
    outcome: dict[str, Any] | None


def add_job(connection: Any, model: int, sequence: int) -> None:
    """Add a job that waits for its turn."""
    connection.execute(
        "INSERT INTO jobs (model, sequence, state, created) VALUES (?, ?, ?, ?)",
        (model, sequence, WAITING, time.time()),
    )


def end_job(connection: Any, model: int, sequence: int, state: str, outcome: dict[str, Any]) -> bool:
    """End a job that has not ended, and return whether it had not."""
    connection.execute(
        "UPDATE jobs SET state = ?, ended = ?, outcome = ? WHERE model = ? AND sequence = ? AND state = ?",
        (state, time.time(), json.dumps(outcome, ensure_ascii=False), model, sequence, WAITING),
    )
    return bool(connection.changes())


def job(connection: Any, model: int, sequence: int) -> JobRow | None:
    """Return one job; None where there is none."""
    return next(iter(_jobs(connection, "WHERE model = ? AND sequence = ?", (model, sequence))), None)


def jobs(connection: Any, most: int) -> list[JobRow]:
    """Return the newest jobs of all models, the newest first."""
    return _jobs(connection, "ORDER BY created DESC LIMIT ?", (most,))


def _jobs(connection: Any, where: str, values: tuple[Any, ...]) -> list[JobRow]:
    rows = connection.execute(f"SELECT model, sequence, state, created, ended, outcome FROM jobs {where}", values)
    return [JobRow(*row)._replace(outcome=None if row[-1] is None else json.loads(row[-1])) for row in rows]


def last_fit(connection: Any, model: int, through: int, *, by_labels: bool = True) -> int:
    """Return the sequence number of the last fit that was done up to a record; 0 where there was none.

    Without `by_labels`, those are left out that new labels led to, not a person.
    """
    others = "" if by_labels else "AND NOT json_extract(outcome, '$.by_labels')"
    found = connection.execute(
        f"SELECT max(sequence) FROM jobs WHERE model = ? AND sequence <= ? AND state = ? {others}",
        (model, through, DONE),
    ).get
    return found or 0


def labels_at_fit(connection: Any, model: int) -> tuple[int, int, bool]:
    """Return the number of labels at the last fit, the number since then, and True if a fit is pending."""
    last = _jobs(connection, "WHERE model = ? AND state = ? ORDER BY sequence DESC LIMIT 1", (model, DONE))
    n_then = sum(last[0].outcome["labels"].values()) if last and last[0].outcome else 0
    since = last[0].sequence if last else 0
    n_since = connection.execute(
        "SELECT count(*) FROM labels WHERE model = ? AND sequence > ? AND label IS NOT NULL", (model, since)
    ).get
    waiting = connection.execute("SELECT 1 FROM jobs WHERE model = ? AND state = ? LIMIT 1", (model, WAITING)).get
    return n_then, n_since, waiting is not None
