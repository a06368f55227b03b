"""Counterfactuals: changes of samples that lead to another prediction, as data, text and tables."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from numbers import Integral, Real
from operator import itemgetter
from typing import Any, NamedTuple, overload

import numpy as np

from sslart._data.dates import day_of
from sslart._data.labels import UNLABELLED, check_has_label
from sslart._data.samples import Table, plain_value
from sslart._mapping.model_view import ModelView, view_of
from sslart._utils.arrays import BoolArray, IntArray
from sslart._utils.optional import optional
from sslart._utils.text import (
    DateName,
    DatePart,
    Day,
    category_text,
    escape,
    html_table,
    list_text,
    plural,
    printable,
    value_text,
)
from sslart._utils.validation import check_flag, check_whole
from sslart.explain._boxes import Class, Value
from sslart.explain._options import STAY, ChangeSpace, Limits, options_of
from sslart.explain._search import Search

SHOWN_NAMES = 12
DIGITS = 6
IMPLAUSIBLE_NOTE = "implausible: farther from the data than nearly all learnt samples."
SAME_FEATURE = 0.5  # penalty of a feature that another chosen counterfactual changes in a different direction
IMPLAUSIBLE = 1.0  # penalty of an implausible sample: as much as one more feature
MUCH_SMALLER = 0.5  # size ratio below which a change counts as much smaller
MOST_OF_IT = 0.8  # share of the size of a change above which a feature makes up most of it
MOST_ROUNDS = 3  # searches with features of earlier counterfactuals fixed


class Change(NamedTuple):
    """One feature of a counterfactual: from what to what."""

    feature: str
    before: Value
    after: Value


@dataclass(frozen=True, eq=False)
class Counterfactual:
    """A changed sample with another prediction, verified by the model.

    Attributes
    ----------
    prediction : class
        Prediction for the changed sample.
    confidence : float or None
        Probability of that class. It and the following attributes are None in an `Explanation`.
    distance : float or None
        Sum of the changes, each relative to the learnt range of its feature; 1 for a change of category.
    plausible : bool or None
        False if the changed sample is farther from the data than 95 % of the learnt samples are.
    """

    prediction: Class
    _table: CounterfactualTable = field(repr=False)
    _row: int = field(repr=False)
    confidence: float | None = None
    distance: float | None = None
    plausible: bool | None = None

    @property
    def changes(self) -> tuple[Change, ...]:
        """The features that differ; for dates without the hour, weekday and month, which follow from them."""
        return self._table.changes(self._row)

    @property
    def sample(self) -> tuple[Value | None, ...]:
        """The whole changed sample, one value per column; None where missing."""
        return self._table.sample(self._row)

    def __str__(self) -> str:
        *first, last = (change_text(change) for change in self.changes)
        return f"{', '.join(first)} and {last}: {self._predicted()}" if first else f"{last}: {self._predicted()}"

    def _predicted(self) -> str:
        return _prediction_text(self.prediction, self.confidence, plausible=self.plausible)

    def to_dict(self) -> dict[str, Any]:
        """Return the counterfactual as plain values that JSON knows."""
        return {
            "prediction": self.prediction,
            "confidence": self.confidence,
            "distance": self.distance,
            "plausible": self.plausible,
            "changes": [change._asdict() for change in self.changes],
            "sample": list(self.sample),
        }


@dataclass(frozen=True, eq=False)
class CounterfactualTable:
    """Samples before and after a change that alters the prediction.

    Attributes
    ----------
    names : list of str
        Names of the columns.
    classes : list
    indices : array of length n_samples
        Class index of the other prediction; -1 if none was found.
    before, after : Table
    """

    names: list[str]
    classes: list[Any]
    indices: IntArray
    before: Table
    after: Table

    def __getitem__(self, row: int) -> Counterfactual | None:
        index = self.indices.item(row)
        return None if index == UNLABELLED else Counterfactual(self.classes[index], self, row)

    @cached_property
    def _numbers(self) -> tuple[list[int], list[int], list[float], list[float]]:
        """Start of each sample in three lists: the columns that differ, and their values before and after."""
        before, after = self.before.values, self.after.values
        differ = (before != after) & ~np.isnan(before)
        starts = np.concatenate([[0], np.cumsum(differ.sum(axis=1))])
        return starts.tolist(), np.nonzero(differ)[1].tolist(), before[differ].tolist(), after[differ].tolist()

    def changes(self, row: int) -> tuple[Change, ...]:
        """Return the changes of a sample, in the order of the columns."""
        starts, columns, old, new = self._numbers
        own = slice(starts[row], starts[row + 1])
        differing: list[tuple[int, Value, Value]] = list(zip(columns[own], old[own], new[own], strict=True))
        for column, given in self.before.categories.items():
            if isinstance(self.names[column], DatePart):  # implied by the change of the date
                continue
            if given[row] != self.after.categories[column][row]:
                differing.append((column, given[row], self.after.categories[column][row]))
        differing.sort(key=itemgetter(0))
        return tuple(Change(self.names[column], before, after) for column, before, after in differing)

    def sample(self, row: int) -> tuple[Value | None, ...]:
        """Return a changed sample, None where a value is missing."""
        values: list[Any] = [None if value != value else value for value in self.after.values[row].tolist()]
        for column, given in self.after.categories.items():
            values[column] = given[row]
        return tuple(values)


@dataclass(frozen=True, eq=False)
class Counterfactuals(Sequence[Counterfactual]):
    """Counterfactuals of one sample, those with few changes first.

    A sequence: `len(found)`, `found[0]`, `for one in found`.

    Attributes
    ----------
    prediction : class or None
        Prediction for the original sample; None if the model abstains.
    confidence : float or None
        Probability of that class; None if the model abstains.
    target : class or None
        The wanted class; None for any other class.
    sample : tuple
        The original sample, one value per column; None where missing.
    feature_names : list of str
    note : str
        The reason if there are fewer counterfactuals than requested; else empty.
    """

    prediction: Class | None
    confidence: float | None
    target: Class | None
    sample: tuple[Value | None, ...]
    feature_names: list[str]
    note: str
    _found: tuple[Counterfactual, ...] = field(repr=False)

    @property
    def abstained(self) -> bool:
        """True if the model abstains on the original sample."""
        return self.confidence is None

    def __len__(self) -> int:
        return len(self._found)

    @overload
    def __getitem__(self, place: int) -> Counterfactual: ...
    @overload
    def __getitem__(self, place: slice) -> tuple[Counterfactual, ...]: ...
    def __getitem__(self, place: int | slice) -> Counterfactual | tuple[Counterfactual, ...]:
        return self._found[place]

    def __str__(self) -> str:
        wanted = "another prediction" if self.target is None else printable(self.target)
        each = "This change leads" if len(self) == 1 else "Each of these changes alone leads"
        first = f"{self._headline()}. {each} to {wanted}:" if len(self) else f"{self._headline()}."
        return "\n".join([first, *(f"  {number}. {one}" for number, one in enumerate(self, start=1)), *self._notes()])

    def __repr__(self) -> str:
        return f"<Counterfactuals: {len(self)}; {self._headline()}>"

    def _headline(self) -> str:
        """Return the headline with the current prediction."""
        if self.abstained:
            return "No prediction"
        return f"Prediction: {_prediction_text(self.prediction, self.confidence)}"

    def _notes(self) -> list[str]:
        implausible = [IMPLAUSIBLE_NOTE] if any(one.plausible is False for one in self) else []
        return implausible + ([self.note] if self.note else [])

    def to_dict(self) -> dict[str, Any]:
        """Return the counterfactuals as plain values that JSON knows."""
        return {
            "prediction": self.prediction,
            "abstained": self.abstained,
            "confidence": self.confidence,
            "target": self.target,
            "features": self.feature_names,
            "sample": list(self.sample),
            "counterfactuals": [one.to_dict() for one in self],
            "note": self.note,
        }

    def to_frame(self) -> Any:
        """Return a pandas frame of the original sample and each changed sample, with predictions.

        The features come first, so that ``model.predict(found.to_frame()[found.feature_names])`` repeats the
        predictions. Needs pandas.
        """
        given = [*self.sample, self.prediction, self.confidence, 0.0, True]
        rows = [[*one.sample, one.prediction, one.confidence, one.distance, one.plausible] for one in self]
        added = ("prediction", "confidence", "distance", "plausible")
        names = [f"{name} (model)" if name in self.feature_names else name for name in added]
        index = ["given", *(f"change {number}" for number in range(1, len(self) + 1))]
        return optional("pandas", "data").DataFrame([given, *rows], index=index, columns=[*self.feature_names, *names])

    def _repr_html_(self) -> str:
        """Return a table: one row per feature that changes, one column per counterfactual."""
        heads = ["feature", "now", *(f"change {number}" for number in range(1, len(self) + 1))]
        rows = []
        for column, name in enumerate(self.feature_names):
            now = self.sample[column]
            cells = [value_text(name, one.sample[column], DIGITS) if one.sample[column] != now else "" for one in self]
            if any(cells):
                rows.append([name, value_text(name, now, DIGITS), *cells])
        if rows:
            now = "none" if self.abstained else _prediction_text(self.prediction, self.confidence)
            rows.append(["prediction", now, *(one._predicted() for one in self)])
        notes = "".join(f"<p>{escape(line)}</p>" for line in (str(self).split("\n")[0], *self._notes()))
        return f'<div class="sslart-counterfactuals">{notes}{html_table(heads, rows) if rows else ""}</div>'


def counterfactuals_of(
    model: Any, x: Any, target: Any = None, fixed: Any = (), ranges: Any = None, n: int = 3, *, plausible: bool = False
) -> Counterfactuals:
    """Find several diverse counterfactuals of one sample: small changes that lead to another prediction.

    Parameters
    ----------
    model : AutoSSLART, SSLART, FuzzyARTMAP or WESSLART
        A fitted classifier. It is not changed.
    x : one sample
        One value per feature: an array, a list, a pandas Series, a dict from feature to value, or a frame or an array
        of one row. NaN or None where a value is missing; such a feature does not change.
    target : class, default=None
        The wanted class; None for any other than the present prediction.
    fixed : list of str or int, default=()
        Features that must not change, by name or column number.
    ranges : dict, default=None
        Limits of new values, from a feature (name or column number) to ``(low, high)``, None for a side without a
        limit, or to a list of the allowed categories. Limits of a date are dates, as `datetime` or as texts in
        ISO 8601, or days since 1970. A value that does not change may be outside.
    n : int, default=3
        Number of counterfactuals.
    plausible : bool, default=False
        Whether changed samples must be plausible: as near to the data as 95 % of the learnt samples are, by
        `score_samples` and `novelty_threshold_`. False: implausible ones are marked.

    Returns
    -------
    Counterfactuals
        Up to n of them, those with few changes first. The first is the one that `explain` shows. If there are fewer,
        its `note` gives the reason.

    Notes
    -----
    New values are possible values: numbers within the learnt range, with no more decimals than the data, and learnt
    categories and codes. Two counterfactuals are diverse if they change different features, or the same ones in another
    direction. Single features are tried first: at all their values if there are few, else at those with the largest
    effect on background samples, and then in between. Then two features are changed, and then more. Each counterfactual
    is verified by a prediction, and has no unnecessary change. A column that is an exact function of others (a copy in
    another unit, a sum, a product, a code, the hour, weekday and month of a date) changes with them, and never alone.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sslart import AutoSSLART
    >>> from sslart.explain import counterfactuals_of
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> model = AutoSSLART(random_state=0).fit(X, y.where(y.index % 10 == 0, -1))
    >>> found = counterfactuals_of(model, X.iloc[70], target=2, fixed=["sepal width (cm)"], n=2)
    >>> print(found)
    Prediction: 1 (confidence 0.96). Each of these changes alone leads to 2:
      1. petal width (cm) 2.3 instead of 1.8: 2 (confidence 0.57)
      2. sepal length (cm) 6.3 instead of 5.9 and petal length (cm) 5.2 instead of 4.8: 2 (confidence 0.55)
    >>> model.predict(found.to_frame()[found.feature_names]).tolist()
    [1, 2, 2]
    """
    view = view_of(model, "a fitted AutoSSLART, SSLART, FuzzyARTMAP or WESSLART")
    n = check_whole("counterfactual", "n", n) or 1
    plausible = check_flag("counterfactual", "plausible", plausible)
    check_has_label(view.class_table)
    sample = read_sample(view, x)
    prediction = view.predict(sample, want_proba=True)
    assert prediction.proba is not None
    present = prediction.indices.item(0)
    index = read_target(view, target, present)
    limits = read_limits(view, fixed, ranges)
    space = ChangeSpace(view, options_of(view, limits, sample), sample)
    wanted = _wanted(view, np.array([present]), index)
    found = _unlike(space, wanted, n, plausible=plausible)
    classes, names = view.classes.tolist(), view.feature_names
    return Counterfactuals(
        None if present == UNLABELLED else classes[present],
        None if present == UNLABELLED else prediction.proba.item(0, present),
        None if index is None else classes[index],
        CounterfactualTable(names, classes, np.array([present]), sample, sample).sample(0),
        names,
        _note(space, limits, index, bool(wanted.any()), found, n, plausible=plausible),
        found,
    )


def first_changes(view: ModelView, table: Table, present: IntArray) -> CounterfactualTable:
    """Return the first counterfactual of each sample, as `counterfactuals_of` finds it; `present`: its class index."""
    space = ChangeSpace(view, options_of(view), table)
    rows, candidates = Search(space, _wanted(view, present, None)).first()
    changed, _ = space.table_of(rows, candidates)
    indices, after = np.full(len(table), UNLABELLED), table.copy()
    indices[rows], after.values[rows] = view.predict(changed).indices, changed.values
    for column, given in after.categories.items():
        given[rows] = changed.categories[column]
    return CounterfactualTable(view.feature_names, view.classes.tolist(), indices, table, after)


def _wanted(view: ModelView, present: IntArray, target: int | None) -> BoolArray:
    """Return a mask of the classes wanted for each sample: the target, or any learnt class except the present one."""
    learnt = np.isin(np.arange(len(view.classes)), view.class_table.sorted_codes())
    classes = np.arange(len(view.classes))
    wanted = classes != present[:, None] if target is None else np.tile(classes == target, (len(present), 1))
    return np.asarray(wanted & learnt)


def _unlike(space: ChangeSpace, wanted: BoolArray, n: int, *, plausible: bool) -> tuple[Counterfactual, ...]:
    """Return the first counterfactual and others that are diverse, up to n in total."""
    search = Search(space, wanted, plausible=plausible)
    first = search.first()
    if not len(first.rows):
        return ()
    pool = [first.candidates]
    if n > 1:
        pool.append(search.all_changes().candidates)
    tried: set[frozenset[int]] = {frozenset()}
    for turn in range(MOST_ROUNDS + 1):
        choice = _Choice(space, first.candidates[0], np.concatenate(pool))
        chosen = choice.unlike(n)
        columns = [frozenset(np.flatnonzero(choice.candidates[one] != STAY).tolist()) for one in chosen]
        every = frozenset[int]().union(*columns)
        without = {every, *columns, *(frozenset({column}) for column in every)} - tried
        if len(chosen) >= n or not without or turn == MOST_ROUNDS:
            break
        tried |= without
        held = sorted(without, key=sorted)
        rows = np.zeros(len(held), dtype=np.int64)
        again = ChangeSpace(space.view, space.options, space.table[rows])
        movable = again.movable.copy()
        for row, columns_held in enumerate(held):
            movable[row, list(columns_held)] = False
        pool.append(Search(again, wanted[rows], plausible=plausible, movable=movable).all_changes().candidates)
    chosen = [chosen[0], *sorted(chosen[1:], key=lambda one: (choice.n_changes[one], choice.distances[one]))]
    return choice.counterfactuals(chosen)


class _Choice:
    """Selection among candidates: few features, small changes, plausible samples, diversity."""

    def __init__(self, space: ChangeSpace, first: IntArray, found: IntArray) -> None:
        self.space = space
        candidates: IntArray = np.unique(found, axis=0)
        rows = np.zeros(len(candidates), dtype=np.int64)
        table, _ = space.table_of(rows, candidates)
        n_changes, distances = space.measured(rows, table)
        place = int(np.flatnonzero((candidates == first).all(axis=1))[0])
        # candidates found with fixed features come after the first one, which must not depend on n
        later = (n_changes > n_changes[place]) | ((n_changes == n_changes[place]) & (distances >= distances[place]))
        self.candidates, self.table = candidates[later], table[later]
        self.n_changes, self.distances = n_changes[later], distances[later]
        self.first = int(later[:place].sum())
        self.plausible = space.view.score_samples(self.table) >= space.view.novelty_threshold
        self.keys = [space.directions(0, candidate) for candidate in self.candidates]
        sizes = space.sizes(rows[later], self.candidates)
        self.sizes = [
            {column: size[column].item() for column, _ in key} for key, size in zip(self.keys, sizes, strict=True)
        ]

    def unlike(self, n: int) -> list[int]:
        """Return up to n candidates: the first one, then diverse ones."""
        chosen = [self.first]
        few = self.n_changes <= most_changes(self.n_changes[self.first].item())
        costs = self.n_changes + self.distances + IMPLAUSIBLE * ~self.plausible
        while len(chosen) < n:
            rest = [
                one for one in np.flatnonzero(few).tolist() if all(self._are_unlike(one, other) for other in chosen)
            ]
            if not rest:
                break
            chosen.append(min(rest, key=lambda one: costs[one] + max(self._overlap(one, other) for other in chosen)))
        return chosen

    def _are_unlike(self, one: int, other: int) -> bool:
        """Return True if two candidates are diverse: they differ in features or all directions, not in minor parts."""
        first, second = sorted((self.keys[one], self.keys[other]), key=len)
        fewer, more = sorted((self.sizes[one], self.sizes[other]), key=len)
        if set(first) <= set(second):
            return len(first) < len(second) and all(more[column] <= MUCH_SMALLER * fewer[column] for column in fewer)
        shared = [column for column, _ in set(first) & set(second)]
        if fewer.keys() == more.keys() and shared:
            return False
        return not all(
            sum(sizes[column] for column in shared) > MOST_OF_IT * sum(sizes.values()) for sizes in (fewer, more)
        )

    def _overlap(self, one: int, other: int) -> float:
        """Return the overlap of two candidates in features and directions, from 0 to 1."""
        first, second = dict(self.keys[one]), dict(self.keys[other])
        shared = {
            column: 1.0 if first[column] == second[column] else SAME_FEATURE for column in first.keys() & second.keys()
        }
        features = sum(shared.values()) / min(len(first), len(second))
        sizes = [
            sum(part * sizes[column] for column, part in shared.items()) / max(sum(sizes.values()), 1e-12)
            for sizes in (self.sizes[one], self.sizes[other])
        ]
        return float(max(features, *sizes))

    def counterfactuals(self, chosen: list[int]) -> tuple[Counterfactual, ...]:
        """Return candidates as counterfactuals with their predictions."""
        after, view = self.table[np.array(chosen)], self.space.view
        prediction = view.predict(after, want_proba=True)
        assert prediction.proba is not None
        before = self.space.table[np.zeros(len(chosen), dtype=np.int64)]
        table = CounterfactualTable(view.feature_names, view.classes.tolist(), prediction.indices, before, after)
        return tuple(
            Counterfactual(
                table.classes[index],
                table,
                row,
                prediction.proba.item(row, index),
                self.distances.item(chosen[row]),
                bool(self.plausible[chosen[row]]),
            )
            for row, index in enumerate(prediction.indices.tolist())
        )


def most_changes(fewest: int) -> int:
    """Return the maximum number of changed features, given the minimum that suffices."""
    return 2 * fewest + 3


def read_sample(view: ModelView, x: Any) -> Table:
    """Return a sample as a table of one row, given a frame or an array of one row, a Series, a dict, or a sequence."""
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
    """Return the index of the wanted class, None for any other than the present one (an index, -1 for none)."""
    if target is None:
        return None
    classes, wanted = view.classes.tolist(), plain_value(target)
    known = list_text([repr(one) for one in classes], SHOWN_NAMES)
    found = [
        index for index, one in enumerate(classes) if one == wanted and isinstance(one, str) is isinstance(wanted, str)
    ]
    if not found:
        raise ValueError(f"target {target!r} is not a class of this {view.name}, which has {known}.")
    if found[0] == present:
        others = list_text([repr(one) for one in classes if one != wanted], SHOWN_NAMES)
        cure = f"give another class ({others}), or target=None for any of them" if others else "there is no other class"
        raise ValueError(f"The model predicts {target!r} for this sample already: {cure}.")
    return found[0]


def read_limits(view: ModelView, fixed: Any, ranges: Any) -> Limits:
    """Validate `fixed` and `ranges`; return them by column."""
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

    def shown(value: float) -> str:
        return str(Day(value)) if isinstance(name, DateName) and np.isfinite(value) else f"{value:g}"

    sides = list(given) if isinstance(given, Collection) and not isinstance(given, str) else []
    if isinstance(name, DateName):
        sides = [day_of(side) for side in sides]
    if len(sides) != 2 or not all(
        side is None or (isinstance(side, Real) and not isinstance(side, bool) and float(side) == float(side))
        for side in sides
    ):
        raise ValueError(
            f"ranges[{name!r}] must be (low, high), None for a side without a limit, got {given!r}. {name!r} is a "
            f"{'date' if isinstance(name, DateName) else 'number'} from {shown(lowest)} to {shown(highest)} in what "
            "was learnt."
        )
    low, high = (
        without if side is None else float(side) for side, without in zip(sides, (-np.inf, np.inf), strict=True)
    )
    if low > high:
        raise ValueError(f"ranges[{name!r}] is empty: {shown(low)} is above {shown(high)}. Give the lower limit first.")
    if lowest <= highest and (low > highest or high < lowest):
        raise ValueError(
            f"ranges[{name!r}], {shown(low)} to {shown(high)}, holds no value that was learnt: learnt values are "
            f"{shown(lowest)} to {shown(highest)}. Give limits that reach into these."
        )
    return low, high


def change_text(change: Change) -> str:
    """Return the text of a change, with enough digits to show a difference."""
    before, after = next(
        texts
        for digits in (DIGITS, 17)
        if len(set(texts := [_value_text(change.feature, value, digits) for value in (change.before, change.after)]))
        == 2
        or digits > DIGITS
    )
    return f"{printable(change.feature)} {after} instead of {before}"


def _value_text(feature: str, value: Any, digits: int) -> str:
    return category_text(value) if isinstance(value, str) else value_text(feature, value, digits)


def _prediction_text(prediction: Any, confidence: float | None, *, plausible: bool | None = None) -> str:
    details = ([] if confidence is None else [f"confidence {confidence:.2f}"]) + (
        ["implausible"] if plausible is False else []
    )
    return f"{printable(prediction)} ({', '.join(details)})" if details else printable(prediction)


def _note(
    space: ChangeSpace,
    limits: Limits,
    target: int | None,
    can_be: bool,
    found: Sequence[Counterfactual],
    n: int,
    *,
    plausible: bool,
) -> str:
    """Return the reason for finding fewer counterfactuals than requested, with a remedy."""
    if len(found) >= n:
        return ""
    view, movable = space.view, np.flatnonzero(space.movable[0]).tolist()
    wanted = "another class" if target is None else printable(view.classes[target])
    if not can_be:
        if target is None:
            return "The model has learnt one class only, so that no change leads to another."
        return f"The model has learnt no label of {wanted}, so that it never predicts this class."
    reasons = _reasons(space)
    if not movable:
        return f"No feature can change: {reasons}."
    if found:
        most = min(most_changes(min(len(one.changes) for one in found)), len(movable))
        other = f"no other unlike change of up to {plural(most, 'feature')}"
        return f"Only {len(found)} of {plural(n, 'change')} wanted: {other} was found."
    cures = ["fix fewer features"] if limits.fixed else []
    cures += ["allow wider ranges"] if limits.numbers or limits.categories else []
    cures += ["allow samples that are not plausible"] if plausible else []
    cure = f" Try this: {', or '.join(cures)}." if cures else ""
    which = list_text([printable(view.feature_names[column]) for column in movable])
    cannot = f" ({reasons})" if reasons else ""
    return f"No change of {which} to values that occur was found to lead to {wanted}{cannot}.{cure}"


def _reasons(space: ChangeSpace) -> str:
    """Return the reasons why columns of a sample cannot change."""
    reasons = dict(space.options.why_not)
    for column in np.flatnonzero(~space.movable[0]).tolist():
        follows = any(one.column == column for one in space.options.relations)
        reasons.setdefault(column, "follows" if follows and not _is_missing(space.table, column) else "missing")
        if reasons[column] == "no other value" and _is_missing(space.table, column):
            reasons[column] = "missing"
    texts = []
    for reason, words in (
        ("fixed", "fixed: {}"),
        ("missing", "missing in the sample: {}"),
        ("follows", "following from others: {}"),
        ("no other value", "without another value that is allowed: {}"),
    ):
        names = [
            printable(space.view.feature_names[column]) for column, why in sorted(reasons.items()) if why == reason
        ]
        if names:
            texts.append(words.format(list_text(names)))
    return "; ".join(texts)


def _is_missing(table: Table, column: int) -> bool:
    return bool(
        table.categories[column][0] is None if column in table.categories else np.isnan(table.values[0, column])
    )
