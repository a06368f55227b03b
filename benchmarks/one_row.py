"""Cost of one-row calls before and after a change, measured side by side in one run.

    python benchmarks/one_row.py --before REV [--after REV] [--turns 7] [--realtime]

Both states of the code are taken from git (without --after, the working tree as it is), built with their compiled
kernel and installed into a temporary folder, without dependencies: those of the running Python serve both. In each
turn, one process per state fits the same models to the same data; then the two take turns call by call, and each
gives the median time of many calls with one row. The table has the medians over all turns, and how many times faster
a call has become: the median over the turns of before divided by after. With --realtime (Linux, as root) other programs
on the same core wait while a call is measured.
"""

from __future__ import annotations

import argparse
import copy
import io
import json
import os
import shutil
import statistics
import subprocess
import sys
import tarfile
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

CALLS = ("predict", "predict_proba", "score_samples", "partial_fit", "explain", "explain, as text")
NO_LABEL = np.array([-1])
N_ROWS = 20
N_FIRST, MIN_PASSES = 3, 2
SECONDS_PER_CALL = 0.25


# ---------------------------------------------------------------------------------------------- in a worker process


def cancer() -> tuple[Any, Any]:
    """Return breast cancer, with one label in twenty."""
    from sklearn.datasets import load_breast_cancer

    X, y = load_breast_cancer(return_X_y=True)
    return X, np.where(np.arange(len(y)) % 20 == 0, y, -1)


def digits() -> tuple[Any, Any]:
    """Return digits, with one label in twenty."""
    from sklearn.datasets import load_digits

    X, y = load_digits(return_X_y=True)
    return X, np.where(np.arange(len(y)) % 20 == 0, y, -1)


def wine() -> tuple[Any, Any]:
    """Return wine, with one label in five."""
    from sklearn.datasets import load_wine

    X, y = load_wine(return_X_y=True)
    return X, np.where(np.arange(len(y)) % 5 == 0, y, -1)


def mixed() -> tuple[Any, Any]:
    """Return 303 rows of six numbers and seven categories, with gaps and one label in ten, as a frame."""
    import pandas as pd

    random = np.random.RandomState(0)
    n = 303
    hidden = random.normal(size=n)
    columns: dict[str, Any] = {}
    for number in range(6):
        columns[f"number {number}"] = (50 + 10 * (hidden * (number % 3) + random.normal(size=n))).round(1)
    for number in range(7):
        n_categories = 2 + number % 3
        codes = np.clip((hidden + random.normal(size=n) + 1.5).astype(int), 0, n_categories - 1)
        columns[f"category {number}"] = np.array(list("abcd"), dtype=object)[codes]
    frame = pd.DataFrame(columns)
    frame.loc[::23, "number 1"] = np.nan
    frame.loc[5::31, "category 2"] = None
    return frame, np.where(np.arange(n) % 10 == 0, (hidden > 0).astype(int), -1)


MODELS: dict[str, tuple[str, Callable[[], tuple[Any, Any]]]] = {
    "AutoSSLART, breast cancer": ("AutoSSLART", cancer),
    "AutoSSLART, digits": ("AutoSSLART", digits),
    "AutoSSLART, wine": ("AutoSSLART", wine),
    "AutoSSLART, mixed columns": ("AutoSSLART", mixed),
    "SSLART one-to-many, breast cancer": ("SSLART", cancer),
}


def fitted(name: str) -> tuple[Any, list[Any]]:
    """Return a model with the rows to predict, one by one."""
    import sslart

    estimator, data = MODELS[name]
    X, y = data()
    model = getattr(sslart, estimator)(random_state=0).fit(X, y)
    rows = np.linspace(0, len(y) - 1, N_ROWS).astype(int)
    return model, [X.iloc[[row]] if hasattr(X, "iloc") else X[[row]] for row in rows]


def work_of(model: Any, call: str) -> Callable[[Any], Any]:
    """Return the calls that are timed with one row."""
    if call == "explain, as text":
        return lambda row: str(model.explain(row)[0])
    if call == "partial_fit":
        learning = copy.deepcopy(model)
        return lambda row: learning.partial_fit(row, NO_LABEL)
    method: Callable[[Any], Any] = getattr(model, call)
    return method


def median_seconds(work: Callable[[Any], Any], rows: list[Any]) -> float:
    """Return the median over the rows of the median time of each; all rows in turn, until the time is used up."""
    for row in rows[:N_FIRST]:
        work(row)
    passes: list[list[float]] = []
    began = time.perf_counter()
    while len(passes) < MIN_PASSES or time.perf_counter() - began < SECONDS_PER_CALL:
        taken = []
        for row in rows:
            start = time.perf_counter()
            work(row)
            taken.append(time.perf_counter() - start)
        passes.append(taken)
    return float(np.median(np.median(passes, axis=0)))


def serve(realtime: bool) -> None:
    """Read requests from standard input; write the seconds of a call, or all predictions, as a line of JSON each."""
    # an editable install would come before PYTHONPATH
    sys.meta_path[:] = [finder for finder in sys.meta_path if type(finder).__name__ != "ScikitBuildRedirectingFinder"]
    import sslart

    models = {name: fitted(name) for name in MODELS}
    print(json.dumps(str(Path(sslart.__file__).resolve())), flush=True)
    for line in sys.stdin:
        name, call = json.loads(line)
        model, rows = models[name]
        if call == "predictions":
            found: Any = [[row[0].round(6).tolist() for row in map(model.predict_proba, rows)]]
            found.append([str(model.predict(row)[0]) for row in rows])
        else:
            if realtime:
                os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
            found = median_seconds(work_of(model, call), rows)
            if realtime:
                os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))
        print(json.dumps(found), flush=True)


