"""What the user wants of counterfactuals: one sample, a class, features that stay, and limits of new values."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from numbers import Integral, Real
from typing import Any, NamedTuple

import numpy as np

from sslart._data.labels import UNLABELLED
from sslart._data.samples import Table, plain_value
from sslart._mapping.model_view import ModelView
from sslart._utils.optional import optional
from sslart._utils.text import list_text, printable

SHOWN_NAMES = 12


class Limits(NamedTuple):
    """What may change, and to what.

    Attributes
    ----------
    fixed : frozenset of int
        The columns that stay as they are.
    numbers : dict from column to (float, float)
        The lowest and the highest new value.
    categories : dict from column to frozenset
        The categories that are allowed.
    """

    fixed: frozenset[int]
    numbers: dict[int, tuple[float, float]]
    categories: dict[int, frozenset[Any]]


def read_sample(view: ModelView, x: Any) -> Table:
    """Return one sample as a table of one row: a frame or an array of one row, a Series, a dict, or plain values."""
    if hasattr(x, "columns") or np.ndim(x) == 2:
        table = view.read(x)
        if len(table) != 1:
            raise ValueError(
                f"A counterfactual belongs to one sample, got {len(table)}: give one row, such as X[:1] or "
                "X.iloc[[0]], and call this once for each sample."
            )
        return table
    names = view.feature_names[: view.reader.n_features_in_]
    if isinstance(x, Mapping):
        missing = [printable(name) for name in names if name not in x]
        if missing:
            raise ValueError(f"The sample has no value for {list_text(missing)}: add it, None where it is not known.")
        x = [x[name] for name in names]
    elif hasattr(x, "to_frame") and hasattr(x, "index") and view.reader.has_names:
        return view.read(x.to_frame().T)
    values = list(x) if np.ndim(x) == 1 else [x]
    if len(values) != len(names):
        raise ValueError(f"The sample has {len(values)} value(s), and the model has learnt {len(names)} features.")
    if view.reader.has_names:
        frame = optional("pandas", "data").DataFrame([values], columns=names)
        return view.read(frame)
    return view.read(np.array(values, dtype=np.float64)[None])


def read_target(view: ModelView, target: Any, present: int) -> int | None:
    """Return the index of the class wanted, None for any other than the present one (an index, -1 for none)."""
    if target is None:
        return None
    classes, wanted = view.classes.tolist(), plain_value(target)
    known = list_text([repr(one) for one in classes], SHOWN_NAMES)
    found = [index for index, one in enumerate(classes) if one == wanted and isinstance(one, str) is _is_text(wanted)]
    if not found:
        raise ValueError(f"target {target!r} is not a class of this {view.name}, which has {known}.")
    if found[0] == present:
        others = list_text([repr(one) for one in classes if one != wanted], SHOWN_NAMES)
        cure = f"give another class ({others}), or target=None for any of them" if others else "there is no other class"
        raise ValueError(f"The model predicts {target!r} for this sample already: {cure}.")
    return found[0]


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def read_limits(view: ModelView, fixed: Any, ranges: Any) -> Limits:
    """Return `fixed` and `ranges` by column, or raise an error that names the cure."""
    if isinstance(fixed, str | Integral):
        fixed = [fixed]
    if not isinstance(fixed, Iterable):
        raise TypeError(f"fixed must be a list of features, by name or column number, got {fixed!r}.")
    columns = frozenset(_column(view, feature, "fixed") for feature in fixed)
    if not isinstance(ranges, Mapping | None):
        raise TypeError(
            "ranges must be a dict from a feature to its limits (low, high) or to a list of categories, got "
            f"{ranges!r}."
        )
    limits = Limits(columns, {}, {})
    encoder = view.members[0].encoder
    for feature, given in (ranges or {}).items():
        column = _column(view, feature, "ranges")
        if column in encoder.categorical:
            limits.categories[column] = _allowed_categories(view, column, given)
        else:
            limits.numbers[column] = _range(view, column, given)
    return limits


def _column(view: ModelView, feature: Any, where: str) -> int:
    names = view.feature_names
    if isinstance(feature, Integral) and not isinstance(feature, bool) and -len(names) <= int(feature) < len(names):
        return int(feature) % len(names)
    if isinstance(feature, str) and feature in names:
        return names.index(feature)
    raise ValueError(
        f"{where} names the feature {feature!r}, which the model has not learnt: give one of "
        f"{list_text([repr(name) for name in names], SHOWN_NAMES)}, or a column number from 0 to {len(names) - 1}."
    )


def _allowed_categories(view: ModelView, column: int, given: Any) -> frozenset[Any]:
    name = view.feature_names[column]
    known = view.members[0].encoder.categories_of(column)
    listed = list_text([repr(one) for one in known], SHOWN_NAMES)
    if isinstance(given, str) or not isinstance(given, Collection):
        raise ValueError(f"{name!r} is a categorical feature: give a list of categories, of {listed}; got {given!r}.")
    wanted = [plain_value(one) for one in given]
    unknown = [repr(one) for one in wanted if one not in known]
    if unknown:
        raise ValueError(f"{list_text(unknown)} of ranges[{name!r}] was never learnt: give categories of {listed}.")
    return frozenset(wanted)


def _range(view: ModelView, column: int, given: Any) -> tuple[float, float]:
    name, encoder = view.feature_names[column], view.members[0].encoder
    lowest, highest = encoder.range_of(column)
    sides = list(given) if isinstance(given, Collection) and not isinstance(given, str) else []
    if len(sides) != 2 or not all(
        side is None or (isinstance(side, Real) and not isinstance(side, bool) and float(side) == float(side))
        for side in sides
    ):
        raise ValueError(
            f"ranges[{name!r}] must be (low, high), None for a side without a limit, got {given!r}. "
            f"{name!r} is a number from {lowest:g} to {highest:g} in what was learnt."
        )
    low, high = (
        without if side is None else float(side) for side, without in zip(sides, (-np.inf, np.inf), strict=True)
    )
    if low > high:
        raise ValueError(f"ranges[{name!r}] is empty: {low:g} is above {high:g}. Give the lower limit first.")
    if lowest <= highest and (low > highest or high < lowest):
        raise ValueError(
            f"ranges[{name!r}], {low:g} to {high:g}, holds no value that was learnt: learnt values are {lowest:g} to "
            f"{highest:g}. Give limits that reach into these."
        )
    return low, high


def present_class(view: ModelView, table: Table) -> tuple[int, float | None]:
    """Return the class index that the model predicts for one sample and its probability; -1 and None for none."""
    prediction = view.predict(table, want_proba=True)
    index = prediction.indices.item(0)
    assert prediction.proba is not None
    return index, None if index == UNLABELLED else prediction.proba.item(0, index)
