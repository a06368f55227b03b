"""`sslart predict` predicts each row as the library does."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris

import sslart
from sslart.cli import main
from tables import fitted, iris, iris_model, mixed, mixed_model

COLUMNS = ["class", "probability", "abstained", "box", "novelty", "novel"]
Captured = pytest.CaptureFixture[str]


def test_predictions_are_those_of_the_library(tmp_path: Path) -> None:
    model, out = iris_model(tmp_path), tmp_path / "predictions.csv"
    assert main(["predict", str(model), str(tmp_path / "iris.csv"), "--id", "flower", "--out", str(out)]) == 0
    predictions = pd.read_csv(out)
    assert list(predictions) == ["flower", *COLUMNS]
    X, loaded = load_iris(as_frame=True).data, sslart.load(model)
    assert predictions["class"].tolist() == loaded.predict(X).tolist()
    np.testing.assert_allclose(predictions["probability"], loaded.predict_proba(X).max(axis=1), atol=1e-6)
    np.testing.assert_allclose(predictions["novelty"], 1 - loaded.score_samples(X), atol=1e-6)
    assert not predictions["abstained"].any()


def test_categories_and_gaps_are_read_as_they_were_learnt(tmp_path: Path, capsys: Captured) -> None:
    model = mixed_model(tmp_path)
    printed = []
    for name in ("new.csv", "new.tsv", "new.parquet"):
        assert main(["predict", str(model), str(mixed(tmp_path, name, labels=False))]) == 0
        printed.append(capsys.readouterr().out)
    assert printed[0] == printed[1] == printed[2]
    assert len(printed[0].splitlines()) == 121


def test_abstention_leaves_the_class_blank(tmp_path: Path, capsys: Captured) -> None:
    model = str(iris_model(tmp_path))
    assert main(["predict", model, str(tmp_path / "iris.csv"), "--abstain-below", "1", "--json"]) == 0
    predictions = json.loads(capsys.readouterr().out)
    assert all(one["abstained"] and one["class"] is None for one in predictions)


@pytest.mark.slow
@pytest.mark.filterwarnings("default:max_error")
def test_a_largest_error_leaves_out_what_is_not_sure_enough(tmp_path: Path, capsys: Captured) -> None:
    random = np.random.RandomState(0)
    y = np.where(random.uniform(size=400) < 0.5, "yes", "no").astype(object)
    frame = pd.DataFrame({"a": random.normal(size=400) + 3 * (y == "yes"), "b": random.normal(size=400)})
    frame.assign(label=np.where(np.arange(400) < 150, y, None)).to_csv(tmp_path / "data.csv", index=False)
    model, out = fitted(tmp_path / "data.csv", "--label", "label"), tmp_path / "out.csv"
    arguments = ["predict", str(model), str(tmp_path / "data.csv"), "--out", str(out)]
    senses: dict[float | None, list[str]] = {0.9: [], 0.5: ["--confidence", "0.5"], None: ["--on-average"]}
    counts = []
    for confidence, options in senses.items():
        for error in ("0.1", "0.07"):
            assert main([*arguments, "--max-error", error, *options]) == 0
            loaded = sslart.load(model).set_params(max_error=float(error), confidence=confidence)
            assert with_none(pd.read_csv(out)["class"]) == loaded.predict(frame).tolist()
            assert list(pd.read_csv(out)) == COLUMNS
        counts.append(pd.read_csv(out)["class"].count())
    assert counts[0] < counts[1] <= counts[2]
    capsys.readouterr()
    assert main([*arguments, "--max-error", "0.001"]) == 0
    assert "needs at least 4093 labels" in capsys.readouterr().err
    assert pd.read_csv(out)["class"].isna().all()
    for options, message in (
        (["--max-error", "0"], r"must be a number in (0, 1]"),
        (["--max-error", "0.1", "--confidence", "1"], "must be below 1"),
        (["--confidence", "0.5"], "add --max-error"),
        (["--max-error", "0.1", "--confidence", "0.5", "--on-average"], "give --confidence or --on-average"),
    ):
        assert main([*arguments, *options]) == 1
        assert message in capsys.readouterr().err
    counts = fitted(tmp_path / "data.csv", "--label", "label", "--mapping", "one-to-many")
    assert main(["predict", str(counts), str(tmp_path / "data.csv"), "--max-error", "0.1"]) == 1
    assert "need evidence mapping" in capsys.readouterr().err


def with_none(labels: pd.Series) -> list[str | None]:
    return [None if pd.isna(label) else label for label in labels]


def test_a_search_depth_leaves_out_what_is_far_from_all_labels(tmp_path: Path) -> None:
    model = fitted(iris(tmp_path), "--label", "species", "--id", "flower", "--mapping", "one-to-many")
    X, loaded = load_iris(as_frame=True).data, sslart.load(model)
    coverages = []
    for depth in (1, 2, 3):
        out = tmp_path / f"depth{depth}.csv"
        arguments = ["predict", str(model), str(tmp_path / "iris.csv"), "--search-depth", str(depth)]
        assert main([*arguments, "--out", str(out), "--quiet"]) == 0
        predictions = pd.read_csv(out)
        assert with_none(predictions["class"]) == loaded.set_params(search_depth=depth).predict(X).tolist()
        coverages.append(1 - predictions["abstained"].mean())
    assert 0 < coverages[0] < coverages[1] < coverages[2] < 1


def test_a_deeper_search_than_that_of_the_model_names_the_rule_of_the_box(tmp_path: Path, capsys: Captured) -> None:
    path = fitted(iris(tmp_path), "--label", "species", "--id", "flower", "--mapping", "one-to-many")
    model, X = sslart.load(path), load_iris(as_frame=True).data
    sslart.save(model.set_params(search_depth=1), path)
    assert main(["predict", str(path), str(tmp_path / "iris.csv"), "--search-depth", "1000", "--json"]) == 0
    nodes = model.set_params(search_depth=None).apply(X)
    rule_of = {
        node: number
        for number, rule in zip(model.rules(kind="boxes").numbers, model.rules(kind="boxes"), strict=True)
        for node in rule.nodes
    }
    assert [one["box"] for one in json.loads(capsys.readouterr().out)] == [rule_of[node] for node in nodes]


def test_a_quorum_leaves_out_what_few_members_vote_on(tmp_path: Path, capsys: Captured) -> None:
    model = fitted(iris(tmp_path), "--label", "species", "--id", "flower", "--members", "5")
    X, loaded = load_iris(as_frame=True).data, sslart.load(model)
    arguments = ["predict", str(model), str(tmp_path / "iris.csv"), "--search-depth", "1"]
    abstained = []
    for quorum in (1, 3, 5):
        assert main([*arguments, "--quorum", str(quorum), "--json"]) == 0
        predictions = json.loads(capsys.readouterr().out)
        expected = loaded.set_params(search_depth=1, quorum=quorum).predict(X).tolist()
        assert [one["class"] for one in predictions] == expected
        abstained.append(sum(one["abstained"] for one in predictions))
    assert abstained[0] < abstained[1] < abstained[2]
    assert main([*arguments, "--quorum", "6"]) == 1
    assert "give at most 5" in capsys.readouterr().err


def test_a_quorum_of_one_model_is_refused(tmp_path: Path, capsys: Captured) -> None:
    assert main(["predict", str(iris_model(tmp_path)), str(tmp_path / "iris.csv"), "--quorum", "2"]) == 1
    assert "sslart fit --members" in capsys.readouterr().err


def test_what_is_unlike_all_is_novel(tmp_path: Path) -> None:
    model, new, out = iris_model(tmp_path), tmp_path / "new.csv", tmp_path / "predictions.parquet"
    names = ",".join(sslart.load(model).feature_names_in_)
    new.write_text(f"{names},remark\n90,90,90,90,odd\n5.1,3.5,1.4,0.2,usual\n")
    assert main(["predict", str(model), str(new), "--out", str(out), "--quiet"]) == 0
    assert pd.read_parquet(out)["novel"].tolist() == [True, False]


def test_the_share_of_false_alarms_is_stated(tmp_path: Path, capsys: Captured) -> None:
    model, new, out = iris_model(tmp_path), tmp_path / "new.csv", tmp_path / "predictions.csv"
    X = (load_iris(as_frame=True).data * 1.1).round(3)
    X.to_csv(new, index=False)
    flagged = []
    for share in ("0.01", "0.05", "0.5"):
        assert main(["predict", str(model), str(new), "--out", str(out), "--false-alarms", share]) == 0
        expected = sslart.load(model).is_novel(X, float(share))
        assert pd.read_csv(out)["novel"].tolist() == expected.tolist()
        assert f"at most {100 * float(share):g} in 100 are flagged" in capsys.readouterr().err
        flagged.append(expected.sum())
    assert flagged[0] <= flagged[1] < flagged[2]
    assert main(["predict", str(model), str(new), "--false-alarms", "0"]) == 1
    assert "false_alarms" in capsys.readouterr().err


def test_too_few_samples_to_flag_any_are_named(tmp_path: Path, capsys: Captured) -> None:
    few, model, out = tmp_path / "few.csv", tmp_path / "few.sslart", tmp_path / "predictions.csv"
    few.write_text("size,kind\n1,a\n2,a\n8,b\n9,b\n")
    assert main(["fit", str(few), "--label", "kind", "--out", str(model)]) == 0
    assert main(["predict", str(model), str(few), "--out", str(out)]) == 0
    assert "none can be flagged: at most 5 in 100 false alarms need 19 distinct" in capsys.readouterr().err


def test_errors_name_cause_and_cure(tmp_path: Path, capsys: Captured) -> None:
    model, new = str(mixed_model(tmp_path)), tmp_path / "new.csv"
    for content, words in {
        "size,colour\n1,red\n": ["lacks 'code'", "--ignore code"],
        "size,colour,code\n1,red,1\nbig,red,2\n": ["'big' in row 2"],
    }.items():
        new.write_text(content)
        assert main(["predict", model, str(new)]) == 1
        error = capsys.readouterr().err
        assert len(error.splitlines()) == 1
        assert all(word in error for word in words)
    assert main(["predict", str(new), str(new)]) == 1
    assert "not a sslart model" in capsys.readouterr().err
    assert main(["predict", "none.sslart", str(new)]) == 1
    assert "sslart fit" in capsys.readouterr().err


def test_models_of_the_library_predict_too(tmp_path: Path, capsys: Captured) -> None:
    path, new = tmp_path / "model.sslart", tmp_path / "new.csv"
    new.write_text("a,b\n0,0\n1,1\n")
    sslart.save(sslart.FuzzyARTMAP().fit([[0, 0], [1, 1]], [3, 4]), path)
    assert main(["predict", str(path), str(new)]) == 0
    assert [line.split(",")[0] for line in capsys.readouterr().out.splitlines()] == ["class", "3", "4"]
    sslart.save(sslart.FuzzyART().fit([[0, 0], [1, 1]]), path)
    assert main(["predict", str(path), str(new)]) == 1
    assert "FuzzyART" in capsys.readouterr().err


def test_one_row_takes_no_regression_and_no_rule(tmp_path: Path) -> None:
    data, called = iris(tmp_path), set[tuple[str, str]]()
    model, one = iris_model(tmp_path), tmp_path / "one.csv"
    pd.read_csv(data).head(1).to_csv(one, index=False)

    def note_call(frame: Any, event: str, _: Any) -> None:
        if event == "call":
            called.add((Path(frame.f_code.co_filename).stem, frame.f_code.co_name))

    sys.setprofile(note_call)
    try:
        assert main(["predict", str(model), str(one), "--out", str(tmp_path / "out.csv")]) == 0
    finally:
        sys.setprofile(None)
    stems = {stem for stem, _ in called}
    assert "readout" in stems
    assert not stems & {"algebra", "regression", "ridge", "selection", "_model_extraction"}
    assert ("_box_extraction", "_extract") not in called
