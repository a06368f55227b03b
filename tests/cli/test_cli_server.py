"""Commands with --server print what they print of the file of the same model."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pandas as pd
import pytest
from service import flowers

import sslart
from sslart.cli import main
from sslart.client import Client
from sslart.server import Service, serve
from tables import iris, iris_model, mixed, mixed_model

Captured = pytest.CaptureFixture[str]
NO_BOX = ["class", "probability", "abstained", "novelty", "novel"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("models")


@pytest.fixture(scope="module")
def service(folder: Path) -> Iterator[Service]:
    with serve(folder / "store") as found, Client(found.url) as client:
        client.fit("iris", iris_model(folder))
        client.fit("mixed", mixed_model(folder))
        yield found


def printed(capsys: Captured, *arguments: object) -> str:
    assert main([str(one) for one in arguments]) == 0
    return capsys.readouterr().out


def of_both(capsys: Captured, service: Service, folder: Path, name: str, *arguments: object) -> tuple[str, str]:
    """Return the output of a command for the file of a model, and for the model of the service."""
    command, *rest = arguments
    of_file = printed(capsys, command, folder / f"{name}.sslart", *rest)
    return of_file, printed(capsys, command, name, *rest, "--server", service.url)


@pytest.mark.parametrize("kind", [".csv", ".tsv", ".parquet", ".jsonl"])
def test_predictions_are_written_as_those_of_the_file_but_for_the_box(
    service: Service, folder: Path, tmp_path: Path, kind: str
) -> None:
    data, written = mixed(folder, f"new{'.csv' if kind == '.jsonl' else kind}", labels=False), []
    for place in (str(folder / "mixed.sslart"), "mixed"):
        out = tmp_path / f"{len(written)}{kind}"
        options = ["--server", service.url] if place == "mixed" else []
        assert main(["predict", place, str(data), "--append", "--out", str(out), "--quiet", *options]) == 0
        written.append(read(out))
    of_file, of_service = written
    assert list(of_service)[-5:] == NO_BOX
    pd.testing.assert_frame_equal(of_file.drop(columns="box"), of_service, check_exact=True)


def read(path: Path) -> pd.DataFrame:
    if path.suffix == ".parquet":
        return pd.read_parquet(path)
    if path.suffix == ".jsonl":
        return pd.DataFrame([json.loads(line) for line in path.read_text().splitlines()])
    return pd.read_csv(path, sep="\t" if path.suffix == ".tsv" else ",", dtype=str)


def test_a_long_table_with_blank_rows_is_sent_in_parts(service: Service, folder: Path, tmp_path: Path) -> None:
    rows = pd.read_csv(mixed(folder), dtype=str).drop(columns="kind")
    many = pd.concat([rows] * 20, ignore_index=True)
    many.loc[[5, 1500], :] = None
    many.insert(0, "number", range(len(many)))
    many.to_csv(tmp_path / "many.csv", index=False)
    arguments = [str(tmp_path / "many.csv"), "--id", "number", "--abstain-below", "0.9"]
    for place, options in ((str(folder / "mixed.sslart"), []), ("mixed", ["--server", service.url])):
        out = str(tmp_path / f"{Path(place).stem}{len(options)}.csv")
        assert main(["predict", place, *arguments, "--out", out, *options]) == 0
    of_file, of_service = (pd.read_csv(tmp_path / f"mixed{number}.csv", dtype=str) for number in (0, 2))
    pd.testing.assert_frame_equal(of_file.drop(columns="box"), of_service)
    assert len(of_service) == 2400
    assert of_service["abstained"][1500] == "True"


@pytest.mark.parametrize("options", [pytest.param([], marks=pytest.mark.slow), ["--json"]])
def test_a_row_is_explained_as_by_the_file(
    capsys: Captured, service: Service, folder: Path, options: list[str]
) -> None:
    for name, data in (("iris", iris(folder)), ("mixed", mixed(folder))):
        for row in ("2", "100"):
            of_file, of_service = of_both(capsys, service, folder, name, "explain", data, "--row", row, *options)
            assert of_file == of_service


def test_importances_are_those_of_the_file(capsys: Captured, service: Service, folder: Path) -> None:
    for data in ([], [iris(folder)]):
        of_file, of_service = of_both(capsys, service, folder, "iris", "explain", *data, "--global")
        assert of_file == of_service


@pytest.mark.parametrize(
    "options",
    [
        [],
        ["--json"],
        ["--target", "virginica", "--fixed", "sepal width (cm),sepal length (cm)", "--n", "2"],
        ["--range", "petal length (cm)=:4", "--plausible"],
    ],
)
def test_changes_of_a_row_are_those_of_the_file(
    capsys: Captured, service: Service, folder: Path, options: list[str]
) -> None:
    of_file, of_service = of_both(capsys, service, folder, "iris", "what-if", iris(folder), "--row", "60", *options)
    assert of_file == of_service


def test_changes_within_categories_are_those_of_the_file(capsys: Captured, service: Service, folder: Path) -> None:
    options = ["--row", "3", "--range", "colour=red,blue", "--range", "size=2:9", "--fixed", "code"]
    of_file, of_service = of_both(capsys, service, folder, "mixed", "what-if", mixed(folder), *options)
    assert of_file == of_service


@pytest.mark.parametrize(
    "options",
    [
        ["--json"],
        ["--kind", "boxes", "--format", "csv"],
        pytest.param([], marks=pytest.mark.slow),
        pytest.param(["--format", "sql"], marks=pytest.mark.slow),
    ],
)
def test_rules_are_those_of_the_file(capsys: Captured, service: Service, folder: Path, options: list[str]) -> None:
    of_file, of_service = of_both(capsys, service, folder, "iris", "rules", *options)
    assert of_file == of_service


def test_a_table_is_fitted_as_by_the_command_alone(capsys: Captured, folder: Path, tmp_path: Path) -> None:
    data = iris(folder)
    with serve(tmp_path) as service, Client(service.url) as client:
        arguments = ["fit", data, "--label", "species", "--id", "flower", "--ignore", "sepal width (cm)"]
        of_file = printed(capsys, *arguments, "--out", tmp_path / "flowers").splitlines()
        of_service = printed(capsys, *arguments, "--out", "flowers", "--server", service.url).splitlines()
        apart = ("time", "written", "more labels", " ")
        assert [one for one in of_service if not one.startswith(apart)] == [
            one for one in of_file if not one.startswith(apart)
        ]
        rows = pd.read_csv(data)[client.load("flowers").feature_names_in_]
        expected = sslart.load(tmp_path / "flowers").predict_proba(rows)
        assert client.load("flowers").predict_proba(rows).tolist() == expected.tolist()


@pytest.mark.slow
def test_rows_are_learnt_by_the_service_once_however_often_they_are_sent(
    capsys: Captured, folder: Path, tmp_path: Path
) -> None:
    table = tmp_path / "new.csv"
    flowers().assign(species="setosa").head(40).to_csv(table, index=False)
    with serve(tmp_path / "store") as service, Client(service.url) as client:
        client.fit("flowers", flowers().iloc[50:], label="species")
        arguments = ["update", "flowers", table, "--label", "species", "--server", service.url, "--json"]
        first = json.loads(printed(capsys, *arguments))
        assert (first["samples"], first["labelled"], first["learnt_before"]) == (40, 40, 0)
        assert first["boxes"] == client.model("flowers")["boxes"] > first["boxes_before"]
        assert first["new_classes"] == ["setosa"]
        again = json.loads(printed(capsys, *arguments))
        assert (again["samples"], again["learnt_before"], again["boxes"]) == (0, 40, first["boxes"])
        assert client.model("flowers")["rows"] == 140
        assert "rows learnt" in printed(capsys, *arguments[:-1], "--again")
        assert client.model("flowers")["rows"] == 180


def test_rows_keep_their_names(folder: Path, tmp_path: Path) -> None:
    data = iris(folder)
    with serve(tmp_path) as service, Client(service.url) as client:
        client.create("iris", {"id": "flower"})
        assert main(["update", "iris", str(data), "--label", "species", "--server", service.url, "--quiet"]) == 0
        assert client.row("iris", "flower 5")["label"] == "setosa"
        assert "flower" not in client.row("iris", "flower 5")["cells"]


def test_a_token_comes_from_the_environment_and_is_never_printed(
    capsys: Captured, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with serve(tmp_path) as service, Client(service.url) as client:
        client.fit("iris", iris_model(folder))
        lead = client.add_token("lead", "admin")
        with Client(service.url, lead) as own:
            secret = own.add_token("reader")
        arguments = ["predict", "iris", str(iris(folder)), "--server", service.url]
        assert main(arguments) == 1
        assert "A token is required" in capsys.readouterr().err
        monkeypatch.setenv("SSLART_TOKEN", secret)
        assert main(arguments) == 0
        assert main(["update", "iris", str(iris(folder)), "--server", service.url]) == 1
        with pytest.raises(SystemExit):
            main(["predict", "--server", service.url, "--nonsense"])
        assert main(["predict", "--help"]) == 0
        shown = capsys.readouterr()
        assert "does not have the scope 'learn'" in shown.err
        assert "SSLART_TOKEN" in shown.out
        assert secret not in shown.out + shown.err


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["predict", "iris", "iris.csv", "--max-error", "0"], "--max-error does not work with --server"),
        (["predict", "roses", "iris.csv"], "There is no model 'roses'"),
        (["predict", "iris", "mixed.csv"], "mixed.csv lacks"),
        (["explain", "iris", "iris.csv", "--row", "151"], "there is no row 151"),
        (["what-if", "iris", "iris.csv", "--row", "1", "--range", "petal=1:2"], "does not start with COLUMN="),
        (["fit", "iris.csv", "--label", "species"], "--out is the name of the new model"),
        (["fit", "iris.csv", "--label", "species", "--out", "a", "--vigilance", "0.8"], "with default settings"),
        (["fit", "iris.csv", "--label", "kind", "--out", "a"], "has no column 'kind'"),
        (["update", "iris", "iris.csv", "--out", "other.sslart"], "--out does not work with --server"),
        (["update", "iris", "bad.csv"], "bad.csv, rows 1 to 3: "),
    ],
)
def test_what_does_not_work_is_named_with_the_cure(
    capsys: Captured, service: Service, folder: Path, arguments: list[str], problem: str
) -> None:
    iris(folder)
    mixed(folder)
    names = [f"{part} (cm)" for part in ("sepal length", "sepal width", "petal length", "petal width")]
    pd.DataFrame([[1, 2, 3, 4], [1, 2, 3, "long"], [1, 2, 3, 4]], columns=names).to_csv(folder / "bad.csv", index=False)
    given = [str(folder / one) if one.endswith(".csv") else one for one in arguments]
    assert main([*given, "--server", service.url]) == 1
    assert problem in capsys.readouterr().err


def test_a_service_that_is_not_there_is_an_error_with_the_cure(
    capsys: Captured, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sslart.client._connection.FIRST_PAUSE", 0.001)
    assert main(["rules", "iris", "--server", "http://127.0.0.1:9"]) == 1
    assert "No answer from http://127.0.0.1:9" in capsys.readouterr().err
