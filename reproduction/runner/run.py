"""Runs experiments piece by piece. A finished piece is on disk: an interrupted run continues where it stopped."""

from __future__ import annotations

import csv
import json
import os
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any

from joblib import Parallel, delayed

from reproduction.datasets import DataNotFoundError
from reproduction.framework.experiment import Experiment, Results
from reproduction.framework.protocol import Record, seed_of
from reproduction.framework.settings import Settings
from reproduction.methods.variant import UnsuitableModelError
from reproduction.runner.registry import EXPERIMENTS


@dataclass(frozen=True)
class Piece:
    """One repetition of one experiment on one data set."""

    experiment: str
    dataset: str
    repeat: int

    def path(self, folder: Path) -> Path:
        """Return where its results are kept."""
        return folder / "pieces" / self.experiment / f"{self.dataset.replace(' ', '-')}-{self.repeat}.json"


@dataclass(frozen=True)
class Run:
    """Results of a run.

    Attributes
    ----------
    results : dict from experiment to Results
    missing : dict from (experiment, data set) to the reason why it could not be run
    settings : Settings
    repeats : dict from experiment to the number of repeats
    """

    results: dict[str, Results]
    missing: dict[tuple[str, str], str]
    settings: Settings
    repeats: dict[str, int]


def datasets_of(name: str, settings: Settings) -> tuple[str, ...]:
    """Return the data sets of an experiment, or the table of one's own."""
    return EXPERIMENTS[name].datasets if settings.table is None else (settings.table.name,)


def refusal(name: str, settings: Settings) -> str:
    """Return why an experiment cannot be run with a table and models of one's own, "" where it can."""
    experiment = EXPERIMENTS[name]
    why = "" if settings.table is None else experiment.refuses(settings.table.load())
    if why:
        return f"experiment {name!r} cannot take a table of your own: {why}."
    for one in settings.variants:
        try:
            one.check(experiment.needs, name)
        except UnsuitableModelError as error:
            return str(error)
    return ""


def n_repeats(experiment: Experiment, settings: Settings, wanted: int | None) -> int:
    """Return the number of repeats of an experiment."""
    return wanted or (experiment.quick_repeats if settings.quick else experiment.repeats)


def run(
    names: Sequence[str],
    folder: Path,
    settings: Settings,
    *,
    repeats: int | None = None,
    jobs: int = 1,
    progress: Callable[[int, int, str], None] | None = None,
) -> Run:
    """Run experiments, or what is still missing of them, and collect their records.

    Parameters
    ----------
    names : sequence of str
    folder : Path
        Where finished pieces, tables and the report go.
    settings : Settings
    repeats : int or None
        None: as many as the experiment wants.
    jobs : int
        How many processes share the pieces. Results do not depend on it.
    progress : callable or None
        Called after each piece with how many are done, of how many, and which it was.
    """
    pieces = [
        Piece(name, dataset, repeat)
        for name in names
        for dataset in datasets_of(name, settings)
        for repeat in range(n_repeats(EXPERIMENTS[name], settings, repeats))
    ]
    finished = {piece: _read(piece, folder, settings) for piece in pieces}
    waiting = [piece for piece in pieces if finished[piece] is None]
    n_done = len(pieces) - len(waiting)
    if progress is not None:
        progress(n_done, len(pieces), "")
    work = Parallel(n_jobs=jobs, return_as="generator_unordered")(
        delayed(_do)(piece, folder, settings) for piece in waiting
    )
    for piece, content in work:
        finished[piece] = content
        n_done += 1
        if progress is not None:
            progress(n_done, len(pieces), f"{piece.experiment}, {piece.dataset}, repeat {piece.repeat + 1}")
    missing = {
        (piece.experiment, piece.dataset): content["missing"]
        for piece, content in finished.items()
        if content is not None and content["missing"]
    }
    return Run(
        {name: Results(_records(name, finished), settings) for name in names},
        missing,
        settings,
        {name: n_repeats(EXPERIMENTS[name], settings, repeats) for name in names},
    )


def _records(name: str, finished: dict[Piece, Any]) -> Iterable[Record]:
    for piece, content in finished.items():
        if piece.experiment == name and content is not None:
            for record in content["records"]:
                yield Record(**record)


def _do(piece: Piece, folder: Path, settings: Settings) -> tuple[Piece, dict[str, Any]]:
    experiment = EXPERIMENTS[piece.experiment]
    seed = seed_of(settings.seed, piece.dataset, piece.repeat)
    start = time.perf_counter()
    content: dict[str, Any] = {"settings": settings.as_data(), "missing": "", "records": []}
    try:
        found = [replace(record, repeat=piece.repeat) for record in experiment.work(piece.dataset, seed, settings)]
        content["records"] = [asdict(record) for record in found]
    except DataNotFoundError as error:
        content["missing"] = str(error)
    content["seconds"] = round(time.perf_counter() - start, 3)
    if not content["missing"]:
        _write(piece.path(folder), json.dumps(content))
    return piece, content


def _read(piece: Piece, folder: Path, settings: Settings) -> dict[str, Any] | None:
    """Return the stored result of a piece by an earlier run, None if it is absent or has other settings."""
    try:
        content = json.loads(piece.path(folder).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return content if isinstance(content, dict) and content.get("settings") == settings.as_data() else None


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_suffix(f".{os.getpid()}.part")
    partial.write_text(text, encoding="utf-8")
    partial.replace(path)


def write_records(run: Run, folder: Path) -> None:
    """Write all records as one tidy CSV and one JSON file."""
    rows = [
        {"experiment": name, **asdict(record)} for name, results in run.results.items() for record in results.records
    ]
    names = ["experiment", *(field.name for field in fields(Record))]
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "results.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, names, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    _write(folder / "results.json", json.dumps({"settings": run.settings.as_data(), "records": rows}, indent=0))
