"""`sslart fit` learns what the library learns, prints how it read the columns, and refuses with a cure."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris

import sslart
from sslart._tables import files as _files
from sslart.cli import main
from sslart.metrics import guarantees
from tables import check_refused, iris, mixed

Captured = pytest.CaptureFixture[str]


def test_the_model_is_that_of_the_library(tmp_path: Path) -> None:
    out = tmp_path / "model.sslart"
    assert main(["fit", str(iris(tmp_path)), "--label", "species", "--id", "flower", "--out", str(out)]) == 0
    data = load_iris(as_frame=True)
    y = data.target_names[data.target].astype(object)
    y[[i for i in range(150) if i % 5]] = None
    expected = sslart.AutoSSLART(random_state=0).fit(data.data, y)
    model = sslart.load(out)
    assert type(model) is sslart.AutoSSLART
    assert (model.predict_proba(data.data) == expected.predict_proba(data.data)).all()


def test_it_prints_how_it_read_the_columns(tmp_path: Path, capsys: Captured) -> None:
    out = str(tmp_path / "model.sslart")
    assert main(["fit", str(mixed(tmp_path)), "--label", "kind", "--category", "code", "--out", out]) == 0
    printed = capsys.readouterr().out
    lines = {line.split()[0]: line.split()[1:] for line in reversed(printed.splitlines()) if line}
    assert lines["size"][:2] == ["number", "18"]
    assert lines["colour"][0] == "category"
    assert lines["colour"][2:4] == ["2", "categories:"]
    assert lines["code"][2:4] == ["3", "categories:"]
    assert lines["kind"][:2] == ["label", "80"]
    assert lines["samples"] == ["120,", "of", "which", "40", "labelled"]
    assert "95 % interval" in printed
    assert "AutoSSLART" in printed
    assert "%), leave-one-out" in printed
    assert "most important features" in printed


def test_it_prints_how_many_rows_it_answers_within_ten_percent_of_errors(tmp_path: Path, capsys: Captured) -> None:
    out = str(tmp_path / "model.sslart")
    arguments = ["fit", str(iris(tmp_path)), "--label", "species", "--id", "flower", "--out", out]
    assert main(arguments) == 0
    printed = capsys.readouterr().out
    (sentence,) = (line for line in printed.splitlines() if line.startswith("limit of error"))
    found = guarantees(sslart.load(out))
    assert sentence.removeprefix("limit of error").strip() == found.levels[3].sentence()
    assert main([*arguments, "--json"]) == 0
    levels = json.loads(capsys.readouterr().out)["guarantees"]
    assert [one["max_error"] for one in levels] == [0.01, 0.02, 0.05, 0.1, 0.2]
    assert [one["sentence"] for one in levels] == [one.sentence("rows") for one in found.levels]
    assert main([*arguments, "--mapping", "one-to-many", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["guarantees"] is None


@pytest.mark.parametrize("name", ["iris.tsv", "iris.parquet", "iris.arrow", "iris.feather", "iris.xlsx", "iris.csv.gz"])
def test_every_format_gives_the_same_model(name: str, tmp_path: Path) -> None:
    models = [tmp_path / "csv.sslart", tmp_path / "other.sslart"]
    for data, model in zip(("iris.csv", name), models, strict=True):
        arguments = ["--label", "species", "--ignore", "flower", "--out", str(model), "--quiet"]
        assert main(["fit", str(iris(tmp_path, data)), *arguments]) == 0
    assert models[0].read_bytes() == models[1].read_bytes()


def test_standard_input_and_json(tmp_path: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch) -> None:
    content = iris(tmp_path).read_bytes()
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))
    out = str(tmp_path / "model.sslart")
    assert main(["fit", "-", "--label", "species", "--ignore", "flower", "--out", out, "--json"]) == 0
    summary = json.loads(capsys.readouterr().out)
    assert summary["labels"] == {"setosa": 10, "versicolor": 10, "virginica": 10}
    assert summary["unlabelled"] == 120
    assert summary["quality"]["how"] == "leave-one-out"
    assert summary["quality"]["accuracy"]["low"] < summary["quality"]["accuracy"]["value"] <= 1
    assert [column["kind"] for column in summary["columns"]] == ["number"] * 4


@pytest.mark.parametrize(
    ("options", "kind", "how"),
    [
        (["--mapping", "one-to-one"], sslart.SSLART, "held out"),
        (["--members", "2"], sslart.WESSLART, "held out"),
        (["--members", "2", "--mapping", "evidence"], sslart.WESSLART, "leave-one-out"),
        (["--members", "2", "--mapping", "one-to-many", "--vigilance", "0.7"], sslart.WESSLART, "held out"),
    ],
)
def test_settings_reach_the_model(options: list[str], kind: type, how: str, tmp_path: Path, capsys: Captured) -> None:
    out = tmp_path / "model.sslart"
    arguments = ["fit", str(iris(tmp_path)), "--label", "species", "--ignore", "flower", "--out", str(out)]
    assert main([*arguments, *options, "--seed", "3", "--json"]) == 0
    assert type(sslart.load(out)) is kind
    summary = json.loads(capsys.readouterr().out)
    assert summary["quality"]["how"] == how
    assert summary["settings"]["random_state"] == 3
    assert summary["quality"]["accuracy"]["total"] == 30
    assert summary["quality"]["accuracy"]["value"] > 0.7


def test_held_out_accuracy_comes_from_models_that_have_not_learnt_the_samples(tmp_path: Path, capsys: Captured) -> None:
    data = tmp_path / "noise.csv"
    random = np.random.default_rng(0)
    frame = pd.DataFrame(random.random((200, 3)), columns=["a", "b", "c"]).assign(kind=random.choice(["x", "y"], 200))
    frame.to_csv(data, index=False)
    out = str(tmp_path / "model.sslart")
    assert main(["fit", str(data), "--label", "kind", "--mapping", "one-to-one", "--out", out, "--json"]) == 0
    summary = json.loads(capsys.readouterr().out)
    assert sslart.load(out).score(frame[["a", "b", "c"]], frame["kind"]) > 0.9
    assert 0.3 < summary["quality"]["accuracy"]["value"] < 0.7
    frame["kind"] = ["x", *["y"] * 5, *[None] * 194]
    frame.to_csv(data, index=False)
    arguments = ["fit", str(data), "--label", "kind", "--mapping", "one-to-one", "--out", out]
    assert main([*arguments, "--json"]) == 0
    summary = json.loads(capsys.readouterr().out)
    assert summary["quality"]["accuracy"]["total"] == 6
    assert summary["quality"]["accuracy"]["count"] <= 5  # a class of one label is not known without it
    assert summary["few_labels"] == {"x": 1}
    frame["kind"] = ["x", "y", *[None] * 198]
    frame.to_csv(data, index=False)
    assert main(arguments) == 0
    assert "not measured: each class has one label" in capsys.readouterr().out


@pytest.mark.slow
def test_of_a_long_file_a_random_sample_is_learnt(
    tmp_path: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_files, "BYTES_PER_PIECE", 1000)
    out = tmp_path / "model.sslart"
    arguments = ["fit", str(iris(tmp_path)), "--label", "species", "--id", "flower", "--out", str(out), "--json"]
    assert main([*arguments, "--most-rows", "60"]) == 0
    printed = capsys.readouterr()
    summary = json.loads(printed.out)
    assert (summary["samples"], summary["unlabelled"]) == (60, 30)
    assert "has 150 rows: learnt from 60 of them" in printed.err
    assert main([*arguments, "--most-rows", "20"]) == 0
    summary = json.loads(capsys.readouterr().out)
    assert (summary["samples"], summary["unlabelled"]) == (20, 0)
    assert main([*arguments, "--most-rows", "150"]) == 0
    in_pieces = out.read_bytes()
    monkeypatch.undo()
    assert main(arguments) == 0
    assert out.read_bytes() == in_pieces


REFUSED = {
    "day,kind\n2024-01-02,a\n2024-01-03,b\n2024-01-05,b\n2024-01-09,b\nlater,b\n": ["'day'", "holds dates", "'later'"],
    "size,kind\n10%,a\n$20,b\n": ["with a mark", "'10%'"],
    "size,kind\n1.5,\n2.5,\n": ["'kind'", "blank throughout"],
    'size,kind\n"1,5",a\n"2,5",b\n': ["numbers with a comma"],
    "size,kind\n" + "".join(f"{row} years old,{'ab'[row % 2]}\n" for row in range(20)): [
        "with a unit",
        "'0 years old'",
    ],
    "size,kind\n1,a\n2,b\n3,a\n4,b\n5,a\n6x,b\n": ["'6x'", "--category 'size'"],
    "size,kind\n1,0.5\n2,0.7\n": ["measurements"],
    "size,kind\n?,a\n?,b\n": ["no value at all", "row 1"],
    "size,kind\n1,a,7\n2,b,8\n": ["not an even table"],
    "size,kind\n1,a\n2,b,8\n": ["not an even table"],
    "size,kind\n": ["no rows"],
    "": ["empty"],
    "kind\na\n": ["no column left"],
    "size,sort\n1,a\n": ["no column 'kind'", "'sort'"],
    "size,kind\n1,b\ninf,a\n": ["'size'", "infinity", "row 2"],
}


@pytest.mark.parametrize("content", REFUSED, ids=repr)
def test_what_cannot_be_learnt_is_refused_with_the_cure(content: str, tmp_path: Path, capsys: Captured) -> None:
    data, out = tmp_path / "data.csv", tmp_path / "model.sslart"
    data.write_text(content)
    check_refused(["fit", str(data), "--label", "kind", "--out", str(out)], REFUSED[content], capsys)
    assert not out.exists()


READ = {
    "10%,a\n20%,b\n": [10.0, 20.0],
    "1 000,a\n$20,b\n": [1000.0, 20.0],
    '"1,234",a\n99,b\n': [1234.0, 99.0],
    "".join(f"{row}.5 cm,{'ab'[row % 2]}\n" for row in range(20)): [row + 0.5 for row in range(20)],
    "".join(f"{row}.5,{'ab'[row % 2]}\n" for row in range(20)) + "-,a\nunknown,b\n": [row + 0.5 for row in range(20)],
}


@pytest.mark.parametrize("content", READ, ids=repr)
def test_numbers_with_marks_and_units_are_read_with_a_note(content: str, tmp_path: Path, capsys: Captured) -> None:
    plain, data, out = tmp_path / "plain.csv", tmp_path / "data.csv", tmp_path / "model.sslart"
    x = [str(row % 7) for row in range(len(content.splitlines()))]
    rows = [f"{line},{other}" for line, other in zip(content.splitlines(), x, strict=True)]
    data.write_text("\n".join(["size,kind,x", *rows]) + "\n")
    assert main(["fit", str(data), "--label", "kind", "--out", str(out), "--quiet"]) == 0
    assert "column 'size' ha" in (said := capsys.readouterr().err) or "column 'size' holds numbers" in said
    values = [*map(str, READ[content]), *[""] * (len(rows) - len(READ[content]))]
    kinds = [line.rpartition(",")[2] for line in content.splitlines()]
    plain.write_text("\n".join(["size,kind,x", *map(",".join, zip(values, kinds, x, strict=True))]) + "\n")
    shown = []
    for source in (plain, data):
        assert main(["predict", str(out), str(source), "--json"]) == 0
        shown.append(capsys.readouterr().out)
    assert shown[0] == shown[1]


NAMES_AMONG_NUMBERS = {
    "few texts, each in many rows": [*["01", "23", "46"] * 11, *["7p"] * 6],
    "few numbers without zeros": ["1", "2", "3", "4", "K"] * 8,
    "leading zeros": [*(f"{n:02}.{n % 3}" for n in range(34)), *"ABCDEF"],
}


@pytest.mark.parametrize("cells", NAMES_AMONG_NUMBERS.values(), ids=list(NAMES_AMONG_NUMBERS))
def test_names_among_numbers_are_categories_with_a_note(cells: list[str], tmp_path: Path, capsys: Captured) -> None:
    data, out = tmp_path / "data.csv", tmp_path / "model.sslart"
    rows = [f"{cell},{'ab'[place % 2]},{place % 7}" for place, cell in enumerate(cells)]
    data.write_text("\n".join(["size,kind,x", *rows]) + "\n")
    arguments = ["fit", str(data), "--label", "kind", "--out", str(out), "--use", "size"]
    assert main(arguments) == 0
    shown = capsys.readouterr()
    assert f"column 'size' has {cells[-1]!r}" in shown.err or f"column 'size' has {cells[-6]!r}" in shown.err
    assert "all are treated as categories. --number size" in shown.err
    assert shown.out.splitlines()[1].split()[:2] == ["size", "category"]
    assert main(["predict", str(out), str(data), "--quiet"]) == 0
    assert main([*arguments[:-2], "--number", "size"]) == 0
    assert capsys.readouterr().out.count("number") >= 2


def test_a_mark_among_measurements_is_blank_with_a_note(tmp_path: Path, capsys: Captured) -> None:
    data, out = tmp_path / "data.csv", tmp_path / "model.sslart"
    cells = [f"{n / 100}" for n in range(1, 101)] + ["T"] * 20
    data.write_text("rain,kind,x\n" + "".join(f"{one},{'ab'[n % 2]},{n % 7}\n" for n, one in enumerate(cells)))
    assert main(["fit", str(data), "--label", "kind", "--out", str(out)]) == 0
    shown = capsys.readouterr()
    assert "column 'rain' has numbers, such as 0.01; 'T' treated as blank" in shown.err
    assert "number  " in next(line for line in shown.out.splitlines() if line.strip().startswith("rain"))
    assert main(["predict", str(out), str(data), "--out", str(tmp_path / "classes.csv")]) == 0


def test_a_row_of_marks_among_others_is_left_out_with_a_note(tmp_path: Path, capsys: Captured) -> None:
    data, out = tmp_path / "data.csv", str(tmp_path / "model.sslart")
    data.write_text("size,x,kind\n1,1,a\n?,n/a,b\n2,1,b\n")
    assert main(["fit", str(data), "--label", "kind", "--out", out, "--quiet"]) == 0
    assert "1 row(s) of" in capsys.readouterr().err
    assert main(["predict", out, str(data), "--json"]) == 0
    assert [one["abstained"] for one in json.loads(capsys.readouterr().out)] == [False, True, False]


def test_numbers_that_look_like_codes_or_ids_are_what_the_user_names_them(tmp_path: Path, capsys: Captured) -> None:
    data, out = tmp_path / "data.csv", str(tmp_path / "model.sslart")
    rows = [
        f"{7 * place % 40},0{place % 9}123,{'ab'[place % 2] if place % 3 else ''},{place % 7} lb"
        for place in range(200)
    ]
    data.write_text("\n".join(["patient,zip,kind,dose", *rows]) + "\n")
    arguments = ["fit", str(data), "--label", "kind", "--out", out]
    assert main(arguments) == 0
    shown = capsys.readouterr()
    assert "likely groups" in shown.out
    assert "possible codes" in shown.out
    assert "column 'zip' has leading zeros, such as 00123" in shown.err
    assert main([*arguments, "--number", "patient,zip", "--number", "dose"]) == 0
    shown = capsys.readouterr()
    assert "likely groups" not in shown.out
    assert "possible codes" not in shown.out
    kinds = dict(line.split()[:2] for line in shown.out.splitlines()[1:5])
    assert kinds == {"patient": "number", "zip": "number", "dose": "number", "kind": "label"}
    assert main(["predict", out, str(data), "--quiet"]) == 0
    assert main([*arguments, "--group", "patient", "--category", "zip"]) == 0
    shown = capsys.readouterr()
    assert "likely groups" not in shown.out
    assert "possible codes" not in shown.out
    assert main([*arguments, "--number", "zip", "--category", "zip"]) == 1
    assert "cannot be a number and a category" in capsys.readouterr().err


def test_bytes_that_are_no_table_are_refused(tmp_path: Path, capsys: Captured) -> None:
    (tmp_path / "noise.parquet").write_bytes(b"noise")
    (tmp_path / "noise.csv").write_bytes(b"a,kind\n\xff\x81,1\n")
    out = ["--label", "kind", "--out", str(tmp_path / "model.sslart")]
    for name, words in (("noise.parquet", "Parquet"), ("noise.csv", "UTF-8")):
        assert main(["fit", str(tmp_path / name), *out]) == 1
        assert words in capsys.readouterr().err


def test_minus_one_is_a_class_and_noted(tmp_path: Path, capsys: Captured) -> None:
    data, out = tmp_path / "data.csv", tmp_path / "model.sslart"
    data.write_text("size,kind\n1,-1\n2,-1\n8,1\n9,\n")
    assert main(["fit", str(data), "--label", "kind", "--out", str(out), "--quiet"]) == 0
    assert "blank" in capsys.readouterr().err
    assert sslart.load(out).classes_.tolist() == ["-1", "1"]


def test_whole_numbers_are_one_class_however_they_are_written(tmp_path: Path) -> None:
    data, out = tmp_path / "data.csv", tmp_path / "model.sslart"
    data.write_text("code,kind\n1.0,1.0\n2.0,2.0\n3,\n1,1\n")
    assert main(["fit", str(data), "--label", "kind", "--category", "code", "--out", str(out), "--quiet"]) == 0
    model = sslart.load(out)
    assert model.classes_.tolist() == ["1", "2"]
    assert sorted(model.coded_feature_names_) == ["code=1", "code=2", "code=3"]


def test_a_single_class_is_pointed_out(tmp_path: Path, capsys: Captured) -> None:
    data, out = tmp_path / "data.csv", tmp_path / "model.sslart"
    data.write_text("size,kind\n1,a\n2,\n")
    assert main(["fit", str(data), "--label", "kind", "--out", str(out), "--quiet"]) == 0
    assert "one class" in capsys.readouterr().err


@pytest.mark.parametrize("arguments", [[], ["x.csv"], ["x.csv", "--label", "y", "--vigilance", "2"]], ids=" ".join)
def test_wrong_usage_exits_with_2(arguments: list[str], capsys: Captured) -> None:
    with pytest.raises(SystemExit) as stop:
        main(["fit", *arguments])
    assert stop.value.code == 2
    assert capsys.readouterr().err.startswith("Usage: sslart fit")


def test_a_folder_that_is_not_there_is_refused_before_work_is_done(tmp_path: Path, capsys: Captured) -> None:
    assert main(["fit", "nothing.csv", "--label", "kind", "--out", str(tmp_path / "none" / "model.sslart")]) == 1
    assert "There is no folder" in capsys.readouterr().err


def test_without_typer_one_line_names_the_cure(capsys: Captured, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.startswith("sslart.cli.")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "typer", None)
    assert main(["fit", "data.csv", "--label", "kind"]) == 1
    assert capsys.readouterr().err.count("\n") == 1


def test_marks_for_missing_values_are_no_class(tmp_path: Path, capsys: Captured) -> None:
    data = tmp_path / "data.csv"
    data.write_text("x,kind\n" + "1,a\n9,b\n2,NA\n8, \n" * 10)
    assert main(["fit", str(data), "--label", "kind", "--out", str(tmp_path / "model.sslart"), "--json"]) == 0
    printed = capsys.readouterr()
    summary = json.loads(printed.out)
    assert summary["labels"] == {"a": 10, "b": 10}
    assert summary["unlabelled"] == 20
    assert printed.err.count("'NA' in column 'kind' is treated as unlabelled") == 1


def test_what_more_labels_would_bring_is_one_line_or_the_reason_why_not(tmp_path: Path, capsys: Captured) -> None:
    data = iris(tmp_path)
    out = ["--label", "species", "--out", str(tmp_path / "model.sslart")]
    assert main(["fit", str(data), *out, "--accuracy", "60"]) == 0
    printed = capsys.readouterr().out
    assert "more labels" in printed
    assert "an accuracy of 60 % is reached" in printed
    rows = data.read_text().splitlines()
    few = tmp_path / "few.csv"
    few.write_text("\n".join([rows[0], *rows[1::20]]) + "\n")
    assert main(["fit", str(few), *out]) == 0
    assert "cannot be estimated: it takes at least 10 labels, and there are" in capsys.readouterr().out
