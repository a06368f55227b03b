"""Endpoints that export a model, or documents about it, as files."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Literal, NamedTuple

from fastapi import APIRouter, Query
from starlette.responses import Response

from sslart._utils.notes import collected_notes
from sslart.export.onnx import to_onnx
from sslart.reporting import report
from sslart.server.api._access import actor
from sslart.server.api._context import Context, ContextOf, ModelOf
from sslart.server.api._openapi import problems
from sslart.server.models._hosted import HostedModel
from sslart.server.models._published import Published
from sslart.server.models._stored_rows import RowsBefore, sample_of
from sslart.server.store._journal import LAST
from sslart.server.studies._exports import card_html, labels_csv, script_zip, training_history
from sslart.server.studies._rules import rules_of

ROWS_IN_REPORT = 2000
Format = Literal["sslart", "onnx", "report", "rules_sql", "rules_python", "rules_csv", "labels_csv", "script", "card"]

router = APIRouter(tags=["models"])

_EXPORTED = {
    kind: {"schema": {"type": "string", "format": "binary"}}
    for kind in ("application/octet-stream", "text/html", "text/plain", "text/csv", "application/zip")
}


class _Exporter(NamedTuple):
    """An export format: function of the content, media type, and file extension."""

    content: Callable[[Context, HostedModel, Published], bytes]
    kind: str
    ending: str


@router.get(
    "/v1/models/{name}/export",
    response_class=Response,
    responses={200: {"description": "The file.", "content": _EXPORTED}, **problems(409, 501)},
)
async def export(
    context: ContextOf,
    _: Annotated[str, actor("read")],
    model: ModelOf,
    format: Annotated[Format, Query(description="of the file")] = "sslart",
) -> Response:
    """Return the model as a file: for sslart.load, for ONNX runtimes, or as an HTML page to read.

    Or what it knows: its rules, its labels, a script that makes the same model again, or a model card.
    """
    published: Published = context.hub.published(model)
    exporter = _EXPORTERS[format]
    content = await context.long_threads.run(exporter.content, context, model, published)
    headers = {"content-disposition": f'attachment; filename="{model.name}{exporter.ending}"'}
    return Response(content, 200, headers, exporter.kind)


def _as_sslart(_: Context, __: HostedModel, published: Published) -> bytes:
    return published.content()


def _as_onnx(_: Context, __: HostedModel, published: Published) -> bytes:
    published.check_has_label()
    content: bytes = to_onnx(published.model).SerializeToString()
    return content


def _as_report(context: Context, model: HostedModel, published: Published) -> bytes:
    """Return a report on rows that the model was given."""
    published.check_has_label()
    samples, labels = sample_of(context.hub.store.reader(), _before(model, published), published, ROWS_IN_REPORT)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "report.html"
        report(published.model, samples, labels, path, title=f"Report on the model {model.name}", held_out=False)
        return path.read_bytes()


def _before(model: HostedModel, published: Published) -> RowsBefore:
    return RowsBefore(model.id, published.sequence + 1, model.n_rows)


def _as_sql(context: Context, model: HostedModel, published: Published) -> bytes:
    with collected_notes() as notes:
        text = rules_of(context.hub, model, published).to_sql()
    return "".join([*(f"-- {note}\n" for note in notes), text, "\n"]).encode()


def _as_python(context: Context, model: HostedModel, published: Published) -> bytes:
    return str(rules_of(context.hub, model, published).to_python()).encode()


def _as_csv(context: Context, model: HostedModel, published: Published) -> bytes:
    return str(rules_of(context.hub, model, published).to_csv()).encode()


def _labels(context: Context, model: HostedModel, published: Published) -> bytes:
    before = RowsBefore(model.id, LAST, model.n_rows)
    return labels_csv(context.hub.store.reader(), before, published, context.hub.limits.keep_rows).encode()


def _script(context: Context, model: HostedModel, published: Published) -> bytes:
    return script_zip(model.name, published, training_history(context.hub.store.reader(), model.id, published))


def _card(context: Context, model: HostedModel, published: Published) -> bytes:
    reader, keep_rows = context.hub.store.reader(), context.hub.limits.keep_rows
    rules = rules_of(context.hub, model, published)
    return card_html(model.name, reader, _before(model, published), published, keep_rows, rules).encode()


_HTML, _CSV, _TEXT = (f"text/{kind}; charset=utf-8" for kind in ("html", "csv", "plain"))
_EXPORTERS: dict[Format, _Exporter] = {
    "sslart": _Exporter(_as_sslart, "application/octet-stream", ".sslart"),
    "onnx": _Exporter(_as_onnx, "application/octet-stream", ".onnx"),
    "report": _Exporter(_as_report, _HTML, ".html"),
    "rules_sql": _Exporter(_as_sql, _TEXT, ".sql"),
    "rules_python": _Exporter(_as_python, _TEXT, ".py"),
    "rules_csv": _Exporter(_as_csv, _CSV, "_rules.csv"),
    "labels_csv": _Exporter(_labels, _CSV, "_labels.csv"),
    "script": _Exporter(_script, "application/zip", "_rebuild.zip"),
    "card": _Exporter(_card, _HTML, "_card.html"),
}
