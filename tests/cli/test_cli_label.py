"""`sslart label` asks for labels, learns each at once, and prints how the accuracy changes."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_digits, load_iris

import sslart
from sslart.active._queries import is_reserved
from sslart.cli import main
from tables import fitted, iris, iris_model, mixed_model, write

Captured = pytest.CaptureFixture[str]
NAMES = load_iris().target_names[load_iris().target]


def type_lines(monkeypatch: pytest.MonkeyPatch, *lines: str) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO("".join(f"{line}\n" for line in lines)))


def test_each_label_serves_a_box_and_is_saved(
    tmp_path: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    model, data, record = iris_model(tmp_path), str(tmp_path / "iris.csv"), tmp_path / "record.csv"
    before = sslart.load(model)
    type_lines(monkeypatch, "virginica", "3", "q")
    arguments = ["label", str(model), data, "--label", "species", "--id", "flower", "--record", str(record)]
    assert main(arguments) == 0
    printed = capsys.readouterr().out
    states = [line for line in printed.replace(": ", ":\n").splitlines() if " labels; " in line]
    assert [int(state.split()[0]) for state in states] == [30, 31, 32]
    assert all("; accuracy " in state and "leave-one-out" in state for state in states)
    after = sslart.load(model)
    assert after.n_labelled_nodes_ == before.n_labelled_nodes_ + 2
    assert after.support_.sum() == before.support_.sum() + 2
    header, *rows = [line.split(",") for line in record.read_text().splitlines()]
    assert header == ["row", "id", "class", "chosen"]
    for row, name, label, chosen in rows:
        assert f"flower {int(row) - 1}" == name
        assert f"Question {rows.index([row, name, label, chosen]) + 1}: row {row}, {name}" in printed
        assert label == "virginica"
        assert int(row) % 5 != 1  # rows that have a label are not asked about


@pytest.mark.slow
def test_right_labels_make_a_better_model(tmp_path: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch) -> None:
    data = iris(tmp_path)
    frame = load_iris(as_frame=True).data
    start = [name if row in (0, 50) else None for row, name in enumerate(NAMES)]
    few = write(frame.assign(species=start), tmp_path / "few.csv")
    model = fitted(few, "--label", "species")
    before = sslart.load(model).score(frame, NAMES)
    for _ in range(10):
        asked = tmp_path / "asked.csv"
        type_lines(monkeypatch)
        assert main(["label", str(model), str(data)]) == 0
        row = int(capsys.readouterr().out.partition("Question 1: row ")[2].partition(";")[0])
        type_lines(monkeypatch, NAMES[row - 1], "y")
        assert main(["label", str(model), str(data), "--questions", "1", "--record", str(asked)]) == 0
        capsys.readouterr()
    assert len(asked.read_text().splitlines()) == 11
    assert sslart.load(model).score(frame, NAMES) > max(before, 0.9)


def test_new_classes_are_confirmed_and_others_refused(
    tmp_path: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    model, out = iris_model(tmp_path), tmp_path / "other.sslart"
    content = model.read_bytes()
    type_lines(monkeypatch, "rose", "n", "", "rose", "y")
    assert main(["label", str(model), str(tmp_path / "iris.csv"), "--out", str(out)]) == 0
    assert sslart.load(out).classes_.tolist() == ["rose", "setosa", "versicolor", "virginica"]
    assert model.read_bytes() == content
    capsys.readouterr()
    numbers, data = tmp_path / "numbers.sslart", tmp_path / "numbers.csv"
    sslart.save(sslart.SSLART(random_state=0).fit([[0, 0], [1, 1], [0, 1]], [3, 4, None]), numbers)
    data.write_text("a,b\n0,1\n1,0\n")
    type_lines(monkeypatch, "many", "5", "y")
    assert main(["label", str(numbers), str(data), "--questions", "1"]) == 0
    assert "'many' is not of the same type" in capsys.readouterr().out
    assert sslart.load(numbers).classes_.tolist() == [3, 4, 5]


@pytest.mark.parametrize("mapping", ["one-to-many", "evidence"])
def test_a_model_without_a_label_gets_its_first_ones(
    mapping: str, tmp_path: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    model, data = tmp_path / "model.sslart", tmp_path / "data.csv"
    sslart.save(sslart.SSLART(mapping=mapping, random_state=0).partial_fit([[0, 0], [1, 1]]), model)
    data.write_text("x,y\n0,0\n1,1\n")
    type_lines(monkeypatch, "a", "y", "b", "y")
    assert main(["label", str(model), str(data), "--questions", "2"]) == 0
    printed = capsys.readouterr().out
    assert printed.startswith("0 labels; 0 of 2 boxes have a label and contain 0 % of the rows\n")
    assert "Class (a new class; Enter" in printed
    assert sslart.load(model).predict([[0, 0], [1, 1]]).tolist() == ["a", "b"]


def test_samples_are_shown_in_words(tmp_path: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch) -> None:
    model = mixed_model(tmp_path)
    type_lines(monkeypatch, "q")
    assert main(["label", str(model), str(tmp_path / "mixed.csv")]) == 0
    printed = capsys.readouterr().out
    assert "code    “" in printed
    assert "The model predicts" in printed
    digits = load_digits(as_frame=True)
    few = digits.data.assign(digit=digits.target.where(digits.target.index % 100 == 0).astype("Int64"))[:300]
    wide = fitted(write(few, tmp_path / "digits.csv"), "--label", "digit")
    type_lines(monkeypatch, "q")
    assert main(["label", str(wide), str(tmp_path / "digits.csv")]) == 0
    printed = capsys.readouterr().out
    assert "and 44 more columns with less unusual values" in printed
    assert printed.count("“Very Large”") + printed.count("“Very Small”") == 20


def test_json_goes_to_standard_output_alone(tmp_path: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch) -> None:
    model = iris_model(tmp_path)
    type_lines(monkeypatch, "setosa")
    assert main(["label", str(model), str(tmp_path / "iris.csv"), "--json"]) == 0
    printed = capsys.readouterr()
    summary = json.loads(printed.out)
    assert summary["labelled"] == 1
    assert [state["labels"] for state in summary["states"]] == [30, 31]
    assert summary["states"][1]["rows_in_them"] >= summary["states"][0]["rows_in_them"]
    assert "Question 1" in printed.err
    assert main(["label", str(model), "-"]) == 1
    assert "as a file" in capsys.readouterr().err


def test_questions_come_to_an_end(tmp_path: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch) -> None:
    model, data = tmp_path / "model.sslart", tmp_path / "data.csv"
    sslart.save(sslart.SSLART(random_state=0).fit([[0, 0], [1, 1]], ["a", "b"]), model)
    data.write_text("x,y\n0,0\n1,1\n")
    type_lines(monkeypatch, "", "", "")
    assert main(["label", str(model), str(data)]) == 0
    assert "no more rows to label" in capsys.readouterr().out


def test_labels_that_cannot_be_learnt_are_not_taken(
    tmp_path: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    numbers, data = tmp_path / "numbers.sslart", tmp_path / "numbers.csv"
    sslart.save(sslart.SSLART(random_state=0).fit([[0, 0], [1, 1], [0, 1]], [3, 4, None]), numbers)
    data.write_text("a,b\n0,1\n1,0\n")
    type_lines(monkeypatch, "-1", "--5", "\u00b2", "q")
    assert main(["label", str(numbers), str(data)]) == 0
    assert capsys.readouterr().out.count("is not of the same type") == 3
    letters = tmp_path / "letters.sslart"
    sslart.save(sslart.SSLART(random_state=0).fit([[0, 0], [1, 1], [0, 1]], ["p", "q", None]), letters)
    type_lines(monkeypatch, "q")
    assert main(["label", str(letters), str(data), "--questions", "1", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["labelled"] == 1


def test_one_answer_serves_all_rows_of_a_tight_box(
    tmp_path: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    data, record = tmp_path / "twins.csv", tmp_path / "record.csv"
    twins = [[0.5, 0.5]] * 6 + [[0.0, 0.1], [1.0, 0.9], [0.1, 0.0], [0.9, 1.0]]
    kinds = ["", "", "", "", "", "", "low", "high", "low", "high"]
    data.write_text("a,b,kind\n" + "".join(f"{a},{b},{kind}\n" for (a, b), kind in zip(twins, kinds, strict=True)))
    model = fitted(data, "--label", "kind")
    capsys.readouterr()
    reserved = np.flatnonzero(is_reserved(np.arange(6)))  # for questions drawn at random, one by one
    type_lines(monkeypatch, "high*", *["high"] * len(reserved))
    command = ["label", str(model), str(data), "--label", "kind", "--write", "--record", str(record)]
    assert main(command) == 0
    printed = capsys.readouterr().out
    assert f"add * for all {6 - len(reserved)} rows of the box" in printed
    assert "in the box" in printed
    assert "0.5 to 0.5" in printed
    assert "There are no more rows to label." in printed
    asked = [line.split(",") for line in record.read_text().splitlines()[1:]]
    assert sorted(int(row) for row, *_ in asked) == [1, 2, 3, 4, 5, 6]
    assert [int(row) - 1 for row, *_, chosen in asked if not chosen] == reserved.tolist()
    assert [line.split(",")[2] for line in data.read_text().splitlines()[1:7]] == ["high"] * 6
    learnt = sslart.load(model)
    assert learnt.counts_.sum() == 4 + 6
    assert learnt.summary().classes[0].n_labels == 8


def test_a_star_is_part_of_a_name_where_a_class_has_one(
    tmp_path: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = tmp_path / "twins.csv"
    rows = ["0.5,0.5,"] * 3 + ["0,0.1,low*", "1,0.9,high", "0.1,0,low*", "0.9,1,high"]
    data.write_text("\n".join(["a,b,kind", *rows]) + "\n")
    model = fitted(data, "--label", "kind")
    type_lines(monkeypatch, "low*", "q")
    assert main(["label", str(model), str(data), "--label", "kind"]) == 0
    assert sslart.load(model).counts_.sum() == 5
    type_lines(monkeypatch, "low**", "q")
    assert main(["label", str(model), str(data), "--label", "kind"]) == 0
    capsys.readouterr()
    assert sslart.load(model).classes_.tolist() == ["high", "low*"]
    assert sslart.load(model).counts_.sum() == 5 + 3


def test_at_the_end_it_prints_what_more_labels_would_bring(
    tmp_path: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = iris_model(tmp_path)
    type_lines(monkeypatch, "q")
    command = ["label", str(model), str(tmp_path / "iris.csv"), "--label", "species", "--accuracy", "60"]
    assert main(command) == 0
    last = capsys.readouterr().out.splitlines()[-1]
    assert "More labels: with 60 labels " in last
    assert "an accuracy of 60 % is reached" in last
    type_lines(monkeypatch, "q")
    assert main([*command, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["more_labels"]
    assert [one["labels"] for one in found["expected"]] == [60, 120]
    assert found["needed"]["more"] == 0
    type_lines(monkeypatch, "q")
    assert main([*command[:-1], "0"]) == 1
    assert "give a number such as 95" in capsys.readouterr().err
