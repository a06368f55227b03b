"""`python -m reproduction data` lists, fetches and finds, and tells errors in one line."""

from __future__ import annotations

import json
import runpy
import sys
from pathlib import Path

import pytest

from reproduction import datasets
from reproduction.__main__ import main


@pytest.fixture(autouse=True)
def nothing_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two empty folders: one for the user's data, one for the cache."""
    monkeypatch.setenv("SSLART_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("SSLART_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("HTTPS_PROXY", "http://127.0.0.1:9")  # the port where everything is discarded
    monkeypatch.setenv("NO_PROXY", "")
    return tmp_path


def put(path: Path) -> Path:
    path.parent.mkdir(parents=True)
    path.touch()
    return path


def test_list_is_a_table_of_all_data_sets(nothing_here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    put(nothing_here / "data" / "seeds" / "wheat-seeds.csv")
    put(nothing_here / "cache" / "zoo" / "zoo.data")
    assert main(["data", "list"]) == 0
    header, *rows = capsys.readouterr().out.splitlines()
    assert header.split() == ["name", "samples", "features", "classes", "where"]
    assert [row.split()[0] for row in rows] == datasets.list_datasets()
    found = {row.split()[0]: row.split(maxsplit=4)[1:] for row in rows}
    assert found["iris"] == ["150", "4", "3", "scikit-learn"]
    assert found["seeds"] == ["210", "7", "3", "SSLART_DATA"]
    assert found["zoo"] == ["101", "16", "7", "cache"]
    assert found["bupa"] == ["345", "6", "2", "not here"]


def test_list_can_be_read_by_programs(nothing_here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = put(nothing_here / "data" / "seeds" / "wheat-seeds.csv")
    assert main(["data", "list", "--json"]) == 0
    entries = {entry["name"]: entry for entry in json.loads(capsys.readouterr().out)}
    assert list(entries) == datasets.list_datasets()
    assert entries["seeds"]["paths"] == [str(path)]
    assert entries["seeds"]["samples"] == 210
    assert entries["bupa"]["found_in"] is None
    assert [name for name, entry in entries.items() if not entry["public"]] == ["wadi"]


def test_where_names_the_files(nothing_here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = put(nothing_here / "cache" / "zoo" / "zoo.data")
    assert main(["data", "where", "zoo", "wine", "bupa"]) == 0
    assert capsys.readouterr().out.splitlines() == [f"zoo: {path}", "wine: scikit-learn", "bupa: not here"]
    assert main(["data", "where"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == len(datasets.list_datasets())


def test_fetch_goes_on_after_a_failure_and_says_so_in_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["data", "fetch", "wadi", "seeds", "iris"]) == 1
    captured = capsys.readouterr()
    assert captured.out == "iris: scikit-learn\n"
    wadi, seeds = captured.err.splitlines()
    assert "iTrust" in wadi
    assert seeds.startswith("reproduction: Data set 'seeds' is not here, and https://archive.ics.uci.edu/")
    assert "SSLART_DATA" in seeds


def test_fetch_all_leaves_out_what_is_given_on_request(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    fetched: list[str] = []
    monkeypatch.setattr("reproduction.data_command.fetch", lambda name: fetched.append(name) or ())
    assert main(["data", "fetch", "--all"]) == 0
    assert fetched == [name for name in datasets.list_datasets() if name != "wadi"]


def test_damaged_files_are_an_error_of_the_user(nothing_here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    put(nothing_here / "data" / "seeds" / "wheat-seeds.csv").write_text("1,2,3,4,5,6,7,1\n")
    assert main(["data", "fetch", "seeds"]) == 1
    captured = capsys.readouterr()
    assert captured.out == ""
    assert len(captured.err.splitlines()) == 1
    assert "damaged or another version" in captured.err


def test_an_unknown_name_is_an_error_of_the_user(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["data", "where", "sedes"]) == 1
    assert capsys.readouterr().err.startswith("reproduction: There is no data set 'sedes'. Did you mean 'seeds'?")


@pytest.mark.parametrize(
    "arguments",
    [[], ["data"], ["dates"], ["data", "fetch"], ["data", "fetch", "seeds", "--all"], ["data", "list", "seeds"]],
    ids=" ".join,
)
def test_wrong_usage_exits_with_2(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main(arguments)
    assert caught.value.code == 2
    assert capsys.readouterr().err.startswith("Usage: python -m reproduction")


def test_without_typer_one_line_names_the_cure(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "typer", None)
    assert main(["data", "list"]) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert "typer, which is not installed: pip install" in line


def test_the_package_runs_as_a_program(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["reproduction", "data", "where", "iris"])
    monkeypatch.delitem(sys.modules, "reproduction.__main__")
    with pytest.raises(SystemExit) as caught:
        runpy.run_module("reproduction", run_name="__main__")
    assert caught.value.code == 0
    assert capsys.readouterr().out == "iris: scikit-learn\n"
