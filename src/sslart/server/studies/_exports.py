"""Exports of a model: model file, report, rules, labels, model card, and a script that refits it bit for bit."""

from __future__ import annotations

import io
import json
import platform
import tempfile
import zipfile
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path
from pprint import pformat
from string import Template
from typing import Any, Literal, NamedTuple

import numpy as np

from sslart._data.samples import plan_of
from sslart._mapping.summary import summarise
from sslart._tables import arrow, pandas
from sslart._utils.notes import collected_notes
from sslart._utils.text import csv_text, plural, printable
from sslart.estimators._fitted import shallow_copy
from sslart.export.onnx import to_onnx
from sslart.persistence import model_bytes
from sslart.reporting import report
from sslart.reporting._page import environment
from sslart.rules._model_rules import conditions_text, covers_text, label_text, right_text
from sslart.server.models._published import Published
from sslart.server.models._replica import Replica, RowBatch, fitted_to
from sslart.server.models._settings import ModelSettings
from sslart.server.models._stored_rows import NOTHING, StoredRows
from sslart.server.models._transactions import ConflictError
from sslart.server.store._files import digest_of, is_from_file
from sslart.server.store._journal import IMPORT, LAST, Record, compacted_through, last_fit, records
from sslart.server.store._labels import history
from sslart.server.studies._columns import columns_of
from sslart.server.studies._rules import rules_of
from sslart.server.studies._study import Study
from sslart.server.studies._trust import trust

Format = Literal["sslart", "onnx", "report", "rules_sql", "rules_python", "rules_csv", "labels_csv", "script", "card"]
ROWS_IN_REPORT = 2000
FROM_THE_TABLE = "the table"
MAX_COLUMNS = 200
MAX_IMPORTANT = 12
RECORDS_AT_ONCE = 2**31
REFIT = "Refit the model and export it again."
EARLIEST = (1980, 1, 1, 0, 0, 0)  # time stamp in the zip file, so that equal models give equal files
LABELS = "labels"
WIDTH = 110
SCRIPT = Template(files("sslart.server.studies").joinpath("rebuild.py.template").read_text("utf-8"))
REMARK = Template("""
The dates of $names were text with the day before the month. The model of this script does not store that,
since it gets dates instead of text; otherwise it is the same.""")


def labels_csv(study: Study) -> bytes:
    """Return all labelled rows as CSV: row number, actor and time of the label, and cells.

    The label column has the same name as in the table, so that the file can be used for a fit.
    """
    stored, frames = study.stored_rows(), []
    given = {one["row"]: one for one in history(study.reader, study.model.id, None, 0, LAST)}
    for rows, frame in stored.labelled():
        places = frame[stored.label].notna().to_numpy().nonzero()[0].tolist()
        numbers = [rows[place] for place in places]
        some = frame.iloc[places]
        entries = [given.get(row) for row in numbers]
        times = [None if one is None else datetime.fromtimestamp(one["time"], UTC) for one in entries]
        added = {
            "row": numbers,
            "labelled by": [FROM_THE_TABLE if one is None else one["actor"] for one in entries],
            "labelled at": [None if one is None else one.isoformat(timespec="seconds") for one in times],
        }
        for place, (name, values) in enumerate(added.items()):
            while name in frame.columns:
                name += " of the row"
            some.insert(place, name, pandas().Series(values, dtype=object, index=some.index))
        frames.append(some)
    return csv_text(pandas().concat(frames, ignore_index=True), index=False).encode()


def rows_learnt(study: Study) -> StoredRows:
    """Return the rows of the published model, without later ones."""
    return study.stored_rows(study.published.sequence + 1)


