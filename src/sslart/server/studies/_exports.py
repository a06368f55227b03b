"""Exports of a model: its card, its labels as CSV, and a script that rebuilds it to the bit."""

from __future__ import annotations

import io
import json
import platform
import zipfile
from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime
from importlib.metadata import version
from pprint import pformat
from string import Template
from typing import Any, NamedTuple

import numpy as np

from sslart._data.columns import plan_of
from sslart._mapping.summary import summarise
from sslart._tables import arrow, pandas
from sslart._utils.notes import collected_notes
from sslart._utils.text import csv_text, plural, printable
from sslart.estimators._fitted import shallow_copy
from sslart.persistence import model_bytes
from sslart.reporting._page import environment
from sslart.rules._model_rules import conditions_text, covers_text, label_text, right_text
from sslart.rules._rule_sets import ModelRuleSet
from sslart.server.models._published import Published
from sslart.server.models._replica import Replica, RowBatch, fitted_to
from sslart.server.models._settings import ModelSettings
from sslart.server.models._stored_rows import StoredRows
from sslart.server.models._transactions import ConflictError
from sslart.server.store._files import digest_of, is_from_file
from sslart.server.store._journal import IMPORT, LAST, Record, compacted_through, last_fit, records
from sslart.server.store._labels import history
from sslart.server.studies._columns import columns_of
from sslart.server.studies._trust import trust

FROM_THE_TABLE = "the table"
MAX_COLUMNS = 200
MAX_IMPORTANT = 12
RECORDS_AT_ONCE = 2**31
REFIT = "Fit the model anew, and export it then."
EARLIEST = (1980, 1, 1, 0, 0, 0)  # of a file in a zip: the same model makes the same zip
LABELS, GROUPS = "labels", "groups"
WIDTH = 110
SCRIPT = Template('''"""Rebuild the model $name from the data beside this script, and check that it is the same.

Run it in an environment with sslart and pandas:  python rebuild.py
It writes model.sslart, which sslart.load reads. The model was made with $versions;
with other versions or on another kind of processor it may differ in the last bits, which the script tells.$remark
"""

import hashlib
import json
import warnings
from pathlib import Path

import pandas as pd

import sslart

DIGEST = "$digest"
PARAMETERS = $parameters
STEPS = $steps
FOLDER = Path(__file__).resolve().parent


def column(values, kind):
    """Return a column as it was learnt: Parquet readers choose types of their own."""
    if kind in ("object", "category"):
        values = pd.Series([None if pd.isna(one) else one for one in values.tolist()], dtype=object)
    return values.astype(kind)


def read(step):
    """Return the samples, labels and groups of a step."""
    table = pd.read_parquet(FOLDER / step["file"])
    places = {f"c{place}": one["kind"] for place, one in enumerate(step["columns"])}
    samples = pd.DataFrame({place: column(table[place], kind) for place, kind in places.items()})
    samples.columns = [one["name"] for one in step["columns"]]
    labels = [None if pd.isna(one) else one for one in table["$labels"].tolist()]
    groups = {"groups": [json.loads(one) for one in table["$groups"]]} if "$groups" in table else {}
    return samples, labels, groups


def rebuild():
    """Return the model."""
    model = sslart.$estimator(**PARAMETERS)
    for step in STEPS:
        if step["call"] == "set_params":
            model.set_params(**step["parameters"])
        else:
            samples, labels, groups = read(step)
            getattr(model, step["call"])(samples, labels, **groups)
    return model


if __name__ == "__main__":
    warnings.simplefilter("ignore")  # they were shown when the model was made
    target = FOLDER / "model.sslart"
    sslart.save(rebuild(), target)
    found = hashlib.sha256(target.read_bytes()).hexdigest()
    if found != DIGEST:
        raise SystemExit(f"The model is another one: its SHA-256 is {found}, and {DIGEST} was expected.")
    print(f"model.sslart is the same model in every bit: SHA-256 {found}")
''')
REMARK = Template("""
The dates of $names came as text with the day before the month. The model of this script does not know that,
since it gets dates and no text; in all else it is the same.""")


def labels_csv(stored: StoredRows) -> str:
    """Return all labelled rows as CSV: row number, actor and time of the label, and cells.

    The column of the labels has the name that it has in the table, so that the file can be learnt from.
    """
    given = {one["row"]: one for one in history(stored.connection, stored.model, None, 0, LAST)}
    frames = []
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
    return csv_text(pandas().concat(frames, ignore_index=True), index=False)


