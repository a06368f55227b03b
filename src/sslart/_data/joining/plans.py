"""Merging of the column plans of several models: dates, and columns left out."""

from __future__ import annotations

from collections.abc import Sequence

from sslart._data.columns.notes import TOPICS
from sslart._data.columns.plan import ColumnPlan


def joined_plan(plans: Sequence[ColumnPlan], names: Sequence[str]) -> ColumnPlan:
    """Return the plan of columns for the data of several models, the same in every order of them.

    Parameters
    ----------
    plans : sequence of ColumnPlan
    names : sequence of str
        Names of the columns that the user gave.

    Raises
    ------
    ValueError
        If a column is read in one way by some models and in another by others.
    """
    for what, cure, of_plan in (
        (
            "holds dates in one part of the data and none in another",
            "Give it the dtype datetime64 in all of them, such as by pandas.to_datetime",
            [one.dates for one in plans],
        ),
        (
            "has dates with the day before the month in one part of the data and after it in another",
            "Write dates as year-month-day in all of them",
            [one.day_first for one in plans],
        ),
        (
            "is left out in one part of the data, as an identifier or free text, and learnt from in another",
            "Drop it from all of them, or give it the pandas dtype 'category' in all",
            [one.left_out for one in plans],
        ),
    ):
        differ = sorted(set().union(*of_plan) - set(of_plan[0]).intersection(*of_plan))
        if differ:
            raise ValueError(f"Column {names[differ[0]]!r} {what}. {cure}.")
    notes = sorted({note for one in plans for note in one.notes}, key=lambda note: (note.column, note.detail))
    first_of = {(note.topic, note.column): note for note in reversed(notes)}
    monthly = set(plans[0].monthly).intersection(*(one.monthly for one in plans))
    return ColumnPlan(
        plans[0].dates,
        tuple(sorted(plans[0].left_out)),
        tuple(sorted(first_of.values(), key=lambda note: (TOPICS.index(note.topic), note.column))),
        tuple(sorted(plans[0].day_first)),
        tuple(sorted(monthly)),
    )
