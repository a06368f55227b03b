"""The two editions of the WADI tables: header, column names, and times of attacks."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sslart._utils.optional import optional

# The owners' list that comes with the first edition, as (start, end). Some readings of it have the attack of 87 seconds
# on the 10th, inside a longer one; by the rows that others label it is on the 11th.
ATTACKS = (
    ("2017-10-09 19:25:00", "2017-10-09 19:50:16"),
    ("2017-10-10 10:24:10", "2017-10-10 10:34:00"),
    ("2017-10-10 10:55:00", "2017-10-10 11:24:00"),
    ("2017-10-10 11:30:40", "2017-10-10 11:44:50"),
    ("2017-10-10 13:39:30", "2017-10-10 13:50:40"),
    ("2017-10-10 14:48:17", "2017-10-10 14:59:55"),
    ("2017-10-10 17:40:00", "2017-10-10 17:49:40"),
    ("2017-10-11 10:55:00", "2017-10-11 10:56:27"),
    ("2017-10-11 11:17:54", "2017-10-11 11:31:20"),
    ("2017-10-11 11:36:31", "2017-10-11 11:47:00"),
    ("2017-10-11 11:59:00", "2017-10-11 12:05:00"),
    ("2017-10-11 12:07:30", "2017-10-11 12:10:52"),
    ("2017-10-11 12:16:00", "2017-10-11 12:25:36"),
    ("2017-10-11 15:26:30", "2017-10-11 15:37:00"),
)
_HEADER_WITHIN = 10  # lines
_TIMES = ("%m/%d/%Y %I:%M:%S.%f %p", "%m/%d/%Y %I:%M:%S %p", "%m/%d/%Y %H:%M:%S", "%m/%d/%Y %H:%M:%S.%f")


def read_wadi(
    files: Mapping[str, Path], attacks: Any
) -> tuple[NDArray[np.float64], NDArray[np.str_], list[str], dict[str, Any]]:
    """Return the numbers, the targets, the names of the columns, and the time and part of each row."""
    pandas = optional("pandas", "reproduction")
    tables = {part: _read(pandas, file) for part, file in files.items()}
    labels = [_labels(pandas, part, table, attacks) for part, table in tables.items()]
    times = [_times(pandas, table).to_numpy() for table in tables.values()]
    common = [name for name in next(iter(tables.values())).columns if all(name in table for table in tables.values())]
    sensors = [name for name in common if name not in ("Row", "Date", "Time") and not _is_label(name)]
    values = pandas.concat([table[sensors] for table in tables.values()], ignore_index=True)
    values = values.apply(pandas.to_numeric, errors="coerce").dropna(axis="columns", how="all")
    extra = {
        "time": np.concatenate(times),
        "subset": np.repeat(list(tables), [len(table) for table in tables.values()]),
    }
    target = np.where(np.concatenate(labels), "attack", "normal")
    return values.to_numpy(dtype=np.float64), target, [str(name) for name in values.columns], extra


def _read(pandas: Any, file: Path) -> Any:
    """Read a table whose header comes after a few lines of something else, and cut column names to the tag."""
    with file.open(encoding="utf-8-sig", errors="replace") as lines:
        header = next(
            (number for number, line in zip(range(_HEADER_WITHIN), lines, strict=False) if _is_header(line)), None
        )
    if header is None:
        raise ValueError(f"{file.name} has no line that begins with Row, Date, Time")
    table = pandas.read_csv(file, skiprows=header, skip_blank_lines=False, low_memory=False, encoding="utf-8-sig")
    table.columns = [str(name).split("\\")[-1].strip() for name in table.columns]
    return table[table["Date"].notna()].reset_index(drop=True)


def _is_header(line: str) -> bool:
    return [cell.strip().lower() for cell in line.split(",")[:3]] == ["row", "date", "time"]


def _is_label(name: str) -> bool:
    return name.lower().startswith("attack")


def _times(pandas: Any, table: Any) -> Any:
    """Return the time of each row; NaT where the file has it without the hour, as copies of the later edition do."""
    text = table["Date"].astype(str).str.strip() + " " + table["Time"].astype(str).str.strip()
    for form in _TIMES:
        times = pandas.to_datetime(text, format=form, errors="coerce")
        if times.notna().all():
            return times
    return times


def _labels(pandas: Any, part: str, table: Any, attacks: Any) -> NDArray[np.bool_]:
    if part == "train":
        return np.zeros(len(table), dtype=bool)
    label = next((name for name in table.columns if _is_label(name)), None)
    if label is not None:
        return np.asarray(pandas.to_numeric(table[label]).to_numpy() == -1)
    times = _times(pandas, table).dt.floor("s")
    if times.isna().any():
        raise ValueError("it has neither labels nor complete times, so that the times of attacks are unknown")
    under_attack = np.zeros(len(table), dtype=bool)
    for start, end in ATTACKS if attacks is None else attacks:
        under_attack |= ((times >= pandas.Timestamp(start)) & (times <= pandas.Timestamp(end))).to_numpy()
    return under_attack
