"""Every command on a hostile table in a folder with a hostile name: nothing acts on the terminal, and data survive."""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import pty
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import openpyxl
import pandas as pd
import pytest

from hostile import CATEGORICAL, CLASSES, FEATURES, GROUP, LABEL, NAME, acting, hostile_table
from sslart._utils.text import printable
from sslart.cli import main
from sslart.persistence import load

EVIL = "\x1b[31mno\x07\u202e"


class Files(NamedTuple):
    """The table as Parquet and as JSON lines, and a model that has learnt it."""

    table: str
    lines: str
    model: str
    folder: Path


class Output(NamedTuple):
    """Output of a command."""

    code: int
    out: str
    err: str


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Files:
    folder = tmp_path_factory.mktemp("hostile") / EVIL
    folder.mkdir()
    X, y = hostile_table()
    frame = X.assign(**{NAME: [f"=row{i}\x1b[{i}m" for i in range(len(X))], GROUP: [f"@{i}\r" for i in range(len(X))]})
    frame = frame.assign(**{LABEL: y})
    frame.to_parquet(folder / "\x9btable.parquet")
    given = [{name: cell for name, cell in row.items() if cell is not None} for row in frame.to_dict("records")]
    rows = list(map(json.dumps, given))
    lines = folder / "rows.jsonl"
    lines.write_text("\n".join([*rows, f'{{"{FEATURES[6]}": "\\u001b"}}', EVIL]) + "\n", encoding="utf-8")
    files = Files(str(folder / "\x9btable.parquet"), str(lines), str(folder / "\u2066model"), folder)
    assert main(["fit", files.table, *fit_options(files)]) == 0
    return files


def fit_options(files: Files) -> list[str]:
    return ["--label", LABEL, "--id", NAME, "--group", GROUP, "--out", files.model]


def good_commands(files: Files) -> dict[str, list[str]]:
    """Return commands that work, by name."""
    of_model, row = [files.model, files.table], ["--row", "2"]
    extra = str(files.folder / "other")
    costs = ["--cost", f"{CLASSES[1]}:{CLASSES[2]}=3"]
    commands = {
        "fit": ["fit", files.table, *fit_options(files)[:-1], extra, *costs],
        "fit boxes": ["fit", files.table, *fit_options(files)[:-1], f"{extra}2", "--mapping", "one-to-many"],
        "predict": ["predict", *of_model, "--id", NAME],
        "predict to a file": ["predict", *of_model, "--out", str(files.folder / "p.csv"), "--id", NAME],
        "explain": ["explain", *of_model, *row],
        "explain globally": ["explain", *of_model, "--global"],
        "what-if": ["what-if", *of_model, *row],
        "what-if fixed": ["what-if", *of_model, *row, *(one for name in FEATURES for one in ("--fixed", name))],
        "report": ["report", *of_model, "--label", LABEL, "--id", NAME, "--out", str(files.folder / "page.html")],
        "label": ["label", *of_model, "--label", LABEL, "--questions", "1", "--record", str(files.folder / "r.csv")],
        "update": ["update", *of_model, "--label", LABEL, "--again", "--out", f"{extra}3"],
        "watch": ["watch", files.model, files.lines, "--id", NAME, "--learn", "none"],
    }
    for name in ("fit", "explain", "explain globally", "what-if", "update", "label", "predict"):
        commands[f"{name} as JSON"] = [*commands[name], "--json"]
    for form in ("text", "csv", "json", "md", "html", "py"):
        commands[f"rules as {form}"] = ["rules", *of_model, "--format", form]
        if form != "py":
            commands[f"boxes as {form}"] = ["rules", files.model, "--kind", "boxes", "--format", form]
    return commands