def card_html(study: Study) -> bytes:
    """Return the model card as a self-contained HTML page without scripts."""
    stored, published, rules = rows_learnt(study), study.published, rules_of(study)
    view = published.view
    n_left_out = 0 if view.left_out is None else len(view.left_out.truth)
    nowhere = np.full(n_left_out, -1)
    columns, in_force = columns_of(stored, published), stored.given_labels()
    last = {one["row"]: one["actor"] for one in history(study.reader, study.model.id, None, 0, LAST)}
    important = published.model.feature_importances().to_dict()["features"] if view.uses_evidence else []
    page: str = (
        environment()
        .get_template("card.html.jinja")
        .render(
            name=study.model.name,
            made=datetime.now(UTC).date().isoformat(),
            versions=f"sslart {version('sslart')}, Python {platform.python_version()}",
            estimator=view.name,
            settings=published.settings,
            classes=published.classes,
            summary=summarise(view),
            columns=columns["columns"][:MAX_COLUMNS],
            n_columns=len(columns["columns"]),
            n_rows=columns["rows"],
            notes=columns["notes"],
            labelled=Counter(last[row] for row, label in in_force.items() if label is not None).most_common(),
            trust=trust(view, nowhere, nowhere),
            novelty=view.novelty.promise(),
            n_drifts=len(published.model.drift_),
            rules=[
                {
                    "conditions": conditions_text(rule, alone=len(rules) == 1),
                    "class": label_text(rule),
                    "covers": covers_text(rule, rules.n_samples, about=rules.from_boxes),
                    "right": right_text(rule.right) if rule.label is not None else plural(rule.right.total, "label"),
                }
                for rule in rules
            ],
            rules_from_boxes=rules.from_boxes,
            important=[one for one in important if one["share"] > 0][:MAX_IMPORTANT],
            abstains=view.may_abstain,
            parameters=published.settings.parameters,
            features=published.reader.names,
            sequence=published.sequence,
            digest=published.digest,
        )
    )
    return page.encode()


class TrainingStep(NamedTuple):
    """One step: a call of fit, partial_fit or set_params."""

    call: str
    samples: Any = None
    labels: list[Any] | None = None
    beside: Mapping[str, list[Any]] = NOTHING  # further arguments, one value per row
    parameters: dict[str, Any] | None = None


class TrainingHistory(NamedTuple):
    """Training history of a model: its estimator, the training steps, and the columns with the day first."""

    estimator: str
    parameters: dict[str, Any]
    steps: list[TrainingStep]
    day_first: list[str]


class _Recorder(Replica):
    """A replica that replays the journal, and records the training calls."""

    def __init__(self, settings: ModelSettings, sequence: int) -> None:
        super().__init__(settings, None, sequence)
        self.steps: list[TrainingStep] = []
        self.first = settings  # with which the model was made

    def _samples(self, batch: RowBatch) -> Any:
        return self._reader().samples(batch.cells)  # as a frame, which the script can read again

    def _teach(self, model: Any, samples: Any, labels: list[Any], **beside: Any) -> None:
        super()._teach(model, samples, labels, **beside)
        if self.model is None:
            self.first = self.settings
        self.steps.append(TrainingStep("partial_fit", samples, labels, beside))

    def _set_params(self, params: dict[str, Any]) -> None:
        super()._set_params(params)
        if self.model is not None:
            self.steps.append(TrainingStep("set_params", parameters=params))


def training_history(study: Study) -> TrainingHistory:
    """Return the training history; raise a ConflictError if it does not reproduce the model bit for bit."""
    connection, model, published = study.reader, study.model.id, study.published
    if is_from_file(connection, model):
        raise ConflictError(
            "The model was imported from a file without its training rows: no script can refit it. Export the model "
            "itself."
        )
    fit = last_fit(connection, model, published.sequence)
    start = max(fit - 1, 0)
    if compacted_through(connection, model) > start:
        raise ConflictError(f"Some rows that the model has learnt are no longer stored. {REFIT}")
    recorder = _Recorder(published.settings, start)
    day_first: list[str] = []

    def fitted(record: Record) -> Any:
        if record.sequence != fit:
            return None
        stored = StoredRows.before(connection, record)
        recorder.first, table = stored.settings, stored.table_to_fit()
        day_first.extend(table.day_first)
        call = "fit" if table.label_counts else "partial_fit"
        recorder.steps.append(TrainingStep(call, table.samples, table.labels, table.beside))
        return fitted_to(table, stored.settings)

    def imported(record: Record) -> Any:
        raise ConflictError(f"Record {record.sequence} ({IMPORT}) cannot be repeated.")

    with collected_notes():
        some = records(connection, model, start, RECORDS_AT_ONCE)
        wanted = [one for one in some if one.sequence <= published.sequence]
        for _ in recorder.apply(wanted, fitted, imported):
            pass
        if recorder.model is None or digest_of(model_bytes(recorder.model)) != published.digest:
            raise ConflictError(f"The stored rows do not reproduce the model bit for bit. {REFIT}")
    first = recorder.first
    return TrainingHistory(first.estimator, first.new_estimator().get_params(), recorder.steps, day_first)


