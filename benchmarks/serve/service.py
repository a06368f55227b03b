"""Our service in a separate process, with its memory and metrics."""

from __future__ import annotations

import os
import re
import resource
import subprocess
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from serve.data import LABEL, Table
from serve.web import Http, answers, wait_until

SECONDS_TO_STOP = 60.0


class Service:
    """A service that was started, and a connection to it."""

    def __init__(self, process: subprocess.Popen[str], url: str) -> None:
        self.process, self.url, self.http = process, url, Http(url)

    def fit(self, table: Table) -> None:
        """Fit a model to a table."""
        path = f"/v1/models/{table.name}?label={LABEL}&wait=300"
        self.http.send("PUT", path, table.csv(), {"Content-Type": "text/csv"})

    def metric(self, name: str, model: str | None = None) -> float:
        """Return a number that the service shows of itself."""
        label = "" if model is None else f'{{model="{model}"}}'
        found = re.search(rf"^{re.escape(name + label)} (\S+)$", self.http.send("GET", "/metrics").decode(), re.M)
        if found is None:
            raise KeyError(f"there is no metric {name}{label}")
        return float(found[1])

    def lag(self, model: str) -> float:
        """Return the number of rows that were accepted and not yet learnt."""
        return self.metric("sslart_journal_lag_rows", model)

    def catch_up(self, model: str) -> float:
        """Wait until all rows are learnt, and return the seconds it took."""
        return wait_until(lambda: self.metric("sslart_journal_lag_records", model) == 0, "learning what was accepted")

    def resident_mb(self) -> float:
        """Return the memory of the process."""
        return resident_mb(self.process.pid)


def resident_mb(pid: int) -> float:
    """Return the resident memory of a process in MB."""
    path = Path(f"/proc/{pid}/statm")
    if path.exists():
        return int(path.read_text().split()[1]) * resource.getpagesize() / 1e6
    shown = subprocess.run(["ps", "-o", "rss=", "-p", str(pid)], capture_output=True, text=True, check=True)
    return int(shown.stdout) * 1024 / 1e6


def processor_seconds(pid: int) -> float | None:
    """Return the processor time of a process and all that it has started; None where the system does not show it."""
    ticks, parents = dict[int, int](), dict[int, int]()
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text().rpartition(")")[2].split()
        except OSError:  # it has ended
            continue
        number = int(path.parent.name)
        ticks[number], parents[number] = int(fields[11]) + int(fields[12]), int(fields[1])
    own = {pid} & ticks.keys()
    while more := {number for number, parent in parents.items() if parent in own} - own:
        own |= more
    return sum(ticks[number] for number in own) / os.sysconf("SC_CLK_TCK") if own else None


@contextmanager
def running(folder: Path, tables: Iterable[Table], *options: str) -> Iterator[Service]:
    """Run the service on a free port, with a model of each table; its log goes to a file in the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    command = [sys.executable, "-m", "sslart", "serve", str(folder / "store"), "--port", "0", *options]
    with (folder / "log").open("w") as log:
        process = subprocess.Popen(
            command,
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
            env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},
        )
    try:
        assert process.stdout is not None
        found = re.search(r"http://\S+", process.stdout.readline())
        if found is None:
            raise RuntimeError(f"The service did not start: {(folder / 'log').read_text()}")
        wait_until(lambda: answers(found[0], "/readyz"), "the start of the service")
        service = Service(process, found[0])
        for table in tables:
            service.fit(table)
        yield service
        service.http.close()
    finally:
        process.terminate()
        try:
            process.wait(SECONDS_TO_STOP)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        if process.stdout is not None:
            process.stdout.close()