# ---------------------------------------------------------------------------------------- in the process that compares


def repository() -> Path:
    """Return the folder of the repository that this file belongs to."""
    return Path(git(Path(__file__).resolve().parent, "rev-parse", "--show-toplevel").decode().strip())


def git(folder: Path, *arguments: str) -> bytes:
    return subprocess.run(["git", "-C", str(folder), *arguments], check=True, stdout=subprocess.PIPE).stdout


def export(revision: str | None, target: Path) -> str:
    """Copy a revision, or the working tree as it is, into a folder; return what it is called."""
    root = repository()
    target.mkdir()
    if revision is not None:
        with tarfile.open(fileobj=io.BytesIO(git(root, "archive", "--format=tar", revision))) as archive:
            archive.extractall(target, filter="data")
        return f"{revision} ({git(root, 'rev-parse', '--short', f'{revision}^{{commit}}').decode().strip()})"
    for name in git(root, "ls-files", "-z", "--cached", "--others", "--exclude-standard").decode().split("\0"):
        if name and (root / name).is_file():
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(root / name, target / name)
    return "the working tree"


def install(source: Path, target: Path) -> None:
    """Build and install a state of the code into a folder, without dependencies."""
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", str(target), str(source)]
    subprocess.run(command, check=True)
    package = target / "sslart"
    if not any(path.suffix in (".so", ".pyd") for path in package.rglob("*")):
        raise SystemExit("The kernel was not compiled: without a C++ compiler there is nothing to compare.")


class Worker:
    """A process that has fitted the models with one state of the code."""

    def __init__(self, installed: Path, realtime: bool) -> None:
        environment = {**os.environ, "PYTHONPATH": str(installed), "PYTHONDONTWRITEBYTECODE": "1"}
        self._process = subprocess.Popen(
            [sys.executable, str(Path(__file__).resolve()), "--serve", *["--realtime"] * realtime],
            env=environment,
            cwd=installed,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        used = Path(self._reply())
        if not used.is_relative_to(installed.resolve()):
            self.stop()
            raise SystemExit(f"The wrong sslart was imported: {used}")

    def request(self, name: str, call: str) -> Any:
        """Return the result of one request."""
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps([name, call]) + "\n")
        self._process.stdin.flush()
        return self._reply()

    def _reply(self) -> Any:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise SystemExit("A worker has failed: see above.")
        return json.loads(line)

    def stop(self) -> None:
        """End the process."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        try:
            self._process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()


@contextmanager
def workers(installed: dict[str, Path], realtime: bool) -> Iterator[dict[str, Worker]]:
    """Start a worker for each state, and end them afterwards."""
    started: dict[str, Worker] = {}
    try:
        for state, folder in installed.items():
            started[state] = Worker(folder, realtime)
        yield started
    finally:
        for worker in started.values():
            worker.stop()


Times = dict[tuple[str, str], dict[str, list[float]]]


def measured(installed: dict[str, Path], turns: int, realtime: bool) -> tuple[Times, list[str]]:
    """Return the seconds of each call, state and turn, and the models whose predictions differ."""
    times: Times = {(name, call): {state: [] for state in installed} for name in MODELS for call in CALLS}
    differing: list[str] = []
    for turn in range(turns):
        states = list(installed) if turn % 2 == 0 else list(installed)[::-1]
        with workers({state: installed[state] for state in states}, realtime) as started:
            for name, call in times:
                for state in states:
                    times[name, call][state].append(started[state].request(name, call))
            if turn == 0:
                for name in MODELS:
                    first, second = (started[state].request(name, "predictions") for state in states)
                    if first != second:
                        differing.append(name)
        print(f"turn {turn + 1} of {turns}", file=sys.stderr)
    return times, differing


def table(times: Times) -> str:
    """Return the times as a table in Markdown."""
    lines = ["| model | call | before, ms | after, ms | times faster |", "|---|---|---|---|---|"]
    for (name, call), taken in times.items():
        before, after = (1e3 * statistics.median(taken[state]) for state in ("before", "after"))
        faster = statistics.median(b / a for a, b in zip(taken["after"], taken["before"], strict=True))
        lines.append(f"| {name} | {call} | {before:.3f} | {after:.3f} | {faster:.1f} |")
    return "\n".join(lines)


def compare(before: str, after: str | None, turns: int, realtime: bool) -> None:
    """Print what one-row calls cost before and after."""
    with tempfile.TemporaryDirectory(prefix="one_row_") as folder:
        installed, names = {}, {}
        for state, revision in (("before", before), ("after", after)):
            source = Path(folder) / f"{state}-source"
            names[state] = export(revision, source)
            installed[state] = Path(folder) / state
            install(source, installed[state])
        times, differing = measured(installed, turns, realtime)
    print(f"One row, {turns} turns; before: {names['before']}, after: {names['after']}.\n")
    print(table(times))
    print("\nAll predictions are the same." if not differing else f"\nPredictions differ: {'; '.join(differing)}.")


def main() -> None:
    """Run the command line of this script."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--before", metavar="REV", help="revision to compare with")
    parser.add_argument("--after", metavar="REV", help="revision to compare; the working tree unless given")
    parser.add_argument("--turns", type=int, default=7, help="how often both are measured")
    parser.add_argument("--realtime", action="store_true", help="let other programs wait while a call is measured")
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.serve:
        serve(options.realtime)
    elif options.before is None:
        parser.error("--before is required")
    elif options.turns < 1:
        parser.error("--turns must be at least 1")
    else:
        compare(options.before, options.after, options.turns, options.realtime)


if __name__ == "__main__":
    main()
