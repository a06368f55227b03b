"""Killed at any moment, commands leave a whole model and a whole table, with all that was reported."""

from __future__ import annotations

import json
import random
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path

import pandas as pd
import pytest
from sklearn.datasets import load_iris

import sslart
from tables import fitted, iris, iris_model

SSLART = (sys.executable, "-W", "ignore", "-m", "sslart")
LONGEST = 60.0
TIMES = [pytest.param(1, id="once"), pytest.param(50, id="50 times", marks=pytest.mark.slow)]


def start(*arguments: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [*SSLART, *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    )


def kill_while_saving(process: subprocess.Popen[bytes], folder: Path) -> None:
    """Kill within milliseconds of the moment at which a new file appears beside the model."""
    known = set(folder.glob(".*.part"))
    end = time.monotonic() + LONGEST
    while process.poll() is None and set(folder.glob(".*.part")) <= known and time.monotonic() < end:
        time.sleep(0.0005)
    time.sleep(random.random() * 0.01)
    process.kill()


def kill_any_time(process: subprocess.Popen[bytes], seconds: float = 3.0) -> None:
    time.sleep(random.random() * seconds)
    process.kill()


def killed(process: subprocess.Popen[bytes], folder: Path, turn: int) -> tuple[bytes, bool]:
    """Kill a process, half of the times while it saves; return what it had printed, and whether that was in time."""
    if turn % 2:
        kill_any_time(process)
    else:
        kill_while_saving(process, folder)
    printed = process.communicate()[0]
    return printed, process.returncode == -signal.SIGKILL


def n_learnt(path: Path) -> int:
    return int(sslart.load(path).support_.sum())


@pytest.mark.parametrize("times", TIMES)
def test_fit_leaves_the_old_model_or_the_new_one(times: int, tmp_path: Path) -> None:
    model, data = iris_model(tmp_path), tmp_path / "iris.csv"
    options = ["--label", "species", "--id", "flower", "--out", str(model), "--vigilance"]
    n_killed = 0
    for turn in range(times):
        before, vigilance = sslart.load(model).vigilance, 0.5 + 0.001 * turn
        printed, in_time = killed(start("fit", str(data), *options, str(vigilance)), tmp_path, turn)
        now = sslart.load(model).vigilance
        assert now in (before, vigilance)
        assert now == vigilance or not printed
        n_killed += in_time
    assert n_killed


@pytest.mark.parametrize("times", TIMES)
def test_update_loses_nothing_that_was_reported(times: int, tmp_path: Path) -> None:
    model, new = iris_model(tmp_path), tmp_path / "new.csv"
    rows = load_iris(as_frame=True).data[:7]
    rows.to_csv(new, index=False)
    n_killed = 0
    for turn in range(times):
        before = n_learnt(model)
        printed, in_time = killed(start("update", str(model), str(new), "--again", "--json"), tmp_path, turn)
        now = n_learnt(model)
        assert now in (before, before + len(rows))
        assert now == before + len(rows) or not printed
        n_killed += in_time
    assert n_killed


@pytest.mark.parametrize("times", TIMES)
def test_watch_keeps_all_rows_up_to_the_one_it_reports(times: int, tmp_path: Path) -> None:
    model = fitted(iris(tmp_path), "--label", "species", "--id", "flower", "--mapping", "one-to-many")
    header, *lines = load_iris(as_frame=True).data.to_csv(index=False).encode().splitlines(keepends=True)
    n_reported = 0
    for turn in range(times):
        before = n_learnt(model)
        process = start("watch", str(model), "--every", "5", "--learn", "all")
        printed: list[bytes] = []
        reader = threading.Thread(target=lambda process=process, printed=printed: printed.extend(process.stdout))
        feeder = threading.Thread(target=_feed, args=(process, [header, *lines * 20]))
        reader.start()
        feeder.start()
        while len(printed) < 12 and process.poll() is None:
            time.sleep(0.005)
        if turn % 2:
            kill_any_time(process, 0.5)
        else:
            kill_while_saving(process, tmp_path)
        process.wait()
        reader.join()
        feeder.join()
        process.stdout.close()
        predicted = [json.loads(line) for line in printed if line.endswith(b"\n")]
        saved = predicted[-1]["saved_through"]
        assert saved >= 5
        assert before + saved <= n_learnt(model) <= before + len(predicted)
        n_reported += process.returncode == -signal.SIGKILL
    assert n_reported


@pytest.mark.slow
@pytest.mark.parametrize("times", [2, 30])
def test_label_puts_every_answer_into_the_table_before_it_is_learnt(times: int, tmp_path: Path) -> None:
    data = iris(tmp_path)
    model, before = fitted(data, "--label", "species", "--id", "flower"), pd.read_csv(data)
    n_known = int(before["species"].notna().sum())
    for turn in range(times):
        process = start("label", str(model), str(data), "--label", "species", "--write", "--questions", "100")
        process.stdin.write(b"setosa\n" * 3)
        process.stdin.flush()
        printed, _ = killed(process, tmp_path, turn)
        after = pd.read_csv(data)
        assert after.drop(columns="species").equals(before.drop(columns="species"))
        n_labels = int(after["species"].notna().sum())
        n_learnt_now = printed.count(b" boxes have a label") - 1
        assert n_known + max(n_learnt_now, 0) <= n_labels <= n_known + 3
        n_known = n_labels
        sslart.load(model)
        if n_known > 130:
            break


def _feed(process: subprocess.Popen[bytes], lines: list[bytes]) -> None:
    with suppress(BrokenPipeError):
        for line in lines:
            process.stdin.write(line)
            process.stdin.flush()
    with suppress(BrokenPipeError):
        process.stdin.close()
