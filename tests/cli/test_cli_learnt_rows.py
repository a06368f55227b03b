"""`sslart update` recognises rows that the model has learnt before, and does not count them twice."""

from __future__ import annotations

import io
import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_breast_cancer, load_wine

import sslart
from sslart._data.samples import Table
from sslart.cli import _seen_rows, main
from sslart.cli._seen_rows import LearntRows, keys_of
from tables import iris, write

Captured = pytest.CaptureFixture[str]


def wine(folder: Path, *, names: bool = False) -> Path:
    """Write wine with a class for one row in three, if asked with a name for each row."""
    frame = load_wine(as_frame=True).frame
    frame["target"] = frame["target"].map({0: "a", 1: "b", 2: "c"}).where(frame.index % 3 == 0)
    if names:
        frame["bottle"] = [f"bottle {row}" for row in frame.index]
    return write(frame, folder / "wine.csv")


def fit(data: Path, *options: str) -> str:
    model = str(data.with_suffix(".sslart"))
    assert main(["fit", str(data), "--label", "target", "--out", model, "--quiet", *options]) == 0
    return model


def update(model: str, data: Path, capsys: Captured, *options: str) -> dict[str, int]:
    capsys.readouterr()
    assert main(["update", model, str(data), "--label", "target", "--json", *options]) == 0
    found: dict[str, int] = json.loads(capsys.readouterr().out)
    return found


@pytest.mark.parametrize(
    "options", [pytest.param((), marks=pytest.mark.slow), ("--mapping", "one-to-many"), ("--members", "3")]
)
def test_the_file_that_was_learnt_changes_nothing(tmp_path: Path, capsys: Captured, options: tuple[str, ...]) -> None:
    data = wine(tmp_path)
    model = fit(data, *options)
    before = sslart.load(model)
    assert main(["update", model, str(data), "--label", "target"]) == 0
    assert "178 of 178 rows were already learnt and are skipped; --again learns them anyway." in capsys.readouterr().err
    X = load_wine(as_frame=True).data
    assert (sslart.load(model).predict_proba(X) == before.predict_proba(X)).all()
    found = update(model, data, capsys, "--again")
    assert (found["samples"], found["learnt_before"]) == (178, 178)
    assert sslart.load(model).support_.sum() == 2 * before.support_.sum()


@pytest.mark.slow
def test_new_rows_among_learnt_ones_are_learnt(tmp_path: Path, capsys: Captured) -> None:
    data = wine(tmp_path)
    frame = pd.read_csv(data)
    model = fit(write(frame[:100], tmp_path / "first.csv"))
    found = update(model, data, capsys)
    assert (found["samples"], found["learnt_before"]) == (78, 100)
    assert update(model, data, capsys)["samples"] == 0


def test_a_row_that_gets_a_label_is_learnt_and_another_label_is_named(tmp_path: Path, capsys: Captured) -> None:
    data = wine(tmp_path)
    model = fit(data)
    frame = pd.read_csv(data)
    frame.loc[1:2, "target"] = "a"
    frame.loc[0, "target"] = "b"
    write(frame, data)
    assert main(["update", model, str(data), "--label", "target"]) == 0
    printed = capsys.readouterr()
    assert "175 of 178 rows were already learnt" in printed.err
    assert "1 row already learnt with another class: both labels count." in printed.err
    assert update(model, data, capsys)["samples"] == 0


def test_the_name_of_a_row_decides_where_rows_have_names(tmp_path: Path, capsys: Captured) -> None:
    data = wine(tmp_path, names=True)
    model = fit(data, "--id", "bottle")
    frame = pd.read_csv(data)
    frame["alcohol"] += 0.5  # measured anew
    assert update(model, write(frame, tmp_path / "shifted.csv"), capsys)["learnt_before"] == 178
    frame = pd.read_csv(data).assign(bottle=[f"other {row}" for row in range(178)])
    assert update(model, write(frame, tmp_path / "other.csv"), capsys)["learnt_before"] == 0