def bad_commands(files: Files) -> dict[str, list[str]]:
    """Return commands that end with an error that quotes something hostile, by name."""
    of_model = [files.model, files.table]
    return {
        "no file": ["predict", files.model, str(files.folder / EVIL)],
        "no model": ["predict", str(files.folder / EVIL), files.table],
        "no command": [EVIL],
        "no option": ["fit", files.table, f"--{EVIL}"],
        "no number": ["explain", *of_model, "--row", EVIL],
        "too many": ["explain", *of_model, EVIL, EVIL],
        "no column": ["fit", files.table, "--label", EVIL],
        "not a class": ["what-if", *of_model, "--row", "1", "--target", EVIL],
        "not a range": ["what-if", *of_model, "--row", "1", "--range", f"{FEATURES[0]}={EVIL}"],
        "not a cost": ["predict", *of_model, "--cost", EVIL],
        "not a kind": ["predict", *of_model, "--out", f"x.{EVIL}"],
        "not a folder": ["fit", files.table, "--label", LABEL, "--out", f"/none/{EVIL}"],
        "measurements": ["fit", files.table, "--label", FEATURES[0]],
        "rules as SQL on a terminal": ["rules", *of_model, "--format", "sql"],
    }


Run = Callable[[list[str]], Output]


def in_a_process(arguments: list[str]) -> Output:
    run = [sys.executable, "-m", "sslart", *arguments]
    done = subprocess.run(run, capture_output=True, text=True, input="2\nq\n", timeout=120, check=False)
    return Output(done.returncode, done.stdout, done.stderr)


