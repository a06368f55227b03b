"""A service for tests: a process of its own, or an application in this process."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import httpx
import pandas as pd
from sklearn.datasets import load_iris

from sslart.server import serve
from sslart.server.models._settings import Limits

SECONDS_TO_START = 60.0


def wait_until_ready(http: httpx.Client) -> None:
    """Wait until all models of a service have learnt their journals."""
    end = time.monotonic() + SECONDS_TO_START
    while time.monotonic() < end:
        with suppress(httpx.TransportError):
            if http.get("/readyz").status_code == 200:
                return
        time.sleep(0.02)
    raise TimeoutError("the service is not ready")


class Process:
    """A service as users run it, in a process of its own on a free port."""

    def __init__(self, folder: Path, *options: str, environment: dict[str, str] | None = None) -> None:
        command = [sys.executable, "-m", "sslart", "serve", str(folder), "--port", "0", *options]
        self.process = subprocess.Popen(
            command,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, "OPENBLAS_NUM_THREADS": "1", **(environment or {})},
        )
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        found = re.search(r"https?://\S+", line)
        if found is None:
            raise RuntimeError(f"the service did not start: {line}{self.process.communicate()[1]}")
        self.url = found[0]
        self.http = httpx.Client(verify=False, base_url=self.url, timeout=60)

    def wait_until_ready(self) -> None:
        """Wait until all models have learnt their journals."""
        wait_until_ready(self.http)

    def kill(self) -> None:
        """End the process at once, as a loss of power does."""
        self.process.send_signal(signal.SIGKILL)
        self._end()

    def stop(self) -> str:
        """Stop the process as an operator does; return its log."""
        self.process.send_signal(signal.SIGTERM)
        return self._end()

    def _end(self) -> str:
        self.http.close()
        return self.process.communicate(timeout=60)[1]


@contextmanager
def running(folder: Path, *options: str) -> Iterator[Process]:
    """Run a service in a process of its own, ready to be used."""
    process = Process(folder, *options)
    try:
        process.wait_until_ready()
        yield process
    finally:
        if process.process.poll() is None:
            process.stop()


@contextmanager
def application(folder: Path, *, limits: Limits | None = None, **options: Any) -> Iterator[httpx.Client]:
    """Run the application in a thread of this process, behind a real web server; it is ready."""
    with (
        serve(folder, limits=limits, **options) as service,
        httpx.Client(verify=False, base_url=service.url, timeout=60) as client,
    ):
        wait_until_ready(client)
        yield client


def flowers(every: int = 5) -> pd.DataFrame:
    """Return the iris data with a label in every so many rows."""
    frame = load_iris(as_frame=True).frame
    names = {0: "setosa", 1: "versicolor", 2: "virginica"}
    frame["species"] = [names[label] if row % every == 0 else None for row, label in enumerate(frame.pop("target"))]
    frame.columns = [name.removesuffix(" (cm)").replace(" ", "_") for name in frame.columns]
    return frame


def rows_of(frame: pd.DataFrame) -> list[dict[str, float]]:
    """Return the features of a table as rows of requests."""
    return frame.drop(columns="species").to_dict("records")


def fit_flowers(client: Any, name: str = "flowers") -> None:
    """Let a service learn the iris data."""
    content = flowers().to_csv(index=False).encode()
    answer = client.put(f"/v1/models/{name}", params={"label": "species", "wait": 60}, content=content)
    assert answer.json()["state"] == "done", answer.text
