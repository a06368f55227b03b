"""The first command on ten real tables, as they are: it works, and its accuracy is that of good rivals."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.ensemble import RandomForestClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import sslart
from sslart.cli import main
from ten_tables import TABLES, read

LABELLED = 0.3  # of the rows to learn from
N_SPLITS = 5
N_TABLES = 7  # on which the accuracy must be no lower than that of the random forest
MEAN_LEAD = 0.02  # over all tables, ahead of either rival


def with_few_labels(frame: pd.DataFrame, label: str, seed: int) -> pd.DataFrame:
    """Return a table in which most rows have no label; every class keeps one."""
    random = np.random.RandomState(seed)
    keeps = random.rand(len(frame)) < LABELLED
    keeps[frame.groupby(label).sample(1, random_state=seed).index] = True
    return frame.assign(**{label: frame[label].astype(object).where(keeps, None)})


@pytest.mark.parametrize("name", TABLES)
def test_the_first_command_works_on_a_real_table_as_it_is(name: str, tmp_path: Path) -> None:
    frame, label = read(name)
    frame = frame.sample(min(len(frame), 150), random_state=0).reset_index(drop=True)
    with_few_labels(frame, label, 0).to_csv(tmp_path / "table.csv", index=False)
    frame.drop(columns=label).to_csv(tmp_path / "new.csv", index=False)
    model, answers = tmp_path / "model.sslart", tmp_path / "answers.csv"
    assert main(["fit", str(tmp_path / "table.csv"), "--label", label, "--out", str(model), "--quiet"]) == 0
    assert main(["predict", str(model), str(tmp_path / "new.csv"), "--out", str(answers)]) == 0
    assert len(pd.read_csv(answers)) == len(frame)
    notes = sslart.load(model).summary().notes
    assert not [note for note in notes if note.topic == "likely leaks"]


def features(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the features that a careful user of scikit-learn would use: no row names, dates as numbers."""
    columns: dict[str, Any] = {}
    for name in frame.columns:
        column = frame[name]
        if column.dtype.kind == "M" or name in ("time", "Date Egg"):
            moments = pd.to_datetime(column, utc=True).dt.tz_localize(None)
            columns[f"{name} days"] = (moments - pd.Timestamp("1970-01-01")) / pd.Timedelta(days=1)
            columns[f"{name} month"], columns[f"{name} weekday"] = moments.dt.month, moments.dt.day_of_week
            columns[f"{name} hour"] = moments.dt.hour
        elif column.dtype.kind in "iufb":
            if name != "rownames":
                columns[name] = column.astype(float)
        elif column.nunique() <= len(frame) / 2:
            columns[name] = column.astype(object).where(column.notna(), "missing")
    return pd.DataFrame(columns)


def rivals(seed: int) -> dict[str, Any]:
    """Return a random forest and a logistic regression, each behind what they need."""
    numbers, others = make_column_selector(dtype_include="number"), make_column_selector(dtype_exclude="number")
    one_hot = OneHotEncoder(handle_unknown="ignore")
    filled = SimpleImputer(strategy="median", keep_empty_features=True)
    return {
        "random forest": make_pipeline(
            make_column_transformer((filled, numbers), (one_hot, others)),
            RandomForestClassifier(200, random_state=seed, n_jobs=1),
        ),
        "logistic regression": make_pipeline(
            make_column_transformer((make_pipeline(filled, StandardScaler()), numbers), (one_hot, others)),
            LogisticRegression(max_iter=2000),
        ),
    }


def accuracies(name: str, folder: Path) -> dict[str, float]:
    """Return the mean accuracy on held-out rows of the first command, with its usual settings, and of the rivals."""
    frame, label = read(name)
    frame[label] = frame[label].astype(str)
    found: dict[str, list[float]] = {}
    for seed in range(N_SPLITS):
        learnt, held_out = train_test_split(frame, test_size=0.3, random_state=seed, stratify=frame[label])
        learnt = with_few_labels(learnt.reset_index(drop=True), label, seed)
        learnt.to_csv(folder / "table.csv", index=False)
        held_out.drop(columns=label).to_csv(folder / "new.csv", index=False)
        model, answers = folder / "model.sslart", folder / "answers.csv"
        assert main(["fit", str(folder / "table.csv"), "--label", label, "--out", str(model), "--quiet"]) == 0
        assert main(["predict", str(model), str(folder / "new.csv"), "--out", str(answers)]) == 0
        predicted = pd.read_csv(answers, dtype=str, keep_default_na=False)["class"].to_numpy()
        truth = held_out[label].to_numpy()
        found.setdefault("sslart", []).append(np.mean(predicted == truth))
        known = learnt[label].notna()
        own, other = features(learnt.drop(columns=label)), features(held_out.drop(columns=label))
        shared = [column for column in own.columns if column in other.columns]
        for rival, pipeline in rivals(seed).items():
            pipeline.fit(own.loc[known, shared], learnt.loc[known, label])
            found.setdefault(rival, []).append(np.mean(pipeline.predict(other[shared]) == truth))
    return {method: float(np.mean(values)) for method, values in found.items()}


@pytest.mark.slow
def test_its_accuracy_is_above_that_of_either_rival_over_all_tables(tmp_path: Path) -> None:
    measured = pd.DataFrame({name: accuracies(name, tmp_path) for name in TABLES}).T
    print(measured.round(4).to_string())  # shown by pytest -s
    assert measured["sslart"].mean() >= measured.mean().drop("sslart").max() + MEAN_LEAD
    assert (measured["sslart"] >= measured["random forest"]).sum() >= N_TABLES
