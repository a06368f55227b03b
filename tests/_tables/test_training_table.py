"""A frame that was already read becomes a table to learn from, with and without labels."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from sslart._tables.training_table import ColumnRoles, read_training_table, training_table_of
from sslart._utils.notes import collected_notes

ROWS = {
    "name": ["r1", "r2", "r3", "r4"],
    "size": ["1.5", "2", None, "4"],
    "colour": ["red", None, "blue", "red"],
    "kind": ["a", "b", None, "a"],
}


def frame(**changed: Any) -> pd.DataFrame:
    return pd.DataFrame({**ROWS, **changed}, dtype=object)


def kinds(columns: Any) -> dict[str, str]:
    return {column.name: column.kind for column in columns}


def test_the_label_column_of_a_frame_is_its_labels() -> None:
    table = training_table_of(frame(), ColumnRoles("kind", id_column="name"), "rows")
    assert table.labels == ["a", "b", None, "a"]
    assert table.ids == ["r1", "r2", "r3", "r4"]
    assert list(table.samples.columns) == ["size", "colour"]
    assert kinds(table.columns) == {"size": "number", "colour": "category", "name": "left out", "kind": "label"}
    assert table.columns[-1].detail == "a: 2, b: 1"


def test_a_frame_without_a_label_column_has_no_labels_and_no_entry_for_them() -> None:
    with collected_notes() as notes:
        table = training_table_of(frame(), ColumnRoles(None, id_column="name", group="kind"), "rows")
    assert table.labels == [None] * 4
    assert table.label_counts == {}
    assert table.groups == ["a", "b", None, "a"]
    assert kinds(table.columns) == {"size": "number", "colour": "category", "name": "left out", "kind": "group"}
    assert notes == []


def test_a_label_column_that_is_blank_throughout_is_an_error_only_where_labels_are_needed() -> None:
    blank, named = frame(kind=[None] * 4), ColumnRoles("kind", id_column="name")
    with pytest.raises(ValueError, match="'kind' of rows is blank throughout: label at least one row"):
        training_table_of(blank, named, "rows")
    table = training_table_of(blank, named, "rows", need_labels=False)
    assert table.labels == [None] * 4
    assert kinds(table.columns)["kind"] == "label"


@pytest.mark.parametrize("label", ["kind", None])
def test_a_file_gives_the_table_of_its_frame(label: str | None, tmp_path: Path) -> None:
    path, named = tmp_path / "rows.csv", ColumnRoles(label, id_column="name")
    frame().to_csv(path, index=False)
    table = read_training_table(str(path), named, most_rows=100, seed=0, progress=False)
    same = training_table_of(frame(), named, str(path))
    pd.testing.assert_frame_equal(table.samples, same.samples)
    assert table[1:] == same[1:]


def test_some_rows_of_a_long_file_without_labels_are_learnt_with_a_note(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    frame().to_csv(path, index=False)
    with collected_notes() as notes:
        table = read_training_table(str(path), ColumnRoles(None, "name"), most_rows=2, seed=0, progress=False)
    assert len(table.samples) == len(table.labels) == 2
    assert notes == [f"{path} has 4 rows: learnt from 2 of them. --most-rows sets how many."]
