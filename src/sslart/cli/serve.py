"""`sslart serve` and `sslart studio`: models that predict, explain and learn over HTTP, and in the browser."""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any

import typer

from sslart._utils.optional import heavy, optional
from sslart.cli import _options as option
from sslart.cli._output import print_table, show


def serve(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="folder of the store; made where it does not exist")],
    host: Annotated[str, typer.Option(help="address to listen at", metavar="ADDRESS")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="port; 0 takes any that is free")] = 8707,
    allow_host: Annotated[
        list[str] | None, typer.Option(help="a further name by which the service may be called", metavar="NAME")
    ] = None,
    tls_cert: Annotated[Path | None, option.file("certificate, for https")] = None,
    tls_key: Annotated[Path | None, option.file("key of the certificate")] = None,
    behind_proxy: Annotated[
        bool, typer.Option("--behind-proxy", help="a proxy on this machine does TLS: its headers name the client")
    ] = False,
    keep_rows: Annotated[
        int, option.count("keep the newest so many rows without a label for fits", least=0)
    ] = 1_000_000,
    snapshot_rows: Annotated[int, option.count("write a snapshot after so many learnt rows")] = 20_000,
    max_rows: Annotated[int, option.count("accept at most so many rows in a request", most=100_000)] = 10_000,
    max_body: Annotated[int, option.count("accept at most so many bytes in a request")] = 2**24,
    max_table: Annotated[int, option.count("accept at most so many bytes of a table")] = 2**30,
    max_table_cells: Annotated[int, option.count("accept at most so many cells of a table")] = 200_000_000,
    max_backlog: Annotated[int, option.count("let at most so many rows wait to be learnt")] = 100_000,
    log_all: Annotated[bool, typer.Option("--log-all", help="log every request")] = False,
    verify: Annotated[bool, typer.Option("--verify", help="check the store, and serve nothing")] = False,
    backup: Annotated[Path | None, option.file("write a copy of the store, and serve nothing")] = None,
    add_token: Annotated[
        str | None, typer.Option(help="make a token, print it once, and serve nothing", metavar="NAME")
    ] = None,
    scope: Annotated[str, typer.Option(help="what a new token allows: read, learn or admin")] = "read",
    revoke_token: Annotated[
        str | None, typer.Option(help="make a token invalid, and serve nothing", metavar="NAME")
    ] = None,
    list_tokens: Annotated[bool, typer.Option("--list-tokens", help="list the tokens, and serve nothing")] = False,
) -> None:
    """Serve models over HTTP. What was acknowledged is on the disk: after a crash, a start goes on from there.

    Rows and labels go to a journal in the folder, which the models follow; they predict meanwhile by what was last
    published. The description of all requests is at /openapi.json, metrics are at /metrics.

    On this machine no token is needed until one is made. To listen at another address, make a token first, and give
    --tls-cert and --tls-key, or --behind-proxy. --verify and --backup work also while the service runs; tokens are made
    and revoked while it does not, or by its own requests at /v1/tokens.
    """
    for package in ("fastapi", "uvicorn", "apsw", "prometheus_client"):
        optional(package, "serve")
    if verify:
        _verify(folder)
    elif backup is not None:
        _backup(folder, backup)
    elif add_token is not None or revoke_token is not None or list_tokens:
        _tokens(folder, add_token, scope, revoke_token)
    else:
        runner, limits = heavy("sslart.server._service"), heavy("sslart.server.models._settings")
        limited = limits.Limits(
            max_rows=max_rows,
            max_body=max_body,
            max_table=max_table,
            max_table_cells=max_table_cells,
            max_backlog=max_backlog,
            keep_rows=keep_rows,
            snapshot_rows=snapshot_rows,
        )
        hosts = tuple(allow_host or ())
        options = runner.Options(folder, host, port, hosts, tls_cert, tls_key, behind_proxy, log_all, limited)
        runner.run(options, lambda address: _show_at_once(f"sslart serves {folder} at {address}"))


def studio(
    table: Annotated[
        Path | None, typer.Argument(metavar="[TABLE]", help="CSV, TSV, Parquet, Arrow or Excel, to begin with")
    ] = None,
    label: Annotated[str | None, option.column("its column with classes, if it has one")] = None,
    name: Annotated[
        str | None, typer.Option("--as", help="name of the model; that of the file if not given", metavar="NAME")
    ] = None,
    folder: Annotated[
        Path, typer.Option(help="folder for models, rows and labels; made where it does not exist", metavar="DIR")
    ] = Path("sslart-studio"),
    port: Annotated[
        int | None, typer.Option(min=0, max=65535, help="port of the page; 8708 if not given, where it is free")
    ] = None,
    no_browser: Annotated[bool, typer.Option("--no-browser", help="print the address, and open no browser")] = False,
) -> None:
    """Open a page to label samples, to understand the model that learns from them, and to watch it at work.

    The page runs on this machine only, and nothing leaves it. Every answer is on the disk at once: closing the browser
    or stopping this command loses nothing, and the next start with the same folder goes on from there. The address that
    is printed opens the page once; the browser may then come back to it.
    """
    for package, extra in (("fastapi", "serve"), ("uvicorn", "serve"), ("apsw", "serve"), ("httpx", "client")):
        optional(package, extra)
    module = heavy("sslart.studio._studio")
    module.launch(module.Studio(folder, table, label, name, port, not no_browser), _show_at_once)


def _show_at_once(text: str) -> None:
    show(text)
    sys.stdout.flush()


def _verify(folder: Path) -> None:
    is_good = True
    for finding in heavy("sslart.server._verify").verify(folder):
        is_good = is_good and finding.is_good
        where = f"model {finding.model}: " if finding.model else ""
        show(f"{'good' if finding.is_good else 'BAD'}  {where}{finding.text}")
    if not is_good:
        raise ValueError("The store is damaged: restore a backup, or what can be read of it.")


def _backup(folder: Path, target: Path) -> None:
    store, connection = heavy("sslart.server.store._store"), heavy("sslart.server.store._database")
    source = folder / store.FILE_NAME
    if not source.is_file():
        raise FileNotFoundError(f"There is no store in {folder}: check the name of the folder.")
    store.write_copy(connection.open_to_read(source), target)
    show(f"{target} is a copy of the store: as {store.FILE_NAME} in a folder of its own it can be served.")


def _tokens(folder: Path, new: str | None, scope: str, revoked: str | None) -> None:
    tokens: Any = heavy("sslart.server.store._store")
    with heavy("sslart.server.store").Store(folder) as store:
        if revoked is not None:
            store.submit(lambda connection: tokens.revoke_token(connection, revoked)).result()
            show(f"The token {revoked} is revoked.")
        if new is not None:
            secret = store.submit(lambda connection: tokens.add_token(connection, new, scope)).result()
            show(f"The token of {new}, with the scope {scope}, is shown only here:\n{secret}")
        if new is None and revoked is None:
            known = tokens.tokens(store.reader()).values()
            rows = [
                (one.name, ", ".join(sorted(one.scopes)), f"{datetime.fromtimestamp(one.created, UTC):%Y-%m-%d %H:%M}")
                for one in known
            ]
            print_table(("token", "scopes", "made"), rows)
