"""The studio for tests: the service with its page in this process or in one of its own, and pages in a browser."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
from service import wait_until_ready

from sslart.server import serve
from sslart.server.models._settings import Limits
from sslart.studio._studio import new_code, pages

SECONDS = 30.0  # to wait for what comes sooner on a machine that is not busy


@dataclass
class Opened:
    """A studio that runs, and what its pages have done that they must not do.

    Attributes
    ----------
    url : str
    token : str
        For requests of the test itself.
    contexts : list
        Of the browser: each is another person.
    problems : list of str
        Messages of the console, errors, dialogs, and requests to other machines.
    """

    url: str
    token: str
    browser: Any
    contexts: list[Any] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    expected: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        self.http = httpx.Client(
            verify=False, base_url=self.url, timeout=60, headers={"authorization": f"Bearer {self.token}"}
        )

    def settle(self) -> None:
        """Wait until no fit is under way: what a view shows, and what the service tells, would change with its end."""
        ended = ("done", "failed", "cancelled")
        wait_for(lambda: all(one["state"] in ended for one in self.http.get("/v1/jobs").json()["jobs"]))

    def page(self, path: str = "", *, width: int = 1280, height: int = 900, context: Any = None, **options: Any) -> Any:
        """Return a page, with a token, at a view such as `flowers/map`, of models that are fitted."""
        self.settle()
        if context is None:
            context = self.browser.new_context(viewport={"width": width, "height": height}, **options)
            context.set_default_timeout(1000 * SECONDS)
            keep = "token => localStorage.setItem('sslart.token', token)"
            context.add_init_script(f"({keep})({self.token!r})")
            self.contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: self._note(f"{message.type}: {message.text}"))
        page.on("pageerror", lambda error: self._note(f"error: {error}"))
        page.on("request", lambda request: self._check(request.url))
        page.goto(f"{self.url}/studio/#/{path}")
        return page

    def _note(self, text: str) -> None:
        if not any(one in text for one in self.expected):
            self.problems.append(text)

    def _check(self, url: str) -> None:
        if not url.startswith((self.url, "blob:", "data:")):
            self.problems.append(f"request to {urlsplit(url).netloc}")

    def close(self) -> None:
        """Close all pages; raise an AssertionError where one did what it must not do."""
        for context in self.contexts:
            context.close()
        self.http.close()
        assert self.problems == []


@contextmanager
def studio(folder: Path, browser: Any) -> Iterator[Opened]:
    """Run the studio in a thread of this process."""
    code = new_code()
    with serve(folder, pages=pages(code), needs_token=True, limits=Limits(keep_samples=True)) as service:
        token = httpx.post(f"{service.url}/studio/session", verify=False, json={"code": code}).json()["token"]
        opened = Opened(service.url, token, browser)
        wait_until_ready(opened.http)
        try:
            yield opened
        finally:
            opened.close()


class Started:
    """A studio that runs, at an address with a code for one use."""

    url: str
    code: str

    def token(self) -> str:
        """Use the code of the address up, and return a token."""
        found: str = httpx.post(f"{self.url}/studio/session", verify=False, json={"code": self.code}).json()["token"]
        return found


class StudioProcess(Started):
    """The studio as users run it, in a process of its own."""

    def __init__(self, folder: Path, *options: str, port: int = 0) -> None:
        command = [sys.executable, "-m", "sslart", "studio", *options, "--folder", str(folder)]
        self.process = subprocess.Popen(
            [*command, "--no-browser", "--port", str(port)],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},
        )
        assert self.process.stdout is not None
        self.told = ""
        while "Ctrl+C" not in self.told:
            line = self.process.stdout.readline()
            if not line:
                self.process.communicate()
                raise RuntimeError(f"the studio did not start: {self.told}")
            self.told += line
        found = re.search(r"(http://\S+?)/studio/#code=([\w-]+)", self.told)
        assert found
        self.url, self.code = found[1], found[2]
        self.port = urlsplit(self.url).port or 0

    def kill(self) -> None:
        """End the process at once."""
        self.process.kill()
        self.process.communicate()

    def stop(self) -> str:
        """Stop the process as a user does; return what it has printed since its start."""
        self.process.send_signal(signal.SIGINT)
        return self.process.communicate(timeout=60)[0]


class StudioThread(Started):
    """The studio in a thread of this process: it starts and ends sooner."""

    def __init__(self, folder: Path, *, port: int = 0) -> None:
        self.code = new_code()
        self.service = serve(
            folder, port=port, pages=pages(self.code), needs_token=True, limits=Limits(keep_samples=True)
        )
        self.url = self.service.url
        self.port = urlsplit(self.url).port or 0

    def kill(self) -> None:
        """End it: a thread cannot be killed."""
        self.service.stop()

    stop = kill


def wait_for(condition: Callable[[], bool], seconds: float = SECONDS) -> None:
    """Wait until something holds."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not come true in time"
        time.sleep(0.05)
