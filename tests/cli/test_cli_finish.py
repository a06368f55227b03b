"""The command line as people meet it: progress, Ctrl-C, exit codes, --quiet, and files that stay as they are."""

from __future__ import annotations

import json
import os
import pty
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from sslart.cli import main

Captured = pytest.CaptureFixture[str]


@pytest.fixture
def table(tmp_path: Path) -> Path:
    """Return a table with a remark on each row, which fit leaves out as free text."""
    random = np.random.default_rng(0)
    frame = pd.DataFrame(random.normal(size=(120, 3)), columns=["a", "b", "c"]).round(3)
    frame["remark"] = [f"seen by nurse {row} at the north gate, {row * 7} steps from here" for row in range(120)]
    frame["state"] = np.where(np.arange(120) % 3 == 0, np.where(frame["a"] > 0, "ill", "well"), None)
    path = tmp_path / "table.csv"
    frame.to_csv(path, index=False)
    return path


def fitted(table: Path, *options: str) -> Path:
    out = table.with_name("model.sslart")
    assert main(["fit", str(table), "--label", "state", "--out", str(out), "--quiet", *options]) == 0
    return out


END = "--- end of a command ---"
# several commands in one process: each start takes a second
IN_TURN = """
import json, sys
from sslart.cli import main
for arguments in json.loads(sys.argv[1]):
    code = main(arguments)
    for stream in (sys.stdout, sys.stderr):
        print(code, "{END}", file=stream, flush=True)
""".replace("{END}", END)


class OnTerminal:
    """Commands whose standard error is a terminal, and what they have written there."""

    def __init__(self, *program: str) -> None:
        self._own, theirs = pty.openpty()
        command = [sys.executable, *program]
        environment = {**os.environ, "TERM": "xterm", "COLUMNS": "100"}
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=theirs, env=environment, text=True)
        os.close(theirs)
        self.seen = ""

    def read_until(self, word: str, seconds: float = 60) -> bool:
        end = time.monotonic() + seconds
        while word not in self.seen and time.monotonic() < end:
            try:
                self.seen += os.read(self._own, 4096).decode(errors="replace")
            except OSError:  # the command has ended
                break
        return word in self.seen

    def end(self) -> tuple[int, str, str]:
        """Return the exit code, standard output, and what the terminal has shown."""
        self.read_until("\0", 120)
        out, _ = self.process.communicate(timeout=60)
        os.close(self._own)
        return self.process.returncode, out, self.seen


def long_table(folder: Path) -> Path:
    random = np.random.default_rng(0)
    frame = pd.DataFrame(random.normal(size=(20_000, 12)).round(3)).add_prefix("x")
    frame["state"] = np.where(np.arange(len(frame)) % 8 == 0, np.where(frame["x0"] > 0, "ill", "well"), None)
    frame.to_csv(folder / "long.csv", index=False)
    return folder / "long.csv"


def test_ctrl_c_changes_nothing_and_says_so(tmp_path: Path, table: Path) -> None:
    model = fitted(table)
    before = model.read_bytes()
    command = OnTerminal("-m", "sslart", "fit", str(long_table(tmp_path)), "--label", "state", "--out", str(model))
    assert command.read_until("learning 20,000 rows")
    command.process.send_signal(signal.SIGINT)
    code, out, shown = command.end()
    assert code == 130
    assert out == ""
    assert "stopped by Ctrl-C: nothing was changed." in shown
    assert "Traceback" not in shown
    assert model.read_bytes() == before
    assert sorted(one.name for one in tmp_path.iterdir()) == ["long.csv", "model.sslart", "table.csv"]


def test_every_step_of_fit_update_and_predict_is_shown_on_a_terminal(table: Path) -> None:
    model = table.with_name("model.sslart")
    fit = ["fit", str(table), "--label", "state", "--out", str(model)]
    commands = [
        fit,
        ["update", str(model), str(table), "--label", "state", "--again"],
        ["predict", str(model), str(table), "--out", str(table.with_name("out.csv"))],
        [*fit, "--quiet"],
    ]
    code, out, shown = OnTerminal("-c", IN_TURN, json.dumps(commands)).end()
    assert code == 0
    printed, seen = (text.split(f"0 {END}") for text in (out, shown))
    assert (len(printed), len(seen)) == (5, 5)
    assert "AutoSSLART" in printed[0]
    of_fit = ("reading", "learning 120 rows", "writing", "measuring accuracy", "computing feature importances")
    of_update = ("measuring the accuracy before", "learning", "writing", "measuring the accuracy after")
    for own, expected in zip(seen[:3], (of_fit, of_update, ("predicting",)), strict=True):
        assert [words for words in expected if words not in own] == []
    assert printed[3].strip() == ""
    assert "learning" not in seen[3]


