"""Reading plan of the columns: columns of dates, columns left out, and notes on columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sslart._data.columns.dates import PARTS, with_part_names
from sslart._data.columns.notes import ColumnNote, notes_from_state, notes_to_state
from sslart._data.saved import require

ATTRIBUTE = "_column_plan"


@dataclass(frozen=True)
class ColumnPlan:
    """Plan for reading the columns of a table.

    Attributes
    ----------
    dates : tuple of int
        The columns that hold dates or times.
    left_out : tuple of int
        The columns that are not learnt from, though they vary: identifiers and free text.
    notes : tuple of ColumnNote
        What `fit` has found.
    day_first : tuple of int
        Of the dates, those that came as text with the day before the month, such as 31/12/2021.
    monthly : tuple of int
        Of the dates, those that stand for a whole month or year, being the first day of it: they have no weekday.
    """

    dates: tuple[int, ...] = ()
    left_out: tuple[int, ...] = ()
    notes: tuple[ColumnNote, ...] = ()
    day_first: tuple[int, ...] = ()
    monthly: tuple[int, ...] = ()

    def n_columns(self, n_given: int) -> int:
        """Return the number of columns of a table with `n_given` given columns, including the parts of dates."""
        return n_given + len(self.dates) * len(PARTS)

    def of_dates(self, n_given: int) -> frozenset[int]:
        """Return the columns of dates and of their parts, in a table with `n_given` given columns.

        They change together: a value of one of them alone may be that of no date.
        """
        return frozenset(self.dates).union(range(n_given, self.n_columns(n_given)))

    def parts_of_dates(self, n_given: int) -> dict[int, range]:
        """Return the columns of the parts of each date, by the column of the date."""
        starts = range(n_given, self.n_columns(n_given), len(PARTS))
        return {column: range(start, start + len(PARTS)) for column, start in zip(self.dates, starts, strict=True)}

    def names(self, given: Sequence[str]) -> list[str]:
        """Return the names of all columns, the parts of dates included."""
        return with_part_names(given, self.dates)

    def to_state(self) -> dict[str, Any]:
        """Return the state to save: plain values."""
        return {
            "dates": list(self.dates),
            "left_out": list(self.left_out),
            "notes": notes_to_state(self.notes),
            "day_first": list(self.day_first),
            "monthly": list(self.monthly),
        }

    @classmethod
    def from_state(cls, state: Any, n_given: int) -> ColumnPlan:
        """Return the plan of a saved state, after checking that it can be one."""
        dates, left_out, day_first, monthly = (
            tuple(state[name]) for name in ("dates", "left_out", "day_first", "monthly")
        )
        columns = (*dates, *left_out)
        require(
            all(type(column) is int and 0 <= column < n_given for column in columns)
            and len(set(columns)) == len(columns)
            and dates == tuple(sorted(dates))
            and set(dates).issuperset(day_first + monthly),
            "the columns",
        )
        return cls(dates, left_out, notes_from_state(state["notes"]), day_first, monthly)


NO_PLAN = ColumnPlan()


def plan_of(owner: Any) -> ColumnPlan:
    """Return the column plan of an estimator or a reader of samples."""
    plan: ColumnPlan = getattr(owner, ATTRIBUTE, NO_PLAN)
    return plan


def keep_plan(owner: Any, plan: ColumnPlan) -> None:
    """Let a reader of samples know a plan; an empty one is none."""
    vars(owner).pop(ATTRIBUTE, None)
    if plan != NO_PLAN:
        setattr(owner, ATTRIBUTE, plan)
