"""The option --dask: fit and predict tables in many files on the workers of a dask cluster."""

from __future__ import annotations

import logging
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sslart._mapping.model_view import view_of
from sslart._tables import pandas
from sslart._tables.cells import check_unique, present_texts
from sslart._tables.columns import ColumnSummary, groups_of, labels_of
from sslart._tables.training_table import ColumnRoles
from sslart._utils.files import STANDARD
from sslart._utils.notes import note
from sslart._utils.optional import heavy, optional
from sslart._utils.text import Day, listed
from sslart.cli._output import changed
from sslart.cli._predictions import PredictionFile, RowPredictor

SECONDS_TO_CONNECT = 20
PARQUET = (".parquet", ".pq")


@contextmanager
def connected(scheduler: str | None, *, quiet: bool) -> Iterator[None]:
    """Connect to a dask scheduler, or start local workers and stop them at the end."""
    distributed = optional("distributed", "dask")
    try:
        workers = {"dashboard_address": ":0", "silence_logs": logging.ERROR} if scheduler is None else {}
        client = distributed.Client(scheduler, timeout=SECONDS_TO_CONNECT, **workers)
    except (OSError, ValueError) as error:
        raise ValueError(
            f"There is no dask scheduler at {scheduler}: start one with the command dask scheduler, or leave "
            f"--scheduler out. ({error})"
        ) from error
    with client:
        if not quiet:
            note(f"dask dashboard: {client.dashboard_link}")
        yield


def matching_files(pattern: str) -> list[str]:
    """Return the files that match a pattern such as part-*.parquet, or those in a folder, sorted; raise if none."""
    path = Path(pattern)
    found = path.iterdir() if path.is_dir() else Path(path.anchor).glob(str(path.relative_to(path.anchor)))
    files = sorted(str(one.resolve()) for one in found if one.is_file())
    if not files:
        raise FileNotFoundError(
            f"No file matches {pattern}: check the name. A pattern such as 'part-*.parquet' needs quotation marks."
        )
    return files


def _prepared(frame: Any, named: ColumnRoles, source: str, features: list[str], categories: Sequence[str]) -> Any:
    """Return the features, labels (as text) and groups of a partition, without blank rows."""
    assert named.label is not None  # the command line asks for it
    frame = frame[~frame[features].isna().all(axis=1)].reset_index(drop=True)
    made = frame[features].copy()

    def texts_as_column(texts: Sequence[str | None]) -> Any:
        return pandas().Series(texts, index=made.index, dtype=object)

    for name in categories:
        made[name] = texts_as_column(present_texts(frame[name])).astype("category")
    labels = labels_of(frame, named.label, source)
    made[named.label] = texts_as_column(labels)
    if named.group is not None:
        made[named.group] = texts_as_column(groups_of(frame, named.group, source, labels))
    return made


def fit_on_cluster(
    model: Any, data: str, named: ColumnRoles, scheduler: str | None, *, quiet: bool
) -> tuple[Any, float, list[ColumnSummary]]:
    """Fit a model to all files; return an ordinary model, the seconds it took, and the kinds of columns.

    The files are a pattern such as part-*.parquet, a folder, or an address that dask can read.
    """
    frames = optional("dask.dataframe", "dask")
    files = data if "://" in data else matching_files(data)
    if not isinstance(files, str) and not all(one.lower().endswith(PARQUET) for one in files):
        other = next(one for one in files if not one.lower().endswith(PARQUET))
        raise ValueError(
            f"--dask needs Parquet files, whose columns have types, and {other} is not one: convert it to Parquet, "
            "or leave --dask out."
        )
    start = time.perf_counter()
    with connected(scheduler, quiet=quiet), heavy("dask").config.set({"dataframe.convert-string": False}):
        table = frames.read_parquet(files)
        names = [str(name) for name in table.columns]
        check_unique(names, data)
        features, left_out, categories, used = named.divided(names, data)
        if not features:
            raise ValueError(f"{data} has no feature columns left: ignore fewer columns.")
        wanted = [name for name in features if name in (*categories, *used)]
        arguments: dict[str, Any] = {"named": named, "source": data, "features": features, "categories": wanted}
        meta = _prepared(optional("dask.dataframe.utils", "dask").make_meta(table), **arguments)
        made = table.map_partitions(_prepared, meta=meta, **arguments)
        groups = {} if named.group is None else {"groups": made[named.group]}
        cluster_model = getattr(heavy("sslart.dask"), type(model).__name__)(**model.get_params())
        cluster_model.fit(made[features], made[named.label], **groups)
    local = cluster_model.to_local()
    columns = [*columns_of_model(local), *(ColumnSummary(name, "left out", None, "") for name in left_out)]
    return local, time.perf_counter() - start, columns


def columns_of_model(model: Any) -> list[ColumnSummary]:
    """Return the interpretation of each column by a model, with its range or its categories."""
    view = view_of(model)
    encoder, plan, columns = view.members[0].encoder, view.reader.plan, []
    for place, name in enumerate(view.reader.feature_names[: model.n_features_in_]):
        if place in plan.left_out:
            why = next((note.detail for note in plan.notes if note.column == name), "")
            columns.append(ColumnSummary(name, "left out", None, why))
        elif place in encoder.categorical:
            found = encoder.categories_of(place)
            detail = f"{len(found)} categories: {listed([str(one) for one in found])}"
            columns.append(ColumnSummary(name, "category", None, detail))
        elif place in plan.dates:
            first, last = map(Day, encoder.range_of(place))
            columns.append(ColumnSummary(name, "date", None, f"{first} to {last}"))
        else:
            low, high = encoder.range_of(place)
            columns.append(ColumnSummary(name, "number", None, f"{low:g} to {high:g}" if low <= high else "no value"))
    return columns


@dataclass(frozen=True, eq=False)
class FilesPredictor:
    """A model, the options of its `RowPredictor`, and the format of the files that workers write."""

    model: Any
    options: dict[str, Any]
    file: PredictionFile


def predict_on_cluster(
    predict: FilesPredictor, data: str, out: str, scheduler: str | None, *, quiet: bool
) -> Counter[str]:
    """Write the predictions for each file into a folder; return the numbers of rows, abstentions and novel rows."""
    files, folder = matching_files(data), Path(out).resolve()
    targets = {source: str(folder / f"{Path(source).stem}.parquet") for source in files}
    if out == STANDARD:
        raise ValueError("With --dask, each file gets its own predictions: give a folder with --out.")
    if folder.is_file():
        raise NotADirectoryError(f"{out} is a file: with --dask, --out must be a folder.")
    if len(set(targets.values())) < len(files):
        raise ValueError(f"{data} matches files whose names differ only in their extension: give files of one format.")
    if set(targets.values()) & set(files):
        raise ValueError(f"{out} is the folder of the input files: give another one.")
    folder.mkdir(parents=True, exist_ok=True)
    changed(f"some files of {out}")
    cluster = heavy("sslart.dask._cluster")
    with connected(scheduler, quiet=quiet):
        tasks = cluster.Tasks()
        written = tasks.each("predict", _written, list(targets.items()), cluster.sent(predict, "model"))
        total: Counter[str] = cluster.run(tasks.tree("predict-join", _summed, written))
    return total


def _written(names: tuple[str, str], number: int, predict: FilesPredictor) -> Counter[str]:
    """Write the predictions for a file."""
    (source, target), predictor = names, RowPredictor(predict.model, **predict.options)
    return predict.file.write(lambda frame: predictor.of_frame(frame, source), source, target, predict.model.classes_)


def _summed(totals: Sequence[Counter[str]]) -> Counter[str]:
    return sum(totals, Counter[str]())
