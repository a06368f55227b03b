"""Costs of a fit on a cluster: constants measured on one run, and their predictions for others."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

SCAN, SCAN_JOIN, LEARN, MERGE = "sslart-scan", "sslart-scan-join", "sslart-learn", "sslart-merge"


@dataclass(frozen=True)
class Costs:
    """T(n, w) = (read + scan + learn) · n / w + merges + rest.

    Attributes
    ----------
    read, scan, learn : float
        Seconds of a worker for each row: reading it twice, ranges and classes in the first pass, boxes in the second.
    merge : float
        Seconds of a worker to join the boxes of some partitions.
    fan_in : int
        How many results one merge joins.
    rest : float
        Seconds in which no worker has anything to do: results are gathered, and the client computes evidence.
    """

    read: float
    scan: float
    learn: float
    merge: float
    fan_in: int
    rest: float

    @classmethod
    def of(cls, found: Mapping[str, Any], fan_in: int) -> Costs:
        """Return the constants of one measured run."""
        tasks, n_rows, n_workers = found["tasks"], found["rows"], found["workers"]
        seconds = {name: one["seconds"] for name, one in tasks.items()}
        n_merges = tasks.get(MERGE, {"tasks": 0})["tasks"]
        scanning = seconds.get(SCAN, 0.0) + seconds.get(SCAN_JOIN, 0.0)
        known = scanning + seconds.get(LEARN, 0.0) + seconds.get(MERGE, 0.0)
        return cls(
            (sum(seconds.values()) - known) / n_rows,
            scanning / n_rows,
            seconds.get(LEARN, 0.0) / n_rows,
            seconds.get(MERGE, 0.0) / max(n_merges, 1),
            fan_in,
            max(0.0, found["seconds"] - sum(seconds.values()) / n_workers),
        )

    @property
    def per_row(self) -> float:
        """Seconds of a worker for each row, in both passes."""
        return self.read + self.scan + self.learn

    def merges(self, n_parts: int) -> list[int]:
        """Return the number of merges on each level of the tree."""
        levels = []
        while n_parts > 1:
            n_parts = math.ceil(n_parts / self.fan_in)
            levels.append(n_parts)
        return levels

    def merging(self, n_parts: int, n_workers: int) -> float:
        """Return the seconds of all merges: each level waits for the one below."""
        return self.merge * sum(math.ceil(level / n_workers) for level in self.merges(n_parts))

    def seconds(self, n_rows: int, n_parts: int, n_workers: int) -> float:
        """Return the seconds that a fit takes."""
        per_worker = math.ceil(n_parts / n_workers) / n_parts  # the share of the rows that the busiest worker has
        return self.per_row * n_rows * per_worker + self.merging(n_parts, n_workers) + self.rest

    def serial(self, n_parts: int) -> float:
        """Return the seconds that no number of workers saves: one merge per level, and the rest."""
        return self.merge * len(self.merges(n_parts)) + self.rest

    def workers_at_half(self, n_rows: int, n_parts: int) -> int:
        """Return the number of workers past which more than half of the time is the serial part."""
        return math.floor(self.per_row * n_rows / self.serial(n_parts))