@pytest.mark.slow
def test_names_that_several_rows_share_identify_nothing(tmp_path: Path, capsys: Captured) -> None:
    frame = pd.read_csv(wine(tmp_path)).assign(cellar=np.arange(178) // 10)
    model = fit(write(frame[:100], tmp_path / "first.csv"), "--id", "cellar")
    assert update(model, write(frame, tmp_path / "all.csv"), capsys)["learnt_before"] == 100


@pytest.mark.slow
def test_in_a_table_of_few_values_equal_rows_are_new_rows(tmp_path: Path, capsys: Captured) -> None:
    random = np.random.default_rng(0)
    frame = pd.DataFrame(random.integers(2, size=(60, 4)), columns=list("abcd"))
    frame["target"] = np.where(frame["a"] == frame["b"], "yes", "no")
    data = write(frame, tmp_path / "few.csv")
    model = fit(data)
    assert main(["update", model, str(data), "--label", "target"]) == 0
    printed = capsys.readouterr()
    assert "60 rows with the same values as rows that were learnt before" in printed.err
    assert "--id" in printed.err
    assert sslart.load(model).support_.sum() == 120


def test_labels_that_a_model_of_python_keeps_are_recognised(tmp_path: Path, capsys: Captured) -> None:
    data = wine(tmp_path)
    frame = pd.read_csv(data)
    model = tmp_path / "model.sslart"
    y = frame["target"].astype(object).where(frame["target"].notna(), None)
    sslart.save(sslart.AutoSSLART(random_state=0).fit(frame.drop(columns="target"), y), model)
    found = update(str(model), data, capsys)
    assert (found["learnt_before"], found["labelled"]) == (60, 0)


def test_what_label_and_watch_have_learnt_is_kept(
    tmp_path: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:

    data = iris(tmp_path)
    model = str(tmp_path / "iris.sslart")
    assert main(["fit", str(data), "--label", "species", "--id", "flower", "--out", model, "--quiet"]) == 0
    monkeypatch.setattr("sys.stdin", io.StringIO("setosa\ny\nq\n"))
    assert main(["label", model, str(data), "--label", "species"]) == 0
    assert main(["watch", model, str(write(pd.read_csv(data)[:5], tmp_path / "few.csv")), "--quiet"]) == 0
    assert main(["update", model, str(data), "--label", "species"]) == 0
    assert "150 of 150 rows were already learnt" in capsys.readouterr().err


@pytest.mark.slow
def test_updating_with_the_learnt_file_does_not_wreck_the_model(tmp_path: Path, capsys: Captured) -> None:
    X, y = load_breast_cancer(return_X_y=True)
    frame = pd.DataFrame(X).rename(columns=str)
    frame["target"] = np.where(np.arange(len(y)) % 8 == 0, np.where(y == 1, "benign", "malignant"), None)
    data = write(frame[:380], tmp_path / "cancer.csv")
    model = fit(data)
    truth = np.where(y == 1, "benign", "malignant")[380:]
    once = sslart.load(model).score(frame.drop(columns="target")[380:], truth)
    claimed = sslart.load(model).quality_.accuracy.value  # type: ignore[union-attr]
    for options in ((), ("--again",)):
        update(model, data, capsys, *options)
        update(model, data, capsys, *options)
        again = sslart.load(model)
        assert abs(again.score(frame.drop(columns="target")[380:], truth) - once) < 0.03
        assert abs(again.quality_.accuracy.value - claimed) < 0.05  # type: ignore[union-attr]


def table_of(numbers: list[int]) -> Table:
    return Table(np.array(numbers, dtype=np.float64)[:, None])


rows = st.lists(st.tuples(st.integers(0, 30), st.sampled_from([None, "a", "b"])), min_size=1, max_size=20)


@given(rows, rows)
def test_rows_are_recognised_with_their_labels(
    learnt: list[tuple[int, str | None]], new: list[tuple[int, str | None]]
) -> None:
    known = LearntRows("name", None).adding(keys_of(table_of([n for n, _ in learnt]), [label for _, label in learnt]))
    found = known.compare(keys_of(table_of([n for n, _ in new]), [label for _, label in new]))
    labels = {n: {label for other, label in learnt if other == n} for n, _ in new}
    for row, (n, label) in enumerate(new):
        assert found.again[row] == (bool(labels[n]) if label is None else label in labels[n])
        assert found.other_label[row] == (label is not None and label not in labels[n] and bool(labels[n] - {None}))


def test_of_very_many_rows_a_random_part_is_recognised(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_seen_rows, "MAX_KEYS", 100)
    keys = keys_of(table_of(list(range(1000))))
    whole = LearntRows("name", None).adding(keys)
    parts = LearntRows("name", None)
    for start in range(0, 1000, 300):
        parts = parts.adding(keys_of(table_of(list(range(start, min(start + 300, 1000))))))
    assert whole.is_part
    assert parts.is_part
    assert whole.compare(keys).again.sum() == 100
    assert (whole.compare(keys).again == parts.compare(keys).again).all()


def test_notes_that_do_not_fit_together_are_refused() -> None:
    good = LearntRows("name", "group").adding(keys_of(table_of([1, 2]))).to_notes()
    assert LearntRows.from_notes(good).id_column == "name"
    for change in ({"n_rows": -1}, {"rows": np.zeros(3)}, {"labels": np.zeros(1, np.int64)}, {"id_column": 1}):
        with pytest.raises(ValueError, match="inconsistent"):
            LearntRows.from_notes({**good, **change})
