"""The command as a whole: help, version, completion, exit codes, and no traceback for a user's mistake."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest

import sslart
from sslart.cli import _app, main
from tables import iris

COMMANDS = (
    "fit",
    "predict",
    "explain",
    "what-if",
    "rules",
    "report",
    "update",
    "merge",
    "label",
    "watch",
    "serve",
    "studio",
)


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([command, "--help"]) == 0
    assert f"sslart {command}" in capsys.readouterr().out


def test_help_lists_every_command_with_a_whole_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--help"]) == 0
    commands = capsys.readouterr().out.partition("Commands:\n")[2].splitlines()
    assert [line.split()[0] for line in commands] == list(_app.COMMANDS)
    assert all(line.endswith(".") and not line.endswith("..") for line in commands)
    assert tuple(_app.COMMANDS) == COMMANDS


@pytest.mark.parametrize("option", ["--version", "--help"])
def test_version_and_help_are_quick_since_they_import_no_model(option: str) -> None:
    heavy = "import sys; from sslart.cli import main; main([sys.argv[1]]); print(*sys.modules, sep='\\n')"
    done = subprocess.run([sys.executable, "-c", heavy, option], capture_output=True, text=True, check=True)
    assert not {"numpy", "sklearn", "scipy", "pandas", "pyarrow", "sslart.estimators"} & set(done.stdout.splitlines())
    of_numpy = min(cpu_seconds("-c", "import numpy") for _ in range(3))
    assert min(cpu_seconds("-m", "sslart", option) for _ in range(3)) < 4 * of_numpy  # numpy takes a tenth of a second


def cpu_seconds(*arguments: str) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, *arguments], stdout=subprocess.DEVNULL, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def test_a_slip_in_a_command_is_named_with_what_was_meant(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["wat"])
    assert "'watch'" in capsys.readouterr().err


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"sslart {sslart.__version__}\n"


def test_wrong_usage_ends_with_2(capsys: pytest.CaptureFixture[str]) -> None:
    for arguments in (["fit"], ["fit", "x.csv"], ["watch", "m", "--every", "0"], ["nothing"]):
        with pytest.raises(SystemExit) as stop:
            main(arguments)
        assert stop.value.code == 2
    assert "Usage" in capsys.readouterr().err


@pytest.mark.parametrize(
    "shell", ["bash", pytest.param("zsh", marks=pytest.mark.slow), pytest.param("fish", marks=pytest.mark.slow)]
)
def test_shells_complete_commands_and_options(shell: str) -> None:
    words = {"COMP_WORDS": "sslart wa", "COMP_CWORD": "1", "_TYPER_COMPLETE_ARGS": "sslart wa"}
    environment = {
        **os.environ,
        **words,
        "_SSLART_COMPLETE": f"complete_{shell}",
        "_TYPER_COMPLETE_FISH_ACTION": "get-args",
    }
    run = [sys.executable, "-W", "ignore", "-c", "from sslart.cli import main; main()"]
    assert "watch" in subprocess.run(run, env=environment, capture_output=True, text=True, check=False).stdout


def test_mistakes_make_one_line_and_no_traceback(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data = str(iris(tmp_path))
    for arguments in (
        ["fit", data, "--label", "spezies"],
        ["fit", data, "--label", "species", "--out", str(tmp_path / "none" / "model")],
        ["fit", str(tmp_path), "--label", "species"],
        ["predict", data, data],
        ["update", str(tmp_path / "none"), data],
    ):
        assert main(arguments) == 1
        printed = capsys.readouterr()
        assert printed.out == ""
        assert len(printed.err.splitlines()) == 1
        assert printed.err.startswith("sslart: ")
    run = [sys.executable, "-W", "ignore", "-m", "sslart", *arguments]
    done = subprocess.run(run, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (1, "", printed.err)
