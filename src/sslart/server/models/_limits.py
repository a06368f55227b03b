"""Limits on the load of a service, and retention times."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Limits:
    """Limits of a service.

    Attributes
    ----------
    max_rows : int
        Rows in one request.
    max_body : int
        Bytes of a request, but for tables.
    max_table : int
        Bytes of an uploaded table or model.
    max_table_cells : int
        Cells of an uploaded table, however small it was packed.
    max_backlog : int
        Rows that were accepted and not yet learnt, per model; beyond, requests to learn are answered with 429.
    max_models : int
    keep_rows : int
        Of rows without a label, the newest so many stay available for fits and labels.
    snapshot_rows : int
        A snapshot is written after so many learnt rows.
    snapshot_seconds : float
        Or after so many seconds, where something was learnt.
    group_rows : int
        How many rows are learnt between two publications, at most.
    timeout : float
        Seconds for one request.
    keep_samples : bool
        Whether the rows of the last fit stay in memory, so that all samples can be shown at once.
    """

    max_rows: int = 10_000
    max_body: int = 2**24
    max_table: int = 2**30
    max_table_cells: int = 200_000_000
    max_backlog: int = 100_000
    max_models: int = 100
    keep_rows: int = 1_000_000
    snapshot_rows: int = 20_000
    snapshot_seconds: float = 60.0
    group_rows: int = 500
    timeout: float = 30.0
    keep_samples: bool = False
