"""`sslart fit --dask`: a model learnt from many Parquet files."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

from sslart._mapping.model_view import view_of
from sslart._tables.cells import MISSING, check_unique, texts
from sslart._tables.columns import Column, check_columns, groups_of, labels_of, split_names
from sslart._tables.training_table import Columns
from sslart._utils.optional import heavy, optional
from sslart._utils.text import Day, listed
from sslart.cli.cluster.connection import connected, matching_files

PARQUET = (".parquet", ".pq")


@dataclass(frozen=True)
class Prepared:
    """Extracts features, labels, and groups from a partition."""

    source: str
    label: str
    group: str | None
    features: tuple[str, ...]
    categories: tuple[str, ...]

    def __call__(self, frame: Any) -> Any:
        """Return the columns to learn from, the labels as text, and the groups, without rows that are blank."""
        frame = frame[~frame[list(self.features)].isna().all(axis=1)].reset_index(drop=True)
        pandas = optional("pandas", "cli")
        made = frame[list(self.features)].copy()
        for name in self.categories:
            cells = [None if cell in MISSING else cell for cell in texts(frame[name])]
            made[name] = pandas.Series(cells, index=made.index, dtype=object).astype("category")
        labels = labels_of(frame, self.label, self.source)
        made[self.label] = pandas.Series(labels, index=made.index, dtype=object)
        if self.group is not None:
            groups = groups_of(frame, self.group, self.source, labels)
            made[self.group] = pandas.Series(groups, index=made.index, dtype=object)
        return made


def fit_on_cluster(
    model: Any, data: str, named: Columns, scheduler: str | None, *, quiet: bool
) -> tuple[Any, float, list[Column]]:
    """Fit a model to all files; return an ordinary model, the seconds it took, and the kinds of columns.

    Parameters
    ----------
    model : estimator
        Not fitted.
    data : str
        A pattern such as part-*.parquet, a folder, or an address that dask can read.
    named : Columns
    scheduler : str or None
    quiet : bool
    """
    frames = optional("dask.dataframe", "dask")
    files = data if "://" in data else matching_files(data)
    if not isinstance(files, str) and not all(one.lower().endswith(PARQUET) for one in files):
        other = next(one for one in files if not one.lower().endswith(PARQUET))
        raise ValueError(
            f"--dask learns from Parquet files, in which columns have types, and {other} is none: write it as Parquet, "
            "or leave --dask out."
        )
    start = time.perf_counter()
    with connected(scheduler, quiet=quiet), heavy("dask").config.set({"dataframe.convert-string": False}):
        table = frames.read_parquet(files)
        prepared, left_out = _columns(table, named, data)
        meta = prepared(optional("dask.dataframe.utils", "dask").make_meta(table))
        made = table.map_partitions(prepared, meta=meta)
        groups = {} if named.group is None else {"groups": made[named.group]}
        cluster_model = getattr(heavy("sslart.dask"), type(model).__name__)(**model.get_params())
        cluster_model.fit(made[list(prepared.features)], made[named.label], **groups)
    local = cluster_model.to_local()
    columns = [*taken_for(local), *(Column(name, "left out", None, "") for name in left_out)]
    return local, time.perf_counter() - start, columns


def _columns(table: Any, named: Columns, data: str) -> tuple[Prepared, list[str]]:
    """Return the columns to learn and their kinds, and the columns that the user excludes, after checking them."""
    names = [str(name) for name in table.columns]
    check_unique(names, data)
    left_out = [name for name in (named.id_column, *split_names(named.ignore, table)) if name is not None]
    categories = [*split_names(named.category, table), *split_names(named.use, table)]
    assert named.label is not None  # the command line asks for it
    check_columns(names, [named.label, named.group, *left_out, *categories], data)
    if named.label in (named.group, *left_out):
        raise ValueError(f"Column {named.label!r} cannot be the label and be left out: name another column.")
    features = [name for name in names if name not in (named.label, named.group, *left_out)]
    if not features:
        raise ValueError(f"{data} has no column left to learn from: ignore fewer columns.")
    wanted = tuple(name for name in features if name in categories)
    return Prepared(data, named.label, named.group, tuple(features), wanted), left_out


def taken_for(model: Any) -> list[Column]:
    """Return the interpretation of each column by a model, with its range or its categories."""
    view = view_of(model)
    encoder, plan, columns = view.members[0].encoder, view.reader.plan, []
    for place, name in enumerate(view.reader.feature_names[: model.n_features_in_]):
        if place in plan.left_out:
            why = next((note.detail for note in plan.notes if note.column == name), "")
            columns.append(Column(name, "left out", None, why))
        elif place in encoder.categorical:
            found = encoder.categories_of(place)
            detail = f"{len(found)} categories: {listed([str(one) for one in found])}"
            columns.append(Column(name, "category", None, detail))
        elif place in plan.dates:
            first, last = map(Day, encoder.range_of(place))
            columns.append(Column(name, "date", None, f"{first} to {last}"))
        else:
            low, high = encoder.range_of(place)
            columns.append(Column(name, "number", None, f"{low:g} to {high:g}" if low <= high else "no value"))
    return columns
