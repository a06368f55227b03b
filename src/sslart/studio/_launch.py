"""The studio as a process: the service on this machine, a table to begin with, and a browser with the page."""

from __future__ import annotations

import re
import socket
import threading
import webbrowser
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sslart.client import Client, ServiceError
from sslart.server._run import Options, run
from sslart.server.api._access import Access
from sslart.server.models._limits import Limits
from sslart.studio._pages import pages
from sslart.studio._sessions import PREFIX, new_code

HOST = "127.0.0.1"
PORT = 8708
MAX_NAME = 60
TABLE_TOKEN = f"{PREFIX}table"
SECONDS_TO_START = 600.0


@dataclass(frozen=True)
class Studio:
    """Options of the studio.

    Attributes
    ----------
    folder : Path
        Where models, rows and labels are kept.
    table : Path or None
        A table to begin with.
    label : str or None
        Its column with the classes.
    name : str or None
        Of the model that the table makes; that of the file if not given.
    port : int or None
        Where the page is; None: 8708, or any that is free where that is not.
    opens_browser : bool
    """

    folder: Path
    table: Path | None = None
    label: str | None = None
    name: str | None = None
    port: int | None = None
    opens_browser: bool = True


def launch(studio: Studio, told: Callable[[str], None] = print) -> None:
    """Serve the page until a signal comes; `told` gets sentences for the user."""
    if studio.table is not None and not studio.table.is_file():
        raise FileNotFoundError(f"There is no file {studio.table}: check the name.")
    code, known = new_code(), list[Access]()

    def application(access: Access) -> Any:
        known.append(access)
        return pages(code)(access)

    def started(address: str) -> None:
        model = None if studio.table is None else studio.name or model_name(studio.table)
        page = f"{address}/studio/#code={code}" + ("" if model is None else f"&model={model}")
        told(f"The studio keeps its models in {studio.folder}.")
        told(f"Open this address in a browser; it can be used once:\n{page}")
        told("Press Ctrl+C to stop. Nothing is lost: start it again to go on.")
        if model is not None:
            learn = (studio, model, address, known[0], told)
            threading.Thread(target=_add_table, args=learn, name="table", daemon=True).start()
        if studio.opens_browser:
            threading.Thread(target=webbrowser.open, args=(page,), name="browser", daemon=True).start()

    port = free_port() if studio.port is None else studio.port
    run(Options(studio.folder, HOST, port, limits=Limits(keep_samples=True)), started, application)


def _add_table(studio: Studio, model: str, address: str, access: Access, told: Callable[[str], None]) -> None:
    """Make a model of the table, unless there is one of its name."""
    assert studio.table is not None
    if any(one.name == TABLE_TOKEN for one in access.known()):
        access.revoke(TABLE_TOKEN)
    token = access.add(TABLE_TOKEN, "learn")
    try:
        with Client(address, token) as client:
            client.ready(wait=SECONDS_TO_START)
            if any(one["name"] == model for one in client.models()):
                told(f"There is a model {model!r} already: the page goes on with it. --as NAME makes another.")
            else:
                client.fit(model, studio.table, label=studio.label)
    except (ServiceError, OSError, ValueError) as error:
        told(f"{studio.table} was not learnt: {error}")
    finally:
        access.revoke(TABLE_TOKEN)


def model_name(table: Path) -> str:
    """Return a name for the model of a table."""
    return re.sub(r"[^A-Za-z0-9._-]+", "-", table.stem).strip("-._")[:MAX_NAME] or "table"


def free_port() -> int:
    """Return the usual port, so that a browser knows the page again, or 0 where another program has it."""
    with socket.socket() as one:
        one.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            one.bind((HOST, PORT))
        except OSError:
            return 0
        return PORT
