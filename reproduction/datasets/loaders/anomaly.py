"""Plants and networks with faults or attacks."""

from __future__ import annotations

import io
import os
import re
import tarfile
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reproduction.datasets.bunch import to_bunch
from reproduction.datasets.catalogue import source_of
from reproduction.datasets.content import check_content, check_counts, reading
from reproduction.datasets.files import DataNotFoundError, Place, obtain
from reproduction.datasets.loaders.wadi import read_wadi
from sslart._utils.optional import optional
from sslart._utils.validation import check_option

_N_FAULTS = 21
_N_VARIABLES = 52
_FAULT_BEGINS = 160
_RUNS = tuple(f"d{number:02}{part}" for part in ("", "_te") for number in range(_N_FAULTS + 1))
_SUBSETS = ("all", "train", "test")


def load_tep(
    *,
    subset: str = "all",
    path: str | os.PathLike[str] | None = None,
    as_frame: bool = False,
    return_X_y: bool = False,
) -> Any:
    """Load the Tennessee Eastman process: 44 runs of a simulated plant, 52 variables, normal or fault.

    Parameters
    ----------
    subset : {"all", "train", "test"}, default="all"
        Which runs to give. A training run with a fault has it from the first row on; in a test run it begins with row
        160, and the rows before are normal.
    path : path, default=None
        A folder with the files d00.dat to d21_te.dat, or a tar archive of them.

    `fault` is the number of the fault of each row, 0 while there is none. `run` is the file each row came from;
    rows of one run follow each other in time, so split between runs rather than within them.
    """
    check_option("load_tep", "subset", subset, _SUBSETS)
    source = source_of("tep")
    place = obtain(source) if path is None else Place((Path(path),), "path")
    with reading(source, place):
        runs = _read_runs(place.files[0])
    data = np.concatenate([runs[name] for name in _RUNS])
    run = np.repeat(_RUNS, [len(runs[name]) for name in _RUNS])
    fault = np.concatenate([_faults(name, len(runs[name])) for name in _RUNS])
    target = np.where(fault > 0, "fault", "normal")
    check_counts(source, data, target, place)
    check_content(source, data, target, place)
    kept = np.ones(len(run), dtype=bool) if subset == "all" else np.char.endswith(run, "_te") == (subset == "test")
    return to_bunch(
        source,
        data[kept],
        target[kept],
        [f"xmeas_{number}" for number in range(1, 42)] + [f"xmv_{number}" for number in range(1, 12)],
        place,
        as_frame=as_frame,
        return_X_y=return_X_y,
        extra={"fault": fault[kept], "run": run[kept]},
    )


def _read_runs(path: Path) -> dict[str, NDArray[np.float64]]:
    texts = _texts_in_folder(path) if path.is_dir() else _texts_in_archive(path)
    lacking = [name for name in _RUNS if name not in texts]
    if lacking:
        raise ValueError(f"it has no {lacking[0]}.dat")
    return {name: to_run(name, texts[name]) for name in _RUNS}


def _texts_in_folder(folder: Path) -> dict[str, bytes]:
    return {file.stem: file.read_bytes() for file in folder.glob("d*.dat")}


def _texts_in_archive(path: Path) -> dict[str, bytes]:
    texts = {}
    with tarfile.open(path) as archive:
        for member in archive:
            name = re.fullmatch(r"(?:.*/)?(d\d\d(?:_te)?)\.dat", member.name)
            file = archive.extractfile(member) if name else None
            if name and file:
                texts[name[1]] = file.read()
    return texts


def to_run(name: str, text: bytes) -> NDArray[np.float64]:
    """Return a run with a row per moment; the owners' d00.dat has a row per variable."""
    values = np.array([float(word) for word in text.split()])
    n_lines = sum(1 for line in text.splitlines() if line.strip())
    if n_lines == _N_VARIABLES and len(values) != n_lines * _N_VARIABLES:
        return np.ascontiguousarray(values.reshape(_N_VARIABLES, -1).T)
    if len(values) != n_lines * _N_VARIABLES:
        raise ValueError(f"{name}.dat has {len(values)} values in {n_lines} lines where {_N_VARIABLES} are expected")
    return values.reshape(n_lines, _N_VARIABLES)