def script_zip(study: Study) -> bytes:
    """Return a zip file with the training data of a model and a script that refits it."""
    training, packed = training_history(study), io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as file:
        steps = []
        for number, step in enumerate(training.steps):
            described, content = _packed(step, f"data/{number:03}_{step.call}.parquet")
            steps.append(described)
            if content is not None:
                file.writestr(zipfile.ZipInfo(described["file"], EARLIEST), content)
        text = _script(study.model.name, study.published, training, steps)
        file.writestr(zipfile.ZipInfo("rebuild.py", EARLIEST), text, zipfile.ZIP_DEFLATED)
    return packed.getvalue()


def _packed(step: TrainingStep, file: str) -> tuple[dict[str, Any], bytes | None]:
    """Return a step as plain values, and its data as Parquet with numbered columns."""
    if step.parameters is not None:
        return {"call": step.call, "parameters": step.parameters}, None
    pyarrow = arrow("")
    names = list(step.samples.columns)
    columns = {}
    for place, name in enumerate(names):
        column = step.samples[name]
        values = column.astype(object) if str(column.dtype) == "category" else column
        columns[f"c{place}"] = pyarrow.array(values, from_pandas=True)
    columns[LABELS] = pyarrow.array(step.labels, pyarrow.string())
    for name, values in step.beside.items():
        columns[name] = pyarrow.array([json.dumps(one) for one in values], pyarrow.string())
    content = io.BytesIO()
    arrow(".parquet").write_table(pyarrow.table(columns), content, compression="zstd")
    kinds = [{"name": name, "kind": str(step.samples[name].dtype)} for name in names]
    return {"call": step.call, "file": file, "columns": kinds}, content.getvalue()


def _script(name: str, published: Published, training: TrainingHistory, steps: list[dict[str, Any]]) -> str:
    names = [f"{one} {version(one)}" for one in ("sslart", "numpy", "scipy", "scikit-learn", "pandas")]
    versions = f"Python {platform.python_version()}, {', '.join(names)}"
    given = ", ".join(printable(repr(one)) for one in training.day_first).replace("\\", "\\\\").replace('"', '\\"')
    return SCRIPT.substitute(
        name=name,
        digest=_digest(published),
        versions=versions,
        remark=REMARK.substitute(names=given) if training.day_first else "",
        parameters=pformat(training.parameters, width=WIDTH, sort_dicts=False),
        steps=pformat(steps, width=WIDTH, sort_dicts=False),
        estimator=training.estimator,
        labels=LABELS,
    )


def _digest(published: Published) -> str:
    """Return the SHA-256 of the model after its text dates have been replaced by real ones."""
    plan = plan_of(published.model)
    if not (plan.day_first or plan.texts):
        return published.digest
    model = shallow_copy(published.model)
    model.__sslart_with_plan__(replace(plan, day_first=(), texts=()))
    return digest_of(model_bytes(model))


def _onnx(study: Study) -> bytes:
    study.published.check_has_label()
    content: bytes = to_onnx(study.published.model).SerializeToString()
    return content


def _report(study: Study) -> bytes:
    """Return a report on the rows of the model."""
    published = study.published
    published.check_has_label()
    samples, labels = rows_learnt(study).samples_for(published, ROWS_IN_REPORT)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "report.html"
        title = f"Report on the model {study.model.name}"
        report(published.model, samples, labels, path, title=title, held_out=False)
        return path.read_bytes()


def _sql(study: Study) -> bytes:
    with collected_notes() as notes:
        text = rules_of(study).to_sql()
    return "".join([*(f"-- {note}\n" for note in notes), text, "\n"]).encode()


_BINARY, _ZIP = "application/octet-stream", "application/zip"
_HTML, _CSV, _TEXT = (f"text/{kind}; charset=utf-8" for kind in ("html", "csv", "plain"))
# by format: content, media type and file name suffix
EXPORTS: dict[Format, tuple[Callable[[Study], bytes], str, str]] = {
    "sslart": (lambda study: study.published.content(), _BINARY, ".sslart"),
    "onnx": (_onnx, _BINARY, ".onnx"),
    "report": (_report, _HTML, ".html"),
    "rules_sql": (_sql, _TEXT, ".sql"),
    "rules_python": (lambda study: rules_of(study).to_python().encode(), _TEXT, ".py"),
    "rules_csv": (lambda study: rules_of(study).to_csv().encode(), _CSV, "_rules.csv"),
    "labels_csv": (labels_csv, _CSV, "_labels.csv"),
    "script": (script_zip, _ZIP, "_rebuild.zip"),
    "card": (card_html, _HTML, "_card.html"),
}
