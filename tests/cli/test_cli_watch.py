"""`sslart watch` predicts rows as they come, learns, saves, and loses none."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from io import BytesIO, TextIOWrapper
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris

import sslart
from sslart.cli import main
from sslart.cli._line_reader import LineReader, Lines, NotARowError
from sslart.cli._model_file import ModelFile
from sslart.cli.watch import LearningPolicy, StreamWorker
from tables import iris_model, mixed, mixed_model

Captured = pytest.CaptureFixture[str]
FLOWERS = load_iris(as_frame=True).data


def predictions(captured: Captured) -> list[dict[str, Any]]:
    return [json.loads(line) for line in captured.readouterr().out.splitlines()]


def stream(tmp_path: Path, *lines: str) -> str:
    path = tmp_path / "stream.csv"
    path.write_text("\n".join([",".join(FLOWERS.columns) + ",species", *lines]) + "\n")
    return str(path)


def test_it_predicts_as_predict_does_and_learns_as_update_does(tmp_path: Path, capsys: Captured) -> None:
    model, new = iris_model(tmp_path), tmp_path / "new.csv"
    FLOWERS[:40].to_csv(new, index=False)
    before = sslart.load(model)
    assert main(["watch", str(model), str(new), "--every", "25", "--quiet"]) == 0
    printed_rows = predictions(capsys)
    assert [one["row"] for one in printed_rows] == list(range(1, 41))
    assert [one["class"] for one in printed_rows[:25]] == before.predict(FLOWERS[:25]).tolist()
    np.testing.assert_allclose(
        [one["novelty"] for one in printed_rows[:25]], 1 - before.score_samples(FLOWERS[:25]), atol=1e-6
    )
    assert [one["saved_through"] for one in printed_rows] == [0] * 25 + [25] * 15
    familiar = [not one["novel"] for one in printed_rows]
    rules = before.rules(kind="boxes")
    assert all(rules[rules.numbers.index(one["box"])].label == one["class"] for one in printed_rows[:25])
    learnt = sslart.load(model)
    assert learnt.support_.sum() == before.support_.sum() + sum(familiar)
    before.partial_fit(FLOWERS[:40][familiar])
    assert (learnt.predict_proba(FLOWERS) == before.predict_proba(FLOWERS)).all()


def test_predictions_do_not_depend_on_how_lines_come_together(tmp_path: Path, capsys: Captured) -> None:
    lines = FLOWERS[:30].to_csv(index=False).encode().splitlines()
    printed_rows = []
    for size in (1, 7, 100):
        model = iris_model(tmp_path)
        worker = StreamWorker(str(model), None, None, str(tmp_path / "bad.jsonl"), LearningPolicy.every, 10)
        for start in range(0, len(lines), size):
            worker.take(lines[start : start + size])
        worker.learn()
        printed_rows.append((predictions(capsys), model.read_bytes()))
    assert printed_rows[0] == printed_rows[1] == printed_rows[2]


def test_what_is_novel_is_flagged_again_unless_it_was_labelled(tmp_path: Path, capsys: Captured) -> None:
    model = str(iris_model(tmp_path))
    odd = ["9,9,9,9,", "9,9,9,9,"]
    assert main(["watch", model, stream(tmp_path, *odd), "--label", "species", "--every", "1", "--quiet"]) == 0
    assert [one["novel"] for one in predictions(capsys)] == [True, True]
    odd[0] += "giant"
    assert main(["watch", model, stream(tmp_path, *odd), "--label", "species", "--every", "1", "--quiet"]) == 0
    printed_rows = predictions(capsys)
    assert [one["novel"] for one in printed_rows] == [True, False]
    assert printed_rows[1]["class"] == "giant"


@pytest.mark.parametrize(("learn", "n_learnt"), [("all", 2), ("familiar", 1), ("none", 0)])
def test_which_rows_are_learnt_can_be_chosen(learn: str, n_learnt: int, tmp_path: Path) -> None:
    model = iris_model(tmp_path)
    before, content = sslart.load(model), model.read_bytes()
    rows = stream(tmp_path, "9,9,9,9,", ",".join(map(str, FLOWERS.iloc[0])) + ",")
    assert main(["watch", str(model), rows, "--learn", learn, "--quiet"]) == 0
    assert sslart.load(model).support_.sum() == before.support_.sum() + n_learnt
    assert (model.read_bytes() == content) is (n_learnt == 0)


BAD = {
    "big,3.5,1.4,0.2,": "'big' in row 2",
    "1,2,3": "3 cells, but the header has 5",
    '5,3,2,1,"x': "is not valid CSV",
    ",,,,setosa": "no value at all",
    "inf,3.5,1.4,0.2,": "infinity",
}


@pytest.mark.parametrize("line", BAD)
def test_a_bad_row_goes_to_the_rejects_and_no_other(line: str, tmp_path: Path, capsys: Captured) -> None:
    model = iris_model(tmp_path)
    before = sslart.load(model).support_.sum()
    good = "5.1,3.5,1.4,0.2,"
    rows = stream(tmp_path, good, line, good)
    assert main(["watch", str(model), rows, "--label", "species", "--learn", "all"]) == 0
    printed = capsys.readouterr()
    assert [json.loads(one)["row"] for one in printed.out.splitlines()] == [1, 3]
    (rejected,) = (tmp_path / f"{model.name}.rejects.jsonl").read_text().splitlines()
    kept = json.loads(rejected)
    assert (kept["row"], kept["line"]) == (2, line)
    assert BAD[line] in kept["reason"]
    assert "1 bad rows" in printed.err
    assert sslart.load(model).support_.sum() == before + 2


def test_a_label_of_another_kind_is_a_bad_row(tmp_path: Path, capsys: Captured) -> None:
    path, rows, bad = tmp_path / "model.sslart", tmp_path / "rows.csv", tmp_path / "bad.jsonl"
    sslart.save(sslart.SSLART(random_state=0).fit(pd.DataFrame({"a": [0, 1], "b": [0, 1]}), [3, 4]), path)
    rows.write_text("a,b,kind\n0,0,3\n0,0,three\n1,1,4\n")
    assert main(["watch", str(path), str(rows), "--label", "kind", "--rejects", str(bad), "--quiet"]) == 0
    assert [one["class"] for one in predictions(capsys)] == [3, 4]
    assert "not of the kind" in json.loads(bad.read_text())["reason"]


def test_json_lines_with_categories_and_gaps(tmp_path: Path, capsys: Captured) -> None:
    model = mixed_model(tmp_path)
    frame = pd.read_csv(mixed(tmp_path, labels=False), keep_default_na=False, na_values=[""])
    rows = tmp_path / "rows.jsonl"
    lines = [row.dropna().to_json() for _, row in frame[:9].iterrows()]
    rows.write_text("\n".join([*lines, '{"size": [1]}', "{"]) + "\n")
    assert main(["watch", str(model), str(rows), "--id", "code", "--learn", "none", "--quiet"]) == 0
    printed_rows = predictions(capsys)
    assert main(["predict", str(model), str(tmp_path / "mixed.csv"), "--json"]) == 0
    expected = json.loads(capsys.readouterr().out)[:9]
    wanted = ("class", "probability", "box", "novelty")
    assert [[one[name] for name in wanted] for one in printed_rows] == [
        [one[name] for name in wanted] for one in expected
    ]
    assert [one["id"] for one in printed_rows] == [str(code) for code in frame["code"][:9]]
    reasons = [
        json.loads(line)["reason"] for line in (tmp_path / "mixed.sslart.rejects.jsonl").read_text().splitlines()
    ]
    assert ["one value should be" in reasons[0], "not JSON" in reasons[1]] == [True, True]


def test_a_stream_without_the_columns_is_refused_at_once(tmp_path: Path, capsys: Captured) -> None:
    model, rows = iris_model(tmp_path), tmp_path / "rows.csv"
    rows.write_text("a,b\n1,2\n")
    assert main(["watch", str(model), str(rows)]) == 1
    assert "lacks 'sepal length (cm)'" in capsys.readouterr().err
    assert main(["watch", str(model), str(tmp_path / "none.csv")]) == 1
    assert "There is no file" in capsys.readouterr().err


@pytest.mark.parametrize(
    "number",
    [
        signal.SIGTERM,
        pytest.param(signal.SIGINT, marks=pytest.mark.slow),
        pytest.param(signal.SIGHUP, marks=pytest.mark.slow),
    ],
)
def test_a_signal_saves_the_model_and_ends_well(number: signal.Signals, tmp_path: Path) -> None:
    model = iris_model(tmp_path)
    before = sslart.load(model).support_.sum()
    command = [sys.executable, "-W", "ignore", "-m", "sslart", "watch", str(model), "--follow", "--learn", "all"]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        process.stdin.write(FLOWERS[:7].to_csv(index=False))
        process.stdin.flush()
        rows = [json.loads(process.stdout.readline())["row"] for _ in range(7)]
        process.send_signal(number)
        _, error = process.communicate(timeout=60)
    assert rows == list(range(1, 8))
    assert process.returncode == 0
    assert f"stopped by {number.name}" in error
    assert "saved through row 7" in error
    assert "Traceback" not in error
    assert sslart.load(model).support_.sum() == before + 7


def test_a_file_that_grows_is_followed(tmp_path: Path) -> None:
    model, rows = iris_model(tmp_path), tmp_path / "rows.csv"
    header, first, second, *_ = FLOWERS.to_csv(index=False).splitlines(keepends=True)
    rows.write_text(header + first + second[:5])  # half a line: not yet a row
    command = [sys.executable, "-W", "ignore", "-m", "sslart", "watch", str(model), str(rows), "--follow", "--quiet"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert json.loads(process.stdout.readline())["row"] == 1
        time.sleep(0.3)
        with rows.open("a") as file:
            file.write(second[5:])
        assert json.loads(process.stdout.readline())["row"] == 2
        process.terminate()
        assert process.wait(60) == 0


@pytest.mark.slow
def test_when_nobody_reads_on_the_model_is_saved_all_the_same(tmp_path: Path) -> None:
    model = iris_model(tmp_path)
    before = sslart.load(model).support_.sum()
    command = [sys.executable, "-W", "ignore", "-m", "sslart", "watch", str(model), "--learn", "all", "--every", "5"]
    header, *lines = FLOWERS.to_csv(index=False).splitlines(keepends=True)
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        process.stdin.write(header + "".join(lines[:3]))
        process.stdin.flush()
        for _ in range(3):
            process.stdout.readline()
        process.stdout.close()
        process.stdin.write("".join(lines[3:7]))
        process.stdin.close()
        error = process.stderr.read()
    assert process.returncode == 1
    assert "Traceback" not in error
    assert sslart.load(model).support_.sum() >= before + 3


def test_lines_are_read_by_what_the_first_one_is() -> None:
    reader = LineReader()
    assert reader.read("\ufeffa;b\r".encode()) is None
    assert reader.read(b"") is None
    assert reader.read(b'1;"x;y"') == {"a": "1", "b": "x;y"}
    assert reader.read(b";2") == {"a": None, "b": "2"}
    with pytest.raises(NotARowError, match="UTF-8"):
        reader.read(b"\xff;1")
    reader = LineReader()
    assert reader.read(b'{"a": 1.5, "b": null, "c": ""}') == {"a": "1.5", "b": None, "c": None}
    with pytest.raises(NotARowError, match="not an object"):
        reader.read(b"[1]")


def test_an_object_with_a_misspelt_name_is_a_bad_row(tmp_path: Path, capsys: Captured) -> None:
    """It lacks what the model knows and has what it does not: such a table is refused, too."""
    model, rows = iris_model(tmp_path), tmp_path / "rows.jsonl"
    flower = FLOWERS.iloc[0].to_dict()
    first, *rest = flower
    misspelt = {"sepal lenght": flower[first], **{name: flower[name] for name in rest}}
    gap, extra = {name: flower[name] for name in rest}, {**flower, "when": "noon"}
    rows.write_text("".join(json.dumps(one) + "\n" for one in (flower, misspelt, gap, extra)))
    assert main(["watch", str(model), str(rows), "--quiet"]) == 0
    assert [json.loads(line)["row"] for line in capsys.readouterr().out.splitlines()] == [1, 3, 4]
    (kept,) = map(json.loads, Path(f"{model}.rejects.jsonl").read_text().splitlines())
    assert kept["row"] == 2
    assert json.loads(kept["line"]) == misspelt
    assert f"lacks features of the model ({first!r})" in kept["reason"]
    assert "has unknown columns ('sepal lenght')" in kept["reason"]


def test_what_could_not_be_saved_is_not_reported_as_saved(
    tmp_path: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    model, new = iris_model(tmp_path), tmp_path / "new.csv"
    FLOWERS[:8].to_csv(new, index=False)
    usual, failures = ModelFile.replace, [OSError(28, "No space left on device")]

    def failing(*arguments: Any) -> None:
        if failures:
            raise failures.pop()
        usual(*arguments)

    monkeypatch.setattr(ModelFile, "replace", failing)
    before = sslart.load(model).support_.sum()
    assert main(["watch", str(model), str(new), "--every", "4", "--learn", "all"]) == 1
    printed = capsys.readouterr()
    assert "No space left" in printed.err
    assert "saved through row 4" in printed.err  # at the end it was tried again, and there was room
    assert sslart.load(model).support_.sum() == before + 4
    failures += [OSError(28, "No space left on device")] * 2
    assert main(["watch", str(model), str(new), "--every", "4", "--learn", "all"]) == 1
    assert "saved through row 0" in capsys.readouterr().err
    assert sslart.load(model).support_.sum() == before + 4


def test_headers_are_read_as_in_files(tmp_path: Path, capsys: Captured) -> None:
    model = str(iris_model(tmp_path))
    names = ",".join(FLOWERS.columns)
    rows = tmp_path / "rows.csv"
    for header, words in ((f"{names},a,a", "more than once"), (f'"{names}', "cannot be cut into names")):
        rows.write_text(f"{header}\n5,3,2,1,0,0\n")
        assert main(["watch", model, str(rows)]) == 1
        assert words in capsys.readouterr().err
    rows.write_text(f",{names}\n7,5,3,2,1\n,{names}\n8,5,3,2,1\n")  # two files put together
    assert main(["watch", model, str(rows), "--id", "column 1", "--quiet"]) == 0
    assert [one["id"] for one in predictions(capsys)] == ["7", "8"]


def test_a_row_that_cannot_be_written_is_bad_and_no_other_comes_twice(
    tmp_path: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    model, rows = iris_model(tmp_path), tmp_path / "rows.jsonl"
    flower = dict.fromkeys(FLOWERS.columns, 3.0)
    rows.write_text("".join(json.dumps({**flower, "name": name}) + "\n" for name in ("a", "é", "b")))
    with monkeypatch.context() as patched:
        patched.setattr("sys.stdout", TextIOWrapper(written := BytesIO(), encoding="ascii"))
        assert main(["watch", str(model), str(rows), "--id", "name", "--label", "kind"]) == 0
        assert [json.loads(line)["row"] for line in written.getvalue().splitlines()] == [1, 3]
    printed = capsys.readouterr()
    assert "1 bad rows" in printed.err
    assert "no row had the column 'kind'" in printed.err


def test_half_of_a_character_is_written_as_json_has_it(tmp_path: Path, capsys: Captured) -> None:
    model, rows = iris_model(tmp_path), tmp_path / "rows.jsonl"
    flower = dict.fromkeys(FLOWERS.columns, 3.0)
    rows.write_text("".join(json.dumps({**flower, "name": name}) + "\n" for name in ("a", "\ud800", "b")))
    assert main(["watch", str(model), str(rows), "--id", "name", "--quiet"]) == 0
    assert [one["id"] for one in predictions(capsys)] == ["a", "\ud800", "b"]


def test_without_learning_nothing_is_reported_as_saved(tmp_path: Path, capsys: Captured) -> None:
    model, new = iris_model(tmp_path), tmp_path / "new.csv"
    FLOWERS[:8].to_csv(new, index=False)
    assert main(["watch", str(model), str(new), "--every", "2", "--learn", "none"]) == 0
    printed = capsys.readouterr()
    assert {json.loads(line)["saved_through"] for line in printed.out.splitlines()} == {0}
    assert "saved" not in printed.err


def test_a_file_that_was_begun_anew_is_read_from_its_start(tmp_path: Path) -> None:
    rows = tmp_path / "rows.csv"
    rows.write_bytes(b"a\n1\n2\n3\n")
    lines = Lines(str(rows), follow=True)
    batches = lines.batches(most=100)
    assert next(batches) == [b"a", b"1", b"2", b"3"]
    rows.write_bytes(b"a\n4\n")
    assert next(batches) == [b"a", b"4"]