def _faults(name: str, n_rows: int) -> NDArray[np.int64]:
    begins = _FAULT_BEGINS if name.endswith("_te") else 0
    return np.where(np.arange(n_rows) >= begins, int(name[1:3]), 0)


_CATEGORICAL = ("proto", "service", "state")


def load_unsw_nb15(*, as_frame: bool = False, return_X_y: bool = False) -> Any:
    """Load UNSW-NB15: 82332 network flows, 42 features of which three are categorical, normal or attack.

    Parameters
    ----------
    as_frame, return_X_y : bool, default=False
        Give the target as a pandas object too (the data is a DataFrame in any case); give (data, target) alone.

    `attack_cat` is the kind of attack of each flow, "Normal" where there is none.
    """
    source = source_of("unsw_nb15")
    place = obtain(source)
    with reading(source, place):
        table = _read_flows(place.files[0])
    target = np.where(table["label"].to_numpy() == 1, "attack", "normal")
    attack_cat = table["attack_cat"].to_numpy().astype(str)
    data = table.drop(columns=["id", "label", "attack_cat"])
    check_counts(source, data, target, place)
    check_content(source, data, target, place)
    return to_bunch(
        source,
        data,
        target,
        list(data.columns),
        place,
        as_frame=as_frame,
        return_X_y=return_X_y,
        note='A service of "-" is one that was not recognised, a category of its own.',
        extra={"attack_cat": attack_cat},
    )


def _read_flows(path: Path) -> Any:
    pandas = optional("pandas", "reproduction")
    content = path.read_bytes()
    if zipfile.is_zipfile(io.BytesIO(content)):
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            name = next((name for name in archive.namelist() if name.endswith("training-set.csv")), None)
            if name is None:
                raise ValueError("it has no training-set.csv")
            content = archive.read(name)
    # numbers by Python's rule, as pandas' own has changed in the last digit from version to version
    cells = pandas.read_csv(io.BytesIO(content), encoding="utf-8-sig", keep_default_na=False, dtype=str)
    lacking = {"id", "label", "attack_cat", *_CATEGORICAL} - set(cells.columns)
    if lacking:
        raise ValueError(f"it has no column {min(lacking)}")
    named = (*_CATEGORICAL, "attack_cat")
    numbers = {name: cells[name].to_numpy(dtype=object).astype(float) for name in cells.columns if name not in named}
    return cells.assign(**numbers).astype(dict.fromkeys(_CATEGORICAL, "category"))


def load_wadi(
    path: str | os.PathLike[str],
    *,
    subset: str = "all",
    attacks: Any = None,
    as_frame: bool = False,
    return_X_y: bool = False,
) -> Any:
    """Load WADI: a water distribution testbed, second by second, two weeks of normal work and two days under attack.

    It is given out by its owners on request: ask iTrust, Singapore University of Technology and Design.

    Parameters
    ----------
    path : path
        A folder with the owners' files: ``WADI_14days*.csv`` and ``WADI_attackdata*.csv``, of the first edition
        (October 2017) or of the later one (A2, November 2019).
    subset : {"all", "train", "test"}, default="all"
        Both files, the two weeks, or the two days.
    attacks : sequence of (start, end), default=None
        When there was an attack, ends included, as strings or datetimes. Used where the file has no labels, which is so
        in the first edition; None takes the owners' list.

    Columns without any value are left out; other missing values are NaN. `time` is the time of each row,
    NaT where the file lacks the hour; `subset` is "train" or "test".
    """
    check_option("load_wadi", "subset", subset, _SUBSETS)
    source = source_of("wadi")
    patterns = {"train": "WADI_14days*.csv", "test": "WADI_attackdata*.csv"}
    files = {}
    for part in ("train", "test") if subset == "all" else (subset,):
        found = sorted(Path(path).glob(patterns[part]))
        if not found:
            raise DataNotFoundError(f"There is no {patterns[part]} in {Path(path)}. Put it there; or {source.ask}.")
        files[part] = found[0]
    place = Place(tuple(files.values()), "path")
    with reading(source, place):
        data, target, names, extra = read_wadi(files, attacks)
    return to_bunch(source, data, target, names, place, as_frame=as_frame, return_X_y=return_X_y, extra=extra)