@pytest.mark.usefixtures("plain_pictures")
def test_quiet_prints_no_more_than_notes_and_what_json_asks_for(table: Path, capsys: Captured) -> None:
    model, again = fitted(table), table.with_name("again.sslart")
    files = {"out": str(again), "page": str(table.with_name("page.html")), "rows": str(table.with_name("rows.csv"))}
    capsys.readouterr()
    for command in (
        ["update", str(model), str(table), "--label", "state", "--out", files["out"]],
        ["merge", str(model), str(model), "--out", files["out"]],
        ["predict", str(model), str(table), "--out", files["rows"]],
        ["report", str(model), str(table), "--out", files["page"]],
        ["fit", str(table), "--label", "state", "--out", files["out"]],
    ):
        assert main([*command, "--quiet"]) == 0
        found = capsys.readouterr()
        assert found.out == ""
        assert all(line.startswith("sslart: note: ") for line in found.err.splitlines())
        assert ("already learnt" in found.err) == (command[0] == "update")
        if command[0] in ("fit", "update", "merge"):
            assert main([*command, "--quiet", "--json"]) == 0
            assert json.loads(capsys.readouterr().out)["model"] == files["out"]


@pytest.mark.parametrize(
    ("encoding", "separator"),
    [("utf-8-sig", ","), ("utf-16", ";"), ("cp1252", ";"), ("cp1251", "\t"), ("utf-8", "\t")],
)
def test_append_keeps_encoding_and_separator(encoding: str, separator: str, table: Path) -> None:
    model = fitted(table)
    word = "тест" if encoding == "cp1251" else "Größe €"
    frame = pd.read_csv(table, dtype=str).fillna("").assign(remark=word)
    given, out = table.with_name("given.csv"), table.with_name("out.csv")
    given.write_bytes(frame.to_csv(index=False, sep=separator).encode(encoding))
    options = ["--encoding", encoding] if encoding == "cp1251" else []
    assert main(["predict", str(model), str(given), "--append", "--out", str(out), "--quiet", *options]) == 0
    lines, own = out.read_bytes().decode(encoding).splitlines(), given.read_bytes().decode(encoding).splitlines()
    assert len(lines) == len(own)
    assert all(line.startswith(one + separator) for line, one in zip(lines, own, strict=True))
    assert out.read_bytes()[:2] == given.read_bytes()[:2]


def test_a_class_that_the_encoding_lacks_is_refused_with_a_cure(table: Path, capsys: Captured) -> None:
    frame = pd.read_csv(table, dtype=str).replace({"state": {"ill": "больной", "well": "здоровый"}})
    frame.to_csv(table, index=False)
    model, given = fitted(table), table.with_name("given.csv")
    given.write_bytes(frame.drop(columns="state").assign(remark="Größe").to_csv(index=False).encode("cp1252"))
    out = table.with_name("out.csv")
    assert main(["predict", str(model), str(given), "--append", "--out", str(out)]) == 1
    assert "cannot be written in the encoding of" in capsys.readouterr().err
    assert not out.exists()


@pytest.mark.parametrize("ignored", [[], ["--ignore", "c"]], ids=["found", "ignored"])
def test_label_shows_what_the_model_does_not_use(
    ignored: list[str], table: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    model = fitted(table, *ignored)
    monkeypatch.setattr("builtins.input", lambda _: (_ for _ in ()).throw(EOFError))
    assert main(["label", str(model), str(table), "--label", "state"]) == 0
    out = capsys.readouterr().out
    row = int(re.search(r"row (\d+)", out)[1])  # type: ignore[index]
    remark = pd.read_csv(table)["remark"][row - 1]
    assert f"remark (not used by the model): {remark}" in out
    assert ("c (not used by the model): " in out) == bool(ignored)


def test_exit_codes_are_those_of_the_guide(table: Path, tmp_path: Path) -> None:
    page = Path(__file__).parents[2] / "docs" / "guide" / "command_line.md"
    codes = re.findall(r"^\| (\d+) \|", page.read_text().partition("## Exit codes")[2], re.MULTILINE)
    assert codes == ["0", "1", "2", "3", "130"]
    model = fitted(table)
    assert main(["predict", str(model), str(table), "--out", str(tmp_path / "out.csv")]) == 0
    assert main(["predict", str(tmp_path / "none.sslart"), str(table)]) == 1
    with pytest.raises(SystemExit, match="2"):
        main(["predict", "--no-such-option"])
    held = subprocess.Popen(
        [
            sys.executable,
            "-c",
            "import sys, time\nfrom sslart.cli._path_lock import PathLock\nfrom pathlib import Path\n"
            "with PathLock(Path(sys.argv[1]), 'other').held(5):\n    print('held', flush=True)\n    time.sleep(60)",
            str(model),
        ],
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert held.stdout is not None
        assert held.stdout.readline() == "held\n"
        assert main(["update", str(model), str(table), "--label", "state", "--wait", "0"]) == 3
    finally:
        held.kill()
        held.communicate()
