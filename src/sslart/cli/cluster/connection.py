"""A cluster for one command: that of a scheduler, or workers on this machine."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sslart._utils.notes import note
from sslart._utils.optional import optional

DASK_HELP = "read the files by the workers of a dask cluster, whose memory need not hold the table"
SCHEDULER_HELP = "of --dask: address of the scheduler, such as tcp://host:8786; else workers on this machine"
SECONDS_TO_CONNECT = 20


def check_scheduler(scheduler: str | None, use_dask: bool) -> None:
    """Raise a ValueError where an address is given and no cluster is wanted."""
    if scheduler is not None and not use_dask:
        raise ValueError("--scheduler is for a dask cluster: add --dask, or leave --scheduler out.")


@contextmanager
def connected(scheduler: str | None, *, quiet: bool) -> Iterator[None]:
    """Let dask work on a cluster.

    Parameters
    ----------
    scheduler : str or None
        Address of a scheduler; None: workers are started on this machine, and stopped at the end.
    quiet : bool
        Whether not to name the page on which dask shows the work.
    """
    distributed = optional("distributed", "dask")
    try:
        workers = {"dashboard_address": ":0", "silence_logs": logging.ERROR} if scheduler is None else {}
        client = distributed.Client(scheduler, timeout=SECONDS_TO_CONNECT, **workers)
    except (OSError, ValueError) as error:
        raise ValueError(
            f"There is no dask scheduler at {scheduler}: start one with the command dask scheduler, or leave "
            f"--scheduler out. ({error})"
        ) from error
    with client:
        if not quiet:
            note(f"dask shows its work at {client.dashboard_link}")
        yield


def matching_files(pattern: str) -> list[str]:
    """Return the files that a pattern such as part-*.parquet names, or those in a folder, sorted; at least one."""
    path = Path(pattern)
    found = path.iterdir() if path.is_dir() else Path(path.anchor).glob(str(path.relative_to(path.anchor)))
    files = sorted(str(one.resolve()) for one in found if one.is_file())
    if not files:
        raise FileNotFoundError(
            f"No file matches {pattern}: check the name. A pattern such as 'part-*.parquet' needs quotation marks."
        )
    return files
