"""Connection to a service, and options that are incompatible with one."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from sslart._utils.optional import heavy, optional
from sslart.cli._model_file import read_model
from sslart.cli._options import MODEL_HELP

MODEL_OR_NAME_HELP = f"{MODEL_HELP}; with --server the name of a model there"
ServerOption = Annotated[
    str | None,
    typer.Option("--server", help="address of a service of sslart serve, such as http://127.0.0.1:8707", metavar="URL"),
]
TokenOption = Annotated[
    str | None,
    typer.Option("--token", help="of --server: what shows who you are", envvar="SSLART_TOKEN", metavar="TEXT"),
]


def connected(server: str, token: str | None) -> Any:
    """Return a client of a service; it is a context manager."""
    optional("httpx", "client")
    return heavy("sslart.client").Client(server, token)


def refuse(**options: Any) -> None:
    """Raise a ValueError where an option is given that does not go with a service."""
    for name, value in options.items():
        if value is not None and value is not False:
            raise ValueError(f"--{name.replace('_', '-')} does not go with --server: leave it out.")


def model_of(name: str, server: str | None, token: str | None) -> Any:
    """Return a fitted classifier: that of a file, or a copy of that of a service."""
    if server is None:
        return read_model(name)
    with connected(server, token) as client:
        return client.load(name)
