"""Load on a server from a separate process: wrk if it is installed, else the generator in this folder."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from serve.calls import Call
from serve.generator import joined
from serve.web import Http

HERE = Path(__file__).parent
N_WARMING = 20  # requests before the clock runs


class Generator:
    """Generator of the load.

    Parameters
    ----------
    own : bool
        Whether the generator in this folder is used although wrk is there.
    """

    def __init__(self, *, own: bool = False) -> None:
        self._wrk = None if own else shutil.which("wrk")

    @property
    def description(self) -> str:
        """The generator of the load, in words."""
        if self._wrk is None:
            return "the generator of the benchmark, in Python (wrk is not on this machine, or was not wanted)"
        shown = subprocess.run([self._wrk, "--version"], capture_output=True, text=True, check=False)
        found = re.search(r"wrk \D*([\d.]+)", shown.stdout)
        return f"wrk {found[1]}" if found else "wrk"

    def measure(self, url: str, call: Call, n_connections: int, seconds: float) -> dict[str, Any]:
        """Send requests over so many connections, on each the next when the last was answered.

        Returns
        -------
        dict
            `requests` and `rows` per second, `p50` and `p99` in milliseconds, and how many requests were `answered` and
            `failed`.
        """
        first = Http(url)
        for number in range(N_WARMING):
            first.call(call, number)
        first.close()
        with tempfile.NamedTemporaryFile(suffix=".bodies") as file:
            file.write(joined(call.bodies))
            file.flush()
            found = self._run(url, call, n_connections, seconds, file.name)
        rate = found["requests"] / found["seconds"]
        return {
            "requests": rate,
            "rows": rate * call.n_rows,
            "p50": found["p50"],
            "p99": found["p99"],
            "failed": found["failed"],
            "answered": found["requests"],
        }

    def _run(self, url: str, call: Call, n_connections: int, seconds: float, bodies: str) -> dict[str, Any]:
        given = [bodies, call.path, *(part for pair in call.headers.items() for part in pair)]
        if self._wrk is None:
            command = [sys.executable, "-m", "serve.generator", url, str(n_connections), str(seconds), *given]
        else:
            whole = max(1, round(seconds))  # wrk takes no parts of a second
            script = ["-s", str(HERE / "wrk.lua"), "--timeout", "30s"]
            command = [self._wrk, "-t1", f"-c{n_connections}", f"-d{whole}s", *script, url, "--", *given]
        limit = seconds + 120
        done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=limit, cwd=HERE.parent)
        found: dict[str, Any] = json.loads(done.stdout.strip().splitlines()[-1])
        return found
