"""Services that start at once, to be killed: forks of a process that has loaded all packages."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, Self

SECONDS_TO_END = 30


class Service:
    """A service that listens at an address, in a process of its own."""

    def __init__(self, number: int, url: str) -> None:
        self._number, self.url = number, url

    def kill(self) -> None:
        """End the process at once, and wait until it has ended."""
        self._end(signal.SIGKILL)

    def stop(self) -> None:
        """Stop the process as an operator does."""
        self._end(signal.SIGTERM)

    def _end(self, number: int) -> None:
        os.kill(self._number, number)
        end = time.monotonic() + SECONDS_TO_END
        while time.monotonic() < end:
            try:
                os.kill(self._number, 0)
            except ProcessLookupError:
                return
            time.sleep(0.001)
        raise TimeoutError("the process does not end")


class Forks:
    """A process that starts services by forking itself."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, __file__],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},
        )

    def start(self, folder: Path, **limits: Any) -> Service:
        """Start a service on a free port; it may still be learning its journals."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        print(json.dumps([str(folder), limits]), file=self._process.stdin, flush=True)
        number, _, text = self._process.stdout.readline().strip().partition(" ")
        if "http://" not in text:
            raise RuntimeError(f"the service did not start: {text}")
        return Service(int(number), text.split()[-1])

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.communicate()


def main() -> None:
    """Start a service for each line of the input."""
    from sslart.server._service import Options, run
    from sslart.server.models._settings import Limits

    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # children leave nothing behind
    while line := sys.stdin.readline():
        folder, limits = json.loads(line)
        if os.fork() == 0:
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            try:
                run(Options(Path(folder), port=0, limits=Limits(**limits)), told)
            except Exception as error:
                told(repr(error))
            os._exit(0)


def told(text: str) -> None:
    """Pass on the number of this process with a text."""
    print(os.getpid(), text, flush=True)


if __name__ == "__main__":
    main()