def card_html(name: str, stored: StoredRows, published: Published, rules: ModelRuleSet) -> str:
    """Return the card of a model that has a label as one HTML page without scripts, which loads nothing."""
    published.check_has_label()
    view = published.view
    n_left_out = 0 if view.left_out is None else len(view.left_out.truth)
    nowhere = np.full(n_left_out, -1)
    columns, in_force = columns_of(stored, published), stored.given_labels()
    last = {one["row"]: one["actor"] for one in history(stored.connection, stored.model, None, 0, LAST)}
    important = published.model.feature_importances().to_dict()["features"] if view.uses_evidence else []
    page: str = (
        environment()
        .get_template("card.html.jinja")
        .render(
            name=name,
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
    return page


class TrainingStep(NamedTuple):
    """One step: a call of fit, partial_fit or set_params."""

    call: str
    samples: Any = None
    labels: list[Any] | None = None
    groups: list[Any] | None = None
    parameters: dict[str, Any] | None = None


class TrainingHistory(NamedTuple):
    """All that a model was taught since it was made: its estimator, the steps, and the columns with the day first."""

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

    def _teach(self, model: Any, samples: Any, labels: list[Any], **groups: Any) -> None:
        super()._teach(model, samples, labels, **groups)
        if self.model is None:
            self.first = self.settings
        self.steps.append(TrainingStep("partial_fit", samples, labels, groups.get("groups")))

    def _set_params(self, params: dict[str, Any]) -> None:
        super()._set_params(params)
        if self.model is not None:
            self.steps.append(TrainingStep("set_params", parameters=params))


def training_history(connection: Any, model: int, published: Published) -> TrainingHistory:
    """Return the training history; raise a ConflictError if it does not rebuild the model to the bit."""
    if is_from_file(connection, model):
        raise ConflictError(
            "The model came from a file, and the rows that it had learnt before are not here: no script can rebuild it "
            "from rows. Export the model itself."
        )
    fit = last_fit(connection, model, published.sequence)
    start = max(fit - 1, 0)
    if compacted_through(connection, model) > start:
        raise ConflictError(f"Some of what the model has learnt is no longer kept. {REFIT}")
    recorder = _Recorder(published.settings, start)
    day_first: list[str] = []

    def fitted(record: Record) -> Any:
        if record.sequence != fit:
            return None
        content = record.content()
        first = recorder.first = ModelSettings.model_validate(content["settings"])
        before = record.model, record.sequence, record.first_row
        table = StoredRows(connection, *before, content["keep_rows"], first).table_to_fit()
        day_first.extend(table.day_first)
        call = "fit" if table.label_counts else "partial_fit"
        recorder.steps.append(TrainingStep(call, table.samples, table.labels, table.groups))
        return fitted_to(table, first)

    def imported(record: Record) -> Any:
        raise ConflictError(f"Record {record.sequence} ({IMPORT}) cannot be repeated.")

    with collected_notes():
        some = records(connection, model, start, RECORDS_AT_ONCE)
        wanted = [one for one in some if one.sequence <= published.sequence]
        for _ in recorder.apply(wanted, fitted, imported):
            pass
        if recorder.model is None or digest_of(model_bytes(recorder.model)) != published.digest:
            raise ConflictError(f"The rows that are kept do not make the same model to the bit. {REFIT}")
    first = recorder.first
    return TrainingHistory(first.estimator, first.new_estimator().get_params(), recorder.steps, day_first)


def script_zip(name: str, published: Published, training: TrainingHistory) -> bytes:
    """Return a zip file with the data that a model has learnt, and a script that makes it again."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as file:
        steps = []
        for number, step in enumerate(training.steps):
            described, content = _packed(step, f"data/{number:03}_{step.call}.parquet")
            steps.append(described)
            if content is not None:
                file.writestr(zipfile.ZipInfo(described["file"], EARLIEST), content)
        text = _script(name, published, training, steps)
        file.writestr(zipfile.ZipInfo("rebuild.py", EARLIEST), text, zipfile.ZIP_DEFLATED)
    return packed.getvalue()


def _packed(step: TrainingStep, file: str) -> tuple[dict[str, Any], bytes | None]:
    """Return a step as plain values, and its data as Parquet; columns are numbered, since names may be anything."""
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
    if step.groups is not None:
        columns[GROUPS] = pyarrow.array([json.dumps(one) for one in step.groups], pyarrow.string())
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
        groups=GROUPS,
    )


def _digest(published: Published) -> str:
    """Return the SHA-256 of the model after its text dates have been replaced by real ones."""
    plan = plan_of(published.model)
    if not (plan.day_first or plan.texts):
        return published.digest
    model = shallow_copy(published.model)
    model.__sslart_with_plan__(replace(plan, day_first=(), texts=()))
    return digest_of(model_bytes(model))
