"""The samples of several tables as one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from sslart._data.samples import Table


def joined_tables(tables: Sequence[Table]) -> Table:
    """Return the samples of several tables with the same columns, one after the other."""
    columns = sorted({column for table in tables for column in table.categories})
    categories = {column: np.concatenate([categories_of(table, column) for table in tables]) for column in columns}
    return Table(np.concatenate([table.values for table in tables]), categories, tables[0].names)


def categories_of(table: Table, column: int) -> Any:
    """Return the categories of a column; a table in which all of them are missing may not know it as categorical."""
    return table.categories.get(column, np.full(len(table), None))