@pytest.fixture
def here(capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    answers = itertools.cycle(["2", "q"])

    def asked(prompt: str) -> str:
        print(prompt, end="")
        return next(answers)

    def run(arguments: list[str]) -> Output:
        try:
            code = main(arguments)
        except SystemExit as stop:
            code = int(stop.code or 0)
        return Output(code, *capfd.readouterr())

    monkeypatch.setattr("builtins.input", asked)
    return run


QUICK = ("predict", "explain", "label", "boxes as text")
QUICK_ERRORS = ("no file", "no option", "no column", "not a class")
AS_PROCESSES = ("fit", "predict", "explain", "what-if", "label", "update", "watch", "rules as text")


@pytest.mark.parametrize("name", QUICK)
def test_nothing_acts_on_the_terminal(files: Files, here: Run, name: str) -> None:
    check_good(here, name, good_commands(files)[name])


@pytest.mark.stress
def test_nothing_acts_on_the_terminal_whatever_is_run(files: Files, here: Run) -> None:
    for name, arguments in good_commands(files).items():
        check_good(here, name, arguments)
    for name, arguments in bad_commands(files).items():
        check_bad(here, name, arguments)


@pytest.mark.stress
def test_processes_print_nothing_that_acts(files: Files) -> None:
    for name in AS_PROCESSES:
        check_good(in_a_process, name, good_commands(files)[name])
    for name in QUICK_ERRORS:
        check_bad(in_a_process, name, bad_commands(files)[name])


@pytest.mark.stress
def test_on_a_terminal_nothing_but_our_own_styles_acts(files: Files) -> None:
    for name in ("fit", "predict", "explain"):
        ours, theirs = pty.openpty()
        run = [sys.executable, "-m", "sslart", *good_commands(files)[name]]
        process = subprocess.Popen(run, stdout=theirs, stderr=theirs, stdin=subprocess.DEVNULL)
        os.close(theirs)
        shown = b""
        with contextlib.suppress(OSError), os.fdopen(ours, "rb", buffering=0) as terminal:  # at its end: EIO
            while part := terminal.read(4096):
                shown += part
        assert process.wait(60) == 0
        text = shown.decode()
        assert "\\x1b[" in text
        assert acting(text) <= {"\r", "\x1b"}  # ends of lines; our styles, and the progress bar
        assert not [one for one in (*FEATURES, *CLASSES, CATEGORICAL) if acting(one) and one in text]


def check_good(run: Run, name: str, arguments: list[str]) -> None:
    code, out, err = run(arguments)
    assert code == 0, (name, err)
    assert not acting(out), name
    assert not acting(err), name
    if "JSON" in name or name.endswith("json"):
        json.loads(out)
    if name.startswith(("explain", "rules as text", "what-if")) and "fixed" not in name:
        assert "\\x1b" in out or "\\u001b" in out, name


def test_errors_show_what_is_wrong_and_nothing_of_it_acts(files: Files, here: Run) -> None:
    for name in QUICK_ERRORS:
        check_bad(here, name, bad_commands(files)[name])


def check_bad(run: Run, name: str, arguments: list[str]) -> None:
    code, out, err = run(arguments)
    assert code in (1, 2), name
    assert not acting(out + err), name
    assert "Traceback" not in err, name


def test_rows_and_bad_rows_of_a_stream_keep_every_character(files: Files, here: Run, tmp_path: Path) -> None:
    rejects = tmp_path / "bad.jsonl"
    code, out, _ = here(["watch", files.model, files.lines, "--id", NAME, "--learn", "none", "--rejects", str(rejects)])
    assert code == 0
    found = [json.loads(line) for line in out.splitlines()]
    assert [one["id"] for one in found] == [f"=row{i}\x1b[{i}m" for i in range(48)]
    assert {one["class"] for one in found} <= {*CLASSES, None}
    bad = rejects.read_text(encoding="utf-8")
    assert not acting(bad)
    assert EVIL in [json.loads(line)["line"] for line in bad.splitlines()]


@pytest.mark.parametrize("kind", ["csv", *(pytest.param(one, marks=pytest.mark.stress) for one in ("tsv", "parquet"))])
def test_predicted_classes_come_back_as_the_same_classes(files: Files, here: Run, tmp_path: Path, kind: str) -> None:
    truth = load(files.model).predict(hostile_table()[0]).tolist()
    out, both, model = tmp_path / f"predicted.{kind}", tmp_path / "both.parquet", tmp_path / "model"
    assert here(["predict", files.model, files.table, "--id", NAME, "--out", str(out)]).code == 0
    if kind == "parquet":
        found = pd.read_parquet(out)
        assert found["class"].tolist() == truth
    else:
        found = pd.read_csv(out, sep="\t" if kind == "tsv" else ",", dtype=str)
        assert not [one for one in [*found, *found["class"], *found.iloc[:, 0]] if one.startswith(("=", "@", "+v"))]
        assert "-1" in found["class"].tolist()
    samples = pd.read_parquet(files.table)[[*FEATURES, CATEGORICAL]]
    pd.concat([found.iloc[:, :2].set_axis(["the id", "the class"], axis=1), samples], axis=1).to_parquet(both)
    columns = ["--label", "the class", "--id", "the id"]
    assert here(["fit", str(both), *columns, "--out", str(model), "--quiet"]).code == 0
    assert load(model).classes_.tolist() == sorted(set(truth))
    learnt = json.loads(here(["update", str(model), files.table, "--id", NAME, "--json"]).out)
    assert learnt["learnt_before"] == len(samples)  # by their names


def test_no_cell_of_a_spreadsheet_of_predictions_is_a_formula(files: Files, here: Run, tmp_path: Path) -> None:
    kinds = []
    for option in ([], ["--keep-formulas"]):
        out = ["--out", str(tmp_path / "p.csv")]
        assert here(["predict", files.model, files.table, *out, *option]).code == 0
        frame = pd.read_csv(tmp_path / "p.csv")
        frame.map(lambda cell: printable(cell) if isinstance(cell, str) else cell).to_excel(tmp_path / "p.xlsx")
        (sheet,) = openpyxl.load_workbook(tmp_path / "p.xlsx").worksheets
        kinds.append({cell.data_type for row in sheet.iter_rows() for cell in row})
    assert "f" not in kinds[0]
    assert "f" in kinds[1]


def test_a_label_that_was_typed_is_written_as_text(files: Files, here: Run, tmp_path: Path) -> None:
    record, model = tmp_path / "typed.csv", tmp_path / "m"
    arguments = ["label", files.model, files.table, "--label", LABEL, "--id", NAME, "--questions", "1"]
    assert here([*arguments, "--record", str(record), "--out", str(model)]).code == 0
    (row,) = pd.read_csv(record, dtype=str).to_dict("records")
    assert row["id"].startswith("'=row")
    assert row["class"].lstrip("'") in CLASSES
