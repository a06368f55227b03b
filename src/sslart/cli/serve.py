"""The commands `sslart serve` and `sslart studio`."""

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
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="folder of the database; created if missing")],
    host: Annotated[str, typer.Option(help="address to listen on", metavar="ADDRESS")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="port; 0 for any free port")] = 8707,
    allow_host: Annotated[
        list[str] | None, typer.Option(help="another host name that clients may use; may be repeated", metavar="NAME")
    ] = None,
    tls_cert: Annotated[Path | None, option.file("TLS certificate, for https")] = None,
    tls_key: Annotated[Path | None, option.file("private key of the certificate")] = None,
    behind_proxy: Annotated[
        bool,
        typer.Option(
            "--behind-proxy",
            help="a reverse proxy on this machine terminates TLS; trust its headers for the address of the client",
        ),
    ] = False,
    keep_rows: Annotated[int, option.count("number of newest unlabelled rows to keep for refits", least=0)] = 1_000_000,
    snapshot_rows: Annotated[int, option.count("write a snapshot of a model after this many learnt rows")] = 20_000,
    max_rows: Annotated[int, option.count("maximum rows in a request", most=100_000)] = 10_000,
    max_body: Annotated[int, option.count("maximum bytes of a request")] = 2**24,
    max_table: Annotated[int, option.count("maximum bytes of an uploaded table")] = 2**30,
    max_table_cells: Annotated[int, option.count("maximum cells of an uploaded table")] = 200_000_000,
    max_backlog: Annotated[int, option.count("maximum rows waiting to be learnt")] = 100_000,
    log_all: Annotated[bool, typer.Option("--log-all", help="log every request")] = False,
    verify: Annotated[bool, typer.Option("--verify", help="check the database and exit")] = False,
    backup: Annotated[Path | None, option.file("write a backup of the database and exit")] = None,
    add_token: Annotated[
        str | None, typer.Option(help="create an access token, print it once and exit", metavar="NAME")
    ] = None,
    scope: Annotated[str, typer.Option(help="scope of the new token: read, learn or admin")] = "read",
    revoke_token: Annotated[str | None, typer.Option(help="revoke a token and exit", metavar="NAME")] = None,
    list_tokens: Annotated[bool, typer.Option("--list-tokens", help="list the tokens and exit")] = False,
) -> None:
    """Serve models over HTTP. Everything acknowledged is on disk: after a crash, a restart continues from there.

    Rows and labels are written to a journal in the folder, and the models learn from it in the background. All requests
    are described at /openapi.json; metrics are at /metrics.

    On this machine no token is needed until one is created. To listen on another address, create a token first, and
    give --tls-cert and --tls-key, or --behind-proxy. --verify and --backup also work while the service runs. To create
    or revoke tokens, stop the service, or send requests to /v1/tokens.
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
        Path | None, typer.Argument(metavar="[TABLE]", help="table to start with: CSV, TSV, Parquet, Arrow or Excel")
    ] = None,
    label: Annotated[str | None, option.column("column of the table with the classes, if it has one")] = None,
    name: Annotated[
        str | None, typer.Option("--as", help="name of the model; default: the name of the file", metavar="NAME")
    ] = None,
    folder: Annotated[
        Path, typer.Option(help="folder for models, rows and labels; created if missing", metavar="DIR")
    ] = Path("sslart-studio"),
    port: Annotated[
        int | None,
        typer.Option(min=0, max=65535, help="port of the page; default: 8708, or any free port if it is taken"),
    ] = None,
    no_browser: Annotated[
        bool, typer.Option("--no-browser", help="print the address without opening a browser")
    ] = False,
) -> None:
    """Open the studio in the browser, to label samples and to inspect and monitor the model that learns from them.

    The studio runs on this machine only, and no data leave it. Every answer is saved at once: nothing is lost when you
    close the browser or stop this command, and the next start with the same folder continues. The printed address
    works once; afterwards the same browser stays signed in.
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
        raise ValueError("The database is damaged: restore a backup, or export what is still readable.")


def _backup(folder: Path, target: Path) -> None:
    store, connection = heavy("sslart.server.store._store"), heavy("sslart.server.store._database")
    source = folder / store.FILE_NAME
    if not source.is_file():
        raise FileNotFoundError(f"There is no database in {folder}: check the name of the folder.")
    store.write_copy(connection.open_to_read(source), target)
    show(f"Backup written to {target}. To serve it, put it into a folder of its own as {store.FILE_NAME}.")


def _tokens(folder: Path, new: str | None, scope: str, revoked: str | None) -> None:
    tokens: Any = heavy("sslart.server.store._store")
    with heavy("sslart.server.store").Store(folder) as store:
        if revoked is not None:
            store.submit(lambda connection: tokens.revoke_token(connection, revoked)).result()
            show(f"The token {revoked} was revoked.")
        if new is not None:
            secret = store.submit(lambda connection: tokens.add_token(connection, new, scope)).result()
            show(f"The token of {new}, with scope {scope}, is shown only once:\n{secret}")
        if new is None and revoked is None:
            known = tokens.tokens(store.reader()).values()
            rows = [
                (one.name, ", ".join(sorted(one.scopes)), f"{datetime.fromtimestamp(one.created, UTC):%Y-%m-%d %H:%M}")
                for one in known
            ]
            print_table(("token", "scopes", "made"), rows)
