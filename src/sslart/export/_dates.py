"""Dates in an ONNX graph: days since 1970, and the hour, weekday and month derived from them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sslart._data.dates import HOURS, MONDAY, MONTHS, SLACK, WEEKDAYS
from sslart.export._graph import INT64, Graph, Value

# Gregorian calendar with years that begin in March, so that the leap day is the last day
TO_MARCH_0 = 719_468.0  # days from 1 March of the year 0 to 1970
DAYS_OF_400, DAYS_OF_100, DAYS_OF_4, DAYS_OF_1 = 146_097.0, 36_524.0, 1_460.0, 365.0


def codes_of_parts(
    graph: Graph, days: Value, known: Sequence[Sequence[str]], unknown: int, missing: int, *, is_monthly: bool
) -> list[Value]:
    """Return the codes of the hour, the weekday and the month of dates, each of shape (n_samples, 1).

    Parameters
    ----------
    graph : Graph
    days : Value
        Days since 1970 in double precision, shape (n_samples, 1), NaN where missing.
    known : sequence of sequence of str
        The categories of each part that the model knows, by code.
    unknown, missing : int
        Codes of unknown and of missing parts.
    is_monthly : bool
        Whether the dates represent whole months, without a weekday.
    """
    is_missing = graph.op("IsNaN", days)
    moment = graph.where(is_missing, 0.0, days)
    whole = _floor(moment + SLACK)
    hour = graph.op("Clip", _floor((moment - whole + SLACK) * 8.0), np.array(0.0), np.array(7.0))
    places = (hour, _modulo(whole - float(MONDAY), 7.0), _month(whole))
    found = []
    for part, (words, place) in enumerate(zip((HOURS, WEEKDAYS, MONTHS), places, strict=True)):
        codes = np.array([known[part].index(word) if word in known[part] else unknown for word in words])
        if words is WEEKDAYS and is_monthly:
            codes[:] = missing
        found.append(graph.where(is_missing, np.array(missing), graph.take(codes, place.cast(INT64))))
    return found


def _month(days: Value) -> Value:
    """Return the month of days since 1970, from 0 for January."""
    since = days + TO_MARCH_0
    day = _modulo(since, DAYS_OF_400)  # of 400 years
    leap = _floor(day / DAYS_OF_4) - _floor(day / DAYS_OF_100) + _floor(day / (DAYS_OF_400 - 1.0))
    year = _floor((day - leap) / DAYS_OF_1)
    of_year = day - (year * DAYS_OF_1 + _floor(year / 4.0) - _floor(year / 100.0))
    return _modulo(_floor((of_year * 5.0 + 2.0) / 153.0) + 2.0, 12.0)  # five months from March on have 153 days


def _floor(value: Value) -> Value:
    return value.graph.op("Floor", value)


def _modulo(value: Value, divisor: float) -> Value:
    return value - _floor(value / divisor) * divisor
