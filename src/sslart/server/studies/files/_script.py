"""A script that makes the same model again, to the bit, from nothing but the data beside it: packed in one file."""

from __future__ import annotations

import io
import json
import platform
import zipfile
from dataclasses import replace
from importlib.metadata import version
from pprint import pformat
from string import Template
from typing import Any

from sslart._data.columns.plan import plan_of
from sslart._tables import arrow
from sslart._utils.text import printable
from sslart.estimators._published import shallow_copy
from sslart.persistence._models import model_bytes
from sslart.server.models._published import Published
from sslart.server.store._snapshots import digest_of
from sslart.server.studies.files._lessons import Lesson, Lessons

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


def script_zip(name: str, published: Published, lessons: Lessons) -> bytes:
    """Return a zip file with the data that a model has learnt, and a script that makes it again."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as file:
        steps = []
        for number, step in enumerate(lessons.steps):
            described, content = _packed(step, f"data/{number:03}_{step.call}.parquet")
            steps.append(described)
            if content is not None:
                file.writestr(zipfile.ZipInfo(described["file"], EARLIEST), content)
        text = _script(name, published, lessons, steps)
        file.writestr(zipfile.ZipInfo("rebuild.py", EARLIEST), text, zipfile.ZIP_DEFLATED)
    return packed.getvalue()


def _packed(step: Lesson, file: str) -> tuple[dict[str, Any], bytes | None]:
    """Return a step as plain values, and its data as Parquet; columns are numbered, since names may be anything."""
    if step.parameters is not None:
        return {"call": step.call, "parameters": step.parameters}, None
    pyarrow = arrow("")
    names = list(step.samples.columns)
    columns = {
        f"c{place}": pyarrow.array(_plain(step.samples[name]), from_pandas=True) for place, name in enumerate(names)
    }
    columns[LABELS] = pyarrow.array(step.labels, pyarrow.string())
    if step.groups is not None:
        columns[GROUPS] = pyarrow.array([json.dumps(one) for one in step.groups], pyarrow.string())
    content = io.BytesIO()
    arrow(".parquet").write_table(pyarrow.table(columns), content, compression="zstd")
    kinds = [{"name": name, "kind": str(step.samples[name].dtype)} for name in names]
    return {"call": step.call, "file": file, "columns": kinds}, content.getvalue()


def _plain(column: Any) -> Any:
    return column.astype(object) if str(column.dtype) == "category" else column


def _script(name: str, published: Published, lessons: Lessons, steps: list[dict[str, Any]]) -> str:
    names = [f"{one} {version(one)}" for one in ("sslart", "numpy", "scipy", "scikit-learn", "pandas")]
    versions = f"Python {platform.python_version()}, {', '.join(names)}"
    given = ", ".join(printable(repr(one)) for one in lessons.day_first)
    return SCRIPT.substitute(
        name=name,
        digest=_digest(published),
        versions=versions,
        remark=REMARK.substitute(names=_in_docstring(given)) if lessons.day_first else "",
        parameters=pformat(lessons.parameters, width=WIDTH, sort_dicts=False),
        steps=pformat(steps, width=WIDTH, sort_dicts=False),
        estimator=lessons.estimator,
        labels=LABELS,
        groups=GROUPS,
    )


def _in_docstring(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"')


def _digest(published: Published) -> str:
    """Return the SHA-256 of the model after its text dates have been replaced by real ones."""
    plan = plan_of(published.model)
    if not plan.day_first:
        return published.digest
    model = shallow_copy(published.model)
    model.__sslart_with_plan__(replace(plan, day_first=()))
    return digest_of(model_bytes(model))
