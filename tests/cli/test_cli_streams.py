"""Closed standard streams, full disks and read-only folders end a command with a message, never with a traceback."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from sklearn.datasets import load_iris

from sslart.cli import main
from tables import iris_model

Captured = pytest.CaptureFixture[str]
FLOWERS = load_iris(as_frame=True).data
posix = pytest.mark.skipif(os.name != "posix", reason="redirections of a POSIX shell")


def in_shell(arguments: str, redirections: str, folder: Path) -> subprocess.CompletedProcess[str]:
    command = f"'{sys.executable}' -W ignore -m sslart {arguments} {redirections}"
    return subprocess.run(["sh", "-c", command], cwd=folder, capture_output=True, text=True, check=False)


def test_label_needs_an_open_input(tmp_path: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch) -> None:
    model = iris_model(tmp_path)
    content = model.read_bytes()
    monkeypatch.setattr(sys, "stdin", None)
    assert main(["label", str(model), str(tmp_path / "iris.csv")]) == 1
    assert "Standard input is closed" in capsys.readouterr().err
    assert model.read_bytes() == content


def test_with_closed_output_a_command_ends_before_it_begins(
    tmp_path: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    iris_model(tmp_path)
    monkeypatch.setattr(sys, "stdout", None)
    assert main(["fit", str(tmp_path / "iris.csv"), "--label", "species", "--out", str(tmp_path / "new.sslart")]) == 1
    errors = capsys.readouterr().err
    assert errors == "sslart: standard output is closed: redirect it to a file, or to /dev/null.\n"
    assert not (tmp_path / "new.sslart").exists()


@posix
@pytest.mark.stress
@pytest.mark.parametrize(
    ("arguments", "redirections", "words"),
    [
        ("label iris.sslart iris.csv", "<&-", "Standard input is closed"),
        ("watch iris.sslart", "<&-", "Standard input is closed"),
        ("update iris.sslart -", "<&-", "Standard input is closed"),
        ("predict iris.sslart iris.csv", ">&-", "standard output is closed"),
        ("watch iris.sslart iris.csv", ">&-", "standard output is closed"),
        ("predict iris.sslart iris.csv", ">/dev/full", "No space left on device"),
        ("--help", ">/dev/full", "No space left on device"),
        ("rules iris.sslart --kind boxes", "| true", "standard output was closed before all was written"),
        ("predict none.sslart iris.csv", "2>&-", ""),
    ],
)
def test_closed_streams_end_a_command_with_a_message(
    arguments: str, redirections: str, words: str, tmp_path: Path
) -> None:
    iris_model(tmp_path)
    done = in_shell(arguments, redirections, tmp_path)
    assert done.returncode == 1 or redirections.startswith("|")
    assert words in done.stderr
    assert "Traceback" not in done.stderr
    assert "Exception ignored" not in done.stderr


def test_watch_that_learns_nothing_needs_no_folder_to_write_to(
    tmp_path: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    model, rows = iris_model(tmp_path), tmp_path / "rows.csv"
    rows.write_text(FLOWERS[:2].to_csv(index=False) + "bad\n")
    monkeypatch.setattr(os, "access", lambda *_: False)  # root may write everywhere
    before = {path.name: path.stat().st_mtime_ns for path in tmp_path.iterdir()}
    assert main(["watch", str(model), str(rows), "--learn", "none"]) == 0
    printed = capsys.readouterr()
    assert len(printed.out.splitlines()) == 2
    bad, summary = printed.err.splitlines()
    assert json.loads(bad)["line"] == "bad"
    assert "1 bad rows printed above" in summary
    assert {path.name: path.stat().st_mtime_ns for path in tmp_path.iterdir()} == before
    for command in (["watch", str(model), str(rows)], ["update", str(model), str(rows)]):
        assert main(command) == 1
        assert "is not writable" in capsys.readouterr().err


def test_devices_are_not_replaced_by_a_file(tmp_path: Path, capsys: Captured) -> None:
    model, rows = iris_model(tmp_path), tmp_path / "rows.csv"
    FLOWERS[:2].to_csv(rows, index=False)
    assert main(["predict", str(model), str(rows), "--out", os.devnull]) == 1
    assert "device" in capsys.readouterr().err
    assert not Path(os.devnull).is_file()
