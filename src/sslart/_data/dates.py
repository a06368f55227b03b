"""Dates and times as numbers and categories: days since 1970, hour of the day, weekday, month."""

from __future__ import annotations

from collections.abc import Container, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import date, datetime, time
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sslart._data.columns import PARTS, dtype_name, with_part_names
from sslart._data.text_parsing import NotADateError, lacks_a_part, moments
from sslart._utils.arrays import FloatArray

if TYPE_CHECKING:
    from sslart._data.samples import Table


WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
MONTHS = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)
HOURS = tuple(f"{start:02}:00 to {start + 3:02}:00" for start in range(0, 24, 3))

MONDAY = 4  # the fifth day of 1970, counted from 0
PER_DAY = 86_400_000_000  # microseconds
MIN_MONTHS = 3
SLACK = 1e-9  # of a day: rounding of a time of day in a double


def holds_dates(column: Any) -> bool:
    """Return True if a column of a frame contains dates or times."""
    name = dtype_name(column)
    if name.startswith(("datetime", "date", "time")) and not name.startswith("timedelta"):
        return True
    if not name.startswith("object"):
        return False
    first = next((value for value in column if value is not None and value == value), None)
    return isinstance(first, date | time | np.datetime64)


def days_of(column: Any, name: str) -> FloatArray:
    """Return the days since 1970 of each date in a column of a frame, in local time; NaN where missing.

    For times without a date, the fraction of the day that has passed.
    """
    zone = getattr(getattr(column, "dtype", None), "tz", None) or getattr(column.dtype, "time_zone", None)
    if zone is not None:
        column = column.dt.tz_localize(None) if hasattr(column.dt, "tz_localize") else column.dt.replace_time_zone(None)
    values: NDArray[Any] = np.asarray(column)
    if values.dtype.kind != "M":
        values = np.array([_moment(value, name) for value in values.tolist()], dtype="datetime64[us]")
    days = values.astype("datetime64[us]").astype(np.int64) / PER_DAY
    return np.where(np.isnat(values), np.nan, days)


def _moment(value: Any, name: str) -> Any:
    if value is None or value != value:
        return None
    if isinstance(value, np.datetime64):
        return value
    if isinstance(value, time):
        value = datetime.combine(date(1970, 1, 1), value)
    if not isinstance(value, date):
        raise ValueError(
            f"Column {name!r} holds dates, and {value!r}, which is not a date: convert the column to datetime64, "
            "such as with pandas.to_datetime."
        )
    return np.datetime64(value.replace(tzinfo=None) if isinstance(value, datetime) else value, "us")


def day_of(value: Any) -> Any:
    """Convert a date, or a text that is a date, to days since 1970; return other values unchanged."""
    if isinstance(value, str) and not lacks_a_part(value.strip()):
        with suppress(NotADateError):
            value = moments([value.strip()], day_first=False)[0]
    if isinstance(value, date | time | np.datetime64):
        return float(days_of(np.array([_moment(value, "")], dtype="datetime64[us]"), "")[0])
    return value


def stand_for_months(days: FloatArray) -> bool:
    """Return True if all dates are the first day of a month, so that they stand for months or years."""
    known = np.unique(days[~np.isnan(days)])
    dates = known.astype("datetime64[D]")
    return len(known) >= MIN_MONTHS and bool(
        (known == np.floor(known)).all() and (dates == dates.astype("M8[M]")).all()
    )


def with_parts(table: Table, columns: Sequence[int], monthly: Container[int] = ()) -> Table:
    """Append the hour, weekday and month of dates to a table as categorical columns.

    Dates of `monthly` columns have no weekday.
    """
    if not columns:
        return table
    n_columns = table.values.shape[1]
    categories = dict(table.categories)
    for place, column in enumerate(columns):
        for part, own in enumerate(parts_of(table.values[:, column])):
            has_none = PARTS[part] == "weekday" and column in monthly
            categories[n_columns + place * len(PARTS) + part] = np.full_like(own, None) if has_none else own
    n_parts = len(columns) * len(PARTS)
    values = np.pad(table.values, ((0, 0), (0, n_parts)), constant_values=np.nan)
    names = None if table.names is None else with_part_names(table.names, columns)
    return replace(table, values=values, categories=categories, names=names, n_parts=n_parts)


def parts_of(days: FloatArray) -> list[NDArray[np.object_]]:
    """Return the hour in steps of three, the weekday and the month of dates, None where missing."""
    known = ~np.isnan(days)
    whole = np.floor(np.where(known, days, 0.0) + SLACK)
    places = (
        np.clip((np.where(known, days, 0.0) - whole + SLACK) * 8, 0, 7),
        (whole - MONDAY) % 7,
        whole.astype("datetime64[D]").astype("datetime64[M]").astype(np.int64) % 12,
    )
    found = []
    for words, place in zip((HOURS, WEEKDAYS, MONTHS), places, strict=True):
        values = np.full(len(days), None, dtype=object)
        values[known] = np.array(words, dtype=object)[place[known].astype(np.int64)]
        found.append(values)
    return found
